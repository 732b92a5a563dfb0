"""Scenes from a name or a file: the library, TOML files and Python files, with values set from outside.

``key=value`` settings come as text. A plain key is a parameter of the scene (library, ``make_scene`` of a Python file) or a top-level
key of a TOML file; a dotted key is a place in the scene, lists by number or by name: ``materials.0.friction``, ``run.time_step``.
"""

from __future__ import annotations

import inspect
import runpy
import tomllib
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..checks import InputError, as_path, expect, known_name
from .grains import Lattice
from .library import LIBRARY, make_scene, parameters
from .mixture import read_mixtures
from .scene import Scene
from .urdf import UrdfFile, read_urdf

DEEPEST = 32  # levels of tables and arrays in a scene
WIDEST = 64  # bits of a whole number
LARGEST_SEED = 2**62  # what is random gets the numbers from a seed on, all of 63 bits


def as_scene(scene: Scene | str | Path, values: Mapping[str, Any] | None = None, seed: int | None = None) -> Scene:
    """A scene as it is, or the one that a name or a file stands for (:func:`load_scene`)."""
    expect("scene", scene, Scene, str, Path)
    if not isinstance(scene, Scene):
        return load_scene(scene, values, seed)
    if not values:
        return _seeded(scene, seed)
    tree = scene.model_dump()
    _set_all(tree, values)
    check_tree(tree, f"scene {scene.name!r}")
    return _seeded(Scene.read(tree, f"scene {scene.name!r}"), seed)


def load_scene(spec: str | Path, values: Mapping[str, Any] | None = None, seed: int | None = None) -> Scene:
    """The scene that ``spec`` names: a library scene, a TOML file or a Python file.

    ``values`` change parameters and places of the scene (module docstring); ``seed`` replaces the seeds of all that is random in it.

    >>> load_scene("column", {"count": "10", "gravity.ramp": "0.5"}).gravity.ramp
    0.5
    """
    plain = {key: value for key, value in (values or {}).items() if "." not in key}
    dotted = {key: value for key, value in (values or {}).items() if "." in key}
    if seed is not None and not 0 <= seed < LARGEST_SEED:
        raise InputError(f"seed must be {'0 or more' if seed < 0 else 'below 2^62'} (got {seed}).")
    path, spec = as_path("scene", spec), str(spec)
    if path.suffix == ".toml":
        # Set before validation: a value may be what makes the file valid.
        return _seeded(_from_toml(path, {**plain, **dotted}), seed)
    scene = _from_python(path, plain, seed) if path.suffix == ".py" else _from_library(spec, plain, seed)
    return as_scene(scene, dotted, seed)


def _from_library(spec: str, values: Mapping[str, Any], seed: int | None) -> Scene:
    if Path(spec).parent != Path(".") or Path(spec).exists():
        raise InputError(f"scene {spec!r} is not a scene file: give a .toml or .py file, or one of: {_names()}.")
    try:
        known_name("scene", spec, LIBRARY)
    except InputError as error:
        raise InputError(f"{error} A scene file ends in .toml or .py.") from None
    if seed is not None and "seed" in parameters(spec):
        values = {"seed": seed, **values}
    return make_scene(spec, values)


def _names() -> str:
    return ", ".join(map(repr, sorted(LIBRARY)))


def _from_toml(path: Path, values: Mapping[str, Any]) -> Scene:
    _check_file(path)
    try:
        tree = tomllib.loads(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise InputError(f"scene file {str(path)!r} is not UTF-8 text.") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"scene file {str(path)!r} is not valid TOML: {error}.") from None
    except RecursionError:
        raise InputError(f"scene file {str(path)!r} is nested deeper than {DEEPEST} levels.") from None
    except ValueError:
        raise InputError(f"scene file {str(path)!r} has a whole number of {WIDEST} bits or more.") from None
    _set_all(tree, values)
    check_tree(tree, f"scene file {str(path)!r}")
    tree.setdefault("name", path.stem)
    _resolve_files(tree, path.parent)
    _add_machines(tree, path)
    if "mixtures" in tree:
        mixed = read_mixtures(tree.pop("mixtures"), tree.get("materials"), f"scene file {str(path)!r}")
        tree["emitters"] = [*(emitter.model_dump() for emitter in mixed), *tree.get("emitters", [])]
    return Scene.read(tree, f"scene file {str(path)!r}")


def _from_python(path: Path, values: Mapping[str, Any], seed: int | None) -> Scene:
    """Runs the file; it has a module-level ``scene``, or a function ``make_scene(**values)``."""
    _check_file(path)
    try:
        found = runpy.run_path(str(path), run_name=path.stem)
        maker = found.get("make_scene")
        scene = found.get("scene") if not callable(maker) else maker(**_arguments(path, maker, values, seed))
    except InputError:
        raise
    except Exception as error:
        own = [entry for entry in traceback.extract_tb(error.__traceback__) if entry.filename == str(path)]
        where = f", line {own[-1].lineno}" if own else ""
        raise InputError(f"scene file {str(path)!r}{where} failed: {type(error).__name__}: {error}") from error
    if not isinstance(scene, Scene):
        raise InputError(
            f"scene file {str(path)!r} must define `scene` (a granum.Scene) or a function `make_scene` that returns one "
            f"(got {type(scene).__name__})."
        )
    if values and not callable(maker):
        raise InputError(
            f"scene file {str(path)!r} has no function make_scene, so there is no parameter {next(iter(values))!r} to set; "
            "dotted keys such as run.duration reach into the scene."
        )
    return scene if scene.name != "scene" else scene.model_copy(update={"name": path.stem})


