"""The bed that several programs are given: equal spheres at rest in an open box, as plain numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..array_types import FloatArray
from ..contact import Material
from ..scene.shapes import Box
from ..simulation import Simulation


class PeerMissing(Exception):
    """Another program is not here, or does not do what it is asked for; the message says what to do about it."""


@dataclass(frozen=True)
class Bed:
    """Spheres of one size and material in a box that is open above."""

    position: FloatArray
    """(N, 3) [m]"""
    diameter: float
    """[m]"""
    lower: tuple[float, float, float]
    """Corner of the box [m]."""
    upper: tuple[float, float, float]
    material: Material
    """Of grains and box."""
    gravity: float
    """Downwards [m/s^2]."""


@dataclass(frozen=True)
class Measured:
    """What one program did with a bed."""

    seconds: FloatArray
    """Of each step, or of the steps of each measurement by their number."""
    sunk: float
    """How far the mean grain came down, in all steps [diameters]. The bed was at rest: all of it is error of the solve."""
    contacts: int | None = None
    version: str = ""

    @property
    def milliseconds(self) -> float:
        """Of a step: the median."""
        return 1e3 * float(np.median(self.seconds))

    def row(self) -> dict[str, float | int | str]:
        """Its numbers by name."""
        known = {"contacts": self.contacts, "version": self.version or None}
        return {
            "milliseconds_per_step": self.milliseconds,
            "sunk_diameters": self.sunk,
            **{name: value for name, value in known.items() if value is not None},
        }


def complaint(output: str, code: int) -> str:
    """Of a program that failed: its first line with an error, else its last line that says something, else its exit code."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return next((line for line in lines if "error" in line.lower()), lines[-1] if lines else f"exit code {code}")


def bed_of(sim: Simulation) -> Bed:
    """The grains of a settled box (``settled.py``) as they lie."""
    (body,) = sim.scene.bodies
    (box,) = body.walls
    assert isinstance(box, Box)
    (material,) = sim.scene.materials
    return Bed(
        position=np.array(sim.position),
        diameter=2 * float(sim.bodies.radius[0]),
        lower=box.lower,
        upper=box.upper,
        material=material,
        gravity=-float(sim.scene.gravity.at(0.0)[2]),
    )
