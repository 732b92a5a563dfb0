"""A belt that carries a pile from a source to its end, where it falls over the edge (MR section 4)."""

from __future__ import annotations

import math

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
from .materials import changed, pellet
from .registered import library_scene

SOURCE = (15.0, 4.0)  # [d] of the emitter, along and across the belt
BEHIND = 3.0  # [d] from the wall at the back to the emitter
REPOSE = 41.0  # [degrees] of such a pile: sizes of belt and sensors are derived from it, nothing that is measured
PACKED = 0.58  # solid fraction, for the same
SLACK, STEP = 1.5, 1.0  # [d] that sensors reach behind the slope at the end, and their height
COUNTED, GONE = 15.0, 25.0  # [d] below the belt: where the discharge is counted, and where it leaves the run


class ConveyorParameters(Parameters):
    """Of the scene ``conveyor``; lengths in m, from the back of the belt."""

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
    diameter: float = 0.01,
    drop: float = 0.1,
    count: int | None = None,
    stiffness: float = 3e3,
    friction: float = 0.91,
    rolling_friction: float = 0.32,
    restitution: float = 0.18,
    time_step: float = 0.005,
    duration: float | None = None,
    seed: int = 0,
) -> Scene:
    """A pile on a belt ``length`` diameters long that runs at ``speed`` [m/s], fed with ``rate`` grains a second; it falls off at the end.

    The belt runs along x from a smooth wall at its back. Grains come from an area of 15 d x 4 d, ``drop`` [m] above the belt, and come to
    rest on it as a ridge about 9 d high (MR: 50 d, 0.1 m/s, 1000 1/s, 0.1 m). ``length`` 900 holds 90 000 grains. ``count`` is the total
    number, none: without end. The contact law is linear with ``stiffness`` [N/m]. ``duration`` [s] none: the belt runs full, and 7 s more.

    The belt is twice as wide as the ridge. At its end the ridge breaks off along a slope at the angle of repose that begins at the edge: it
    reaches back by height / tan(angle), 10 d. Sensors follow that slope in steps 1 d high, each 1.5 d behind it, and take in all that
    falls: at full resolution fewer than 1 in 20 grains behind them move against the belt. What falls is counted 15 d below the belt and
    leaves the run 25 d below.
    """
    for name, value, unit in (
        ("speed", speed, "m/s"),
        ("rate", rate, "1/s"),
        ("diameter", diameter, "m"),
        ("drop", drop, "m"),
        ("time_step", time_step, "s"),
    ):
        finite_positive(name, value, unit)
    d, repose = diameter, math.radians(REPOSE)
    slope = sin(repose) / cos(repose)
    # of the ridge's cross-section: what is fed in a second lies on what has run past
    area = rate * math.pi / 6 * d * d * d / (PACKED * speed)
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
        sizes=Discrete(diameters=(d,)),
        rate=rate,
        count=count,
        seed=seed,
        velocity=(0, 0, -fall),
        source=Rectangle(corner=(BEHIND * d, -SOURCE[1] / 2 * d, drop), edge_u=(SOURCE[0] * d, 0, 0), edge_v=(0, SOURCE[1] * d, 0)),
    )
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
        run={"time_step": time_step, "duration": duration if duration is not None else end / speed + 7.0},
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
