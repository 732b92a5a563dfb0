"""Rattlers, coordination, force distribution: hand-made packings whose numbers can be counted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from granum.checks import InputError
from granum.contact.power import HERTZ, HOOKE
from granum.quasistatic.measure import Parts, force_histogram, force_tolerance, is_jammed, measure, network, parts
from granum.quasistatic.packing import Packing
from granum.scene.cell import Cell
from tests.reference.packings import at_rest, triangular


def with_void(law=HOOKE):
    """A triangular lattice of 8 x 8 discs of 1.02 m without one, and in its place a small disc that touches two of its neighbours, of
    which a second small one hangs.
    """
    lattice = triangular(8, 8, 0.02, law)
    hole = lattice.position[27]
    position = np.delete(lattice.position, 27, axis=0)
    small = np.array([[0.29, 0.0], [0.09, 0.0]]) + hole  # radii 0.21 and 0.05: the first reaches the lattice's grain at 1 m only
    return Packing(lattice.cell, np.concatenate([position, small]), np.concatenate([np.full(63, 0.51), [0.21, 0.05]]), law)


def test_rattlers_are_removed_one_after_the_other():
    """A chain of small discs hangs on one grain of the lattice: all of it goes, the lattice stays."""
    packing = with_void()
    known, net = measure(packing), network(packing)
    assert np.flatnonzero(known.rattlers).tolist() == [63, 64]
    assert known.rattler_count == 2
    # The lattice has 3 x 64 contacts, without the six of the missing grain; two more are those of the chain.
    assert (known.contacts, known.touching) == (3 * 64 - 6, 3 * 64 - 6 + 2)
    assert known.coordination == 2 * known.contacts / 63
    assert net.grains == 63
    assert len(known.forces) == known.contacts


def test_a_grain_with_faint_contacts_on_one_side_is_a_rattler():
    """Three contacts are enough in number, but cannot be in balance: a small disc between two others, and a third one in their gap."""
    lattice = triangular(8, 8, 0.02, HOOKE)
    hole, deep = lattice.position[27], 1e-6
    along = np.array([np.cos(np.pi / 6), np.sin(np.pi / 6)])  # between the neighbours at 0 and 60 degrees
    position, radius = np.delete(lattice.position, 27, axis=0), np.full(63, 0.51)
    leaning = hole + 0.5 * along
    reach = np.linalg.norm(leaning - hole - [1, 0]) - 0.51 + deep
    plug = leaning + (reach + 0.005 - deep) * along  # a small one that only the leaning disc touches
    packing = Packing(lattice.cell, np.concatenate([position, [leaning, plug]]), np.concatenate([radius, [reach, 0.005]]), HOOKE)
    touching = network(packing).touching
    assert np.sum(touching.a == 63) + np.sum(touching.b == 63) == 3
    assert np.flatnonzero(measure(packing).rattlers).tolist() == [63, 64]


def test_a_loose_chain_unravels():
    """A ring of contacts, two for every grain, holds nothing: no backbone, no coordination, not jammed."""
    x = np.stack([np.arange(8) + 0.0, np.full(8, 0.5)], axis=1)
    packing = Packing(Cell(vectors=(8.0, 8.0)), x, np.full(8, 0.505))
    known = measure(packing)
    assert (known.contacts, known.touching, known.coordination, known.mean_force) == (0, 8, 0.0, 0.0)
    assert known.rattlers.all()
    assert not known.jammed
    assert force_tolerance(packing) is None
    assert known.stress[0, 0] > 0  # forces are there and are counted


def test_own_images_count_twice():
    """A grain that meets its own images on all four sides has four contacts, and is jammed by itself."""
    packing = Packing(Cell(vectors=(1.0, 1.0)), np.array([[0.2, 0.2], [0.7, 0.7], [0.72, 0.71]]), np.array([0.505, 0.01, 0.01]))
    known = measure(packing)
    assert known.rattlers.tolist() == [False, True, True]
    assert (known.contacts, known.coordination) == (2, 4.0)
    assert known.jammed
    assert_allclose(known.stress, 0.01 * np.eye(2), rtol=1e-12)


@pytest.mark.parametrize("law", [HOOKE, HERTZ], ids=["hooke", "hertz"])
def test_a_lattice_with_a_void_is_jammed(law):
    """The lattice around a void is jammed, also when forces are left to relax; apart by a little it is not."""
    packing = with_void(law)
    assert is_jammed(packing)
    assert not is_jammed(packing.grown(1 / 1.021))


def test_parts():
    assert parts(np.diag([3.0, 1.0])) == Parts(2.0, 1.0)
    assert parts(np.diag([5.0, 1.0, 3.0])) == pytest.approx(Parts(3.0, 2.0))
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    assert parts(turn @ np.diag([3.0, 1.0]) @ turn.T) == pytest.approx(Parts(2.0, 1.0))


def test_force_distribution():
    known = measure(at_rest(256, 0.9, 2, 2.0))
    histogram = force_histogram(known.forces, bins=40, upper=6.0)
    width = np.diff(histogram.edges)
    assert histogram.counts.sum() == known.contacts
    assert np.sum(histogram.density * width) == pytest.approx(1)
    middle = (histogram.edges[1:] + histogram.edges[:-1]) / 2
    assert np.sum(middle * histogram.density * width) == pytest.approx(1, abs=width[0] / 2)
    with pytest.raises(InputError, match="no contact forces: the packing is unjammed"):
        force_histogram(np.zeros(0))


def test_forces_at_rest_balance_and_give_the_pressure():
    """At rest p V d = sum f l; z is twice the contacts over the grains that are held."""
    packing = at_rest(256, 0.9, 2, 2.0)
    known, net = measure(packing), network(packing)
    held = net.backbone
    assert np.sum(held.force * held.distance) == pytest.approx(2 * known.pressure * packing.cell.volume, rel=1e-9)
    assert known.coordination == 2 * known.contacts / (packing.count - known.rattler_count)
    assert known.jammed
    assert net.unbalance < 1e-9
    assert known.numbers()["rattlers"] == known.rattler_count
    assert force_tolerance(packing) == pytest.approx(1e-6 * known.mean_force)
    assert force_tolerance(packing, 1e-30) > 1e-16  # rounding


def test_shaken_grains_are_still_jammed_but_not_at_rest():
    """Forces that are out of balance by a few parts in a hundred are for the most part in balance."""
    packing = at_rest(256, 0.9, 2, 2.0)
    rng = np.random.default_rng(0)
    shaken = replace(packing, position=packing.position + 1e-3 * packing.diameter * rng.standard_normal(packing.position.shape))
    assert network(shaken).unbalance > 0.01
    assert is_jammed(shaken)
