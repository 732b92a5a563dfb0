"""Remarks about meshes before the first step: sizes that do not fit the grains, and triangles that were left out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..detection.mesh_table import dropped
from ..scene.mesh_look import looks
from ..scene.scene import Scene
from ..scene.shapes import Mesh

if TYPE_CHECKING:
    from .simulation import Simulation


def check_meshes(scene: Scene) -> None:
    """Refuse meshes that were drawn in another unit, as far as that is plain to see."""
    smallest, largest = scene.size_range
    if largest > 0:
        for look in looks(scene):
            look.check(smallest, largest)


def size_remarks(scene: Scene) -> Iterator[tuple[str, str]]:
    """Kind and sentence of all that is odd about the sizes of meshes."""
    smallest, largest = scene.size_range
    for look in looks(scene) if largest > 0 else ():
        what = look.remark(smallest, largest)
        if what is not None:
            yield f"size of mesh {look.wall}", what


def mesh_remarks(sim: Simulation) -> Iterator[tuple[str, str]]:
    """Kind and sentence of all that is odd about the meshes of a run."""
    yield from size_remarks(sim.scene)
    yield from _left_out(sim)


def _left_out(sim: Simulation) -> Iterator[tuple[str, str]]:
    """Were triangles left out of meshes?"""
    walls = [wall for body in sim.scene.all_bodies for wall in body.walls]
    meshes = {k: wall for k, wall in enumerate(walls) if isinstance(wall, Mesh)}
    if sum(len(mesh.triangles) for mesh in meshes.values()) == len(sim.stepper.walls.mesh.triangle):
        return
    for k, mesh in meshes.items():
        flat, twice = dropped(mesh.vertices, mesh.triangles)
        reasons = [f"{n} {why}" for n, why in ((flat, "collapse when near vertices are merged"), (twice, "repeat another one")) if n]
        if reasons:
            count = f"{flat + twice} of the {len(mesh.triangles)} triangles of wall {k} ({mesh.file or 'a mesh'})"
            yield f"mesh {k}", f"{count} are left out: {', '.join(reasons)}"
