"""How grains start: on cubic lattices cut to a round room, each shaken a little, under gravity that grows."""

from __future__ import annotations

import math

import numpy as np

from ...arithmetic import power
from ...array_types import FloatArray

LANDING = 0.3  # largest way of a grain in a step when it lands, in diameters
SHAKEN = 0.02  # largest way between the extreme places of a grain along an axis, in lattice spacings
SPACING = 1.001 / (1 - SHAKEN)  # of the lattice, in diameters of the largest grain: neighbours never overlap


def round_layer(reach: float) -> FloatArray:
    """(n, 2) sites of a square lattice of spacing 1 within ``reach`` of the origin, on its site or between four: what holds more."""
    step = np.arange(-np.ceil(reach), np.ceil(reach) + 1)
    layers = []
    for shift in (0.0, 0.5):
        x, y = (axis.ravel() for axis in np.meshgrid(step + shift, step + shift))
        layers.append(np.stack([x, y], axis=1)[x * x + y * y <= reach * reach])
    return max(layers, key=len)


def round_room(radius: float, diameter: float) -> float:
    """How far from the axis a lattice site may lie in a round room of ``radius`` [m], in spacings."""
    return (radius - diameter / 2) / (SPACING * diameter) - SHAKEN / math.sqrt(2)


def shake(site: FloatArray, diameter: float, seed: int) -> FloatArray:
    """Places (n, 3) [m] of grains near lattice sites (n, 3) [spacings]."""
    shift = np.random.default_rng(seed).random(site.shape) - 0.5
    return (site + SHAKEN * shift) * SPACING * diameter


def gentle_ramp(gravity: float, fall: float, speed: float) -> float:
    """How long [s] gravity should grow so that a grain that falls freely by ``fall`` [m] meanwhile reaches ``speed`` [m/s] only.

    With g(t) = G t / T the way is G t^3 / 6 T and the speed G t^2 / 2 T.
    """
    fall = max(fall, 0.0)
    return 4.5 * gravity * fall * fall / (speed * speed * speed)


def speed_of_fall(gravity: float, fall: float, ramp: float) -> float:
    """Speed [m/s] after a free fall by ``fall`` [m] while gravity grows during ``ramp`` [s]; gravity that is there at once: 0 s."""
    fall = max(fall, 0.0)
    time = power(6 * fall * ramp / gravity, 1 / 3)
    if time < ramp:
        return gravity * time * time / (2 * ramp)
    return math.sqrt(max(0.0, 2 * gravity * fall - gravity * gravity * ramp * ramp / 12))
