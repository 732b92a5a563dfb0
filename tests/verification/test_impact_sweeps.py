"""The impact stage, which sweeps only what collisions reach, against sweeps over all contacts."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose

from granum.nonsmooth import impact
from granum.nonsmooth.impact_sweeps import FEW, FINE
from granum.nonsmooth.solvers.sweeping import Method
from granum.parallel import team
from granum.scene.library import make_scene
from granum.simulation import Simulation, make_settings
from tests.reference.scenes import FREE, D, make


def test_what_sleeps_has_nothing_to_do(monkeypatch):
    """Solved to rounding, both give the same velocities in every step of a box that settles: no contact was left asleep."""
    scene = make_scene("box", {"count": 30, "rolling_friction": 0.0, "friction": 0.1})
    exact = {"impact_tolerance": 1e-9, "impact_iterations": 20_000}
    sim = Simulation(scene, make_settings(scene.run, {"stepper": exact, "guards": FREE}))
    solve, seen = impact.sweep, []

    def twice(p, method, **given):
        body, data = p.packed.body.copy(), p.blocks.data.copy()
        p.momentum.body_before[:], p.momentum.before[:] = 0.0, 0.0
        solve(p, Method(20_000, 1e-13, soft=0.0, measure=True))  # of all contacts
        swept = p.packed.body.copy()
        p.packed.body[:], p.blocks.data[:] = body, data
        result = solve(p, method, **given)
        assert_allclose(p.packed.body, swept, rtol=0, atol=1e-7)
        seen.append(np.abs(swept - p.packed.body).max())
        return result

    monkeypatch.setattr(impact, "sweep", twice)
    for _ in range(80):
        sim.step()
    assert len(seen) > 20


def test_many_impacts_reach_the_end_of_every_row():
    """e = 0: rows of touching balls, every second one hit from the left, the others from the right. So many contacts are awake that bodies
    wake others through lists; in every row all move on with the mean velocity, to the last ball."""
    u, balls, side = 1.0, 40, 7
    x, y, z = (a.ravel() for a in np.meshgrid(np.arange(-1.0, balls), np.arange(side), np.arange(side), indexing="ij"))
    way = np.where((y + z) % 2 == 0, 1.0, -1.0)
    velocity = np.zeros((len(x), 3))
    velocity[x < 0, 0] = u * way[x < 0]
    x[x < 0] -= 0.02
    position = D * np.stack([way * x, 3 * y, 3 * z], axis=1)
    exact = {"impact_tolerance": 1e-6, "impact_iterations": 20_000}
    sim = make(position, velocity=velocity, h=1e-3, restitution=0.0, friction=0.0, youngs_modulus=1e10, stepper=exact)
    assert sim.step().impacts == side**2
    assert balls * side**2 > FEW
    assert_allclose(way * sim.velocity[:, 0], u / (balls + 1), rtol=0.01)
    assert_allclose(sim.velocity[:, 1:], 0.0, atol=1e-10)  # rows are straight to 1e-12 of a diameter


def test_a_push_wanders_on_when_all_else_is_calm(monkeypatch):
    """e = 0: 1600 rows of three touching balls, and one of forty, each hit by one ball. The short rows settle soon. From then on only the
    long one is swept, contact by contact as they are due, until all of its balls move on together. No contact is forgotten."""
    u, short, long, side = 1.0, 3, 40, 40
    row = np.arange(side * side)
    balls = np.where(row == 820, long, short)
    x = np.concatenate([np.arange(-1.0, n) for n in balls])
    of = np.repeat(row, balls + 1)
    position = D * np.stack([np.where(x < 0, x - 0.02, x), 3.0 * (of // side), 3.0 * (of % side)], axis=1)
    velocity = np.zeros((len(x), 3))
    velocity[x < 0, 0] = u
    exact = {"impact_tolerance": 1e-6, "impact_iterations": 20_000}
    sim = make(position, velocity=velocity, h=1e-3, restitution=0.0, friction=0.0, youngs_modulus=1e10, stepper=exact)
    solve, impacts = impact.sweep, []
    monkeypatch.setattr(impact, "sweep", lambda *given, **more: (impacts.append(more["impact"]), solve(*given, **more))[1])
    assert sim.step().impacts == side**2
    assert impacts[0].calm[0]
    assert_allclose(sim.velocity[:, 0], u / (balls[of] + 1), rtol=0.01)


def test_a_calm_impact_has_the_same_bits_on_any_number_of_threads(monkeypatch):
    """A bed whose grains are all kicked: contacts in many colours, whose blocks are marked as due by one thread and swept by another."""
    monkeypatch.setattr(team, "LEAST", 1)  # every thread is woken, however little there is to do
    scene = make_scene("box", {"count": 1500})
    bed = Simulation(scene, make_settings(scene.run, {"guards": FREE})).run(0.5).checkpoint()
    solve, found = impact.sweep, []
    for threads in (1, 2, 3):
        sim, calm = Simulation.restore(scene, make_settings(scene.run, {"guards": FREE, "threads": threads}), bed), []
        sim.velocity[:] += np.random.default_rng(3).normal(0.0, 0.3, sim.velocity.shape)
        monkeypatch.setattr(
            impact, "sweep", lambda *given, calm=calm, **more: (solve(*given, **more), calm.append(more["impact"].calm[0]))[0]
        )
        for _ in range(4):
            sim.step()
        found.append((calm, sim.position.tobytes(), sim.velocity.tobytes(), sim.spin.tobytes()))
    assert any(found[0][0])
    assert found[0] == found[1] == found[2]


def test_small_impacts_pass_on_small_changes():
    """e = 1: a ball hits one of a thousand times its mass, which touches another. What the heavy one gets (2e-3 u) is below the tolerance
    of the stage, and is passed on all the same: both go on together, and the energy is kept to the work of the fine limit on them."""
    u, size = 1.0, 10 * D
    position = [(-D / 2 - size / 2 - 0.1 * D, 0, 0), (0, 0, 0), (size, 0, 0)]
    sim = make(
        position,
        velocity=[(u, 0, 0), (0, 0, 0), (0, 0, 0)],
        diameter=[D, size, size],
        restitution=1.0,
        friction=0.0,
        guards=FREE,
        youngs_modulus=1e10,
    )
    light, heavy = sim.bodies.mass[:2]
    limit = FINE * sim.settings.stepper.impact_tolerance * sim.settings.stepper.impact_velocity
    assert sim.step().impacts == 1
    passed = 2 * light * u / (light + 2 * heavy)
    assert passed < sim.settings.stepper.impact_tolerance * sim.settings.stepper.impact_velocity
    assert_allclose(sim.velocity[1:, 0], passed, atol=limit)
    before = light * u * u / 2
    assert before - 2 * heavy * passed * limit < sim.report.kinetic_energy <= before * (1 + 1e-12)
