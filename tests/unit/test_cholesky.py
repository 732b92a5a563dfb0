"""Sparse Cholesky factors of contact networks: they solve what dense and sparse solvers of others solve, or say that they cannot."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import spsolve
from scipy.spatial import cKDTree

from granum.checks import InputError
from granum.linalg import Plan, cholesky
from granum.linalg.cholesky import SWITCH, chosen, compiled_trouble
from granum.quasistatic.measure import measure
from granum.quasistatic.minimise import minimise
from granum.quasistatic.packing import random_packing

ROUNDING = 1e-15  # times the condition number, and some tens of it: the error of a backward stable solve
LEAST = 0.1  # least eigenvalue of the matrices here, by construction


@pytest.fixture(autouse=True, params=["compiled", "scipy"])
def way(request, monkeypatch):
    """Everything here is asked of both ways to a factor."""
    monkeypatch.setenv(SWITCH, request.param)
    chosen.cache_clear()
    yield request.param
    chosen.cache_clear()


def network(count, dimensions, neighbours, seed=0):
    """Random points in a periodic unit cell, joined to those within the distance that gives so many neighbours on average."""
    points = np.random.default_rng(seed).random((count, dimensions))
    ball = np.pi if dimensions == 2 else 4 * np.pi / 3
    reach = min((neighbours / (ball * count)) ** (1 / dimensions), 0.49)
    pairs = cKDTree(points, boxsize=1.0).query_pairs(reach, output_type="ndarray").astype(np.int32)
    return pairs[:, 0].copy(), pairs[:, 1].copy(), points


def blocks(count, a, b, m, seed=1):
    """A positive definite matrix: the sum over edges of J^T J with a random J that acts on both nodes, and a part of the identity."""
    random = np.random.default_rng(seed)
    diagonal = np.tile(LEAST * np.eye(m), (count, 1, 1))
    ja, jb = random.normal(size=(2, len(a), m, m))
    apart = (a != b)[:, None, None]
    np.add.at(diagonal, a, apart * np.einsum("kxi,kxj->kij", ja, ja))
    np.add.at(diagonal, b, apart * np.einsum("kxi,kxj->kij", jb, jb))
    return diagonal, np.einsum("kxi,kxj->kij", ja, jb)


def matrix(a, b, diagonal, edge):
    count, m = diagonal.shape[:2]
    apart = a != b
    rows = np.concatenate([np.arange(count), a[apart], b[apart]])
    columns = np.concatenate([np.arange(count), b[apart], a[apart]])
    values = np.concatenate([diagonal, edge[apart], edge[apart].transpose(0, 2, 1)])
    i, j = np.broadcast_arrays(m * rows[:, None, None] + np.arange(m)[:, None], m * columns[:, None, None] + np.arange(m))
    return sparse.csc_matrix((values.ravel(), (i.ravel(), j.ravel())), shape=(m * count, m * count))


def check(count, a, b, points, m, seed=1):
    a, b = np.asarray(a, np.int32), np.asarray(b, np.int32)
    diagonal, edge = blocks(count, a, b, m, seed)
    whole = matrix(a, b, diagonal, edge)
    factor = Plan(count, a, b, points).factorise(diagonal, edge)
    assert factor is not None
    rhs = np.random.default_rng(2).normal(size=(count, m))
    found = factor.solve(rhs)
    assert found.shape == (count, m)
    expected = spsolve(whole, rhs.ravel()).reshape(count, m)
    largest = abs(whole).sum(1).max()  # no eigenvalue is larger
    assert np.max(np.abs(found - expected)) <= 100 * ROUNDING * largest / LEAST * np.max(np.abs(expected))
    residual = (whole @ found.ravel()).reshape(count, m) - rhs
    assert np.max(np.abs(residual)) <= 100 * ROUNDING * largest * np.max(np.abs(found))


@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("count, dimensions, neighbours", [(60, 2, 5), (900, 2, 5), (200, 3, 8), (700, 3, 9), (500, 2, 40)])
def test_solves_random_networks_on_a_torus(count, dimensions, neighbours, m):
    check(count, *network(count, dimensions, neighbours), m)


@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("count", [1, 2, 3, 9, 10])
def test_few_nodes_all_joined(count, m):
    a, b = np.triu_indices(count, 1)
    check(count, a, b, np.random.default_rng(0).random((count, 2)), m)


@pytest.mark.parametrize("m", [1, 2, 3])
def test_nodes_without_edges_stand_alone(m):
    check(50, [], [], np.random.default_rng(0).random((50, 2)), m)
    a, b, points = network(150, 2, 1.5)  # many pieces, many single nodes
    assert len(np.setdiff1d(np.arange(150), np.concatenate([a, b]))) > 10
    check(150, a, b, points, m)


@pytest.mark.parametrize("m", [1, 2, 3])
def test_pieces_that_do_not_touch(m):
    a, b, points = network(200, 2, 6)
    check(400, np.concatenate([a, a + 200]), np.concatenate([b, b + 200]), np.concatenate([points, points]), m)


@pytest.mark.parametrize("m", [1, 2, 3])
def test_edges_given_twice_add_up_and_loops_are_ignored(m):
    a, b, points = network(120, 2, 5)
    loops = np.arange(0, 120, 7, dtype=np.int32)
    check(120, np.concatenate([a, b[::3], a[::5], loops]), np.concatenate([b, a[::3], b[::5], loops]), points, m)


@pytest.mark.parametrize("points", [np.zeros((90, 2)), np.full((90, 3), np.nan), np.repeat(np.arange(3.0), 30)[:, None] * np.ones(2)])
def test_order_survives_points_that_say_nothing(points):
    a, b, _ = network(90, 2, 5)
    check(90, a, b, points, 2)
    everyone = np.triu_indices(90, 1)
    check(90, *everyone, points, 1)


def test_laplacian_with_several_columns():
    a, b, points = network(400, 2, 6)
    weight = np.random.default_rng(3).random(len(a))
    degree = np.bincount(a, weight, 400) + np.bincount(b, weight, 400) + LEAST
    plan = Plan(400, a, b, points)
    factor = plan.factorise(degree[:, None, None], -weight[:, None, None])
    assert factor is not None
    rhs = np.random.default_rng(4).normal(size=(400, 5))
    found = factor.solve(rhs)
    whole = matrix(a, b, degree[:, None, None], -weight[:, None, None])
    condition = 2 * degree.max() / LEAST
    np.testing.assert_allclose(found, spsolve(whole, rhs), rtol=0, atol=100 * ROUNDING * condition * np.max(np.abs(found)))
    for c in range(5):
        assert np.array_equal(found[:, c], factor.solve(rhs[:, c : c + 1])[:, 0])


@pytest.mark.parametrize("m", [1, 2, 3])
def test_single_precision_serves_a_preconditioner(way, m):
    """U rounded to 24 bits, so the answer is wrong by that times the condition; the inverse stays symmetric and positive."""
    count = 700
    a, b, points = network(count, 3, 9)
    diagonal, edge = blocks(count, a, b, m)
    factor = Plan(count, a, b, points).factorise(diagonal, edge)
    assert factor is not None
    short = factor.single()
    u, v = np.random.default_rng(2).normal(size=(2, count, m))
    largest = abs(matrix(a, b, diagonal, edge)).sum(1).max()
    exact, found = factor.solve(u), short.solve(u)
    assert np.max(np.abs(found - exact)) <= 100 * 2.0**-24 * largest / LEAST * np.max(np.abs(exact))
    assert (way == "scipy") == np.array_equal(found, exact)  # SuperLU has no short numbers
    # Sums are in double precision: the inverse is symmetric to rounding.
    assert (u * short.solve(v)).sum() == pytest.approx((v * found).sum(), rel=1e-9)
    assert (u * found).sum() > 0
    assert short.entries == factor.entries
    del short
    assert np.array_equal(factor.solve(u), exact)
    again = factor.single()
    del factor  # its memory goes to the next one
    other = Plan(count, a, b, points).factorise(2 * diagonal, 2 * edge)
    assert other is not None
    assert np.array_equal(again.solve(u), found)


@pytest.mark.parametrize("m", [1, 2, 3])
def test_a_matrix_that_is_not_positive_definite_has_no_factor(m):
    a, b, points = network(150, 2, 6)
    diagonal, edge = blocks(150, a, b, m)
    plan = Plan(150, a, b, points)
    lowest = np.linalg.eigvalsh(matrix(a, b, diagonal, edge).toarray())[0]
    assert plan.factorise(diagonal - 0.99 * lowest * np.eye(m), edge) is not None
    assert plan.factorise(diagonal - 1.01 * lowest * np.eye(m), edge) is None
    assert plan.factorise(-diagonal, edge) is None
    assert plan.factorise(np.zeros_like(diagonal), np.zeros_like(edge)) is None


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("m", [1, 2, 3])
def test_a_number_that_is_none_has_no_factor(m, bad):
    a, b, points = network(100, 2, 6)
    diagonal, edge = blocks(100, a, b, m)
    plan = Plan(100, a, b, points)
    for node in range(0, 100, 9):
        spoilt = diagonal.copy()
        spoilt[node] = bad
        assert plan.factorise(spoilt, edge) is None
    for k in range(0, len(a), 9):
        spoilt = edge.copy()
        spoilt[k] = bad
        assert plan.factorise(diagonal, spoilt) is None


def test_one_plan_serves_many_matrices_and_gives_the_same_bits():
    a, b, points = network(500, 2, 5)
    plan = Plan(500, a, b, points)
    rhs = {m: np.random.default_rng(m).normal(size=(500, m)) for m in (1, 2, 3)}
    first = {}
    for turn in range(2):
        for m in (1, 2, 3):
            diagonal, edge = blocks(500, a, b, m)
            assert plan.factorise(-diagonal, edge) is None  # one that failed leaves nothing behind
            factor = plan.factorise(diagonal, edge)
            other = plan.factorise(2 * diagonal, edge)  # nor does a later one change an earlier factor
            assert factor is not None
            assert other is not None
            assert factor.entries == other.entries > 500 * m
            kept = rhs[m].copy()
            x = factor.solve(rhs[m])
            assert np.array_equal(rhs[m], kept)
            if turn == 0:
                first[m] = x
            else:
                assert np.array_equal(x, first[m])
            again = Plan(500, a, b, points).factorise(diagonal, edge)
            assert again is not None
            assert np.array_equal(again.solve(rhs[m]), x)


def test_fill_stays_near_that_of_nested_dissection():
    """The factor of a two-dimensional network of N nodes has of the order of N log N entries."""
    entries = []
    for count in (1000, 4000):
        a, b, points = network(count, 2, 5)
        factor = Plan(count, a, b, points).factorise(np.full((count, 1, 1), 50.0), np.full((len(a), 1, 1), 1.0))
        assert factor is not None
        entries.append(factor.entries)
    assert entries[1] < 4 * entries[0] * np.log(4000) / np.log(1000) * 1.25


def test_both_ways_give_the_same_answers_to_rounding():
    for count, dimensions, neighbours in ((1, 2, 5), (60, 2, 5), (900, 2, 5), (300, 3, 8)):
        a, b, points = network(count, dimensions, neighbours)
        for m in (1, 2, 3):
            diagonal, edge = blocks(count, a, b, m)
            rhs = np.random.default_rng(5).normal(size=(count, m))
            answers = []
            for method in ("compiled", "scipy"):
                factor = Plan(count, a, b, points, method).factorise(diagonal, edge)
                assert factor is not None
                answers.append(factor.solve(rhs))
            condition = abs(matrix(a, b, diagonal, edge)).sum(1).max() / LEAST
            assert np.max(np.abs(answers[0] - answers[1])) <= 100 * ROUNDING * condition * np.max(np.abs(answers[0]))


def test_the_way_is_chosen_once_and_told(way, monkeypatch):
    assert chosen().method == way
    assert SWITCH in chosen().reason
    monkeypatch.setenv(SWITCH, "guess")
    assert chosen().method == way
    chosen.cache_clear()
    with pytest.raises(InputError, match="compiled"):
        chosen()
    monkeypatch.delenv(SWITCH)
    chosen.cache_clear()
    assert compiled_trouble() == ""  # on the machines where this is tested
    assert chosen().method == "compiled"


def test_scipy_steps_in_where_the_compiled_squares_fail(monkeypatch):
    monkeypatch.delenv(SWITCH)

    class Broken:
        def __init__(self, *_):
            raise NotImplementedError("no such instruction\nand more words")

    monkeypatch.setattr("granum.linalg.compiled.CompiledElimination", Broken)
    chosen.cache_clear()
    assert chosen() == cholesky.Choice("scipy", "the compiled squares cannot be used: NotImplementedError: no such instruction")
    check(60, *network(60, 2, 5), 2)


def test_a_packing_relaxes_alike_both_ways(monkeypatch):
    """To the same forces in balance, with the same verdict on whether they hold it."""
    packing = random_packing(40, 0.9, seed=1)
    found = []
    for method in ("compiled", "scipy"):
        monkeypatch.setenv(SWITCH, method)
        chosen.cache_clear()
        relaxed = minimise(packing, "lbfgs", "contacts")
        assert relaxed.report.converged
        assert relaxed.report.factorisations > 0
        found.append(measure(relaxed.packing))
    assert found[0].jammed
    assert found[1].jammed
    assert found[0].energy == pytest.approx(found[1].energy, rel=1e-9)
