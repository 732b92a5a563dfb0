"""How accurately the contact problem of a step is solved where no number of sweeps is given, and what its errors are a part of."""

from __future__ import annotations

import math

from .._jit import kernel
from ..array_types import FloatArray
from ..kernel_groups import call
from .groups import Found, Met

# The residual [m/s] as a part of
AT_REST = 2e-5  # the speed sqrt(g d) of a fall of half a diameter (a settling bed creeps by a few times this, one at rest by far less),
IN_MOTION = 0.03  # the speed at which grains approach and part (root mean square over the contacts), where they flow:
FLOWING = 0.003  # where that speed is this part of sqrt(g d); slower beds are solved more as if at rest, to which they come


def accuracy(g: float, d: float, speed: float, without_gravity: float) -> float:
    """Residual [m/s] at which a solve may stop.

    ``g`` [m/s^2] is the strength of gravity, ``d`` [m] the smallest diameter, ``speed`` [m/s] that at which contacts approach and part;
    ``without_gravity`` [m/s] stands for the speed of a fall where nothing falls.
    """
    fall = math.sqrt(g * d) if g > 0.0 else without_gravity
    return AT_REST * fall + IN_MOTION * speed * min(1.0, speed / (FLOWING * fall))


def scale(fall: float, speed: float, met: Met, found: Found, otherwise: float) -> float:
    """[m/s] by which velocities change in a step: by what gravity gives, ``fall``, and the ``speed`` at which contacts approach and part.

    Without gravity by what their last impulses would give each contact alone; where there are none, ``otherwise``.
    """
    given = fall * fall if fall > 0.0 else call(mean_square_pushed, met.impulse, found.weight)
    return math.sqrt(given + speed * speed) or otherwise


@kernel
def mean_square_pushed(impulse: FloatArray, weight: FloatArray) -> float:
    """Mean square of the speeds [m/s] that the normal impulses (C, 7) would give their contacts by themselves."""
    total = 0.0
    for c in range(len(weight)):
        total += (impulse[c, 0] * weight[c]) ** 2
    return total / max(1, len(weight))
