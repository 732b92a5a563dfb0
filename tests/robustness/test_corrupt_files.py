"""No damage to a file ends in a traceback, a crash or a hang: a command refuses it in words (exit code 2), stops in words (1), or runs (0).

Recordings, packings, checkpoints, problems, FCLIB and mesh files are damaged byte by byte (cut, flipped, zeroed, exchanged, doubled) and as
HDF5 (objects deleted, of another kind, type or size, numbers that point anywhere), with random numbers from a seed: a case is found again
by its number.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest
from scipy import sparse

from granum.io import read
from granum.io.fclib import FclibProblem, write_fclib
from granum.nonsmooth.local import LocalProblem
from tests.command_line import granum
from tests.robustness.files import run_column

KINDS = ("recording", "checkpoint", "problem", "fclib", "packing", "mesh")
MESH_SCENE = """
[[materials]]
name = "glass"
[[grains]]
material = "glass"
position = [[0.0, 0.0, 0.3]]
diameter = 0.01
[[walls]]
shape = "mesh"
material = "glass"
file = "mesh.stl"
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    """One whole file of each kind."""
    folder = tmp_path_factory.mktemp("whole")
    assert run_column(folder / "run.h5", "--dump-problem", 0.01).exit_code == 0
    (folder / "run.problem-0.01.h5").rename(folder / "problem.h5")
    assert granum("solve", folder / "problem.h5", "--solver", "pgs").exit_code == 0
    local = LocalProblem(sparse.csc_array(np.diag(np.arange(1.0, 7.0))), -np.ones(6), np.full(2, 0.5), np.zeros(6), 3)
    write_fclib(folder / "fclib.h5", FclibProblem(local, guesses=(np.ones(6),)))
    jammed = granum("jam", "--particles", 12, "--accuracy", 1e-2, "--no-picture", "-o", folder / "packing.h5")
    assert jammed.exit_code == 0
    corners = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], np.float32)
    with open(folder / "mesh.stl", "wb") as out:
        out.write(bytes(80) + np.uint32(2).tobytes())
        for triangle in ((0, 1, 2), (0, 2, 3)):
            out.write(np.array([0, 0, 1], np.float32).tobytes() + corners[list(triangle)].tobytes() + bytes(2))
    (folder / "scene.toml").write_text(MESH_SCENE)
    return folder


# Damage. ---------------------------------------------------------------------------------------------------------------------------------


def cut(data: bytearray, rng: random.Random) -> None:
    del data[rng.randrange(len(data)) :]


def flip(data: bytearray, rng: random.Random) -> None:
    for _ in range(rng.choice((1, 1, 4, 60))):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def zero(data: bytearray, rng: random.Random) -> None:
    start, length = rng.randrange(len(data)), rng.choice((8, 100, 4096))
    data[start : start + length] = bytes(len(data[start : start + length]))


def noise(data: bytearray, rng: random.Random) -> None:
    start, length = rng.randrange(len(data)), rng.choice((4, 50, 1000))
    data[start : start + length] = rng.randbytes(len(data[start : start + length]))


def double(data: bytearray, rng: random.Random) -> None:
    start = rng.randrange(len(data))
    data[start:start] = data[start : start + rng.choice((1, 512, 4096))]


def exchange(data: bytearray, rng: random.Random) -> None:
    a, b = sorted(rng.sample(range(len(data)), 2))
    length = min(b - a, len(data) - b, 4096)
    data[a : a + length], data[b : b + length] = data[b : b + length], data[a : a + length]


BYTES: tuple[Callable[[bytearray, random.Random], None], ...] = (cut, flip, flip, zero, noise, double, exchange)


def damage_as_hdf5(path: Path, rng: random.Random) -> None:
    with h5py.File(path, "r+") as file:
        names: list[str] = []
        file.visit(names.append)
        for name in rng.sample(names, rng.choice((1, 1, 2))):
            if name not in file:
                continue
            what, item = rng.randrange(8), file[name]
            group, last = item.parent, name.rpartition("/")[2]
            if what == 0 or (isinstance(item, h5py.Group) and what < 5):
                del group[last]
            elif what == 1:
                del group[last]
                group[last] = rng.choice((3, -1.5, "text", [1, 2, 3], np.zeros((2, 2)), np.zeros(0)))
            elif what == 2:
                del group[last]
                group.create_group(last)
            elif what >= 6 and len(item.attrs):
                item.attrs[rng.choice(list(item.attrs))] = rng.choice((-1, 10**6, 2.5, "text", [1, 2]))
            elif isinstance(item, h5py.Dataset) and item.shape and item.size and item.dtype.kind in "iuf":
                at = tuple(rng.randrange(n) for n in item.shape)
                info = np.iinfo(item.dtype) if item.dtype.kind in "iu" else np.finfo(item.dtype)
                item[at] = rng.choice((info.max, info.min, 0, 1)) if item.dtype.kind in "iu" else rng.choice((np.nan, np.inf, -1.0, 0.0))
                if what == 3 and item.maxshape[0] is None:
                    item.resize(rng.choice((0, 1, len(item) * 2)), axis=0)


def commands(kind: str, folder: Path) -> list[list[object]]:
    run = folder / "run.h5"
    return {
        "recording": [["info", run, "--json"], ["analyse", run, "energy"], ["restart", run, "--duration", 0.004]],
        "checkpoint": [["restart", run, "--duration", 0.004]],
        "problem": [["solve", folder / "problem.h5", "--solver", "pgs"]],
        "fclib": [["solve", folder / "fclib.h5", "--solver", "pgs"]],
        "packing": [["info", folder / "packing.h5"], ["minimise", folder / "packing.h5", "--no-picture", "-o", folder / "out.h5"]],
        "mesh": [["run", folder / "scene.toml", "--duration", 0.002, "--no-picture", "-o", folder / "out.h5"]],
    }[kind]


NAMES = {
    "recording": "run.h5",
    "checkpoint": "run.checkpoint.h5",
    "problem": "problem.h5",
    "fclib": "fclib.h5",
    "packing": "packing.h5",
    "mesh": "mesh.stl",
}


def try_case(kind: str, number: int, whole: Path, folder: Path) -> set[int]:
    """Damage one file and give it to every command that reads it; returns the exit codes."""
    rng = random.Random(f"{kind} {number}")
    folder.mkdir()
    for path in whole.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    victim = folder / NAMES[kind]
    if kind != "mesh" and number % 2:
        damage_as_hdf5(victim, rng)
    else:
        data = bytearray(victim.read_bytes())
        for _ in range(rng.choice((1, 1, 2))):
            rng.choice(BYTES)(data, rng)
        victim.write_bytes(data)
    codes = set()
    for arguments in commands(kind, folder):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            codes.add(granum(*arguments).exit_code)
    return codes


def try_all(kind: str, numbers: range, whole: Path, folder: Path) -> None:
    codes: set[int] = set()
    for number in numbers:
        try:
            codes |= try_case(kind, number, whole, folder / str(number))
        except Exception as error:
            error.add_note(f"case {number} of {kind}: {folder / str(number)}")
            raise
    assert codes <= {0, 1, 2}
    assert 2 in codes


@pytest.mark.parametrize("kind", KINDS)
def test_damage_is_met_in_words(whole, tmp_path, monkeypatch, kind):
    monkeypatch.setattr(read, "PAUSES", ())  # nobody writes these files
    try_all(kind, range(8), whole, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_much_damage_is_met_in_words(whole, tmp_path, monkeypatch, kind):
    monkeypatch.setattr(read, "PAUSES", ())
    try_all(kind, range(1000, 1100), whole, tmp_path)
