"""The functions of ``elementary`` for numbers and arrays: one compiled loop each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from .._jit import kernel
from ..array_types import FloatArray
from .elementary import arctangent, exponential, logarithm, sincos
from .elementary import power as power_of

Numbers = TypeVar("Numbers", float, FloatArray)


@kernel
def _sin(x: FloatArray, out: FloatArray) -> None:
    for i in range(len(x)):
        out[i] = sincos(x[i])[0]


@kernel
def _cos(x: FloatArray, out: FloatArray) -> None:
    for i in range(len(x)):
        out[i] = sincos(x[i])[1]


@kernel
def _exp(x: FloatArray, out: FloatArray) -> None:
    for i in range(len(x)):
        out[i] = exponential(x[i])


@kernel
def _log(x: FloatArray, out: FloatArray) -> None:
    for i in range(len(x)):
        out[i] = logarithm(x[i])


@kernel
def _power(x: FloatArray, y: FloatArray, out: FloatArray) -> None:
    for i in range(len(x)):
        out[i] = power_of(x[i], y[i])


@kernel
def _arctan2(y: FloatArray, x: FloatArray, out: FloatArray) -> None:
    for i in range(len(x)):
        out[i] = arctangent(y[i], x[i])


def _over(loop: Callable[..., None], *given: Any) -> Any:
    """``loop`` over all numbers of the ``given`` ones; a number if all are."""
    arrays = np.broadcast_arrays(*(np.asarray(x, np.float64) for x in given))
    out = np.empty(arrays[0].shape)
    loop(*(np.ascontiguousarray(x).ravel() for x in arrays), out.reshape(-1))
    return out if out.ndim else float(out)


def sin(x: Numbers) -> Numbers:
    """Of angles [rad] up to 2^32."""
    return _over(_sin, x)


def cos(x: Numbers) -> Numbers:
    """Of angles [rad] up to 2^32."""
    return _over(_cos, x)


def exp(x: Numbers) -> Numbers:
    """e^x."""
    return _over(_exp, x)


def log(x: Numbers) -> Numbers:
    """Natural logarithm."""
    return _over(_log, x)


def power(x: Numbers, y: float) -> Numbers:
    """x^y of x >= 0."""
    return _over(_power, x, y)


def arctan2(y: Numbers, x: Numbers) -> Numbers:
    """The angle [rad] of the points (x, y), from -pi to pi."""
    return _over(_arctan2, y, x)


def octave(x: float | FloatArray) -> Any:
    """The smallest k with x <= 2^k, of x > 0: log2 rounded up, exactly."""
    part, k = np.frexp(x)
    return np.where(part == 0.5, k - 1, k)
