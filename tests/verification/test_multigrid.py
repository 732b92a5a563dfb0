"""Multigrid: the solution of PGS, its laws kept after few sweeps, work that does not grow with the height, and what must not change."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit
from numpy.testing import assert_allclose

from granum.nonsmooth.coarse import solve_band
from granum.nonsmooth.solvers import PGS, Multigrid
from granum.nonsmooth.system import System
from granum.parallel import team
from granum.scene import Body, Box, Plane
from granum.scene.library import make_scene
from granum.simulation import Simulation, make_settings
from tests.reference.problems import PROBLEMS, after, kept, put_back, ready, tilted
from tests.reference.scenes import FREE, D, G, column_heights, column_overlaps, make

EXACT = 1e-11  # [m/s] residual
STIFF = 1e9  # [Pa]


def impulses(problem):
    """(C, 7) normal, tangential and rolling impulses of a problem."""
    out = np.zeros((problem.contact_count, 7))
    problem.read_impulses(out)
    return out


def resting_column(count, bodies=()):
    """A column of ``count`` grains at rest, cold: every overlap carries the weight above it."""
    position = np.outer(column_heights(column_overlaps(count, youngs_modulus=STIFF)), (0.0, 0.0, 1.0))
    return make(
        position, walls=True, bodies=bodies, gravity=(0, 0, -G), youngs_modulus=STIFF, guards=FREE, stepper={"warm_start": {"name": "none"}}
    )


@pytest.mark.parametrize("name", ["column", "box", "stirred box", "platen", "impact"])
def test_solution_is_that_of_pgs(name):
    """Where PGS converges, in a hundred to some thousand sweeps, both end at the same velocities: a correction is zero at the solution."""
    problem = PROBLEMS[name]()
    start = kept(problem)
    assert PGS(iterations=20_000, tolerance=EXACT).solve(problem).converged
    velocity = problem.packed.body.copy()
    put_back(problem, start)
    report = Multigrid(iterations=20_000, tolerance=EXACT).solve(problem)
    assert report.converged
    assert report.message == ""
    # A residual of 1e-11 m/s leaves velocities that are amplified by the condition of the packing, some hundred.
    assert_allclose(problem.packed.body, velocity, atol=1e-8)


@pytest.mark.parametrize("name", ["tilted box", "stirred box", "pile", "drum"])
@pytest.mark.parametrize("sweeps", [1, 6])
def test_bounds_and_momentum_hold_after_few_sweeps(name, sweeps):
    """Scaling keeps p_n >= 0 and friction and rolling inside their cones, and the velocities are those that the impulses give."""
    problem = PROBLEMS[name]()
    before = System.read(problem)
    Multigrid(iterations=sweeps).solve(problem)
    p = impulses(problem)
    assert p[:, 0].min() >= 0
    assert (np.linalg.norm(p[:, 1:4], axis=1) <= before.friction * p[:, 0] * (1 + 1e-12)).all()
    assert (np.linalg.norm(p[:, 4:], axis=1) <= before.rolling * p[:, 0] * (1 + 1e-12)).all()
    after_solve = System.read(problem)
    change = before.inverse_mass @ (before.jacobian.T @ (after_solve.impulse - before.impulse))
    assert_allclose(after_solve.velocity - before.velocity, change, atol=1e-12 * np.abs(change).max() + 1e-14)


def test_a_body_with_full_inertia_does_not_spoil_the_layers():
    """It has no radius and lies in no layer: a plate on a column of 60 costs a few sweeps, not the layers."""
    top = column_heights(column_overlaps(60, youngs_modulus=STIFF))[-1] + D / 2
    plate = Body(
        name="plate",
        kind="dynamic",
        mass=1e-3,
        inertia=(1e-7, 1e-7, 2e-7),
        position=(0.0, 0.0, top - 1e-7 + D / 8),
        walls=(Box(material="m", lower=(-D, -D, -D / 8), upper=(D, D, D / 8), side="outside"),),
    )
    sim = resting_column(60, bodies=[plate])
    problem = ready(sim)
    assert problem.one_by_one == 1
    start = kept(problem)
    with_layers = Multigrid(iterations=40).solve(problem).residual
    put_back(problem, start)
    assert with_layers < 1e-3 * PGS(iterations=40).solve(problem).residual


@pytest.mark.parametrize("count", [25, 100, 400])
def test_column_needs_the_same_few_sweeps_at_any_height(count):
    """Equal impulses scaled linearly between the nodes contain the solution: two sweeps give all weights to 1 % from a cold start."""
    sim = resting_column(count)
    problem = ready(sim)
    start = kept(problem)
    Multigrid(iterations=2).solve(problem)
    mass = sim.bodies.mass[-1]
    weight = mass * G * sim.time_step * np.arange(1, count + 1)
    assert_allclose(np.sort(impulses(problem)[:, 0]), weight, rtol=0.01)
    put_back(problem, start)
    PGS(iterations=10).solve(problem)
    assert np.abs(np.sort(impulses(problem)[:, 0]) - weight).max() > 0.5 * weight.max()  # and sweeps alone are far away


def test_silo_keeps_friction_forces_and_profile():
    """From the history, ten sweeps give the forces of a converged solve: profile, friction and single forces to 2 %."""
    sim = after("silo", 620, iterations=100, count=250, width=6)
    problem = ready(sim)
    start = kept(problem)
    PGS(iterations=4000).solve(problem)
    true = impulses(problem)
    put_back(problem, start)
    Multigrid(iterations=10).solve(problem)
    found = impulses(problem)
    carries = true[:, 0] > 0.1 * true[:, 0].mean()
    assert np.linalg.norm(found[:, 0] - true[:, 0]) < 0.02 * np.linalg.norm(true[:, 0])
    assert_allclose(np.linalg.norm(found[:, 1:4], axis=1).sum(), np.linalg.norm(true[:, 1:4], axis=1).sum(), rtol=0.02)
    assert_allclose(np.log(found[carries, 0]).std(), np.log(true[carries, 0]).std(), rtol=0.02)  # strong and weak chains stay apart
    height = sim.bodies.position[sim.bodies.wall_body_count + sim.contacts.a, 2]
    layer = np.minimum((height / height.max() * 6).astype(int), 5)
    up = sim.contacts.normal[:, 2]
    profile = [np.bincount(layer, p[:, 0] * up**2 + p[:, 3] * up) for p in (found, true)]
    assert np.abs(profile[0] - profile[1]).max() < 0.01 * profile[1].max()


def test_gravity_in_any_direction_finds_its_layers():
    """Layers lie across the load, not across z: a column that lies on its side against a wall is solved as fast."""
    n = 60
    position = np.outer((np.arange(n) + 0.4999) * D * 0.9999, (1.0, 0.0, 0.0))
    sim = make(position, walls=(Plane(material="m", normal=(1, 0, 0)),), gravity=(-G, 0, 0), guards=FREE, friction=0.0)
    problem = ready(sim)
    Multigrid(iterations=3).solve(problem)
    found = np.sort(impulses(problem)[:, 0])
    problem = ready(sim)
    PGS(iterations=20_000, tolerance=EXACT).solve(problem)
    assert_allclose(found, np.sort(impulses(problem)[:, 0]), rtol=0.01, atol=0.01 * found.max())


def test_same_bits_for_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(team, "LEAST", 1)
    states = []
    for threads in (1, 2, 3):
        scene = make_scene("box", {"count": 150, "tilt": 10})
        how = {"threads": threads, "guards": FREE, "stepper": {"solver": {"name": "multigrid", "iterations": 8}}}
        sim = Simulation(scene, make_settings(scene.run, how))
        for _ in range(40):
            sim.step()
        assert sim.contacts.contact_count > 100
        states.append(sim.position.tobytes() + sim.velocity.tobytes() + sim.contacts.impulse.tobytes())
    assert all(state == states[0] for state in states)


def test_tilted_box_is_solved_in_fewer_sweeps_than_without_corrections():
    """A load that turns by 15 degrees: after ten sweeps from the history the residual is smaller than that of PGS with momentum."""
    problem = ready(tilted(after("box", 150, count=400), 15))
    start = kept(problem)
    residual = {}
    for solver in (PGS(iterations=10), Multigrid(iterations=10)):
        put_back(problem, start)
        residual[solver.name] = solver.solve(problem).residual
    assert residual["multigrid"] < residual["pgs"]


@njit
def solved(band, r, factor, alpha):
    return solve_band(band, r, factor, alpha)


def test_band_solver_solves():
    rng = np.random.default_rng(1)
    n = 9
    lower = np.tril(np.triu(rng.standard_normal((n, n)), -2)) + 3 * np.eye(n)
    matrix = lower @ lower.T
    band = np.array([[matrix[k, k + q] if k + q < n else 0.0 for q in range(3)] for k in range(n)])
    r, alpha = rng.standard_normal(n), np.zeros(n)
    assert solved(band, r, np.zeros((n, 3)), alpha)
    assert_allclose(matrix @ alpha, r, atol=1e-9)
    assert not solved(np.zeros((n, 3)), r, np.zeros((n, 3)), alpha)
