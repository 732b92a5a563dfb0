"""A pile that grows under a source (WS 4.2)."""

from __future__ import annotations

import math

from ...checks import InputError, finite_positive
from ..emitter import Disc, Emitter
from ..parameters import Parameters
from ..results import Pile
from ..scene import Gravity, Scene
from ..shapes import Plane
from ..sizes import Discrete
from .column import GRAVITY
from .materials import pellet
from .registered import library_scene


class PileParameters(Parameters):
    """Of the scene ``pile``."""

    scene: str = "pile"
    count: int
    diameter: float
    """[m]"""


@library_scene
def pile(
    count: int = 3363,
    diameter: float = 0.013,
    rate: float = 150.0,
    youngs_modulus: float = 6e6,
    friction: float = 0.91,
    rolling_friction: float = 0.32,
    time_step: float = 0.005,
    settle: float = 2.0,
    seed: int = 0,
) -> Scene:
    """``count`` grains from a source 3 d wide, 15 d above a plane, at ``rate`` [1/s]; then ``settle`` seconds of rest [m, Pa, s]."""
    if count < 1:
        raise InputError(f"count of scene 'pile' must be 1 or more (got {count}).")
    finite_positive("diameter", diameter, "m")
    finite_positive("rate", rate, "1/s")
    material = pellet(youngs_modulus=youngs_modulus, friction=friction, rolling_friction=rolling_friction)
    # Grains enter at the speed of a fall of one diameter, so that the source is free again for the next ones.
    speed = math.sqrt(2 * GRAVITY * diameter)
    emitter = Emitter(
        name="source",
        material="pellet",
        sizes=Discrete(diameters=(diameter,)),
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
        parameters=PileParameters(count=count, diameter=diameter),
    )
