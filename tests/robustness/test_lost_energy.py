"""Energy that contacts lose is told: as a number in the summary, and with a warning where they should lose none."""

from __future__ import annotations

import json
import re
import warnings

import numpy as np
import pytest

from granum.scene import Box
from granum.simulation import Simulation
from granum.simulation.coarse import LOST
from tests.reference.scenes import D, G, make, mass, write_scene

WARN = {"on_coarse": "warn"}


def ball(h=1e-3, height=0.1, **given):
    """A ball that is dropped on a plane."""
    return make((0, 0, D / 2 + height), walls=True, gravity=(0, 0, -G), h=h, guards=WARN, **{"restitution": 1.0, "friction": 0.0} | given)


def told(sim, duration):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sim.run(duration)
    return [str(w.message) for w in caught if "should lose no energy" in str(w.message)]


def energy(sim):
    """[J] of the parabola on which a ball flies: its velocity is half a step further on than that of the stepper."""
    velocity = sim.velocity - [0, 0, 0.5 * G * sim.time_step]
    return float((sim.bodies.mass * (0.5 * (velocity**2).sum(axis=1) + G * sim.position[:, 2])).sum())


def test_a_bouncing_ball_that_loses_energy_is_told_with_the_step_that_fits():
    """Every bounce takes about 2 m v g h, a fifth of the energy in a second at 2 ms; the advice keeps it below 1 %."""
    sim = ball(2e-3)
    before = energy(sim)
    (message,) = told(sim, 0.5)
    lost = before - energy(sim)
    assert 0.05 < lost / (mass() * G * 0.1) < 0.2
    assert sim.guard.lost(sim) == pytest.approx(lost, rel=0.01)
    assert "restitution 1, no friction" in message
    (worst,) = [w for w in sim.warnings if "should lose no energy" in w]
    assert float(re.search(r"have lost (\S+) J", worst)[1]) == pytest.approx(lost, rel=0.11)
    step = float(re.search(r"for less than 1% try --time-step (\S+?),", worst)[1])
    fine = ball(step)
    assert told(fine, 0.5) == []
    assert fine.guard.lost(fine) < LOST * mass() * G * 0.1


def test_a_fall_loses_nothing():
    sim = ball(5e-3, height=2.0)
    assert told(sim, 0.6) == []
    assert abs(sim.guard.lost(sim)) < 1e-3 * sim.report.kinetic_energy


def test_two_balls_that_collide_lose_nothing():
    sim = make([(0, 0, 0), (3 * D, 0, 0)], velocity=[(1, 0, 0), (-1, 0, 0)], restitution=1.0, friction=0.0, guards=WARN, h=5e-4)
    assert told(sim, 0.1) == []
    assert abs(sim.guard.lost(sim)) < 1e-12 * mass()


def test_collisions_that_share_a_step_are_told():
    """A gas of 64 balls, 0.2 d a step: a ball that hits two others in one step loses energy."""
    rng = np.random.default_rng(1)
    site = np.stack(np.meshgrid(*[np.arange(4)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    walls = [Box(material="m", lower=(0, 0, 0), upper=(8 * D,) * 3)]
    sim = make(
        (site + 0.5) * 2 * D, velocity=rng.standard_normal((64, 3)), walls=walls, restitution=1.0, friction=0.0, guards=WARN, h=1.5e-3
    )
    assert len(told(sim, 1.0)) == 1
    kinetic = sim.report.kinetic_energy
    assert sim.guard.lost(sim) == pytest.approx(sim.guard.began - kinetic - sim.report.elastic_energy)


@pytest.mark.parametrize("given", [{"restitution": 0.9}, {"friction": 0.3}, {"rolling_friction": 0.1}])
def test_contacts_that_may_lose_energy_are_not_blamed(given):
    sim = ball(**given)
    assert told(sim, 1.0) == []
    assert sim.guard.lost(sim) > LOST * mass() * G * 0.1


def test_smooth_contacts_lose_nothing():
    sim = ball(None, height=0.02, settings={"stepper": {"name": "smooth"}})
    assert told(sim, 0.2) == []
    assert abs(sim.guard.lost(sim)) < 1e-3 * mass() * G * 0.02


def test_a_restarted_run_counts_from_the_beginning():
    sim = ball()
    told(sim, 0.5)
    again = Simulation.restore(sim.scene, sim.settings, sim.checkpoint())
    for run in (sim, again):
        told(run, 0.5)
    assert again.guard.lost(again) == sim.guard.lost(sim) > 0
    assert again.warnings == sim.warnings


def test_the_summary_has_the_energy_that_was_lost(granum, tmp_path):
    """A ball that stays on the floor has lost m g h."""
    file = write_scene(tmp_path / "scene.py", ball(restitution=0.1).scene)
    result = granum("run", file, "--time-step", "1e-3", "--duration", "0.5", "--no-picture", "--json")
    assert json.loads(result.stdout)["energy_lost"] == pytest.approx(mass() * G * 0.1, rel=1e-2)
    assert "energy lost" in granum("info", "scene.vtkhdf").stdout
