"""One door to all minimisers: a packing in, its relaxed twin and a report out."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..checks import InputError, known_name
from .course import Course, MinimiseReport
from .energy import PackingEnergy
from .minimisers import ConjugateGradients, FIRE, LBFGS
from .packing import Packing
from .precondition import Adjacency, ContactStiffness, Identity, Preconditioner

TOLERANCE = 1e-10   # of the force scale k d^(alpha - 1): largest force left on a grain
LIMIT = 100_000     # iterations

PRECONDITIONERS: dict[str, Callable[[], Preconditioner]] = {
    "none": Identity, "adjacency": Adjacency, "exponential": lambda: Adjacency(decay=3.0), "contacts": ContactStiffness,
}  # fmt: skip
METHODS: dict[str, Callable[[Preconditioner], LBFGS | ConjugateGradients | FIRE]] = {
    "lbfgs": LBFGS, "cg": ConjugateGradients, "fr-cg": lambda p: ConjugateGradients(p, fletcher_reeves=True), "fire": FIRE,
}  # fmt: skip
AUTO = "auto"


class Relaxed(NamedTuple):
    """A packing in balance (if the report says converged)."""

    packing: Packing
    report: MinimiseReport


def minimise(
    packing: Packing, method: str = AUTO, preconditioner: str | None = None, *, tolerance: float | None = None, limit: int = LIMIT,
    watch: Callable[[Course], None] | None = None,
) -> Relaxed:  # fmt: skip
    """Move the grains to a minimum of their energy.

    ``tolerance`` [N] is the largest force component that may be left on a grain; none: 1e-10 of the force scale. ``limit`` is the most
    iterations, ``watch`` is called several times a second. A minimisation that stalls or meets its limit returns what it has, and
    says so in the report.
    """
    known_name("method", method, [*METHODS, AUTO])
    if method == AUTO:
        if preconditioner is not None:
            raise InputError(f"method auto chooses its preconditioner itself (got {preconditioner!r}). Name a method too, or leave it out.")
        method, preconditioner = choose(packing)
    help_ = PRECONDITIONERS[known_name("preconditioner", preconditioner or "none", PRECONDITIONERS)]()
    minimiser = METHODS[method](help_)
    name = f"{method}+{help_.name}" if help_.name else method
    course = Course(PackingEnergy(packing), name, packing.force_scale * TOLERANCE if tolerance is None else tolerance, limit, watch)
    minimiser.run(course, packing.diameter)
    return Relaxed(packing.moved(course.x), course.report())


def choose(packing: Packing) -> tuple[str, str]:
    """Method and preconditioner that suit the packing as it is."""
    return ("lbfgs", "contacts") if packing.dim == 2 else ("fire", "none")
