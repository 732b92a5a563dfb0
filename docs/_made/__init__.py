"""Pages of the reference that are made from the source, so that they say what the source says.

``conf.py`` calls ``make`` before the pages are read. They go into ``docs/reference/made``, which is not under version control.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from . import commands, lists, python_api, scene_files

FOLDER = Path(__file__).parents[1] / "reference" / "made"


def pages() -> Iterator[tuple[str, str]]:
    """Name and text of every page."""
    yield from scene_files.pages()
    yield from commands.pages()
    yield from python_api.pages()
    yield from lists.columns()
    yield "parts/units", scene_files.units_page()
    for make in (lists.metrics, lists.figures, lists.library, lists.experiments, lists.papers):
        yield make.__name__, make()


def make() -> None:
    """Write what has changed, and take away what is no longer made."""
    made = {FOLDER / f"{name}.md": f"{text}\n" for name, text in pages()}
    for path in set(FOLDER.rglob("*.md")) - made.keys():
        path.unlink()
    for path, text in made.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
