"""Packings in a recording: every frame is a packing, with the cell it had then, and comes back with the same bits.

2D packings lie in the plane z = 0. Contacts hold grain a and the image of b that it meets; ``point`` is on the side of a, also where that
is across the boundary of the cell. There is no time: ``frames/time`` counts what the description's ``time_is`` says, ``strain`` in shear
and ``step`` (the number of the frame) otherwise. The scalars of every frame are :data:`SCALARS` and the components of stress, fabric
and cell (``cell_xy`` is the y component of the first vector).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import ValidationError

from ..checks import InputError
from ..contact.power import PowerLaw
from ..quasistatic.bridge import still_scene
from ..quasistatic.energy import Touching
from ..quasistatic.measure import Measured, measure, network
from ..quasistatic.packing import Packing
from .read import DamagedFileError, Recording
from .write import RecordingWriter

if TYPE_CHECKING:
    from .frame import Frame

KIND = "packing"
SCALARS = ("phi", "energy", "pressure", "z", "rattlers", "contacts", "residual", "iterations", "strain")
TENSORS = ("stress", "fabric", "cell")
_WAY_OUT = "Copy it again from where it was written, or make it anew."


class PackingWriter:
    """Writes packings, one after the other: ``with PackingWriter("jam.vtkhdf", packing) as out: out.append(packing)``.

    ``about`` goes into the description: seed, command, settings, versions. An existing file of that name is replaced.
    """

    def __init__(
        self, path: str | Path, first: Packing, about: Mapping[str, Any] | None = None, *, time_is: Literal["step", "strain"] = "step"
    ) -> None:
        self.dim, self._time_is = first.dim, time_is
        self._still = still_scene(first)
        pressure = "N/m" if first.dim == 2 else "Pa"
        units = {"residual": "N", "pressure": pressure}
        for i, j in components(first.dim):
            units |= {f"stress_{i}{j}": pressure, f"cell_{i}{j}": "m"}
        description = {
            "kind": KIND,
            "scene": self._still.model_dump(mode="json"),
            "law": first.law.model_dump(mode="json"),
            "dim": first.dim,
            "time_is": time_is,
            **(about or {}),
        }
        self._writer = RecordingWriter(path, description, scalar_names(first.dim), expected_points=first.count, units=units)

    def append(self, packing: Packing, *, iterations: int = 0, strain: float = 0.0, measured: Measured | None = None) -> None:
        """Add a frame; ``iterations`` of the minimisation that led to it."""
        if packing.dim != self.dim:
            raise ValueError(f"all packings of a recording must have the same dimension, {self.dim} (got {packing.dim}).")
        found = measure(packing) if measured is None else measured
        step, count = self._writer.frame_count, packing.count
        still, unturned = np.zeros((count, 3)), np.tile([1.0, 0.0, 0.0, 0.0], (count, 1))
        position = padded(packing.position)
        values = {
            "phi": packing.phi,
            "energy": found.energy,
            "pressure": found.pressure,
            "z": found.coordination,
            "rattlers": found.rattler_count,
            "contacts": found.touching,
            "residual": found.residual,
            "iterations": iterations,
            "strain": strain,
        }
        for name, tensor in (("stress", found.stress), ("fabric", found.fabric), ("cell", packing.cell.vectors)):
            values |= {f"{name}_{i}{j}": float(tensor["xyz".index(i), "xyz".index(j)]) for i, j in components(self.dim)}
        self._writer.append(
            step=step,
            time=strain if self._time_is == "strain" else float(step),
            grains={
                "position": position,
                "orientation": unturned,
                "velocity": still,
                "spin": still,
                "radius": packing.radius,
                "id": np.arange(count),
                "material": np.zeros(count, np.int32),
            },
            contacts=contact_columns(packing, position, network(packing).touching),
            scalars=values,
            walls={"position": still[:1], "orientation": unturned[:1], "velocity": still[:1], "spin": still[:1]},
        )

    def set_summary(self, summary: Mapping[str, Any]) -> None:
        """Store what was found."""
        self._writer.set_summary(summary)

    def close(self) -> None:
        """End writing."""
        self._writer.close()

    def __enter__(self) -> PackingWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def contact_columns(packing: Packing, position: np.ndarray, c: Touching) -> dict[str, Any]:
    """Contacts in the columns of a frame."""
    normal = padded(c.normal)
    zero = np.zeros(len(c.a))
    return {
        "a": c.a,
        "b": c.b,
        "feature": zero,
        "normal": normal,
        "overlap": c.overlap,
        "normal_force": c.force,
        "point": position[c.a] + (packing.radius[c.a] - c.overlap / 2)[:, None] * normal,
        "force": c.force[:, None] * normal,
        "status": zero,
    }


def padded(vectors: np.ndarray) -> np.ndarray:
    """(n, 3) of (n, 2 or 3), with zeros for z."""
    space = np.zeros((len(vectors), 3))
    space[:, : vectors.shape[1]] = vectors
    return space


def components(dim: int) -> list[tuple[str, str]]:
    """Names of the two axes of every component of a tensor."""
    return [(i, j) for i in "xyz"[:dim] for j in "xyz"[:dim]]


def scalar_names(dim: int) -> list[str]:
    """All scalars of a frame."""
    return [*SCALARS, *(f"{name}_{i}{j}" for name in TENSORS for i, j in components(dim))]


def is_packing(recording: Recording) -> bool:
    """Whether its frames are packings, not instants of a run."""
    return recording.description.get("kind") == KIND


def moment(recording: Recording, time: float) -> str:
    """In words, when or where a frame with this ``frames/time`` is."""
    if not is_packing(recording):
        return f"t = {time:g} s"
    return f"strain {time:g}" if recording.description.get("time_is") == "strain" else f"step {time:g}"


def read_packing(source: Recording | str | Path, frame: int = -1) -> Packing:
    """The packing of a frame, with the bits that were written; -1 is the last one."""
    if not isinstance(source, Recording):
        with Recording(source) as recording:
            return read_packing(recording, frame)
    if not is_packing(source):
        raise InputError(f"{source.path} is the recording of a run, not of a packing. Make a packing with `granum jam`.")
    found: Frame = source.frame(frame)
    try:
        law = PowerLaw.model_validate(source.description["law"])
        cell = source.scene_at(frame).cell
        dim = int(source.description["dim"])
    except (KeyError, TypeError, ValueError, ValidationError) as error:
        raise DamagedFileError(source.path, "recording", error, _WAY_OUT) from error
    if cell is None or cell.dim != dim:
        raise DamagedFileError(source.path, "recording", "the cell of its packing is missing", _WAY_OUT)
    return Packing(cell, np.ascontiguousarray(found.position[:, :dim]), found.radius, law)
