"""Contact problems in files: solved again they give the bits of the run, and a file that is not one is refused in words."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import h5py
import numpy as np
import pytest

from granum.checks import InputError
from granum.io import layout
from granum.io.problem import SavedProblem, problem_path, read_problem, write_problem
from granum.io.whole import digest
from granum.nonsmooth.rebuild import put_together, take_apart
from granum.nonsmooth.solvers import PGS
from granum.observe import ProblemDump
from tests.reference.problems import PROBLEMS, after, bounded_by, ready
from tests.reference.scenes import D, G, make


def same_bits(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def saved(problem, **about):
    parts = take_apart(problem)
    return SavedProblem(parts=parts, position=np.zeros((len(parts.inverse_mass), 3)), **about)


@pytest.fixture(scope="module")
def small():
    """A column of three grains at rest, ready to be solved."""
    return saved(ready(after("column", 20, count=3)), scene="column", step=21, time=0.105, time_step=0.005)


@pytest.mark.parametrize("name", ["column", "box", "stirred box", "drum", "platen"])
def test_a_problem_put_together_again_is_solved_with_the_same_bits(name, tmp_path):
    """Whatever its bodies are: grains, driven walls, a plate with full inertia."""
    for friction, solver in (("cone", PGS(iterations=30)), ("box", PGS(iterations=10, momentum=False, order="given"))):
        problem = bounded_by(PROBLEMS[name](), friction)
        write_problem(tmp_path / "p.h5", saved(problem))
        again = put_together(read_problem(tmp_path / "p.h5").parts)
        first, second = solver.solve(problem, history=True), solver.solve(again, history=True)
        assert same_bits(first.history, second.history)
    moved = take_apart(again)
    for part in dataclasses.fields(moved):
        was = getattr(take_apart(problem), part.name)
        assert was == getattr(moved, part.name) if np.isscalar(was) else same_bits(was, getattr(moved, part.name)), part.name


def test_file_keeps_every_bit_and_where_it_comes_from(small, tmp_path):
    write_problem(tmp_path / "p.h5", small)
    found = read_problem(tmp_path / "p.h5")
    assert found.about == small.about
    assert same_bits(found.position, small.position)
    for part in dataclasses.fields(small.parts):
        was, now = getattr(small.parts, part.name), getattr(found.parts, part.name)
        assert was == now if np.isscalar(was) else same_bits(was, now), part.name
    assert not list(tmp_path.glob("*.new"))


def test_dump_is_the_problem_of_the_step_and_leaves_the_run_as_it_is(granum, tmp_path):
    """The last step, solved again from its file, gives the forces that the run ended with."""
    command = ("run", "box", "--set", "count=30", "--duration", 0.2, "--no-picture", "--json")
    plain = json.loads(granum(*command, "-o", "plain.h5").stdout)
    result = granum(*command, "-o", "dumped.h5", "--dump-problem", 0.2, "--dump-problem", 0)
    summary = json.loads(result.stdout)
    assert summary["state_hash"] == plain["state_hash"]
    assert summary["problems"] == ["dumped.problem-0.h5", "dumped.problem-0.2.h5"]
    assert "dumped.problem-0.2.h5" in result.stderr
    assert read_problem("dumped.problem-0.h5").step == 1
    last = read_problem("dumped.problem-0.2.h5")
    assert (last.scene, last.step) == ("box", summary["steps"])
    assert last.solver["name"] == "pgs"
    problem = put_together(last.parts)
    PGS(**last.solver).solve(problem)
    with h5py.File("dumped.h5") as file:
        count = len(file["granum/contacts/normal_force"]) - file["granum/contacts/first"][-2]
        force = file["granum/contacts/normal_force"][-count:]
    found = take_apart(problem).impulse[:, 0] / last.time_step
    assert same_bits(found[found > 0], force[force > 0])  # contacts that are only about to close are not recorded


def test_dump_holds_the_start_of_the_solve_and_where_the_grains_are(tmp_path):
    sim = after("box", 30, count=40)
    sim.observers.append(ProblemDump({tmp_path / "p.h5": 31 * sim.time_step}))
    position = sim.position.copy()
    sim.run(sim.time_step)
    found = read_problem(tmp_path / "p.h5")
    assert found.parts.impulse.any()  # warm started
    order = sim.stepper.detector.neighbours.order
    assert same_bits(found.position[: len(order)][order >= 0], position[order[order >= 0]])  # some ranks are empty
    walls = found.position[found.parts.first_full :]
    assert len(walls) == found.contact_count - found.parts.pair_count
    problem = put_together(found.parts)
    sim.settings.stepper.solver.solve(problem)
    solved, by_run = take_apart(problem), take_apart(sim.stepper.problem)
    assert same_bits(solved.velocity, by_run.velocity)
    assert same_bits(solved.surface_spin, by_run.surface_spin)
    assert same_bits(solved.impulse, by_run.impulse)


@pytest.mark.parametrize(("asked", "step"), [(0.0, 1), (0.004, 1), (0.005, 1), (0.0051, 2), (0.015, 3)])
def test_problem_is_of_the_first_step_that_ends_at_or_after_the_time(asked, step, tmp_path):
    sim = make([(0, 0, 0.499 * D)], walls=True, gravity=(0, 0, -G), h=0.005)
    dump = ProblemDump({tmp_path / "p.h5": asked})
    sim.observers.append(dump)
    sim.run(0.02)
    found = read_problem(tmp_path / "p.h5")
    assert (found.step, found.time) == (step, pytest.approx(0.005 * step))
    assert dump.written == [tmp_path / "p.h5"]


def test_a_time_that_the_run_does_not_reach_is_told(tmp_path):
    lines = []
    sim = make([(0, 0, 0.499 * D)], walls=True, gravity=(0, 0, -G), h=0.005)
    sim.observers.append(ProblemDump({tmp_path / "p.h5": 1.0}, lines.append))
    sim.run(0.01)
    assert len(lines) == 1
    assert "ended at t = 0.01 s" in lines[0]
    assert sim.stepper.before_solve is None


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--dump-problem", 1.0), "between 0 and the duration, 0.05 s"),
        (("--dump-problem", -0.1), "between 0 and the duration"),
        (("--dump-problem", "nan"), "between 0 and the duration"),
        (("--dump-problem", 0.01, "--stepper", "smooth"), "needs the nonsmooth stepper"),
    ],
)
def test_dumps_that_cannot_be_are_refused_before_the_run(granum, tmp_path, flags, words):
    result = granum("run", "column", "--set", "count=3", "--duration", 0.05, *flags)
    assert result.exit_code == 2
    assert words in result.stderr
    assert not list(tmp_path.iterdir())


def test_a_file_that_is_not_ours_is_not_replaced(granum, tmp_path):
    Path("column.problem-0.01.h5").write_text("notes")
    result = granum("run", "column", "--set", "count=3", "--duration", 0.05, "--dump-problem", 0.01)
    assert result.exit_code == 2
    assert "is not a problem of granum" in result.stderr
    assert Path("column.problem-0.01.h5").read_text() == "notes"


def test_name_of_the_file():
    assert problem_path("runs/box.vtkhdf", 0.5) == Path("runs/box.problem-0.5.h5")
    assert problem_path("runs/box.h5", 0.5) == Path("runs/box.problem-0.5.h5")
    assert problem_path("box.h5", 0.1 + 0.2) == Path("box.problem-0.3.h5")
    assert problem_path("box.h5", 12.34567) != problem_path("box.h5", 12.34568)  # two steps, two files


@pytest.mark.parametrize("steps", [19.42, 19.6])
def test_the_end_of_a_run_is_reached_whatever_the_step(tmp_path, steps):
    """A run lasts for the nearest whole number of steps, so that it may end before its duration: that is its last step's problem."""
    sim = make([(0, 0, 0.5 * D)], walls=True, gravity=(0, 0, -G))
    dump = ProblemDump({tmp_path / "p.h5": steps * sim.time_step})
    sim.observers.append(dump)
    sim.run(steps * sim.time_step)
    assert read_problem(tmp_path / "p.h5").step == sim.step_count == round(steps)


