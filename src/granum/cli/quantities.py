"""Values of options with units, as ``--duration 2s``: a bare number is in SI units."""

from __future__ import annotations

from typing import Any

import typer

from ..units import KINDS, in_si, unit


def quantity(*units: str) -> dict[str, Any]:
    """Of an option: how a number is read that measures what one of the ``units`` does, and its name; without any, a plain number."""
    wanted = units or ("-",)
    first = unit(wanted[0])
    kind = KINDS.get(first.dimension) if first is not None else None

    def read(text: str | float) -> float:
        try:
            return float(text)  # nan and inf, too, which the settings refuse
        except ValueError:
            pass
        try:
            return in_si(str(text), *wanted)
        except ValueError as error:
            raise typer.BadParameter(f"{text!r} {error}.") from None

    return {"parser": read, "metavar": kind[0].split()[-1].upper() if kind is not None else "NUMBER"}


def threads() -> dict[str, Any]:
    """Of an option: a number of threads, or ``auto``."""

    def read(text: str | int) -> int | str:
        try:
            return text if text == "auto" else int(text)
        except ValueError:
            raise typer.BadParameter(f"{text!r} is neither a whole number nor 'auto'.") from None

    return {"parser": read, "metavar": "NUMBER|auto"}
