"""The time step that smooth DEM can take.

A grain of mass m among its neighbours is a spring system whose fastest mode, grains and spins against their neighbours', has about
w^2 = ``MODE`` k/m, with k the stiffness of one contact. Verlet and symplectic Euler follow it as long as h < 2/w, less with damping: the
fastest mode is also the most damped. A contact may grow stiffer with its overlap; the limit is found for an overlap of ``DEEP``.
Automatic steps also resolve impacts at the speeds that grains and walls start with, and nothing that the scene lets expect, falls included,
goes further than ``WAY`` of the smallest radius in one. Walls that are pushed count as grains of their mass.
"""

from __future__ import annotations

import math

from ..arithmetic import length, power
from ..checks import InputError
from ..contact.law import Parameters, contact_stiffness, response
from ..scene.grains import Grains
from ..scene.scene import Scene
from ..scene.speeds import expected_speeds
from .damping import damping_table

MODE = 16.0  # six neighbours with friction: two thirds of their shear stiffness on the grain's turning, twice in opposite phase
DEEP = 0.01  # of the diameter
# Automatic steps in a contact's own limit: some 40 in a collision, more for dashpots that set in at once, or for energy to stay
SOFT_START, HARD_START, ELASTIC = 20.0, 48.0, 50.0
WAY, LEAP = 0.25, 0.5  # of a radius: the furthest way in an automatic step; from here on grains are met too late, or not at all


def longest_step(scene: Scene, damped: bool) -> float:
    """The step [s] at which contacts overlapping by 1 % of the smaller diameter become unstable, over all grains of the scene.

    ``damped``: dashpots follow from the restitution of each pair of materials, else from the law's dissipation c.
    """
    return _limit(scene, damped, MODE, 0.5, 0.0)


def automatic_step(scene: Scene, damped: bool, speed: float = 0.0) -> float:
    """A step [s] that is stable and resolves collisions: restitution comes out within 0.01.

    Where nothing damps, it is short enough for the energy to stay within 1e-4 while Hertz contacts overlap by less than 1 %; linear ones,
    which set in at once, gain or lose 4e-4 in a collision, nothing on average. ``speed`` [m/s] is what grains move at if that is faster
    than the scene lets expect.
    """
    alone = _limit(scene, damped, 1.0, 1.0, 2 * max(speed, _speed_at_start(scene)))
    if not math.isfinite(alone):
        raise InputError("time_step must be given: without grains or emitters there is nothing to derive it from.")
    fastest = max(speed, next((fast.value for fast in expected_speeds(scene)), 0.0))
    across = WAY * 0.5 * scene.size_range[0] / fastest if fastest > 0 else math.inf
    table = scene.pair_table()
    if table.restitution.max() == 1.0 if damped else table.law.dissipation == 0.0:
        return min(alone / ELASTIC, across)
    at_touch = response(table.law, 1.0, 1.0, 0.0).secant
    return min(alone / (HARD_START if at_touch > 0.0 else SOFT_START), across)


def impact_depth(scene: Scene, speed: float) -> float:
    """Overlap of the deepest elastic impact of a grain on a wall at ``speed`` [m/s], in diameters of that grain."""
    table, deepest = scene.pair_table(), 0.0
    for own, d, mass in _grains(scene, 1):
        softest = float(table.stiffness[own].min())
        deepest = max(deepest, _depth(table.law, softest, d, mass, speed) / d)
    return deepest


def too_soft(scene: Scene) -> str | None:
    """In words, an impact at the speeds at the start that goes so deep that grains pass each other; none: none does."""
    speed = _speed_at_start(scene)
    deep = impact_depth(scene, speed)
    if deep <= LEAP:
        return None
    return (
        f"an impact at {speed:.3g} m/s goes up to {deep:.2g} d deep, so that grains may pass each other and thin walls at any step: "
        "take stiffer grains"
    )


def _depth(law: Parameters, k: float, d: float, mass: float, speed: float) -> float:
    """[m] of an elastic impact on a wall, where R* = d / 2: all of m v^2 / 2 stored in k delta^(2 e_H) / (2 e_H)."""
    return power(law.exponent * mass * speed * speed / contact_stiffness(law, k, 0.5 * d), 1 / (2 * law.exponent))


def _limit(scene: Scene, damped: bool, mode: float, part: float, approach: float) -> float:
    """2/w (sqrt(1 + zeta^2) - zeta) [s], w^2 = ``mode`` k/m, of the smallest grain; dashpots of a pair with m* = ``part`` m.

    Contacts overlap by ``DEEP``, or as deep as an impact at ``approach`` [m/s] goes.
    """
    table = scene.pair_table()
    alpha = damping_table(table.restitution, table.law.exponent) if damped else None
    shortest = math.inf
    for own, d, mass in _lightest(scene):
        for other in range(len(scene.materials)):
            k = float(table.stiffness[own, other])
            deep = max(DEEP * d, _depth(table.law, k, d, mass, approach))
            _, secant, stiffness, _ = response(table.law, k, 0.5 * d, deep)  # against a wall: R* = d / 2
            w = math.sqrt(mode * stiffness / mass)
            eta = alpha[own, other] * math.sqrt(part * mass * secant) if alpha is not None else table.law.dissipation * secant
            zeta = 0.5 * w * eta / stiffness
            shortest = min(shortest, 2 / w * (math.sqrt(1 + zeta * zeta) - zeta))
    return shortest


def _lightest(scene: Scene) -> list[tuple[int, float, float]]:
    """Material, diameter [m] and mass [kg] of the smallest grains of every kind; walls that are pushed touch the largest grains."""
    found = _grains(scene, 0)
    if found:
        for body in scene.bodies:
            if body.kind == "dynamic" and body.mass is not None:
                found += [(scene.material_index[wall.material], scene.size_range[1], body.mass) for wall in body.walls]
    return found


def _grains(scene: Scene, end: int) -> list[tuple[int, float, float]]:
    """Material, diameter [m] and mass [kg] of the smallest (``end`` 0) or largest (1) grains of every kind."""
    found = []
    for block in (*scene.grains, *scene.emitters):
        smallest, largest = block.sizes.range if hasattr(block, "sizes") else block.size_range
        if math.isfinite(smallest):
            own, d = scene.material_index[block.material], (smallest, largest)[end]
            found.append((own, d, scene.materials[own].density * math.pi / 6 * d * d * d))
    return found


def _speed_at_start(scene: Scene) -> float:
    """Largest speed [m/s] of the first grains, of those that are emitted, and of walls, which only drag as they turn."""
    speeds = [float(length(e.velocity)) for e in scene.emitters]
    speeds += [float(length(g.velocity).max(initial=0.0)) for g in scene.grains if isinstance(g, Grains)]
    for body in scene.bodies:
        speeds.append(float(length(body.velocity)) + (float(body.fastest[0].max()) if body.is_driven else 0.0))
    return max(speeds, default=0.0)


def check_step(scene: Scene, damped: bool, h: float) -> None:
    """Refuse a step that smooth DEM cannot take."""
    longest = longest_step(scene, damped)
    if h > longest:
        raise InputError(
            f"time_step = {h:g} s is unstable for the smooth stepper: contacts of this scene need steps below {longest:.3g} s "
            f"(overlaps of 1 % of the smallest grain). Leave time_step out to have {automatic_step(scene, damped):.3g} s, take softer or "
            "larger grains, a restitution nearer to 1, or the nonsmooth stepper, which has no such limit."
        )
