"""A drum that turns about a horizontal axis: smooth (WS 4.3) or with sawteeth (SN 4.2.2, PP 4.1)."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from ...arithmetic import cos, mean, sin, total
from ...checks import InputError, finite_positive, known_name
from ...contact import HertzContact, LinearContact, MaterialPair
from ...records import Vector
from ..bodies import Body, Motion
from ..grains import Grains
from ..parameters import Parameters
from ..results import DrumFlow
from ..scene import Gravity, Scene
from ..sensor import CylinderSensor
from ..shapes import Cylinder, Mesh, Plane
from .column import GRAVITY
from .graded import graded
from .materials import BEAD, PELLET, changed
from .registered import library_scene
from .sawtooth import extrude, sawtooth_profile
from .sites import LANDING, SPACING, gentle_ramp, round_room, shake

PAPER: dict[str, dict[str, Any]] = {
    "smooth": {
        "count": 4864,
        "width": 40.0,
        "length": 7.0,
        "speed": 0.25,
        "diameter": 0.013,
        "size_ratio": 1.3,
        "side_friction": 0.0,
        "time_step": 0.005,
        "duration": 8.0,
    },
    "sawtooth": {
        "count": 7500,
        "width": 80.0,
        "length": 8.0,
        "speed": 0.63,
        "diameter": 0.01,
        "size_ratio": 1.0,
        "time_step": 0.005,
        "duration": 7.0,
    },
}
"""Where a parameter is not given: as in the papers, but for SN's time step of 0.01 s, in which an avalanche runs a diameter."""

TOOTH_HEIGHT, ATTACK = 1.2, 50.0  # [diameters], [degrees]
TEETH = 64 / 80  # for each diameter of width
REPOSE, PACKED = 45.0, 0.58  # [degrees] and solid fraction of a bed in slow flow: where the sensor is, nothing that is measured
SENSED, FLAT = 0.15, 20.0  # of the drum's radius: how deep below the surface the sensor reaches, and its own radius: nearly flat
VIEW = (-78.0, 10.0)  # azimuth and elevation [degrees] from which a drum is seen best: nearly along its axis


class DrumParameters(Parameters):
    """Of the scene ``drum``."""

    scene: str = "drum"
    kind: str
    count: int
    diameter: float
    """Of the larger grains [m]."""
    size_ratio: float
    drum_radius: float
    """[m]"""
    length: float
    """[m]"""
    axis: Vector
    """Unit vector about which it turns, by the right hand."""
    speed: float
    """[rad/s]"""
    starts: float
    """When it begins to turn [s]."""
    teeth: int
    tooth_height: float
    """[m]"""
    friction: float
    side_friction: float
    drum_walls: tuple[int, ...]
    """Numbers of the scene's walls that are the drum,"""
    side_walls: tuple[int, ...]
    """and that are its sides."""


