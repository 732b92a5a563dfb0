"""An excavator that digs in a trench full of stones (WS section 5, Fig. 18 and 19)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...arithmetic import cos, mean, power, sin
from ...array_types import FloatArray, IntArray
from ...checks import InputError, finite_positive
from ...contact import Material, MaterialPair
from ...records import Vector
from ..bodies import Body, Motion
from ..grains import Grains
from ..joints import Ball, Cylindrical, Distance, Fixed, Hinge, Motor
from ..parameters import Parameters
from ..results import Dig
from ..scene import Gravity, Scene
from ..shapes import Box, Cylinder, Mesh, Plane
from ..sizes import Uniform
from .column import GRAVITY
from .registered import library_scene
from .sites import SHAKEN, SPACING

PAPER_COUNT = 100_000
SMALLEST, LARGEST = 0.025, 0.1  # [m] diameters
PACKED = 0.54  # solid fraction of the settled bed, loose and with walls near: decides the size of the trench, nothing that is measured
PAPER_TRENCH = (5.5, 2.0)  # [m] length and depth of the trench of 1e5 stones; the width follows
MIDDLE = 6.0  # [m] from the axis of the swing to the middle of the trench
FIELD = 14.0  # [m] half of the width of the ground
FOOT = (0.5, 2.0)  # [m] x and z of the boom's foot, in the plane of the arm
BOOM, STICK = 6.0, 3.2  # [m] from pin to pin
BUCKET = ((-0.9, -1.25), (-0.35, -1.3), (0.05, -1.2), (0.3, -0.95), (0.4, -0.62), (0.3, -0.32), (0.08, -0.15), (-0.2, -0.15))
"""Profile of the bucket from its lip to the upper edge of its mouth [m], x and z from its pin, with a level floor."""
BUCKET_MIDDLE = (-0.2, -0.7)  # [m] its centre of mass, from the pin
STRENGTH = {"boom": 2.0e6, "stick": 1.2e6, "bucket": 1.0e6, "swing": 8.0e5}  # [N], of the swing [N m]
SIDEWAYS = 75.0  # [degrees] from the trench to where the bucket is emptied
IMPACT_SWEEPS = 100
"""Of the impact stage at most, in which the whole machine collides with the bed: half of the work of a dig. The force of the stick in the
drag is within 2.5 % of that of 200 sweeps, 4 % of that of 1000 (5000 and 20 000 stones); 50 give 4 to 7 % less than 200, 25 give 14 %."""
SAMPLED = 0.1  # [s] between two rows of the motors' tables
VIEW = (-52.0, 16.0)  # azimuth and elevation [degrees]
MASSES = {
    "chassis": 17000.0,
    "carriage": 13000.0,
    "counterweight": 9000.0,
    "boom": 5000.0,
    "stick": 2500.0,
    "bucket": 2000.0,
    "boom barrel": 450.0,
    "boom rod": 300.0,
    "stick barrel": 450.0,
    "stick rod": 300.0,
}
"""[kg], 50 t together."""


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

    ``count`` stones of 25 to 100 mm, evenly spread, 2500 kg/m^3; 1e5 in WS, in a trench 2 m deep. Fewer fill a smaller trench, of ``depth``
    and ``length`` [m] (none: by the number; the width follows), and the bucket is smaller with it. The machine has 10 bodies, 8 joints, 3
    hydraulic cylinders (those of boom and stick with barrel and rod, that of the bucket without mass) and a swing motor; one more joint
    holds the chassis to the ground. Motors follow tables of positions: stones settle (0 to 3 s), the bucket is lowered, dragged through
    the bed (8 to 10 s), curled, lifted (13 s), swung out (16 s), emptied (18 s) and swung back (21 s). At the start the stones stand
    on a lattice, higher than the ground, in a sleeve that sinks into the ground when they are at rest. WS's step and 25 sweeps;
    ``iterations`` 0: as many as the accuracy asks for.
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


def upright(x: float, z: float) -> FloatArray:
    """A point or direction in the plane of the arm, (3,)."""
    return np.array([x, 0.0, z])


def across(d: FloatArray) -> FloatArray:
    """The direction a quarter turn on, in the plane of the arm."""
    return upright(-d[2], d[0])


def size_of(v: FloatArray) -> float:
    """Length of a vector in the plane of the arm."""
    return math.sqrt(v[0] * v[0] + v[2] * v[2])


def quaternion_along(d: FloatArray) -> tuple[float, float, float, float]:
    """The turn about y that brings x to the unit vector ``d`` in the plane of the arm."""
    w = math.sqrt(max(0.0, (1 + d[0]) / 2))
    return (w, 0.0, -d[2] / (2 * w), 0.0)


class Pose:
    """Where the arm is, in its plane, from the place of the bucket's pin and the turn of the bucket."""

    def __init__(self, pin: FloatArray, turn: float) -> None:
        """``turn`` [rad] about y, 0 with a level floor of the bucket: more curls it up."""
        self.foot, self.pin = upright(*FOOT), pin
        reach = pin - self.foot
        square = reach[0] * reach[0] + reach[2] * reach[2]
        along = (square + BOOM * BOOM - STICK * STICK) / (2 * square)  # of the reach, to below the boom's tip
        rise = BOOM * BOOM / square - along * along
        if rise <= 0:
            raise InputError(f"the arm does not reach ({pin[0]:.3g}, {pin[2]:.3g}) m.")
        self.tip = self.foot + along * reach + math.sqrt(rise) * across(reach)
        self.d1, self.d2 = (self.tip - self.foot) / BOOM, (pin - self.tip) / STICK
        self.n1, self.n2 = across(self.d1), across(self.d2)
        self.turn = (cos(turn), sin(turn))

    def bucket_point(self, x: float, z: float) -> FloatArray:
        """(3,) of a point that is given from the pin with a level floor."""
        c, s = self.turn
        return self.pin + upright(c * x + s * z, c * z - s * x)

    @property
    def ends(self) -> dict[str, tuple[FloatArray, FloatArray]]:
        """Both ends (3,) [m] of the cylinders."""
        return {
            "boom": (upright(1.3, 1.5), self.foot + 2.6 * self.d1 - 0.3 * self.n1),
            "stick": (self.foot + 2.8 * self.d1 + 0.6 * self.n1, self.tip - 0.9 * self.d2 + 0.1 * self.n2),
            "bucket": (self.tip + 0.6 * self.d2 + 0.45 * self.n2, self.bucket_point(0.45, 0.1)),
        }


