"""A smooth curve through noisy tries: a Gaussian process with a linear trend, and where it meets a target.

Parameters are scaled to [0, 1] and what is measured to mean 0 and deviation 1. The trend has a wide prior; what is left is smooth over a
length between a third of the range and three of them, which the likelihood chooses. The noise is what seeds tell, or part of the choice.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize
from scipy.stats import qmc

from ...array_types import FloatArray

TREND = 10.0  # standard deviation of the prior of level and slopes, in deviations of what is measured
LENGTHS, AMPLITUDES, NOISES = (0.3, 3.0), (0.05, 3.0), (1e-3, 1.0)  # between which the likelihood chooses
JITTER = 1e-8


@dataclass(frozen=True)
class Curve:
    """The process, given its tries."""

    x: FloatArray  # (n, d) in [0, 1]
    centre: float
    scale: float
    theta: FloatArray  # length, amplitude and noise, the last in deviations
    noise: FloatArray  # (n,) variances, scaled
    weights: FloatArray  # (n,)
    factor: tuple[FloatArray, bool]

    @classmethod
    def through(cls, x: FloatArray, y: FloatArray, variance: FloatArray | None) -> Curve:
        """``variance`` of each mean; none: unknown, and the same for all."""
        centre, scale = float(y.mean()), float(y.std()) or 1.0
        scaled = (y - centre) / scale
        known = variance / scale**2 if variance is not None else None
        bounds = [np.log(LENGTHS), np.log(AMPLITUDES), np.log(NOISES)]

        def unlikely(log_theta: FloatArray) -> float:
            noise = known if known is not None else np.full(len(y), np.exp(2 * log_theta[2]))
            factor = cho_factor(_kernel(x, x, np.exp(log_theta)) + np.diag(noise + JITTER), lower=True)
            return float(scaled @ cho_solve(factor, scaled) / 2 + np.log(np.diag(factor[0])).sum())

        starts = ([np.log(1.0), np.log(0.5), np.log(0.1)], [np.log(0.4), np.log(1.0), np.log(0.03)])
        best = min((minimize(unlikely, start, bounds=bounds, method="L-BFGS-B") for start in starts), key=lambda found: float(found.fun))
        theta = np.exp(best.x)
        noise = known if known is not None else np.full(len(y), theta[2] ** 2)
        factor = cho_factor(_kernel(x, x, theta) + np.diag(noise + JITTER), lower=True)
        return cls(x, centre, scale, theta, noise, cho_solve(factor, scaled), factor)

    def at(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and standard error of the curve."""
        across = _kernel(x, self.x, self.theta)
        mean = across @ self.weights
        own = 1 + (x**2).sum(axis=1)
        variance = TREND**2 * own + self.theta[1] ** 2 - (across * cho_solve(self.factor, across.T).T).sum(axis=1)
        return self.centre + self.scale * mean, self.scale * np.sqrt(np.maximum(variance, 0.0))


def _kernel(a: FloatArray, b: FloatArray, theta: FloatArray) -> FloatArray:
    """Linear trend, and a smooth rest."""
    apart = ((a[:, None] - b[None]) ** 2).sum(axis=2)
    return np.asarray(TREND**2 * (1 + a @ b.T) + theta[1] ** 2 * np.exp(-apart / (2 * theta[0] ** 2)))


def first_tries(count: int) -> FloatArray:
    """Of ``count`` parameters, in [0, 1]: middle and corners, as far as these are few; then points that fill the space."""
    if count <= 2:
        corners = np.stack(np.meshgrid(*[[0.0, 1.0]] * count, indexing="ij"), axis=-1).reshape(-1, count)
        return np.vstack([corners, np.full((1, count), 0.5)])
    return np.vstack([np.zeros(count), np.ones(count), qmc.Sobol(count, scramble=False).random(4 * count)[1:]])


def places(count: int) -> FloatArray:
    """Where the curve is looked at, (n, count) in [0, 1]."""
    return (
        np.linspace(0, 1, 1001)[:, None] if count == 1 else np.vstack([qmc.Sobol(count, scramble=False).random(4096), first_tries(count)])
    )
