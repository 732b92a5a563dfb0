"""The ledger: where the energy of a run comes from, and what explains how it changes."""

from __future__ import annotations

from ..checks import known_name

SOURCES = {
    "drives": "work of driven bodies, belts and given forces on the grains",
    "emitted": "energy that came with emitted grains",
    "removed": "energy that left with grains (below 0)",
    "gravity": "change of the energy in the field of gravity when gravity itself changes",
    "callbacks": "energy that callbacks brought",
}
"""What brings energy to a run, by name."""


class Ledger:
    """Energy [J] that came from each source since the run began."""

    def __init__(self) -> None:
        self.joules = dict.fromkeys(SOURCES, 0.0)

    def add(self, source: str, joules: float) -> None:
        """Note that so much energy came from this source; below 0: it went there."""
        self.joules[known_name("source of energy", source, SOURCES)] += joules

    @property
    def brought(self) -> float:
        """By all sources together [J]."""
        return self.joules["emitted"] + self.joules["removed"] + self.joules["gravity"] + self.joules["callbacks"] + self.joules["drives"]

    def balance(self, kinetic: float, potential: float, elastic: float, began: float) -> dict[str, float]:
        """All entries [J], with what bodies and contacts hold now, and ``lost``: what the contacts have taken since the run ``began`` with
        that kinetic and gravitational energy, by friction, restitution and damping."""
        held = {"kinetic": kinetic, "potential": potential, "elastic": elastic}
        return {**held, **self.joules, "lost": began + self.brought - kinetic - potential - elastic}

    def checkpoint(self) -> dict[str, float]:
        return dict(self.joules)

    def restore(self, saved: dict[str, float]) -> None:
        self.joules = {source: float(saved[source]) for source in SOURCES}