def _arguments(path: Path, maker: Any, values: Mapping[str, Any], seed: int | None) -> dict[str, Any]:
    known = inspect.signature(maker).parameters
    if any(p.kind is inspect.Parameter.VAR_KEYWORD for p in known.values()):
        return {key: read_value(value) for key, value in values.items()}
    for key in values:
        known_name(f"parameter of make_scene in {str(path)!r}", key, known)
    seeded = {"seed": seed} if seed is not None and "seed" in known else {}
    return {**seeded, **{key: read_value(value) for key, value in values.items()}}


def _check_file(path: Path) -> None:
    if not path.is_file():
        raise InputError(f"scene file {str(path)!r} does not exist. Library scenes: {_names()}.")


def read_value(value: Any) -> Any:
    """Text as TOML reads it: numbers, true, false, arrays, tables; anything else is a text."""
    if not isinstance(value, str):
        return value
    try:
        return tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return value
    except (RecursionError, ValueError):
        raise InputError(f"value {value[:40]!r}... is nested too deeply, or a number of too many digits.") from None


def check_tree(tree: Any, where: str) -> None:
    """Refuse what no scene has and few programs bear: tables deeper than some levels, whole numbers that no machine counts with."""
    level = [tree]
    for _ in range(DEEPEST):
        parts: list[Any] = [part for one in level for part in (one.values() if isinstance(one, dict) else one)]
        for part in parts:
            if isinstance(part, int) and part.bit_length() >= WIDEST:
                raise InputError(f"{where} has a whole number of {WIDEST} bits or more.")
        level = [part for part in parts if isinstance(part, (dict, list, tuple))]
        if not level:
            return
    raise InputError(f"{where} is nested deeper than {DEEPEST} levels.")


def _set_all(tree: dict[str, Any], values: Mapping[str, Any]) -> None:
    for key, value in values.items():
        _set(tree, key, read_value(value))


def _set(tree: Any, key: str, value: Any) -> None:
    """Put ``value`` at the dotted place ``key``; tables on the way are made, list entries must be there."""
    parts = key.split(".")
    for depth, part in enumerate(parts):
        last = depth == len(parts) - 1
        where = ".".join(parts[:depth]) or "the scene"
        place: Any = part
        if isinstance(tree, list):
            place = _entry(tree, part, key, where)
        elif not isinstance(tree, dict):
            raise InputError(f"cannot set {key!r}: {where} is {tree!r}, not a table.")
        if last:
            tree[place] = value
            return
        if isinstance(tree, dict) and not isinstance(tree.get(place), (dict, list, tuple)):
            if place in tree and tree[place] is not None:
                raise InputError(f"cannot set {key!r}: {'.'.join(parts[: depth + 1])} is {tree[place]!r}, not a table.")
            tree[place] = {}
        if isinstance(tree[place], tuple):
            tree[place] = list(tree[place])
        tree = tree[place]


def _entry(entries: list[Any], part: str, key: str, where: str) -> int:
    names = [entry.get("name") if isinstance(entry, dict) else None for entry in entries]
    if part in names:
        return names.index(part)
    if part.isdigit() and int(part) < len(entries):
        return int(part)
    named = f", names {[n for n in names if n]}" if any(names) else ""
    raise InputError(f"cannot set {key!r}: {where} has {len(entries)} entries (numbered from 0{named}; got {part!r}).")


def _resolve_files(tree: Mapping[str, Any], folder: Path) -> None:
    """Files of meshes and motions are named relative to the scene file."""
    bodies = _tables(tree.get("bodies"))
    walls = [wall for owner in (tree, *bodies) for wall in _tables(owner.get("walls"))]
    for named in (*walls, *_tables([body.get("motion") for body in bodies])):
        file = named.get("file")
        if isinstance(file, str) and not Path(file).is_absolute():
            named["file"] = str(folder / file)


def _add_machines(tree: dict[str, Any], path: Path) -> None:
    """Bodies and joints of the URDF files that ``machines`` names, before those of the scene file."""
    for k, entry in enumerate(tree.pop("machines", [])):
        given = UrdfFile.read(entry, f"machines.{k} of scene file {str(path)!r}")
        made = read_urdf(
            path.parent / given.file,
            given.material,
            position=given.position,
            orientation=given.orientation,
            prefix=given.prefix,
            motors=given.motors,
        )
        tree["bodies"] = [*(body.model_dump() for body in made.bodies), *tree.get("bodies", [])]
        tree["joints"] = [*(joint.model_dump() for joint in made.joints), *tree.get("joints", [])]


def _tables(value: Any) -> list[dict[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _seeded(scene: Scene, seed: int | None) -> Scene:
    """The scene with all its seeds replaced: the first random thing gets ``seed``, the next ones the numbers after it."""
    if seed is None:
        return scene
    grains, emitters = list(scene.grains), list(scene.emitters)
    number = seed
    for k, block in enumerate(grains):
        if isinstance(block, Lattice):
            grains[k] = block.model_copy(update={"seed": number})
            number += 1
    for k, emitter in enumerate(emitters):
        emitters[k] = emitter.model_copy(update={"seed": number})
        number += 1
    return scene.model_copy(update={"grains": tuple(grains), "emitters": tuple(emitters)})
