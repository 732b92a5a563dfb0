"""Settings of a run, as far as a scene may ask for them; :class:`granum.Settings` adds the steppers' own records.

A scene knows no stepper: a stepper's table is checked by the record that ``STEPPERS`` names, which is loaded when it is first needed.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Annotated, Any, Literal, Union

from pydantic import BeforeValidator, Field, PlainValidator, TypeAdapter

from ..checks import InputError
from ..records import NonNegative, Positive, Record, Whole, tree_of

STEPPERS = {"nonsmooth": ("granum.nonsmooth", "Nonsmooth"), "smooth": ("granum.smooth", "Smooth")}
"""Module and record of every stepper's settings, by its name."""
FIRST = "nonsmooth"  # taken where no name is given
Action = Literal["stop", "warn", "off"]
Threads = int | Literal["auto"]
AUTO: Literal["auto"] = "auto"


class Guards(Record):
    """What stops a run that went wrong; each may also only warn."""

    overlap: Positive = 0.9
    """Largest overlap [-], in diameters of the smaller grain (of the grain, at a wall); of two bodies, in R* of their contact."""
    on_overlap: Action = "stop"
    """What a larger overlap does."""
    on_lost: Action = "stop"
    """A grain or a dynamic body that left the world, or a grain that went through a wall."""
    energy: NonNegative = 0.1
    """Most energy that may come from nothing [-], as a part of the largest kinetic energy so far plus m g d of all grains, and of the
    dynamic bodies that touch others."""
    on_energy: Action = "stop"
    """What more energy does."""
    on_coarse: Literal["warn", "off"] = "warn"
    """A step in which grains or walls move by 0.2 of the smallest diameter, or grains overlap by 0.05 of theirs, or a loss of 1 % of the
    energy by contacts that should lose none: the run goes on, and tells which step would fit."""


def stepper_record(name: str) -> type[Record]:
    """The record of a stepper's settings."""
    module, kind = STEPPERS[name]
    return getattr(import_module(module), kind)


@cache
def _any_stepper() -> TypeAdapter[Any]:
    records: Any = tuple(stepper_record(name) for name in STEPPERS)
    kinds: Any = Annotated[Union[records], Field(discriminator="name")]  # noqa: UP007  (made from a table)
    return TypeAdapter(kinds)


def _checked_stepper(table: Any) -> Any:
    """The table as it is, if it is one of a stepper: what it leaves out stays open."""
    table = stepper_table(table)
    if isinstance(table, dict):
        _any_stepper().validate_python(named(table))  # its errors become those of the scene, each with its place
    elif table is not None:
        raise ValueError("must be a table, or the name of a stepper")
    return table


def named(table: dict[str, Any]) -> dict[str, Any]:
    """A stepper's table in which the stepper and the parts of it that come in several kinds have names: those of the defaults."""
    full = {"name": FIRST, **table}
    for part, info in stepper_record(full["name"]).model_fields.items() if full["name"] in STEPPERS else ():
        if isinstance(full.get(part), dict) and hasattr(info.default, "name"):
            full[part] = {"name": info.default.name, **full[part]}
    return full


def stepper_table(stepper: Any) -> Any:
    """A stepper by its name or as a record, as a table of what was set; ``solver`` and ``warm_start`` in it may be names, too."""
    table = {"name": stepper} if isinstance(stepper, str) else tree_of(stepper)
    if isinstance(table, dict):
        table = {key: tree_of(value) for key, value in table.items()}
        for part in ("solver", "warm_start"):
            if isinstance(table.get(part), str):
                table[part] = {"name": table[part]}
    return table


def spelled(fields: Any) -> Any:
    """Fields of settings with the short spellings written out: ``solver="pgs"``, ``stepper="smooth"``."""
    if not isinstance(fields, dict):
        return fields
    tree = {key: tree_of(value) for key, value in fields.items()}
    if "solver" in tree:
        if "stepper" in tree:
            raise InputError("give solver or stepper, not both: the stepper has a solver of its own.")
        tree["stepper"] = {"solver": tree.pop("solver")}
    if "stepper" in tree:
        tree["stepper"] = stepper_table(tree["stepper"])
    return tree


def merge(base: dict[str, Any], over: dict[str, Any]) -> None:
    """Put nested tables over others."""
    for key, value in over.items():
        old = base.get(key)
        # A record that is named anew (another warm start, another solver) replaces the old one with all its fields.
        renamed = isinstance(value, dict) and isinstance(old, dict) and value.get("name", old.get("name")) != old.get("name")
        if key == "stepper" and value is None:
            continue
        if isinstance(value, dict) and isinstance(old, dict) and not renamed:
            base[key] = {**old}
            merge(base[key], value)
        else:
            base[key] = value


Recorded = Literal["position", "velocity", "spin", "orientation", "contacts"]


def _split(names: Any) -> Any:
    """Names with commas between them."""
    return tuple(name.strip() for name in names.split(",")) if isinstance(names, str) else names


class RunSettings(Record):
    """How a scene is run. In a scene only what was set counts, the rest is open: the caller's, or the default."""

    stepper: Annotated[Any, PlainValidator(_checked_stepper)] = None
    """The stepper with its settings."""
    time_step: Positive | None = None
    """Time step h [s]; none: as the stepper suggests for the scene."""
    duration: Positive = 1.0
    """Simulated time [s]."""
    every: Positive | None = None
    """Simulated time between recorded frames [s]; none: a hundredth of the duration."""
    record: Annotated[tuple[Recorded, ...], BeforeValidator(_split)] = ("position", "velocity", "spin", "orientation", "contacts")
    """What a frame holds of the grains, with commas between: position, velocity, spin, orientation, contacts. Positions, sizes, ids and
    materials are always there."""
    precision: Literal["double", "single"] = "double"
    """Of the numbers of grains and contacts in the recording. The run itself is always double."""
    compress: bool = False
    """Compress the recording."""
    checkpoint_every: Positive = 10.0
    """Wall time between checkpoints [s]."""
    relax: bool = False
    """Push overlapping initial grains apart instead of refusing them."""
    threads: Annotated[Whole, Field(ge=1)] | Literal["auto"] = 1
    """Threads; the result has the same bits for any number of them. ``auto``: as many as the grains keep busy on the cores that there are,
    as ``granum run`` and ``granum.run`` take unless they are told; one in a process that another one has started."""
    guards: Guards = Guards()
    """What stops a run that went wrong."""


SceneRun = Annotated[RunSettings, BeforeValidator(spelled)]
"""As a scene holds it."""
