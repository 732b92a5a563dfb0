"""Multigrid at the door: settings, empty and small problems, what it reports."""

from __future__ import annotations

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

from granum.checks import InputError
from granum.nonsmooth.solvers import Multigrid, make_solver
from granum.simulation import make_settings, simulate
from tests.command_line import granum
from tests.reference.problems import PROBLEMS, bounded_by, ready
from tests.reference.scenes import FREE, D, G, make


def test_by_name():
    assert make_solver("multigrid", iterations=7) == Multigrid(iterations=7)
    assert make_settings({"stepper": {"solver": {"name": "multigrid", "partitions": 4}}}).stepper.solver.partitions == 4


@pytest.mark.parametrize("setting", [{"partitions": 0}, {"iterations": 0}, {"tolerance": -1.0}, {"order": "given"}])
def test_bad_settings_are_refused_in_words(setting):
    with pytest.raises(InputError, match=next(iter(setting))):
        make_settings({"stepper": {"solver": {"name": "multigrid", **setting}}})


def test_more_partitions_than_grains_are_refused():
    with pytest.raises(InputError, match=r"at most the number of grains \(got 26 for 25 grains\)"):
        simulate("column", solver=Multigrid(partitions=26), duration=0.05)


def test_as_many_partitions_as_grains_are_fine():
    run = simulate("column", solver=Multigrid(partitions=25), duration=1.0)
    assert run.report.residual < 1e-9


def test_no_contacts():
    problem = ready(make([(0, 0, 1.0)], gravity=(0, 0, -G), guards=FREE))
    assert problem.contact_count == 0
    report = Multigrid(iterations=5).solve(problem, history=True)
    assert report.residual == 0


@pytest.mark.parametrize("above", [0.4999, 0.5])
def test_one_grain_on_a_plane(above):
    sim = make([(0, 0, above * D)], walls=True, gravity=(0, 0, -G), guards=FREE, solver={"name": "multigrid", "iterations": 5})
    for _ in range(100):
        sim.step()
    assert abs(sim.contacts.impulse[0, 0] / (sim.bodies.mass[-1] * G * sim.time_step) - 1) < 1e-6


def test_singular_coarse_problem_is_left_out_and_said():
    """Without gravity and motion nothing pushes: there is nothing to scale."""
    d = 1.00001 * D
    sim = make([(x * d, y * d, 0.5 * d) for x in range(3) for y in range(3)], walls=True, guards=FREE)
    sim.position[:] *= 0.9999
    problem = ready(sim)
    problem.packed.body[:] = np.where(np.arange(len(problem.packed.body)) % 8 < 6, 0.0, problem.packed.body)
    data = problem.blocks.data.reshape(-1, problem.blocks.fields, 16)
    data[:, 4] = 0.0  # nobody is asked to part
    report = Multigrid(iterations=8).solve(problem)
    assert "singular" in report.message
    assert report.residual == 0


def test_history_and_work():
    problem = PROBLEMS["box"]()
    report = Multigrid(iterations=12).solve(problem, history=True)
    assert report.history.shape == (12, 4)
    assert report.work.shape == (12,)
    steps = np.diff(report.work)
    assert report.work[0] > 1
    assert (steps > 0.999).all()
    assert steps.max() > 2  # a correction
    assert_allclose(steps[6:], 1)  # none in the second half
    assert report.history[-1, 0] == report.residual < report.history[0, 0]


def test_box_friction_and_no_momentum_reach_the_solution():
    for settings, friction in (({}, "box"), ({"momentum": False}, "cone")):
        problem = bounded_by(PROBLEMS["stirred box"](), friction)
        assert Multigrid(iterations=4000, tolerance=1e-9, **settings).solve(problem).converged


def test_command_line(tmp_path):
    done = granum(
        "run",
        "column",
        "--solver",
        "multigrid",
        "--iterations",
        "10",
        "--duration",
        "0.5",
        "--no-picture",
        "--json",
        "-o",
        str(tmp_path / "o.h5"),
    )
    assert done.exit_code == 0, done.output
    summary = json.loads(done.stdout)
    assert summary["solver"] == "multigrid"
    assert abs(summary["results"]["height_error"] if "results" in summary else summary["height_error"]) < 1e-3
