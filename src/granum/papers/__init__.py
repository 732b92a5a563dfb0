"""The papers' experiments, each by name: what is run, what is measured, what the paper says, and the figures.

To add one: a module with its ``TITLE``, its sizes ``QUICK`` and ``FULL``, ``measure(size, run)`` and ``draw(outcome, folder)``. It is found
by itself; its name is that of the file, with dashes.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from .experiment import Experiment, Outcome, Row, Size

EXPERIMENTS: dict[str, Experiment] = {}
for _name in sorted(module.name for module in iter_modules(__path__)):
    _module = import_module(f"{__name__}.{_name}")
    if hasattr(_module, "TITLE"):
        EXPERIMENTS[_name.replace("_", "-")] = Experiment(
            _module.TITLE, _module.measure, _module.draw, quick=_module.QUICK, full=_module.FULL
        )

__all__ = ["EXPERIMENTS", "Experiment", "Outcome", "Row", "Size"]
