"""Pairs of grains that touch: the neighbour list, the rows of the grains in it, and the springs of its candidates.

The arrays live as long as the list; when it changes, what they hold moves to its new place.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..array_types import BoolArray, FloatArray, IntArray
from ..detection.neighbours import NeighbourList, Skin
from ..state.bodies import Bodies
from .groups import Listed, Pairs, Rows
from .pairs import CHUNK, FORCE, ROW, carry_springs

SKIN = Skin(least=0.15, ahead=20, slow_ahead=100, slow_skin=0.5)


class Relisted(NamedTuple):
    """How a neighbour list has changed."""

    whole: bool  # made anew
    moved: BoolArray  # (N before,) grains that got another rank, if some were appended
    added: IntArray  # those, and new ones


class TouchingPairs:
    """``count`` pairs; ``rows``, ``listed`` and ``pairs`` are the groups that kernels take, renewed when the list changes."""

    def __init__(self, neighbours: NeighbourList, springs: int, forces: int) -> None:
        """``springs`` and ``forces`` are numbers of a contact."""
        self.neighbours, self.springs, self.forces = neighbours, springs, forces
        self.period, self.team = neighbours.period, neighbours.team
        self.count = 0
        self._place_rows(np.zeros((0, ROW)), np.zeros((0, 4)), np.zeros((0, FORCE)))
        self._make_room(0)

    @property
    def spring(self) -> FloatArray:
        """(count, 4 or 7) of the pairs that touch."""
        return self.pairs.spring[self.pairs.place[: self.count]]

    def _place_rows(self, grain: FloatArray, sphere: FloatArray, force: FloatArray) -> None:
        near = self.neighbours
        self.rows = Rows(near.rank, sphere, sphere if self.period is None else np.zeros_like(sphere), grain, force)
        self.listed = Listed(near.candidate_first, near.candidate, near.reference, near.skin)

    def _make_room(self, places: int) -> None:
        a, b, place = (np.zeros(places + 1, np.int32) for _ in range(3))
        force, spring = np.zeros((places, self.forces)), np.zeros((places, self.springs))
        turn, parts = np.zeros((places if self.team.threads > 1 else 0, 5)), np.zeros((places // CHUNK + 1, 3))
        self.pairs = Pairs(a, b, place, force, np.zeros(places, np.uint8), spring, turn, parts)

    def update(self, bodies: Bodies, h: float) -> Relisted | None:
        """A new neighbour list where grains came or left their skin; springs, forces and rows move to their new places.

        The list may change twice in a step, when grains come and when others leave their skin: the pairs move on with it.
        """
        near, count, old = self.neighbours, self.count, self.pairs
        lists, old_rank = near.rebuilds, near.rank.copy()
        a, b, place = near.order[old.a[:count]], near.order[old.b[:count]], old.place[:count].copy()
        again = np.ones(count, bool)  # pairs that get another place
        if not near.update(bodies, h):
            return None
        rank, known, (_, sphere, _, grain, force) = near.rank, len(old_rank), self.rows
        moved = rank[:known] != old_rank
        self._make_room(int(near.candidate_first[-1]))
        if near.rebuilds == lists:  # some were appended: the others keep their places
            added = near.order[len(grain) :]
            came = added[added < known]
            left = old_rank[came]
            grain, sphere, force = (
                np.concatenate([rows, np.zeros((len(added) - len(came), rows.shape[1])), rows[left]])  # new grains are listed first
                for rows in (grain, sphere, force)
            )
            sphere[left, :3] = np.inf  # an empty rank is out of everybody's reach
            self.pairs.spring[: len(old.spring)], self.pairs.touched[place] = old.spring, 1
            again = moved[a] | moved[b]
            changed = Relisted(False, moved, added)
        else:
            places = np.full(len(near.order), -1)
            places[rank[:known]] = old_rank
            grain, sphere, force = (
                np.where(places[:, None] >= 0, rows[places], 0.0) if known else np.zeros((len(places), rows.shape[1]))
                for rows in (grain, sphere, force)
            )
            changed = Relisted(True, moved, rank[:0])
        self._place_rows(grain, sphere, force)
        found = a[again], b[again], place[again]
        carry_springs(*found, old.spring, rank, self.listed, self.pairs)
        for name, values in zip(("a", "b", "place"), found, strict=True):
            room = getattr(self.pairs, name)
            room[:count] = getattr(old, name)[:count]
            room[:count][again] = values
        return changed

    def keep(self, new_row: IntArray) -> None:
        """Grains leave: ``new_row`` (N before,) is the new row of each, or -1. Springs of the others stay."""
        near, n, pairs = self.neighbours, self.count, self.pairs
        empty = np.zeros(len(near.order), bool)
        empty[near.rank[new_row[: len(near.rank)] < 0]] = True
        apart = empty[pairs.a[:n]] | empty[pairs.b[:n]]
        places = pairs.place[:n][apart]
        pairs.spring[places], pairs.touched[places] = 0.0, 0
        self.count = n - len(places)
        for room in (pairs.a, pairs.b, pairs.place, pairs.force):
            room[: self.count] = room[:n][~apart]
        self.rows.sphere[empty, :3] = np.inf
        near.keep(new_row)
        self._place_rows(self.rows.grain, self.rows.sphere, self.rows.force)

    def checkpoint(self) -> dict[str, Any]:
        """All that the next step depends on."""
        n, pairs = self.count, self.pairs
        return {
            "neighbours": self.neighbours.checkpoint(),
            "force": self.rows.force,
            "spring": pairs.spring,
            "touched": pairs.touched,
            "pairs": {name: getattr(pairs, name)[:n] for name in ("a", "b", "place")},
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """Continue from a checkpoint."""
        self.neighbours.restore(saved["neighbours"])
        force = np.array(saved["force"])
        self._place_rows(np.zeros((len(force), ROW)), np.zeros((len(force), 4)), force)
        self.rows.sphere[self.neighbours.order < 0, :3] = np.inf
        self._make_room(len(saved["spring"]))
        self.pairs.touched[:] = saved["touched"]
        self.pairs.spring[:] = saved["spring"]
        self.pairs.spring[self.pairs.touched == 0] = 0.0
        self.count = len(saved["pairs"]["a"])
        for name, values in saved["pairs"].items():
            getattr(self.pairs, name)[: self.count] = values
