"""Part of a balling circuit: a drum that feeds a wide belt, and a roller sieve at its end (WS section 5)."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from ...arithmetic import cos, exp, sin
from ...array_types import FloatArray
from ...checks import InputError, finite_positive
from ...contact import MaterialPair
from ...memory import check_grains
from ...records import Vector
from ..bodies import Body, Motion
from ..emitter import Emitter, Rectangle
from ..grains import Grains
from ..parameters import Parameters
from ..regions import BoxRegion
from ..results import Circuit
from ..scene import Gravity, Scene
from ..shapes import Box, Cylinder, Plane
from ..sink import Sink
from ..sizes import LogNormal
from .column import GRAVITY
from .materials import changed, pellet
from .registered import library_scene
from .sites import LANDING, SPACING, gentle_ramp, round_room, shake

REPOSE, PACKED = 41.0, 0.58  # [degrees] and solid fraction of a bed of pellets: what the drum starts with, nothing that is measured
CUT = 2.5  # [standard deviations of ln d]: no pellet is further from the median
FULLEST, SLICES = 0.9, 200  # depth of the bed over the radius: with more, a drum overflows; parts of its length in which the depth is found
FILLED = 1.3  # [radii] from the bottom of the drum: so high the first pellets stand, below the feed
BESIDE = 0.25  # [drum radii] by which belt and sieve are wider than the drum, on each side
DROP, BEHIND, THICK = 5.0, 5.0, 1.5  # [d] the outlet above the belt; the belt behind the outlet; its thickness
CLEARANCE = 0.1  # [d] between the end of the belt and the first roller, below it
FALL = 0.15  # [s] of a free fall from the gaps to the sinks: frames that are not further apart see every pellet on its way
EVERY = 0.05  # [s] between frames
CREEP = 0.3  # of the rollers' speed: about that of pellets along the sieve
MEASURED = 6.0  # [s] of a run after pellets have come to the end of the sieve
VIEW = (-62.0, 22.0)  # azimuth and elevation [degrees]


class CircuitParameters(Parameters):
    """Of the scene ``circuit``; lengths in m. Pellets go along x; the surface of the belt is z = 0, the outlet above x = 0."""

    measured: ClassVar[bool] = True
    scene: str = "circuit"
    diameter: float
    """Median by number."""
    sizes: tuple[float, float]
    """Smallest and largest diameter."""
    rate: float
    """Pellets fed [1/s]."""
    density: float
    """Of a pellet [kg/m^3]."""
    drum_radius: float
    drum_length: float
    outlet: Vector
    """Its middle."""
    axis: Vector
    """Of the drum: unit vector from its closed end to the outlet, about which it turns by the right hand."""
    speed: float
    """Of the drum [rad/s]."""
    belt_end: float
    belt_speed: float
    """[m/s]"""
    half_width: float
    """Of belt and sieve."""
    rollers: tuple[tuple[float, float], ...]
    """x and z of their axes, which lie along y."""
    roller_radius: float
    roller_speed: float
    """Of their surfaces [m/s]."""
    gaps: tuple[float, ...]
    """Between each roller and the next one."""
    filled: float
    """When pellets have come to the end of the sieve [s], about."""


@library_scene
def circuit(
    rate: float = 120.0,
    diameter: float = 0.0115,
    spread: float = 0.15,
    drum_width: float = 18.0,
    drum_length: float = 18.0,
    speed: float = 1.5,
    incline: float = 6.0,
    count: int | None = None,
    belt_length: float = 22.0,
    belt_speed: float = 0.08,
    rollers: int = 11,
    roller_width: float = 3.5,
    roller_speed: float = 0.4,
    smallest_gap: float = 0.75,
    largest_gap: float = 1.3,
    sieve_incline: float = 15.0,
    youngs_modulus: float | None = None,
    friction: float | None = None,
    rolling_friction: float | None = None,
    restitution: float | None = None,
    iterations: int = 50,
    time_step: float = 0.0025,
    duration: float | None = None,
    seed: int = 0,
) -> Scene:
    """A balling drum empties pellets onto a wide belt, which drops them on a roller sieve that sorts them by size.

    The drum turns about an axis that falls towards its open end; pellets are fed at its closed end. ln of their diameters is normal, cut at
    2.5 standard deviations. At the start the drum holds as many as when it empties as much as is fed (Kramers and Croockewit), unless a
    count is given.

    The sieve is a row of rollers across the way of the pellets. All turn alike, and their gaps grow. Below each gap is a bin of its own, a
    sink by the name of ``gap 1`` and so on; ``oversize`` has what runs over the last roller. Materials are those of Wang et al. (granum
    references); drum, belt and rollers rub as pellets do, which carries these from groove to groove, and guards at the sides are smooth.
    The run lasts until pellets come to the end of the sieve, and 6 s more.

    ``rate`` [1/s]: pellets that are fed in a second.
    ``diameter`` [m]: median of the pellets; lengths in diameters count in it.
    ``spread``: standard deviation of ln(diameter).
    ``drum_width`` [diameters]: of the drum, inside.
    ``drum_length`` [diameters]: of the drum.
    ``speed`` [rad/s]: of the drum.
    ``incline`` [degrees]: by which the axis of the drum falls towards its open end.
    ``count``: pellets in the drum at the start.
    ``belt_length`` [diameters]: of the belt.
    ``belt_speed`` [m/s]: of the belt.
    ``rollers``: number of rollers.
    ``roller_width`` [diameters]: of a roller.
    ``roller_speed`` [m/s]: at which the tops of the rollers move on.
    ``smallest_gap`` [diameters]: between the first two rollers.
    ``largest_gap`` [diameters]: between the last two rollers.
    ``sieve_incline`` [degrees]: by which the sieve falls.
    ``iterations``: sweeps in a step; 0: as many as the accuracy asks for.
    """
    for name, value, unit in (
        ("rate", rate, "1/s"),
        ("diameter", diameter, "m"),
        ("speed", speed, "rad/s"),
        ("belt_speed", belt_speed, "m/s"),
        ("roller_speed", roller_speed, "m/s"),
        ("time_step", time_step, "s"),
    ):
        finite_positive(name, value, unit)
    for name, value, least, most in (
        ("spread", spread, 0.0, 0.3),
        ("drum_width", drum_width, 8.0, math.inf),
        ("drum_length", drum_length, 8.0, math.inf),
        ("incline", incline, 0.5, 30.0),
        ("belt_length", belt_length, 5.0, math.inf),
        ("rollers", rollers, 2, 1000),
        ("roller_width", roller_width, 1.0, 50.0),
        ("sieve_incline", sieve_incline, 0.0, 45.0),
        ("iterations", iterations, 0, math.inf),
    ):
        if not least <= value <= most or value == math.inf:
            bounds = f"{least:g} or more" if most == math.inf else f"between {least:g} and {most:g}"
            raise InputError(f"{name} of scene 'circuit' must be {bounds} (got {value}).")
    if not 0 < smallest_gap <= largest_gap < math.inf:
        raise InputError(
            f"gaps of scene 'circuit' must grow along the sieve, 0 < smallest_gap <= largest_gap (got {smallest_gap} and {largest_gap})."
        )
    d = diameter
    grain = pellet(youngs_modulus=youngs_modulus, friction=friction, rolling_friction=rolling_friction, restitution=restitution)
    sizes = LogNormal(median=d, sigma=spread, lower=d / float(exp(CUT * spread)), upper=d * float(exp(CUT * spread)))
    radius, length, half = drum_width * d / 2, drum_length * d, (1 + BESIDE) * drum_width * d / 2
    tilt = math.radians(incline)
    axis = (cos(tilt), 0.0, -sin(tilt))
    outlet = (0.0, 0.0, DROP * d + radius * cos(tilt))
    sites = _sites(radius, length, sizes.upper)
    if count is None:
        count = min(len(sites), _held(rate * _mean_volume(sizes), radius, length, speed, tilt, sizes))
    if not 1 <= count <= len(sites):
        raise InputError(
            f"count of scene 'circuit' must be between 1 and {len(sites)}, which fit into the drum at the start (got {count}). "
            "Take a wider or longer drum, or leave count out."
        )
    start, size = shake(sites[:count], sizes.upper, seed), sizes.sample(np.random.default_rng(seed + 1), count)
    fall = (float(np.ptp(sites[:count, 2])) / 2 + 1) * sizes.upper
    ramp = gentle_ramp(GRAVITY, fall, LANDING * sizes.lower / time_step)
    middle = (outlet[0] - axis[0] * length / 2, 0.0, outlet[2] - axis[2] * length / 2)
    turn = (cos(tilt / 2), 0.0, sin(tilt / 2), 0.0)
    gaps = [(smallest_gap + (largest_gap - smallest_gap) * k / max(1, rollers - 2)) * d for k in range(rollers - 1)]
    belt_end, roller = belt_length * d, roller_width * d / 2
    places = _row(belt_end, -(THICK + CLEARANCE) * d - roller, roller, gaps, math.radians(sieve_incline))
    filled = ramp + 1.2 * belt_end / belt_speed + (places[-1][0] - places[0][0]) / (CREEP * roller_speed)
    if duration is None:
        duration = filled + MEASURED
    drum = Body(
        name="drum",
        kind="kinematic",
        position=middle,
        orientation=turn,
        motion=Motion(spin=(speed * axis[0], 0.0, speed * axis[2]), start=ramp),
        walls=(
            Cylinder(material=grain.name, axis=(1, 0, 0), radius=radius, length=length, caps=False),
            Plane(material=grain.name, point=(-length / 2, 0, 0), normal=(1, 0, 0)),
        ),
    )
    belt = Box(
        material=grain.name,
        lower=(-BEHIND * d, -half, -THICK * d),
        upper=(belt_end, half, 0),
        side="outside",
        surface_velocity=(belt_speed, 0, 0),
    )
    stop = Box(material="smooth", lower=(-(BEHIND + 1) * d, -half, -THICK * d), upper=(-BEHIND * d, half, 0.8 * DROP * d), side="outside")
    guards = [Plane(material="smooth", point=(0, -sign * half, 0), normal=(0, sign, 0)) for sign in (1, -1)]
    return Scene(
        name="circuit",
        materials=(grain, changed(grain, name="smooth", friction=0.0, rolling_friction=0.0)),
        pairs=(MaterialPair(materials=(grain.name, "smooth"), friction=0.0, rolling_friction=0.0),),
        gravity=Gravity(acceleration=(0, 0, -GRAVITY), ramp=ramp),
        grains=(Grains(material=grain.name, position=_placed(start, middle, tilt), diameter=size),),
        emitters=(_feed(grain.name, sizes, rate, (radius, length, d), (middle, axis), ramp, seed),),
        walls=(belt, stop, *guards, *_partitions(grain.name, places, roller, half)),
        bodies=(drum, *_rollers(grain.name, places, roller, half, roller_speed)),
        sinks=_bins(places, half, 2 * radius),
        run={
            "time_step": time_step,
            "duration": duration,
            "every": EVERY,
            "stepper": {"solver": {"iterations": iterations}} if iterations else None,
        },
        results=(Circuit(),),
        view=VIEW,
        parameters=CircuitParameters(
            diameter=d,
            sizes=sizes.range,
            rate=rate,
            density=grain.density,
            drum_radius=radius,
            drum_length=length,
            outlet=outlet,
            axis=axis,
            speed=speed,
            belt_end=belt_end,
            belt_speed=belt_speed,
            half_width=half,
            rollers=tuple(places),
            roller_radius=roller,
            roller_speed=roller_speed,
            gaps=tuple(gaps),
            filled=filled,
            chosen={
                "count": count,
                "duration": duration,
                **{name: getattr(grain, name) for name in ("youngs_modulus", "friction", "rolling_friction", "restitution")},
            },
        ),
    )


def _held(flow: float, radius: float, length: float, speed: float, tilt: float, sizes: LogNormal) -> int:
    """Pellets in a drum through which ``flow`` [m^3/s] of solid goes (Kramers and Croockewit, 1952).

    From the open end on, where it is as deep as a pellet, the bed grows deeper by dh/dx = tan(repose) 3 Q / (2 Omega c^3) - tan(tilt) /
    cos(repose), with Q of the bulk and c half of the chord of its surface, c^2 = h (2 R - h).
    """
    up, over = sin(math.radians(REPOSE)), cos(math.radians(REPOSE))
    pull, slope = 1.5 * flow / PACKED / speed * up / over, sin(tilt) / cos(tilt) / over
    depth, volume, step = sizes.median, 0.0, length / SLICES
    for _ in range(SLICES):
        chord = math.sqrt(depth * (2 * radius - depth))
        depth = max(sizes.median, depth + step * (pull / (chord * chord * chord) - slope))
        if not depth < FULLEST * radius:
            raise InputError(
                f"rate of scene 'circuit' must be less: a bed of such a flow fills more than {FULLEST:g} of the lower half of its drum. "
                "Lower the rate, or raise speed, incline or drum_width."
            )
        volume += step * _segment(depth, radius)
    return max(1, round(PACKED * volume / _mean_volume(sizes)))


def _segment(depth: float, radius: float) -> float:
    """Area [m^2] of the part of a circle that lies below a chord, ``depth`` [m] deep."""
    low, high = 0.0, math.pi / 2  # half of the angle that the chord spans, seen from the middle
    while high - low > 1e-9:
        angle = (low + high) / 2
        low, high = (angle, high) if radius * (1 - cos(angle)) < depth else (low, angle)
    return float(radius * radius * (low - sin(low) * cos(low)))


def _mean_volume(sizes: LogNormal) -> float:
    """[m^3] of a pellet."""
    return math.pi / 6 * sizes.mean_cube


def _sites(radius: float, length: float, largest: float) -> FloatArray:
    """(n, 3) [spacings] of a lattice in the lower part of the drum, from below, around its middle; x along its axis."""
    reach, room = round_room(radius, largest), math.floor(length / (SPACING * largest) - 1)
    check_grains(int(2 * FILLED * reach * reach) * (room + 1))
    steps = np.arange(-math.floor(reach), math.floor(reach) + 1)
    levels = -reach + np.arange(math.floor(FILLED * reach))
    x, y, z = (a.ravel() for a in np.meshgrid(np.arange(room + 1) - room / 2, steps, levels, indexing="ij"))
    inside = y * y + z * z <= (reach + 1e-9) * (reach + 1e-9)
    x, y, z = x[inside], y[inside], z[inside]
    return np.stack([x, y, z], axis=1)[np.lexsort([x, np.abs(y), z])]


def _placed(start: FloatArray, middle: Vector, tilt: float) -> FloatArray:
    """From the drum's frame to the world [m]."""
    x, y, z = start.T
    return np.stack([middle[0] + cos(tilt) * x + sin(tilt) * z, y, middle[2] - sin(tilt) * x + cos(tilt) * z], axis=1)


