"""How far the velocities of a solve still are from the solution, estimated from what the last sweeps have changed.

A sweep changes impulses by dp, whose energy norm is sum(D dp^2), D being the diagonal of G M^-1 G^T + Sigma. Divided by the mass of all
bodies it is the square of a velocity, the step of the sweep, which every sweep with momentum adds up anyway. What is left, the root mean
square by mass of v - v*, is more than one such step, as the modes that sweeps are slow in hardly move: the more so, the more sweeps were
needed. Solves of 12 scenes (columns, boxes, silos, piles, drums, a collapse, a conveyor, a sheared cell, a heavy ball on light ones; 10 to
600 sweeps) were compared with solves of 20 000 sweeps: 0.7 n^(3/8) times the step, n being the number of sweeps, is the error within a
factor of 3 in 96 of 100 solves; in six other scenes, in 91. Without the power it is too little where many sweeps are needed, with n^(1/2)
too much where few are.

What cannot be seen is an error in modes that so few sweeps have not moved at all. In beds at rest that start from the last step's impulses
it is 1e-4 to 1e-2 of g h after ten sweeps, up to ten times the estimate. So ten sweeps claim no less than 0.005 of the scale of a problem,
fifty 0.001, and so on (``CLAIM``): there the number is a bound.
"""

from __future__ import annotations

import math

from ..._jit import device
from ..blocks import BODY, INV_MASS

CLAIM = 0.05  # of the scale of a problem, over the number of sweeps: the smallest error that they can claim
LEAST = 1e-3  # of the scale: what may be asked for
FIRST = 10  # sweeps before anything is estimated
STEPS = 0.7  # of the last sweeps make up the error, times (number of sweeps)^(3/8)
RECENT = 10  # the last sweeps that count are so many times fewer than all, and three at least


@device
def mass_of(packed):
    """Of all bodies that yield [kg]."""
    total = 0.0
    for slot in range(packed.yielding):
        inverse = packed.body[slot * BODY + INV_MASS]
        if inverse > 0.0:
            total += 1.0 / inverse
    return total


@device
def estimated_error(squares, done, mass, scale):
    """[m/s] root mean square by mass of the error that is left in the velocities, at least what so many sweeps can claim.

    ``squares`` (done,) [J] are those of the sweeps, ``scale`` [m/s] is what velocities change by in the step."""
    recent, total = min(done, max(3, done // RECENT)), 0.0
    for k in range(done - recent, done):
        total += squares[k]
    if mass == 0.0:
        return 0.0
    root = math.sqrt(done)
    left = STEPS * math.sqrt(total / (recent * mass) * math.sqrt(root) * root)
    return max(left, CLAIM * scale / done)
