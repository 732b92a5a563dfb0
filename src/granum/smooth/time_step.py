"""The time step that smooth DEM can take.

A grain of mass m among its neighbours is a spring system whose fastest mode, grains and spins against their neighbours', has about
w^2 = ``MODE`` k/m, with k the stiffness of one contact. Verlet and symplectic Euler follow it as long as h < 2/w, less with damping: the
fastest mode is also the most damped. A Hertz contact grows stiffer with its overlap; the limit is found for an overlap of ``DEEP``.
Automatic steps also resolve impacts at the speeds that grains start with. Walls that are pushed count as grains of their mass.
"""

from __future__ import annotations

import math

from ..arithmetic import length, power
from ..checks import InputError
from ..scene.grains import Grains
from ..scene.scene import Scene
from .damping import damping_table

MODE = 16.0   # six neighbours with friction: two thirds of their shear stiffness on the grain's turning, twice in opposite phase
DEEP = 0.01   # of the diameter
# Automatic steps in a contact's own limit: some 40 in a collision, more for dashpots that set in at once, or for energy to stay
HERTZ, LINEAR, ELASTIC = 20.0, 48.0, 50.0


def longest_step(scene: Scene, damped: bool) -> float:
    """The step [s] at which contacts overlapping by 1 % of the smaller diameter become unstable, over all grains of the scene.

    ``damped``: dashpots follow from the restitution of each pair of materials, else from the law's dissipation c.
    """
    return _limit(scene, damped, MODE, 0.5, 0.0)


def automatic_step(scene: Scene, damped: bool) -> float:
    """A step [s] that is stable and resolves collisions: restitution comes out within 0.01.

    Where nothing damps, it is short enough for the energy to stay within 1e-4 while overlaps stay below 1 %.
    """
    alone = _limit(scene, damped, 1.0, 1.0, _approach(scene))
    if not math.isfinite(alone):
        raise InputError("time_step must be given: without grains or emitters there is nothing to derive it from.")
    table = scene.pair_table()
    if table.restitution.max() == 1.0 if damped else table.dissipation == 0.0:
        return alone / ELASTIC
    return alone / (HERTZ if table.exponent > 1.0 else LINEAR)


def _limit(scene: Scene, damped: bool, mode: float, reduced: float, approach: float) -> float:
    """2/w (sqrt(1 + zeta^2) - zeta) [s], w^2 = ``mode`` k/m, of the smallest grain; dashpots of a pair with m* = ``reduced`` m.

    Hertz contacts overlap by ``DEEP``, or as deep as an impact at ``approach`` [m/s] goes.
    """
    table = scene.pair_table()
    hertz = table.exponent > 1.0
    alpha = damping_table(table.restitution, hertz) if damped else None
    shortest = math.inf
    for own, d, mass in _lightest(scene):
        for other in range(len(scene.materials)):
            k = table.stiffness[own, other]
            if hertz:  # against a wall: R* = d / 2
                deepest = power(1.25 * mass * approach * approach / (k * math.sqrt(0.5 * d)), 0.4)  # of an elastic impact
                k *= math.sqrt(0.5 * d * max(DEEP * d, deepest))
            secant, stiffness = k, k * (1.5 if hertz else 1.0)
            w = math.sqrt(mode * stiffness / mass)
            eta = alpha[own, other] * math.sqrt(reduced * mass * secant) if alpha is not None else table.dissipation * secant
            zeta = 0.5 * w * eta / stiffness
            shortest = min(shortest, 2 / w * (math.sqrt(1 + zeta * zeta) - zeta))
    return shortest


def _lightest(scene: Scene) -> list[tuple[int, float, float]]:
    """Material, diameter [m] and mass [kg] of the smallest grains of every kind; walls that are pushed touch the largest grains."""
    found = []
    for block in (*scene.grains, *scene.emitters):
        d = (block.sizes.range if hasattr(block, "sizes") else block.size_range)[0]
        if math.isfinite(d):
            own = scene.material_index[block.material]
            found.append((own, d, scene.materials[own].density * math.pi / 6 * d * d * d))
    if found:
        for body in scene.bodies:
            if body.kind == "dynamic" and body.mass is not None:
                found += [(scene.material_index[wall.material], scene.size_range[1], body.mass) for wall in body.walls]
    return found


def _approach(scene: Scene) -> float:
    """Largest speed [m/s] at which the first grains, and those that are emitted, can meet."""
    speeds = [float(length(e.velocity)) for e in scene.emitters]
    speeds += [float(length(g.velocity).max(initial=0.0)) for g in scene.grains if isinstance(g, Grains)]
    return 2 * max(speeds, default=0.0)


def check_step(scene: Scene, damped: bool, h: float) -> None:
    """Refuse a step that smooth DEM cannot take."""
    longest = longest_step(scene, damped)
    if h > longest:
        raise InputError(
            f"time_step = {h:g} s is unstable for the smooth stepper: contacts of this scene need steps below {longest:.3g} s "
            f"(overlaps of 1 % of the smallest grain). Leave time_step out to have {automatic_step(scene, damped):.3g} s, take softer or "
            "larger grains, a restitution nearer to 1, or the nonsmooth stepper, which has no such limit."
        )
