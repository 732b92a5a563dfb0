"""Quantities with units, read at the border: ``10mm``, ``10 GPa``, ``5%``, ``2500 kg/m3``, ``3 d``. Inside, all is SI."""

from __future__ import annotations

import math
import re

from ..checks import InputError

UNITS: dict[str, dict[str, float]] = {
    "length": {"m": 1.0, "km": 1e3, "dm": 0.1, "cm": 1e-2, "mm": 1e-3, "um": 1e-6, "nm": 1e-9},
    "time": {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60.0, "h": 3600.0},
    "mass": {"kg": 1.0, "g": 1e-3, "mg": 1e-6, "t": 1e3},
    "pressure": {"Pa": 1.0, "kPa": 1e3, "MPa": 1e6, "GPa": 1e9, "TPa": 1e12, "bar": 1e5, "N/m2": 1.0, "N/mm2": 1e6},
    "density": {"kg/m3": 1.0, "g/cm3": 1e3, "t/m3": 1e3, "kg/l": 1e3, "g/l": 1.0},
    "acceleration": {"m/s2": 1.0, "cm/s2": 1e-2, "mm/s2": 1e-3},
    "speed": {"m/s": 1.0, "cm/s": 1e-2, "mm/s": 1e-3, "km/h": 1 / 3.6},
    "fraction": {"%": 0.01},
}
"""What is accepted, by kind of quantity; the first unit of a kind is its SI unit, and a bare number is in it."""
DIAMETER = "d"  # the unit of sizes that are counted in grains

QUANTITY = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(.*?)\s*")
SAME = str.maketrans({"µ": "u", "μ": "u", "²": "2", "³": "3", "^": None, " ": None, "·": None, "*": None})


def read_quantity(name: str, text: str, kind: str) -> float:
    """The SI value of ``text``, a quantity of one of the kinds in ``UNITS``.

    >>> read_quantity("diameter", "10 mm", "length")
    0.01
    """
    units = UNITS[kind]
    number, unit = _split(name, text, kind, f"in {', '.join(units)}; a bare number is in {next(iter(units))}")
    return number * units[unit] if unit else number


def read_fraction(name: str, text: str) -> float:
    """A plain number, or one in per cent: "0.05" or "5%"."""
    number, unit = _split(name, text, "fraction", "as a plain number or in %")
    return number * 0.01 if unit else number


def read_size(name: str, text: str, diameter: float) -> float:
    """A size in grain diameters: "15", "15 d", or a length such as "15 cm"; ``diameter`` [m]."""
    accepted = f"in {DIAMETER} (grain diameters, as a bare number is), {', '.join(UNITS['length'])}"
    number, unit = _split(name, text, "length", accepted, also=DIAMETER)
    return number if unit in ("", DIAMETER) else number * UNITS["length"][unit] / diameter


def _split(name: str, text: str, kind: str, accepted: str, also: str = "") -> tuple[float, str]:
    """Number and unit of a quantity of that kind, or a refusal that says what is accepted."""
    match = QUANTITY.fullmatch(text)
    if match is None or not math.isfinite(float(match[1])):
        problem = "is not a number with a unit"
    else:
        unit = match[2].translate(SAME)
        if unit in ("", also) or unit in UNITS[kind]:
            return float(match[1]), unit
        other = next((other for other, units in UNITS.items() if unit in units), None)
        problem = f"is {_a(other)}, not {_a(kind)}" if other else f"has the unknown unit {unit!r}"
    raise InputError(f"{name}: {text!r} {problem}. Give {_a(kind)} {accepted}.")


def _a(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"
