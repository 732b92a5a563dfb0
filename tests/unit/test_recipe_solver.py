"""CONTRIBUTING's recipe for a solver, followed once: sweeps in two halves, the second from where the first has ended."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Literal

import numpy as np
import pytest

from granum import PGS, Direct, Nonsmooth, simulate
from granum.nonsmooth.solvers import SOLVERS, SolveReport
from granum.nonsmooth.solvers import solver as base
from tests.reference.problems import PROBLEMS, kept, put_back


class Halves(base.SolverRecord):
    """Projected Gauss-Seidel that forgets its momentum half-way."""

    name: Literal["halves"] = "halves"
    iterations: int = 100
    """Sweeps per step, of both halves together."""

    def solve(self, problem, *, step: int = 0, measure: bool = True, history: bool = False) -> SolveReport:
        half = PGS(iterations=max(1, self.iterations // 2))
        first = half.solve(problem, step=step, measure=False, history=history)
        second = half.solve(problem, step=step, measure=measure, history=history)
        return SolveReport(
            iterations=first.iterations + second.iterations,
            residual=second.residual,
            residual_by_kind=second.residual_by_kind,
            history=np.concatenate([first.history, second.history]),
            converged=second.converged,
            work=np.concatenate([first.work, len(first.work) + np.asarray(second.work)]),
        )


del SOLVERS["halves"]  # known by itself from its definition on; nobody else shall meet it


@pytest.fixture(autouse=True, scope="module")
def known():
    SOLVERS["halves"] = Halves
    yield
    del SOLVERS["halves"]


@pytest.mark.parametrize("name", ["column", "box"])
def test_it_reaches_the_solution_of_the_direct_solver(name):
    problem = PROBLEMS[name]()
    start = kept(problem)
    assert Direct().solve(problem).converged
    exact, _ = kept(problem)
    put_back(problem, start)
    report = Halves(iterations=4000).solve(problem)
    assert report.residual < 1e-9
    np.testing.assert_allclose(kept(problem)[0], exact, atol=1e-7)


FILE = """
from typing import Literal
from granum.nonsmooth.solvers.pgs import PGS

class Patient(PGS):
    name: Literal["patient"] = "patient"
    iterations: int = 300
"""
FIND = """
import sys
from importlib.machinery import PathFinder

class Beside(PathFinder):
    \"\"\"As if the folder that the command names were a part of that of the solvers.\"\"\"

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        spec = super().find_spec(name, path, target)
        if name == "granum.nonsmooth.solvers":
            spec.submodule_search_locations.append(sys.argv[1])
        return spec

sys.meta_path.insert(0, Beside)
from granum import make_scene, Simulation
sim = Simulation(make_scene("column", {"count": 3}), solver="patient")
assert sim.settings.stepper.solver.iterations == 300
"""


def test_a_file_among_the_solvers_is_found_by_itself(tmp_path):
    """Nothing names it: the file is all."""
    (tmp_path / "patient.py").write_text(FILE)
    done = subprocess.run([sys.executable, "-c", FIND, str(tmp_path)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_settings_python_and_the_command_line_find_it_by_its_name(granum):
    by_object = simulate("column", duration=0.1, solver=Halves(iterations=60))
    by_name = simulate("column", duration=0.1, stepper=Nonsmooth.model_validate({"solver": {"name": "halves", "iterations": 60}}))
    np.testing.assert_array_equal(by_object.position, by_name.position)
    result = granum("run", "column", "--solver", "halves", "--iterations", 60, "--duration", 0.1, "--json", "--no-picture")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["solver"] == "halves"


def test_it_is_shown_beside_the_others(granum):
    granum("run", "box", "--set", "count=40", "--duration", 0.2, "--dump-problem", 0.2, "--no-picture")
    result = granum("solve", "box.problem-0.2.h5", "--solver", "pgs", "--solver", "halves", "--iterations", 200, "--json")
    assert result.exit_code == 0, result.stderr
    found = {solver["name"]: solver for solver in json.loads(result.stdout)["solvers"]}
    assert set(found) == {"pgs", "halves"}
    assert found["halves"]["sweeps"] == 200
    assert found["halves"]["residual"] < 1e-2
