"""Quantities with units, read at the border: ``10mm``, ``10 GPa``, ``5%``, ``2500 kg/m3``, ``30 rpm``. Inside, all is SI.

A unit is a product or quotient of named units with powers. Every field of a record says its own in brackets in its text, ``[m/s]``: that
is what a quantity given for it must measure. Values are rounded once: ``9 mm`` has the bits of 0.009.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

from .checks import InputError

Dimension = tuple[int, int, int, int]
"""Powers of length, mass, time and angle."""


class Unit(NamedTuple):
    """What a unit measures, and how many SI units it is."""

    dimension: Dimension
    factor: Fraction


NUMBER, LENGTH, MASS, TIME, ANGLE = (0, 0, 0, 0), (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)
FORCE, PRESSURE, ENERGY, POWER = (1, 1, -2, 0), (-1, 1, -2, 0), (2, 1, -2, 0), (2, 1, -3, 0)
KINDS: dict[Dimension, tuple[str, str]] = {
    NUMBER: ("a plain number", "a plain number, or in %"),
    LENGTH: ("a length", "m, mm, cm"),
    (2, 0, 0, 0): ("an area", "m2, cm2"),
    (3, 0, 0, 0): ("a volume", "m3, l"),
    MASS: ("a mass", "kg, g, t"),
    TIME: ("a time", "s, ms, min"),
    (0, 0, -1, 0): ("a rate", "1/s, Hz"),
    ANGLE: ("an angle", "rad, deg"),
    (0, 0, -1, 1): ("a spin", "rad/s, deg/s, rpm"),
    (1, 0, -1, 0): ("a speed", "m/s, mm/s, km/h"),
    (1, 0, -2, 0): ("an acceleration", "m/s2, mm/s2"),
    (-3, 1, 0, 0): ("a density", "kg/m3, g/cm3"),
    (0, 1, -1, 0): ("a mass flow", "kg/s, g/s, t/h"),
    (0, 1, -2, 0): ("a stiffness", "N/m, kN/m"),
    (2, 1, 0, 0): ("a moment of inertia", "kg m2"),
    FORCE: ("a force", "N, kN"),
    PRESSURE: ("a pressure", "Pa, kPa, MPa, GPa, bar"),
    ENERGY: ("an energy or a torque", "J, N m"),
    POWER: ("a power", "W, kW"),
}
"""Of every dimension that has a name: what it is, and units to give it in, the first of them SI."""
PREFIXES = {"T": 12, "G": 9, "M": 6, "k": 3, "h": 2, "d": -1, "c": -2, "m": -3, "u": -6, "n": -9}
BASES = {
    "m": Unit(LENGTH, Fraction(1)),
    "g": Unit(MASS, Fraction(1, 1000)),
    "s": Unit(TIME, Fraction(1)),
    "l": Unit((3, 0, 0, 0), Fraction(1, 1000)),
    "N": Unit(FORCE, Fraction(1)),
    "Pa": Unit(PRESSURE, Fraction(1)),
    "J": Unit(ENERGY, Fraction(1)),
    "W": Unit(POWER, Fraction(1)),
    "Hz": Unit((0, 0, -1, 0), Fraction(1)),
    "bar": Unit(PRESSURE, Fraction(100_000)),
    "rad": Unit(ANGLE, Fraction(1)),
}
"""Units that take prefixes."""
ALONE = {
    "min": Unit(TIME, Fraction(60)),
    "h": Unit(TIME, Fraction(3600)),
    "t": Unit(MASS, Fraction(1000)),
    "deg": Unit(ANGLE, Fraction(math.pi / 180)),
    "rpm": Unit((0, 0, -1, 1), Fraction(math.pi / 30)),
    "1": Unit(NUMBER, Fraction(1)),
    "-": Unit(NUMBER, Fraction(1)),
    "%": Unit(NUMBER, Fraction(1, 100)),
}
DIAMETER = "d"  # the unit of sizes that are counted in grains

QUANTITY = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(.*?)\s*")
SAME = str.maketrans({"µ": "u", "μ": "u", "²": "2", "³": "3", "^": None, "·": " ", "*": " "})
FACTOR = re.compile(r"([A-Za-z%]+|1|-)(-?\d)?")
LONGEST = 64  # characters of a quantity


@cache
def unit(text: str) -> Unit | None:
    """The unit that ``text`` names, such as ``kg/m^3``; None where there is none."""
    dimension, factor = [0, 0, 0, 0], Fraction(1)
    for number, part in enumerate(text.translate(SAME).split("/")):
        names = part.split()
        if not names:
            return None
        for name in names:
            match = FACTOR.fullmatch(name.replace("°", "deg"))
            found = _named(match[1]) if match else None
            if match is None or found is None:
                return None
            power = int(match[2] or 1) * (-1 if number else 1)
            dimension = [have + power * more for have, more in zip(dimension, found.dimension, strict=True)]
            factor *= found.factor**power
    length, mass, time, angle = dimension
    return Unit((length, mass, time, angle), factor)


def _named(name: str) -> Unit | None:
    whole = ALONE.get(name) or BASES.get(name)
    if whole is not None:
        return whole
    base = BASES.get(name[1:])
    return Unit(base.dimension, base.factor * Fraction(10) ** PREFIXES[name[0]]) if base and name[0] in PREFIXES else None


@cache
def units_in(text: str) -> tuple[str, ...]:
    """The units that a text names in brackets: ``("m/s", "rad/s")`` of "[m/s], of a hinge [rad/s]"."""
    inside = (part.strip() for part in re.findall(r"\[([^\[\]]+)\]", text))
    return tuple(part for part in inside if unit(part) is not None and not part.isdigit())


def is_quantity(text: Any) -> bool:
    """Whether it is a text that begins with a number and goes on with something else."""
    match = QUANTITY.fullmatch(text) if isinstance(text, str) and len(text) <= LONGEST else None
    return match is not None and match[2] != ""


def read_quantity(name: str, text: str, *wanted: str) -> float:
    """The SI value of ``text``, which measures what one of the ``wanted`` units does; a bare number is taken as it is.

    >>> read_quantity("diameter", "10 mm", "m")
    0.01
    """
    try:
        return in_si(text, *wanted)
    except ValueError as error:
        raise InputError(f"{name}: {text!r} {error}.") from None


def in_si(text: str, *wanted: str, also: str = "") -> float:
    """As :func:`read_quantity`; a ValueError tells what is wrong. ``also`` is how else it may be given, in words."""
    kinds = [found.dimension for found in map(unit, wanted) if found is not None]
    number, written = split(text, kinds, also)
    if not written:
        return float(number)
    given = unit(written)
    if given is None:
        raise ValueError(f"has the unknown unit {written!r}. {_give(kinds, also)}")
    if given.dimension not in kinds:
        raise ValueError(f"is {_kind(given.dimension, written)}, not {' or '.join(map(_kind, kinds))}. {_give(kinds, also)}")
    try:
        return float(Fraction(number) * given.factor) if float(number) != 0 else 0.0
    except OverflowError:
        raise ValueError(f"is too large for a number. {_give(kinds, also)}") from None


def split(text: str, kinds: list[Dimension], also: str = "") -> tuple[str, str]:
    """Number and unit as they are written; a ValueError where that is no quantity."""
    match = QUANTITY.fullmatch(text) if len(text) <= LONGEST else None
    if match is None or not math.isfinite(float(match[1])):
        raise ValueError(f"is not a number with a unit. {_give(kinds, also)}")
    return match[1], match[2]


def read_size(name: str, text: str, diameter: float) -> float:
    """A size in grain diameters: "15", "15 d", or a length such as "15 cm"; ``diameter`` [m]."""
    also = f", or in {DIAMETER} (grain diameters, as a bare number is)"
    try:
        number, written = split(text, [LENGTH], also)
        return float(number) if written in ("", DIAMETER) else in_si(text, "m", also=also) / diameter
    except ValueError as error:
        raise InputError(f"{name}: {text!r} {error}.") from None


def read_degrees(name: str, text: str) -> float:
    """An angle in degrees: "30 deg" and a bare 30 are 30.

    >>> read_degrees("tilt", "30 deg")
    30.0
    """
    also = "; a bare number is in degrees"
    try:
        number, written = split(text, [ANGLE], also)
        return float(number) if written in ("", "deg", "°") else math.degrees(in_si(text, "rad", also=also))
    except ValueError as error:
        raise InputError(f"{name}: {text!r} {error}.") from None


def read_as(name: str, text: str, wanted: str) -> float:
    """A quantity in the unit that a table calls ``wanted``: SI, or degrees.

    >>> read_as("--target repose", "0.5 rad", "degrees")
    28.64788975654116
    """
    if wanted == "degrees":
        return read_degrees(name, text)
    if unit(wanted) is None:
        counted = f"counts in {wanted}" if wanted else "is a plain number"
        raise InputError(f"{name} {counted}: give it without a unit (got {text!r}).")
    return read_quantity(name, text, wanted)


def _kind(dimension: Dimension, written: str = "") -> str:
    return KINDS[dimension][0] if dimension in KINDS else f"a quantity in {written}" if written else "such a quantity"


def _give(kinds: list[Dimension], also: str) -> str:
    """The way out."""
    if not kinds:
        return "Give a plain number"
    if also:
        return f"Give {_kind(kinds[0])} in {KINDS[kinds[0]][1]}{also}"
    ways = []
    for kind in kinds:
        what, names = KINDS.get(kind, ("a plain number", ""))
        ways.append(names if kind == NUMBER else f"{what} in {names}; a bare number is in {names.split(', ')[0]}" if names else what)
    return f"Give {', or '.join(ways)}"