def spoil(path, change):
    """Change a problem file and give it the digest of its new content."""
    with h5py.File(path, "r+") as file:
        change(file)
        names = [f"{t}/{name}" for t in ("bodies", "contacts", "inertia", "levers") for name in file[t]]
        file.attrs["sha256"] = digest(file["description"].asstr()[()], {name: file[name][()] for name in names})


def put(name, value):
    def change(file):
        file[name][-1] = value

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (put("contacts/target", np.nan), "contacts/target holds numbers that are not finite"),
        (put("bodies/velocity", np.inf), "bodies/velocity holds numbers that are not finite"),
        (put("contacts/a", 99), "a points outside of its"),
        (put("contacts/b", -1), "b points outside of its"),
        (put("contacts/friction", -0.5), "friction has negative numbers"),
        (put("contacts/inverse_diagonal", 0.0), "is not above 0"),
    ],
)
def test_numbers_that_no_solver_can_trust_are_refused(small, tmp_path, change, words):
    write_problem(tmp_path / "p.h5", small)
    spoil(tmp_path / "p.h5", change)
    with pytest.raises(InputError, match=words):
        read_problem(tmp_path / "p.h5")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda p: {"soft_t": np.nan}, "soft_t is nan"),
        (lambda p: {"normal": 0.5 * p.normal}, "a normal is not of unit length"),
        (lambda p: {"b": p.a}, "the same body on both sides"),
        (lambda p: {"lever_contact": p.lever_contact[1:], "lever_body": p.lever_body[1:], "lever": p.lever[1:]}, "its lever arms are not"),
        (lambda p: {"lever_body": p.lever_body[:, ::-1]}, "its lever arms belong to other bodies"),
    ],
)
def test_parts_that_do_not_fit_together_are_refused(tmp_path, change, words):
    content = saved(PROBLEMS["platen"]())
    write_problem(tmp_path / "p.h5", content)
    assert read_problem(tmp_path / "p.h5").contact_count == content.contact_count
    write_problem(tmp_path / "p.h5", dataclasses.replace(content, parts=dataclasses.replace(content.parts, **change(content.parts))))
    with pytest.raises(InputError, match=words):
        read_problem(tmp_path / "p.h5")


