"""Sound scenes and command lines, and seeded ways to spoil them."""

from __future__ import annotations

import copy
import json
import math
import random
from typing import Any

from granum.scene.library import LIBRARY, parameters

MATERIAL = {"name": "m", "density": 2500.0, "youngs_modulus": 6e6, "friction": 0.5, "rolling_friction": 0.1, "restitution": 0.3}
FLOOR = {"shape": "plane", "material": "m", "point": [0.0, 0.0, 0.0], "normal": [0.0, 0.0, 1.0]}
CONTAINER = {"shape": "box", "material": "m", "lower": [-0.03, -0.03, 0.0], "upper": [0.03, 0.03, 0.2], "open": ["+z"]}
BALLS = {
    "material": "m",
    "position": [[0.0, 0.0, 0.005], [0.012, 0.0, 0.005]],
    "diameter": [0.01, 0.01],
    "velocity": [[0, 0, 0], [0.1, 0, 0]],
}
LATTICE = {
    "material": "m",
    "lower": [-0.025, -0.025, 0.0],
    "upper": [0.025, 0.025, 0.1],
    "count": 12,
    "jitter": 0.1,
    "seed": 3,
    "sizes": {"distribution": "uniform", "lower": 0.008, "upper": 0.01},
}
PLATE = {
    "shape": "mesh",
    "material": "m",
    "vertices": [[-0.1, -0.1, 0.0], [0.1, -0.1, 0.0], [0.1, 0.1, 0.0], [-0.1, 0.1, 0.0]],
    "triangles": [[0, 1, 2], [0, 2, 3]],
    "side": "front",
}
SMOOTH = {"name": "smooth", "integrator": "verlet", "damping": "restitution"}

SCENES: dict[str, dict[str, Any]] = {
    "balls": {"materials": [MATERIAL], "walls": [FLOOR], "grains": [BALLS], "gravity": {"acceleration": [0.0, 0.0, -9.81], "ramp": 0.1}},
    "lattice": {
        "materials": [MATERIAL, {**MATERIAL, "name": "wall"}],
        "pairs": [{"materials": ["m", "wall"], "friction": 0.2}],
        "walls": [CONTAINER],
        "grains": [LATTICE],
        "world": [[-1.0, -1.0, -1.0], [1.0, 1.0, 1.0]],
        "run": {"time_step": 0.001, "duration": 0.1, "every": 0.01, "checkpoint_every": 10.0, "threads": 1, "guards": {"overlap": 0.9}},
    },
    "mesh": {
        "materials": [MATERIAL],
        "walls": [PLATE],
        "grains": [BALLS],
        "law": {"name": "hertz"},
        "run": {"stepper": {"name": "nonsmooth", "solver": {"name": "pgs", "iterations": 20, "order": "symmetric", "seed": 1}}},
    },
    "emitter": {
        "materials": [MATERIAL],
        "walls": [{"shape": "cylinder", "material": "m", "radius": 0.05, "length": 0.2, "centre": [0, 0, 0.1]}],
        "emitters": [
            {
                "material": "m",
                "sizes": {"distribution": "lognormal", "median": 0.006, "sigma": 0.2, "lower": 0.004, "upper": 0.01},
                "source": {"source": "disc", "centre": [0, 0, 0.1], "diameter": 0.05},
                "rate": 500.0,
                "count": 20,
                "velocity": [0, 0, -0.5],
            }
        ],
        "sinks": [{"name": "out", "region": {"shape": "box", "lower": [-0.05, -0.05, -0.01], "upper": [0.05, 0.05, 0.01]}}],
    },
    "cell": {
        "materials": [MATERIAL],
        "cell": {"vectors": [0.06, 0.06]},
        "walls": [FLOOR],
        "grains": [{**LATTICE, "lower": [0.0, 0.0, 0.0], "upper": [0.06, 0.06, 0.05]}],
        "run": {"stepper": {"warm_start": {"name": "history", "beta": 0.8}}},
    },
    "bodies": {
        "materials": [MATERIAL],
        "walls": [FLOOR],
        "grains": [BALLS],
        "bodies": [
            {
                "name": "paddle",
                "kind": "kinematic",
                "position": [-0.05, 0, 0.02],
                "motion": {"velocity": [0.1, 0, 0], "spin": [0, 0, 1.0], "amplitude": [0, 0, 0.01], "frequency": 5.0, "stop": 1.0},
                "walls": [
                    {"shape": "box", "material": "m", "side": "outside", "lower": [-0.01, -0.02, -0.01], "upper": [0.01, 0.02, 0.01]}
                ],
            },
            {"name": "lid", "kind": "dynamic", "mass": 1.0, "inertia": [1e-3, 1e-3, 1e-3], "position": [0, 0, 0.1], "walls": [PLATE]},
        ],
    },
    "smooth": {"materials": [MATERIAL], "walls": [CONTAINER], "grains": [LATTICE], "run": {"stepper": SMOOTH, "duration": 0.01}},
    "reduced": {
        "materials": [MATERIAL],
        "walls": [FLOOR],
        "grains": [BALLS],
        "sensors": [{"shape": "ball", "centre": [0, 0, 0], "radius": 0.1}],
        "run": {"stepper": {"reduction": {"split": ["contact", "sensor"], "merge": {"smallest": 2}, "contact": {"depth": 2}, "shadow": 2}}},
    },
    "multigrid": {"materials": [MATERIAL], "walls": [FLOOR], "grains": [BALLS], "run": {"stepper": {"solver": {"name": "multigrid"}}}},
    "direct": {"materials": [MATERIAL], "walls": [FLOOR], "grains": [BALLS], "run": {"stepper": {"solver": {"name": "direct"}}}},
}

