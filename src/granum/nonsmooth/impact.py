"""Impact stage: velocities just after the collisions of this step.

Contacts that approach faster than ``v_imp`` leave with Newton's restitution of the approach speed they had before the stage; all
others must not approach (physics 3; MR Appendix). Friction acts, nothing is soft or warm started, and positions do not move.

A big step finds an impact late, with the grains already inside each other, and the stabilisation of the continuous stage would push
them apart faster than restitution allows. So a contact remembers the speed of its impact until it opens or is back at its law's overlap;
meanwhile the excess overlap is removed from the positions alone, at the rate of the stabilisation but without giving speed.
"""

from __future__ import annotations

from .._jit import FloatArray, IntArray, kernel
from .blocks import INV_DN, LANES, SOFTNESS, TARGET

SETTLED = 0.005  # of the impact speed: when the stabilisation would push slower than this, it takes over again


@kernel
def aim_at_impacts(
    a: IntArray, b: IntArray, place: IntArray, weight: FloatArray, gap_rate: FloatArray, material: IntArray,
    wall_material: IntArray, restitution: FloatArray, impact_velocity: float, fields: int,
    rebound: FloatArray, data: FloatArray,
) -> None:  # fmt: skip
    """Targets of the impact stage, from the separation speeds before it; remembers who rebounds."""
    for c in range(len(a)):
        d = place[c] // LANES * fields * LANES + place[c] % LANES
        approach = -gap_rate[c]
        target = 0.0
        if approach > impact_velocity:
            kind_b = material[b[c]] if b[c] >= 0 else wall_material[-1 - b[c]]
            target = restitution[material[a[c]], kind_b] * approach
            rebound[c] = approach
        data[d + TARGET * LANES] = target
        data[d + SOFTNESS * LANES] = 0.0
        data[d + INV_DN * LANES] = 1.0 / weight[c]


@kernel
def part_rebounding(
    a: IntArray, b: IntArray, normal: FloatArray, overlap: FloatArray, impulse: FloatArray, stiffness: FloatArray,
    wall_body: IntArray, exponent: float, rate: float, h: float, first: int, inverse_mass: FloatArray, velocity: FloatArray,
    rebound: FloatArray, position: FloatArray,
) -> None:  # fmt: skip
    """Move contacts that still rebound towards the overlap of their force: ``rate`` of what their own speed leaves over."""
    for c in range(len(a)):
        if rebound[c] <= 0.0:
            continue
        i = first + a[c]
        j = first + b[c] if b[c] >= 0 else wall_body[-1 - b[c]]
        nx, ny, nz = normal[c, 0], normal[c, 1], normal[c, 2]
        parting = (velocity[j, 0] - velocity[i, 0]) * nx
        parting += (velocity[j, 1] - velocity[i, 1]) * ny + (velocity[j, 2] - velocity[i, 2]) * nz
        at_rest = (impulse[c, 0] / (h * stiffness[c])) ** (1.0 / (2.0 * exponent - 1.0))
        excess = overlap[c] - at_rest - max(0.0, parting) * h
        if rate * excess < SETTLED * rebound[c] * h:
            if parting < SETTLED * rebound[c]:
                rebound[c] = 0.0
            continue
        weight = inverse_mass[i] + inverse_mass[j]
        move = rate * excess / weight
        for f in range(3):
            position[i, f] -= inverse_mass[i] * move * normal[c, f]
            position[j, f] += inverse_mass[j] * move * normal[c, f]
