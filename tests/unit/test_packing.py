"""Packings and cells: what they hold, and what they refuse."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from granum.checks import InputError
from granum.contact.power import HERTZ, PowerLaw
from granum.quasistatic.energy import PackingEnergy
from granum.quasistatic.packing import Packing, ball_volume, closest, random_packing, shares
from granum.scene.cell import Cell, pure_shear, simple_shear
from granum.scene.sizes import Discrete, Uniform

SQUARE = Cell(vectors=(1.0, 1.0))


# Packings. -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dim, phi", [(2, 0.84), (3, 0.64)])
def test_random_packing(dim, phi):
    packing = random_packing(101, phi, dim=dim, law=HERTZ, seed=7, length=2.0)
    assert (packing.count, packing.dim, packing.law) == (101, dim, HERTZ)
    assert packing.phi == pytest.approx(phi, rel=1e-14)
    assert packing.cell.volume == pytest.approx(2.0**dim)
    assert ((packing.position >= 0) & (packing.position < 2)).all()
    sizes, numbers = np.unique(packing.radius.round(12), return_counts=True)
    assert sizes[1] / sizes[0] == pytest.approx(1.4)
    assert abs(numbers[0] - numbers[1]) == 1
    again = random_packing(101, phi, dim=dim, law=HERTZ, seed=7, length=2.0)
    assert_array_equal(again.position, packing.position)
    assert not np.array_equal(random_packing(101, phi, dim=dim, seed=8).position, packing.position / 2)


def test_scales():
    packing = Packing(SQUARE, np.random.default_rng(0).random((4, 2)), np.full(4, 0.05), PowerLaw(alpha=2.5, stiffness=8.0))
    assert packing.diameter == pytest.approx(0.1)
    assert packing.force_scale == pytest.approx(8 * 0.1**1.5)
    assert packing.pressure_scale == pytest.approx(8 * 0.1**0.5)
    assert packing.phi == pytest.approx(4 * math.pi * 0.05**2)
    assert packing.at(0.5).phi == pytest.approx(0.5)
    assert packing.grown(1.1).phi == pytest.approx(1.21 * packing.phi)
    assert ball_volume(3, 2.0) == pytest.approx(4 / 3 * math.pi * 8)


def test_moved_and_deformed_stay_in_the_cell():
    packing = random_packing(50, 0.8, seed=1)
    moved = packing.moved(packing.position + np.array([3.25, -0.5]))
    assert ((moved.position >= 0) & (moved.position <= 1)).all()
    leaning = packing.deformed(simple_shear(2, 0.75))
    assert_allclose(leaning.cell.vectors, [[1, 0], [-0.25, 1]])
    part = leaning.position @ leaning.cell.inverse
    assert ((part >= -1e-15) & (part <= 1 + 1e-15)).all()
    whole = (leaning.position - packing.position @ simple_shear(2, 0.75).T) @ leaning.cell.inverse
    assert_allclose(whole, np.rint(whole), atol=1e-13)
    assert leaning.phi == pytest.approx(packing.phi)


def test_shares_are_exact():
    rng = np.random.default_rng(0)
    sizes = shares(Discrete(diameters=(1.0, 2.0, 3.0), fractions=(0.5, 0.25, 0.25)), rng, 100)
    assert [int(np.sum(sizes == d)) for d in (1.0, 2.0, 3.0)] == [50, 25, 25]
    assert len(shares(Discrete(diameters=(1.0, 1.4)), rng, 7)) == 7
    wide = shares(Uniform(lower=1.0, upper=2.0), rng, 1000)
    assert 1 <= wide.min() < 1.1 < 1.9 < wide.max() <= 2


@pytest.mark.parametrize("phi", [0.0, -0.1, float("nan"), 0.92])
def test_impossible_fractions_are_refused(phi):
    with pytest.raises(InputError, match=r"phi must be above 0 and at most 0\.9069"):
        random_packing(100, phi, sizes=Discrete(diameters=(1.0,)))


def test_impossible_fractions_in_3d_and_of_several_sizes():
    with pytest.raises(InputError, match=r"at most 0\.7405.*jam near 0\.64"):
        random_packing(100, 0.75, dim=3, sizes=Discrete(diameters=(1.0,)))
    with pytest.raises(InputError, match=r"at most 0\.9091"):  # Florian's bound of discs from 1 to 1.4
        random_packing(100, 0.92)
    assert random_packing(100, 0.908).phi == pytest.approx(0.908)
    assert random_packing(100, 0.75, dim=3).phi == pytest.approx(0.75)  # small balls might fill gaps


def test_closest_packing_of_equal_grains_is_the_lattice():
    assert closest(2, 1.0) == pytest.approx(np.pi / np.sqrt(12))
    assert closest(3, 1.0) == pytest.approx(np.pi / np.sqrt(18))
    assert closest(2, 1e-9) == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: random_packing(2, 0.8), "count must be at least 3 grains"),
        (lambda: random_packing(10, 0.8, dim=4), "dim must be 2 or 3"),
        (lambda: random_packing(10, 0.8, length=-1.0), "length must be a finite number above 0 m"),
        (lambda: random_packing(10, 0.8).at(-0.1), "phi must be a finite number above 0"),
        (lambda: Packing(SQUARE, np.zeros((2, 2)), np.ones(2)), "at least 3 grains"),
        (lambda: Packing(SQUARE, np.zeros((5, 3)), np.ones(5)), "as many columns as the cell"),
        (lambda: Packing(SQUARE, np.zeros((5, 2)), np.ones(4)), r"radius must have shape \(5,\)"),
        (lambda: Packing(SQUARE, np.full((5, 2), np.nan), np.ones(5)), "must be finite"),
        (lambda: Packing(SQUARE, np.zeros((5, 2)), np.zeros(5)), "above 0 m"),
        (lambda: PackingEnergy(Packing(SQUARE, np.full((5, 2), 0.3), np.full(5, 0.1))), "are in one point"),
    ],
)
def test_bad_packings_are_refused_in_words(make, words):
    with pytest.raises(InputError, match=words):
        make()


def test_images_in_one_point_are_in_one_point():
    packing = random_packing(5, 0.5)
    with pytest.raises(InputError, match="grains 1 and 3 are in one point"):
        PackingEnergy(replace(packing, position=np.where(np.arange(5)[:, None] == 3, packing.position[1] + [1, -2], packing.position)))


@pytest.mark.parametrize("given", [{"alpha": 1.5}, {"alpha": float("nan")}, {"stiffness": 0.0}, {"stiffness": float("inf")}])
def test_bad_laws_are_refused(given):
    with pytest.raises(InputError):
        PowerLaw(**given)


# Cells. --------------------------------------------------------------------------------------------------------------------


def test_cell():
    cell = Cell(vectors=(2.0, 3.0, 4.0))
    assert (cell.dim, cell.volume, cell.upright) == (3, pytest.approx(24.0), True)
    assert_allclose(cell.heights, [2, 3, 4])
    leaning = cell.sheared(0.5)
    assert not leaning.upright
    assert leaning.volume == pytest.approx(24)
    assert_allclose(leaning.vectors[1], [1.5, 3, 0])
    assert_allclose(leaning.heights, [4 / math.sqrt(5), 3, 4])
    stretched = cell.stretched(0.25)
    assert_allclose(stretched.lengths, [2.5, 2.4, 4])
    assert_allclose(pure_shear(2, 0.25), [[1.25, 0], [0, 0.8]])


@pytest.mark.parametrize("dim", [2, 3])
def test_reduced_cells_are_the_same_lattice(dim):
    """Whole steps between old and new vectors, also where the first does not lie along x."""
    rng = np.random.default_rng(dim)
    cell = Cell(vectors=np.tril(rng.uniform(-3, 3, (dim, dim)), -1) + np.eye(dim))
    reduced = cell.shortest()
    assert (abs(np.tril(reduced.vectors, -1)) <= 0.5 + 1e-14).all()
    turn, _ = np.linalg.qr(rng.standard_normal((dim, dim)))
    turn[:, 0] *= np.linalg.det(turn)
    assert_allclose(cell.deformed(turn).shortest().vectors, reduced.vectors @ turn.T, atol=1e-13)
    steps = reduced.vectors @ cell.inverse
    assert_allclose(steps, np.rint(steps), atol=1e-13)
    assert reduced.volume == pytest.approx(cell.volume)
    quarter = Cell(vectors=(1.0, 1.0)).deformed(np.array([[0.0, -1.0], [1.0, 0.0]]))
    assert_allclose(quarter.shortest().vectors, [[0, 1], [-1, 0]])


def test_wrap():
    cell = Cell(vectors=(1.0, 2.0)).sheared(0.3)
    x = np.array([[5.2, -7.1, 9.0], [0.1, 0.2, -1.0]])
    wrapped = cell.wrap(x)
    part = wrapped[:, :2] @ cell.inverse
    assert ((part >= 0) & (part < 1)).all()
    assert_array_equal(wrapped[:, 2], x[:, 2])  # open axis
    steps = (x - wrapped)[:, :2] @ cell.inverse
    assert_allclose(steps, np.rint(steps), atol=1e-14)
    assert_allclose(wrapped[1], x[1], atol=1e-15)


@pytest.mark.parametrize(
    "vectors", [(1.0, 0.0), (1.0, -1.0), (-1.0, -1.0), [[1, 0], [1, 0]], [[0, 1], [1, 0]], (np.nan, 1.0), (1.0,) * 4, [[1, 2]]]
)
def test_bad_cells_are_refused(vectors):
    with pytest.raises(InputError):
        Cell(vectors=vectors)
