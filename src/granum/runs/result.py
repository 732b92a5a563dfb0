"""What a finished run is: its summary, its recording, and figures of it."""

from __future__ import annotations

import html
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ..checks import InputError
from ..io import Recording
from ..notebook import with_picture

Rows = list[tuple[str, str]]
"""Names and values of a table; values may have rich's markup."""


FILES = ("recording", "checkpoint", "picture", "stopped")  # at the end of a table


@dataclass(repr=False)
class Run:
    """The result of :func:`granum.run`, :func:`granum.run_jam`, :func:`granum.run_minimise` or :func:`granum.run_shear`."""

    title: str
    summary: dict[str, Any]
    """As ``--json`` prints it."""
    table: Callable[[dict[str, Any]], Rows] = field(repr=False)
    """The rows in which a summary is shown."""
    path: Path | None = None
    """Of the recording; none: nothing was written."""
    found: Any = None
    """What was computed, in memory: the :class:`granum.Simulation` at its end, a :class:`granum.Packing`, ..."""

    drawing: Callable[[], str | None] | None = field(default=None, repr=False)
    """Draws the picture of the end and returns its name; none: no picture is asked for."""

    def draw_picture(self) -> str | None:
        """Draw the picture of the end, if one is asked for and not there yet; its name."""
        if self.drawing is not None and not self.summary.get("picture"):
            self.summary["picture"] = self.drawing()
        return self.summary.get("picture")

    @cached_property
    def recording(self) -> Recording:
        """Opened when it is first asked for."""
        if self.path is None:
            raise InputError("this run has no recording: nothing was written. Give it an output.")
        return Recording(self.path)

    def plot(self, figure: str = "", path: str | Path | None = None, *, ax: Any = None, **look: Any) -> Any:
        """A matplotlib figure of the recording: see :meth:`granum.Recording.plot`."""
        return self.recording.plot(figure, path, ax=ax, **look)

    @property
    def rows(self) -> Rows:
        """Of the table that the command line prints."""
        return [*self.table(self.summary), *((name, str(self.summary[name])) for name in FILES if self.summary.get(name))]

    def __repr__(self) -> str:
        s = self.summary
        grains = s.get("grains", s.get("particles"))
        facts = [str(s.get("scene", self.title)), *([f"{grains} grains"] if grains is not None else [])]
        facts += [f"t = {s['time']:.6g} s"] if "steps" in s and "time" in s else [f"phi = {s['phi']:.6g}"] if "phi" in s else []
        facts += [str(self.path)] if self.path is not None else []
        return f"Run({', '.join(facts)})"

    def _repr_html_(self) -> str:
        from rich.text import Text

        cells = ((name, Text.from_markup(value).plain) for name, value in self.rows)
        rows = "".join(f"<tr><th style='text-align:left'>{html.escape(n)}</th><td>{html.escape(v)}</td></tr>" for n, v in cells)
        table = f"<table><caption>{html.escape(self.title)}</caption>{rows}</table>"
        if self.found is not None or self.path is None:
            return with_picture(self.found, table)
        try:
            with Recording(self.path) as recording:
                return with_picture(recording, table)
        except InputError:  # the file is gone
            return table


def carry(error: BaseException, run: Run) -> None:
    """Let an error carry, as ``error.run``, what was found before it: that is not lost with a file that cannot be written."""
    error.run = run  # type: ignore[attr-defined]
