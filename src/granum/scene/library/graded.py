"""Grains of many sizes in the scenes of the library: the parameter ``sizes``, which takes the place of ``diameter``."""

from __future__ import annotations

import tomllib
from typing import Any

from ...checks import InputError, finite_positive
from ...records import Record
from ...units import is_quantity
from ..sizes import Discrete, Sizes

MOVED = 0.4  # largest way of the smallest of many sizes in a step when it lands, in its diameters


class _Given(Record):
    sizes: Sizes
    """[m]"""


def read_sizes(scene: str, value: Any) -> Sizes | None:
    """A size distribution as it is, as a table, a list or a number, or as TOML writes these; none stays none."""
    if isinstance(value, str) and not is_quantity(value):
        try:
            value = tomllib.loads(f"value = {value}")["value"]
        except (tomllib.TOMLDecodeError, ValueError, RecursionError):
            raise InputError(
                f"sizes of scene {scene!r} must be a diameter (0.01 or 10mm), a list of them ([0.01, '12 mm']), or a table such as "
                f"{{distribution='uniform', lower=0.008, upper=0.012}} (got {value!r})."
            ) from None
    return None if value is None else _Given.read({"sizes": value}, f"scene {scene!r}").sizes


def graded(scene: str, sizes: Any, diameter: float | None, default: float, **beside: float | None) -> tuple[float, Sizes | None]:
    """The diameter [m] in which the lengths of a scene count, and the sizes of its grains; none: they follow from the diameter.

    With ``sizes`` it is the largest of them, and neither a diameter nor what stands ``beside`` it may be given.
    """
    found = read_sizes(scene, sizes)
    if found is None:
        return finite_positive("diameter", default if diameter is None else diameter, "m"), None
    for name, value in {"diameter": diameter, **beside}.items():
        if value is not None:
            raise InputError(
                f"give sizes or {name} of scene {scene!r}, not both: with sizes, lengths count in the largest diameter, "
                f"{found.range[1]:g} m (got {name} = {value!r})."
            )
    return found.range[1], found


def of_two(large: float, ratio: float) -> Discrete:
    """As many grains of the ``large`` diameter [m] as of one that is smaller by ``ratio``."""
    return Discrete(diameters=(large, large / ratio) if ratio > 1 else (large,))


def step_for(own: float, smallest: float, speed: float, most: float = MOVED) -> float:
    """The time step [s] of a scene: its ``own``, or less where its ``smallest`` grain [m] lands with ``speed`` [m/s].

    Then it moves ``most`` of its diameters in a step.
    """
    return min(own, most * smallest / speed)
