"""A silo: an upright cylinder of flat faces (SN 4.2.1)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...arithmetic import cos, power, sin
from ...checks import InputError, finite_positive
from ...contact import MaterialPair
from ..bodies import Body, Motion
from ..counter import Counter, DiscRegion
from ..grains import Grains
from ..parameters import Parameters
from ..results import Discharge, Level
from ..scene import Gravity, Scene
from ..shapes import Box, Mesh, Plane
from .graded import graded
from .materials import BEAD, changed
from .registered import library_scene
from .sites import LANDING, SPACING, gentle_ramp, round_layer, round_room, shake, speed_of_fall

GRAVITY = 9.82  # [m/s^2] at the end of the ramp
FIRST_GRAVITY = 0.01  # and at its start
FACES = 20
# [s] of the ramps that a scene chooses. In a shorter one grains land hard, are pushed up again, and sides that should carry them pull them
# down. The longest is SN's.
SHORTEST_RAMP, LONGEST_RAMP = 5.0, 60.0


class SiloParameters(Parameters):
    """Of the scene ``silo``."""

    scene: str = "silo"
    count: int
    width: float
    """Of the silo [d]."""
    diameter: float
    """Of a grain [m]."""
    inner_diameter: float
    """Of the silo [m]."""
    faces: int
    """Of its sides; 0: it has none."""
    side_walls: tuple[int, ...]
    """Numbers of the scene's walls that are sides,"""
    floor_walls: tuple[int, ...]
    """and that are the floor."""
    friction: float
    wall_friction: float
    ramp: float
    """[s] during which gravity grows."""
    settled: float
    """When the grains have settled [s]."""
    outlet: float
    """Width of the hole [m]; 0: closed."""


