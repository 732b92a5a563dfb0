"""What a run asks of its stepper."""

from __future__ import annotations

from typing import Any, Protocol

from ..array_types import FloatArray, IntArray
from ..contact import PairTable
from ..detection.wall_table import WallTable
from ..extensions.base import StepPart
from ..machines import Machines
from ..state.body_contacts import BodyContacts
from ..state.contacts import Contacts
from ..state.ledger import Ledger
from ..state.report import StepReport


class Stepper(Protocol):
    """Advances the bodies of a scene by one step at a time."""

    pairs: PairTable
    walls: WallTable
    period: FloatArray | None
    """Lengths of a periodic cell, for kernels; none: nothing repeats."""
    machines: Machines | None
    """Links and joints; none: the scene has no joints."""
    ledger: Ledger
    """Where the energy of the run came from."""
    fastest: float
    """Speed of the fastest grain after the last step [m/s]."""
    extent: FloatArray
    """(2, 3) box around all grain centres after the last step [m]."""
    parts: dict[str, StepPart]
    """Extensions at work in it, by the names in checkpoints."""

    touching_bodies: IntArray
    """Rows of the dynamic bodies that may touch other bodies."""
    remarks: list[tuple[str, str]]
    """What a run does otherwise than its scene says, told before the first step: a kind and a sentence each."""

    @property
    def contacts(self) -> Contacts:
        """Contacts of the last step with what they carried."""

    @property
    def body_contacts(self) -> BodyContacts:
        """Contacts of the last step between bodies that touch with their walls."""

    @property
    def through(self) -> int:
        """A contact whose grain went through its wall in the last step, or -1."""

    def pushes(self, h: float) -> FloatArray:
        """(W, 6) forces [N], and torques about their positions [N m], on the bodies of the scene in the last step, of ``h`` [s], by all
        that touches them."""

    def step(self, number: int, time: float, h: float, gravity: FloatArray) -> StepReport:
        """Advance from ``time`` by ``h`` [s] under ``gravity`` [m/s^2]."""

    def watch_energy(self, unexplained: float, kinetic: float, fall: float) -> None:
        """Be told how the energy [J] has changed in the last step; ``fall`` is that of all grains falling for one step."""

    def keep(self, rows: IntArray, new_row: IntArray) -> None:
        """All grains but those in ``rows`` have left; ``new_row`` (N before,) is the new row of each, or -1."""

    def checkpoint(self) -> dict[str, Any]:
        """All that the next step depends on besides the bodies."""

    def restore(self, saved: dict[str, Any]) -> None:
        """Continue from a checkpoint."""