BAD_NUMBERS: list[Any] = [
    0,
    -1,
    1,
    2,
    -0.0,
    1e-300,
    5e-324,
    1e-12,
    1e12,
    1e30,
    1e300,
    -1e300,
    math.nan,
    math.inf,
    -math.inf,
    2**31,
    2**32 + 2,
    2**53,
    2**63 - 1,
    2**63,
    10**30,
    0.5,
    2.7,
    1e9,
    255,
    256,
    -(2**31),
]
BAD_VALUES: list[Any] = [
    *BAD_NUMBERS,
    True,
    False,
    "",
    "x",
    "0.5",
    "nan",
    "m",
    "\u00fc" * 20,
    "../../x",
    "\u0000",
    "x" * 400,
    [],
    {},
    [[]],
    [{}],
    [0],
    [0, 0],
    [0, 0, 0],
    [[0, 0, 0]],
    [1, "a", True],
    {"name": 1},
    {"a": {"b": {}}},
    ["x"],
    [None],
    [[0, 0, 0], [0, 0]],
    list(range(40)),
]


def spoiled_scene(rng: random.Random) -> str:
    """A scene file in which one to four things are not as they should be; sometimes its text is spoiled, too."""
    tree = copy.deepcopy(SCENES[rng.choice(sorted(SCENES))])
    if rng.random() < 0.15:  # of several kinds
        tree |= copy.deepcopy(SCENES[rng.choice(sorted(SCENES))])
    for _ in range(rng.choice((1, 1, 1, 2, 2, 4))):
        _spoil(tree, rng)
    text = to_toml(tree)
    return _spoil_text(text, rng) if rng.random() < 0.1 else text


def _places(tree: Any) -> list[tuple[Any, Any]]:
    """All (owner, key) of a tree."""
    keys = list(tree) if isinstance(tree, dict) else range(len(tree)) if isinstance(tree, list) else ()
    return [place for key in keys for place in ((tree, key), *_places(tree[key]))]


def _spoil(tree: dict[str, Any], rng: random.Random) -> None:
    places = _places(tree)
    if not places:
        return
    owner, key = rng.choice(places)
    old = owner[key]
    kind = rng.randrange(13)
    if kind >= 9:
        numbers = [place for place in places if type(place[0][place[1]]) in (int, float)]
        owner, key = rng.choice(numbers) if numbers else (owner, key)
        old = owner[key]
        kind = 3
    if kind <= 2:
        owner[key] = copy.deepcopy(rng.choice(BAD_NUMBERS if isinstance(old, (int, float)) and rng.random() < 0.7 else BAD_VALUES))
    elif kind == 3 and isinstance(old, (int, float)) and not isinstance(old, bool):
        owner[key] = old * rng.choice((-1, 0, 1e-9, 1e-3, 0.1, 0.5, 0.9, 1.1, 2, 10, 1e3, 1e9))
    elif kind == 4:
        del owner[key]
    elif kind == 5:
        other, name = rng.choice(places)
        owner[key] = copy.deepcopy(other[name])
    elif kind == 6 and isinstance(owner, list):
        owner.extend(copy.deepcopy(old) for _ in range(rng.choice((1, 2, 30))))
    elif kind == 7 and isinstance(owner, dict):
        name = rng.choice(("x", "", "name", "count", "kind", "shape", "time_step", "a.b", f"{key}s"))
        owner[name] = copy.deepcopy(rng.choice(BAD_VALUES))
    else:
        owner[key] = rng.choice(([old], {"x": old}, [old] * 3, {str(key): old}))


def _spoil_text(text: str, rng: random.Random) -> str:
    at = rng.randrange(len(text) + 1)
    kind = rng.randrange(4)
    if kind == 0:
        return text[:at]
    if kind == 1:
        return text[:at] + rng.choice("[]{}=,.\"'#\n\0\u20ac0e-_") + text[at:]
    if kind == 2:
        return text[:at] + text[at + rng.randrange(20) :]
    return text + text[at:]


