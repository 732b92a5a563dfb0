"""Benchmarks on a settled box of grains: solve, step, search, convergence, the smooth step, few grains, threads and extensions; of
packings; and beside other programs. Behind ``granum bench``.
"""

from collections.abc import Callable
from typing import Any

from ..extensions import modules
from .compare import measure_compare
from .convergence import measure_convergence
from .everything import measure_all
from .figures import figures_of
from .minimise import measure_minimise
from .parallel import measure_parallel
from .records import append_record, check_record, read_record, record_table
from .settled import settled_box, turning_drum
from .small import measure_small
from .smooth import measure_smooth
from .timing import measure_detect, measure_pgs, measure_step

BENCHMARKS: dict[str, Callable[..., dict[str, Any]]] = {
    "pgs": measure_pgs,
    "step": measure_step,
    "detect": measure_detect,
    "convergence": measure_convergence,
    "smooth": measure_smooth,
    "small": measure_small,
    "parallel": measure_parallel,
    "minimise": measure_minimise,
    "compare": measure_compare,
    **{name: measure for module in modules("bench") for name, measure in module.BENCHMARKS.items()},
}

__all__ = [
    "BENCHMARKS",
    "append_record",
    "check_record",
    "figures_of",
    "measure_all",
    "measure_compare",
    "measure_convergence",
    "measure_detect",
    "measure_minimise",
    "measure_parallel",
    "measure_pgs",
    "measure_small",
    "measure_smooth",
    "measure_step",
    "read_record",
    "record_table",
    "settled_box",
    "turning_drum",
]
