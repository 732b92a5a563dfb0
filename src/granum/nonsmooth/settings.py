"""Settings of the nonsmooth stepper."""

from __future__ import annotations

from typing import Literal

from ..records import NonNegative, Positive, Record, Sweeps
from ..reduction import Reduction
from ..scene.scene import Scene
from .solvers import PGS, AnySolver
from .time_step import automatic_step
from .warm_start import HistoryStart, WarmStart

USUAL = 1e-6  # [s/kg] gamma_t of grains that are not heavy
CREEP = 1e-3  # of g h: how fast the heaviest grains may creep, held by friction


class Nonsmooth(Record):
    """Settings of the nonsmooth stepper."""

    name: Literal["nonsmooth"] = "nonsmooth"
    solver: AnySolver = PGS()
    """How the contacts of a step are solved."""
    friction: Literal["cone", "box"] = "cone"
    """``cone`` bounds the length of the tangential impulse; ``box`` bounds each of its components."""
    warm_start: WarmStart = HistoryStart()
    """What a solve begins with."""
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
    regularisation: Positive | None = None
    """gamma_t = gamma_r (physics 2) [s/kg, s/(kg m^2)]: under a friction force F contacts that hold creep with gamma_t F. None: 1e-6, and
    less where grains are so heavy that they would creep by more than a thousandth of what they fall in a step."""
    reduction: Reduction | None = None
    """Merge grains that move as one; none: every grain is always solved."""

    def softness(self, scene: Scene, h: float) -> float:
        """Of friction [1/kg] and rolling rows [1/(kg m^2)] in steps of ``h`` [s]."""
        if self.regularisation is not None:
            return self.regularisation / h
        return min(USUAL / h, CREEP / scene.heaviest) if scene.heaviest > 0 else USUAL / h

    def step_for(self, scene: Scene) -> float:
        """The automatic step [s] of a scene (``time_step.py``)."""
        return automatic_step(scene).seconds
