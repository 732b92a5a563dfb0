"""What a checkpoint says is checked before a kernel trusts it: shapes, types, ranges and references.

A digest tells of accidents. A file that somebody made may have a right digest and a row number that points anywhere, which a kernel follows
out of its memory. Here every array of a saved simulation is looked at once; what is wrong is named.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..checks import known_name
from ..scene.scene import Scene
from ..state.ledger import LOSSES, SOURCES
from ..state.saved import CONTACTS, SavedPart
from .settings import Settings


def check_saved(saved: Mapping[str, Any], scene: Scene, settings: Settings) -> None:
    """InputError, with the name of what is wrong, unless all of ``saved`` (see ``Simulation.checkpoint``) may be trusted."""
    top = SavedPart(saved)
    top.whole("step_count", 0, 2**62)
    ids, first = _check_bodies(top.part("bodies"), scene)
    grains = len(ids)
    if settings.stepper.name == "smooth":
        _check_smooth(top.part("stepper"), scene, ids)
    else:
        _check_nonsmooth(top.part("stepper"), scene, settings, ids, first)
    removal, sinks = top.part("removal"), len(scene.sinks)
    removal.array("count", np.int64, (sinks,))
    removal.array("mass", np.float64, (sinks,))
    waiting = removal.places("waiting", (None,), 0, grains)
    removal.places("sink", waiting.shape, 0, sinks)
    if scene.counters:
        counting = top.part("counting")
        counting.array("count", np.int64, (len(scene.counters), 2))
        counting.array("mass", np.float64, (len(scene.counters), 2))
    regulation = top.part("regulation")
    for name in regulation.content:
        known_name("regulator", name, [regulator.name for regulator in scene.regulators])
        regulation.number(name)
    guard = top.part("guard")
    for name in ("lowest", "stored", "largest_kinetic"):
        guard.number(name)
    low = guard.array("low", np.float64, (None,), finite=False)
    if len(low) not in (0, 3):
        raise guard.refuse("low", "must be a point")
    guard.array("high", np.float64, low.shape, finite=False)
    for key in top.part("sums").content if "sums" in saved else ():
        sums = top.part("sums").part(key)
        sums.array("bodies", np.float64, (len(scene.all_bodies), 7))
        sums.array("joints", np.float64, (len(scene.joints), 8))
        sums.array("steps", np.int64, (1,))
    if "shadow" in saved:
        for extension in settings.extensions:
            extension.check_shadow(top.part("shadow"), lambda inside: check_saved(inside, scene, settings))


def _check_bodies(part: SavedPart, scene: Scene) -> tuple[np.ndarray, int]:
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


def _check_ledger(part: SavedPart, losses: bool) -> None:
    for entry in (*SOURCES, *LOSSES) if losses else SOURCES:
        part.number(entry)


def _check_neighbours(part: SavedPart, grains: int) -> tuple[int, int]:
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


def _check_contacts(part: SavedPart, ids: np.ndarray, walls: int) -> int:
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


def _check_between_bodies(part: SavedPart, walls: int) -> None:
    """Contacts of walls with walls."""
    count = len(part.places("a", (None,), -walls, 0))
    for name, (dtype, width) in (*CONTACTS.items(), ("point", (np.float64, (3,)))):
        part.array(name, dtype, (count, *width))
    part.places("b", (count,), -walls, 0)


def _check_groups(part: SavedPart, what: str, first: np.ndarray, count: np.ndarray, total: int) -> None:
    """Groups of rows lie within ``total`` rows; where a group is empty its first row may be any number."""
    some = count > 0
    if (count < 0).any() or (first[some] < 0).any() or (first[some].astype(np.int64) + count[some] > total).any():
        raise part.refuse(what, f"points outside of {total} contacts")


def _check_nonsmooth(part: SavedPart, scene: Scene, settings: Settings, ids: np.ndarray, first_grain: int) -> None:
    grains, walls = len(ids), len(scene.all_walls)
    detector = part.part("detector")
    _check_neighbours(detector.part("neighbours"), grains)
    contacts = _check_contacts(detector, ids, walls)
    _check_between_bodies(detector.part("between_bodies"), walls)
    first, count = detector.array("where", np.int32, (2, 2, None))
    if first.shape[1] > grains:
        raise detector.refuse("where", f"has more rows than there are grains, {grains}")
    _check_groups(detector, "where", first, count, contacts)
    if "struck" in part.content:
        part.array("struck", np.float64, (len(scene.all_bodies), 6))
    for name in ("left_over", "reused_part", "reused_limit", "last_energy"):
        part.number(name)
    _check_ledger(part.part("ledger"), losses=True)
    for extension in settings.extensions:
        if extension.saved_as in part.content:
            extension.check_saved(part.part(extension.saved_as), scene, grains, first_grain)


def _check_smooth(part: SavedPart, scene: Scene, ids: np.ndarray) -> None:
    grains, walls = len(ids), len(scene.all_walls)
    ranks, slots = _check_neighbours(part.part("neighbours"), grains)
    _check_ledger(part.part("ledger"), losses=False)
    part.number("way")
    part.places("near", (None,), 0, grains)
    part.array("force", np.float64, (ranks, None))
    part.array("wall_force", np.float64, (len(scene.all_bodies), None))
    part.array("extent", np.float64, (2, 3), finite=False)
    part.array("spring", np.float64, (slots, None), finite=False)
    part.array("touched", np.uint8, (slots,))
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
