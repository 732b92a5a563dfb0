"""The arrays of machines, in groups that kernels take whole.

J joints link L links (dynamic bodies) to M machines. R rows keep the joints, B bounded rows are their motors and limits. Links, joints and
rows stand machine by machine.
"""

from __future__ import annotations

from typing import NamedTuple

from ..array_types import FloatArray, IntArray
from ..kernel_groups import group

# kinds of joints
BALL, HINGE, SLIDER, CYLINDRICAL, UNIVERSAL, FIXED, ROD, CYLINDER = range(8)
ROW_COUNT = {BALL: 3, HINGE: 5, SLIDER: 5, CYLINDRICAL: 4, UNIVERSAL: 4, FIXED: 6, ROD: 1, CYLINDER: 0}
"""Rows of each kind."""
# kinds of bounded rows
SPEED, POSITION, FORCE, LOWER, UPPER = range(5)
# where the impulse of a bounded row is
AT_LOW, INSIDE, AT_HIGH = -1, 0, 1


@group
class JointTable(NamedTuple):
    """What is fixed about the joints."""

    kind: IntArray
    """(J,) ``BALL`` to ``CYLINDER``"""
    body: IntArray
    """(J, 2) rows of the bodies a and b"""
    anchor: FloatArray
    """(J, 2, 3) in the frames of a and b [m]"""
    axes: FloatArray
    """(J, 2, 3, 3) the axis u and two across it, in the frames of a and b"""
    length: FloatArray
    """(J,) of a rod [m]"""
    first_row: IntArray
    """(J + 1,)"""


@group
class Rows(NamedTuple):
    """The rows that keep the joints."""

    first: IntArray
    """(M + 1,)"""
    joint: IntArray
    """(R,)"""
    link: IntArray
    """(R, 2) the links a and b; -1: a body that impulses do not move"""
    row: FloatArray
    """(R, 12) of G: velocity and spin of a, then of b"""
    pushed: FloatArray
    """(R, 12) M^-1 G^T"""
    gap: FloatArray
    """(R,) how far the joint is from its place [m, rad]"""
    drift: FloatArray
    """(R,) what bodies that are driven add to G V [m/s, rad/s]"""
    softness: FloatArray
    """(R,) Sigma [1/kg, 1/(kg m^2)]"""
    target: FloatArray
    """(R,) G V + drift + Sigma lam = target [m/s, rad/s]"""
    impulse: FloatArray
    """(R,) lam of the last solve [N s, N m s]"""
    factor: FloatArray
    """Cholesky factors of S, machine by machine, row by row"""
    factor_first: IntArray
    """(M + 1,)"""
    work: FloatArray
    """(R,) room to work in"""


@group
class Drives(NamedTuple):
    """Bounded rows: motors and limits."""

    first: IntArray
    """(M + 1,)"""
    joint: IntArray
    """(B,)"""
    kind: IntArray
    """(B,) ``SPEED`` to ``UPPER``"""
    link: IntArray
    """(B, 2)"""
    row: FloatArray
    """(B, 12)"""
    drift: FloatArray
    """(B,)"""
    column: FloatArray
    """(B, N, 6) K G^T, at the links of the machine, whose largest has N"""
    weight: FloatArray
    """(B, most rows of a machine) W = G K G^T + Sigma, among the rows of the machine"""
    coordinate: FloatArray
    """(J,) of the joints that have motors or limits [m, rad]; angles go on through full turns"""
    set_point: FloatArray
    """(B, 2) what a motor is to reach at the start and at the end of the step, in its own units; the place of a limit [m, rad]"""
    strength: FloatArray
    """(B,) of a motor: the largest force [N, N m]"""
    restitution: FloatArray
    """(B,) of a limit"""
    softness: FloatArray
    """(B,) Sigma"""
    target: FloatArray
    """(B,) row velocity to reach [m/s, rad/s]"""
    missing: FloatArray
    """(B,) what it lacks while nothing pushes: target - drift - G V_J"""
    lack: FloatArray
    """(B,) the same while contacts push"""
    bounds: FloatArray
    """(B, 2) of the impulse [N s, N m s]"""
    impulse: FloatArray
    """(B,) [N s, N m s]"""
    status: IntArray
    """(B,) ``AT_LOW``, ``INSIDE`` or ``AT_HIGH``"""
    built: IntArray
    """(B,) the status that ``Links.active`` was made for"""
    work: FloatArray
    """(4 + most rows of a machine, most rows of a machine) room to work in"""


@group
class Links(NamedTuple):
    """The links of machines, as contacts meet them."""

    first: IntArray
    """(M + 1,)"""
    machine: IntArray
    """(L,)"""
    body: IntArray
    """(L,) row of the table of bodies: its own, or that of what the link has become a part of"""
    arm: FloatArray
    """(L, 3) from the centre of mass of that body to the link's own [m], 0 as a rule; world axes"""
    full: IntArray
    """(L,) number among the bodies with full inertia"""
    link_of: IntArray
    """(bodies with full inertia,) number among the links; -1: none"""
    locked: IntArray
    """(L, 3) 1 for world axes that the body does not move along"""
    inverse: FloatArray
    """(L, 6, 6) M^-1, world axes; of a body with locked axes that of its free ones"""
    touched: IntArray
    """(L,) from ``first[m]`` on the links of machine m that contacts touch"""
    touched_count: IntArray
    """(M,)"""
    rank: IntArray
    """(L,) place of a link among those touched; -1: none touches it"""
    mobility: FloatArray
    """(L, N, 6, 6) parts of K: velocity of a link by a wrench on the touched link of that place"""
    active: FloatArray
    """(L, N, 6, 6) the same with motors and limits inside of their bounds eliminated"""
    entered: FloatArray
    """(L, 6) velocities before the continuous stage"""
    start: FloatArray
    """(L, 6) velocities with gravity and given forces, before joints act"""
    kept: FloatArray
    """(L, 6) V_J"""
    base: FloatArray
    """(L, 6) velocities while no contact pushes, with motors and limits as ``Drives.built`` says"""
    wrench: FloatArray
    """(L, 6) of all contact impulses [N s, N m s]"""
    wrench_before: FloatArray
    """(L, 6) of the iterate before"""
    changed: IntArray
    """(2,) whether a motor or limit has come to its bound, or left it, in the last sweep; and whether sweeps are to leave them as they
    are"""
    rows: Rows
    drives: Drives


@group
class NoLinks(NamedTuple):
    """Of a run without machines: what concerns links is left out when kernels are compiled."""

    links: int = 0


NO_LINKS = NoLinks()
