"""What a simulation costs before it is run: the iteration law, the time steps and the effort of both methods (physics 9; SN 3, 5.3).

Lengths of a system are in grain diameters d; everything else is in SI units. The functions take numbers or arrays.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..nonsmooth.time_step import step_by_gravity, step_by_speed

Number = float | NDArray[np.float64]

PAPER_COST = 1e-6
"""K_N [s] per contact and iteration, K_S [s] per grain and step in SN Table I."""
ARCHING_WIDTH = 5.0
"""Narrower systems [d] form no arches, and are counted as one column of grains."""
CLAMP_STEP, CLAMP_DIAMETER, CLAMP_YOUNG, CLAMP_EXPONENT = 1e-3, 1e-3, 1e10, math.log10(4.0)
"""SN's largest nonsmooth step at E = 10 GPa: 1 ms at d = 1 mm and 4 ms at d = 10 mm, so it grows with d^0.602."""


class LawConstants(NamedTuple):
    """c0, c1 and c2 of the iteration law, as SN fitted them."""

    c0: float = 0.3
    c1: float = 2.0
    c2: float = 0.44


SN_CONSTANTS = LawConstants()


@dataclass(frozen=True, kw_only=True)
class PlannedSystem:
    """A granular system as the law sees it."""

    width: float
    """w [d] across gravity."""
    height: float
    """l [d] along gravity."""
    inertial: float = 0.0
    """Inertial number I [-]: 0 at rest, about 0.1 in dense flow."""
    tolerance: float = 0.05
    """Mean overlap error eps [d]."""
    diameter: float
    """d [m]"""
    youngs_modulus: float
    """E [Pa]"""
    density: float = 2500.0
    """Of the grains [kg/m^3]."""
    poisson_ratio: float = 0.3
    gravity: float = 9.8
    """[m/s^2]"""

    @classmethod
    def from_options(cls, given: Mapping[str, float], base: PlannedSystem | None = None) -> PlannedSystem:
        """From numbers by the names of the options of ``granum plan``; what is not given is as in ``base``."""
        named = {OPTIONS.get(name, name): value for name, value in given.items()}
        return cls(**named) if base is None else replace(base, **named)

    def as_options(self) -> dict[str, float]:
        """The numbers by the names of the options of ``granum plan``, as they stand in its JSON."""
        options = {name: option for option, name in OPTIONS.items()}
        return {options.get(name, name): value for name, value in asdict(self).items()}


