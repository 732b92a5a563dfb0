"""``granum solve``: solvers side by side on one problem, curves, figures, FCLIB, and refusals in words."""

from __future__ import annotations

import dataclasses
import errno
import json
from pathlib import Path

import h5py
import numpy as np
import pytest

from granum.bench.side_by_side import VARIANTS, WithBodies, best_of, choose_solvers, compare_solvers, distances
from granum.checks import InputError
from granum.io.fclib import read_fclib
from granum.io.problem import SavedProblem, write_problem
from granum.nonsmooth.rebuild import take_apart
from granum.nonsmooth.solvers import SOLVERS
from granum.observe import ProblemDump
from tests.figures import curve, legend, panels
from tests.reference.problems import after, ready
from tests.reference.scenes import D, G, make

SOLVER_KEYS = {
    "name",
    "settings",
    "sweeps",
    "work",
    "seconds",
    "residual",
    "residual_by_kind",
    "natural_map_error",
    "converged",
    "message",
    "velocity_distance",
    "impulse_distance",
    "curve",
}


def saved(problem):
    parts = take_apart(problem)
    return SavedProblem(parts=parts, position=np.zeros((len(parts.inverse_mass), 3)), scene="box", step=7, time=0.035, time_step=0.005)


@pytest.fixture(scope="module")
def box():
    """40 grains in a box, without rolling friction; with much friction the solution would depend on the start."""
    return saved(ready(after("box", 60, count=40, rolling_friction=0.0, friction=0.2)))


@pytest.fixture
def file(box, granum):
    """The same in a file in the current folder."""
    write_problem("box.h5", box)
    return "box.h5"


def test_json_has_a_curve_for_every_solver(granum, file):
    result = granum("solve", file, "--iterations", 40, "--tolerance", 0, "--json", "--solver", "pgs", "--solver", "pgs-plain")
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert found["problem"]["kind"] == "granum"
    assert (found["problem"]["bodies"], found["problem"]["rows"], found["problem"]["step"]) == (40, 3, 7)
    assert [s["name"] for s in found["solvers"]] == ["pgs", "pgs-plain"]
    for solver in found["solvers"]:
        assert set(solver) == SOLVER_KEYS
        curve = solver["curve"]
        assert [len(curve[name]) for name in ("sweeps", "work", "seconds", "residual")] == [40] * 4
        assert curve["sweeps"] == list(range(1, 41))
        assert (np.diff(curve["work"]) > 0).all()
        assert (np.diff(curve["seconds"]) > 0).all()
        assert curve["residual"][-1] == pytest.approx(solver["residual"], rel=1e-12)
        assert solver["residual"] < found["start"]["residual"]
        kinds = solver["residual_by_kind"]
        assert np.linalg.norm(list(kinds.values())) == pytest.approx(solver["residual"], rel=1e-12)
        assert solver["converged"] is False
    best = next(s for s in found["solvers"] if s["name"] == found["best"])
    assert (best["velocity_distance"], best["impulse_distance"]) == (0.0, 0.0)


def test_table_names_all_solvers_there_are(granum, file):
    result = granum("solve", file, "--iterations", 20)
    assert result.exit_code == 0
    for name in (*SOLVERS, *VARIANTS, "(start)", "natural"):
        assert name in result.stdout


def test_no_momentum_is_the_plain_variant(box):
    subject = WithBodies(box)
    chosen = choose_solvers(subject, ["pgs", "pgs-plain"], {"iterations": 30, "tolerance": 0.0, "momentum": False})
    first, second = compare_solvers(subject, chosen)
    assert first.curve.residual.tobytes() == second.curve.residual.tobytes()
    assert first.end.velocity.tobytes() == second.end.velocity.tobytes()
    assert distances(first.end, second.end) == (0.0, 0.0)


class Refuses:
    """A solver that does not take this problem."""

    def solve(self, problem, history=False):
        raise InputError("too few bodies.")


def test_a_solver_that_refuses_is_left_out_of_several(box):
    lines = []
    subject = WithBodies(box)
    solvers = choose_solvers(subject, ["pgs"], {"iterations": 5})
    trials = compare_solvers(subject, {"other": Refuses(), **solvers}, lines.append)
    assert [trial.name for trial in trials] == ["pgs"]
    assert "other is left out: too few bodies." in lines
    with pytest.raises(InputError, match="too few bodies"):
        compare_solvers(subject, {"other": Refuses()})


