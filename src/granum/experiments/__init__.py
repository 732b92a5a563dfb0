"""The papers' experiments, each by name: what is run, what is measured, what the paper says, and the figures.

To add one: a module with its sizes, ``measure(size, run)`` and ``draw(outcome, folder)``, and an entry in ``EXPERIMENTS``.
"""

from __future__ import annotations

from . import sn_column, sn_drum, sn_hertz, sn_law, sn_order, sn_silo, sn_table1, ws_column, ws_drum, ws_pile
from .experiment import Experiment, Outcome, Row, Size
from .pool import Job, run_jobs
from .store import RunStore

EXPERIMENTS: dict[str, Experiment] = {
    "sn-column": Experiment(
        "iterations for the mean overlap of a column (SN 5.1, Fig. 5)",
        sn_column.measure, sn_column.draw, quick=sn_column.QUICK, full=sn_column.FULL,
    ),
    "sn-drum": Experiment(
        "flow, forces and iterations in a sawtooth drum (SN 5.2, Fig. 7-10)",
        sn_drum.measure, sn_drum.draw, quick=sn_drum.QUICK, full=sn_drum.FULL,
    ),
    "sn-hertz": Experiment(
        "overlaps of a column against Hertz's law, E = 1e5 to 1e13 Pa (SN 5.4)",
        sn_hertz.measure, sn_hertz.draw, quick=sn_hertz.QUICK, full=sn_hertz.FULL,
    ),
    "sn-law": Experiment(
        "c0, c1 and c2 of the iteration law from containers and drums (SN 5.3, Fig. 10 and 11)",
        sn_law.measure, sn_law.draw, quick=sn_law.QUICK, full=sn_law.FULL,
    ),
    "sn-order": Experiment(
        "random against sequential order of the sweeps (SN 5.4)",
        sn_order.measure, sn_order.draw, quick=sn_order.QUICK, full=sn_order.FULL,
    ),
    "sn-silo": Experiment(
        "iterations for containers, Janssen's profile, collapse (SN 5.1, Fig. 3, 4 and 6)",
        sn_silo.measure, sn_silo.draw, quick=sn_silo.QUICK, full=sn_silo.FULL,
    ),
    "sn-table1": Experiment(
        "the cost of 33 systems with both methods, computed (SN Table I)",
        sn_table1.measure, sn_table1.draw, quick=sn_table1.QUICK, full=sn_table1.FULL,
    ),
    "ws-column": Experiment(
        "iterations for the height of a column by warm start (WS 4.1, Fig. 3-4)",
        ws_column.measure, ws_column.draw, quick=ws_column.QUICK, full=ws_column.FULL,
    ),
    "ws-drum": Experiment(
        "plug zone and angle of repose in a slow drum by warm start (WS 4.3, Fig. 10-13)",
        ws_drum.measure, ws_drum.draw, quick=ws_drum.QUICK, full=ws_drum.FULL,
    ),
    "ws-pile": Experiment(
        "iterations for the height of a pile by warm start, and its solves (WS 4.2, Fig. 6-9)",
        ws_pile.measure, ws_pile.draw, quick=ws_pile.QUICK, full=ws_pile.FULL,
    ),
}  # fmt: skip

__all__ = ["EXPERIMENTS", "Experiment", "Job", "Outcome", "Row", "RunStore", "Size", "run_jobs"]