def to_toml(tree: dict[str, Any]) -> str:
    """One line for every top-level key, with inline tables."""
    return "".join(f"{json.dumps(key)} = {_inline(value)}\n" for key, value in tree.items() if value is not None)


def _inline(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, list):
        return "[" + ", ".join(_inline(part) for part in value if part is not None) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_inline(part)}" for key, part in value.items() if part is not None) + "}"
    return json.dumps(str(value), ensure_ascii=False)


LINES: tuple[tuple[str, ...], ...] = (
    ("run", "column", "--set", "count=3", "--no-picture"),
    ("run", "box", "--set", "count=5", "--no-picture", "--json"),
    ("run", "pile", "--set", "count=5", "--no-picture", "--seed", "3"),
    ("run", "drum", "--set", "count=20", "--no-picture"),
    ("run", "silo", "--set", "count=20", "--no-picture"),
    ("run", "conveyor", "--no-picture"),
    ("run", "collapse", "--set", "count=20", "--no-picture"),
    ("run", "scene.toml", "--no-picture", "--duration", "0.01"),
    ("run", "column", "--stepper", "smooth", "--no-picture"),
    ("restart", "run.h5", "--duration", "0.02"),
    ("info", "run.h5"),
    ("info", "jam.h5", "--json"),
    ("analyse", "run.h5", "energy"),
    ("analyse", "run.h5", "contacts", "--json"),
    ("plot", "run.h5", "energy", "-o", "energy.png"),
    ("plot", "jam.h5", "packing"),
    ("compare", "run.h5", "run.h5"),
    ("solve", "run.problem-0.02.h5"),
    ("jam", "--particles", "8", "--no-picture"),
    ("minimise", "jam.h5", "--no-picture"),
    ("minimise", "--packing", "8,0.8", "--no-picture"),
    ("shear", "jam.h5", "--strain", "0.001", "--step", "0.0005", "--no-picture"),
    ("scenes",),
    ("scenes", "--json"),
    ("plan", "--diameter", "10mm", "--young", "10GPa", "--width", "15", "--height", "100"),
    ("plan", "--scene", "box", "--set", "count=50"),
    ("reproduce", "--list"),
)
BAD_WORDS = (
    "",
    "-1",
    "0",
    "1e300",
    "1e-300",
    "nan",
    "inf",
    "-inf",
    "9" * 23,
    "9" * 5000,
    "2.7",
    "x",
    "true",
    "None",
    "x" * 300,
    "x" * 300 + ".h5",
    ".",
    "..",
    "/",
    "/dev/null",
    "/dev/full",
    "/proc/self/mem",
    "missing.h5",
    "missing/x.h5",
    "broken.h5",
    "empty.h5",
    "run.h5",
    "jam.h5",
    "scene.toml",
    "run.checkpoint.h5",
    "folder",
    "1,2",
    ",,,",
    "0,0,0:1,1,1",
    "a=b",
    "count=1e300",
    "count=-1",
    "count=nan",
    "seed=-1",
    "time_step=0",
    "diameter=1e-300",
    "diameter=1e300",
    "materials.0.friction=x",
    "run.stepper=0",
    "grains.0.count=" + "9" * 30,
    "\udcff",
    "\u00fc\u20ac",
    "--",
    "-o",
    "--help",
    "[" * 3000,
    "{}",
    "1e6 m",
    "5",
    "100",
    "7.5",
    "1e-3",
    "0.01",
    "2",
    "y",
)


def spoiled_line(rng: random.Random, options: dict[str, list[str]]) -> list[str]:
    """A command line in which one to three things are not as they should be; ``options`` are the names of those of every command."""
    line = list(rng.choice(LINES))
    for _ in range(rng.choice((1, 1, 2, 3))):
        kind, at = rng.randrange(7), rng.randrange(1, len(line) + 1)
        if kind <= 1 and at < len(line):
            line[at] = rng.choice(BAD_WORDS)
        elif kind in (2, 6) and options.get(line[0]):
            line[at:at] = [rng.choice(options[line[0]]), rng.choice(BAD_WORDS)]
        elif kind == 5 and line[0] == "run" and line[1:] and line[1] in LIBRARY:
            number = rng.choice(BAD_NUMBERS) if rng.random() < 0.5 else rng.choice((1e-6, 1e-3, 0.1, 0.3, 1.0, 3, 10, 50))
            line += ["--set", f"{rng.choice(sorted(parameters(line[1])))}={number}"]
        elif kind == 3 and at < len(line):
            del line[at]
        else:
            line.insert(at, rng.choice(BAD_WORDS))
    return line
