"""The impact stage, which sweeps only what collisions reach, against sweeps over all contacts."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose

from granum.nonsmooth import stepper
from granum.nonsmooth.solvers.pgs import Order, iterate
from granum.parallel import Team
from granum.scene.library import make_scene
from granum.simulation import Simulation, make_settings
from tests.reference.scenes import FREE


def test_what_sleeps_has_nothing_to_do(monkeypatch):
    """Solved to rounding, both give the same velocities in every step of a box that settles: no contact was left asleep."""
    scene = make_scene("box", {"count": 60, "rolling_friction": 0.0, "friction": 0.1})
    exact = {"impact_tolerance": 1e-9, "impact_iterations": 20_000}
    sim = Simulation(scene, make_settings(scene.run, {"stepper": exact, "guards": FREE}))
    run, seen = Team.run, []

    def twice(team, kernel, things, *args):
        if kernel is not stepper.solve_impacts:
            return run(team, kernel, things, *args)
        p = sim.stepper.problem
        body, data = p.body.copy(), p.data.copy()
        fixed = list(p.for_sweeps())
        fixed[11] = fixed[12] = 0.0  # nothing is soft
        run(
            team, iterate, things, *fixed, 20_000, 1e-13, True, int(Order.COLOUR), False, 0, True, body, data, np.zeros_like(p.body_before),
            np.zeros_like(p.before), p.sums.copy(), np.zeros((0, 4)), np.zeros(3),
        )  # fmt: skip
        result = run(team, kernel, things, *args)
        assert_allclose(p.body, body, rtol=0, atol=1e-7)
        seen.append(np.abs(body - p.body).max())
        return result

    monkeypatch.setattr(Team, "run", twice)
    for _ in range(80):
        sim.step()
    assert len(seen) > 20
