"""The door of a run: the cell must suit the grains and walls, and initial grains must not overlap each other or stick in walls."""

from __future__ import annotations

import numpy as np

from .._jit import kernel
from ..arithmetic import dot, times
from ..array_types import FloatArray, IntArray
from ..checks import InputError
from ..detection.detector import Detector
from ..scene.counter import PlaneRegion
from ..scene.scene import Scene
from ..scene.shapes import Plane
from ..state.bodies import Bodies
from ..state.contacts import overlap_in_diameters
from ..state.rotation import matrix

ALLOWED = 0.05  # of the smaller diameter: what a settled packing may have
RELAX_ROUNDS = 200
SHORTEST = 2.5  # [largest diameter]: of a cell; from 2 on two grains touch in one image only, the rest is their skin
ALONG = 1e-9  # of a plane's normal: what may lie along an axis that repeats


def check_cell(scene: Scene) -> None:
    """Refuse a cell that a run in time cannot use: one that leans, is too short for its grains, or is cut by a plane."""
    cell = scene.cell
    if cell is None:
        return
    if not cell.upright:
        raise InputError(
            f"cell.vectors must lie along the axes in a run in time (got {cell.vectors.tolist()} m, which lean): give the lengths of an "
            "upright cell."
        )
    least = SHORTEST * scene.size_range[1]
    if cell.lengths.min() < least:
        raise InputError(
            f"cell.vectors must be at least {least:.4g} m long, {SHORTEST:g} of the largest diameter (got {cell.lengths.min():.4g} m): "
            "a pair of grains could touch on both sides. Take a larger cell: several copies of the packing, side by side."
        )
    for counter in scene.counters:
        normal = np.abs(np.asarray(counter.region.normal))
        if isinstance(counter.region, PlaneRegion) and normal[: cell.dim].max() > ALONG and normal.max() < 1 - ALONG:
            raise InputError(
                f"counter {counter.name!r}, a plane, must not lean along {'xyz'[int(np.argmax(normal[: cell.dim]))]}, where the cell "
                f"repeats (normal {counter.region.normal}): turn it, or take a disc or a rectangle."
            )
    wall = -1
    for body in scene.all_bodies:
        turn = matrix(np.asarray(body.orientation))
        spins = body.fastest[1] if body.is_driven else np.zeros((1, 3))
        for shape in body.walls:
            wall += 1
            if not isinstance(shape, Plane):
                continue
            normal = times(turn, np.asarray(shape.normal))
            ways = np.concatenate([normal[None], np.cross(spins, normal), spins * dot(spins, normal)[:, None]])  # it may turn that way
            leans = np.abs(ways[:, : cell.dim]).max(axis=0) > ALONG
            if leans.any():
                raise InputError(
                    f"wall {wall}, a plane of body {body.name!r}, must not lean along {'xyz'[int(np.argmax(leans))]}, where the cell "
                    f"repeats (normal {tuple(round(float(v), 6) for v in normal)}{', turning' if spins.any() else ''}): turn it, or "
                    "take a cell that repeats along the other axes only."
                )


def check_placement(bodies: Bodies, detector: Detector, relax: bool) -> None:
    """Refuse grains placed inside each other or in walls, naming the worst; with ``relax`` push them apart first."""
    if relax:
        for _ in range(RELAX_ROUNDS):
            contacts = detector.detect(bodies, 0.0)
            if not _excess(bodies, detector).max(initial=0.0) > 0.01:
                break
            push_apart(
                contacts.a,
                contacts.b,
                contacts.normal,
                contacts.overlap,
                bodies.first_grain,
                bodies.inverse_mass,
                bodies.position,
            )
    contacts = detector.detect(bodies, 0.0)
    part = _excess(bodies, detector)
    if not len(part) or part.max() <= ALLOWED:
        return
    c = int(part.argmax())
    a, b, overlap = int(contacts.a[c]), int(contacts.b[c]), float(contacts.overlap[c])
    if b >= 0:
        a, b = min(a, b), max(a, b)
    where = ", ".join(f"{x:.6g}" for x in bodies.position[bodies.first_grain + a])
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
