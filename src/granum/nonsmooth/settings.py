"""Settings of the nonsmooth stepper."""

from __future__ import annotations

from typing import Literal

from ..records import NonNegative, Positive, Record, Sweeps
from ..reduction import Reduction
from ..scene.scene import Scene
from .solvers import PGS, AnySolver
from .time_step import automatic_step
from .warm_start import HistoryStart, WarmStart


class Nonsmooth(Record):
    """Settings of the nonsmooth stepper."""

    name: Literal["nonsmooth"] = "nonsmooth"
    solver: AnySolver = PGS()
    friction: Literal["cone", "box"] = "cone"
    """``cone`` bounds the length of the tangential impulse; ``box`` bounds each of its components (SN 2.3.2)."""
    warm_start: WarmStart = HistoryStart()
    impact_velocity: NonNegative = 0.05
    """v_imp [m/s]: faster approaches rebound with restitution."""
    impact_iterations: Sweeps = 200
    """Most sweeps of an impact stage."""
    impact_tolerance: NonNegative = 0.1
    """The impact stage is solved when no velocity changes by more than this part of ``impact_velocity`` in a sweep; where few grains are
    hit, by more than a hundredth of it."""
    prediction: NonNegative = 1.0
    """Steps over which grains that approach slowly are followed: a gap that closes in this time is a contact before it does. Collisions
    (faster than ``impact_velocity``) are those that the step itself brings about. 0: contacts only while grains overlap, as in the
    papers."""
    damping_steps: Positive = 2.0
    """n_s: overlaps relax over at least this many steps."""
    regularisation: Positive = 1e-6
    """gamma_t = gamma_r (physics 2)."""
    reduction: Reduction | None = None
    """Merge grains that move as one; none: every grain is always solved."""

    def step_for(self, scene: Scene) -> float:
        """The automatic step [s] of a scene (``time_step.py``)."""
        return automatic_step(scene).seconds
