"""What a solver is: its duties, the record that its settings are, and the list of all solvers by name.

To add one: a file beside this one with a ``SolverRecord`` that has a ``name`` and a ``solve``, and a test. The file is found by itself;
scene files, the command line and the settings find the solver by its name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Annotated, Any, Protocol, runtime_checkable

from pydantic import BeforeValidator, SerializeAsAny

from ...checks import known_name
from ...records import Record
from ..problem import Problem
from .report import SolveReport


@runtime_checkable
class Solver(Protocol):
    """Solves the contact problem of a step."""

    @property
    def name(self) -> str:
        """As written in scene files."""

    @property
    def to_accuracy(self) -> bool:
        """Whether it goes on to the accuracy of the step (``Problem.accuracy``), not for a given number of sweeps."""

    def solve(self, problem: Problem, *, step: int = 0, measure: bool = True, history: bool = False) -> SolveReport:
        """Solve in place: impulses and velocities of ``problem`` are the start and become the result.

        Both go together whenever it ends: the velocities are those without contacts, changed by the impulses. The law is the problem's, its
        friction cone or box included. ``step`` is the number of the step, for methods with chance in them; ``measure``: the report tells
        the residual; ``history``: after every sweep. The same problem gives the same bits, on any number of threads (``problem.team``).
        """


class SolverRecord(Record, ABC):
    """A solver as a record of its settings; a subclass that has a name is in the list of all solvers from then on."""

    name: str

    @classmethod
    def __pydantic_init_subclass__(cls, **given: Any) -> None:
        super().__pydantic_init_subclass__(**given)
        name = cls.model_fields["name"].default
        if isinstance(name, str):
            SOLVERS[name] = cls

    @property
    def to_accuracy(self) -> bool:
        """Whether it goes on to the accuracy of the step."""
        return False

    @abstractmethod
    def solve(self, problem: Problem, *, step: int = 0, measure: bool = True, history: bool = False) -> SolveReport:
        """See :class:`Solver`."""


SOLVERS: dict[str, type[SolverRecord]] = {}
"""All solvers by name, in the order in which they were made known."""


def make_solver(name: str, **settings: Any) -> SolverRecord:
    """A solver by name: ``make_solver("pgs", iterations=200)``."""
    return SOLVERS[known_name("solver", name, SOLVERS)](**settings)


def _by_name(value: Any) -> Any:
    """A name, or a table of settings with it, becomes that solver."""
    if isinstance(value, str):
        value = {"name": value}
    if not isinstance(value, Mapping):
        return value
    return SOLVERS[known_name("solver", value.get("name", "pgs"), SOLVERS)].model_validate(dict(value))


AnySolver = Annotated[SerializeAsAny[SolverRecord], BeforeValidator(_by_name)]
"""A field of settings: any solver, its name, or a table with it."""
