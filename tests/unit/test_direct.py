"""The sparse view of a contact problem, and the direct solver's manners: nothing to solve, no end in sight, and in a run."""

from __future__ import annotations

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from granum._jit import kernel
from granum.nonsmooth.blocks import ARM, LANES, at
from granum.nonsmooth.kinds.contact import arms, listed, normal_at, relative_velocity
from granum.nonsmooth.solvers import Direct
from granum.nonsmooth.system import System
from tests.reference.problems import PROBLEMS, RESTING, kept, put_back, ready
from tests.reference.scenes import make

KINDS = ["box", "stirred box", "drum", "platen"]  # spheres and standing walls, 3 and 6 rows, driven walls, full inertia


@kernel
def row_velocities(packed, blocks, levers, place):
    """(C, 6) relative velocity and spin of every contact in world axes, as the sweeps see them."""
    out = np.empty((len(place), 6))
    for c in range(len(place)):
        p = np.int64(place[c])
        d = at(p, blocks.fields)
        a, b = np.int64(blocks.lane_a[p]), np.int64(blocks.lane_b[p])
        q = listed(blocks, levers, p)
        arm = arms(packed, levers, a, b, normal_at(blocks.data, d), blocks.data[d + ARM * LANES], q)
        out[c] = relative_velocity(packed.body, a, b, arm)
    return out


@pytest.mark.parametrize("kind", KINDS)
def test_system_sees_what_sweeps_see(kind):
    """G v + drift is the relative velocity of the rows, for random velocities of all bodies."""
    p = PROBLEMS[kind]()
    packed = p.packed.body[: p.packed.yielding * 8].reshape(-1, 8)
    packed[:, :6] = np.random.default_rng(1).standard_normal((p.packed.yielding, 6))
    s = System.read(p)
    expected = row_velocities(p.packed, p.blocks, p.levers, p.found.place)
    rows = np.einsum("cij,cj->ci", s.basis, expected[:, :3])
    if s.rows > 3:
        rows = np.hstack([rows, np.einsum("cij,cj->ci", s.basis[:, (1, 2, 0)], expected[:, 3:])])
    scale = np.abs(rows).max()
    assert_allclose(s.relative_velocity(s.velocity), rows.ravel(), atol=1e-13 * scale)
    assert_allclose(s.basis @ s.basis.transpose(0, 2, 1), np.broadcast_to(np.eye(3), s.basis.shape), atol=1e-14)


@pytest.mark.parametrize("kind", KINDS)
def test_system_goes_there_and_back(kind):
    """Reading a problem and writing it back changes velocities, impulses and residual by rounding only."""
    p = PROBLEMS[kind]()
    before, (body, data) = p.residual(), kept(p)
    s = System.read(p)
    s.write(p, s.impulse)
    assert_allclose(p.residual(), before, atol=1e-15)
    assert_allclose(p.packed.body, body, atol=1e-15)
    assert_allclose(p.blocks.data, data, atol=1e-15 * np.abs(s.impulse).max())


@pytest.mark.parametrize("kind", KINDS)
def test_mass_and_delassus_matrix(kind):
    """A change of the impulses in the problem changes the relative velocities by G M^-1 G^T, and W adds the softness."""
    p = PROBLEMS[kind]()
    s = System.read(p)
    change = 1e-4 * np.random.default_rng(2).standard_normal(len(s.impulse))
    s.write(p, s.impulse + change)
    moved = System.read(p)
    assert_allclose(moved.impulse, s.impulse + change, atol=1e-18)
    assert_allclose(moved.free_velocity, s.free_velocity, atol=1e-15 * np.abs(moved.velocity).max())
    w = s.delassus()
    assert_allclose(w.toarray(), w.toarray().T, atol=1e-14 * np.abs(w).max())
    u = moved.relative_velocity(moved.velocity) + s.softness * moved.impulse - s.target
    assert_allclose(w @ moved.impulse + s.offset(), u, atol=1e-14 * np.abs(w).max() * np.abs(moved.impulse).max())