@library_scene
def drum(
    kind: Literal["smooth", "sawtooth"] = "smooth",
    count: int | None = None,
    width: float | None = None,
    length: float | None = None,
    speed: float | None = None,
    diameter: float | None = None,
    size_ratio: float | None = None,
    teeth: int | None = None,
    youngs_modulus: float | None = None,
    stiffness: float | None = None,
    friction: float | None = None,
    rolling_friction: float | None = None,
    side_friction: float | None = None,
    restitution: float | None = None,
    ramp: float | None = None,
    time_step: float | None = None,
    duration: float | None = None,
    seed: int = 0,
    sizes: Any = None,
) -> Scene:
    """``count`` grains in a drum that turns about a horizontal axis, smooth or with sawteeth.

    ``smooth`` is the drum of Wang et al.: 4864 pellets in a drum 40 diameters wide and 7 long with flat frictionless sides, 0.25 rad/s;
    half of the grains have 13 mm, half 13 / ``size_ratio`` = 10 mm. ``sawtooth`` is that of Servin et al.: 7500 grains of 10 mm in a drum
    80 wide and 8 long, whose sides turn and rub as the rest, 0.63 rad/s; 64 teeth (in a drum of another width: as long ones), each 1.2
    high, with a steep face of 50 degrees that leads and so lifts the grains. Sundberg has it with length=10, or length=30 and
    count=25000; Servin and Wang have the smooth one at 0.5 rad/s with a stiffness of 3000 N/m (granum references).

    The axis is y; seen from -y a positive speed turns counter-clockwise, and grains rise towards x. They start at rest on a shaken lattice
    in the lower part of the drum; gravity grows for as long as the fall of the lattice asks; then the drum begins to turn. The time step is
    0.005 s, or less, so that the rim moves 0.3 diameters at most.
    A sensor (for runs that merge grains) takes in the flow: all that is higher than 0.15 radii below a surface that is 45 degrees steep.

    ``kind``: inside of the drum; the other defaults follow from it.
    ``width`` [diameters]: of the drum, inside.
    ``length`` [diameters]: of the drum, along its axis.
    ``speed`` [rad/s]: at which it turns.
    ``teeth``: number of sawteeth; none: it is smooth.
    ``side_friction``: between grains and the flat sides.
    """
    paper = PAPER[known_name("kind of drum", kind, PAPER)]
    d, sizes = graded("drum", sizes, diameter, paper["diameter"], size_ratio=size_ratio)
    given = {
        "count": count,
        "diameter": None if diameter is None and sizes is None else d,
        "width": width,
        "length": length,
        "speed": speed,
        "size_ratio": size_ratio,
        "side_friction": side_friction,
        "duration": duration,
    }
    p = paper | {key: value for key, value in given.items() if value is not None}
    for name, least in (("count", 1), ("width", 4.0), ("length", 1.1), ("size_ratio", 1.0)):
        if not least <= p[name] < math.inf:
            raise InputError(f"{name} of scene 'drum' must be {least:g} or more (got {p[name]}).")
    if not math.isfinite(p["speed"]):
        raise InputError(f"speed of scene 'drum' must be a finite number of rad/s (got {p['speed']}).")
    if teeth is not None and (kind == "smooth" or teeth < 3):
        raise InputError(f"teeth of scene 'drum' must be 3 or more, and belong to kind 'sawtooth' (got {teeth}, kind {kind!r}).")
    radius, length = p["width"] * d / 2, p["length"] * d
    # What the step goes by: the smallest, but for the smaller ones of the papers, which count as the larger ones.
    finest = d * min(1.0, paper["size_ratio"] / p["size_ratio"]) if sizes is None else sizes.range[0]

    grain = changed(
        PELLET if kind == "smooth" else BEAD,
        youngs_modulus=youngs_modulus,
        friction=friction,
        rolling_friction=rolling_friction,
        restitution=restitution,
    )
    side_friction = p.get("side_friction", grain.friction)
    side = changed(grain, name="side", friction=side_friction, rolling_friction=0.0 if side_friction == 0 else None)
    # Its ends lie behind the flat sides and are never touched; closed, it lets nothing out however far that was pushed.
    inner: list[Cylinder | Mesh] = [Cylinder(material=grain.name, axis=(0, 1, 0), radius=radius, length=length + d)]
    if kind == "smooth":
        teeth, height = 0, 0.0
    else:  # the cylinder stays behind the teeth, for what a hard impact pushes far into one
        teeth, height = teeth if teeth is not None else round(TEETH * p["width"]), TOOTH_HEIGHT * d
        vertices, triangles = extrude(sawtooth_profile(radius, teeth, height, ATTACK), length)
        inner.insert(0, Mesh(material=grain.name, vertices=vertices, triangles=triangles, side="front"))
    if time_step is None:
        rim = abs(p["speed"]) * radius
        p["time_step"] *= min(1.0, finest / (d if sizes is None else paper["diameter"]))  # smaller grains have less time to land
        time_step = min(p["time_step"], 0.3 * finest / rim) if rim > 0 else p["time_step"]
    finite_positive("time_step", time_step, "s")

    site = _lower_sites(p["count"], round_room(radius - height, d), p["length"] / SPACING)
    if sizes is None:
        size = np.where(np.arange(p["count"]) % 2 == 0, d, d / p["size_ratio"])
        np.random.default_rng(seed + 1).shuffle(size)
    else:
        size = sizes.sample(np.random.default_rng(seed + 1), p["count"])
    if ramp is None:
        ramp = gentle_ramp(GRAVITY, _fall(site, size / d) * d + height, LANDING * finest / time_step)
    ends = [Plane(material="side", point=(0, -sign * length / 2, 0), normal=(0, sign, 0)) for sign in (1, -1)]
    return Scene(
        name="drum",
        materials=(grain, side),
        pairs=(MaterialPair(materials=(grain.name, "side"), friction=side_friction),),
        gravity=Gravity(acceleration=(0, 0, -GRAVITY), ramp=ramp),
        grains=(Grains(material=grain.name, position=shake(site, d, seed), diameter=size),),
        law=HertzContact() if stiffness is None else LinearContact(stiffness=stiffness),
        sensors=(_above_bed(radius - height, length, p["speed"], size),),
        bodies=(Body(name="drum", kind="kinematic", motion=Motion(spin=(0, -p["speed"], 0), start=ramp), walls=(*inner, *ends)),),
        run={"time_step": time_step, "duration": p["duration"]},
        results=(DrumFlow(),),
        view=VIEW,
        parameters=DrumParameters(
            kind=kind,
            count=p["count"],
            diameter=d,
            size_ratio=p["size_ratio"],
            drum_radius=radius,
            length=length,
            axis=(0.0, -math.copysign(1.0, p["speed"]), 0.0),
            speed=p["speed"],
            starts=ramp,
            teeth=teeth,
            tooth_height=height,
            friction=grain.friction,
            side_friction=side_friction,
            drum_walls=tuple(range(len(inner))),
            side_walls=(len(inner), len(inner) + 1),
            chosen={
                **{name: p[name] for name in ("count", "width", "length", "speed", "size_ratio", "duration")},
                **{name: getattr(grain, name) for name in ("youngs_modulus", "friction", "rolling_friction", "restitution")},
                **{"diameter": d, "teeth": teeth or None, "stiffness": stiffness, "side_friction": side_friction},
                **{"ramp": ramp, "time_step": time_step},
            },
        ),
    )


