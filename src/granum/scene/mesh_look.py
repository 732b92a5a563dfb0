"""What a mesh is like at first sight: its size, its triangles, whether it is closed, and whether its unit was another one than metres."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..checks import InputError
from .scene import Scene
from .shapes import Mesh

WIDE, FAR_TOO_WIDE = 2000, 10_000
"""Diameters of the largest grain: a mesh is told from the first on, and refused from the second on if nobody has given its scale."""
MOST_LINES = 10  # about meshes, at the start of a run


@dataclass(frozen=True)
class MeshLook:
    """A mesh, for a line at the start of a run."""

    wall: int
    """Number among all walls of the scene."""
    name: str
    """Its file, or the body that it belongs to."""
    size: tuple[float, float, float]
    """[m] along its own axes."""
    triangles: int
    closed: bool
    """Every edge belongs to two triangles."""
    from_file: bool
    """Only such a mesh has a scale that may be wrong."""
    scaled: bool
    """Somebody has given the scale."""

    @property
    def words(self) -> str:
        """In a line."""
        return f"mesh {self.name}: {self._extent} m, {self.triangles} triangles, {'closed' if self.closed else 'open'}"

    def remark(self, smallest: float, largest: float) -> str | None:
        """What is odd about its size beside grains of these diameters [m], with the way out."""
        width = max(self.size)
        if not self.from_file:
            return None
        if width > WIDE * largest:
            return (
                f"mesh {self.name} spans {self._extent} m, {width / largest:.2g} diameters of the largest grain: if it was drawn in "
                "millimetres, set scale = 0.001 beside its file" + ("" if self.scaled else "; if it is so large, set scale = 1")
            )
        if width < smallest:
            return (
                f"mesh {self.name} spans {self._extent} m, less than the diameter of the smallest grain, {smallest:.3g} m: scale "
                "multiplies the coordinates of its file, and is 1 for metres and 0.001 for millimetres"
            )
        return None

    def check(self, smallest: float, largest: float) -> None:
        """Refuse a mesh that is far too wide for its grains, unless somebody has given its scale."""
        if self.from_file and not self.scaled and max(self.size) > FAR_TOO_WIDE * largest:
            raise InputError(f"{self.remark(smallest, largest)}.")

    @property
    def _extent(self) -> str:
        return " x ".join(f"{side:.3g}" for side in self.size)


def looks(scene: Scene) -> list[MeshLook]:
    """Of all meshes of a scene."""
    walls = [(wall, body.name) for body in scene.all_bodies for wall in body.walls]
    return [_look(k, wall, owner) for k, (wall, owner) in enumerate(walls) if isinstance(wall, Mesh)]


def mesh_lines(scene: Scene) -> list[str]:
    """A line for each mesh; of many, the first ones."""
    found = looks(scene)
    more = len(found) - MOST_LINES
    return [look.words for look in found[:MOST_LINES]] + ([f"and {more} more meshes"] if more > 0 else [])


def _look(number: int, mesh: Mesh, owner: str) -> MeshLook:
    x, y, z = np.ptp(mesh.vertices[np.unique(mesh.triangles)], axis=0).tolist()
    return MeshLook(
        wall=number,
        name=Path(mesh.file).name if mesh.file is not None else f"of the body {owner!r}",
        size=(x, y, z),
        triangles=len(mesh.triangles),
        closed=is_closed(mesh),
        from_file=mesh.file is not None,
        scaled=mesh.scale is not None,
    )


def is_closed(mesh: Mesh) -> bool:
    """Whether every edge belongs to two triangles; vertices at the same place are one."""
    _, same = np.unique(mesh.vertices, axis=0, return_inverse=True)
    corner = same.reshape(-1)[mesh.triangles]
    edges = np.sort(np.concatenate([corner[:, [0, 1]], corner[:, [1, 2]], corner[:, [2, 0]]]), axis=1)
    return bool((np.unique(edges, axis=0, return_counts=True)[1] == 2).all())
