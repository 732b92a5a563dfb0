"""Packings in snapshots: what ``quasistatic`` measures of them."""

from __future__ import annotations

import numpy as np

from ..checks import InputError
from ..quasistatic.measure import measure
from ..quasistatic.moduli import moduli
from ..quasistatic.packing import Packing
from ..scene.parameters import PackingParameters
from .snapshot import Snapshot


def packing_of(s: Snapshot) -> Packing:
    """The packing that a frame holds; refuses other recordings in words."""
    made = s.scene.parameters
    if s.scene.cell is None or not isinstance(made, PackingParameters):
        raise InputError(
            f"recording {s.path} does not hold packings: this is measured of packings alone. Make one with `granum jam`, or measure the "
            "force network of a run with `network`."
        )
    return Packing(s.scene.cell, np.ascontiguousarray(s.position[:, : s.scene.cell.dim]), s.radius, made.law)


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
