"""Extensions: what a run may have besides its stepper, each in a folder of its own. They are found, not listed.

A folder of the package with an ``extension.py`` is one. That file has the record of its settings, an :class:`.base.Extension`, which says
what it adds to steps, files, summaries and progress; all of these ask the record, and know no extension by name. What one brings to the
layers above stands there, in a module of the folder's name: metrics in ``analysis/``, figures in ``plot/``, benchmarks in ``bench/``, runs
in ``golden/``, options in ``cli/``. Those layers ask :func:`modules`.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .base import Extension

FOLDER = Path(__file__).parents[1]
PACKAGE = __name__.rpartition(".")[0]


@cache
def folders() -> tuple[str, ...]:
    """Of all extensions."""
    return tuple(sorted(path.parent.name for path in FOLDER.glob("*/extension.py")))


def extensions() -> tuple[type[Extension], ...]:
    """The records of all extensions."""
    from .base import EXTENSIONS

    for folder in folders():
        import_module(f"{PACKAGE}.{folder}.extension")
    return tuple(EXTENSIONS.values())


def names_in(layer: str) -> tuple[str, ...]:
    """The extensions that bring something to a layer."""
    return tuple(name for name in folders() if (FOLDER / layer / f"{name}.py").is_file())


def modules(layer: str) -> list[ModuleType]:
    """What they bring: the modules of their names."""
    return [import_module(f"{PACKAGE}.{layer}.{name}") for name in names_in(layer)]
