"""The local form u = W r + q: closed forms of one contact, the natural map, files that keep every bit, the solution with bodies."""

from __future__ import annotations

import dataclasses

import h5py
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from granum.checks import InputError
from granum.io.fclib import FclibProblem, read_fclib, write_fclib
from granum.nonsmooth.local import LocalProblem, into_friction_cone, local_form, natural_map_error
from granum.nonsmooth.rebuild import put_together, take_apart
from granum.nonsmooth.solvers import PGS
from granum.nonsmooth.solvers.local import LocalBlocks, LocalPGS
from granum.nonsmooth.solvers.local_direct import LocalDirect
from granum.nonsmooth.system import System
from tests.reference.problems import PROBLEMS

SPHERE = np.diag([2.0, 7.0, 7.0])  # [1/kg] two spheres of 1 kg: 1/m + 1/m, and 3.5 times that for friction
MU = 0.5
# offset q, impulse r, velocity u of one contact, by hand
STICKS = ((-1.0, 0.1, 0.0), (0.5, -0.1 / 7, 0.0), (0.0, 0.0, 0.0))
SLIDES = ((-1.0, 3.0, 4.0), (0.5, -0.15, -0.2), (0.0, 3.0 - 1.05, 4.0 - 1.4))  # u_t = (3, 4) (1 - 7 mu r_n / 5), against which r_t pulls
OPENS = ((0.3, 1.0, -2.0), (0.0, 0.0, 0.0), (0.3, 1.0, -2.0))
CASES = {"sticks": STICKS, "slides": SLIDES, "opens": OPENS}


def one(offset, impulse=(0.0, 0.0, 0.0), matrix=SPHERE, friction=MU):
    return LocalProblem(sparse.csr_array(matrix), np.array(offset), np.array([friction]), np.array(impulse))


