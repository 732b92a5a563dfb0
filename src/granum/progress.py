"""Progress of whatever takes long: a bar on a terminal or in a notebook, a line now and then elsewhere, with the time that is left."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any

from .talk import stderr

QUIET = 1.0  # [s] before anything is shown
REFRESH = 0.25  # [s] between two updates of the bar
LINE_EVERY = 10.0  # [s] between two lines where there is no terminal
BAR, WIDE = 20, 110  # [columns] of the bar, and of a terminal that has room for it


class Bar:
    """What is done so far of one piece of work; nothing is shown in its first second.

    The time that is left follows from the later half of the time that has gone, so that what was compiled before does not count.
    ``talk`` gets lines instead of the console.
    """

    def __init__(self, label: str, *, console: Any = None, talk: Callable[[str], Any] | None = None, every: float | None = None) -> None:
        self.label, self.talk, self.every = label, talk, every if every is not None else LINE_EVERY
        self.console = console if console is not None else stderr()
        self._began: float | None = None
        self._next = 0.0
        self._marks: list[tuple[float, float]] = []  # times and parts that were done by then
        self._bar: Any = None
        self._page: Any = None
        self._task: Any = None

    def show(self, part: float | None, words: Sequence[str] = ()) -> None:
        """``part`` of the work is done, None: nobody knows; of the ``words`` those at the end are left out where there is no room."""
        now = monotonic()
        if self._began is None:
            self._began, self._next = now, now + QUIET
            self._marks.append((now, part or 0.0))
        if now < self._next:
            return
        left = self._left(part, now)
        if self.talk is None and self.console.is_jupyter:
            self._show_page(part, fitting(self.label, part, words, left, now - self._began, WIDE))
            self._next = now + REFRESH
        elif self.talk is None and self.console.is_terminal:
            self._draw(part, words, left, now - self._began)
            self._next = now + REFRESH
        else:
            ahead = [f"about {left:.0f} s left"] if left is not None else []
            line = f"{self.label}: " + ", ".join([*([f"{part:.0%}"] if part is not None else []), *words, *ahead])
            if self.talk is not None:
                self.talk(line)
            else:
                self.console.print(line, soft_wrap=True, markup=False)
            self._next = now + self.every

    def stop(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
        if self._page is not None:
            self._page.update(Page("", ""))
            self._page = None

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def waits(self) -> bool:
        """Whether :meth:`show` would show nothing now, so that its words need not be found."""
        return self._began is not None and monotonic() < self._next

    def _left(self, part: float | None, now: float) -> float | None:
        """[s], if it goes on as it went in the later half of the time so far."""
        if part is None:
            return None
        half = (now + (self._began or now)) / 2
        while len(self._marks) > 1 and self._marks[1][0] <= half:
            del self._marks[0]
        time, done = self._marks[0]
        self._marks.append((now, part))
        return (now - time) * (1 - part) / (part - done) if part > done else None

    def _show_page(self, part: float | None, line: str) -> None:
        """In a notebook: the same place of the page is written anew, which needs nothing but IPython."""
        from IPython.display import display

        done = f' value="{part:.4f}"' if part is not None else ""
        page = Page(line, f'<progress max="1"{done} style="width:{BAR}ch"></progress> <code>{html.escape(line)}</code>')
        if self._page is None:
            self._page = display(page, display_id=True)
        else:
            self._page.update(page)

    def _draw(self, part: float | None, words: Sequence[str], left: float | None, gone: float) -> None:
        if self._bar is None:
            from rich.progress import BarColumn, Progress, TextColumn

            wide = [BarColumn(bar_width=BAR)] if self.console.width >= WIDE else []
            self._bar = Progress(
                *wide, TextColumn("{task.fields[line]}", markup=False), console=self.console, auto_refresh=False, transient=True
            )
            self._task = self._bar.add_task("", total=1.0, line="")
            self._bar.start()
        room = self.console.width - (BAR + 1 if self.console.width >= WIDE else 0)
        self._bar.update(self._task, completed=part or 0.0, line=fitting(self.label, part, words, left, gone, room))
        self._bar.refresh()


class Page:
    """What a notebook shows: a text for those that show text only, and HTML."""

    def __init__(self, text: str, page: str) -> None:
        self.text, self.page = text, page

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return self.page


def fitting(label: str, part: float | None, words: Sequence[str], left: float | None, gone: float, room: int) -> str:
    """A line of at most ``room`` characters, if that can be: label, part and times stay, words are left out from the end."""
    done = f" {part:.0%}" if part is not None else ""
    times = f"ETA {clock(left)} ({clock(gone)} gone)" if left is not None else f"{clock(gone)} gone"
    for count in range(len(words), 0, -1):
        line = f"{label}{done}  {', '.join(words[:count])}  {times}"
        if len(line) <= room:
            return line
    return f"{label}{done}  {times}"


def clock(seconds: float) -> str:
    """``0:07``, ``12:34`` or ``1:02:03``."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
