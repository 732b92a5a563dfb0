"""Minimisers and preconditioners: every way down ends in the same valley, and says how."""

from __future__ import annotations

import numpy as np
import pytest

from granum.checks import InputError
from granum.contact.power import HERTZ, HOOKE, PowerLaw
from granum.quasistatic import precondition
from granum.quasistatic.course import Course, dot, largest
from granum.quasistatic.energy import PackingEnergy
from granum.quasistatic.line_search import search
from granum.quasistatic.measure import measure
from granum.quasistatic.minimise import METHODS, PRECONDITIONERS, minimise
from granum.quasistatic.minimisers import LBFGS
from granum.quasistatic.packing import Packing, random_packing
from granum.quasistatic.precondition import ContactStiffness
from granum.scene.cell import Cell, simple_shear

COMBINED = [
    (method, help_) for method in METHODS for help_ in PRECONDITIONERS if (method != "auto" or help_ == "none") and method != "fr-cg"
] + [("fr-cg", "none"), ("fr-cg", "adjacency")]


@pytest.fixture(scope="module")
def jammed() -> Packing:
    """120 discs well above jamming, in balance to rounding."""
    return minimise(random_packing(120, 0.9, seed=3), tolerance=1e-15).packing


@pytest.fixture(scope="module")
def strained(jammed) -> Packing:
    return jammed.deformed(simple_shear(2, 1e-5))


@pytest.mark.parametrize("method, help_", COMBINED)
def test_all_methods_find_the_minimum_next_to_a_small_strain(strained, method, help_):
    relaxed, report = minimise(strained, method, help_, tolerance=1e-12, limit=20_000)
    assert report.converged, report
    assert report.residual <= 1e-12
    assert len(report.history) == report.iterations + 1
    reference, _ = minimise(strained, "lbfgs", tolerance=1e-14)
    # A residual r leaves places wrong by r / lambda of the softest mode; energies agree to the square of it.
    assert measure(relaxed).energy == pytest.approx(measure(reference).energy, rel=1e-12)
    away = relaxed.cell.wrap(relaxed.position - reference.position + 0.5) - 0.5
    away -= away.mean(axis=0)
    held = ~measure(reference).rattlers
    assert np.abs(away[held]).max() < 1e-8


@pytest.mark.parametrize("method", ["lbfgs", "cg", "fire", "auto"])
@pytest.mark.parametrize("law", [HOOKE, HERTZ])
def test_unjammed_grains_come_apart(method, law):
    packing = random_packing(100, 0.6, seed=1, law=law)
    relaxed, report = minimise(packing, method)
    assert report.converged
    # No force is left above the tolerance, so no overlap above the one that gives it.
    overlap = (report.tolerance / law.stiffness) ** (1 / (law.alpha - 1))
    found = measure(relaxed)
    assert not found.jammed
    assert found.pressure <= report.tolerance * packing.count * packing.diameter * 4
    assert (PackingEnergy(relaxed).touching(relaxed.position).overlap <= 10 * overlap).all()


def test_newton_ends_quadratically(jammed):
    """Once contacts no longer change, Newton's steps square the error, down to what its inner solver leaves."""
    _, report = minimise(jammed.grown(1 + 1e-7), "newton", "contacts", tolerance=1e-13)
    assert report.converged
    assert report.iterations <= 8


def test_contacts_need_few_iterations_where_plain_ones_need_hundreds():
    packing = random_packing(256, 0.86, seed=5)
    packing = minimise(packing, tolerance=1e-13).packing.deformed(simple_shear(2, 1e-6))
    few = minimise(packing, "lbfgs", "contacts", tolerance=1e-12).report
    many = minimise(packing, "lbfgs", tolerance=1e-12).report
    assert few.converged
    assert many.converged
    assert few.iterations * 5 < many.iterations


@pytest.mark.parametrize("seed, phi", [(0, 0.845), (5, 0.85)])
def test_a_step_that_was_cut_short_bounds_the_next_trial(seed, phi):
    """Grains that rearrange: trials that go far for nothing need new pair lists. The minimum is the same, with a third of the lists."""
    packing = minimise(random_packing(400, phi, seed=seed), tolerance=1e-13).packing.deformed(simple_shear(2, 1e-3))
    found = {}
    for nearest in (LBFGS.farthest, LBFGS.nearest):  # the first leaves all trials as far as they may ever go
        course = Course(PackingEnergy(packing), "lbfgs+contacts", 1e-11, 10_000)
        LBFGS(ContactStiffness(), nearest=nearest).run(course, packing.diameter)
        found[nearest] = course.report()
    far, near = found.values()
    assert far.converged
    assert near.converged
    # Energies are known to the square of the residual over the softest stiffness.
    assert near.energy == pytest.approx(far.energy, rel=1e-12)
    assert near.evaluations < far.evaluations
    assert 3 * near.lists < far.lists