@library_scene
def silo(
    count: int = 500,
    width: float = 6.0,
    diameter: float | None = None,
    youngs_modulus: float = 5e6,
    friction: float = 0.7,
    wall_friction: float | None = None,
    rolling_friction: float = 0.0,
    restitution: float = 0.0,
    outlet: float = 0.0,
    ramp: float | None = None,
    settle: float = 1.0,
    time_step: float | None = None,
    duration: float | None = None,
    seed: int = 0,
    sizes: Any = None,
) -> Scene:
    """``count`` grains settle in a silo while gravity grows; then an outlet in its floor may open.

    The silo has 20 flat sides around a circle of ``width`` diameters, so that 4 area / perimeter is that width; 1: a column of grains
    without sides. The grains start on a shaken cubic grid. Gravity grows from 0.01 to 9.82 m/s^2 in ``ramp``, then ``settle`` passes (60 s
    and 5 s in Servin et al., granum references). The time step is 0.01 s, or less, so that the top of the grid lands with 0.3 diameters per
    step at most; the ramp is 5 s, or as long as a given time step asks for that, at most 60 s. Grains fall through the outlet into a tray,
    and are counted on their way (``granum plot`` figure ``flow-rate``).
    The run lasts until they have settled, or about until the silo is empty.

    ``width`` [diameters]: of the silo, inside; 1: a column without sides.
    ``wall_friction``: between grains and walls; as friction unless it is given.
    ``outlet`` [diameters]: width of a round hole that opens when the grains have settled; 0: it stays closed.
    ``settle`` [s]: time to come to rest when gravity has grown.
    """
    if count < 1:
        raise InputError(f"count of scene 'silo' must be 1 or more (got {count}).")
    if not 1 <= width < math.inf:
        raise InputError(f"width of scene 'silo' must be a finite number of grain diameters, 1 or more (got {width}).")
    if not (outlet == 0 or 1 < outlet < width):
        raise InputError(
            f"outlet of scene 'silo' must be 0 (closed), or lie between 1 and the silo's width of {width:g} grain diameters (got {outlet})."
        )
    diameter, sizes = graded("silo", sizes, diameter, 0.01)
    if sizes is not None and width == 1:
        raise InputError("sizes of scene 'silo' need a width above 1: a column of grains that touch has one size.")
    smallest, filled = (diameter, 1.0) if sizes is None else (sizes.range[0], sizes.mean_cube / (diameter * diameter * diameter))
    for name, value in (("ramp", ramp), ("settle", settle)):
        if value is not None and not 0 <= value < math.inf:
            raise InputError(f"{name} of scene 'silo' must be a finite number of seconds, 0 or more (got {value}).")

    bead = changed(BEAD, youngs_modulus=youngs_modulus, friction=friction, rolling_friction=rolling_friction, restitution=restitution)
    wall_friction = friction if wall_friction is None else wall_friction
    position = _grid(count, width, diameter, seed)
    drop = _drop(count) * diameter if outlet else 0.0
    fall = _fall(position, width, diameter, filled)
    if ramp is None:
        ramp = SHORTEST_RAMP
        if time_step is not None:
            gentle = gentle_ramp(GRAVITY, fall, LANDING * smallest / finite_positive("time_step", time_step, "s"))
            ramp = min(max(gentle, SHORTEST_RAMP), LONGEST_RAMP)
    if time_step is None:
        fastest = max(speed_of_fall(GRAVITY, fall, ramp), math.sqrt(2 * GRAVITY * (drop + diameter)) if outlet else 0.0)
        time_step = min(0.01, LANDING * smallest / fastest) if fastest > 0 else 0.01
    finite_positive("time_step", time_step, "s")
    settled = ramp + settle
    if duration is None:
        duration = settled + (1.3 * count / _beverloo_rate(outlet, diameter) if outlet else 0.0)

    radius = width * diameter / 2
    size = diameter if sizes is None else sizes.sample(np.random.default_rng(seed + 1), count)
    bodies = []
    if outlet:
        top = float(position[:, 2].max()) + diameter
        bodies = _open_silo(radius, top, outlet * diameter / 2, settled, drop + diameter)
    elif width > 1:
        bodies = [
            Body(
                name="silo",
                walls=tuple(
                    Plane(material="wall", point=(-radius * x, -radius * y, 0.0), normal=(x, y, 0.0)) for x, y in _circle(np.arange(FACES))
                ),
            )
        ]
    side_walls = [] if not bodies else [1] if outlet else list(range(1, 1 + FACES))
    return Scene(
        name="silo",
        materials=(bead, changed(bead, name="wall")),
        pairs=(MaterialPair(materials=("bead", "wall"), friction=wall_friction),),
        gravity=Gravity(acceleration=(0, 0, -GRAVITY), initial=(0, 0, -FIRST_GRAVITY), ramp=ramp),
        grains=(Grains(material="bead", position=position, diameter=size),),
        walls=(_tray(drop, diameter) if outlet else Plane(material="wall"),),
        bodies=tuple(bodies),
        run={"time_step": time_step, "duration": duration},
        counters=(Counter(name="outlet", region=DiscRegion(centre=(0, 0, 0), normal=(0, 0, -1), radius=outlet * diameter / 2)),)
        if outlet
        else (),
        results=(Level(), *((Discharge(counter="outlet", outlet=outlet * diameter),) if outlet else ())),
        parameters=SiloParameters(
            count=count,
            width=width,
            diameter=diameter,
            inner_diameter=2 * radius,
            faces=FACES if bodies else 0,
            side_walls=tuple(side_walls),
            floor_walls=(2, 3) if outlet else (0,),
            friction=friction,
            wall_friction=wall_friction,
            ramp=ramp,
            settled=settled,
            outlet=outlet * diameter,
            chosen={"diameter": diameter, "wall_friction": wall_friction, "ramp": ramp, "time_step": time_step, "duration": duration},
        ),
    )