SOLVERS = {
    "pgs": LocalPGS(iterations=50, tolerance=1e-14),
    "plain": LocalPGS(iterations=50, tolerance=1e-14, momentum=False),
    "direct": LocalDirect(tolerance=1e-14),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("solver", SOLVERS)
def test_one_contact_solves_to_its_closed_form(case, solver):
    offset, impulse, velocity = CASES[case]
    problem = one(offset)
    # Normal and friction rows do not couple: one sweep, or a Newton step on the right set, is exact but for rounding.
    assert SOLVERS[solver].solve(problem).converged
    assert_allclose(problem.impulse, impulse, atol=1e-15)
    assert_allclose(problem.velocity, velocity, atol=1e-14)


@pytest.mark.parametrize("case", CASES)
def test_natural_map_and_residual_vanish_at_the_closed_form(case):
    offset, impulse, velocity = CASES[case]
    problem = one(offset, impulse)
    assert_allclose(problem.velocity, velocity, atol=1e-15)
    assert problem.natural_map_error() < 1e-15
    assert np.abs(LocalBlocks(problem).residual()).max() < 1e-14


def test_natural_map_of_impulses_that_are_missing():
    """r = 0 where the bodies approach by 1 m/s: it misses by 1, or in sliding by sqrt(0.8); FCLIB divides by 1 + sqrt(|q|)."""
    assert one((-1.0, 0.0, 0.0)).natural_map_error() == pytest.approx(1.0 / 2.0, rel=1e-14)
    # r - u - mu |u_t| n = (1 - 1/2, -1, 0) has (0.8, -0.4, 0) as nearest point of the cone.
    assert one((-1.0, 1.0, 0.0)).natural_map_error() == pytest.approx(np.sqrt(0.8) / (1 + 2**0.25), rel=1e-14)
    assert one((4.0, 0.0, 0.0), (1.0, 0.0, 0.0)).natural_map_error() == pytest.approx(1.0 / 3.0, rel=1e-14)  # pushes though it opens


def test_nearest_point_of_the_cone_leaves_a_rest_in_the_polar_cone():
    """Moreau: x = P x + rest, the two orthogonal, P x in the cone and the rest in its polar; true for the nearest point alone."""
    rng = np.random.default_rng(1)
    x, mu = rng.standard_normal((2000, 3)), rng.choice([0.0, 0.2, 1.0, 3.0], 2000)
    x[:40, 1:] = 0.0
    x[40:60] = 0.0
    near = into_friction_cone(x, mu)
    rest = x - near
    assert (np.hypot(near[:, 1], near[:, 2]) <= mu * near[:, 0] + 1e-15 * np.abs(x).max()).all()
    assert (mu * np.hypot(rest[:, 1], rest[:, 2]) <= -rest[:, 0] + 1e-14).all()
    assert_allclose(np.einsum("ij,ij->i", near, rest), 0.0, atol=1e-14)


def test_coupled_rows_of_one_contact():
    """An off-centre contact couples normal and friction; while it sticks and pushes, W r + q = 0."""
    lever = np.array([[3.0, 0.8, -0.4], [0.8, 5.0, 0.3], [-0.4, 0.3, 6.0]])
    problem = one((-1.0, 0.05, 0.02), matrix=lever, friction=1.0)
    # Rows one by one contract by 0.8^2 / (3 x 5) and alike in each sweep: 40 sweeps reach rounding.
    assert LocalPGS(iterations=40, tolerance=1e-15, momentum=False).solve(problem).residual < 1e-14
    assert_allclose(problem.impulse, np.linalg.solve(lever, -problem.offset), rtol=1e-13)
    assert problem.natural_map_error() < 1e-14


@pytest.mark.parametrize("solver", SOLVERS)
def test_problem_in_a_plane(solver):
    """A sliding disc: one tangent, the same law."""
    flat = LocalProblem(sparse.csr_array(np.diag([2.0, 6.0])), np.array([-1.0, -3.0]), np.array([MU]), np.zeros(2), dimension=2)
    SOLVERS[solver].solve(flat)
    assert_allclose(flat.impulse, [0.5, 0.25], atol=1e-15)
    assert_allclose(flat.velocity, [0.0, -1.5], atol=1e-14)
    assert flat.natural_map_error() < 1e-15
    assert flat.start_at(np.zeros(2)).natural_map_error() == pytest.approx(
        natural_map_error(np.array([-1.0, -3.0, 0]), np.zeros(3), np.array([MU]), np.array([-1.0, -3.0])), rel=1e-14
    )


@pytest.fixture(scope="module")
def box():
    """A box of grains at rest, without rolling friction, as it is to be solved."""
    return PROBLEMS["box"]()


def test_local_form_and_bodies_have_the_same_residuals_and_solution(box, tmp_path):
    """Through a file: what one sees of the start and of the solution, the other sees too.

    With a friction of 0.2: with that of the scene, 0.91, Coulomb's law can have several solutions.
    """
    parts = take_apart(box)
    problem = put_together(dataclasses.replace(parts, friction=np.full_like(parts.friction, 0.2)))
    start = local_form(System.read(problem))
    write_fclib(tmp_path / "box.hdf5", FclibProblem(start, title="box", guesses=(start.impulse,)))
    local = read_fclib(tmp_path / "box.hdf5").problem
    system = System.read(problem)
    # u of W r + q and of the bodies agree to rounding of velocities near 0.1 m/s, and so do the residuals.
    seen = system.relative_velocity(system.velocity) - system.target + system.softness * system.impulse
    assert_allclose(local.velocity, seen, atol=1e-14)
    assert_allclose(LocalBlocks(local).residual()[:, :2], problem.residual()[:, :2], atol=1e-13)

    tolerance = 1e-13
    assert PGS(iterations=30_000, tolerance=tolerance).solve(problem).converged
    assert LocalPGS(iterations=30_000, tolerance=tolerance).solve(local).converged
    direct = local.start_at(start.impulse)
    assert LocalDirect(tolerance=tolerance).solve(direct).converged
    solved = System.read(problem)
    for found in (local, direct, local.start_at(solved.impulse)):
        # It is a norm, not a mean: sqrt(469) times the residual of 469 contacts, and a factor of 2 or so since it projects otherwise.
        assert found.natural_map_error() < 1e-11
    for found in (local, direct):
        # Residuals of 1e-13 m/s leave velocities within that times the condition of the packing, some 1e4, of each other.
        assert np.abs(solved.velocity_of(found.impulse) - solved.velocity).max() < 1e-9
        assert_allclose(found.impulse[::3], solved.impulse[::3], atol=1e-6 * solved.impulse.max())


def test_moving_walls_are_in_the_offset():
    """A drum's wall drags its grains though it is no body of the local form."""
    system = System.read(PROBLEMS["drum"]())
    assert np.abs(system.drift).max() > 0.01
    assert_allclose(system.offset() + system.target, system.relative_velocity(system.free_velocity), atol=1e-15)


def test_round_trip_keeps_every_bit(box, tmp_path):
    problem = local_form(System.read(box))
    rng = np.random.default_rng(2)
    solution, guess = rng.standard_normal((2, len(problem.offset)))
    content = FclibProblem(
        problem, title="Löß", description="two\nlines", math_info="", solution=solution, guesses=(problem.impulse, guess)
    )
    write_fclib(tmp_path / "a.hdf5", content)
    found = read_fclib(tmp_path / "a.hdf5")
    write_fclib(tmp_path / "b.hdf5", found)
    for again in (found, read_fclib(tmp_path / "b.hdf5")):
        w = sparse.csc_array(problem.matrix)
        for name in ("data", "indices", "indptr"):
            assert np.array_equal(getattr(again.problem.matrix, name), getattr(w, name))
        assert again.problem.offset.tobytes() == problem.offset.tobytes()
        assert again.problem.friction.tobytes() == problem.friction.tobytes()
        assert again.problem.impulse.tobytes() == problem.impulse.tobytes()
        assert again.solution.tobytes() == solution.tobytes()
        assert [g.tobytes() for g in again.guesses] == [problem.impulse.tobytes(), guess.tobytes()]
        assert (again.title, again.description, again.math_info) == ("Löß", "two\nlines", "")


def test_file_is_laid_out_as_the_library_reads_it(tmp_path):
    """Groups, names, shapes and types that its C functions ask for; strings end with a zero."""
    offset, impulse, velocity = SLIDES
    write_fclib(tmp_path / "a.hdf5", FclibProblem(one(offset), title="slides", solution=np.array(impulse), guesses=(np.zeros(3),)))
    with h5py.File(tmp_path / "a.hdf5") as file:
        whole = {
            "fclib_local/spacedim": [3],
            "fclib_local/W/m": [3],
            "fclib_local/W/n": [3],
            "fclib_local/W/nz": [-1],
            "fclib_local/W/nzmax": [3],
            "fclib_local/W/p": [0, 1, 2, 3],
            "fclib_local/W/i": [0, 1, 2],
            "guesses/number_of_guesses": [1],
        }
        for name, value in whole.items():
            assert file[name].dtype == np.int32
            assert file[name][()].tolist() == value
        real = {
            "fclib_local/W/x": [2, 7, 7],
            "fclib_local/vectors/q": offset,
            "fclib_local/vectors/mu": [MU],
            "solution/r": impulse,
            "solution/u": velocity,
            "guesses/1/u": offset,
            "guesses/1/r": [0, 0, 0],
        }
        for name, value in real.items():
            assert file[name].dtype == np.float64
            assert_allclose(file[name][()], value, atol=1e-15)
        kind = file["fclib_local/info/title"].id.get_type()
        assert (kind.get_size(), kind.get_strpad(), kind.is_variable_str()) == (7, h5py.h5t.STR_NULLTERM, False)


def put_matrix(path, form, extra=0):
    """Write the W of a file anew, as compressed rows or triplets, with room for some entries more."""
    with h5py.File(path, "r+") as file:
        group = file["fclib_local/W"]
        w = sparse.csc_array((group["x"][()], group["i"][()], group["p"][()]), shape=(int(group["m"][0]),) * 2)
        new = w.tocsr() if form == "rows" else w.tocoo()
        p, i = (new.indptr, new.indices) if form == "rows" else (new.row, new.col)
        for name in ("p", "i", "x", "nz", "nzmax"):
            del group[name]
        beyond = np.zeros(extra, np.int32)
        group["p"] = p.astype(np.int32) if form == "rows" else np.append(p.astype(np.int32), beyond)
        group["i"], group["x"] = np.append(i.astype(np.int32), beyond), np.append(new.data, beyond)
        group["nz"], group["nzmax"] = np.array([-2 if form == "rows" else w.nnz]), np.array([w.nnz + extra])


@pytest.mark.parametrize("extra", [0, 5])
@pytest.mark.parametrize("form", ["rows", "triplets"])
def test_other_forms_of_the_matrix_are_the_same_matrix(form, extra, tmp_path):
    rng = np.random.default_rng(4)
    dense = np.where(rng.random((12, 12)) < 0.4, rng.standard_normal((12, 12)), 0.0) + 5 * np.eye(12)  # not symmetric: rows are not columns
    problem = LocalProblem(sparse.csr_array(dense), rng.standard_normal(12), np.full(4, 0.3), np.zeros(12))
    write_fclib(tmp_path / "a.hdf5", FclibProblem(problem))
    put_matrix(tmp_path / "a.hdf5", form, extra)
    assert (read_fclib(tmp_path / "a.hdf5").problem.matrix.toarray() == dense).all()


def change(name, value):
    def spoil(file):
        del file[name]
        file[name] = value

    return spoil


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (change("fclib_local/vectors/q", [1.0, np.nan, 0.0]), "q holds numbers that are not finite"),
        (change("fclib_local/W/x", [1.0, np.inf, 1.0]), "W holds numbers that are not finite"),
        (change("fclib_local/vectors/mu", [-0.1]), "mu must be 0 or more"),
        (change("fclib_local/vectors/mu", [0.1, 0.2]), "do not fit together"),
        (change("fclib_local/spacedim", [4]), "spacedim must be 2 or 3"),
        (change("fclib_local/W/i", np.array([0, 1, 3], np.int32)), "damaged or cut short .*outside"),
        (change("fclib_local/W/p", np.array([0, 2, 1, 3], np.int32)), "damaged or cut short .*do not fit its size"),
        (change("fclib_local/W/nz", [-3]), "unknown form"),
        (change("solution/r", [1.0]), "solution has 1 numbers where 3 are due"),
        (lambda file: file["fclib_local/vectors"].__delitem__("q"), "damaged or cut short"),
        (lambda file: file.create_group("fclib_local/V"), "equality constraints"),
        (lambda file: file.move("fclib_local", "fclib_global"), "in another form"),
        (lambda file: file.move("fclib_local", "else"), "is not a FCLIB file"),
    ],
)
def test_files_that_cannot_be_solved_are_refused_in_words(spoil, words, tmp_path):
    path = tmp_path / "a.hdf5"
    write_fclib(path, FclibProblem(one(SLIDES[0]), solution=np.zeros(3)))
    with h5py.File(path, "r+") as file:
        spoil(file)
    with pytest.raises(InputError, match=words):
        read_fclib(path)


def test_what_has_no_local_form_is_refused_with_a_way_out():
    with pytest.raises(InputError, match=r"rolling friction has no local form.*rolling_friction=0"):
        local_form(System.read(PROBLEMS["platen"]()))
    with pytest.raises(InputError, match="contact 0 must have a positive diagonal"):
        LocalPGS().solve(one((-1.0, 0.0, 0.0), matrix=np.diag([0.0, 1.0, 1.0])))
    with pytest.raises(InputError, match="needs one at least"):
        write_fclib("none.hdf5", FclibProblem(LocalProblem(sparse.csr_array((0, 0)), np.zeros(0), np.zeros(0), np.zeros(0))))
