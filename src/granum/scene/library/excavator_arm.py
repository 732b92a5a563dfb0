"""The machine of the scene ``excavator``: its bodies and joints, where its arm is, and the way of its bucket."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...arithmetic import cos, mean, sin
from ...array_types import FloatArray, IntArray
from ...checks import InputError
from ...records import Vector
from ..bodies import Body
from ..joints import Ball, Cylindrical, Distance, Fixed, Hinge, Motor
from ..shapes import Box, Cylinder, Mesh

FOOT = (0.5, 2.0)  # [m] x and z of the boom's foot, in the plane of the arm
BOOM, STICK = 6.0, 3.2  # [m] from pin to pin
BUCKET = ((-0.9, -1.25), (-0.35, -1.3), (0.05, -1.2), (0.3, -0.95), (0.4, -0.62), (0.3, -0.32), (0.08, -0.15), (-0.2, -0.15))
"""Profile of the bucket from its lip to the upper edge of its mouth [m], x and z from its pin, with a level floor."""
BUCKET_MIDDLE = (-0.2, -0.7)  # [m] its centre of mass, from the pin
STRENGTH = {"boom": 2.0e6, "stick": 1.2e6, "bucket": 1.0e6, "swing": 8.0e5}  # [N], of the swing [N m]
SIDEWAYS = 75.0  # [degrees] from the trench to where the bucket is emptied
SAMPLED = 0.1  # [s] between two rows of the motors' tables
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