def _grid(count: int, width: float, diameter: float, seed: int) -> np.ndarray:
    """Places (count, 3) [m] layer by layer; a silo of width 1 holds a straight column of grains that touch."""
    index = np.arange(count)
    if width == 1:
        return np.outer(index + 0.5, (0.0, 0.0, diameter))
    layer = round_layer(max(0.0, round_room(width * diameter / 2, diameter)))
    if len(layer) == 1:  # a narrow tube: the shake must not reach its wall
        room = 0.5 * (width - 1) * diameter
        shift = (np.random.default_rng(seed).random((count, 2)) - 0.5) * min(room, 0.02 * diameter)
        return np.column_stack([shift, (index + 0.5) * SPACING * diameter])
    site = np.column_stack([layer[index % len(layer)], index // len(layer) + 0.5])
    return shake(site, diameter, seed)


def _fall(position: np.ndarray, width: float, diameter: float, filled: float) -> float:
    """How far [m] the top of the grid comes down to a packing of 0.58; a column stands already. Grains fill that part of d^3."""
    packed = len(position) / (6 / 4 * 0.58 * width * width) * diameter * filled
    return 0.0 if width == 1 else float(position[:, 2].max()) - packed


def _drop(count: int) -> float:
    """From an open floor to the tray [diameters]: a heap of all grains, 30 degrees steep and half as high again, fits in between."""
    volume = count * math.pi / 6 / 0.55
    return 5.0 + 1.5 * power(volume / math.pi, 1 / 3)  # tan(30 degrees)^2 = 1/3


def _tray(drop: float, diameter: float) -> Box:
    """An open box below the silo."""
    half = max(1.2 * drop, 8 * diameter)
    return Box(material="wall", lower=(-half, -half, -drop), upper=(half, half, -0.75 * drop), open=("+z",))


def _beverloo_rate(outlet: float, diameter: float) -> float:
    """Grains per second through a hole of ``outlet`` diameters [m]: 0.58 phi sqrt(g) (D - 1.4 d)^2.5 over the volume of a grain."""
    free = max(outlet - 1.4, 0.5) * diameter
    return 0.58 * 0.58 * math.sqrt(GRAVITY) * free * free * math.sqrt(free) / (math.pi / 6 * diameter * diameter * diameter)


def _circle(step: np.ndarray) -> np.ndarray:
    """(n, 2) points of the unit circle, ``step`` counts faces."""
    angle = 2 * math.pi / FACES * step
    return np.stack([cos(angle), sin(angle)], axis=1)


def _open_silo(radius: float, top: float, hole: float, opens: float, drop: float) -> list[Body]:
    """Sides and floor as meshes, as grains get outside too, and a lid in the hole that goes down by ``drop`` [m] at ``opens`` [s].

    The lid is faster than grains can be on their way to the tray, so that it lets them go all at once.
    """
    speed = 2 * math.sqrt(2 * GRAVITY * drop)
    corner = radius / cos(math.pi / FACES) * _circle(np.arange(FACES) + 0.5)
    here = np.arange(FACES)
    after = (here + 1) % FACES
    strip = np.concatenate([np.stack([here, after, here + FACES], axis=1), np.stack([after, after + FACES, here + FACES], axis=1)])
    lid = np.stack([here, after, np.full(FACES, FACES)], axis=1)

    def ring(points: np.ndarray, height: float) -> np.ndarray:
        return np.column_stack([points, np.full(FACES, height)])

    rim = ring(hole * _circle(np.arange(FACES)), 0.0)
    sides = Mesh(material="wall", vertices=np.concatenate([ring(corner, top), ring(corner, 0.0)]), triangles=strip)
    floor = Mesh(material="wall", vertices=np.concatenate([rim, ring(1.05 * corner, 0.0)]), triangles=strip)
    cover = Mesh(material="wall", vertices=np.concatenate([rim, np.zeros((1, 3))]), triangles=lid)
    return [
        Body(name="silo", walls=(sides, floor)),
        Body(name="lid", kind="kinematic", motion=Motion(velocity=(0, 0, -speed), start=opens, stop=opens + drop / speed), walls=(cover,)),
    ]
