"""Pages of the command line: every command with its help, options and examples."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import typer

from granum.cli import COMMANDS, make_app

from .markdown import code, fenced, inline, page, table, toctree

KINDS = {int: "whole number", float: "number", str: "text", Path: "file", bool: ""}
OTHERS = "Options"


def pages() -> Iterator[tuple[str, str]]:
    """Name and text of every page."""
    group: Any = typer.main.get_command(make_app())
    rows = []
    for name in COMMANDS:
        words, examples = _help(group.commands[name].help or "")
        rows.append((f"[`granum {name}`]({name}.md)", inline(words[0] if words else "")))
        yield f"commands/{name}", _command(name, group.commands[name], words, examples)
    said = (
        "`granum COMMAND --help` shows the same in a terminal. Results go to standard output, and all else that is said to standard error. "
        "The exit code is 0 when the command did its work, 1 when a run failed, and 2 when the input was refused."
    )
    yield "commands/index", page("Command line", said, table(("command", "what it does"), rows), toctree(COMMANDS))


def _help(text: str) -> tuple[list[str], list[str]]:
    """Paragraphs of a help text, and the lines of its examples."""
    words, examples = [], []
    for part in inspect.cleandoc(text).split("\n\n"):
        if part.lstrip().startswith("\b"):
            examples += [line.strip() for line in part.lstrip().removeprefix("\b").strip().splitlines()]
        elif part.strip():
            words.append(part)
    return words, examples


def _command(name: str, command: Any, words: list[str], examples: list[str]) -> str:
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option" and not p.hidden]
    usage = " ".join(["granum", name, *(_typed(p) for p in arguments), *(["[OPTIONS]"] if options else [])])
    panels: dict[str, list[Any]] = {}
    for option in options:
        panels.setdefault(option.rich_help_panel or OTHERS, []).append(option)
    parts = [fenced(usage, "text"), *map(inline, words)]
    if arguments:
        parts.append(page("## Arguments", table(("argument", "meaning"), ((code(_typed(p)), inline(p.help or "")) for p in arguments))))
    for panel, held in panels.items():
        rows = ((_spelled(p), _kind(p), inline(p.help or "")) for p in held)
        parts.append(page(f"## {panel}", table(("option", "value", "meaning"), rows)))
    if examples:
        parts.append(page("## Examples", fenced("\n".join(examples), "text")))
    return page(f"`granum {name}`", *parts, anchor=f"command-{name}")


def _typed(argument: Any) -> str:
    """As a usage line has it."""
    name = (argument.metavar or argument.name.upper()).strip("[]")
    more = "..." if argument.nargs != 1 and not name.endswith("...") else ""
    return f"{name}{more}" if argument.required else f"[{name}{more}]"


def _spelled(option: Any) -> str:
    both = [*option.opts, *option.secondary_opts]
    return ", ".join(map(code, both))


def _kind(option: Any) -> str:
    """What is typed behind it."""
    if option.is_flag:
        return ""
    kind = option.type_descriptor.annotation
    kind = next(iter(get_args(kind)), kind) if option.multiple else kind
    shown = code(option.metavar) if option.metavar else KINDS.get(kind, "text")
    return f"{shown}, may be repeated" if option.multiple else shown
