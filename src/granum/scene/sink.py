"""Sinks: where grains are taken out of a run, as at the end of a conveyor or below an outlet."""

from __future__ import annotations

from ..records import Record
from .regions import Region


class Sink(Record):
    """Takes out the grains whose centre has come into its region; those that never move stay.

    They go on inside for some steps, so that many leave together (``simulation.removal``), but not beyond: a region should be deeper than
    a grain's way in one step, or a grain may pass it unseen, and a deep one costs less than a thin one. Each counts once, in the step in
    which it comes in.
    """

    name: str = ""
    """None: ``sink-1`` and so on."""
    region: Region
    """Where grains are taken out."""
