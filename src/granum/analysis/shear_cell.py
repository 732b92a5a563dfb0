"""Plane shear between plates: stresses on both, packing fraction and velocity between them, and the inertial number."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ..array_types import FloatArray, IndexArray
from ..checks import InputError
from ..scene.library.shear_cell import ShearCellParameters
from ..scene.parameters import parameters_of
from .snapshot import Snapshot

BULK = 0.6  # of the gap: its middle part, in which packing fraction and shear rate are measured
BLOCKS = 10  # into which the frames are divided for errors
SLICES = 20  # of a velocity profile


@dataclass(frozen=True)
class ShearState:
    """A flow between plates at one instant; the plates' grains end the gap with their centres."""

    time: float
    """[s]"""
    gap: float
    """[m] between the mean heights of the plates' grains."""
    shear_stress: FloatArray
    """(2,) [Pa] with which the grains drag the lower plate back and the upper one on."""
    normal_stress: FloatArray
    """(2,) [Pa] on the lower and the upper plate, positive as they are pressed apart."""
    packing_fraction: float
    """In the middle of the gap."""
    shear_rate: float
    """[1/s] in the middle of the gap, from a line through the velocities of its grains."""
    height: FloatArray
    """(N,) [gap] of the grains between the plates."""
    velocity: FloatArray
    """(N,) [m/s] along the flow."""

    @classmethod
    def of(cls, s: Snapshot) -> ShearState:
        """Of a snapshot of the scene ``shear-cell``."""
        parameters_of(s.scene, ShearCellParameters)
        assert s.scene.cell is not None
        area = s.scene.cell.volume
        names = [body.name for body in s.scene.all_bodies]
        owner = _bodies_of_grains(s, names)
        number = [names.index("lower"), names.index("upper")]
        low, high = (float(s.position[owner == k, 2].mean()) for k in number)
        gap, free = high - low, owner < 0
        height = (s.position[:, 2] - low) / gap
        middle = free & (np.abs(height - 0.5) < BULK / 2)
        solid = _between(s.position[free, 2], s.radius[free], low + (1 - BULK) / 2 * gap, high - (1 - BULK) / 2 * gap)
        force = np.array([_force_on(s, owner, k) for k in number])  # (2, 3) [N]
        return cls(
            time=s.time,
            gap=gap,
            shear_stress=np.array([-force[0, 0], force[1, 0]]) / area,
            normal_stress=np.array([-force[0, 2], force[1, 2]]) / area,
            packing_fraction=solid / (BULK * gap * area),
            shear_rate=-float(np.polyfit(height[middle] * gap, s.velocity[middle, 0], 1)[0]) if middle.sum() > 2 else math.nan,
            height=height[free],
            velocity=s.velocity[free, 0],
        )


def _bodies_of_grains(s: Snapshot, names: list[str]) -> IndexArray:
    """(N,) the body that each grain is fixed to, or -1."""
    of_scene = np.concatenate([np.full(len(b.place()[0]), names.index(b.body) if b.body is not None else -1) for b in s.scene.grains])
    return np.asarray(of_scene[s.id])


def _force_on(s: Snapshot, owner: IndexArray, body: int) -> FloatArray:
    """(3,) [N] of all contacts on a plate, its grains and its wall."""
    pair = s.b >= 0
    as_b = np.where(pair, owner[np.maximum(s.b, 0)] == body, s.wall_body[-1 - np.minimum(s.b, -1)] == body)
    as_a = owner[s.a] == body
    return np.asarray(s.force[as_b & ~as_a].sum(axis=0) - s.force[as_a & ~as_b].sum(axis=0))


def _between(z: FloatArray, radius: FloatArray, low: float, high: float) -> float:
    """Volume [m^3] of the parts of spheres that lie between two levels [m]."""

    def below(level: float) -> FloatArray:
        cap = np.clip(level - z + radius, 0.0, 2 * radius)
        return np.asarray(np.pi * cap**2 * (radius - cap / 3))

    return float((below(high) - below(low)).sum())


@dataclass(frozen=True)
class Mean:
    """A mean over time with its standard error, from the scatter of block averages."""

    value: float
    error: float

    @classmethod
    def of(cls, values: FloatArray, over: FloatArray | None = None) -> Mean:
        """Of ``values`` (F,), or of their mean over that of ``over`` (F,)."""
        over = np.ones(len(values)) if over is None else over
        blocks = [part for part in np.array_split(np.arange(len(values)), BLOCKS) if len(part)]
        each = np.array([values[part].mean() / over[part].mean() for part in blocks])
        error = float(each.std(ddof=1) / math.sqrt(len(each))) if len(each) > 1 else math.nan
        return cls(float(values.mean() / over.mean()), error)


@dataclass(frozen=True)
class ShearFlowMeans:
    """Means over the frames after the transient."""

    friction: Mean
    """mu: shear stress over normal stress, of both plates together."""
    packing_fraction: Mean
    inertial_number: Mean
    pressure: Mean
    """[Pa] on both plates."""
    shear_stress: tuple[Mean, Mean]
    """[Pa] on the lower and the upper plate."""
    shear_rate: Mean
    """[1/s]"""
    frames: int


def shear_means(states: Sequence[ShearState], parameters: ShearCellParameters) -> ShearFlowMeans:
    """Of instants of a run; InputError if none is after the transient."""
    seen = [s for s in states if s.time >= parameters.transient * (1 - 1e-9)]
    if len(seen) < 2:
        raise InputError(f"a shear flow needs frames after its transient, t = {parameters.transient:g} s: let it run longer.")
    shear, normal = np.array([s.shear_stress for s in seen]), np.array([s.normal_stress for s in seen])
    rate = np.array([s.shear_rate for s in seen])
    pressure = Mean.of(normal.mean(axis=1))
    unit = parameters.diameter * math.sqrt(parameters.density / pressure.value) if pressure.value > 0 else math.nan
    return ShearFlowMeans(
        friction=Mean.of(shear.mean(axis=1), normal.mean(axis=1)),
        packing_fraction=Mean.of(np.array([s.packing_fraction for s in seen])),
        inertial_number=Mean.of(rate * unit),
        pressure=pressure,
        shear_stress=(Mean.of(shear[:, 0]), Mean.of(shear[:, 1])),
        shear_rate=Mean.of(rate),
        frames=len(seen),
    )


def velocity_profile(states: Sequence[ShearState]) -> tuple[FloatArray, FloatArray]:
    """Heights (n,) [gap] and mean velocities (n,) [m/s] along the flow, in slices of the gap; NaN where no grain was."""
    edges = np.linspace(0, 1, SLICES + 1)
    height, velocity = (np.concatenate([getattr(s, name) for s in states]) for name in ("height", "velocity"))
    count = np.histogram(height, edges)[0]
    with np.errstate(invalid="ignore"):
        return (edges[1:] + edges[:-1]) / 2, np.histogram(height, edges, weights=velocity)[0] / np.where(count > 0, count, np.nan)


def shear_flow(shots: Iterable[Snapshot]) -> tuple[list[ShearState], ShearFlowMeans]:
    """Of the frames of a run of the scene ``shear-cell``: all instants after the transient, and their means."""
    states, parameters = [], None
    for s in shots:
        parameters = parameters_of(s.scene, ShearCellParameters)
        if s.time >= parameters.transient * (1 - 1e-9):
            states.append(ShearState.of(s))
    if parameters is None:
        raise InputError("a shear flow needs frames.")
    return states, shear_means(states, parameters)
