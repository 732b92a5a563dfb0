"""A triaxial test: stresses on its platens and in its contacts, strains, packing fraction and mobilised friction."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ..array_types import BoolArray, FloatArray
from ..checks import InputError
from ..scene.library.triaxial import PLATENS, TriaxialParameters
from ..scene.parameters import parameters_of
from .snapshot import Snapshot

CRITICAL = (0.10, 0.25)  # axial strains between which the critical state is averaged (WS 4.4)
LATELY = 0.2  # of the test, at its end: what it has moved by in that time tells how long it still needs
STALLED = 0.1  # of its mean rate: a test that has been slower than this lately stands still


@dataclass(frozen=True)
class TriaxialState:
    """A bed between platens at one instant."""

    time: float
    """[s]"""
    width: FloatArray
    """(3,) [m] between the platens along x, y, z."""
    platen_stress: FloatArray
    """(3, 2) [Pa] of the contacts on the lower and upper platen of each axis: normal force over area."""
    contact_stress: FloatArray
    """(3, 3) [Pa] mean over the volume, from forces and branches of all contacts; pressure is positive."""
    packing_fraction: float

    @classmethod
    def of(cls, s: Snapshot) -> TriaxialState:
        """Of a snapshot of the scene ``triaxial``."""
        parameters_of(s.scene, TriaxialParameters)
        number = {body.name: k for k, body in enumerate(s.scene.all_bodies)}
        rows = np.array([[number[name] for name in pair] for pair in PLATENS])  # (3, 2)
        width = np.array([s.wall_position[rows[k, 1], k] - s.wall_position[rows[k, 0], k] for k in range(3)])
        volume = float(width.prod())
        at_wall = s.b < 0
        body = s.wall_body[-1 - s.b[at_wall]]
        force = np.stack([np.bincount(body, s.force[at_wall, k], len(number)) for k in range(3)], axis=1)  # (W, 3) on the platens
        outwards = np.array([[-force[rows[k, 0], k], force[rows[k, 1], k]] for k in range(3)])
        return cls(
            time=s.time,
            width=width,
            platen_stress=outwards / (volume / width)[:, None],
            contact_stress=contact_stress(s, volume),
            packing_fraction=float((4 / 3 * np.pi * s.radius**3).sum()) / volume,
        )

    @property
    def stress(self) -> FloatArray:
        """(3,) [Pa] along x, y, z: mean of the two platens."""
        return self.platen_stress.mean(axis=1)

    @property
    def deviator(self) -> float:
        """q [Pa]: axial stress less the mean of the two lateral ones."""
        return float(self.stress[2] - self.stress[:2].mean())

    @property
    def pressure(self) -> float:
        """p [Pa]: mean of the three stresses."""
        return float(self.stress.mean())

    @property
    def friction_angle(self) -> float:
        """Mobilised angle of friction [degrees], sin = (s1 - s3) / (s1 + s3) with the axial and the mean lateral stress."""
        return mobilised_angle(float(self.stress[2]), float(self.stress[:2].mean()))


def mobilised_angle(axial: float, lateral: float) -> float:
    """Of Mohr's circle through two principal stresses [degrees]; NaN without pressure."""
    both = axial + lateral
    return math.degrees(math.asin(max(-1.0, min(1.0, (axial - lateral) / both)))) if both > 0 else math.nan


def contact_stress(s: Snapshot, volume: float) -> FloatArray:
    """(3, 3) [Pa] sum of force times branch over ``volume`` [m^3] (Love, Weber); at walls the branch ends where grain and wall touch."""
    pair = s.b >= 0
    branch = s.radius[s.a, None] * s.normal
    branch[pair] = (s.radius[s.a[pair]] + s.radius[s.b[pair]] - s.overlap[pair])[:, None] * s.normal[pair]
    branch[~pair] -= s.overlap[~pair, None] * s.normal[~pair]
    return np.asarray(np.einsum("ci,cj->ij", s.force, branch)) / volume


