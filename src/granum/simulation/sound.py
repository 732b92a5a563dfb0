"""What a checkpoint says is checked before a kernel trusts it: shapes, types, ranges and references.

A digest tells of accidents. A file that somebody made may have a right digest and a row number that points anywhere, which a kernel follows
out of its memory. Here every array of a saved simulation is looked at once; what is wrong is named.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..checks import InputError
from ..reduction.bonds import NOBODY
from ..scene.scene import Scene
from ..state.bodies import DYNAMIC, UNUSED
from ..state.ledger import LOSSES, SOURCES
from .settings import Settings

Shape = tuple[int | None, ...]  # None: any number of rows
CONTACTS: dict[str, tuple[type, Shape]] = {
    "a": (np.int32, ()),
    "b": (np.int32, ()),
    "feature": (np.int32, ()),
    "normal": (np.float64, (3,)),
    "overlap": (np.float64, ()),
    "impulse": (np.float64, (7,)),
    "rebound": (np.float64, ()),
    "partner": (np.int64, ()),
}


class _Part:
    """A part of the saved content, with its name for messages."""

    def __init__(self, content: Mapping[str, Any], name: str = "") -> None:
        self.content, self.name = content, name

    def refuse(self, name: str, what: str) -> InputError:
        return InputError(f"{self.name}{name} {what}.")

    def part(self, name: str) -> _Part:
        content = self.content[name]
        if not isinstance(content, Mapping):
            raise self.refuse(name, "should have parts")
        return _Part(content, f"{self.name}{name}/")

    def whole(self, name: str, low: int, high: int) -> int:
        """A whole number from ``low`` to ``high``, both included."""
        value = self.content[name]
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise self.refuse(name, f"must be a whole number from {low} to {high} (got {value!r})")
        return value

    def number(self, name: str) -> float:
        value = self.content[name]
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value:
            raise self.refuse(name, f"must be a number (got {value!r})")
        return value

    def array(self, name: str, dtype: type, shape: Shape, *, finite: bool = True) -> np.ndarray:
        found = self.content[name]
        if not isinstance(found, np.ndarray) or found.dtype != dtype:
            raise self.refuse(name, f"must be an array of {np.dtype(dtype)}")
        if found.ndim != len(shape) or any(n is not None and n != have for n, have in zip(shape, found.shape, strict=True)):
            raise self.refuse(name, f"must have the shape {shape} (got {found.shape})")
        if found.dtype.kind == "f" and (not np.isfinite(found).all() if finite else np.isnan(found).any()):
            raise self.refuse(name, "holds numbers that are not finite")
        return found

    def places(self, name: str, shape: Shape, low: int, high: int) -> np.ndarray:
        """Row numbers from ``low`` up to, not including, ``high``."""
        found = self.array(name, np.int32, shape)
        if found.size and not low <= found.min() <= found.max() < high:
            raise self.refuse(name, f"must lie in {low} to {high - 1} (got {found.min()} to {found.max()})")
        return found


def check_saved(saved: Mapping[str, Any], scene: Scene, settings: Settings) -> None:
    """InputError, with the name of what is wrong, unless all of ``saved`` (see ``Simulation.checkpoint``) may be trusted."""
    top = _Part(saved)
    top.whole("step_count", 0, 2**62)
    ids, first = _check_bodies(top.part("bodies"), scene)
    grains = len(ids)
    walls = sum(len(body.walls) for body in scene.all_bodies)
    if settings.stepper.name == "smooth":
        _check_smooth(top.part("stepper"), scene, ids, walls)
    else:
        _check_nonsmooth(top.part("stepper"), scene, ids, walls, first)
    removal, sinks = top.part("removal"), len(scene.sinks)
    removal.array("count", np.int64, (sinks,))
    removal.array("mass", np.float64, (sinks,))
    waiting = removal.places("waiting", (None,), 0, grains)
    removal.places("sink", waiting.shape, 0, sinks)
    guard = top.part("guard")
    for name in ("lowest", "stored", "largest_kinetic"):
        guard.number(name)
    low = guard.array("low", np.float64, (None,), finite=False)
    if len(low) not in (0, 3):
        raise guard.refuse("low", "must be a point")
    guard.array("high", np.float64, low.shape, finite=False)
    if "shadow" in saved:
        _check_shadow(top.part("shadow"), scene, settings)


def _check_bodies(part: _Part, scene: Scene) -> tuple[np.ndarray, int]:
    """Returns the ids of the grains (N,) and the row of the first one."""
    radius = part.array("radius", np.float64, (None,))
    first = part.whole("first_grain", len(scene.all_bodies), 2**31 - 1)
    grains, count = len(radius), first + len(radius)
    if not (radius > 0).all():
        raise part.refuse("radius", "must be above 0")
    for name, width in (("position", 3), ("orientation", 4), ("velocity", 3), ("spin", 3)):
        part.array(name, np.float64, (count, width))
    if not (part.array("inverse_mass", np.float64, (count,)) >= 0).all():
        raise part.refuse("inverse_mass", "must be 0 or more")
    part.places("material", (grains,), 0, len(scene.materials))
    ids, last = part.array("id", np.int64, (grains,)), part.whole("next_id", 0, 2**62)
    if grains and not 0 <= ids.min() <= ids.max() < last:
        raise part.refuse("id", f"must lie in 0 to {last - 1}")
    return ids, first


def _check_ledger(part: _Part, losses: bool) -> None:
    for entry in (*SOURCES, *LOSSES) if losses else SOURCES:
        part.number(entry)


def _check_neighbours(part: _Part, grains: int) -> tuple[int, int]:
    """Returns the numbers of ranks and of candidates."""
    order = part.places("order", (None,), -1, grains)
    ranks = len(order)
    rank = part.places("rank", (None,), 0, ranks)
    if len(rank) > grains or not np.array_equal(order[rank], np.arange(len(rank))):
        raise part.refuse("rank", "does not fit the order of the grains")
    if np.count_nonzero(order >= 0) != len(rank):
        raise part.refuse("order", "names a grain twice")
    part.array("reference", np.float64, (len(rank), 3))
    part.array("skin", np.float64, (len(rank),))
    part.whole("listed", 0, ranks)
    first = part.array("candidate_first", np.int32, (ranks + 1,))
    candidate = part.places("candidate", (None,), 0, ranks)
    if first[0] != 0 or (np.diff(first) < 0).any() or first[-1] != len(candidate):
        raise part.refuse("candidate_first", "does not fit the candidates")
    return ranks, len(candidate)


def _check_contacts(part: _Part, ids: np.ndarray, walls: int) -> int:
    """Contacts of grains with these ids (N,); returns how many there are."""
    grains = len(ids)
    a = part.places("a", (None,), 0, grains)
    pairs = part.whole("pairs", 0, len(a))
    for name, (dtype, width) in CONTACTS.items():
        part.array(name, dtype, (len(a), *width))
    b = part.places("b", (len(a),), -walls, grains)
    if (b[:pairs] < 0).any() or (b[pairs:] >= 0).any():
        raise part.refuse("b", "has walls among pairs, or pairs among walls")
    if not np.array_equal(part.content["partner"], np.concatenate([ids[b[:pairs]], b[pairs:]])):
        raise part.refuse("partner", "does not fit the grains and walls of the contacts")
    return len(a)


def _check_between_bodies(part: _Part, walls: int) -> None:
    """Contacts of walls with walls."""
    count = len(part.places("a", (None,), -walls, 0))
    for name, (dtype, width) in (*CONTACTS.items(), ("point", (np.float64, (3,)))):
        part.array(name, dtype, (count, *width))
    part.places("b", (count,), -walls, 0)


def _check_groups(part: _Part, what: str, first: np.ndarray, count: np.ndarray, total: int) -> None:
    """Groups of rows lie within ``total`` rows; where a group is empty its first row may be any number."""
    some = count > 0
    if (count < 0).any() or (first[some] < 0).any() or (first[some].astype(np.int64) + count[some] > total).any():
        raise part.refuse(what, f"points outside of {total} contacts")


def _check_nonsmooth(part: _Part, scene: Scene, ids: np.ndarray, walls: int, first_grain: int) -> None:
    grains = len(ids)
    detector = part.part("detector")
    _check_neighbours(detector.part("neighbours"), grains)
    contacts = _check_contacts(detector, ids, walls)
    _check_between_bodies(detector.part("between_bodies"), walls)
    first, count = detector.array("where", np.int32, (2, 2, None))
    if first.shape[1] > grains:
        raise detector.refuse("where", f"has more rows than there are grains, {grains}")
    _check_groups(detector, "where", first, count, contacts)
    for name in ("left_over", "reused_part", "reused_limit", "last_energy"):
        part.number(name)
    _check_ledger(part.part("ledger"), losses=True)
    if "reduced" in part.content:
        _check_reduced(part.part("reduced"), scene, grains, walls, first_grain)


def _check_reduced(part: _Part, scene: Scene, grains: int, walls: int, first: int) -> None:
    """``first`` is the row of the first grain."""
    made = part.part("aggregates")
    count = len(made.places("kind", (None,), UNUSED, DYNAMIC + 1))
    made.array("inertia", np.float64, (count, 3, 3))
    made.array("body_id", np.int64, (count,))
    made.whole("next_body_id", 0, 2**62)
    made.places("member_of", (len(scene.all_bodies),), 0, first)
    carriers = len(made.array("velocity", np.float64, (None, 3)))
    made.array("spin", np.float64, (carriers, 3))
    body = part.places("grain_body", (grains,), 0, first + grains)
    if ((body >= first) & (body != first + np.arange(grains))).any():
        raise part.refuse("grain_body", "names the body of another grain")
    bonds = part.part("bonds")
    partner = bonds.array("partner", np.int32, (None, None))
    if len(partner) < grains:
        raise bonds.refuse("partner", f"must have {grains} rows or more")
    known = partner[:grains][partner[:grains] != NOBODY]
    if known.size and not -walls <= known.min() <= known.max() < grains:
        raise bonds.refuse("partner", "is no grain or wall")
    bonds.array("kept", np.float64, (*partner.shape, 7))
    part.array("fixed", np.bool_, (grains,))
    part.array("listed_position", np.float64, (3,))
    part.array("listed_rotation", np.float64, (3, 3))
    part.whole("resting", 0, first - 1)
    part.whole("looked", 0, 2**62)
    part.array("questioned", np.bool_, (grains,))
    part.array("restless", np.int32, (grains,))
    trial = part.part("trial")
    trial.places("failed", (None,), 0, grains)
    trial.whole("tried", -(2**62), 2**62)
    trial.array("turned", np.float64, (carriers,))
    trial.array("gravity", np.float64, (3,))


def _check_smooth(part: _Part, scene: Scene, ids: np.ndarray, walls: int) -> None:
    grains = len(ids)
    ranks, slots = _check_neighbours(part.part("neighbours"), grains)
    _check_ledger(part.part("ledger"), losses=False)
    part.number("way")
    part.places("near", (None,), 0, grains)
    part.array("force", np.float64, (ranks, None))
    part.array("wall_force", np.float64, (len(scene.all_bodies), None))
    part.array("extent", np.float64, (2, 3), finite=False)
    part.array("spring", np.float64, (slots, None), finite=False)
    part.array("touched", np.uint8, (slots,))
    pairs = part.part("pairs")
    a = pairs.places("a", (None,), 0, ranks)
    pairs.places("b", a.shape, 0, ranks)
    pairs.places("place", a.shape, 0, slots)
    if len(a) > slots:
        raise pairs.refuse("a", "has more rows than there are neighbours")
    touch = part.part("walls")
    a = touch.places("a", (None,), 0, grains)
    touch.places("b", a.shape, -walls, 0)
    touch.array("feature", np.int32, a.shape)
    touch.array("normal", np.float64, (len(a), 3))
    touch.array("overlap", np.float64, a.shape)
    touch.array("spring", np.float64, (len(a), None), finite=False)
    touch.array("force", np.float64, (len(a), None))
    first = touch.array("first", np.int32, (None,))
    _check_groups(touch, "first", first, touch.array("number", np.int32, first.shape), len(a))
    if len(first) > grains:
        raise touch.refuse("first", f"has more rows than there are grains, {grains}")
    _check_contacts(part.part("contacts"), ids, walls)


def _check_shadow(part: _Part, scene: Scene, settings: Settings) -> None:
    part.whole("windows", 0, 2**62)
    part.array("sum", np.float64, (3,))
    ids = part.array("id", np.int64, (None,))
    part.array("merged", np.int32, ids.shape)
    inside = part.part("inside")
    if inside.content:
        count = len(inside.array("a", np.int64, (None,)))
        for name, (dtype, width) in CONTACTS.items():
            inside.array(name, np.int64 if name in ("a", "b") else dtype, (count, *width))
    if part.content["full"] is not None:
        check_saved(part.content["full"], scene, settings)
