"""Quasi-static shear: the cell is strained by a little, the grains follow and relax, and again (EM 4.3)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ..arithmetic import inverse, product
from ..array_types import FloatArray
from ..checks import InputError, expect, finite_positive, known_name
from ..notebook import Pictured
from ..scene.cell import pure_shear, simple_shear
from .course import Course, MinimiseReport
from .measure import Measured, measure
from .minimise import AUTO, check_method, minimise
from .packing import Packing

MODES = {"simple": simple_shear, "pure": pure_shear}
MOST_STEPS = 1_000_000


@dataclass(frozen=True, repr=False)
class ShearStep(Pictured):
    """The packing in balance at a strain."""

    strain: float  # total [-]
    packing: Packing
    measured: Measured
    report: MinimiseReport

    def __repr__(self) -> str:
        return f"ShearStep(strain = {self.strain:g}, {self.packing.count} grains, {self.measured!r}, {self.report.reason})"


def shear(
    packing: Packing,
    strain: float,
    step: float,
    mode: str = "simple",
    *,
    method: str = AUTO,
    preconditioner: str | None = None,
    tolerance: float | None = None,
    watch: Callable[[Course], None] | None = None,
) -> Iterator[ShearStep]:
    """Strain a packing in steps of ``step`` up to ``strain``: one result after each step, the last one exactly at ``strain``.

    ``simple``: x moves by strain times y (EM (13)), the stress -sigma_xy grows; the cell leans and is set upright again, so strains
    above 1 are no other than small ones. ``pure``: x is stretched by 1 + strain, y shortened as much; sigma_yy - sigma_xx grows. A negative
    strain goes the other way. The packing should be at rest; nothing is measured before the first step.

    ``tolerance`` [N] of the minimisations; none: 1e-6 of the mean contact force before each step where the packing is jammed, else
    that of :func:`~granum.quasistatic.minimise.minimise`.
    """
    expect("packing", packing, Packing)
    known_name("mode", mode, MODES)
    check_method(method, preconditioner)
    finite_positive("step", step)
    if not (math.isfinite(strain) and abs(strain) >= step * (1 - 1e-9)):
        raise InputError(f"strain must be a finite number of at least one step ({step:g}), or at most minus that (got {strain:g}).")
    if abs(strain) > MOST_STEPS * step:
        raise InputError(f"step must be at least {abs(strain) / MOST_STEPS:g}, for {MOST_STEPS:,} steps at most (got {step:g}).")
    if mode == "pure" and not strain > -1:
        raise InputError(f"strain of a pure shear must be above -1, where nothing is left of the x axis (got {strain:g}).")
    return _shear(packing, strain, step, MODES[mode], method, preconditioner, tolerance, watch)


def strains(strain: float, step: float) -> FloatArray:
    """Where the steps end: multiples of ``step``, and last ``strain`` itself."""
    count = max(1, math.ceil(abs(strain) / step - 1e-9))
    ends = np.arange(1.0, count + 1.0) * math.copysign(step, strain)
    ends[-1] = strain
    return ends


def _shear(
    packing: Packing,
    strain: float,
    step: float,
    gradient: Callable[[int, float], FloatArray],
    method: str,
    preconditioner: str | None,
    tolerance: float | None,
    watch: Callable[[Course], None] | None,
) -> Iterator[ShearStep]:
    before, known = np.eye(packing.dim), measure(packing)
    for end in strains(strain, step):
        after = gradient(packing.dim, float(end))
        stop = known.tolerance() if tolerance is None else tolerance
        relaxed = minimise(packing.deformed(product(after, inverse(before))), method, preconditioner, tolerance=stop, watch=watch)
        packing, before = relaxed.packing, after
        known = measure(packing)
        yield ShearStep(float(end), packing, known, relaxed.report)
