"""The papers' experiments, each by name: what is run, what is measured, what the paper says, and the figures.

To add one: a module with its sizes ``QUICK`` and ``FULL``, ``measure(size, run)`` and ``draw(outcome, folder)``, and a line in
``EXPERIMENTS``.
"""

from __future__ import annotations

from typing import Any

from . import (
    em_fig2,
    em_iterations,
    em_scaling,
    em_shear,
    em_table1,
    mr_collapse,
    mr_conveyor,
    mr_drum,
    mr_speedup,
    pp_multigrid,
    pp_serial_parallel,
    sn_column,
    sn_drum,
    sn_hertz,
    sn_law,
    sn_order,
    sn_silo,
    sn_table1,
    ws_column,
    ws_drum,
    ws_pile,
)
from .experiment import Experiment, Outcome, Row, Size
from .pool import Job, run_jobs
from .store import RunStore


def _experiment(module: Any, title: str) -> Experiment:
    return Experiment(title, module.measure, module.draw, quick=module.QUICK, full=module.FULL)


EXPERIMENTS: dict[str, Experiment] = {
    "em-fig2": _experiment(em_fig2, "residual against iteration of one minimisation, unjammed (EM 4.1, Fig. 2)"),
    "em-iterations": _experiment(em_iterations, "iterations and time of a strain step on the way to jamming (EM 4.2, Fig. 7)"),
    "em-scaling": _experiment(em_scaling, "exponents of pressure, shear modulus and coordination near jamming (EM 4.2, Fig. 4-6)"),
    "em-shear": _experiment(em_shear, "stress and fabric in pure shear, by the size of the increments (EM 4.3, Fig. 8)"),
    "em-table1": _experiment(em_table1, "iterations and time of all minimisers: growth, shear, kick (EM 4.2, Table 1)"),
    "mr-collapse": _experiment(mr_collapse, "a cube of grains collapses, reduced and at full resolution (MR 5, Table 3, Fig. 9-11)"),
    "mr-conveyor": _experiment(mr_conveyor, "ridge and discharge of a conveyor, reduced and at full resolution (MR 5, Table 3, Fig. 8)"),
    "mr-drum": _experiment(mr_drum, "flow in a slow drum, reduced and at full resolution (MR 5, Table 3, Fig. 7, 12 and 13)"),
    "mr-speedup": _experiment(mr_speedup, "speed-up against reduction level: model and measured points (MR 6, Fig. 14)"),
    "pp-multigrid": _experiment(pp_multigrid, "columns and a silo with direct, iterative and multigrid solves (PP 5.3, Table 5.4)"),
    "pp-serial-parallel": _experiment(
        pp_serial_parallel, "the order of a serial and of a parallel sweep: column, silo, drums (PP 5.2, Tables 5.1-5.3)"
    ),
    "sn-column": _experiment(sn_column, "iterations for the mean overlap of a column (SN 5.1, Fig. 5)"),
    "sn-drum": _experiment(sn_drum, "flow, forces and iterations in a sawtooth drum (SN 5.2, Fig. 7-10)"),
    "sn-hertz": _experiment(sn_hertz, "overlaps of a column against Hertz's law, E = 1e5 to 1e13 Pa (SN 5.4)"),
    "sn-law": _experiment(sn_law, "c0, c1 and c2 of the iteration law from containers and drums (SN 5.3, Fig. 11)"),
    "sn-order": _experiment(sn_order, "random against sequential order of the sweeps (SN 5.4)"),
    "sn-silo": _experiment(sn_silo, "iterations for containers, Janssen's profile, collapse (SN 5.1, Fig. 3, 4 and 6)"),
    "sn-table1": _experiment(sn_table1, "the cost of 33 systems with both methods, computed (SN Table I)"),
    "ws-column": _experiment(ws_column, "iterations for the height of a column by warm start (WS 4.1, Fig. 3-4)"),
    "ws-drum": _experiment(ws_drum, "plug zone and angle of repose in a slow drum by warm start (WS 4.3, Fig. 10-13)"),
    "ws-pile": _experiment(ws_pile, "iterations for the height of a pile by warm start, and its solves (WS 4.2, Fig. 6-9)"),
}

__all__ = ["EXPERIMENTS", "Experiment", "Job", "Outcome", "Row", "RunStore", "Size", "run_jobs"]
