"""Benchmarks on a settled box of grains: solve, step, search, convergence, the smooth step, few grains, threads and extensions; and of
packings. Behind ``granum bench``.
"""

from collections.abc import Callable
from typing import Any

from ..extensions import modules
from .convergence import measure_convergence
from .minimise import measure_minimise
from .parallel import measure_parallel
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
    **{name: measure for module in modules("bench") for name, measure in module.BENCHMARKS.items()},
}

__all__ = [
    "BENCHMARKS",
    "measure_convergence",
    "measure_detect",
    "measure_minimise",
    "measure_parallel",
    "measure_pgs",
    "measure_small",
    "measure_smooth",
    "measure_step",
    "settled_box",
    "turning_drum",
]
