"""An excavator that digs in a trench full of stones (WS section 5, Fig. 18 and 19)."""

from __future__ import annotations

import math

import numpy as np

from ...arithmetic import power
from ...array_types import FloatArray
from ...checks import InputError, finite_positive
from ...contact import Material, MaterialPair
from ...records import Vector
from ..bodies import Body, Motion
from ..grains import Grains
from ..parameters import Parameters
from ..results import Dig
from ..scene import Gravity, Scene
from ..shapes import Box, Plane
from ..sizes import Uniform
from .column import GRAVITY
from .excavator_arm import Arm, dig_cycle
from .registered import library_scene
from .sites import SHAKEN, SPACING

PAPER_COUNT = 100_000
SMALLEST, LARGEST = 0.025, 0.1  # [m] diameters
PACKED = 0.54  # solid fraction of the settled bed, loose and with walls near: decides the size of the trench, nothing that is measured
PAPER_TRENCH = (5.5, 2.0)  # [m] length and depth of the trench of 1e5 stones; the width follows
MIDDLE = 6.0  # [m] from the axis of the swing to the middle of the trench
FIELD = 14.0  # [m] half of the width of the ground
IMPACT_SWEEPS = 100
"""Of the impact stage at most, in which the whole machine collides with the bed: half of the work of a dig. The force of the stick in the
drag is within 2.5 % of that of 200 sweeps, 4 % of that of 1000 (5000 and 20 000 stones); 50 give 4 to 7 % less than 200, 25 give 14 %."""
VIEW = (-52.0, 16.0)  # azimuth and elevation [degrees]


class ExcavatorParameters(Parameters):
    """Of the scene ``excavator``."""

    scene: str = "excavator"
    count: int
    trench: tuple[Vector, Vector]
    """Lower and upper corner [m]; the upper one lies at z = 0, level with the ground."""
    bucket_size: float
    """Of the profile of the bucket, in that of the paper's size."""
    bucket_width: float
    """[m]"""
    rest: float
    """Until when [s] the stones are left to themselves."""
    drag: tuple[float, float]
    """From when to when [s] the bucket is dragged through the bed."""
    lifted: float
    """When [s] the bucket is above ground."""
    emptied: float
    """When [s] it has been emptied beside the trench."""


@library_scene
def excavator(
    count: int = 5000,
    depth: float | None = None,
    length: float | None = None,
    youngs_modulus: float = 1e8,
    friction: float = 0.6,
    rolling_friction: float = 0.1,
    restitution: float = 0.2,
    iterations: int = 25,
    time_step: float = 0.0025,
    duration: float = 21.0,
    seed: int = 0,
) -> Scene:
    """An excavator of 50 t digs in a trench full of stones, lifts the bucket, swings, empties it beside the trench and swings back.

    Stones have 25 to 100 mm, evenly spread, and 2500 kg/m^3; 1e5 of them fill a trench 2 m deep, as in Wang et al. (granum references).
    Fewer fill a smaller trench, whose width follows from depth and length, and the bucket is smaller with it. The machine has 10 bodies,
    8 joints, 3 hydraulic cylinders (those of boom and stick with barrel and rod, that of the bucket without mass) and a swing motor; one
    more joint holds the chassis to the ground. Motors follow tables of positions: stones settle (0 to 3 s), the bucket is lowered,
    dragged through the bed (8 to 10 s), curled, lifted (13 s), swung out (16 s), emptied (18 s) and swung back (21 s). At the start the
    stones stand on a lattice, higher than the ground, in a sleeve that sinks into the ground when they are at rest. There are 25 sweeps
    in a step.

    ``depth`` [m]: of the trench.
    ``length`` [m]: of the trench.
    ``iterations``: sweeps in a step; 0: as many as the accuracy asks for.
    """
    if not 500 <= count < math.inf:
        raise InputError(f"count of scene 'excavator' must be 500 or more: a trench for fewer has no room for a bucket (got {count}).")
    if iterations < 0:
        raise InputError(f"iterations of scene 'excavator' must be 0 or more (got {iterations}).")
    finite_positive("time_step", time_step, "s")
    volume = count * math.pi / 6 * _mean_cube() / PACKED
    scale = power(count / PAPER_COUNT, 1 / 3)
    deep = finite_positive("depth", PAPER_TRENCH[1] * power(scale, 0.9) if depth is None else depth, "m")
    long = finite_positive("length", PAPER_TRENCH[0] * power(scale, 0.9) if length is None else length, "m")
    width = volume / (deep * long)
    if width < 4 * LARGEST or not long <= 8.0:
        raise InputError(
            f"scene 'excavator': {count} stones fill a trench of {long:g} x {width:.3g} x {deep:g} m; it must be {4 * LARGEST:g} m wide at "
            "least and 8 m long at most. Change depth and length."
        )
    low, high = (MIDDLE - long / 2, -width / 2, -deep), (MIDDLE + long / 2, width / 2, 0.0)
    bucket_size, bucket_width = math.sqrt(scale), 0.55 * width
    arm = Arm(bucket_size, bucket_width)
    path = dig_cycle(low, high, arm)
    place, diameter, top = _lattice(count, low, high, seed)
    stone = Material(
        name="stone",
        density=2500,
        youngs_modulus=youngs_modulus,
        poisson_ratio=0.3,
        restitution=restitution,
        friction=friction,
        rolling_friction=rolling_friction,
    )
    return Scene(
        name="excavator",
        materials=(stone, Material(name="steel", density=7800, youngs_modulus=youngs_modulus, poisson_ratio=0.3, restitution=restitution)),
        pairs=(MaterialPair(materials=("stone", "steel"), friction=0.4, rolling_friction=0.0),),
        gravity=Gravity(acceleration=(0, 0, -GRAVITY)),
        grains=(Grains(material="stone", position=place, diameter=diameter),),
        walls=_trench(low, high),
        bodies=(*arm.bodies(path.at(0.0)), _sleeve(low, high, top)),
        joints=arm.joints(path),
        run={
            "time_step": time_step,
            "duration": duration,
            "stepper": {"solver": {"iterations": iterations}, "impact_iterations": IMPACT_SWEEPS} if iterations else None,
        },
        results=(Dig(lower=low, upper=high),),
        view=VIEW,
        parameters=ExcavatorParameters(
            count=count,
            chosen={"depth": deep, "length": long},
            trench=(low, high),
            bucket_size=bucket_size,
            bucket_width=bucket_width,
            rest=3.0,
            drag=(8.0, 10.0),
            lifted=13.0,
            emptied=18.0,
        ),
    )