class DigCycle:
    """A path of the bucket: where its pin is, how it is turned, and how the carriage is turned."""

    def __init__(self, rows: list[tuple[float, float, float, float, float]]) -> None:
        """Rows of time [s], x and z of the pin [m], turn of the bucket and swing [degrees]; between two it goes from rest to rest."""
        self.rows = np.array(rows)

    def values(self, time: float) -> FloatArray:
        """x, z [m], turn and swing [rad] at ``time`` [s]."""
        t = self.rows[:, 0]
        k = int(np.clip(np.searchsorted(t, time, side="right") - 1, 0, len(t) - 2))
        part = min(1.0, max(0.0, (time - t[k]) / (t[k + 1] - t[k])))
        smooth = part * part * (3 - 2 * part)
        x, z, turn, swing = (1 - smooth) * self.rows[k, 1:] + smooth * self.rows[k + 1, 1:]
        return np.array([x, z, turn * (math.pi / 180), swing * (math.pi / 180)])

    def at(self, time: float) -> Pose:
        x, z, turn, _ = self.values(time)
        return Pose(upright(x, z), float(turn))

    @property
    def times(self) -> FloatArray:
        return np.arange(round(self.rows[-1, 0] / SAMPLED) + 1) * SAMPLED


def dig_cycle(low: Vector, high: Vector, arm: Arm) -> DigCycle:
    """The path of the bucket through a trench."""
    long, deep = high[0] - low[0], -low[2]
    lip = arm.profile[0]

    def pin_for(x: float, z: float, turn: float) -> tuple[float, float, float]:
        """Row of the pin for a place of the lip."""
        c, s = float(cos(turn * (math.pi / 180))), float(sin(turn * (math.pi / 180)))
        return x - (c * lip[0] + s * lip[1]), z - (c * lip[1] - s * lip[0]), turn

    # The floor of the bucket goes along its way, a little less steep than it: the lip cuts, and nothing is pressed down.
    ready = pin_for(high[0] - 0.2 * long, deep + 1.2, -30.0)
    above = pin_for(high[0] - 0.1 * long, 0.1, -45.0)
    into = pin_for(high[0] - 0.33 * long, -0.3 * deep, -32.0)
    through = pin_for(low[0] + 0.27 * long, -0.42 * deep, -3.0)
    curled = (through[0], through[1] + 0.1 * deep, 55.0)
    lifted = (through[0] + 0.3, 2.2 + arm.size, 62.0)
    emptied = (lifted[0] + 0.5, lifted[1] + 0.3, -65.0)
    return DigCycle(
        [
            (0.0, *ready, 0.0),
            (3.0, *ready, 0.0),
            (6.0, *above, 0.0),
            (8.0, *into, 0.0),
            (10.0, *through, 0.0),
            (11.2, *curled, 0.0),
            (13.0, *lifted, 0.0),
            (16.0, *lifted, SIDEWAYS),
            (17.5, *emptied, SIDEWAYS),
            (18.0, *emptied, SIDEWAYS),
            (21.0, *ready, 0.0),
        ]
    )


