"""Packings in snapshots: what ``quasistatic`` measures of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from pydantic import ValidationError

from ..checks import InputError
from ..contact.power import PowerLaw
from ..quasistatic.measure import measure
from ..quasistatic.moduli import moduli
from ..quasistatic.packing import Packing
from .snapshot import Snapshot


def packing_of(s: Snapshot) -> Packing:
    """The packing that a frame holds; refuses other recordings in words."""
    law: Any = s.scene.parameters.get("law")
    if s.scene.cell is None or law is None:
        raise InputError(
            f"recording {s.path} does not hold packings: this is measured of packings alone. Make one with `granum jam`, or measure the "
            "force network of a run with `network`."
        )
    try:
        return Packing(s.scene.cell, np.ascontiguousarray(s.position[:, : s.scene.cell.dim]), s.radius, PowerLaw.model_validate(law))
    except ValidationError as error:
        raise InputError(f"recording {s.path} holds a law of packings that cannot be read ({error}).") from None


def packing_numbers(s: Snapshot) -> dict[str, float]:
    """Packing fraction, coordination, stress and fabric, SI units."""
    found = measure(packing_of(s))
    return {
        "phi": found.phi,
        "jammed": float(found.jammed),
        "coordination": found.coordination,
        "rattlers": found.rattler_count,
        "contacts": found.contacts,
        "energy": found.energy,
        "pressure": found.pressure,
        "shear_stress": found.shear_stress,
        "deviatoric_stress": found.stress_parts.deviatoric,
        "deviatoric_fabric": found.fabric_parts.deviatoric,
        "isotropic_fabric": found.fabric_parts.isotropic,
        "mean_force": found.mean_force,
        "largest_overlap": found.overlap,
    }


def packing_moduli(s: Snapshot) -> dict[str, float]:
    """Bulk and shear modulus by linear response, also if all grains moved with the strain [N/m^(d-1)]."""
    packing = packing_of(s)
    found = moduli(packing)
    return {
        "phi": packing.phi,
        "pressure": found.pressure,
        "bulk": found.bulk,
        "bulk_affine": found.bulk_affine,
        "shear": found.shear,
        "shear_affine": found.shear_affine,
    }