def test_laplacian_by_conjugate_gradients_is_that_of_the_factors(strained, monkeypatch):
    packing = minimise(random_packing(60, 0.66, dim=3, seed=2), "fire", limit=50).packing
    course = Course(PackingEnergy(packing), "test", 1e-12, 10)
    direct, iterative = precondition.Adjacency(3.0), precondition.Adjacency(3.0)
    direct.refresh(course)
    monkeypatch.setattr(precondition, "MOST_DIRECT", 10)
    iterative.refresh(course)
    q = np.random.default_rng(0).standard_normal(course.x.shape)
    exact = direct.apply(q)
    assert not np.array_equal(iterative.apply(q), exact)  # another way was taken
    # The residual is 1e-4 of q; the matrix's smallest eigenvalue is C_stab, its largest about twice the degree.
    assert np.linalg.norm(iterative.apply(q) - exact) <= 1e-4 * np.linalg.norm(q) / (precondition.STABILISER * direct.mu)


@pytest.mark.parametrize("decay", [0.0, 3.0])
def test_adjacency_is_the_matrix_of_the_paper(jammed, decay):
    """EM (19)-(21) written out: weights of all images within the cutoff, C_stab on the diagonal, and mu from a long wave."""
    course = Course(PackingEnergy(jammed), "test", 1e-14, 10)
    helper = precondition.Adjacency(decay)
    assert helper.refresh(course)
    x, cutoff = jammed.position, precondition.CUTOFF * jammed.radius.max()
    images = np.array([(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1)])
    distance = np.linalg.norm(x[:, None, None] - x[None, :, None] - images, axis=-1)  # (N, N, 9)
    near = (distance < cutoff) & ~np.eye(len(x), dtype=bool)[:, :, None]
    weight = np.where(near, np.exp(-decay * (distance / distance[near].mean() - 1)), 0.0).sum(axis=2)
    matrix = np.diag(weight.sum(axis=1) + 0.1) - weight
    wave = 1e-3 * cutoff * np.sin(2 * np.pi * x)
    there = np.empty_like(wave)
    course.energy.evaluate(x + wave, there)
    mu = np.sum(wave * (there - course.g)) / np.sum(wave * (matrix @ wave))
    assert helper.mu == pytest.approx(mu, rel=1e-10)
    np.testing.assert_allclose(helper.apply(mu * matrix @ x), x, rtol=1e-9)
    assert not helper.refresh(course)  # nothing has moved


def test_line_search_meets_the_strong_wolfe_conditions(jammed):
    course = Course(PackingEnergy(jammed.grown(1.001)), "test", 1e-14, 10)
    p = -course.g
    slope = dot(course.g, p)
    for first in (1e-4, 1.0, 50.0):
        step = search(course, p, slope, first, 0.3)
        assert step is not None
        gain = course.E - step.E
        assert gain >= 1e-4 * step.length * abs(slope)
        assert abs(step.slope) <= 0.3 * abs(slope)
        assert step.slope == pytest.approx(dot(step.g, p))


def test_limit_and_stall_are_said(strained):
    _, report = minimise(strained, "fire", limit=3)
    assert not report.converged
    assert "limit of 3 iterations" in report.reason
    _, report = minimise(strained, "lbfgs", tolerance=1e-25, limit=20_000)
    assert not report.converged
    assert "rounding" in report.reason


def test_same_bits_again(strained):
    a, b = (minimise(strained, "auto", tolerance=1e-12) for _ in range(2))
    assert np.array_equal(a.packing.position, b.packing.position)
    assert np.array_equal(a.report.history, b.report.history)


@pytest.mark.parametrize("length, stiffness", [(1e-3, 1.0), (40.0, 1e6)])
def test_no_length_or_stiffness_is_special(length, stiffness):
    """The same packing in other units takes the same way, but for rounding."""
    plain = random_packing(100, 0.88, seed=4)
    other = random_packing(100, 0.88, seed=4, length=length, law=PowerLaw(stiffness=stiffness))
    a, b = minimise(plain, "lbfgs"), minimise(other, "lbfgs")
    assert measure(b.packing).pressure / stiffness == pytest.approx(measure(a.packing).pressure, rel=1e-6)
    assert abs(a.report.iterations - b.report.iterations) <= 0.3 * a.report.iterations


def test_bad_names_and_numbers_are_refused(strained):
    with pytest.raises(InputError, match=r"unknown method 'lbgfs'.*Did you mean 'lbfgs'"):
        minimise(strained, "lbgfs")
    with pytest.raises(InputError, match="unknown preconditioner"):
        minimise(strained, "lbfgs", "contact")
    with pytest.raises(InputError, match="auto chooses"):
        minimise(strained, "auto", "contacts")
    with pytest.raises(InputError, match="tolerance"):
        minimise(strained, tolerance=0.0)


def test_sums_in_parts():
    rng = np.random.default_rng(1)
    for n in (1, 7, 8, 9, 1000):
        u, v = rng.standard_normal((2, n, 2))
        assert dot(u, v) == pytest.approx(np.sum(u * v), abs=1e-12)
        assert largest(u) == np.abs(u).max()
    u[3, 1] = np.nan
    assert np.isnan(largest(u))


def test_two_discs_on_a_line_settle_where_they_touch():
    """Three grains in a narrow cell: two that overlap part to their touching distance exactly."""
    cell = Cell(vectors=(10.0, 10.0))
    packing = Packing(cell, np.array([[1.0, 1.0], [2.5, 1.0], [6.0, 6.0]]), np.ones(3))
    relaxed, report = minimise(packing, "lbfgs")
    assert report.converged
    gap = np.linalg.norm(relaxed.position[1] - relaxed.position[0]) - 2
    assert abs(gap) <= 2 * report.tolerance