def _mean_cube() -> float:
    """Of the diameters [m^3]."""
    a, b = SMALLEST, LARGEST
    return (a + b) * (a * a + b * b) / 4


def _lattice(count: int, low: Vector, high: Vector, seed: int) -> tuple[FloatArray, FloatArray, float]:
    """Places (n, 3) [m], diameters (n,) [m] and the height [m] of the stones at the start.

    The larger ones stand on a cubic lattice, the smaller half in the middles of its cells, where they have room.
    """
    rng = np.random.default_rng(seed)
    a = SPACING * LARGEST
    nx, ny = (int((high[k] - low[k]) / a) for k in range(2))
    layers = count // (nx * ny + (nx - 1) * (ny - 1)) + 2
    sites = []
    for shift, (cx, cy) in ((0.0, (nx, ny)), (0.5, (nx - 1, ny - 1))):
        x, y, z = (axis.ravel() for axis in np.meshgrid(np.arange(cx), np.arange(cy), np.arange(layers), indexing="ij"))
        sites.append(np.stack([x + 0.5 + shift, y + 0.5 + shift, z + 0.5 + shift, np.full(len(x), shift)], axis=1))
    site = np.concatenate(sites)
    site = site[np.lexsort(site.T[[0, 1, 2]])][:count]
    middle = site[:, 3] > 0
    drawn = np.sort(Uniform(lower=SMALLEST, upper=LARGEST).sample(rng, count))
    small, large = np.split(drawn, [np.count_nonzero(middle)])
    diameter = np.empty(count)
    diameter[middle], diameter[~middle] = rng.permutation(small), rng.permutation(large)
    margin = np.array([high[0] - low[0] - nx * a, high[1] - low[1] - ny * a, 0.0]) / 2
    place = np.asarray(low) + margin + a * (site[:, :3] + SHAKEN * (rng.random((count, 3)) - 0.5))
    return place, diameter, float(place[:, 2].max()) + LARGEST


def _trench(low: Vector, high: Vector) -> tuple[Box | Plane, ...]:
    """The ground around it, and its floor."""
    bottom = low[2] - 0.5
    sides = (
        ((-FIELD, -FIELD), (low[0], FIELD)),
        ((high[0], -FIELD), (FIELD, FIELD)),
        ((low[0], -FIELD), (high[0], low[1])),
        ((low[0], high[1]), (high[0], FIELD)),
    )
    ground = tuple(Box(material="stone", lower=(*a, bottom), upper=(*b, 0.0), side="outside") for a, b in sides)
    return (*ground, Plane(material="stone", point=(0, 0, low[2])))


def _sleeve(low: Vector, high: Vector, top: float) -> Body:
    """Walls on the rim of the trench that hold the lattice and then sink into the ground."""
    thick, rise = 0.3, max(top, 0.1)
    sides = (
        ((low[0] - thick, low[1] - thick), (low[0], high[1] + thick)),
        ((high[0], low[1] - thick), (high[0] + thick, high[1] + thick)),
        ((low[0], low[1] - thick), (high[0], low[1])),
        ((low[0], high[1]), (high[0], high[1] + thick)),
    )
    walls = tuple(Box(material="steel", lower=(*a, 0.0), upper=(*b, rise), side="outside") for a, b in sides)
    return Body(name="sleeve", kind="kinematic", walls=walls, motion=Motion(velocity=(0, 0, -rise), start=1.8, stop=2.85))
