"""A pile that grows under a source (WS 4.2)."""

from __future__ import annotations

import math
from typing import Any

from ...checks import InputError, finite_positive
from ..emitter import Disc, Emitter
from ..parameters import Parameters
from ..results import Pile
from ..scene import Gravity, Scene
from ..shapes import Plane
from ..sizes import Discrete
from .column import GRAVITY
from .graded import graded, step_for
from .materials import pellet
from .registered import library_scene

LANDING = 0.78  # [diameters] a step of 5 ms of the pellets of Wang et al., when they land


class PileParameters(Parameters):
    """Of the scene ``pile``."""

    scene: str = "pile"
    count: int
    diameter: float
    """[m]"""


@library_scene
def pile(
    count: int = 3363,
    diameter: float | None = None,
    rate: float = 150.0,
    youngs_modulus: float = 6e6,
    friction: float = 0.91,
    rolling_friction: float = 0.32,
    time_step: float | None = None,
    settle: float = 2.0,
    seed: int = 0,
    sizes: Any = None,
) -> Scene:
    """``count`` grains from a source 3 diameters wide, 15 diameters above a plane, heap up and come to rest.

    ``rate`` [1/s]: grains that the source gives in a second.
    ``settle`` [s]: time to come to rest after the last grain.
    """
    if count < 1:
        raise InputError(f"count of scene 'pile' must be 1 or more (got {count}).")
    diameter, sizes = graded("pile", sizes, diameter, 0.013)
    finite_positive("rate", rate, "1/s")
    material = pellet(youngs_modulus=youngs_modulus, friction=friction, rolling_friction=rolling_friction)
    # Grains enter at the speed of a fall of one diameter, so that the source is free again for the next ones.
    speed = math.sqrt(2 * GRAVITY * diameter)
    if time_step is None:
        fast = 4 * speed  # what has fallen by 16 diameters
        time_step = step_for(0.005, diameter, fast, LANDING) if sizes is None else step_for(0.005, sizes.range[0], fast)
    emitter = Emitter(
        name="source",
        material="pellet",
        sizes=sizes if sizes is not None else Discrete(diameters=(diameter,)),
        rate=rate,
        count=count,
        seed=seed,
        source=Disc(centre=(0, 0, 15 * diameter), diameter=3 * diameter),
        velocity=(0, 0, -speed),
    )
    return Scene(
        name="pile",
        materials=(material,),
        gravity=Gravity(acceleration=(0, 0, -GRAVITY)),
        emitters=(emitter,),
        walls=(Plane(material="pellet"),),
        run={"time_step": time_step, "duration": count / rate + settle},
        results=(Pile(),),
        parameters=PileParameters(count=count, diameter=diameter, chosen={"diameter": diameter, "time_step": time_step}),
    )
