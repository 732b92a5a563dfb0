"""The door of a run: initial grains must not overlap each other or stick in walls."""

from __future__ import annotations

import numpy as np

from .._jit import FloatArray, IntArray, kernel
from ..checks import InputError
from ..detection.detector import Detector
from ..state.bodies import Bodies
from ..state.contacts import overlap_in_diameters

ALLOWED = 0.05  # of the smaller diameter: what a settled packing may have
RELAX_ROUNDS = 200


def check_placement(bodies: Bodies, detector: Detector, relax: bool) -> None:
    """Refuse grains placed inside each other or in walls, naming the worst; with ``relax`` push them apart first."""
    if relax:
        for _ in range(RELAX_ROUNDS):
            contacts = detector.detect(bodies, 0.0)
            if not _excess(bodies, detector).max(initial=0.0) > 0.01:
                break
            push_apart(
                contacts.a, contacts.b, contacts.normal, contacts.overlap, bodies.wall_body_count, bodies.inverse_mass,
                bodies.position,
            )  # fmt: skip
    contacts = detector.detect(bodies, 0.0)
    part = _excess(bodies, detector)
    if not len(part) or part.max() <= ALLOWED:
        return
    c = int(part.argmax())
    a, b, overlap = int(contacts.a[c]), int(contacts.b[c]), float(contacts.overlap[c])
    if b >= 0:
        a, b = min(a, b), max(a, b)
    where = ", ".join(f"{x:.6g}" for x in bodies.position[bodies.wall_body_count + a])
    other = f"grain {b}" if b >= 0 else f"wall {-1 - b}"
    count = int(np.count_nonzero(part > ALLOWED))
    raise InputError(
        f"{count} contact(s) overlap by more than {ALLOWED:.0%} of a diameter at the start; the worst is grain {a} with {other} "
        f"at ({where}) m: {overlap:.4g} m, {part[c]:.0%} of the diameter. "
        + ("Relaxing did not help: make more room." if relax else "Move them apart, or set relax = true (--relax).")
    )


def _excess(bodies: Bodies, detector: Detector) -> FloatArray:
    """(C,) overlap of every contact in diameters of its smaller grain."""
    c = detector.contacts
    return overlap_in_diameters(c.overlap, c.a, c.b, bodies.radius)


@kernel
def push_apart(
    a: IntArray, b: IntArray, normal: FloatArray, overlap: FloatArray, first: int, inverse_mass: FloatArray, position: FloatArray
) -> None:
    """Move the grains of every contact apart by half their overlap each, shared by mobility."""
    for c in range(len(a)):
        i, j = first + a[c], first + b[c]
        wi, wj = inverse_mass[i], inverse_mass[j] if b[c] >= 0 else 0.0
        if wi + wj == 0.0:
            continue
        step = 0.5 * overlap[c] / (wi + wj)
        for f in range(3):
            position[i, f] -= wi * step * normal[c, f]
            if wj > 0.0:
                position[j, f] += wj * step * normal[c, f]
