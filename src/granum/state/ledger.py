"""The ledger: where the energy of a run comes from, where it goes, and what is left over."""

from __future__ import annotations

from ..arithmetic import total
from ..checks import known_name

SOURCES = {
    "drives": "work of driven bodies, belts and given forces",
    "motors": "work of motors in joints",
    "emitted": "energy that came with emitted grains",
    "removed": "energy that left with grains (below 0)",
    "gravity": "change of the energy in the field of gravity when gravity itself changes",
    "callbacks": "energy that callbacks brought",
}
"""What brings energy to a run, by name."""
LOSSES = {
    "friction": "work of friction and rolling resistance (below 0)",
    "impact": "energy that collisions took by restitution and friction (below 0)",
}
"""What contacts take, by name, where a stepper tells them apart."""


class Ledger:
    """Energy [J] that came from each source, and went into each loss that is told apart, since the run began."""

    def __init__(self, losses: bool = False) -> None:
        self.joules = dict.fromkeys((*SOURCES, *LOSSES) if losses else SOURCES, 0.0)

    def __repr__(self) -> str:
        return f"Ledger({', '.join(f'{entry} {joules:.4g} J' for entry, joules in self.joules.items() if joules) or 'empty'})"

    def add(self, entry: str, joules: float) -> None:
        """Note that so much energy came from there; below 0: it went there."""
        if entry not in self.joules:
            known_name("entry of the ledger", entry, self.joules)
        self.joules[entry] += joules

    @property
    def brought(self) -> float:
        """By all sources together [J]."""
        brought, joules = 0.0, self.joules
        for source in SOURCES:
            brought += joules[source]
        return brought

    def balance(self, kinetic: float, potential: float, elastic: float, began: float) -> dict[str, float]:
        """All entries [J], with what bodies and contacts hold now, and what is ``left_over``: the part of the energy with which the run
        ``began``, and of all that came, that no entry explains. Dashpots take it, and the errors of finite steps."""
        explained = began + total(list(self.joules.values())) - kinetic - potential - elastic
        return {"kinetic": kinetic, "potential": potential, "elastic": elastic, **self.joules, "left_over": -explained}

    def checkpoint(self) -> dict[str, float]:
        return dict(self.joules)

    def restore(self, saved: dict[str, float]) -> None:
        self.joules = {entry: float(saved[entry]) for entry in self.joules}