def _lower_sites(count: int, reach: float, length: float) -> np.ndarray:
    """(count, 3) lattice sites [spacings] within ``reach`` of the axis and ``length`` along it, filled from below."""
    layers = max(1, math.floor(length + 1e-9))
    along = np.arange(layers) - (layers - 1) / 2
    half = max(0, math.floor(reach))
    across = np.arange(-half, half + 1)
    up = -reach + np.arange(2 * half + 1)
    z, x, y = (axis.ravel() for axis in np.meshgrid(up, across, along, indexing="ij"))
    inside = x * x + z * z <= (reach + 1e-9) * (reach + 1e-9)
    x, y, z = x[inside], y[inside], z[inside]
    if len(x) < count:
        raise InputError(
            f"count of scene 'drum' must be {len(x)} or less: that many grains fit into the drum at the start (got {count}). "
            "Take a wider or longer drum, or fewer grains."
        )
    order = np.lexsort([y, np.abs(x), z])[:count]
    return np.stack([x[order], y[order], z[order]], axis=1)


def _above_bed(radius: float, length: float, speed: float, sizes: np.ndarray) -> CylinderSensor:
    """A wide cylinder, its lowest line parallel to a surface at the angle of repose of a bed that fills its part of the drum."""
    part = min(1.0, math.pi / 6 * total(sizes * sizes * sizes) / (PACKED * math.pi * radius * radius * length))
    low, high = 0.0, math.pi  # half of the angle that the surface spans, seen from the axis
    while high - low > 1e-6:
        half = (low + high) / 2
        low, high = (half, high) if half - sin(half) * cos(half) < math.pi * part else (low, half)
    above, tilt = (FLAT - SENSED - cos(low)) * radius, math.radians(REPOSE)
    return CylinderSensor(
        centre=(-math.copysign(above * sin(tilt), speed), 0, above * cos(tilt)),
        axis=(0, 1, 0),
        radius=FLAT * radius,
        length=2 * length,
    )


def _fall(site: np.ndarray, size: np.ndarray) -> float:
    """About how far [diameters] the upper grains come down: the lattice is looser than a packing of 0.6, and ragged below."""
    filled = math.pi / 6 * mean(size * size * size) / (SPACING * SPACING * SPACING)
    return 2 + max(0.0, 1 - filled / 0.6) * float(np.ptp(site[:, 2]))
