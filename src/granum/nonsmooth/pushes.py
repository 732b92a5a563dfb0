"""What grains do to the bodies of the scene in a step: impulses of all contacts, summed up body by body.

Lever arms are those of the rows (``place.py``): from the centre of the body to where the grain touches, at the start of the step.
"""

from __future__ import annotations

import numpy as np

from .._jit import device, kernel
from ..array_types import FloatArray, IntArray
from ..state.bodies import Bodies, BodyArrays, GrainArrays
from .blocks import LANES, PN, PX, RX, at
from .groups import ContactBlocks, Found, Met

NOTHING = -1
"""In ``carriers``: the grain is on its own. A body of the scene to which it is fixed has its row there, one with which it has merged -2
less its row."""


def carriers(bodies: Bodies, frame: IntArray, carrier: IntArray) -> IntArray:
    """(N,) which body of the scene feels what pushes a grain; empty where no grain is fixed to one or can merge with one.

    ``frame`` and ``carrier`` (K,) are the rows of the bodies that walls are fixed to, and of those that carry what merges with them.
    """
    if bodies.fixed is None and not bodies.may_merge:
        return np.zeros(0, np.int32)
    stands_for = np.full(bodies.first_grain + 1, NOTHING, np.int32)
    stands_for[: bodies.wall_body_count] = -2 - np.arange(bodies.wall_body_count)
    stands_for[carrier] = -2 - frame
    found = stands_for[np.minimum(bodies.grain_body, bodies.first_grain)]
    if bodies.fixed is not None:
        found[bodies.fixed.rows(bodies)] = bodies.fixed.body
    return found


@device
def arm_to(bodies, period, grain, reach, n, w, wraps, back, f):
    """Component f of the lever arm [m] from body w to a contact, which is as far from the centre of a grain as ``reach`` along n says."""
    x = bodies.position[grain, f] - back * bodies.velocity[grain, f]
    if period is not None and wraps:
        x -= period[0, f] * np.floor(x * period[1, f])
    return x + reach * n - (bodies.position[w, f] - back * bodies.velocity[w, f])


@device
def add_push(bodies, period, grain, reach, n, carrier, wrench, back, sign, out):
    """Add a wrench (impulse and angular impulse), which acts on a grain or on the wall that it touches, to that of the carrier.

    ``back`` [s] is how long ago the contact was found.
    """
    wraps = carrier < 0  # grains meet walls, and what has merged with them, where they are in the cell
    w = -2 - carrier if wraps else carrier
    x = arm_to(bodies, period, grain, reach, n[0], w, wraps, back, 0)
    y = arm_to(bodies, period, grain, reach, n[1], w, wraps, back, 1)
    z = arm_to(bodies, period, grain, reach, n[2], w, wraps, back, 2)
    (px, py, pz), turn = wrench
    out[w, 0] += sign * px
    out[w, 1] += sign * py
    out[w, 2] += sign * pz
    out[w, 3] += sign * (y * pz - z * py + turn[0])
    out[w, 4] += sign * (z * px - x * pz + turn[1])
    out[w, 5] += sign * (x * py - y * px + turn[2])


@device
def add_contact(met, c, bodies, grains, frame, carrier, period, wrench, back, out):
    """Add what contact c does to the bodies of the scene that it touches, or that carry its grains."""
    a, b = met.a[c], met.b[c]
    n = met.normal[c, 0], met.normal[c, 1], met.normal[c, 2]
    r, i = grains.radius[a], grains.first + a
    own = carrier[a] if len(carrier) > 0 else NOTHING
    if b < 0:
        kappa = 1.0
        add_push(bodies, period, i, r, n, -2 - frame[-1 - b], wrench, back, 1.0, out)
    else:
        s = grains.radius[b]
        kappa = 1.0 - met.overlap[c] / (r + s)
        other = carrier[b] if len(carrier) > 0 else NOTHING
        if other != NOTHING:
            add_push(bodies, period, grains.first + b, -kappa * s, n, other, wrench, back, 1.0, out)
    if own != NOTHING:
        add_push(bodies, period, i, kappa * r, n, own, wrench, back, -1.0, out)


@kernel
def sum_pushes(
    met: Met,
    bodies: BodyArrays,
    grains: GrainArrays,
    frame: IntArray,
    carrier: IntArray,
    period: FloatArray | None,
    back: float,
    out: FloatArray,
) -> None:
    """Add the impulses of all contacts to ``out`` (W, 6) [N s, N m s], where bodies are ``back`` [s] after they were found."""
    for c in range(0 if len(carrier) > 0 else met.pair_count, met.grain_contacts):
        p, n = met.impulse, met.normal
        push = p[c, 0] * n[c, 0] + p[c, 1], p[c, 0] * n[c, 1] + p[c, 2], p[c, 0] * n[c, 2] + p[c, 3]
        add_contact(met, c, bodies, grains, frame, carrier, period, (push, (p[c, 4], p[c, 5], p[c, 6])), back, out)


@kernel
def sum_collisions(
    blocks: ContactBlocks,
    found: Found,
    met: Met,
    bodies: BodyArrays,
    grains: GrainArrays,
    frame: IntArray,
    carrier: IntArray,
    period: FloatArray | None,
    out: FloatArray,
) -> None:
    """The same of the impulses that the impact stage has left in the blocks, where bodies are now."""
    data = blocks.data
    for c in range(0 if len(carrier) > 0 else met.pair_count, met.grain_contacts):
        d, n = at(found.place[c], blocks.fields), met.normal
        pn = data[d + PN * LANES]
        if pn == 0.0:
            continue
        push = (
            pn * n[c, 0] + data[d + PX * LANES],
            pn * n[c, 1] + data[d + (PX + 1) * LANES],
            pn * n[c, 2] + data[d + (PX + 2) * LANES],
        )
        turn = (0.0, 0.0, 0.0)
        if blocks.fields > RX:
            turn = data[d + RX * LANES], data[d + (RX + 1) * LANES], data[d + (RX + 2) * LANES]
        add_contact(met, c, bodies, grains, frame, carrier, period, (push, turn), 0.0, out)