class Arm:
    """The machine, with a bucket of some size."""

    def __init__(self, size: float, width: float) -> None:
        self.size, self.width = size, width
        self.profile = size * np.array(BUCKET)
        self.middle = (size * BUCKET_MIDDLE[0], size * BUCKET_MIDDLE[1])

    def bodies(self, pose: Pose) -> tuple[Body, ...]:
        """All ten of the machine."""
        ends = pose.ends
        w = min(0.4, 0.7 * self.width)  # of the stick
        return (
            self._body(
                "chassis",
                upright(0, 0.6),
                (4.8, 3.4, 1.0),
                [
                    _box((-2.4, -1.7, -0.6), (2.4, -1.0, 0.4)),
                    _box((-2.4, 1.0, -0.6), (2.4, 1.7, 0.4)),
                    _box((-1.4, -1.0, -0.2), (1.4, 1.0, 0.5)),
                ],
            ),
            self._body(
                "carriage",
                upright(-0.3, 1.7),
                (4.0, 2.8, 1.2),
                [
                    _box((-1.7, -1.4, -0.6), (1.9, 1.4, -0.3)),
                    _box((0.2, 0.5, -0.3), (1.9, 1.4, 1.4)),
                    _box((-1.7, -1.4, -0.3), (-0.2, 1.4, 0.6)),
                ],
            ),
            self._body("counterweight", upright(-2.5, 1.8), (1.0, 2.8, 1.2), [_box((-0.5, -1.4, -0.6), (0.5, 1.4, 0.6))]),
            self._body("boom", pose.foot + 2.8 * pose.d1, (6.0, 0.5, 0.7), [_box((-2.8, -0.25, -0.3), (3.2, 0.25, 0.3))], pose.d1),
            self._body(
                "stick",
                pose.tip + 1.3 * pose.d2,
                (4.1, 0.4, 0.5),
                [_box((-2.2, -w / 2, -0.2), (1.5, w / 2, 0.2)), _box((1.5, -w / 3, -0.05), (1.95, w / 3, 0.05))],
                pose.d2,
            ),
            self._bucket(pose),
            *(part for name in ("boom", "stick") for part in self._cylinder(name, *ends[name])),
        )

    @staticmethod
    def _body(name: str, at: FloatArray, size: Vector, walls: list[Any], d: FloatArray | None = None, mass: float | None = None) -> Body:
        """With the inertia of a solid block of that size [m]."""
        m = MASSES[name] if mass is None else mass
        x, y, z = (side * side for side in size)
        return Body(
            name=name,
            kind="dynamic",
            mass=m,
            inertia=(m * (y + z) / 12, m * (x + z) / 12, m * (x + y) / 12),
            position=_vector(at),
            orientation=(1.0, 0.0, 0.0, 0.0) if d is None else quaternion_along(d),
            walls=tuple(walls),
        )

    def _bucket(self, pose: Pose) -> Body:
        vertices, triangles = shell(self.profile, self.width)
        c, s = pose.turn
        d = upright(float(c), -float(s))  # where its x axis points
        centred = vertices - upright(*self.middle)
        mesh = Mesh(material="steel", vertices=centred, triangles=triangles)
        return Body(
            name="bucket",
            kind="dynamic",
            mass=MASSES["bucket"],
            inertia=(800.0, 800.0, 800.0),
            position=_vector(pose.bucket_point(*self.middle)),
            orientation=quaternion_along(d),
            walls=(mesh,),
        )

    def _cylinder(self, name: str, a: FloatArray, b: FloatArray) -> tuple[Body, Body]:
        """Barrel and rod between two points."""
        long = size_of(b - a)
        d = (b - a) / long
        half, thick = 0.3 * long, 0.12
        barrel = Cylinder(material="steel", axis=(1, 0, 0), radius=thick, length=2 * half, side="outside")
        rod = Cylinder(material="steel", axis=(1, 0, 0), radius=0.6 * thick, length=2 * half, side="outside")
        size = (2 * half, 2 * thick, 2 * thick)
        return (
            self._body(f"{name} barrel", a + half * d, size, [barrel], d),
            self._body(f"{name} rod", b - half * d, size, [rod], d),
        )

    def joints(self, cycle: DigCycle) -> tuple[Any, ...]:
        """All joints with their motors; a cylinder's way is 0 at the start, the length of the bucket's is its own."""
        start, times = cycle.at(0.0), cycle.times
        lengths: dict[str, list[float]] = {name: [] for name in ("boom", "stick", "bucket")}
        swing = []
        for time in times:
            for name, (a, b) in cycle.at(float(time)).ends.items():
                lengths[name].append(size_of(b - a))
            swing.append(float(cycle.values(float(time))[3]))

        def motor(name: str, values: list[float]) -> Motor:
            table = tuple((float(t), v) for t, v in zip(times, values, strict=True))
            return Motor(position=table, force_limit=STRENGTH[name])

        def pin(name: str, a: str, b: str, at: FloatArray) -> Hinge:
            return Hinge(name=name, bodies=(a, b), anchor=_vector(at), axis=(0, 1, 0))

        joints: list[Any] = [
            Fixed(name="stand", bodies=("ground", "chassis")),
            Hinge(name="swing", bodies=("chassis", "carriage"), anchor=(0, 0, 1.1), axis=(0, 0, 1), motor=motor("swing", swing)),
            Fixed(name="counterweight", bodies=("carriage", "counterweight")),
            pin("foot", "carriage", "boom", start.foot),
            pin("tip", "boom", "stick", start.tip),
            pin("end", "stick", "bucket", start.pin),
        ]
        for name, base in (("boom", "carriage"), ("stick", "boom")):
            a, b = start.ends[name]
            ways = [value - lengths[name][0] for value in lengths[name]]
            joints += [
                pin(f"{name} barrel pin", base, f"{name} barrel", a),
                Cylindrical(
                    name=f"{name} cylinder",
                    bodies=(f"{name} barrel", f"{name} rod"),
                    anchor=_vector(b),
                    axis=_vector(b - a),
                    motor=motor(name, ways),
                ),
                Ball(name=f"{name} rod pin", bodies=(f"{name} rod", name), anchor=_vector(b)),
            ]
        a, b = start.ends["bucket"]
        joints.append(
            Distance(
                name="bucket cylinder",
                bodies=("stick", "bucket"),
                anchors=(_vector(a), _vector(b)),
                motor=motor("bucket", lengths["bucket"]),
            )
        )
        return tuple(joints)