OPTIONS = {"young": "youngs_modulus", "poisson": "poisson_ratio"}
"""Options of ``granum plan`` with other names than what they set."""


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What a system asks for, and what it costs."""

    iterations: float
    """N_it of cold, plain projected Gauss-Seidel."""
    time_step_nonsmooth: float
    """h_N [s]"""
    time_step_smooth: float
    """h_S [s]"""
    grains: float
    """N_p"""
    contacts: float
    """N_c"""
    normal_velocity: float
    """v_n [m/s]"""
    effort_nonsmooth: float
    """Seconds of computing for a simulated second."""
    effort_smooth: float
    """Seconds of computing for a simulated second."""

    @property
    def ratio(self) -> float:
        """Nonsmooth effort over smooth effort; below 1 nonsmooth is faster (SN (42))."""
        return self.effort_nonsmooth / self.effort_smooth


def shape_factor(width: Number, height: Number, c2: float = SN_CONSTANTS.c2) -> Number:
    """w (1 - exp(-c2 l/w)), which saturates as the pressure in a silo does; c2 l without arches, w < 5 [d]."""
    w, linear = np.asarray(width, float), c2 * np.asarray(height, float)
    return np.where(w >= ARCHING_WIDTH, -w * np.expm1(-linear / w), linear)[()]


def required_iterations(
    width: Number, height: Number, inertial: Number, tolerance: Number, constants: LawConstants = SN_CONSTANTS
) -> Number:
    """N_it [-] of cold projected Gauss-Seidel for a mean overlap error of ``tolerance`` [d] (SN (41))."""
    c0, c1, c2 = constants
    return c0 * (1 + c1 * inertial) * shape_factor(width, height, c2) / tolerance


def grain_number(width: Number, height: Number) -> Number:
    """N_p of a cylinder w wide and l high [d]; of a single column, w < 5, l."""
    w = np.asarray(width, float)
    return np.where(w >= ARCHING_WIDTH, np.pi / 4 * w**2 * height, height)[()]


def normal_velocity(inertial: Number, diameter: Number, shape: Number, gravity: float = 9.8) -> Number:
    """v_n = 0.2 I sqrt(p / rho) [m/s], with the pressure of a saturated column of that shape factor [d] (SN 5.3)."""
    return 0.2 * inertial * np.sqrt(SN_CONSTANTS.c0 / SN_CONSTANTS.c2 * gravity * diameter * shape)


def nonsmooth_step(tolerance: Number, diameter: Number, youngs_modulus: Number, velocity: Number, gravity: float = 9.8) -> Number:
    """h_N [s]: neither the speed ``velocity`` [m/s] nor gravity may make an overlap above ``tolerance`` d in a step (SN (37)).

    In SN stiff grains also need a regularisation that does not vanish. SN clamps h_N at E = 10 GPa for two diameters; between, beyond
    and at other E the clamp goes on as d^0.602 E^-1/2, which keeps Sigma (physics 2) and touches no softer row of SN Table I. granum needs
    no clamp: its own step is that of ``nonsmooth/time_step.py``.
    """
    by_speed, by_gravity = step_by_speed(diameter, velocity, tolerance), step_by_gravity(diameter, gravity, tolerance)
    clamp = CLAMP_STEP * (diameter / CLAMP_DIAMETER) ** CLAMP_EXPONENT * np.sqrt(CLAMP_YOUNG / youngs_modulus)
    return np.minimum(np.minimum(by_speed, by_gravity), clamp)[()]


def smooth_step(diameter: Number, youngs_modulus: Number, density: Number = 2500.0, poisson_ratio: Number = 0.3) -> Number:
    """h_S = sqrt(m / k) [s], m the mass of a grain, k = E sqrt(2 d) / (3 (1 - nu^2)) as in SN (36), Table I."""
    mass = density * np.pi / 6 * diameter**3
    stiffness = youngs_modulus * np.sqrt(2 * diameter) / (3 * (1 - poisson_ratio**2))
    return np.sqrt(mass / stiffness)


def estimate(
    system: PlannedSystem,
    cost_nonsmooth: float = PAPER_COST,
    cost_smooth: float = PAPER_COST,
    grains: float | None = None,
    contacts_per_grain: float = 1.0,
) -> Estimate:
    """Steps, iterations and effort of a system (SN (36)-(42)) at K_N [s] per contact and iteration and K_S [s] per grain and step.

    ``grains`` none: as many as fill its width and height.
    """
    s = system
    shape = shape_factor(s.width, s.height)
    speed = normal_velocity(s.inertial, s.diameter, shape, s.gravity)
    number = grain_number(s.width, s.height) if grains is None else grains
    iterations = required_iterations(s.width, s.height, s.inertial, s.tolerance)
    h_nonsmooth = nonsmooth_step(s.tolerance, s.diameter, s.youngs_modulus, speed, s.gravity)
    h_smooth = smooth_step(s.diameter, s.youngs_modulus, s.density, s.poisson_ratio)
    return Estimate(
        iterations=float(iterations),
        time_step_nonsmooth=float(h_nonsmooth),
        time_step_smooth=float(h_smooth),
        grains=float(number),
        contacts=float(contacts_per_grain * number),
        normal_velocity=float(speed),
        effort_nonsmooth=float(cost_nonsmooth * iterations * contacts_per_grain * number / h_nonsmooth),
        effort_smooth=float(cost_smooth * number / h_smooth),
    )


def amdahl(threads: int, parallel: float) -> float:
    """How many times faster n threads are when a part of the work runs on all of them and the rest on one."""
    return 1 / (1 - parallel + parallel / threads)


def _systems(rows: Sequence[tuple[float, ...]]) -> tuple[PlannedSystem, ...]:
    return tuple(
        PlannedSystem(tolerance=eps, width=w, height=height, inertial=i, youngs_modulus=e * 1e9, diameter=d * 1e-3)
        for eps, w, height, i, e, d in rows
    )


SN_TABLE = _systems(
    (  # eps, w [d], l [d], I, E [GPa], d [mm]
        (0.05, 6, 10, 0, 0.01, 1),
        (0.05, 15, 10, 0, 0.01, 1),
        (0.01, 15, 100, 0.1, 0.01, 1),
        (0.05, 500, 10, 0.01, 0.01, 1),
        (0.01, 1, 10, 0, 10, 1),
        (0.05, 6, 10, 0.01, 10, 1),
        (0.01, 15, 10, 0.01, 10, 1),
        (0.05, 15, 10, 0.01, 10, 1),
        (0.01, 15, 1000, 0.1, 10, 1),
        (0.01, 500, 10, 0, 10, 1),
        (0.01, 500, 1000, 0.1, 10, 1),
        (0.05, 500, 1000, 0.1, 10, 1),
        (0.01, 1, 1000, 0, 0.01, 10),
        (0.05, 6, 10, 0, 0.01, 10),
        (0.01, 15, 100, 0.1, 0.01, 10),
        (0.05, 500, 10, 0, 0.01, 10),
        (0.05, 500, 10, 0.1, 0.01, 10),
        (0.01, 500, 1000, 0.1, 0.01, 10),
        (0.01, 1, 100, 0, 10, 10),
        (0.05, 6, 10, 0, 10, 10),
        (0.01, 6, 100, 0, 10, 10),
        (0.05, 15, 100, 0.1, 10, 10),
        (0.05, 500, 10, 0.01, 10, 10),
        (0.05, 500, 10, 0.1, 10, 10),
        (0.01, 500, 1000, 0.1, 10, 10),
        (0.05, 6, 10, 0.1, 0.01, 100),
        (0.01, 15, 1000, 0.1, 0.01, 100),
        (0.05, 15, 1000, 0.1, 0.01, 100),
        (0.01, 500, 1000, 0.1, 0.01, 100),
        (0.05, 500, 1000, 0.1, 0.01, 100),
        (0.05, 1, 10, 0, 0.5, 100),
        (0.05, 6, 10, 0.1, 0.5, 100),
        (0.05, 15, 10, 0.1, 0.5, 100),
    )
)
"""The systems of SN Table I."""
