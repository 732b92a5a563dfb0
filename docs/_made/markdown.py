"""Pieces of Markdown pages, made from texts of the source."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Sequence

CODE = re.compile(r"(``.+?``|`[^`]+`)", re.S)
MATH = re.compile(r":math:`(.+?)`", re.S)
ROLE = re.compile(r":(?:class|func|meth|attr|mod|data):`[~.]*([^`]+)`")
NOTE = re.compile(r"\s*\(physics \d+\)|(?<=\()physics \d+[;,] |[;,] physics \d+(?=\))")
"""Working equations that the source refers to by number and that are no page of the site."""


def inline(text: str) -> str:
    """A text of a docstring in one line of Markdown, with code and formulas kept as they are."""
    text = ROLE.sub(r"``\1``", NOTE.sub("", " ".join(text.split())))
    kept: list[str] = []

    def keep(found: str) -> str:
        kept.append(found)
        return f"\0{len(kept) - 1}\0"

    text = MATH.sub(lambda m: keep(f"${m[1]}$"), text)
    text = CODE.sub(lambda m: keep(f"`{m[1].strip('`')}`"), text)
    text = re.sub(r"([*$\\_])", r"\\\1", text).replace("<", "&lt;")
    return re.sub("\0(\\d+)\0", lambda m: kept[int(m[1])], text)


def blocks(text: str) -> str:
    """A docstring as Markdown: paragraphs, formulas that stand alone, lists and examples."""
    made = []
    for part in re.split(r"\n\s*\n", inspect.cleandoc(text)):
        lines = part.splitlines()
        first = lines[0].lstrip() if lines else ""
        if first.startswith(".. math::"):
            made.append(f"$$\n{' '.join([first.removeprefix('.. math::'), *lines[1:]]).strip()}\n$$")
        elif first.startswith(">>>"):
            made.append(fenced(inspect.cleandoc(part), "pycon"))
        elif first.startswith("- "):
            made.append("\n".join(f"- {inline(item)}" for item in re.split(r"(?:^|\n)\s*- ", part) if item.strip()))
        else:
            made.append(inline(part))
    return "\n\n".join(made)


def fenced(text: str, language: str) -> str:
    """A block of code."""
    return f"```{language}\n{text}\n```"


def code(text: object) -> str:
    """As it is typed; empty: nothing."""
    return f"`{text}`" if str(text) else ""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; columns without any entry are left out, and so is one without rows."""
    listed = [[" ".join(cell.split()).replace("|", r"\|") for cell in row] for row in rows]
    if not listed:
        return ""
    used = [k for k in range(len(head)) if any(row[k] for row in listed)]
    lines = [[head[k] for k in used], ["---"] * len(used), *([row[k] for k in used] for row in listed)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def page(title: str, *parts: str, anchor: str = "") -> str:
    """A page, or a part of one if its title begins with more than one mark; parts that are empty are left out."""
    heading = title if title.startswith("#") else f"# {title}"
    return "\n\n".join(part for part in ((f"({anchor})=\n" if anchor else "") + heading, *parts) if part)


def toctree(names: Iterable[str], depth: int = 1) -> str:
    """Pages below this one, for the menu alone."""
    return "\n".join(["```{toctree}", ":hidden:", f":maxdepth: {depth}", "", *names, "```"])
