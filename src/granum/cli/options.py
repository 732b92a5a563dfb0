"""Options of commands, made from the fields of settings: one place for name, default, range and help text."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from ..checks import InputError
from ..units import units_in
from .fields import FieldText, field_text
from .quantities import quantity

if TYPE_CHECKING:
    from ..records import Record

Chosen = TypeVar("Chosen", bound="Record")
OUTPUT = "Files and output"


@dataclass(frozen=True)
class Opt:
    """An option that stands for a field of a record."""

    name: str
    """As a parameter: ``time_step`` is typed ``--time-step``."""
    field: str
    """``where:Class.field``, where is a module or a folder of the package."""
    place: tuple[str, ...] = ()
    """Where the value goes in the nested tables of settings; none: the name alone."""
    panel: str | None = None
    """Heading under which the help page shows it."""
    flag: str = ""
    """Spelling of an option without a value, such as ``--relax`` or ``--momentum/--no-momentum``."""
    sets: Any = None
    """What a flag sets where it is given; None: what it says."""
    says: str = ""
    """In place of the field's own text, for an option that stands for several fields, or for a part of one."""
    many: bool = False
    """It may be given several times."""
    metavar: str | None = None
    reads: dict[str, Any] | None = None
    """How its value is read (``quantities.py``); none: as the kind of the field."""

    @property
    def text(self) -> FieldText:
        return field_text(self.field)

    @property
    def help(self) -> str:
        """The field's text, its choices and its default."""
        field = self.text
        words = (self.says or first_sentence(field.text)).rstrip(".").replace("; none:", ". Default:")
        if field.choices and not all(choice in words for choice in field.choices):
            words = f"{words}: {', '.join(field.choices[:-1])} or {field.choices[-1]}" if words else " or ".join(field.choices)
        default = field.default
        if self.flag or default is None or default == "" or "efault" in words:
            return f"{words}."
        shown = (
            f"{default:g}" if isinstance(default, float) else ",".join(map(str, default)) if isinstance(default, tuple) else str(default)
        )
        return f"{words}. Default: {shown}."

    def parameter(self) -> inspect.Parameter:
        """For a command's signature; what is not given is None."""
        kind: Any = self.text.kind
        if self.flag:
            info = typer.Option(self.flag, help=self.help, rich_help_panel=self.panel, show_default=False)
            both = "/" in self.flag
            return _parameter(self.name, (bool | None) if both else bool, info, None if both else False)
        reads = self.reads or (quantity(*units_in(self.text.text)) if kind is float else {})
        reads = {**reads, "metavar": self.metavar or reads.get("metavar")}
        info = typer.Option(self.spelled, help=self.help, rich_help_panel=self.panel, **reads)
        return _parameter(self.name, (list[kind] | None) if self.many else (kind | None), info, None)

    @property
    def spelled(self) -> str:
        """As typed."""
        return self.flag.split("/")[0] or f"--{self.name.replace('_', '-')}"

    def value(self, given: Any) -> Any:
        """What goes into the settings; None: nothing."""
        if self.flag and self.sets is not None:
            return self.sets if given else None
        return (given or None) if self.flag and "/" not in self.flag else given


def first_sentence(text: str) -> str:
    """Of a docstring, without its marks."""
    return re.split(r"(?<=[^.]\.)\s", text, maxsplit=1)[0].replace("``", "")


def _parameter(name: str, kind: Any, info: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, info])


def argument(name: str, kind: Any, help: str, default: Any = inspect.Parameter.empty, metavar: str | None = None) -> inspect.Parameter:
    """A positional parameter."""
    made = typer.Argument(metavar=metavar or name.upper(), help=help)
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, made])


def option(
    name: str, kind: Any, *spellings: str, help: str, default: Any = None, panel: str | None = None, **more: Any
) -> inspect.Parameter:
    """An option that is no field of a record: what to write, and how to show it."""
    return _parameter(name, kind, typer.Option(*spellings, help=help, rich_help_panel=panel, **more), default)


def output_option(help: str, default: Path | None = None, panel: str | None = OUTPUT) -> inspect.Parameter:
    """``-o``"""
    return option("output", Path | None if default is None else Path, "--output", "-o", help=help, default=default, panel=panel)


def no_picture(help: str, panel: str | None = OUTPUT) -> inspect.Parameter:
    """``--no-picture``"""
    return option("no_picture", bool, "--no-picture", help=help, default=False, panel=panel)


def overwrite_option(other: str, panel: str | None = OUTPUT) -> inspect.Parameter:
    """``--overwrite``; ``other`` is the name that is written without it."""
    help = f"Replace a recording of that name. Default: write {other}."
    return option("overwrite", bool, "--overwrite", help=help, default=False, panel=panel)


def json_option(help: str = "One JSON object.", panel: str | None = OUTPUT) -> inspect.Parameter:
    """``--json``"""
    return option("as_json", bool, "--json", help=help, default=False, panel=panel)


def with_parameters(
    *parameters: inspect.Parameter | Opt, examples: Iterable[str] = ()
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A command ``f(**given)`` gets these parameters; they come to it as keywords. ``examples`` follow those of its docstring."""
    made = [p.parameter() if isinstance(p, Opt) else p for p in parameters]
    required = [p for p in made if p.default is inspect.Parameter.empty]
    ordered = [*required, *(p for p in made if p.default is not inspect.Parameter.empty)]

    def door(command: Callable[..., Any]) -> Callable[..., Any]:
        command.__signature__ = inspect.Signature(ordered)  # type: ignore[attr-defined]
        command.__annotations__ = {p.name: p.annotation for p in ordered}
        command.__doc__ = "\n".join([inspect.getdoc(command) or "", *examples])
        return command

    return door


def settings_of(options: Iterable[Opt], given: dict[str, Any]) -> dict[str, Any]:
    """Nested tables of what was given of these options."""
    tree: dict[str, Any] = {}
    for one in options:
        value = one.value(given.get(one.name))
        if value is None or value == []:
            continue
        place = one.place or (one.name,)
        inner = tree
        for part in place[:-1]:
            inner = inner.setdefault(part, {})
        inner[place[-1]] = value
    return tree


def read_settings(record: type[Chosen], options: Iterable[Opt], given: dict[str, Any], **more: Any) -> Chosen:
    """The record that the options make up; a refusal speaks of options."""
    spelled = {one.name: one.spelled for one in options}
    try:
        return record.model_validate(settings_of(options, given) | more)
    except InputError as error:
        lines = [f"{spelled.get(field.split('.')[0], field)} {rule} (got {value!r})" for field, rule, value in error.places]
        raise InputError("; ".join(dict.fromkeys(lines)) + "." if lines else str(error)) from None
