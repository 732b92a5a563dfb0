"""What a run of a scene is judged by: a scene names its results, ``analysis.results`` measures them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from ..records import Finite, Fraction, Positive, Record, Vector


class Column(Record):
    """Height of a column of equal grains on a plane, beside the exact one of its contact law."""

    measure: Literal["column"] = "column"


class Pile(Record):
    """Height and angle of repose of a pile on a plane."""

    measure: Literal["pile"] = "pile"


class Bed(Record):
    """Mean height of the grains, and packing fraction in the bulk of a bed."""

    measure: Literal["bed"] = "bed"
    area: Positive
    """Of the bed's floor [m^2]."""


class Level(Record):
    """Height of the surface of a bed, its roughness smoothed out."""

    measure: Literal["level"] = "level"


class DrumFlow(Record):
    """Angles of the surface and of the centre of mass, and the part of the grains that turns with the drum."""

    measure: Literal["drum"] = "drum"


class Ridge(Record):
    """Height and angle of a ridge along x."""

    measure: Literal["ridge"] = "ridge"
    along: tuple[Finite, Finite]
    """From here to there [m], along x."""


class Slope(Record):
    """Angle of what ran out of a box."""

    measure: Literal["slope"] = "slope"
    width: Positive
    """Of the box [m]: it ends at x = width."""


class Dig(Record):
    """Height of a bed in a trench where nothing was dug, and what now lies outside of the trench."""

    measure: Literal["dig"] = "dig"
    lower: Vector
    """Corner of the trench [m],"""
    upper: Vector
    """and the opposite one [m], level with the ground around it."""


class Triaxial(Record):
    """A triaxial test over its frames: packing fraction, strains, deviator, q / p and mobilised angle of friction."""

    measure: Literal["triaxial"] = "triaxial"


class ShearFlow(Record):
    """Plane shear between plates, means over the frames after a transient: friction mu, packing fraction and inertial number, each with its
    standard error from block averages."""

    measure: Literal["shear-cell"] = "shear-cell"


class Circuit(Record):
    """Flows of mass and sizes in drum, belt and sieve of a circuit, over its frames, and how evenly the sieve is used."""

    measure: Literal["circuit"] = "circuit"


class Discharge(Record):
    """Mean rate of mass through the outlet of a silo or hopper, over its frames, beside the rate of Beverloo's law,
    0.58 rho_b sqrt(g) (D - 1.4 d)^2.5."""

    measure: Literal["discharge"] = "discharge"
    counter: str
    """Name of the sink or counter behind the outlet."""
    outlet: Positive
    """Diameter D of the outlet [m]."""
    packing_fraction: Fraction = 0.58
    """Part of the space in the silo that grains fill, for the bulk density rho_b."""


def _by_name(value: Any) -> Any:
    return {"measure": value} if isinstance(value, str) else value


Result = Annotated[
    Annotated[
        Column | Pile | Bed | Level | DrumFlow | Ridge | Slope | Dig | Triaxial | ShearFlow | Circuit | Discharge,
        Field(discriminator="measure"),
    ],
    BeforeValidator(_by_name),
]
"""Any of them; one without fields may be given by its name alone."""
