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
}
REACHES: dict[str, tuple[type, Shape]] = {
    "centre": (np.float64, (3,)),
    "velocity": (np.float64, (3,)),
    "spin": (np.float64, (3,)),
    "mass": (np.float64, ()),
    "inertia": (np.float64, (3, 3)),
    "used": (np.bool_, ()),
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
    grains = _check_bodies(top.part("bodies"), scene)
    walls = sum(len(body.walls) for body in scene.all_bodies)
    if settings.stepper.name == "smooth":
        _check_smooth(top.part("stepper"), scene, grains, walls)
    else:
        _check_nonsmooth(top.part("stepper"), scene, grains, walls)
    if "removal" in saved:
        removal, sinks = top.part("removal"), len(scene.sinks)
        removal.array("count", np.int64, (sinks,))
        removal.array("mass", np.float64, (sinks,))
        waiting = removal.places("waiting", (None,), 0, grains)
        removal.places("sink", waiting.shape, 0, sinks)
    guard = top.part("guard")
    for name in ("allowed", "lowest", "stored", "largest_kinetic"):
        guard.number(name)
    low = guard.array("low", np.float64, (None,), finite=False)
    if len(low) not in (0, 3):
        raise guard.refuse("low", "must be a point")
    guard.array("high", np.float64, low.shape, finite=False)
    if "shadow" in saved:
        _check_shadow(top.part("shadow"), scene, settings)


def _check_bodies(part: _Part, scene: Scene) -> int:
    """Returns the number of grains."""
    radius = part.array("radius", np.float64, (None,))
    grains, count = len(radius), len(scene.all_bodies) + len(radius)
    if not (radius > 0).all():
        raise part.refuse("radius", "must be above 0")
    for name, width in (("position", 3), ("orientation", 4), ("velocity", 3), ("spin", 3)):
        part.array(name, np.float64, (count, width))
    if not (part.array("inverse_mass", np.float64, (count,)) >= 0).all():
        raise part.refuse("inverse_mass", "must be 0 or more")
    part.places("material", (grains,), 0, len(scene.materials))
    if "id" in part.content:
        ids = part.array("id", np.int64, (grains,))
        last = part.whole("next_id", 0, 2**62)
        if grains and not 0 <= ids.min() <= ids.max() < last:
            raise part.refuse("id", f"must lie in 0 to {last - 1}")
    return grains


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


def _check_contacts(part: _Part, grains: int, walls: int) -> int:
    """Returns the number of contacts."""
    a = part.places("a", (None,), 0, grains)
    pairs = part.whole("pairs", 0, len(a))
    for name, (dtype, width) in CONTACTS.items():
        part.array(name, dtype, (len(a), *width))
    b = part.places("b", (len(a),), -walls, grains)
    if (b[:pairs] < 0).any() or (b[pairs:] >= 0).any():
        raise part.refuse("b", "has walls among pairs, or pairs among walls")
    return len(a)


def _check_groups(part: _Part, what: str, first: np.ndarray, count: np.ndarray, total: int) -> None:
    """Groups of rows lie within ``total`` rows; where a group is empty its first row may be any number."""
    some = count > 0
    if (count < 0).any() or (first[some] < 0).any() or (first[some].astype(np.int64) + count[some] > total).any():
        raise part.refuse(what, f"points outside of {total} contacts")


def _check_nonsmooth(part: _Part, scene: Scene, grains: int, walls: int) -> None:
    detector = part.part("detector")
    _check_neighbours(detector.part("neighbours"), grains)
    contacts = _check_contacts(detector, grains, walls)
    first, count = detector.array("where", np.int32, (2, 2, None))
    if first.shape[1] > grains:
        raise detector.refuse("where", f"has more rows than there are grains, {grains}")
    _check_groups(detector, "where", first, count, contacts)
    for name in ("work", "left_over", "reused_part", "reused_limit", "last_energy"):
        part.number(name)
    if "reduced" in part.content:
        _check_reduced(part.part("reduced"), scene, grains, walls)


def _check_reduced(part: _Part, scene: Scene, grains: int, walls: int) -> None:
    bodies = part.part("aggregates")
    count = len(bodies.array("used", np.bool_, (None,)))
    for name, (dtype, width) in REACHES.items():
        bodies.array(name, dtype, (count, *width))
    carriers = len(bodies.array("travel", np.float64, (None, 3)))
    bodies.places("wall", (len(scene.all_bodies),), -1, count)
    part.places("aggregate", (grains,), -1, count)
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
    part.whole("resting", -1, count - 1)
    part.whole("looked", 0, 2**62)
    trial = part.part("trial")
    trial.array("questioned", np.bool_, (grains,))
    trial.array("restless", np.int32, (grains,))
    trial.places("failed", (None,), 0, grains)
    trial.whole("tried", -(2**62), 2**62)
    trial.array("turned", np.float64, (carriers + len(scene.all_bodies),))
    trial.array("gravity", np.float64, (3,))


def _check_smooth(part: _Part, scene: Scene, grains: int, walls: int) -> None:
    ranks, slots = _check_neighbours(part.part("neighbours"), grains)
    part.number("work")
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
    _check_contacts(part.part("contacts"), grains, walls)


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
