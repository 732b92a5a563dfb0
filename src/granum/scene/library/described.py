"""What the parameters of library scenes are: kind, default in effect, unit and meaning, in one line each.

The meaning stands in the docstring of the scene's function, in lines such as

    ``width`` [diameters]: of the silo, inside.

or, of those that mean the same in every scene, in ``COMMON``. A unit there is also what a quantity given for the parameter must measure.
"""

from __future__ import annotations

import inspect
import re
import types
import typing
from dataclasses import dataclass
from typing import Any

from ...checks import known_name
from .registered import LIBRARY

LINE = re.compile(r"^\s*``(\w+)``(?: \[([^\]]+)\])?: (.+)$", re.M)
COMMON = {
    "count": ("", "number of grains."),
    "diameter": ("m", "of the grains, or of the larger ones; lengths in diameters count in it."),
    "size_ratio": ("", "of the larger diameter to the smaller one; 1: all are equal."),
    "sizes": ("m", "size distribution in place of the diameter: a table, as in scene files; the largest is then the diameter."),
    "youngs_modulus": ("Pa", "of grains and walls."),
    "stiffness": ("N/m", "of contacts, which push in proportion to their overlap; none: Hertz's law."),
    "friction": ("", "coefficient of friction between grains."),
    "rolling_friction": ("", "coefficient of rolling friction between grains."),
    "restitution": ("", "of collisions, from 0 (no rebound) to 1."),
    "time_step": ("s", "time step of the nonsmooth stepper."),
    "duration": ("s", "simulated time."),
    "settle": ("s", "time to come to rest."),
    "ramp": ("s", "time in which gravity grows from nearly nothing, so that grains land gently."),
    "seed": ("", "seed of all that is random."),
}


@dataclass(frozen=True)
class Described:
    """A parameter of a library scene."""

    name: str
    kind: str
    """What is given: int, float, one of some names, or sizes."""
    default: Any
    """The value in effect where it is not given; none: it is off, or without end."""
    unit: str
    meaning: str


def summary(name: str) -> str:
    """What a scene is, in one line."""
    return (inspect.getdoc(LIBRARY[known_name("scene", name, LIBRARY)]) or "").split("\n")[0].replace("``", "")


def explanation(name: str) -> str:
    """The paragraphs of a scene's docstring, without its first line and its parameters."""
    text = LINE.sub("", (inspect.getdoc(LIBRARY[known_name("scene", name, LIBRARY)]) or "").partition("\n")[2])
    paragraphs = (" ".join(part.split()) for part in text.replace("``", "").split("\n\n"))
    return "\n\n".join(part for part in paragraphs if part)


def described(name: str) -> dict[str, Described]:
    """The parameters of a scene, in their order; defaults are those that a scene made without arguments has."""
    make = LIBRARY[known_name("scene", name, LIBRARY)]
    texts = _texts(name)
    made = make().parameters
    chosen = made.chosen if made is not None else {}
    hints = typing.get_type_hints(make)
    found = {}
    for key, parameter in inspect.signature(make).parameters.items():
        unit, meaning = texts.get(key, ("", ""))
        default = chosen.get(key) if parameter.default is None else parameter.default
        found[key] = Described(key, _kind(hints[key]), default, unit, meaning.replace("``", ""))
    return found


def unit_of(name: str, key: str) -> str:
    """Unit of a parameter; empty: it is a plain number. The scene is not made."""
    return _texts(name).get(key, ("", ""))[0]


def _texts(name: str) -> dict[str, tuple[str, str]]:
    """Unit and meaning of the parameters of a scene."""
    return COMMON | {key: (unit, text) for key, unit, text in LINE.findall(inspect.getdoc(LIBRARY[name]) or "")}


def _kind(hint: Any) -> str:
    """In words."""
    if isinstance(hint, types.UnionType):
        hint = next(k for k in typing.get_args(hint) if k is not type(None))
    if typing.get_origin(hint) is typing.Literal:
        return " or ".join(typing.get_args(hint))
    return {int: "int", float: "float"}.get(hint, "sizes")
