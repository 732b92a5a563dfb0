"""The papers' experiments, each by name: what is run, what is measured, what the paper says, and the figures.

To add one: a module with its sizes, ``measure(size, run)`` and ``draw(outcome, folder)``, and an entry in ``EXPERIMENTS``.
"""

from __future__ import annotations

from . import ws_column, ws_pile
from .experiment import Experiment, Outcome, Row, Size
from .pool import Job, run_jobs
from .store import RunStore

EXPERIMENTS: dict[str, Experiment] = {
    "ws-column": Experiment(
        "iterations for the height of a column by warm start (WS 4.1, Fig. 3-4)",
        ws_column.measure, ws_column.draw, quick=ws_column.QUICK, full=ws_column.FULL,
    ),
    "ws-pile": Experiment(
        "iterations for the height of a pile by warm start, and its solves (WS 4.2, Fig. 6-9)",
        ws_pile.measure, ws_pile.draw, quick=ws_pile.QUICK, full=ws_pile.FULL,
    ),
}  # fmt: skip

__all__ = ["EXPERIMENTS", "Experiment", "Job", "Outcome", "Row", "RunStore", "Size", "run_jobs"]
