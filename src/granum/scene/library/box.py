"""Grains that settle in a box."""

from __future__ import annotations

import math
from typing import Any

from ...arithmetic import cos, power, sin
from ...checks import InputError
from ..bodies import Body
from ..grains import Lattice
from ..parameters import Parameters
from ..results import Bed
from ..scene import Gravity, Scene
from ..shapes import Box
from ..sizes import Discrete, Uniform
from .column import GRAVITY
from .graded import graded
from .materials import pellet
from .registered import library_scene


class BoxParameters(Parameters):
    """Of the scene ``box``."""

    scene: str = "box"
    count: int
    diameter: float
    """Of the larger grains [m]."""
    width: float
    """Of the box [m]."""


@library_scene
def box(
    count: int = 1000,
    diameter: float | None = None,
    size_ratio: float | None = None,
    width: float | None = None,
    youngs_modulus: float = 6e6,
    friction: float = 0.91,
    rolling_friction: float = 0.32,
    restitution: float = 0.18,
    tilt: float = 0.0,
    time_step: float | None = None,
    duration: float = 1.0,
    seed: int = 0,
    sizes: Any = None,
) -> Scene:
    """``count`` grains fall from a shaken lattice into an open square box.

    Diameters spread evenly from ``diameter`` / ``size_ratio`` to ``diameter``. The box is about as high as wide unless a width is given.
    The time step is what the smallest grain and the fall of the lattice ask for.

    ``width`` [diameters]: of the box, inside.
    ``tilt`` [degrees]: by which gravity leans towards x.
    """
    if count < 1:
        raise InputError(f"count of scene 'box' must be 1 or more (got {count}).")
    diameter, sizes = graded("box", sizes, diameter, 0.013, size_ratio=size_ratio)
    size_ratio = 1.0 if size_ratio is None else size_ratio
    if not size_ratio >= 1:
        raise InputError(f"size_ratio of scene 'box' must be 1 or more (got {size_ratio}).")
    if width is not None and not 2 <= width < math.inf:
        raise InputError(f"width of scene 'box' must be a finite number of diameters, 2 or more (got {width}).")
    spacing = diameter * 1.001 / 0.9
    side = width * diameter if width is not None else max(2, round(power(0.9 * count, 1 / 3))) * spacing
    along = max(1, math.floor(side / spacing + 1e-9))
    height = (math.ceil(count / (along * along)) + 1) * spacing
    if sizes is None:
        sizes = Uniform(lower=diameter / size_ratio, upper=diameter) if size_ratio > 1 else Discrete(diameters=(diameter,))
    if time_step is None:
        smallest, fall = sizes.range[0], math.sqrt(2 * GRAVITY * 0.3 * height)  # the lattice loses a third of its height
        time_step = min(math.sqrt(0.02 * smallest / GRAVITY), 0.4 * smallest / fall)
    material = pellet(youngs_modulus=youngs_modulus, friction=friction, rolling_friction=rolling_friction, restitution=restitution)
    lean = math.radians(tilt)
    return Scene(
        name="box",
        materials=(material,),
        gravity=Gravity(acceleration=(GRAVITY * sin(lean), 0.0, -GRAVITY * cos(lean))),
        grains=(
            Lattice(
                material="pellet",
                lower=(-side / 2, -side / 2, 0),
                upper=(side / 2, side / 2, height),
                count=count,
                sizes=sizes,
                seed=seed,
            ),
        ),
        bodies=(
            Body(
                name="box",
                walls=(Box(material="pellet", lower=(-side / 2, -side / 2, 0), upper=(side / 2, side / 2, height), open=("+z",)),),
            ),
        ),
        run={"time_step": time_step, "duration": duration},
        results=(Bed(area=side * side),),
        parameters=BoxParameters(
            count=count,
            diameter=diameter,
            width=side,
            chosen={"diameter": diameter, "size_ratio": size_ratio, "width": side / diameter, "time_step": time_step},
        ),
    )
