"""What a solver did."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...array_types import FloatArray

NO_HISTORY, NO_TIMES = np.zeros((0, 4)), np.zeros(0)


@dataclass(slots=True)
class SolveReport:
    """Not converged is a fact that stands here and in the recording; it is never an exception. Not frozen, as that takes long to make."""

    iterations: int
    residual: float
    """Root mean square over the contacts [m/s]; -1 if it was not measured."""
    converged: bool
    """Below the tolerance; False if none was set."""
    residual_by_kind: tuple[float, ...] = (0.0, 0.0, 0.0)
    """Of the normal, friction and rolling rows [m/s]."""
    error: float = -1.0
    """Estimated, of the velocities: root mean square by mass [m/s] (``estimate.py``); -1 if it was not estimated."""
    history: FloatArray = field(default_factory=lambda: NO_HISTORY)
    """(sweeps, 4) residual and its three kinds after every sweep, on request."""
    work: FloatArray = field(default_factory=lambda: NO_TIMES)
    """(sweeps,) done so far at each row of the history, in sweeps of plain PGS over all contacts."""
    seconds: FloatArray = field(default_factory=lambda: NO_TIMES)
    """(sweeps,) wall time so far at each row of the history [s], without the time to measure the residual."""
    message: str = ""
    """What stopped a method that could not finish, in words; empty if it did."""