def test_damage_is_noticed(small, tmp_path):
    path = tmp_path / "p.h5"
    write_problem(path, small)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match="damaged or cut short"):
        read_problem(path)
    at = whole.index(small.parts.normal.tobytes())
    path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])  # one bit
    with pytest.raises(InputError, match="does not match its digest"):
        read_problem(path)


def test_files_of_another_kind_or_a_newer_version_are_refused(small, granum, tmp_path):
    granum("run", "column", "--set", "count=3", "--duration", 0.02, "--no-picture")
    Path("notes.h5").write_text("not HDF5")
    with h5py.File("other.h5", "w") as file:
        file["x"] = 1.0
    write_problem("newer.h5", small)
    with h5py.File("newer.h5", "r+") as file:
        file.attrs["version"] = layout.PROBLEM_VERSION + 1
    for path, words in (
        ("column.vtkhdf", "it is a granum-recording"),
        ("column.checkpoint.hdf5", "it is a granum-checkpoint"),
        ("notes.h5", "not an HDF5 file"),
        ("other.h5", "another program wrote it"),
        ("newer.h5", "Update granum"),
        ("missing.h5", "does not exist"),
        (".", "name of a file"),
    ):
        result = granum("solve", path)
        assert result.exit_code == 2, path
        assert words in result.stderr
        assert "Traceback" not in result.stderr
