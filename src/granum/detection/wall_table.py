"""Walls as a table: what is fixed about planes, boxes, cylinders, rods and meshes, and which bodies they belong to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..arithmetic import times
from ..array_types import FloatArray, IntArray
from ..checks import known_name
from ..kernel_groups import group
from ..scene.bodies import Body
from ..scene.shapes import Box, Capsule, Cylinder, Mesh, Plane
from ..state.rotation import matrix
from .mesh_table import MeshTable, build_mesh

# kinds of walls, and their parameters in the body's frame [m]
PLANE = 0  # 0:3 point, 3:6 unit normal towards the grains
INSIDE = 1  # of a box: 0:3 lower corner, 3:6 upper corner, 6:12 1 for each closed face -x, +x, -y, +y, -z, +z
OUTSIDE = 2  # of a box: 0:3 lower corner, 3:6 upper corner
CYLINDER = 3  # 0:3 centre, 3:6 unit axis, 6 radius, 7 half length (inf: endless), 8 1 if both ends are closed
MESH = 4  # the grid: 0:3 lower corner, 3 size of a cell, 4:7 cells along each axis, 7 first cell, 8 1 if grains are in front only,
#           9 how far from a place it knows of triangles
ROD = 5  # a solid cylinder or capsule: 0:3 centre, 3:6 unit axis, 6 radius, 7 half length (inf: endless), 8 1 if its ends are round
PARAMETERS = 16
FACES = ("-x", "+x", "-y", "+y", "-z", "+z")


@group
class WallTable(NamedTuple):
    """K walls, numbered through all bodies in order."""

    kind: IntArray  # (K,)
    frame: IntArray  # (K,) row of the body that the wall is fixed to: where it is, and how it moves
    body: IntArray  # (K,) row of the body that carries what merges with the wall: as a rule the same
    material: IntArray  # (K,)
    parameter: FloatArray  # (K, 16) in the frame's axes
    surface_velocity: FloatArray  # (K, 3) in the frame's axes [m/s]
    mesh: MeshTable

    @classmethod
    def build(cls, bodies: Sequence[Body], material_index: Mapping[str, int], largest_radius: float) -> WallTable:
        """Table of the bodies' walls, for grains of at most ``largest_radius`` [m], those to be emitted included."""
        owned = [(body, wall) for body, owner in enumerate(bodies) for wall in owner.walls]
        kind, parameter = np.zeros(len(owned), np.int32), np.zeros((len(owned), PARAMETERS))
        meshes: list[MeshTable] = []
        first_cell = 0
        for k, (_, wall) in enumerate(owned):
            if isinstance(wall, Mesh):
                mesh, grid = build_mesh(wall.vertices, wall.triangles, largest_radius)
                kind[k], numbers = MESH, (*grid.lower, grid.size, *grid.shape, first_cell, float(wall.side == "front"), largest_radius)
                meshes.append(mesh)
                first_cell += len(mesh.cell_first) - 1
            else:
                kind[k], numbers = _parameters(wall)
            parameter[k, : len(numbers)] = numbers
        material = [material_index[known_name("material", wall.material, material_index)] for _, wall in owned]
        return cls(
            kind=kind,
            frame=np.array([body for body, _ in owned], np.int32),
            body=np.array([body for body, _ in owned], np.int32),
            material=np.array(material, np.int32),
            parameter=parameter,
            surface_velocity=np.array([wall.surface_velocity for _, wall in owned], float).reshape(-1, 3),
            mesh=MeshTable.join(meshes),
        )


def surface_velocity(walls: WallTable, orientation: FloatArray) -> FloatArray:
    """(K, 3) of belts in world axes [m/s]; ``orientation`` (B, 4) of the bodies."""
    own = walls.surface_velocity
    belts = np.flatnonzero(own.any(axis=1))
    if not len(belts):
        return own
    turned = own.copy()
    for k in belts:
        turned[k] = times(matrix(orientation[walls.frame[k]]), own[k])
    return turned


def _parameters(wall: Plane | Box | Cylinder | Capsule) -> tuple[int, tuple[float, ...]]:
    """Kind and parameters of an analytic wall."""
    if isinstance(wall, Plane):
        return PLANE, (*wall.point, *wall.normal)
    if isinstance(wall, Box):
        closed = (float(face not in wall.open) for face in FACES)
        return (OUTSIDE if wall.side == "outside" else INSIDE), (*wall.lower, *wall.upper, *closed)
    half = np.inf if wall.length is None else 0.5 * wall.length
    if isinstance(wall, Capsule) or wall.side == "outside":
        return ROD, (*wall.centre, *wall.axis, wall.radius, half, float(isinstance(wall, Capsule)))
    capped = wall.length is not None and wall.caps
    return CYLINDER, (*wall.centre, *wall.axis, wall.radius, half, float(capped))
