"""Impulses that are kept for contacts inside of merged grains: given back once, and forgotten with the contact."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose

from granum.kernel_groups import call
from granum.reduction.bonds import NOBODY, Bonds, recall_impulses
from granum.state.contacts import ContactArrays


def contact(normal_impulse):
    """Of grain 0 with grain 1, along x, with a normal impulse and no other."""
    none, one = np.zeros(1, np.int32), np.ones(1, np.int32)
    impulse = np.zeros((1, 7))
    impulse[0, 0] = normal_impulse
    return ContactArrays(none, one, none.copy(), np.array([[1.0, 0, 0]]), np.zeros(1), impulse, np.zeros(1), np.ones(1, np.int64))


def kept():
    bonds = Bonds()
    bonds.reserve(2)
    bonds.partner[0, 3] = 1
    bonds.kept[0, 3] = (2.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.1)
    return bonds


def recall(contacts, bonds):
    call(recall_impulses, contacts, np.tile([1.0, 0, 0, 0], (3, 1)), 1, bonds.partner, bonds.kept)
    return contacts.impulse[0]


def test_a_contact_that_opens_has_its_impulse_once():
    bonds = kept()
    assert_allclose(recall(contact(0.0), bonds), (2.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.1))
    assert (bonds.partner == NOBODY).all()
    assert not recall(contact(0.0), bonds).any()


def test_what_was_kept_for_a_contact_that_has_an_impulse_is_forgotten():
    """Else it would be given to the next contact of the two, much later."""
    bonds = kept()
    assert_allclose(recall(contact(3.0), bonds), (3.0, 0, 0, 0, 0, 0, 0))
    assert (bonds.partner == NOBODY).all()
