"""Sensors as the kernels see them: which grains are inside."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._jit import BoolArray, FloatArray, IntArray, kernel
from ..scene.sensor import BoxSensor, CylinderSensor, Sensor

BOX, CYLINDER, BALL = 0, 1, 2
COLUMNS = 9  # kind; box: lower, upper; cylinder: centre, axis, radius, half length; ball: centre, radius


def sensor_table(sensors: Sequence[Sensor]) -> FloatArray:
    """(S, 9) rows for the kernel."""
    table = np.zeros((len(sensors), COLUMNS))
    for row, sensor in zip(table, sensors, strict=True):
        if isinstance(sensor, BoxSensor):
            row[:7] = (BOX, *sensor.lower, *sensor.upper)
        elif isinstance(sensor, CylinderSensor):
            row[:] = (CYLINDER, *sensor.centre, *sensor.axis, sensor.radius, sensor.length / 2)
        else:
            row[:5] = (BALL, *sensor.centre, sensor.radius)
    return table


@kernel
def mark_inside(table: FloatArray, grains: IntArray, first: int, position: FloatArray, radius: FloatArray, inside: BoolArray) -> None:
    """Whether each of ``grains`` (n,) overlaps a sensor."""
    for n in range(len(grains)):
        k, r = first + grains[n], radius[grains[n]]
        x, y, z = position[k, 0], position[k, 1], position[k, 2]
        inside[n] = False
        for s in range(len(table)):
            t = table[s]
            if t[0] == BOX:
                dx = max(t[1] - x, 0.0, x - t[4])
                dy = max(t[2] - y, 0.0, y - t[5])
                dz = max(t[3] - z, 0.0, z - t[6])
                hit = dx * dx + dy * dy + dz * dz <= r * r
            elif t[0] == CYLINDER:
                dx, dy, dz = x - t[1], y - t[2], z - t[3]
                along = dx * t[4] + dy * t[5] + dz * t[6]
                across = np.sqrt(max(0.0, dx * dx + dy * dy + dz * dz - along * along))
                out, up = max(0.0, across - t[7]), max(0.0, abs(along) - t[8])
                hit = out * out + up * up <= r * r
            else:
                reach = t[4] + r
                hit = (x - t[1]) ** 2 + (y - t[2]) ** 2 + (z - t[3]) ** 2 <= reach * reach
            if hit:
                inside[n] = True
                break