def test_a_cold_start_is_the_same_problem(box):
    """Zero impulses and the velocities without them lead to the same solution, from further away."""
    warm, cold = WithBodies(box), WithBodies(box, cold=True)
    start = cold.look(cold.fresh())
    assert not start.impulse.any()
    np.testing.assert_allclose(start.change, 0.0, atol=1e-15)
    settings = {"iterations": 20_000, "tolerance": 1e-13}
    ends = [best_of(compare_solvers(s, choose_solvers(s, ["pgs"], settings))) for s in (warm, cold)]
    assert all(trial.converged for trial in ends)
    # Residuals of 1e-13 m/s leave velocities within that times the condition of the packing, some 1e4, against changes of 0.05 m/s.
    assert distances(ends[1].end, ends[0].end)[0] < 1e-7


def test_solvers_stop_at_the_tolerance_and_say_so(granum, file):
    found = json.loads(granum("solve", file, "--solver", "pgs", "--tolerance", 1e-6, "--iterations", 5000, "--json").stdout)
    (solver,) = found["solvers"]
    assert solver["converged"] is True
    assert solver["residual"] <= 1e-6
    assert solver["sweeps"] < 5000


def test_a_tolerance_that_the_start_meets(granum, file):
    """The direct solver then has nothing to do."""
    result = granum("solve", file, "--tolerance", 2.7, "--json")
    assert result.exit_code == 0
    sweeps = {solver["name"]: solver["sweeps"] for solver in json.loads(result.stdout)["solvers"]}
    assert sweeps["direct"] == 0


def test_figure_is_drawn(granum, file, drawn):
    """The residual of each solver against its work and its time."""
    result = granum("solve", file, "--iterations", 30, "--solver", "pgs", "--solver", "multigrid", "-o", "curves.png", "--json")
    assert result.exit_code == 0
    work, time = panels(drawn["curves.png"])
    assert (work.get_xlabel(), work.get_ylabel()) == ("work [sweeps of plain PGS]", "residual [m/s]")
    assert time.get_xlabel().startswith("wall time [")
    solvers = json.loads(result.stdout)["solvers"]
    assert legend(work) == [solver["name"] for solver in solvers] == ["pgs", "multigrid"]
    for solver in solvers:
        assert curve(work, solver["name"])[1][-1] == pytest.approx(solver["residual"])
        assert len(curve(work, solver["name"])[0]) == len(curve(time, solver["name"])[0])


def test_problem_goes_to_fclib_and_is_solved_there(granum, file):
    arguments = ("--solver", "pgs", "--iterations", 20_000, "--tolerance", 1e-12, "--json")
    result = granum("solve", file, *arguments, "--to-fclib", "box.hdf5")
    here = json.loads(result.stdout)
    assert here["fclib"] == "box.hdf5"
    assert "with the solution of pgs" in result.stderr
    there = json.loads(granum("solve", "box.hdf5", *arguments).stdout)
    assert there["problem"]["kind"] == "fclib"
    assert there["problem"]["contacts"] == here["problem"]["contacts"]
    # Both measure the same start and the same solution, to rounding of velocities.
    assert there["start"]["residual"] == pytest.approx(here["start"]["residual"], abs=1e-13)
    assert there["start"]["natural_map_error"] == pytest.approx(here["start"]["natural_map_error"], abs=1e-13)
    assert there["given"]["residual"] == pytest.approx(here["solvers"][0]["residual"], abs=1e-13)
    assert there["solvers"][0]["converged"] is True
    assert there["given"]["velocity_distance"] < 1e-7
    assert there["solvers"][0]["natural_map_error"] < 1e-9


def test_without_a_converged_solution_none_is_written(granum, file):
    result = granum("solve", file, "--solver", "pgs", "--iterations", 2, "--to-fclib", "box.hdf5")
    assert "without a solution" in result.stderr
    content = read_fclib("box.hdf5")
    assert content.solution is None
    assert len(content.guesses) == 1  # the warm start


@pytest.mark.parametrize("as_json", [False, True])
def test_no_contacts_is_solved_at_once_and_said(granum, tmp_path, as_json):
    sim = make([(0, 0, 3 * D)], walls=True, gravity=(0, 0, -G))
    sim.observers.append(ProblemDump({tmp_path / "p.h5": 0.0}))
    sim.run(0.005)
    result = granum("solve", "p.h5", *(["--json"] if as_json else []))
    assert result.exit_code == 0
    assert "has no contacts" in result.stderr
    if as_json:
        assert json.loads(result.stdout)["solvers"] == []


