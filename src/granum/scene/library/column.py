"""A column of grains on a plane, one on top of the other (WS 4.1)."""

from __future__ import annotations

import numpy as np

from ...checks import InputError, finite_positive
from ..grains import Grains
from ..parameters import Parameters
from ..results import Column
from ..scene import Gravity, Scene
from ..shapes import Plane
from .materials import pellet
from .registered import library_scene

GRAVITY = 9.81  # [m/s^2]


class ColumnParameters(Parameters):
    """Of the scene ``column``."""

    scene: str = "column"
    count: int
    diameter: float
    """[m]"""


@library_scene
def column(
    count: int = 25,
    diameter: float = 0.013,
    youngs_modulus: float = 6e6,
    friction: float = 0.91,
    rolling_friction: float = 0.32,
    time_step: float = 0.005,
    duration: float = 3.0,
) -> Scene:
    """A column of ``count`` grains that touch without overlap; it settles under its own weight."""
    if count < 1:
        raise InputError(f"count of scene 'column' must be 1 or more (got {count}).")
    finite_positive("diameter", diameter, "m")
    material = pellet(youngs_modulus=youngs_modulus, friction=friction, rolling_friction=rolling_friction)
    height = (np.arange(count) + 0.5) * diameter
    return Scene(
        name="column",
        materials=(material,),
        gravity=Gravity(acceleration=(0, 0, -GRAVITY)),
        grains=(Grains(material="pellet", position=np.outer(height, (0.0, 0.0, 1.0)), diameter=diameter),),
        walls=(Plane(material="pellet"),),
        run={"time_step": time_step, "duration": duration},
        results=(Column(),),
        parameters=ColumnParameters(count=count, diameter=diameter),
    )