def test_nothing_to_solve():
    """One grain or two that touch nothing: done at once, and nothing has changed."""
    for position in ([(0, 0, 1.0)], [(0, 0, 1.0), (0, 0, 2.0)]):
        sim = make(position, walls=True, gravity=(0, 0, -9.81))
        problem = ready(sim)
        saved = kept(problem)
        report = Direct().solve(problem, history=True)
        assert (report.iterations, report.residual, report.converged, report.message) == (0, 0.0, True, "")
        assert_array_equal(problem.packed.body, saved[0])


def test_gives_up_in_words_with_the_best_it_had():
    """Few factorisations are not enough here: it says so, and leaves the best iterate, which is no worse than the start."""
    problem = RESTING["resting box"]()
    start = mean_square(problem)
    report = Direct(iterations=3).solve(problem)
    assert not report.converged
    assert report.iterations == 3
    assert "residual" in report.message
    assert "raise iterations" in report.message
    assert np.isfinite(problem.packed.body).all()
    assert np.isfinite(problem.blocks.data).all()
    assert report.residual == pytest.approx(mean_square(problem), rel=1e-12)
    assert report.residual <= start


def test_does_not_make_numbers_of_nothing():
    """A problem that is not finite is not solved, without an exception."""
    problem = PROBLEMS["platen"]()
    problem.packed.body[0] = np.nan
    report = Direct(iterations=5).solve(problem)
    assert not report.converged
    assert report.message


def mean_square(problem):
    return float(np.sqrt((problem.residual() ** 2).sum(axis=1).mean()))


def test_history_falls_to_the_tolerance():
    """One row for every look, never rising, with time and work in sweeps beside it."""
    report = Direct().solve(PROBLEMS["box"](), history=True)
    residual = report.history[:, 0]
    assert report.converged
    assert (np.diff(residual) <= 0).all()
    assert residual[-1] == report.residual <= Direct().tolerance
    assert len(report.seconds) == len(report.work) == len(residual)
    assert (np.diff(report.seconds) >= 0).all()
    assert_allclose(report.work / report.work[-1], report.seconds / report.seconds[-1], rtol=1e-12)


def test_looser_tolerance_is_less_work():
    problem = RESTING["resting pile"]()
    saved = kept(problem)
    fine = Direct().solve(problem)
    put_back(problem, saved)
    coarse = Direct(tolerance=1e-6).solve(problem)
    assert coarse.converged
    assert coarse.residual <= 1e-6
    assert coarse.iterations < fine.iterations


def test_same_bits_again():
    problem = RESTING["resting pile"]()
    saved = kept(problem)
    Direct().solve(problem)
    first = kept(problem)
    put_back(problem, saved)
    Direct().solve(problem)
    assert_array_equal(problem.packed.body, first[0])
    assert_array_equal(problem.blocks.data, first[1])


def test_column_run_stands(granum, tmp_path):
    """`granum run column --solver direct` ends with the height of the closed form, and its summary knows the method."""
    file = tmp_path / "c.h5"
    done = granum("run", "column", "--solver", "direct", "--duration", 2, "--seed", 1, "-o", file, "--json", "--no-picture")
    assert done.exit_code == 0
    summary = json.loads(done.stdout)
    assert (summary["solver"], summary["momentum"], summary["order"]) == ("direct", None, None)
    assert abs(summary["results"]["height_error"]) < 1e-9
    assert summary["residual"] <= Direct().tolerance
    shown = granum("info", file)
    assert shown.exit_code == 0
    assert "direct, 300 iterations" in shown.stdout


@pytest.mark.parametrize("option", [["--momentum"], ["--no-momentum"], ["--order", "given"]])
def test_option_of_another_solver_is_refused(granum, option, tmp_path):
    done = granum("run", "column", "--solver", "direct", *option, "-o", tmp_path / "c.h5")
    assert done.exit_code == 2
    assert f"{option[0]} is not an option of the solver 'direct'" in done.stderr
    assert not (tmp_path / "c.h5").exists()
