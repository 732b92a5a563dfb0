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
from .lanes import ROLLING, SPRING
from .pairs import FORCE, PART, RANKS, ROW, carry_springs
from .rows import LANES, LINE, WIDE, in_lines
from .seam import seam_of

SKIN = Skin(least=0.15, ahead=20, slow_ahead=100, slow_skin=0.5)
SPRINGS, FORCES = (0, 1, 2, 3, 11, 12, 13), (4, 5, 6, 8, 9, 10)  # columns of what is kept of a pair; the last three with rolling
QUICK = 3  # candidates that are looked at and pushed while a team does one thing


def _aligned(rows: FloatArray) -> FloatArray:
    """The same numbers where a line of the cache begins."""
    if rows.ctypes.data % LINE == 0:
        return rows
    room = in_lines(*rows.shape)
    room[:] = rows
    return room


class Relisted(NamedTuple):
    """How a neighbour list has changed."""

    whole: bool  # made anew
    moved: BoolArray  # (N before,) grains that got another rank, if some were appended
    added: IntArray  # those, and new ones


class TouchingPlaces(NamedTuple):
    """Of the pairs that touch, in the order of the list."""

    a: IntArray  # rank
    b: IntArray  # rank
    place: IntArray  # in the list


class TouchingPairs:
    """``count`` pairs; ``rows``, ``listed``, ``pairs`` and ``seam`` are the groups that kernels take, renewed when the list changes."""

    def __init__(self, neighbours: NeighbourList, rolling: bool) -> None:
        """``rolling``: contacts resist it."""
        self.neighbours = neighbours
        self.springs = ROLLING if rolling else SPRING  # numbers of a contact
        self._springs: tuple[int, ...] = SPRINGS[: self.springs]
        self._forces: tuple[int, ...] = FORCES if rolling else FORCES[:3]
        self.period, self.team = neighbours.period, neighbours.team
        self.count = 0
        self._place_rows(np.zeros((0, ROW)), np.zeros((0, 4)), np.zeros((0, WIDE)))
        self._make_room()

    def found(self) -> TouchingPlaces:
        """The pairs that touch."""
        place = np.flatnonzero(self.pairs.touched).astype(np.int32)
        return TouchingPlaces(self.listed.owner[place], self.listed.candidate[place], place)

    @property
    def spring(self) -> FloatArray:
        """(count, 4 or 7) of the pairs that touch."""
        return self.pairs.kept[self.found().place][:, self._springs]

    @property
    def force(self) -> FloatArray:
        """(count, 3 or 6) of the pairs that touch: force [N] and rolling torque [N m] on b."""
        return self.pairs.kept[self.found().place][:, self._forces]

    def _place_rows(self, grain: FloatArray, sphere: FloatArray, force: FloatArray) -> None:
        near = self.neighbours
        owner = np.repeat(np.arange(len(near.order), dtype=np.int32), np.diff(near.candidate_first))
        grain, sphere, force = (_aligned(rows) for rows in (grain, sphere, force))
        self.rows = Rows(near.rank, sphere, sphere if self.period is None else np.zeros_like(sphere), grain, force)
        self.listed = Listed(near.candidate_first, owner, near.candidate, near.reference, near.skin)
        self.things = len(owner) // QUICK  # that threads may share
        self.seam = seam_of(self.listed, self.team.woken(self.things))

    def _make_room(self) -> None:
        places, chunks = len(self.listed.owner), -(-len(self.rows.force) // RANKS)
        kept, turn = in_lines(places, WIDE if self.springs == SPRING else 2 * WIDE), in_lines(places if len(self.seam.grain) else 0, WIDE)
        a, b, place = (np.zeros(places + chunks * LANES, np.int32) for _ in range(3))
        found = np.full(chunks, -1, np.int32)
        self.pairs = Pairs(
            np.zeros(places + LANES, np.uint8)[:places], kept, turn.reshape(-1), a, b, place, found, np.zeros((chunks, PART))
        )

    def update(self, bodies: Bodies, h: float) -> Relisted | None:
        """A new neighbour list where grains came or left their skin; springs, forces and rows move to their new places.

        The list may change twice in a step, when grains come and when others leave their skin: the pairs move on with it.
        """
        near, old, (a, b, place) = self.neighbours, self.pairs, self.found()
        lists, old_rank, a, b = near.rebuilds, near.rank.copy(), near.order[a], near.order[b]
        if not near.update(bodies, h):
            return None
        rank, known, (_, sphere, _, grain, force) = near.rank, len(old_rank), self.rows
        moved = rank[:known] != old_rank
        if near.rebuilds == lists:  # some were appended: the others keep their places
            added = near.order[len(grain) :]
            came = added[added < known]
            left = old_rank[came]
            grain, sphere, force = (
                np.concatenate([rows, np.zeros((len(added) - len(came), rows.shape[1])), rows[left]])  # new grains are listed first
                for rows in (grain, sphere, force)
            )
            sphere[left, :3] = np.inf  # an empty rank is out of everybody's reach
            again = moved[a] | moved[b]  # pairs that get another place
            changed = Relisted(False, moved, added)
        else:
            places = np.full(len(near.order), -1)
            places[rank[:known]] = old_rank
            grain, sphere, force = (
                np.where(places[:, None] >= 0, rows[places], 0.0) if known else np.zeros((len(places), rows.shape[1]))
                for rows in (grain, sphere, force)
            )
            again = np.ones(len(place), bool)
            changed = Relisted(True, moved, rank[:0])
        self._place_rows(grain, sphere, force)
        self._make_room()
        stay = place[~again]
        self.pairs.kept[stay], self.pairs.touched[stay] = old.kept[stay], 1
        carry_springs(a[again], b[again], place[again], old.kept, rank, self.listed, self.pairs)
        return changed

    def keep(self, new_row: IntArray) -> None:
        """Grains leave: ``new_row`` (N before,) is the new row of each, or -1. Springs of the others stay."""
        near, pairs, (a, b, place) = self.neighbours, self.pairs, self.found()
        empty = np.zeros(len(near.order), bool)
        empty[near.rank[new_row[: len(near.rank)] < 0]] = True
        apart = place[empty[a] | empty[b]]
        pairs.kept[apart], pairs.touched[apart], pairs.found[:] = 0.0, 0, -1
        self.count = len(place) - len(apart)
        self.rows.sphere[empty, :3] = np.inf
        near.keep(new_row)
        self._place_rows(self.rows.grain, self.rows.sphere, self.rows.force)

    def checkpoint(self) -> dict[str, Any]:
        """All that the next step depends on."""
        return {
            "neighbours": self.neighbours.checkpoint(),
            "force": self.rows.force[:, :FORCE],
            "spring": self.pairs.kept[:, self._springs],
            "touched": self.pairs.touched,
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """Continue from a checkpoint."""
        self.neighbours.restore(saved["neighbours"])
        force = np.zeros((len(saved["force"]), WIDE))
        force[:, :FORCE] = saved["force"]
        self._place_rows(np.zeros((len(force), ROW)), np.zeros((len(force), 4)), force)
        self.rows.sphere[self.neighbours.order < 0, :3] = np.inf
        self._make_room()
        self.pairs.touched[:] = saved["touched"] != 0
        self.pairs.kept[:, self._springs] = saved["spring"]
        self.pairs.kept[self.pairs.touched == 0] = 0.0
        self.count = int(np.count_nonzero(self.pairs.touched))
