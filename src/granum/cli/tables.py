"""All tables on stdout."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

WIDTH = 140  # where there is no terminal


def console(wide: bool = False) -> Any:
    """For stdout; ``wide``: not cut to 80 columns where there is no terminal."""
    from rich.console import Console

    return Console(highlight=False, emoji=False, width=WIDTH if wide and not sys.stdout.isatty() else None)


def show_rows(rows: Iterable[tuple[str, str]], title: str = "", justify: Any = "left") -> None:
    """Names and values, one pair in a line; values may have markup."""
    from rich.table import Table

    table = Table(title=title or None, show_header=False, title_justify="left")
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(overflow="fold", justify=justify)
    for name, value in rows:
        table.add_row(name, value)
    console().print(table)


def show_columns(columns: Sequence[str], rows: Iterable[Sequence[str]], **look: Any) -> int:
    """A table with a head. Columns whose name begins with ``<`` stand to the left, others to the right.

    ``look``: ``title``, ``caption``, ``plain`` (no lines but one below the head), ``close`` (no room at the edges), ``headless``, ``wide``,
    ``cut`` (columns for which there is no room are left out). Returns how many columns are shown.
    """
    from rich.box import HEAVY_HEAD, SIMPLE_HEAD
    from rich.table import Table

    plain, close, headless = (look.pop(name, False) for name in ("plain", "close", "headless"))
    out = console(look.pop("wide", False))
    rows = list(rows)
    if look.pop("cut", False):
        columns = columns[: _fitting(columns, rows, out.width)]
    room: dict[str, Any] = {"pad_edge": False, "padding": (0, 1, 0, 0)} if close else {}
    table = Table(
        title_justify="left", caption_justify="left", box=SIMPLE_HEAD if plain else HEAVY_HEAD, show_header=not headless, **room, **look
    )
    for name in columns:
        table.add_column(name.removeprefix("<"), justify="left" if name.startswith("<") else "right", overflow="fold", no_wrap=close)
    for row in rows:
        table.add_row(*row[: len(columns)])
    out.print(table)
    return len(columns)


def _fitting(columns: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> int:
    """How many columns have room, side by side with lines between them; one at least."""
    left = width - 1
    for k, name in enumerate(columns):
        left -= 3 + max([len(name.removeprefix("<").replace("\\[", "[")), *(len(row[k]) for row in rows)])
        if left < 0:
            return max(k, 1)
    return len(columns)


def show_list(rows: Iterable[Sequence[str]]) -> None:
    """Names in colour and what is said of them, without lines."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2), show_header=False)
    table.add_column(style="cyan", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    console().print(table)
