"""A cube of grains whose front wall is lifted (MR section 4)."""

from __future__ import annotations

import math
from typing import Any

from ...checks import InputError, finite_positive
from ...contact import LinearContact, MaterialPair
from ..bodies import Body, Motion
from ..emitter import Emitter, Rectangle
from ..parameters import Parameters
from ..results import Slope
from ..scene import Gravity, Scene
from ..shapes import Box, Plane
from .column import GRAVITY
from .graded import graded, of_two, step_for
from .materials import changed, pellet
from .registered import library_scene

THICK = 3.0  # [d] of walls
PACKED = 0.5  # solid fraction of what was poured: grains that hardly roll stay loose
VIEW = (-78.0, 10.0)  # azimuth and elevation [degrees]: nearly along the front
RATE = 12.0  # grains a second from each d^2 of the source
LANDING = 1.18  # [diameters] a step of 5 ms of the smaller grains of the cube of 4000, when they land


class CollapseParameters(Parameters):
    """Of the scene ``collapse``."""

    scene: str = "collapse"
    count: int
    diameter: float
    """Of the larger grains [m]."""
    size_ratio: float
    width: float
    """Of the box [m]."""
    lift: float
    """When the front is lifted [s]."""


@library_scene
def collapse(
    count: int = 4000,
    width: float = 15.0,
    diameter: float | None = None,
    size_ratio: float | None = None,
    stiffness: float = 3e3,
    friction: float = 0.91,
    rolling_friction: float = 0.32,
    restitution: float = 0.18,
    settle: float = 1.0,
    time_step: float | None = None,
    duration: float | None = None,
    seed: int = 0,
    sizes: Any = None,
) -> Scene:
    """``count`` grains rain into a frictionless box and come to rest; then its front wall is lifted, and they run out to a half pile.

    The box is square; half of the grains have ``diameter``, half ``diameter`` / ``size_ratio``. 4000 grains fill a width of 15 to a cube,
    as in Servin and Wang (granum references). The front, at the side of +x, goes up faster than grains can fall, and the run goes on for
    2 s more. The floor has the friction of the grains, the walls have none.

    ``width`` [diameters]: of the box, inside.
    ``settle`` [s]: from the last grain to the lift.
    """
    d, sizes = graded("collapse", sizes, diameter, 0.013, size_ratio=size_ratio)
    size_ratio = 1.3 if size_ratio is None else size_ratio
    for name, value, least in (("count", count, 1), ("width", width, 3.0), ("size_ratio", size_ratio, 1.0)):
        if not least <= value < math.inf:
            raise InputError(f"{name} of scene 'collapse' must be {least:g} or more (got {value}).")
    if not 0 <= settle < math.inf:
        raise InputError(f"settle of scene 'collapse' must be a finite number of seconds, 0 or more (got {settle}).")
    side, small = width * d, d / size_ratio
    grain = pellet(friction=friction, rolling_friction=rolling_friction, restitution=restitution)
    cubes = d * d * d + small * small * small if sizes is None else 2 * sizes.mean_cube  # of two grains
    height = count * math.pi / 12 * cubes / (PACKED * side * side)  # at rest
    high, inner, rate = 1.3 * height + 4 * d, side - d, RATE * width * width
    if time_step is None:
        fast = math.sqrt(2 * GRAVITY * high)
        time_step = step_for(0.005, small, fast, LANDING) if sizes is None else step_for(0.005, sizes.range[0], fast)
    finite_positive("time_step", time_step, "s")
    emitter = Emitter(
        name="source",
        material=grain.name,
        sizes=sizes if sizes is not None else of_two(d, size_ratio),
        rate=rate,
        count=count,
        source=Rectangle(corner=(d / 2, -inner / 2, high - d), edge_u=(inner, 0, 0), edge_v=(0, inner, 0)),
        velocity=(0, 0, -math.sqrt(2 * GRAVITY * d)),
        seed=seed,
    )
    lift = count / rate + settle
    if duration is None:
        duration = lift + 2.0
    thick, half, speed = THICK * d, side / 2, 2 * math.sqrt(2 * GRAVITY * high)
    front = Box(material="smooth", lower=(side, -half - thick, 0), upper=(side + thick, half + thick, high), side="outside")
    sides = tuple(
        Box(
            material="smooth",
            lower=(-thick, min(s * half, s * (half + thick)), 0),
            upper=(side, max(s * half, s * (half + thick)), high),
            side="outside",
        )
        for s in (1, -1)
    )
    return Scene(
        name="collapse",
        materials=(grain, changed(grain, name="smooth", friction=0.0, rolling_friction=0.0)),
        pairs=(MaterialPair(materials=(grain.name, "smooth"), friction=0.0, rolling_friction=0.0),),
        law=LinearContact(stiffness=stiffness),
        gravity=Gravity(acceleration=(0, 0, -GRAVITY)),
        emitters=(emitter,),
        walls=(Plane(material=grain.name), Plane(material="smooth", normal=(1, 0, 0)), *sides),
        bodies=(
            Body(
                name="front",
                kind="kinematic",
                walls=(front,),
                motion=Motion(velocity=(0, 0, speed), start=lift, stop=lift + 2 * high / speed),
            ),
        ),
        run={"time_step": time_step, "duration": duration},
        results=(Slope(width=side),),
        view=VIEW,
        parameters=CollapseParameters(
            count=count,
            diameter=d,
            size_ratio=size_ratio,
            width=side,
            lift=lift,
            chosen={"diameter": d, "size_ratio": size_ratio, "time_step": time_step, "duration": duration},
        ),
    )
