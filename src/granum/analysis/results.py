"""What a run is judged by: the results that its scene asks for, from its last state."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..array_types import BoolArray, FloatArray
from ..checks import InputError
from ..contact.law import contact_stiffnesses, overlaps_under, pull_off
from ..io import Recording
from ..scene.joints import Hinge
from ..scene.results import Bed, Column, Dig, DrumFlow, Level, Pile, Result, Ridge, Slope
from ..scene.scene import Scene
from ..state.contacts import overlap_in_diameters
from .circuit import circuit_flow, circuit_numbers, circuit_passes
from .conveyor import ridge_angle
from .dig import bed_height, outside_trench
from .drum import Drum, drum_angles, plug_fraction
from .flow_rate import discharge_numbers
from .pile import pile_shape
from .shear_cell import ShearFlowMeans, shear_flow
from .snapshot import Snapshot, snapshots
from .snapshot_rows import GrainRows
from .surface import bulk_packing_fraction, collapse_slope, surface_height
from .triaxial import TriaxialCurve, triaxial_curve


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
    overlaps = exact_column_overlaps(scene)
    return len(overlaps) * scene.grains[0].size_range[1] - float(overlaps.sum())


def exact_column_overlaps(scene: Scene) -> FloatArray:
    """Overlaps [m] of the contacts of that column, from the plane up."""
    if len(scene.grains) != 1 or scene.grains[0].size_range[0] != scene.grains[0].size_range[1]:
        raise InputError(f"scene {scene.name!r} is not a column: it has other than one block of equal grains.")
    count, diameter = len(scene.grains[0].place()[0]), scene.grains[0].size_range[1]
    material, law = scene.materials[0], scene.law
    gravity = float(np.linalg.norm(scene.gravity.acceleration))
    weight = gravity * material.density * math.pi / 6 * diameter**3
    above = weight * np.arange(count, 0, -1)  # [N] carried by each contact, from the plane up
    radius_eff = np.full(count, diameter / 4)  # R* of two equal spheres
    radius_eff[0] = diameter / 2  # of a sphere on a plane
    stiffness = contact_stiffnesses(law.parameters, np.full(count, law.pair_stiffness(material, material)), radius_eff)
    pull = np.array([pull_off(law.parameters, r) for r in radius_eff.tolist()])
    return np.asarray(overlaps_under(law.parameters, stiffness, above + pull))


@dataclass(frozen=True)
class EndState:
    """Of a run at its end: grains, and the time [s] at which the last step began."""

    scene: Scene
    position: FloatArray  # (N, 3) [m]
    radius: FloatArray  # (N,) [m]
    velocity: FloatArray  # (N, 3) [m/s]
    time: float
    static: BoolArray  # (N,) grains that never move
    walls: Mapping[str, FloatArray] | None = None  # (W, ...) of the wall bodies, see Snapshot; None: as the scene says for the time

    @property
    def top(self) -> float:
        """Of the topmost grain [m]; NaN without grains."""
        return float((self.position[:, 2] + self.radius).max()) if len(self.position) else math.nan

    @cached_property
    def snapshot(self) -> Snapshot:
        """The same without contacts, as measures take it."""
        grains = GrainRows(position=self.position, radius=self.radius, velocity=self.velocity, static=self.static)
        return Snapshot.build(self.scene, grains, walls=self.walls, time=self.time)


Found = tuple[dict[str, float], str | None]
"""Numbers by name, and why some of them are NaN."""


def _column(wanted: Column, s: EndState) -> Found:
    exact = exact_column_height(s.scene)
    return {"exact_height": exact, "height_error": (exact - s.top) / exact}, "there are no grains"


def _pile(wanted: Pile, s: EndState) -> Found:
    shape = pile_shape(s.snapshot)
    return {"height": shape.height, "angle": shape.angle, "angle_error": shape.error}, shape.lack


def _bed(wanted: Bed, s: EndState) -> Found:
    mean = float(s.position[:, 2].mean()) if len(s.position) else math.nan
    return {"height": mean, "packing_fraction": bulk_packing_fraction(s.position, s.radius, wanted.area)}, "the bed is too low"


def _level(wanted: Level, s: EndState) -> Found:
    now = Snapshot.build(s.scene, GrainRows(position=s.position, radius=s.radius, static=s.static))  # velocities may not be recorded
    return {"height": surface_height(now).level}, "there are no grains"


def _drum(wanted: DrumFlow, s: EndState) -> Found:
    now = s.snapshot
    try:
        drum = Drum.of(now)
    except InputError:
        names = MEASURES["drum"][1]
        return dict.fromkeys(names, math.nan), "no drum turns at the end of the run"
    angles = drum_angles(now, drum)
    lack = "there are too few grains for a surface" if drum.speed > 0 else "the drum stands still"
    numbers = {"surface_angle": angles.surface, "centre_of_mass_angle": angles.centre_of_mass, "plug_fraction": plug_fraction(now, drum)}
    return numbers, lack


def _ridge(wanted: Ridge, s: EndState) -> Found:
    ridge = ridge_angle(s.position, s.radius, wanted.along)
    return {"height": ridge.height, "angle": ridge.mean}, "there are too few grains for a ridge"


def _slope(wanted: Slope, s: EndState) -> Found:
    return {"angle": collapse_slope(s.position, s.radius, wanted.width).angle}, "there are too few grains for a slope"


def _dig(wanted: Dig, s: EndState) -> Found:
    outside = outside_trench(s.position, wanted.lower, wanted.upper)
    numbers = {
        "height": bed_height(s.position, s.radius, wanted.lower, wanted.upper),
        "outside_volume": float((4 / 3 * math.pi * s.radius[outside] ** 3).sum()),
    }
    return numbers, "there is no bed in the trench"


MEASURES: dict[str, tuple[Callable[[Any, EndState], Found], tuple[str, ...]]] = {
    "column": (_column, ("exact_height", "height_error")),
    "pile": (_pile, ("height", "angle", "angle_error")),
    "bed": (_bed, ("height", "packing_fraction")),
    "level": (_level, ("height",)),
    "drum": (_drum, ("surface_angle", "centre_of_mass_angle", "plug_fraction")),
    "ridge": (_ridge, ("height", "angle")),
    "slope": (_slope, ("angle",)),
    "dig": (_dig, ("height", "outside_volume")),
}
"""How each result of ``scene.results`` is measured, and the names of its numbers."""


def triaxial_numbers(curve: TriaxialCurve) -> dict[str, float]:
    """Of a test so far: its last state, its peak and its critical state; stresses in Pa, angles in degrees."""
    return {
        "initial_packing_fraction": float(curve.packing_fraction[0]),
        "packing_fraction": float(curve.packing_fraction[-1]),
        "axial_strain": float(curve.axial_strain[-1]),
        "volumetric_strain": float(curve.volumetric_strain[-1]),
        "peak_deviator": float(curve.deviator.max()),
        **{f"critical_{name}": value for name, value in curve.critical.items()},
    }


def shear_cell_numbers(found: ShearFlowMeans) -> dict[str, float]:
    """Means of a flow after its transient, with their standard errors."""
    means = {"mu": found.friction, "phi": found.packing_fraction, "inertial_number": found.inertial_number, "pressure": found.pressure}
    return {f"{name}{part}": value for name, m in means.items() for part, value in (("", m.value), ("_error", m.error))}


def _triaxial_results(shots: Iterable[Snapshot]) -> Found:
    curve = triaxial_curve(shots)
    return triaxial_numbers(curve), curve.lack


FRAME_MEASURES: dict[str, Callable[[Any, Recording], Found]] = {
    "triaxial": lambda wanted, recording: _triaxial_results(snapshots(recording)),
    "shear-cell": lambda wanted, recording: (shear_cell_numbers(shear_flow(snapshots(recording))[1]), None),
    "circuit": lambda wanted, recording: (circuit_numbers(circuit_flow(circuit_passes(snapshots(recording)))), None),
    "discharge": lambda wanted, recording: (discharge_numbers(wanted, recording), None),
}
"""How results are measured that no single state has: from all frames of a recording; and why some of them are not numbers."""


def frame_results(recording: Recording) -> tuple[dict[str, float | None], list[str]]:
    """The numbers that the scene of a recording asks for and that its frames together have, and words about those that they have not."""
    found: dict[str, float] = {}
    lacks = []
    for wanted in recording.scene.results:
        if wanted.measure in FRAME_MEASURES:
            try:
                numbers, lack = FRAME_MEASURES[wanted.measure](wanted, recording)
            except InputError as error:  # it cannot be measured yet, such as a test that has not begun
                lack = str(error)
            else:
                found |= numbers
            lacks += [lack] if lack is not None else []
    return {name: value if math.isfinite(value) else None for name, value in found.items()}, lacks


def _of_content(s: EndState) -> tuple[Result, ...]:
    """What a scene is judged by that asks for nothing: by what is in it, whatever its name."""
    turned = any(body.is_driven and body.fastest[1].any() for body in s.scene.bodies)
    turned |= any(isinstance(joint, Hinge) and joint.motor is not None for joint in s.scene.joints)
    try:
        is_drum = turned and any(not math.isnan(value) for value in _drum(DrumFlow(), s)[0].values())
    except InputError:  # the recording does not hold what a flow is measured by
        is_drum = False
    return (DrumFlow(),) if is_drum else ()


def scene_results(
    scene: Scene,
    position: FloatArray,
    radius: FloatArray,
    velocity: FloatArray,
    time: float,
    static: BoolArray | None = None,
    walls: Mapping[str, FloatArray] | None = None,
) -> tuple[dict[str, float | None], dict[str, str]]:
    """The numbers that the scene asks for, lengths in m, angles in degrees, None where the state has no such number; and why, by name.

    ``time`` [s] is that at which the last step began. ``static`` (N,): grains that never move, none if it is left out. ``walls``: arrays of
    the wall bodies by their names in :class:`Snapshot` without ``wall_``; none: they moved as the scene says for that time. Numbers of
    all frames are left to :func:`frame_results`.
    """
    state = EndState(scene, position, radius, velocity, time, np.zeros(len(radius), bool) if static is None else static, walls)
    found: dict[str, float] = {"height": state.top}
    missing = {} if len(position) else {"height": "there are no grains"}
    for wanted in scene.results or _of_content(state):
        if wanted.measure in FRAME_MEASURES:
            continue
        measure, names = MEASURES[wanted.measure]
        try:
            numbers, lack = measure(wanted, state)
        except InputError as error:  # such as the flow of a drum that is none: a finished run is not lost for that
            numbers, lack = dict.fromkeys(names, math.nan), str(error)
        found |= numbers
        missing |= {name: lack for name, value in numbers.items() if lack is not None and not math.isfinite(value)}
    return {name: value if math.isfinite(value) else None for name, value in found.items()}, missing
