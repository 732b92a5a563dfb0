"""A checkpoint with a right digest and wrong content is refused in words, with the name of what is wrong: no kernel follows a wrong number.

Every array of a checkpoint is changed in every way that a wrong number can have: too large, negative, not finite, too short, of another
type. What is refused must be refused before a step; what is not must run.
"""

from __future__ import annotations

import copy
from functools import cache
from typing import Any

import numpy as np
import pytest

from granum.checks import InputError
from granum.io import read_checkpoint, write_checkpoint
from granum.observe import Checkpointer
from granum.scene.library import make_scene
from granum.simulation import Simulation, make_settings
from granum.simulation.saved import load_run

KINDS: dict[str, tuple[str, dict[str, Any], int]] = {
    "nonsmooth": ("pile", {}, 80),
    "smooth": ("column", {"stepper": {"name": "smooth"}}, 300),
    "reduced": ("conveyor", {"stepper": {"reduction": {"shadow": 3}}}, 40),
}


@cache
def saved(kind: str, folder: str) -> dict[str, Any]:
    name, settings, steps = KINDS[kind]
    scene = make_scene(name)
    sim = Simulation(scene, make_settings(scene.run, settings))
    for _ in range(steps):
        sim.step()
    path = f"{folder}/{kind}.h5"
    Checkpointer(path).save(sim)
    return read_checkpoint(path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> str:
    return str(tmp_path_factory.mktemp("checkpoints"))


def arrays(tree: Any, place: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    if isinstance(tree, dict):
        return [found for key, part in tree.items() for found in arrays(part, (*place, key))]
    return [place] if isinstance(tree, np.ndarray) else []


def changed(tree: Any, place: tuple[str, ...], change: Any) -> Any:
    tree = copy.copy(tree)
    tree[place[0]] = changed(tree[place[0]], place[1:], change) if len(place) > 1 else change(tree[place[0]])
    return tree


def first_is(value: Any):
    def change(array: np.ndarray) -> np.ndarray:
        array = array.copy()
        array.flat[:1] = value
        return array

    return change


def half(array: np.ndarray) -> np.ndarray:
    return array[: len(array) // 2]


POINTER_CHANGES = [first_is(2**31 - 1), first_is(-(2**31) + 7), half, lambda a: a.astype(float)]
NUMBER_CHANGES = [first_is(np.nan), half, lambda a: a.astype(np.float32)]
POINTERS = {
    "order",
    "rank",
    "candidate",
    "candidate_first",
    "a",
    "b",
    "material",
    "near",
    "place",
    "number",
    "grain_body",
    "member_of",
    "failed",
    "partner",
}
ANY_LENGTH = {"near", "failed", "partner"}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("kind", list(KINDS))
def test_wrong_numbers_are_refused(monkeypatch, folder, kind):
    content = saved(kind, folder)
    read = "granum.simulation.saved.read_checkpoint"
    monkeypatch.setattr(read, lambda path: content)
    load_run("whole.h5")
    refused = 0
    for place in arrays(content):
        name, array = place[-1], content
        for key in place:
            array = array[key]
        if not array.size or {"emissions", "shadow"} & set(place):
            continue
        for change in POINTER_CHANGES if name in POINTERS else NUMBER_CHANGES if array.dtype.kind == "f" else ():
            if change is half and (name in ANY_LENGTH or not len(array) // 2):
                continue
            wrong = changed(content, place, change)
            monkeypatch.setattr(read, lambda path, wrong=wrong: wrong)
            with pytest.raises(InputError, match=r"checkpoint 'wrong\.h5' cannot be continued: \w+/"):
                load_run("wrong.h5")
            refused += 1
    assert refused > 60


def first_where_there_are_contacts(where: np.ndarray) -> np.ndarray:
    where = where.copy()
    side, grain = np.argwhere(where[1] > 0)[0]
    where[0, side, grain] = 2**31 - 1
    return where


@pytest.mark.parametrize(
    "place, change, what",
    [
        (("bodies", "radius"), first_is(0.0), "bodies/radius must be above 0"),
        (("bodies", "inverse_mass"), first_is(-1.0), "bodies/inverse_mass must be 0 or more"),
        (("bodies", "material"), first_is(1), "bodies/material must lie in 0 to 0 (got 0 to 1)"),
        (("stepper", "detector", "neighbours", "order"), lambda a: a[::-1].copy(), "rank does not fit the order"),
        (("stepper", "detector", "neighbours", "listed"), lambda n: -1, "listed must be a whole number from 0"),
        (("stepper", "detector", "where"), first_where_there_are_contacts, "where points outside of"),
        (("stepper", "detector", "pairs"), lambda n: n + 1, "has walls among pairs"),
        (("step_count",), lambda n: 1.5, "step_count must be a whole number"),
        (("stepper", "detector"), lambda part: 3, "stepper/detector should have parts"),
        (("emissions", "0", "random"), lambda state: {"state": 2}, "is not one of this version"),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_is_wrong_is_said(tmp_path, folder, place, change, what):
    """Through a file with a right digest."""
    path = tmp_path / "run.checkpoint.h5"
    write_checkpoint(path, changed(saved("nonsmooth", folder), ("simulation", *place), change))
    with pytest.raises(InputError) as error:
        load_run(path)
    assert what in str(error.value)
