"""Scenes by name, each with parameters: ``granum scenes`` lists them. A scene is named here by one line, the import of its function."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Mapping
from typing import Any

from ...checks import InputError, known_name
from ...memory import check_grains
from ...units import is_quantity, read_degrees, read_quantity
from ..scene import Scene
from .box import box as box
from .circuit import circuit as circuit
from .collapse import collapse as collapse
from .column import column as column
from .conveyor import conveyor as conveyor
from .described import unit_of
from .drum import drum as drum
from .excavator import excavator as excavator
from .graded import read_sizes
from .pile import pile as pile
from .registered import LIBRARY
from .shear_cell import shear_cell as shear_cell
from .silo import silo as silo
from .triaxial import triaxial as triaxial


def parameters(name: str) -> dict[str, inspect.Parameter]:
    """The parameters of a library scene, with defaults."""
    return dict(inspect.signature(LIBRARY[known_name("scene", name, LIBRARY)]).parameters)


def make_scene(name: str, values: Mapping[str, Any] | None = None, /, **more: Any) -> Scene:
    """A library scene with its parameters as keywords or as a mapping; texts (from a command line) are read as the parameter's type.

    >>> make_scene("box", count=300, friction=0.5).name
    'box'
    """
    known = parameters(name)
    given = {}
    for key, value in {**(values or {}), **more}.items():
        known_name(f"parameter of scene {name!r}", key, known)
        given[key] = _read(name, key, value, known[key])
    check_grains(given.get("count") or 0)
    try:
        return LIBRARY[name](**given)
    except InputError:
        raise
    except (ArithmeticError, ValueError) as error:  # numbers that no formula of the scene bears
        shown = ", ".join(f"{key} = {value}" for key, value in given.items())
        raise InputError(f"scene {name!r} cannot be made with {shown}: {error}. Take values nearer to the defaults.") from error


def _read(scene: str, key: str, value: Any, parameter: inspect.Parameter) -> Any:
    if value is None and parameter.default is None:
        return None
    if key == "sizes":
        return read_sizes(scene, value)
    kind = typing.get_type_hints(LIBRARY[scene])[key]
    if isinstance(kind, types.UnionType):
        kind = next(k for k in typing.get_args(kind) if k is not type(None))
    if typing.get_origin(kind) is typing.Literal:
        return known_name(f"{key} of scene {scene!r}", str(value), typing.get_args(kind))
    if is_quantity(value) and kind is float:
        return _read_quantity(f"{key} of scene {scene!r}", value, unit_of(scene, key))
    try:
        number = float(value)
        if kind is int and not number.is_integer():
            raise ValueError
        return kind(number)
    except (ValueError, TypeError, OverflowError):
        rule = "a whole number" if kind is int else "a number"
        raise InputError(f"{key} of scene {scene!r} must be {rule} (got {value!r}).") from None


def _read_quantity(name: str, text: str, unit: str) -> float:
    """A number with a unit, in the unit of the parameter."""
    if unit == "diameters":
        raise InputError(f"{name} counts in diameters of the grains: give a plain number, such as 15 (got {text!r}).")
    return read_degrees(name, text) if unit == "degrees" else read_quantity(name, text, unit or "-")
