"""Bonds: the impulses of contacts inside bodies of merged grains, kept for the moment when they open again."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._jit import device, kernel
from ..array_types import BoolArray, FloatArray, IntArray
from ..state.bodies import GrainArrays
from ..state.contacts import ContactArrays
from ..state.saved import SavedPart

ROOM = 8  # contacts that a grain keeps; those of a pair find room with either grain
NOBODY = -2_147_483_648


@device
def turned_by(q, x, y, z, back):
    """A vector turned by the unit quaternion q (w first), or back."""
    w, a, b, c = q[0], q[1], q[2], q[3]
    if back:
        a, b, c = -a, -b, -c
    u, v, t = 2.0 * (b * z - c * y), 2.0 * (c * x - a * z), 2.0 * (a * y - b * x)
    return x + w * u + b * t - c * v, y + w * v + c * u - a * t, z + w * t + a * v - b * u


@device
def bond_of(i, other, partner):
    """Where grain i keeps its bond with ``other``; -1: it keeps none."""
    for n in range(ROOM):
        if partner[i, n] == other:
            return n
    return -1


@device
def room_of(i, body, partner):
    """Where grain i can keep a bond: in an empty place, or in that of somebody it has parted from; -1: nowhere."""
    for n in range(ROOM):
        if partner[i, n] == NOBODY or (partner[i, n] >= 0 and body[partner[i, n]] != body[i]):
            return n
    return -1


@kernel
def keep_impulses(
    contacts: ContactArrays,
    inside: IntArray,
    orientation: FloatArray,
    grains: GrainArrays,
    partner: IntArray,
    kept: FloatArray,
) -> None:
    """Keep the impulses of the contacts ``inside``, in the frame of the grain that keeps them, as they act on the other."""
    a, b, impulse, first = contacts.a, contacts.b, contacts.impulse, grains.first
    for c in inside:
        i, j, sign = a[c], b[c], 1.0
        n = bond_of(i, j, partner)
        if n < 0 and j >= 0:
            i, j, sign, n = j, i, -1.0, bond_of(j, i, partner)
        if n < 0:  # a new one
            i, j, sign = a[c], b[c], 1.0
            n = room_of(i, grains.body, partner)
        if n < 0 and j >= 0:
            i, j, sign, n = j, i, -1.0, room_of(j, grains.body, partner)
        if n < 0:
            continue
        partner[i, n] = j
        q = orientation[first + i]
        kept[i, n, 0] = impulse[c, 0]
        for f in (1, 4):
            x, y, z = turned_by(q, sign * impulse[c, f], sign * impulse[c, f + 1], sign * impulse[c, f + 2], True)
            kept[i, n, f], kept[i, n, f + 1], kept[i, n, f + 2] = x, y, z


@kernel
def recall_impulses(contacts: ContactArrays, orientation: FloatArray, first: int, partner: IntArray, kept: FloatArray) -> None:
    """Give contacts without an impulse the one that was kept for them; grain i has the row ``first`` + i of the bodies. What was kept for
    others has been outlived, and is forgotten."""
    a, b, normal, impulse = contacts.a, contacts.b, contacts.normal, contacts.impulse
    for c in range(len(a)):
        i, j, sign = a[c], b[c], 1.0
        n = bond_of(i, j, partner)
        if n < 0 and j >= 0:
            i, j, sign, n = j, i, -1.0, bond_of(j, i, partner)
        if n < 0:
            continue
        partner[i, n] = NOBODY
        if impulse[c, 0] != 0.0:
            continue
        q = orientation[first + i]
        impulse[c, 0] = kept[i, n, 0]
        for f in (1, 4):
            x, y, z = turned_by(q, kept[i, n, f], kept[i, n, f + 1], kept[i, n, f + 2], False)
            impulse[c, f], impulse[c, f + 1], impulse[c, f + 2] = sign * x, sign * y, sign * z
        along = impulse[c, 1] * normal[c, 0] + impulse[c, 2] * normal[c, 1] + impulse[c, 3] * normal[c, 2]
        for f in range(3):
            impulse[c, 1 + f] -= along * normal[c, f]


class Bonds:
    """Impulses of contacts that are inside bodies of merged grains: ``partner`` (N, 8) grain, or -1 - wall; ``kept`` (N, 8, 7)."""

    def __init__(self) -> None:
        self.partner = np.full((0, ROOM), NOBODY, np.int32)
        self.kept = np.zeros((0, ROOM, 7))

    def reserve(self, grains: int) -> None:
        """Room for so many grains."""
        have = len(self.partner)
        if have < grains:
            room = max(grains, 5 * have // 4)
            self.partner = np.concatenate([self.partner, np.full((room - have, ROOM), NOBODY, np.int32)])
            self.kept = np.concatenate([self.kept, np.zeros((room - have, ROOM, 7))])

    def keep(self, rows: IntArray, new_row: IntArray) -> BoolArray:
        """All grains but those in ``rows`` have left; ``new_row`` (N before,) is the new row of each, or -1.

        Returns (n,) which of those that stay had a bond with one that has left.
        """
        count = len(rows)
        partner, left = self.partner[rows], self.partner[: len(new_row)][new_row < 0]
        grain = partner >= 0
        moved, other = new_row[partner[grain]], new_row[left[left >= 0]]
        alone = np.zeros(count, bool)
        alone[np.nonzero(grain)[0][moved < 0]] = True
        alone[other[other >= 0]] = True
        partner[grain] = np.where(moved >= 0, moved, NOBODY)
        self.partner[:count], self.kept[:count] = partner, self.kept[rows]
        self.partner[count:] = NOBODY
        return alone

    def checkpoint(self) -> dict[str, Any]:
        return {"partner": self.partner, "kept": self.kept}

    @staticmethod
    def check_saved(part: SavedPart, grains: int, walls: int) -> None:
        """Refuse a checkpoint that must not be trusted."""
        partner = part.array("partner", np.int32, (None, None))
        if len(partner) < grains:
            raise part.refuse("partner", f"must have {grains} rows or more")
        known = partner[:grains][partner[:grains] != NOBODY]
        if known.size and not -walls <= known.min() <= known.max() < grains:
            raise part.refuse("partner", "is no grain or wall")
        part.array("kept", np.float64, (*partner.shape, 7))

    def restore(self, saved: dict[str, Any]) -> None:
        self.partner, self.kept = np.array(saved["partner"]), np.array(saved["kept"])
