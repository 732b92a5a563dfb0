"""``granum export --vtk``: a recording as three series of VTK files, of grains, contacts and walls.

Files of .pvd and .vtp are what every version of ParaView opens. Contacts are lines from centre to centre (in a periodic cell to the nearest
image), or from a centre to the wall; walls are triangles where they stood.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..array_types import FloatArray
from ..checks import InputError, OutputError, known_name
from ..io import Frame, Recording
from ..state.rotation import matrix
from .surfaces import wall_triangles
from .vtp import PolyData, write_pvd, write_vtp

PARTS = ("grains", "contacts", "walls")
NEAR = 1.1  # of the ball that holds all grains: how far endless walls are shown


def export_vtk(
    recording: Recording | str | Path,
    folder: str | Path,
    *,
    parts: Iterable[str] = PARTS,
    frames: Sequence[int] | None = None,
    progress: Callable[[float], Any] | None = None,
) -> list[Path]:
    """Write ``parts`` of a recording as VTK files into a folder, which is made; returns the .pvd files that ParaView opens.

    >>> from granum import run
    >>> done = run("column", duration=0.02, output="column.vtkhdf", progress=False, picture=False)
    >>> [path.name for path in export_vtk("column.vtkhdf", "vtk", parts=["grains", "walls"])]
    ['grains.pvd', 'walls.pvd']

    ``frames`` none: all. ``progress`` is called with the part that is done.
    """
    if not isinstance(recording, Recording):
        with Recording(recording) as opened:
            return export_vtk(opened, folder, parts=parts, frames=frames, progress=progress)
    chosen, folder = [known_name("part", part, PARTS) for part in dict.fromkeys(parts)], Path(folder)
    if not chosen:
        raise InputError(f"there is no part to export; choose some of: {', '.join(PARTS)}.")
    if "contacts" in chosen and "contacts" not in recording.recorded:
        raise InputError(
            f"{recording.path} holds no contacts to export: its run was told to record other things only. Export the rest with "
            "--parts grains,walls, or run it again with --record ...,contacts."
        )
    if not len(recording):
        raise InputError(f"{recording.path} holds no frames to export. Record at least one.")
    numbers = list(range(len(recording)) if frames is None else frames)
    surfaces = _Surfaces(recording, numbers) if "walls" in chosen else None
    make: dict[str, Callable[[Frame, int], PolyData]] = {"grains": _grains, "contacts": _contacts}
    if surfaces is not None:
        make["walls"] = surfaces.at
    files: dict[str, list[Path]] = {part: [] for part in chosen}
    try:
        for part in chosen:
            (folder / part).mkdir(parents=True, exist_ok=True)
        for k, i in enumerate(numbers):
            frame = recording.frame(i)
            for part in chosen:
                files[part].append(folder / part / f"{part}-{i:06d}.vtp")
                write_vtp(files[part][-1], make[part](frame, i))
            if progress is not None:
                progress((k + 1) / len(numbers))
        collections = [folder / f"{part}.pvd" for part in chosen]
        for part, path in zip(chosen, collections, strict=True):
            write_pvd(path, files[part], [float(recording.times[i]) for i in numbers])
    except OSError as error:
        raise OutputError(
            f"{folder} cannot be written ({error.strerror or error}). Choose a folder that is writable and has room."
        ) from error
    return collections


def _grains(frame: Frame, number: int) -> PolyData:
    columns = {name: value for name, value in frame.grains.items() if name != "position"}
    return PolyData(frame.position, np.arange(len(frame.radius))[:, None], "Verts", columns)


def _contacts(frame: Frame, number: int) -> PolyData:
    """Lines; each has points of its own, so that every contact can have its own width and colour."""
    c, ids = frame.contacts, frame.id
    order = np.argsort(ids)
    row_of = lambda names: order[np.searchsorted(ids, names, sorter=order)]  # noqa: E731
    a, pair = row_of(c.a), c.b >= 0
    start, end = frame.position[a], c.point.copy()
    reach = frame.radius[a[pair]] + frame.radius[row_of(c.b[pair])] - c.overlap[pair]
    end[pair] = start[pair] + reach[:, None] * c.normal[pair]
    points = np.stack([start, end], axis=1).reshape(-1, 3)
    names = ("force", "normal_force", "overlap", "status", "a", "b")
    return PolyData(points, np.arange(2 * len(c)).reshape(-1, 2), "Lines", cell_data={name: getattr(c, name) for name in names})


class _Surfaces:
    """Walls as triangles that move with their bodies; endless ones are shown where the grains are, however their bodies turn."""

    def __init__(self, recording: Recording, numbers: Sequence[int]) -> None:
        self._walls = [(b, wall) for b, body in enumerate(recording.scene.all_bodies) for wall in body.walls]
        self._centre, self._reach = _ball(recording, numbers)

    def at(self, frame: Frame, number: int) -> PolyData:
        """In a frame."""
        walls = frame.walls
        placed = [wall_triangles(w, walls.position[b], matrix(walls.orientation[b]), self._centre, self._reach) for b, w in self._walls]
        corners = np.concatenate([np.zeros((0, 3, 3)), *placed])
        sizes = [len(own) for own in placed]
        cells = np.arange(3 * len(corners)).reshape(-1, 3)
        of_body = np.repeat(np.array([b for b, _ in self._walls], np.int32), sizes)
        data = {"wall": np.repeat(np.arange(len(sizes), dtype=np.int32), sizes), "body": of_body, "velocity": walls.velocity[of_body]}
        return PolyData(corners.reshape(-1, 3), cells, "Polys", cell_data=data)


def _ball(recording: Recording, numbers: Sequence[int]) -> tuple[FloatArray, float]:
    """Centre and radius [m] of a ball around the grains of the first, middle and last frame, and a little more."""
    looked_at = [recording.frame(i) for i in dict.fromkeys((numbers[0], numbers[len(numbers) // 2], numbers[-1]))]
    filled = [frame for frame in looked_at if len(frame.radius)]
    if not filled:
        return np.zeros(3), 1.0
    low = np.min([(frame.position - frame.radius[:, None]).min(axis=0) for frame in filled], axis=0)
    high = np.max([(frame.position + frame.radius[:, None]).max(axis=0) for frame in filled], axis=0)
    return (low + high) / 2, NEAR * float(np.linalg.norm(high - low)) / 2
