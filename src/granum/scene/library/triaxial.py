"""Six platens around a bed of grains: a triaxial test (WS section 4.4)."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Literal

from ...arithmetic import power
from ...checks import InputError, finite_positive
from ...contact import MaterialPair
from ..bodies import Body
from ..grains import Lattice
from ..joints import Limits, Motor, Slider
from ..parameters import Parameters
from ..regulators import Regulator, Span
from ..results import Triaxial
from ..scene import Gravity, Scene
from ..shapes import Plane
from .graded import graded, of_two
from .materials import changed, pellet
from .registered import library_scene

SHAKEN = 0.25  # of the lattice: nothing of it is to be left in the bed
SPACING = 1.001 / (1 - SHAKEN)  # of the lattice, in diameters of the larger grains
PACKED = 0.55  # about the packing fraction that the platens press the lattice to
PLATENS = (("left", "right"), ("front", "back"), ("bottom", "top"))  # below and above along x, y, z
HEAVY = 3.0  # mass of a platen over that of all grains: what is light cannot be regulated fast
GENTLY = 0.1  # part of the stress with which the platens come up to the grains
GENTLE = 0.03  # time step over d sqrt(density / stress), the time in which the stress moves a grain by its size
FOLLOW = 2.0  # [steps] in which the speed regulators take out an error
LEARN = 5.0  # [steps] in which they take over what force it needs; with FOLLOW errors die out by 0.7 a step
FRAMES = 150
HIGHEST = 20.0  # [confining stress] that a test under stress control goes up to


class TriaxialParameters(Parameters):
    """Of the scene ``triaxial``."""

    measured: ClassVar[bool] = True
    scene: str = "triaxial"
    count: int
    diameter: float
    """Of the larger grains [m]."""
    width: tuple[float, float, float]
    """Between the platens at the start [m]."""
    platen_mass: float
    """[kg]"""
    stress: float
    """Confining [Pa]."""
    starts: float
    """When the axial load begins [s]."""


@library_scene
def triaxial(
    count: int = 1000,
    diameter: float | None = None,
    size_ratio: float | None = None,
    youngs_modulus: float = 60e6,
    friction: float = 0.91,
    rolling_friction: float = 0.32,
    wall_friction: float = 0.0,
    restitution: float = 0.18,
    stress: float = 100.0,
    control: Literal["strain", "stress"] = "strain",
    speed: float = 0.01,
    stress_rate: float = 100.0,
    largest_strain: float = 0.3,
    platen_mass: float | None = None,
    settle: float | None = None,
    time_step: float | None = None,
    duration: float | None = None,
    seed: int = 0,
    sizes: Any = None,
) -> Scene:
    """Six platens press ``count`` grains on all sides; then top and bottom come closer, the stress on the sides stays.

    Half of the grains have ``diameter``, half ``diameter`` / ``size_ratio``; there is no gravity. Under ``strain`` control top and bottom
    move inwards at ``speed`` each, from ``settle`` on, until the axial strain is about ``largest_strain``. Under ``stress`` control the
    axial stress grows by ``stress_rate`` until the bed fails and the platens come to stops at that strain.

    Platens are smooth unless they have ``wall_friction``: rough ones that press on two or three sides of a grain in an edge or a corner
    hold each other up. The mass of a platen is three times that of all grains. Where it is not small against stress x
    volume / speed^2, platens that are pushed aside press back by their inertia, or fly off: ``critical_lateral_stress`` tells it.

    The time step is 0.03 d sqrt(density / stress), 2.4 ms at 100 Pa. Under high stress steps are small, and a higher ``speed`` is as slow
    against the grains: I = strain rate d sqrt(density / stress) tells it.

    ``stress`` [Pa]: on the sides, and on all platens before the test begins.
    ``control``: what drives top and bottom: a speed (strain), or a stress that grows.
    ``speed`` [m/s]: of top and bottom each, under strain control.
    ``stress_rate`` [Pa/s]: by which the axial stress grows, under stress control.
    ``largest_strain``: axial strain at which the test ends.
    ``wall_friction``: between grains and platens.
    ``platen_mass`` [kg]: of each platen.
    ``settle`` [s]: time in which the platens press the bed together and come to rest.
    """
    diameter, sizes = graded("triaxial", sizes, diameter, 0.013, size_ratio=size_ratio)
    size_ratio = 1.3 if size_ratio is None else size_ratio
    if count < 8:
        raise InputError(f"count of scene 'triaxial' must be 8 or more (got {count}).")
    if not 1 <= size_ratio < math.inf:
        raise InputError(f"size_ratio of scene 'triaxial' must be 1 or more (got {size_ratio}).")
    if not 0 < largest_strain < 0.9:
        raise InputError(f"largest_strain of scene 'triaxial' must lie between 0 and 0.9 (got {largest_strain}).")
    for name, value, unit in (
        ("stress", stress, "Pa"),
        ("speed", speed, "m/s"),
    ):
        finite_positive(name, value, unit)
    finite_positive("stress_rate", stress_rate, "Pa/s")
    small = diameter / size_ratio
    along = max(2, math.ceil(power(count, 1 / 3) - 1e-9))
    high = math.ceil(count / (along * along))
    width = tuple(n * SPACING * diameter * 1.0001 for n in (along, along, high))
    cubes = diameter * diameter * diameter + small * small * small if sizes is None else 2 * sizes.mean_cube  # of two grains
    solid = count * math.pi / 12 * cubes
    shrinks = 1 - power(solid / (PACKED * width[0] * width[1] * width[2]), 1 / 3)  # each edge, by about this part
    grain = pellet(youngs_modulus=youngs_modulus, friction=friction, rolling_friction=rolling_friction, restitution=restitution)
    if time_step is None:
        time_step = GENTLE * (diameter if sizes is None else sizes.range[0]) * math.sqrt(grain.density / stress)
    finite_positive("time_step", time_step, "s")
    if platen_mass is None:
        platen_mass = HEAVY * solid * grain.density
    finite_positive("platen_mass", platen_mass, "kg")
    if settle is None:
        way, force = shrinks * width[0] / 2, GENTLY * stress * width[0] * min(width[1], width[2])
        settle = 4 * math.sqrt(2 * max(way, diameter) * platen_mass / force)  # four times as long as they fly
    finite_positive("settle", settle, "s")
    pressed = (1 - shrinks) * width[2]
    if duration is None:
        duration = settle + (largest_strain * pressed / (2 * speed) if control == "strain" else HIGHEST * stress / stress_rate)
    wall = changed(grain, name="platen")
    stops = Limits(upper=shrinks * width[2] / 2 + largest_strain * pressed / 2) if control == "stress" else None
    return Scene(
        name="triaxial",
        materials=(grain, wall),
        pairs=(
            MaterialPair(
                materials=(grain.name, wall.name),
                friction=wall_friction,
                rolling_friction=rolling_friction if wall_friction > 0 else 0.0,
            ),
        ),
        gravity=Gravity(acceleration=(0.0, 0.0, 0.0)),
        grains=(
            Lattice(
                material=grain.name,
                lower=(-width[0] / 2, -width[1] / 2, -width[2] / 2),
                upper=(width[0] / 2, width[1] / 2, width[2] / 2),
                count=count,
                sizes=sizes if sizes is not None else of_two(diameter, size_ratio),
                jitter=SHAKEN,
                seed=seed,
            ),
        ),
        bodies=tuple(_platen(axis, side, width, platen_mass) for axis in range(3) for side in range(2)),
        joints=tuple(
            Slider(
                name=PLATENS[axis][side],
                bodies=("ground", PLATENS[axis][side]),
                axis=_inwards(axis, side),
                motor=Motor(force=0.0),
                limits=stops if axis == 2 else None,
            )
            for axis in range(3)
            for side in range(2)
        ),
        regulators=_regulators(width, stress, settle, speed if control == "strain" else stress_rate, control, platen_mass, time_step),
        run={"time_step": time_step, "duration": duration, "every": duration / FRAMES},
        results=(Triaxial(),),
        parameters=TriaxialParameters(
            count=count,
            diameter=diameter,
            width=width,
            platen_mass=platen_mass,
            stress=stress,
            starts=settle,
            chosen={
                "diameter": diameter,
                "size_ratio": size_ratio,
                "platen_mass": platen_mass,
                "settle": settle,
                "time_step": time_step,
                "duration": duration,
            },
        ),
    )


def _inwards(axis: int, side: int) -> tuple[float, float, float]:
    sign = 1.0 if side == 0 else -1.0
    return (sign * (axis == 0), sign * (axis == 1), sign * (axis == 2))


def _platen(axis: int, side: int, width: tuple[float, ...], mass: float) -> Body:
    inwards = _inwards(axis, side)
    place = tuple(-x * width[axis] / 2 for x in inwards)
    moment = mass * width[axis] * width[axis] / 6  # of a square plate about any axis or more; sliders keep it from turning
    return Body(
        name=PLATENS[axis][side],
        kind="dynamic",
        mass=mass,
        inertia=(moment, moment, moment),
        position=(place[0], place[1], place[2]),
        walls=(Plane(material="platen", normal=inwards),),
    )


def _regulators(
    width: tuple[float, ...], stress: float, starts: float, rate: float, control: str, mass: float, time_step: float
) -> tuple[Regulator, ...]:
    """Stress on the area of the moment for all platens, small at first; from ``starts`` [s] on a growing one [Pa/s], or a speed [m/s], for
    top and bottom."""
    spans = [Span(length=width[axis], joints=PLATENS[axis]) for axis in range(3)]
    confined = ((0.25 * starts, GENTLY * stress), (0.5 * starts, stress))
    more = 2 * HIGHEST * stress
    grown = (*confined, (starts, stress), (starts + more / rate, stress + more))
    gain = mass / (FOLLOW * time_step)
    found = []
    for axis in range(3):
        one, other = (k for k in range(3) if k != axis)
        axial = axis == 2
        for name in PLATENS[axis]:
            found.append(
                Regulator(
                    name=f"stress on {name}",
                    joint=name,
                    stress=grown if axial and control == "stress" else confined,
                    area=width[one] * width[other],
                    spans=(spans[one], spans[other]),
                    stop=starts if axial and control == "strain" else None,
                )
            )
            if axial and control == "strain":
                found.append(
                    Regulator(
                        name=f"speed of {name}",
                        joint=name,
                        speed=rate,
                        proportional=gain,
                        integral=gain / (LEARN * time_step),
                        start=starts,
                    )
                )
    return tuple(found)