def _feed(
    material: str, sizes: LogNormal, rate: float, size: tuple[float, float, float], drum: tuple[Vector, Vector], starts: float, seed: int
) -> Emitter:
    """Above the bed at the closed end of the drum."""
    (radius, length, d), (middle, axis) = size, drum
    back = 2 * d - length / 2
    corner = (middle[0] + back * axis[0], -0.5 * radius, middle[2] + back * axis[2] + 0.2 * radius)
    long = min(5 * d, 0.3 * length)
    return Emitter(
        name="feed",
        material=material,
        sizes=sizes,
        rate=rate,
        start=starts,
        seed=seed + 2,
        velocity=(0, 0, -math.sqrt(2 * GRAVITY * d)),
        source=Rectangle(corner=corner, edge_u=(long * axis[0], 0, long * axis[2]), edge_v=(0, radius, 0)),
    )


def _row(x: float, z: float, radius: float, gaps: list[float], tilt: float) -> list[tuple[float, float]]:
    """x and z [m] of the axes of rollers with these gaps, from the first one on downwards."""
    places = [(x, z)]
    for gap in gaps:
        way = 2 * radius + gap
        places.append((places[-1][0] + way * cos(tilt), places[-1][1] - way * sin(tilt)))
    return places


def _rollers(material: str, places: list[tuple[float, float]], radius: float, half: float, speed: float) -> list[Body]:
    return [
        Body(
            name=f"roller {k}",
            kind="kinematic",
            position=(x, 0, z),
            motion=Motion(spin=(0, speed / radius, 0)),
            walls=(Cylinder(material=material, axis=(0, 1, 0), radius=radius, length=2 * half + 2 * radius, side="outside"),),
        )
        for k, (x, z) in enumerate(places, 1)
    ]


def _partitions(material: str, places: list[tuple[float, float]], radius: float, half: float) -> list[Box]:
    """Below each roller, hidden by it, so that what has fallen through a gap stays apart from the rest."""
    deep = 0.5 * GRAVITY * FALL * FALL + radius
    return [
        Box(
            material=material,
            lower=(x - radius / 3, -half, z - deep),
            upper=(x + radius / 3, half, z - radius / 2),
            side="outside",
        )
        for x, z in places
    ]


def _bins(places: list[tuple[float, float]], half: float, beyond: float) -> tuple[Sink, ...]:
    """One below each gap, and one beyond the last roller; the last is as deep as pellets that run over it fall."""
    fall = 0.5 * GRAVITY * FALL * FALL
    ends = [(x, places[k + 1][0], places[k + 1][1]) for k, (x, _) in enumerate(places[:-1])]
    ends.append((places[-1][0], places[-1][0] + max(beyond, 1.0), places[-1][1]))
    names = [*(f"gap {k}" for k in range(1, len(places))), "oversize"]
    return tuple(
        Sink(name=name, region=BoxRegion(lower=(left, -2 * half, z - 10 * fall), upper=(right, 2 * half, z - fall)))
        for name, (left, right, z) in zip(names, ends, strict=True)
    )
