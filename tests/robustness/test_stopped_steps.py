"""Ctrl-C in a notebook stops a step between any two of its kernels.

Guaranteed: whoever steps on then does so from contacts that say what they carried, or that they carried nothing, never what a solve or a
search has left in their room. So a pile at rest stays at rest.
"""

from __future__ import annotations

import numpy as np
import pytest

from granum import Simulation, make_scene
from granum.parallel import Team
from granum.state import rooms

SETTLED = 150  # steps
AT_REST = 1e-3  # [m/s]


@pytest.fixture
def stopped(monkeypatch):
    """Do one step that stops after this many of the kernels that threads may share; whether it had so many."""
    run, left = Team.run, [-1]

    def run_and_stop(self, kernel, things, /, *args):
        found = run(self, kernel, things, *args)
        left[0] -= 1
        if left[0] == 0:
            raise KeyboardInterrupt
        return found

    def step(sim, kernels):
        left[0] = kernels
        try:
            sim.step()
        except KeyboardInterrupt:
            return True
        return False

    monkeypatch.setattr(Team, "run", run_and_stop)
    return step


@pytest.mark.parametrize("shared", [1, 10**9])
def test_a_pile_stays_at_rest_wherever_a_step_was_stopped(monkeypatch, stopped, shared):
    monkeypatch.setattr(rooms, "SHARED", shared)
    sim = Simulation(make_scene("collapse", {"count": 300}), guards={"on_coarse": "off"})
    for _ in range(SETTLED):
        sim.step()
    assert sim.stepper.fastest < AT_REST
    pushing = int(np.count_nonzero(sim.contacts.normal_force))
    kernels = 1
    while stopped(sim, kernels):
        for _ in range(5):
            sim.step()
            assert sim.stepper.fastest < AT_REST
        assert np.count_nonzero(sim.contacts.normal_force) == pytest.approx(pushing, rel=0.02)
        kernels += 1
    assert kernels > 5
