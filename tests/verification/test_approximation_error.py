"""The approximation error of model reduction (MR (20)-(22)): exact for motions made up of rigid ones and others across them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from granum.reduction.error import FREE, HELD, approximation_error, merged_throughout, nearest_shape, split_error

ROUNDING = 1e-12


def turn(axis: np.ndarray, angle: float) -> np.ndarray:
    """(3, 3) by Rodrigues' formula."""
    x, y, z = axis / np.linalg.norm(axis)
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k


def across(shape: np.ndarray, mass: np.ndarray, motion: np.ndarray) -> np.ndarray:
    """``motion`` without its part along the six small rigid motions of the shape: a plain least-squares twin."""
    arm = shape - mass @ shape / mass.sum()
    rows = [np.tile(axis, (len(shape), 1)) for axis in np.eye(3)] + [np.cross(axis, arm) for axis in np.eye(3)]
    scale = np.sqrt(mass)[:, None]
    basis = np.stack([(scale * row).ravel() for row in rows], axis=1)
    return motion - ((basis @ np.linalg.lstsq(basis, (scale * motion).ravel(), rcond=None)[0]).reshape(-1, 3) / scale)


@pytest.fixture
def heap(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Three aggregates of 40, 7 and 2 grains, 5 grains held by a wall, 6 free ones, in mixed order."""
    kind = rng.permutation(np.repeat([0, 1, 2, HELD, FREE], [40, 7, 2, 5, 6]))
    radius = rng.uniform(0.004, 0.006, len(kind))
    return {"kind": kind, "radius": radius, "mass": 2500 * 4 / 3 * np.pi * radius**3, "reduced": rng.normal(0, 0.05, (len(kind), 3))}


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(5)


def test_rigid_motions_of_aggregates_are_parallel(heap, rng):
    """E_perp is 0 to rounding, however far aggregates were moved and turned; of held grains it is all of the error."""
    reduced, kind = heap["reduced"], heap["kind"]
    full = reduced.copy()
    for k in range(3):
        full[kind == k] = full[kind == k] @ turn(rng.normal(size=3), 1.0 + k).T + rng.normal(0, 0.1, 3)
    moved = rng.normal(0, 1e-3, full.shape)
    full += np.where((kind < 0)[:, None], moved, 0.0)
    perp, par = split_error(full, reduced, heap["mass"], kind)
    assert_allclose(perp[kind >= 0], 0.0, atol=ROUNDING)
    assert_allclose(par[kind >= 0], (full - reduced)[kind >= 0], atol=ROUNDING)
    assert_allclose(perp[kind == HELD], moved[kind == HELD], atol=ROUNDING)
    assert_allclose(par[kind == FREE], moved[kind == FREE], atol=ROUNDING)
    assert not perp[kind == FREE].any()
    assert not par[kind == HELD].any()


def test_motions_across_the_rigid_ones_are_perpendicular(heap, rng):
    """A small motion with no momentum and no angular momentum is found whole, on top of any rigid motion of the aggregate."""
    reduced, kind, mass = heap["reduced"], heap["kind"], heap["mass"]
    full, expected = reduced.copy(), np.zeros_like(reduced)
    for k in range(3):
        of = kind == k
        rigid = reduced[of] @ turn(rng.normal(size=3), 0.4).T + rng.normal(0, 0.1, 3)
        expected[of] = across(rigid, mass[of], rng.normal(0, 1e-4, rigid.shape))
        full[of] = rigid + expected[of]
    perp, par = split_error(full, reduced, mass, kind)
    # A motion across has no moment about the centre, so the turned shape is the nearest one exactly, not to first order only.
    assert_allclose(perp, expected, atol=ROUNDING)
    assert_allclose(perp + par, full - reduced, atol=ROUNDING)


def test_parts_are_orthogonal(heap, rng):
    """E_perp has neither momentum nor angular momentum, so it is orthogonal to E_par for small turns."""
    reduced, kind, mass = heap["reduced"], heap["kind"], heap["mass"]
    full = reduced + rng.normal(0, 1e-3, reduced.shape)
    perp, par = split_error(full, reduced, mass, kind)
    for k in range(3):
        of = kind == k
        place = full[of] - perp[of]
        arm = place - mass[of] @ place / mass[of].sum()
        size = mass[of] @ np.linalg.norm(perp[of], axis=1)
        assert_allclose(mass[of] @ perp[of], 0.0, atol=ROUNDING * size)
        assert_allclose(mass[of] @ np.cross(arm, perp[of]), 0.0, atol=ROUNDING * size)
        product = mass[of] @ (perp[of] * par[of]).sum(axis=1)
        # E_par is a finite turn: what is left is of second order in its angle, here below 1e-3 / 0.05.
        assert abs(product) < 0.05 * np.sqrt((mass[of] @ (perp[of] ** 2).sum(axis=1)) * (mass[of] @ (par[of] ** 2).sum(axis=1))) + 1e-18


def test_nearest_shape_beats_every_other_place(heap, rng):
    reduced, kind, mass = (heap[name][heap["kind"] == 1] for name in ("reduced", "kind", "mass"))
    target = reduced[:, [1, 0, 2]] + 0.01  # a mirror image: no rotation gets there
    group = np.zeros(len(kind), np.int64)
    best = nearest_shape(reduced, target, mass, group)
    distance = np.linalg.norm(best[:, None] - best, axis=2)
    assert_allclose(distance, np.linalg.norm(reduced[:, None] - reduced, axis=2), atol=ROUNDING)
    assert np.linalg.det(np.linalg.lstsq(reduced - reduced.mean(axis=0), best - best.mean(axis=0), rcond=None)[0]) > 0
    least = mass @ ((best - target) ** 2).sum(axis=1)
    centre = mass @ best / mass.sum()
    for _ in range(50):
        other = (best - centre) @ turn(rng.normal(size=3), 1e-3).T + centre + rng.normal(0, 1e-4, 3)
        assert mass @ ((other - target) ** 2).sum(axis=1) > least


def test_norms_are_in_diameters():
    """Two free grains, one of which is two of its diameters away: rms sqrt(2), largest 2."""
    full = np.array([[0.0, 0, 0], [0, 0, 0.04]])
    found = approximation_error(full, np.zeros((2, 3)), np.array([0.1, 0.01]), np.ones(2), np.full(2, FREE))
    assert (found.rms, found.largest) == (pytest.approx(np.sqrt(2)), pytest.approx(2.0))
    assert (found.perpendicular, found.parallel) == (0.0, pytest.approx(np.sqrt(2)))


def test_parts_add_up_by_pythagoras(heap, rng):
    """Of equal grains that are displaced a little: rms^2 = perpendicular^2 + parallel^2, but for squares of turns."""
    full = heap["reduced"] + rng.normal(0, 1e-6, heap["reduced"].shape)
    n = len(full)
    found = approximation_error(full, heap["reduced"], np.full(n, 0.005), np.ones(n), heap["kind"])
    assert found.perpendicular > 0
    assert found.parallel > 0
    assert found.rms**2 == pytest.approx(found.perpendicular**2 + found.parallel**2, rel=1e-4)  # turns of 1e-6 / 0.05


def test_grains_count_as_merged_if_they_were_so_all_the_time():
    """Two walls that hold grains; aggregates are known by their grains, not by their numbers."""
    first = np.array([-1, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 0])
    last = np.array([2, 0, -1, 1, 0, 6, 6, 3, 3, 4, -1, 4, 4, 7])
    kind = merged_throughout(first, last, 2)
    assert kind[0] == FREE  # merged later
    assert kind[1] == kind[3] == HELD
    assert kind[2] == FREE  # let go
    assert kind[4] == FREE  # another wall
    assert kind[5] == kind[6] >= 0  # another number
    assert kind[7] == kind[8] >= 0
    assert (kind[9:13] == FREE).all()  # lost a grain; became part of another
    assert kind[13] == FREE  # from a wall to an aggregate
    assert sorted(set(kind[kind >= 0])) == [0, 1]
    nothing = merged_throughout(np.full(3, -1), np.full(3, -1), 1)
    assert (nothing == FREE).all()
