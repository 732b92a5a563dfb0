"""One door to all minimisers: a packing in, its relaxed twin and a report out."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from ..checks import InputError, expect, known_name
from ..notebook import with_picture
from .course import Course, MinimiseReport
from .energy import PackingEnergy
from .minimisers import FIRE, LBFGS, Auto, ConjugateGradients, Newton
from .packing import Packing
from .precondition import Adjacency, ContactStiffness, Identity, Preconditioner

TOLERANCE = 1e-10  # of the force scale k d^(alpha - 1): largest force left on a grain
LIMIT = 100_000  # iterations


class Minimiser(Protocol):
    """A way down."""

    def run(self, course: Course, diameter: float) -> None: ...


AUTO = "auto"
PRECONDITIONERS: dict[str, Callable[[], Preconditioner]] = {
    "none": Identity,
    "adjacency": Adjacency,
    "exponential": lambda: Adjacency(decay=3.0),
    "contacts": ContactStiffness,
}
METHODS: dict[str, Callable[[Preconditioner], Minimiser]] = {
    "lbfgs": LBFGS,
    "cg": ConjugateGradients,
    "fr-cg": lambda p: ConjugateGradients(p, fletcher_reeves=True),
    "fire": FIRE,
    "newton": Newton,
    AUTO: lambda _: Auto(),  # it chooses its preconditioners itself
}


class Relaxed(NamedTuple):
    """A packing in balance (if the report says converged)."""

    packing: Packing
    report: MinimiseReport

    def __repr__(self) -> str:
        return f"Relaxed({self.packing!r}, {self.report})"

    def _repr_html_(self) -> str:
        return with_picture(self)


def minimise(
    packing: Packing,
    method: str = AUTO,
    preconditioner: str | None = None,
    *,
    tolerance: float | None = None,
    limit: int = LIMIT,
    watch: Callable[[Course], None] | None = None,
) -> Relaxed:
    """Move the grains to a minimum of their energy.

    ``tolerance`` [N] is the largest force component that may be left on a grain; none: 1e-10 of the force scale. ``limit`` is the most
    iterations, ``watch`` is called several times a second. A minimisation that stalls or meets its limit returns what it has, and
    says so in the report.
    """
    expect("packing", packing, Packing)
    check_method(method, preconditioner)
    help_ = PRECONDITIONERS[preconditioner or "none"]()
    name = f"{method}+{help_.name}" if help_.name else method
    course = Course(PackingEnergy(packing), name, packing.force_scale * TOLERANCE if tolerance is None else tolerance, limit, watch)
    METHODS[method](help_).run(course, packing.diameter)
    return Relaxed(packing.moved(course.x), course.report())


def check_method(method: str, preconditioner: str | None) -> None:
    """Refuse names that are not known, and pairs that do not go together."""
    known_name("method", method, METHODS)
    known_name("preconditioner", preconditioner or "none", PRECONDITIONERS)
    if method == AUTO and preconditioner not in (None, "none"):
        raise InputError(f"method auto chooses its preconditioner itself (got {preconditioner!r}). Name a method too, or leave it out.")
