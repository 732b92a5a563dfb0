"""Laws and sizes of packings, read from a few characters: the same in Python and on the command line."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from pydantic import TypeAdapter, ValidationError

from ..arithmetic import power
from ..checks import InputError, explain, known_name
from ..contact.power import POWER_LAWS, PowerLaw
from ..scene.sizes import Discrete, LogNormal, Sizes, Uniform

SIZES_HELP = "Diameters in any unit, equal numbers of each: 1,1.4; with numbers: 1:0.7,2:0.3; uniform:0.8,1.2; lognormal:SIGMA."
WIDEST = 3.0  # standard deviations that a log-normal distribution keeps


def read_law(law: PowerLaw | str | None, alpha: float | None = None) -> PowerLaw:
    """The law of a packing as it is, by its name or by its exponent."""
    if isinstance(law, PowerLaw):
        return law
    if alpha is None:
        return POWER_LAWS[known_name("law", law or "hooke", POWER_LAWS)]
    if law is not None:
        raise InputError(f"give --law or --alpha, not both (got {law!r} and {alpha:g}).")
    return PowerLaw.read({"alpha": alpha}, "--alpha")


def read_count(count: int | None, particles: int | None, default: int) -> int:
    """How many grains: ``count`` and ``particles`` are two words for it."""
    if count is not None and particles is not None:
        raise InputError(f"give count or particles, not both: they are two words for one number (got {count!r} and {particles!r}).")
    asked = count if count is not None else particles if particles is not None else default
    if isinstance(asked, bool) or not isinstance(asked, Integral):
        raise InputError(f"{'count' if count is not None else 'particles'} must be a whole number of grains (got {asked!r}).")
    return int(asked)


def read_sizes(text: Any) -> Sizes:
    """A size distribution as it is, a diameter, a list of several, or as it is written on the command line (see ``SIZES_HELP``)."""
    if not isinstance(text, str):
        try:
            return TypeAdapter(Sizes).validate_python(text)
        except ValidationError as error:
            raise explain(error, "sizes") from None
    kind, colon, rest = text.partition(":")
    try:
        if kind.strip() == "uniform" and colon:
            lower, upper = (float(part) for part in rest.split(","))
            return Uniform(lower=lower, upper=upper)
        if kind.strip() == "lognormal" and colon:
            sigma = float(rest)
            edge = power(2.718281828459045, WIDEST * sigma)
            return LogNormal(median=1.0, sigma=sigma, lower=1 / edge, upper=edge)
        parts = [part.partition(":") for part in text.split(",")]
        numbers = tuple(float(number) if colon else 1.0 for _, colon, number in parts)
        return Discrete(diameters=tuple(float(diameter) for diameter, _, _ in parts), fractions=numbers)
    except InputError as error:
        raise InputError(f"--sizes {text!r}: {error}") from None
    except (ValueError, OverflowError):
        raise InputError(f"--sizes {text!r} cannot be read. {SIZES_HELP}") from None