def test_no_contacts_and_yet_a_file_asked_for(granum, tmp_path):
    """Nobody should look for a file that was never written."""
    sim = make([(0, 0, 3 * D)], walls=True, gravity=(0, 0, -G))
    sim.observers.append(ProblemDump({tmp_path / "p.h5": 0.0}))
    sim.run(0.005)
    for arguments in (("-o", "p.png"), ("--to-fclib", "p.hdf5")):
        result = granum("solve", "p.h5", *arguments)
        assert result.exit_code == 2
        assert "nothing can be drawn or exported" in result.stderr


def test_the_file_that_is_read_is_not_written_over(granum, file):
    """Its solution and guesses may be others' work."""
    granum("solve", file, "--solver", "pgs", "--iterations", 2, "--to-fclib", "box.hdf5")
    before = Path("box.hdf5").read_bytes()
    result = granum("solve", "box.hdf5", "--solver", "pgs", "--iterations", 2, "--to-fclib", "./box.hdf5")
    assert result.exit_code == 2
    assert "is the file that is read" in result.stderr
    assert Path("box.hdf5").read_bytes() == before


def test_results_are_shown_though_a_file_cannot_be_written(granum, file, monkeypatch):
    def full(*args, **kwargs):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("granum.io.whole.os.fsync", full)
    result = granum("solve", file, "--solver", "pgs", "--iterations", 2, "--to-fclib", "box.hdf5", "--json")
    assert result.exit_code == 2
    assert "No space left" in result.stderr
    assert json.loads(result.stdout)["solvers"][0]["sweeps"] == 2
    assert not list(Path().glob("box.hdf5*"))


def test_one_body_on_a_plane(granum):
    """Its one contact carries its weight: p_n = m g h, plus what the overlap asks for."""
    write_problem("one.h5", saved(ready(make([(0, 0, 0.499 * D)], walls=True, gravity=(0, 0, -G)))))
    found = json.loads(granum("solve", "one.h5", "--json").stdout)
    assert (found["problem"]["bodies"], found["problem"]["contacts"]) == (1, 1)
    assert all(s["converged"] and s["natural_map_error"] < 1e-12 for s in found["solvers"])


def test_rolling_friction_has_no_fclib_form(granum, tmp_path):
    write_problem("rolls.h5", saved(ready(after("box", 40, count=20))))
    result = granum("solve", "rolls.h5", "--to-fclib", "rolls.hdf5")
    assert result.exit_code == 2
    assert "--set rolling_friction=0" in result.stderr
    assert not (tmp_path / "rolls.hdf5").exists()
    found = json.loads(granum("solve", "rolls.h5", "--solver", "pgs", "--json").stdout)
    assert found["solvers"][0]["natural_map_error"] is None


def test_box_friction_has_no_fclib_form(granum, box):
    write_problem("bounded.h5", dataclasses.replace(box, parts=dataclasses.replace(box.parts, box=True)))
    result = granum("solve", "bounded.h5", "--to-fclib", "bounded.hdf5")
    assert result.exit_code == 2
    assert "--friction cone" in " ".join(result.stderr.split())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--solver", "gauss"), "unknown solver 'gauss'; choose one of"),
        (("--iterations", "0"), "--iterations"),
        (("--tolerance", "-1"), "--tolerance"),
        (("-o", "curves.txt"), "must end in .png"),
        (("-o", "nowhere/curves.png"), "does not exist"),
        (("--to-fclib", "notes.hdf5"), "is not a FCLIB file"),
        (("--to-fclib", "."), "it is a folder"),
    ],
)
def test_bad_input_is_refused_before_the_work(granum, file, arguments, words):
    Path("notes.hdf5").write_text("notes")
    result = granum("solve", file, *arguments)
    assert result.exit_code == 2
    assert words in result.stderr
    assert "Traceback" not in result.stderr
    assert Path("notes.hdf5").read_text() == "notes"


def test_fclib_files_that_cannot_be_solved_are_refused(granum, file):
    granum("solve", file, "--solver", "pgs", "--iterations", 2, "--to-fclib", "box.hdf5")
    with h5py.File("box.hdf5", "r+") as content:
        content["fclib_local/vectors/q"][3] = np.nan
    result = granum("solve", "box.hdf5")
    assert result.exit_code == 2
    assert "q holds numbers that are not finite" in result.stderr
