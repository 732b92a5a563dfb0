"""Momentum against plain projected Gauss-Seidel on the contact problems of real scenes."""

from __future__ import annotations

import numpy as np
import pytest

from granum.nonsmooth import PGS, ColdStart, HistoryStart
from granum.scene.library import make_scene
from granum.simulation import Simulation, make_settings

UNGUARDED = {"guards": {"on_overlap": "off", "on_energy": "off"}}
SCENES = [
    ("column", {"count": 40}, 0.5),  # one long chain
    ("box", {"count": 300}, 0.12),  # landing
    ("box", {"count": 300, "friction": 0.2, "rolling_friction": 0.0}, 0.5),  # at rest, three rows, sliding contacts
    ("box", {"count": 300, "tilt": 25.0}, 0.5),  # leaning on two walls
    ("box", {"count": 200, "size_ratio": 5.0}, 0.3),  # many sizes
    ("pile", {"count": 200}, 0.6),  # impacts; plain momentum circles here after 200 sweeps
]


@pytest.mark.parametrize("start", [ColdStart(), HistoryStart()], ids=["cold", "history"])
@pytest.mark.parametrize("name, parameters, duration", SCENES)
def test_momentum_is_never_worse_than_plain_sweeps(name, parameters, duration, start):
    """After the same number of sweeps the residual with momentum is at most 10 % above the plain one, wherever a solve may stop.

    Extrapolation is not monotone: a single sweep may overshoot by half before the restart rule answers, early in a solve.
    """
    scene = make_scene(name, parameters)
    sim = Simulation(scene, make_settings(scene.run, UNGUARDED))
    sim.run(duration)
    stepper = sim.stepper
    contacts = stepper.detector.detect(sim.bodies, sim.time_step)
    impulse, rebound = contacts.impulse.copy(), contacts.rebound.copy()
    stepper.settings = stepper.settings.model_copy(update={"warm_start": start})

    def residual(sweeps, momentum):
        contacts.impulse[:], contacts.rebound[:] = impulse, rebound
        stepper.prepare(sim.time_step, scene.gravity.at(0.0))
        return PGS(iterations=sweeps, momentum=momentum).solve(stepper.problem).residual

    rounding = 1e-12  # [m/s]: both are solved
    ratio = {n: (residual(n, True) - rounding) / residual(n, False) for n in (2, 5, 10, 20, 50, 100, 200, 400)}
    assert max(ratio[n] for n in (2, 5, 10)) <= 1.5
    assert max(ratio[n] for n in (20, 50, 100, 200, 400)) <= 1.1


def test_momentum_needs_several_times_fewer_sweeps_in_a_tall_column():
    """A chain of n contacts needs of the order of n^2 plain sweeps, and n with momentum."""
    scene = make_scene("column", {"count": 60})
    sim = Simulation(scene, make_settings(scene.run, {"stepper": {"solver": {"iterations": 400}}}))
    sim.run(2.0)
    stepper = sim.stepper
    stepper.detector.detect(sim.bodies, sim.time_step)
    stepper.settings = stepper.settings.model_copy(update={"warm_start": ColdStart()})

    def sweeps_to(part, momentum):
        stepper.prepare(sim.time_step, scene.gravity.at(0.0))
        history = PGS(iterations=1000, momentum=momentum).solve(stepper.problem, history=True).history[:, 0]
        return int(np.argmax(history < part * history[0]))

    assert sweeps_to(0.01, True) * 5 < sweeps_to(0.01, False)