@dataclass(frozen=True)
class TriaxialCurve:
    """A test over its axial strain, from the moment on at which the axial load begins."""

    time: FloatArray
    """(F,) [s]"""
    axial_strain: FloatArray
    """(F,) 1 - height / height at the beginning of the load."""
    volumetric_strain: FloatArray
    """(F,) volume / volume at that time - 1: positive where the bed dilates."""
    axial_stress: FloatArray
    """(F,) [Pa]"""
    lateral_stress: FloatArray
    """(F,) [Pa]"""
    packing_fraction: FloatArray
    """(F,)"""

    @classmethod
    def of(cls, states: Sequence[TriaxialState], starts: float) -> TriaxialCurve:
        """Of instants of a run whose axial load begins at ``starts`` [s]."""
        before = [s for s in states if s.time <= starts * (1 + 1e-9)]
        seen = [*before[-1:], *states[len(before) :]]
        if len(before) == 0 or len(seen) < 2:
            raise InputError(f"a triaxial test needs frames from t = {starts:g} s on, when its axial load begins: let it run longer.")
        width = np.array([s.width for s in seen])
        volume = width.prod(axis=1)
        return cls(
            time=np.array([s.time for s in seen]),
            axial_strain=1 - width[:, 2] / width[0, 2],
            volumetric_strain=volume / volume[0] - 1,
            axial_stress=np.array([s.stress[2] for s in seen]),
            lateral_stress=np.array([s.stress[:2].mean() for s in seen]),
            packing_fraction=np.array([s.packing_fraction for s in seen]),
        )

    @property
    def deviator(self) -> FloatArray:
        """(F,) q [Pa]"""
        return self.axial_stress - self.lateral_stress

    @property
    def pressure(self) -> FloatArray:
        """(F,) p [Pa]"""
        return (self.axial_stress + 2 * self.lateral_stress) / 3

    @property
    def friction_angle(self) -> FloatArray:
        """(F,) mobilised [degrees]"""
        return np.array([mobilised_angle(a, b) for a, b in zip(self.axial_stress, self.lateral_stress, strict=True)])

    @property
    def critical(self) -> dict[str, float]:
        """Means over strains from 10 to 25 %; NaN where the test has no critical state, and ``lack`` says why."""
        some = self._is_critical
        if self.lack is not None:
            return dict.fromkeys(("deviator", "lateral_stress", "stress_ratio", "friction_angle", "packing_fraction"), math.nan)
        axial, lateral = float(self.axial_stress[some].mean()), float(self.lateral_stress[some].mean())
        return {
            "deviator": axial - lateral,
            "lateral_stress": lateral,
            "stress_ratio": (axial - lateral) / ((axial + 2 * lateral) / 3),
            "friction_angle": mobilised_angle(axial, lateral),
            "packing_fraction": float(self.packing_fraction[some].mean()),
        }

    @property
    def _is_critical(self) -> BoolArray:
        """(F,) where the strain is that of the critical state."""
        return np.asarray((self.axial_strain >= CRITICAL[0]) & (self.axial_strain <= CRITICAL[1]))

    @property
    def lack(self) -> str | None:
        """Why there is no critical state, what was reached, and what to change; None: there is one."""
        strain, some = self.axial_strain, self._is_critical
        if strain[-1] < CRITICAL[0]:
            so_far = f"the axial strain is {_percent(strain[-1])} at t = {self.time[-1]:.4g} s, less than 10 %"
            return f"no critical state: {so_far}. {self._remedy()}"
        if not some.any():
            k = int(np.argmax(strain > CRITICAL[1]))
            jump = f"{_percent(strain[k - 1])} (t = {self.time[k - 1]:.4g} s) to {_percent(strain[k])} (t = {self.time[k]:.4g} s)"
            return f"no critical state: no frame has an axial strain of 10 to 25 %, they jump from {jump}. Record more frames (--every)."
        axial, lateral = float(self.axial_stress[some].mean()), float(self.lateral_stress[some].mean())
        if not (axial + lateral > 0 and axial + 2 * lateral > 0):
            return (
                f"no critical state: the grains do not press on the platens (axial stress {axial:.3g} Pa, lateral {lateral:.3g} Pa at "
                "strains of 10 to 25 %). Move them more slowly (speed), or make them lighter (platen_mass)."
            )
        return None

    def _remedy(self) -> str:
        """What helps a test that has not come far enough: more time, or a push that does not stall."""
        taken = self.time[-1] - self.time[0]
        then = int(np.searchsorted(self.time, self.time[-1] - LATELY * taken, side="right")) - 1
        rate = (self.axial_strain[-1] - self.axial_strain[then]) / (self.time[-1] - self.time[then])
        if rate <= STALLED * abs(self.axial_strain).max() / taken:
            largest = float(self.deviator.max())
            return (
                f"It has stalled (largest deviator {largest:.3g} Pa): let the axial stress grow further (duration, stress_rate) or take "
                "control = strain; under stress control platens have stops at largest_strain, which must be above 0.1."
            )
        missing = (CRITICAL[1] - self.axial_strain[-1]) / rate
        return f"It still moves: 25 % takes about {missing:.3g} s more (duration)."


def _percent(strain: float) -> str:
    return f"{100 * strain:.3g} %"


def triaxial_curve(shots: Iterable[Snapshot]) -> TriaxialCurve:
    """Of the frames of a run of the scene ``triaxial``."""
    starts, states = math.nan, []
    for s in shots:
        starts = parameters_of(s.scene, TriaxialParameters).starts
        states.append(TriaxialState.of(s))
    return TriaxialCurve.of(states, starts)