def shell(profile: FloatArray, width: float) -> tuple[FloatArray, IntArray]:
    """Vertices and triangles of a bucket: its ``profile`` (n, 2) in x and z drawn out along y, with two side walls; the mouth is open."""
    n = len(profile)
    middle = [mean(profile[:, k]) for k in range(2)]  # sides are fans around it: the profile is seen from everywhere in there
    sides = [np.stack([profile[:, 0], np.full(n, y), profile[:, 1]], axis=1) for y in (-width / 2, width / 2)]
    hubs = [[middle[0], y, middle[1]] for y in (-width / 2, width / 2)]
    vertices = np.concatenate([*sides, np.array(hubs)])
    k = np.arange(n - 1)
    floor = np.concatenate([np.stack([k, k + 1, n + k + 1], axis=1), np.stack([k, n + k + 1, n + k], axis=1)])
    around, following = np.arange(n), (np.arange(n) + 1) % n
    fans = [np.stack([np.full(n, 2 * n + s), s * n + around, s * n + following], axis=1) for s in (0, 1)]
    return vertices, np.concatenate([floor, *fans]).astype(np.int32)


def _box(lower: Vector, upper: Vector) -> Box:
    return Box(material="steel", lower=lower, upper=upper, side="outside")


def _vector(v: FloatArray) -> Vector:
    x, y, z = (float(c) for c in v)
    return x, y, z
