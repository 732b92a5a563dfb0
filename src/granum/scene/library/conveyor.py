"""A belt that carries a pile from a source to its end, where it falls over the edge (MR section 4)."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from ...arithmetic import cos, sin
from ...checks import InputError, finite_positive
from ...contact import LinearContact, MaterialPair
from ..emitter import Emitter, Rectangle
from ..parameters import Parameters
from ..regions import BoxRegion
from ..results import Ridge
from ..scene import Gravity, Scene
from ..sensor import BoxSensor
from ..shapes import Box, Plane
from ..sink import Sink
from ..sizes import Discrete
from .column import GRAVITY
from .graded import graded, step_for
from .materials import changed, pellet
from .registered import library_scene

SOURCE = (15.0, 4.0)  # [d] of the emitter, along and across the belt
BEHIND = 3.0  # [d] from the wall at the back to the emitter
REPOSE = 41.0  # [degrees] of such a pile: sizes of belt and sensors are derived from it, nothing that is measured
PACKED = 0.58  # solid fraction, for the same
SLACK, STEP = 1.5, 1.0  # [d] that sensors reach behind the slope at the end, and their height
COUNTED, GONE = 15.0, 25.0  # [d] below the belt: where the discharge is counted, and where it leaves the run
LANDING = 0.75  # [diameters] a step of 5 ms of grains of 10 mm that have fallen 0.1 m


class ConveyorParameters(Parameters):
    """Of the scene ``conveyor``; lengths in m, from the back of the belt."""

    measured: ClassVar[bool] = True
    scene: str = "conveyor"
    diameter: float
    source: tuple[float, float]
    """The emitter, from here to there."""
    length: float
    half_width: float
    speed: float
    """[m/s]"""
    rate: float
    """Grains fed [1/s]."""
    ridge_height: float
    """About."""
    counted: float
    """Height at which the discharge is counted."""
    filled: float
    """When the belt has run full [s]."""
    middle: tuple[float, float]
    """Where the ridge is as it will be, from here to there."""


@library_scene
def conveyor(
    length: float = 50.0,
    speed: float = 0.1,
    rate: float = 1000.0,
    diameter: float | None = None,
    drop: float = 0.1,
    count: int | None = None,
    stiffness: float = 3e3,
    friction: float = 0.91,
    rolling_friction: float = 0.32,
    restitution: float = 0.18,
    time_step: float | None = None,
    duration: float | None = None,
    seed: int = 0,
    sizes: Any = None,
) -> Scene:
    """A pile on a belt that runs on and is fed with grains all the time; it falls off at the end.

    The belt runs along x from a smooth wall at its back. Grains come from an area of 15 x 4 diameters and come to rest on the belt as a
    ridge about 9 diameters high. A length of 900 holds 90 000 grains. The run lasts until the belt has run full, and 7 s more.

    The belt is twice as wide as the ridge. At its end the ridge breaks off along a slope at the angle of repose that begins at the edge: it
    reaches back by height / tan(angle), 10 d. Sensors follow that slope in steps 1 d high, each 1.5 d behind it, and take in all that
    falls: at full resolution fewer than 1 in 20 grains behind them move against the belt. What falls is counted 15 d below the belt and
    leaves the run 25 d below.

    ``length`` [diameters]: of the belt.
    ``speed`` [m/s]: of the belt.
    ``rate`` [1/s]: grains that are fed in a second.
    ``drop`` [m]: height of the source above the belt.
    ``count``: number of all grains; none: without end.
    """
    d, sizes = graded("conveyor", sizes, diameter, 0.01)
    if time_step is None:
        high = drop if 0 <= drop < math.inf else 1.0  # a bad one is refused below
        if sizes is None:
            time_step = step_for(0.005, d, math.sqrt(2 * GRAVITY * (high + d)), LANDING)
        else:
            time_step = step_for(0.005, sizes.range[0], math.sqrt(2 * GRAVITY * (high + GONE * d)))
    for name, value, unit in (
        ("speed", speed, "m/s"),
        ("rate", rate, "1/s"),
        ("drop", drop, "m"),
        ("time_step", time_step, "s"),
    ):
        finite_positive(name, value, unit)
    repose = math.radians(REPOSE)
    slope = sin(repose) / cos(repose)
    # of the ridge's cross-section: what is fed in a second lies on what has run past
    area = rate * math.pi / 6 * d * d * d / (PACKED * speed) if sizes is None else rate * math.pi / 6 * sizes.mean_cube / (PACKED * speed)
    height = math.sqrt(area * slope)
    if not height < drop:
        raise InputError(
            f"drop of scene 'conveyor' must be more than the height of the ridge, about {height:.3g} m (got {drop:g} m). "
            "Lower the rate, or raise drop or speed."
        )
    least = BEHIND + SOURCE[0] + height / slope / d + 7
    if not least < length < math.inf:
        raise InputError(f"length of scene 'conveyor' must be more than {least:.3g} diameters, for source and discharge (got {length}).")
    end, half, back = length * d, max(2 * height / slope, 5 * d), height / slope + 3 * d
    grain = pellet(friction=friction, rolling_friction=rolling_friction, restitution=restitution)
    fall = math.sqrt(2 * GRAVITY * d)  # as in 'pile': the source is free again for the next ones
    emitter = Emitter(
        name="source",
        material=grain.name,
        sizes=sizes if sizes is not None else Discrete(diameters=(d,)),
        rate=rate,
        count=count,
        seed=seed,
        velocity=(0, 0, -fall),
        source=Rectangle(corner=(BEHIND * d, -SOURCE[1] / 2 * d, drop), edge_u=(SOURCE[0] * d, 0, 0), edge_v=(0, SOURCE[1] * d, 0)),
    )
    if duration is None:
        duration = end / speed + 7.0
    middle = ((BEHIND + SOURCE[0] + 4) * d, end - back)
    belt = Box(material=grain.name, lower=(-2 * d, -half, -2 * d), upper=(end, half, 0), side="outside", surface_velocity=(speed, 0, 0))
    return Scene(
        name="conveyor",
        materials=(grain, changed(grain, name="smooth", friction=0.0, rolling_friction=0.0)),
        pairs=(MaterialPair(materials=(grain.name, "smooth"), friction=0.0, rolling_friction=0.0),),
        law=LinearContact(stiffness=stiffness),
        gravity=Gravity(acceleration=(0, 0, -GRAVITY)),
        emitters=(emitter,),
        walls=(belt, Plane(material="smooth", normal=(1, 0, 0))),
        sinks=(Sink(name="below", region=BoxRegion(lower=(-0.5 * end, -10 * half, -8 * GONE * d), upper=(2 * end, 10 * half, -GONE * d))),),
        sensors=_along_slope(end, half, drop, height, slope, d),
        run={"time_step": time_step, "duration": duration},
        results=(Ridge(along=middle),),
        parameters=ConveyorParameters(
            diameter=d,
            source=(BEHIND * d, (BEHIND + SOURCE[0]) * d),
            length=end,
            half_width=half,
            speed=speed,
            rate=rate,
            ridge_height=height,
            counted=-COUNTED * d,
            filled=end / speed,
            middle=middle,
            chosen={"diameter": d, "count": count, "time_step": time_step, "duration": duration},
        ),
    )


def _along_slope(end: float, half: float, drop: float, height: float, slope: float, d: float) -> tuple[BoxSensor, ...]:
    """Boxes from behind the slope at the end of the belt to beyond what falls, the lowest down to where grains leave the run."""
    steps = max(1, math.ceil(height / (STEP * d)))
    level = [height * k / steps for k in range(steps + 1)]
    low, high = [-GONE * d, *level[1:-1]], [*level[1:-1], drop + d]
    return tuple(
        BoxSensor(lower=(end - level[k + 1] / slope - SLACK * d, -half - 10 * d, low[k]), upper=(end + 40 * d, half + 10 * d, high[k]))
        for k in range(steps)
    )
