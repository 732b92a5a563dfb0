"""What a run of a library scene is judged by, from its scene and its last state."""

from __future__ import annotations

import hashlib
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..array_types import FloatArray
from ..contact.law import contact_stiffnesses, overlaps_under, pull_off
from ..scene.scene import Scene
from ..state.contacts import overlap_in_diameters
from .conveyor import ridge_angle
from .drum import drum_angles, plug_fraction
from .snapshot import GrainRows, Snapshot
from .surface import PileShape, bulk_packing_fraction, collapse_slope, resting_grains, surface_height


def state_hash(*arrays: FloatArray) -> str:
    """sha256 of the grains' positions, orientations, velocities and spins (C-contiguous float64): equal runs, equal text."""
    total = hashlib.sha256()
    for array in arrays:
        total.update(np.ascontiguousarray(array, np.float64).tobytes())
    return total.hexdigest()


def mean_and_largest_overlap(overlap: FloatArray, a: NDArray[Any], b: NDArray[Any], radius: FloatArray) -> tuple[float, float]:
    """Mean and largest overlap of contacts in diameters of the smaller grain; b < 0 is a wall. Zeros without contacts."""
    if not len(overlap):
        return 0.0, 0.0
    part = overlap_in_diameters(overlap, a, b, radius)
    return float(part.mean()), float(part.max())


def exact_column_height(scene: Scene) -> float:
    """Height [m] of a column of equal grains at rest on a plane: diameters minus the overlaps of the contact law (physics 8)."""
    return int(scene.parameters["count"]) * scene.grains[0].size_range[1] - float(exact_column_overlaps(scene).sum())


def exact_column_overlaps(scene: Scene) -> FloatArray:
    """Overlaps [m] of the contacts of that column, from the plane up."""
    count, diameter = int(scene.parameters["count"]), scene.grains[0].size_range[1]
    material, law = scene.materials[0], scene.law
    gravity = float(np.linalg.norm(scene.gravity.acceleration))
    weight = gravity * material.density * math.pi / 6 * diameter**3
    above = weight * np.arange(count, 0, -1)  # [N] carried by each contact, from the plane up
    radius_eff = np.full(count, diameter / 4)  # R* of two equal spheres
    radius_eff[0] = diameter / 2  # of a sphere on a plane
    stiffness = contact_stiffnesses(law.parameters, np.full(count, law.pair_stiffness(material, material)), radius_eff)
    pull = np.array([pull_off(law.parameters, r) for r in radius_eff.tolist()])
    return np.asarray(overlaps_under(law.parameters, stiffness, above + pull))


def scene_results(scene: Scene, position: FloatArray, radius: FloatArray, velocity: FloatArray, time: float) -> dict[str, float | None]:
    """The numbers of this kind of scene: lengths in m, angles in degrees; None where the state has no such number.

    ``time`` [s] is that at which the last step began: walls moved as the scene says for it.
    """
    top = float((position[:, 2] + radius).max()) if len(position) else math.nan
    found: dict[str, float] = {"height": top}
    if scene.name == "column" and "count" in scene.parameters:
        exact = exact_column_height(scene)
        found |= {"exact_height": exact, "height_error": (exact - top) / exact}
    elif scene.name == "pile":
        resting = resting_grains(velocity, radius, float(np.linalg.norm(scene.gravity.acceleration)))
        shape = PileShape().compute(position[resting], radius[resting])
        found |= {"height": shape.height, "angle": shape.angle}
    elif scene.name == "box" and "width" in scene.parameters:
        mean = float(position[:, 2].mean()) if len(position) else math.nan
        packed = bulk_packing_fraction(position, radius, float(scene.parameters["width"]) ** 2)
        found |= {"height": mean, "packing_fraction": packed}
    elif scene.name == "silo":
        found["height"] = surface_height(Snapshot.build(scene, GrainRows(position=position, radius=radius))).level
    elif scene.name == "drum":
        now = Snapshot.build(scene, GrainRows(position=position, radius=radius, velocity=velocity), time=time)
        angles = drum_angles(now)
        found |= {
            "surface_angle": angles.surface,
            "centre_of_mass_angle": angles.centre_of_mass,
            "plug_fraction": plug_fraction(now),
        }
    elif scene.name == "conveyor" and "middle" in scene.parameters:
        low, high = scene.parameters["middle"]
        ridge = ridge_angle(position, radius, (float(low), float(high)))
        found |= {"height": ridge.height, "angle": ridge.mean}
    elif scene.name == "collapse" and "width" in scene.parameters:
        found["angle"] = collapse_slope(position, radius, float(scene.parameters["width"])).angle
    return {name: value if math.isfinite(value) else None for name, value in found.items()}
