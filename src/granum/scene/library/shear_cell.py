"""Plane shear between two rough plates under a pressure."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from ...arithmetic import mean, total
from ...array_types import FloatArray
from ...checks import InputError, finite_positive
from ..bodies import Body
from ..cell import Cell
from ..grains import Grains
from ..joints import Motor, Slider
from ..motion import Motion
from ..parameters import Parameters
from ..results import ShearFlow
from ..scene import Gravity, Scene
from ..shapes import Plane
from ..sizes import Uniform
from .materials import BEAD, changed
from .registered import library_scene
from .sites import SHAKEN

PACKED = 0.58  # about the packing fraction of the flow
GENTLE = 0.03  # time step over d sqrt(density / pressure), the time in which the pressure moves a grain by its size
ROUGH = 0.4  # [d] how much the heights of the plates' grains differ
FAST = 5.0  # [speed of plates] beyond all that grains reach against each other
FRAMES = 300


class ShearCellParameters(Parameters):
    """Of the scene ``shear-cell``."""

    measured: ClassVar[bool] = True
    scene: str = "shear-cell"
    count: int
    """Grains between the plates."""
    diameter: float
    """Mean [m]."""
    density: float
    """Of grains [kg/m^3]."""
    pressure: float
    """On the upper plate [Pa]."""
    speed: float
    """Of the lower plate [m/s]."""
    transient: float
    """Until when nothing is measured [s]."""


@library_scene
def shear_cell(
    count: int = 800,
    diameter: float = 0.01,
    spread: float = 0.2,
    length: float = 10.0,
    depth: float = 8.0,
    pressure: float = 1000.0,
    inertial_number: float = 0.1,
    speed: float | None = None,
    youngs_modulus: float = 1e8,
    friction: float = 0.4,
    rolling_friction: float = 0.0,
    gravity: float = 0.0,
    plate_mass: float | None = None,
    transient: float = 5.0,
    strain: float = 15.0,
    time_step: float | None = None,
    duration: float | None = None,
    seed: int = 0,
) -> Scene:
    """``count`` grains are sheared between rough plates: the lower one is driven along x, the upper one is pressed down.

    The cell repeats along the flow and across it. The upper plate moves up and down only. I = shear rate d sqrt(density / pressure) sets
    the speed of the lower plate for a flow of the expected height, unless it is given. Grains do not rebound. The time step is
    0.03 d sqrt(density / pressure), or as the speed asks.

    ``diameter`` [m]: mean of the grains; lengths in diameters count in it.
    ``spread``: by which diameters are spread evenly around the mean, as a part of it.
    ``length`` [diameters]: of the cell, along the flow.
    ``depth`` [diameters]: of the cell, across the flow.
    ``pressure`` [Pa]: on the upper plate.
    ``inertial_number``: I of the flow, from which the speed follows.
    ``speed`` [m/s]: of the lower plate, in place of the inertial number.
    ``gravity`` [m/s^2]: downwards.
    ``plate_mass`` [kg]: of the upper plate; as the grains together unless it is given.
    ``transient``: shear strain from which on means are taken.
    ``strain``: shear strain over which means are taken.
    """
    for name, value, least in (("count", count, 20), ("length", length, 4.0), ("depth", depth, 4.0)):
        if not least <= value < math.inf:
            raise InputError(f"{name} of scene 'shear-cell' must be {least:g} or more (got {value}).")
    if not 0 <= spread <= 0.5:
        raise InputError(f"spread of scene 'shear-cell' must lie in [0, 0.5] (got {spread}).")
    d = finite_positive("diameter", diameter, "m")
    for name, value in (("pressure", pressure), ("inertial_number", inertial_number), ("transient", transient), ("strain", strain)):
        finite_positive(name, value)
    grain = changed(BEAD, name="grain", youngs_modulus=youngs_modulus, friction=friction, rolling_friction=rolling_friction)
    rng = np.random.default_rng(seed)
    box, sizes = (length * d, depth * d), Uniform(lower=(1 - spread) * d, upper=(1 + spread) * d)
    size = sizes.sample(rng, count)
    solid = math.pi / 6 * total(size * size * size)
    height = solid / (PACKED * box[0] * box[1])
    unit = d * math.sqrt(grain.density / pressure)  # [s]
    if speed is None:
        speed = inertial_number / unit * height
    finite_positive("speed", speed, "m/s")
    if time_step is None:
        time_step = min(GENTLE * unit, 0.1 * sizes.lower / speed)
    place, top = _filling(count, box, sizes.upper, rng)
    closes = math.sqrt(2 * (top - height) * (plate_mass or solid * grain.density) / (pressure * box[0] * box[1]))
    begins = 2 * closes + transient * height / speed
    plates = []
    for level, body in ((0.0, "lower"), (top, "upper")):
        wall, wide = _plate(box, level, sizes, d, rng)
        plates.append(Grains(material=grain.name, position=wall, diameter=wide, body=body))
    velocity = np.zeros((count, 3))
    velocity[:, 0] = speed * (1 - place[:, 2] / top)
    middle, mass = (box[0] / 2, box[1] / 2), plate_mass if plate_mass is not None else solid * grain.density
    reach = (ROUGH / 2 + 0.5) * d
    if duration is None:
        duration = begins + strain * height / speed
    moment = mass * (box[0] * box[0] + box[1] * box[1]) / 12
    return Scene(
        name="shear-cell",
        materials=(grain,),
        gravity=Gravity(acceleration=(0.0, 0.0, -gravity)),
        cell=Cell(vectors=box),
        grains=(Grains(material=grain.name, position=place, diameter=size, velocity=velocity), *plates),
        bodies=(
            Body(
                name="lower",
                kind="kinematic",
                position=(*middle, 0.0),
                motion=Motion(velocity=(speed, 0.0, 0.0)),
                walls=(Plane(material=grain.name, point=(0.0, 0.0, -reach)),),
            ),
            Body(
                name="upper",
                kind="dynamic",
                mass=mass,
                inertia=(moment, moment, moment),
                position=(*middle, top),
                walls=(Plane(material=grain.name, point=(0.0, 0.0, reach), normal=(0.0, 0.0, -1.0)),),
            ),
        ),
        joints=(
            Slider(name="lid", bodies=("ground", "upper"), axis=(0.0, 0.0, -1.0), motor=Motor(pressure=pressure, area=box[0] * box[1])),
        ),
        run=_run(
            time_step,
            begins,
            duration,
            FAST * (speed + (top - height) / closes),
        ),
        results=(ShearFlow(),),
        parameters=ShearCellParameters(
            count=count,
            diameter=mean(size),
            density=grain.density,
            pressure=pressure,
            speed=speed,
            transient=begins,
            chosen={"speed": speed, "plate_mass": mass, "time_step": time_step, "duration": duration},
        ),
    )


def _run(time_step: float, begins: float, duration: float, fast: float) -> dict[str, Any]:
    """No approach is as fast as ``fast`` [m/s]: with none that counts as a collision, contact forces carry all of the stress."""
    return {
        "time_step": time_step,
        "duration": duration,
        "every": max(time_step, (duration - begins) / FRAMES),
        "stepper": {"impact_velocity": fast},
    }


def _filling(count: int, box: tuple[float, float], largest: float, rng: np.random.Generator) -> tuple[FloatArray, float]:
    """Places (count, 3) [m] on a shaken cubic lattice above z = 0, and the height [m] of the upper plate above it."""
    spacing = 1.001 * largest / (1 - SHAKEN)
    along, across = (max(1, math.floor(side / spacing)) for side in box)
    index = np.arange(count)
    site = np.stack([index % along, index // along % across, index // (along * across)], axis=1)
    wide = np.array([box[0] / along, box[1] / across, spacing])
    shift = SHAKEN * (rng.random((count, 3)) - 0.5) * spacing
    place = (site + 0.5) * wide + shift
    place[:, 2] += (ROUGH / 2 + 0.5) * largest
    return place, float(place[:, 2].max()) + (ROUGH / 2 + 1.01) * largest


def _plate(box: tuple[float, float], level: float, sizes: Uniform, d: float, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Places (n, 3) [m] and diameters (n,) [m] of a plate's grains: a layer about ``level`` [m], of different heights."""
    along, across = (math.floor(side / (1.001 * sizes.upper)) for side in box)
    index = np.arange(along * across)
    x, y = (index % along + 0.5) * box[0] / along, (index // along + 0.5) * box[1] / across
    z = level + ROUGH * d * (rng.random(len(index)) - 0.5)
    return np.stack([x, y, z], axis=1), sizes.sample(rng, len(index))
