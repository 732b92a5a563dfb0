"""What is fixed about triangle meshes: welded topology, smooth regions, and the cell grid that finds near triangles.

All lengths and vectors stand in the frame of the body that owns the mesh. The arrays of several meshes follow each
other; triangles, edges, vertices and cells are numbered through all of them, regions anew in each mesh.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._jit import device, kernel
from ..arithmetic import dot, length
from ..array_types import FloatArray, IntArray, LongArray
from ..checks import InputError
from ..kernel_groups import group

SMOOTH_EDGE = math.sqrt(0.75)  # cos(30 degrees): two triangles that turn by less than this angle lie in one smooth region
# Vertices merge within this part of
WELD_REACH = 1e-6  # the mesh's diagonal: STL keeps 7 digits,
WELD_PART = 1e-3  # but not further than this part of the longest edge of the smallest triangle there,
WELD_LEAST = 1e-12  # though at least within this part of the diagonal: what is closer has no direction to rounding
REACH_SLACK = 1e-6  # [-] of the reach: a centre on the border of a cell finds what it touches in either cell
CELLS_AT_LEAST, ENTRIES_AT_LEAST, PER_TRIANGLE = 1 << 17, 1 << 20, 64  # memory of a grid: tens of bytes per triangle
CELL_TESTS = 100_000_000  # of triangle against cell while a grid is built: about a second

_WIDTH = {"triangle": 16, "own": 6, "edge": 7, "vertex": 3, "spoke": 3}  # columns of the arrays that have columns


@group
class MeshTable(NamedTuple):
    """T triangles, E edges, V vertices of all meshes. Side k of a triangle runs from its corner k to the next one.

    An edge or vertex belongs to the first triangle that has it, so that each is looked at once.
    """

    triangle: FloatArray  # (T, 16) unit normal and its offset [m], then the same of each side, facing inwards
    region: IntArray  # (T,) smooth region
    own: IntArray  # (T, 6) edges 0..2 and vertices 3..5 that belong to the triangle, else -1
    edge: FloatArray  # (E, 7) start [m], unit direction, length [m]
    edge_first: IntArray  # (E + 1,) into edge_side
    edge_side: IntArray  # (3 T,) 3 triangle + side, of the triangles that share the edge
    vertex: FloatArray  # (V, 3) [m]
    vertex_first: IntArray  # (V + 1,) into spoke
    spoke: FloatArray  # (2 E, 3) unit directions from a vertex along its edges
    cell_first: IntArray  # (cells + 1,) into cell_triangle
    cell_triangle: IntArray  # triangles within reach of each cell, ascending
    candidate_room: int  # the most closest points that one cell can give

    @classmethod
    def join(cls, meshes: Sequence[MeshTable]) -> MeshTable:
        """One table of several."""
        columns: dict[str, list[Any]] = {name: [getattr(mesh, name) for mesh in meshes] for name in cls._fields[:-1]}
        triangles, edges, vertices = (_starts(columns[name]) for name in ("triangle", "edge", "vertex"))
        for n, mesh in enumerate(meshes):
            owned = mesh.own + np.repeat([edges[n], vertices[n]], 3)
            owned[mesh.own < 0] = -1
            columns["own"][n] = owned
            columns["edge_side"][n] = mesh.edge_side + 3 * triangles[n]
            columns["cell_triangle"][n] = mesh.cell_triangle + triangles[n]
        for first, of in (("edge_first", "edge_side"), ("vertex_first", "spoke"), ("cell_first", "cell_triangle")):
            starts = _starts(columns[of])
            columns[first] = [own[:-1] + start for own, start in zip(columns[first], starts, strict=True)]
            columns[first].append([sum(map(len, columns[of]))])
        joined: dict[str, Any] = {}
        for name, parts in columns.items():
            empty = np.zeros((0, _WIDTH[name]) if name in _WIDTH else 0)  # gives the shape if there is no mesh
            dtype = np.float64 if name in ("triangle", "edge", "vertex", "spoke") else np.int32
            joined[name] = np.ascontiguousarray(np.concatenate([empty, *parts]), dtype)
        return cls(**joined, candidate_room=max((mesh.candidate_room for mesh in meshes), default=0))


class Grid(NamedTuple):
    """Equal cells over the box in which a grain's centre can touch the mesh."""

    lower: FloatArray  # (3,) [m]
    size: float  # edge of a cell [m]
    shape: LongArray  # (3,) cells along each axis


def build_mesh(vertices: FloatArray, triangles: IntArray, largest_radius: float) -> tuple[MeshTable, Grid]:
    """Table and grid of one mesh, for grains of at most ``largest_radius`` [m]."""
    given = len(triangles)
    vertices, triangles = weld(vertices, triangles)
    if not len(triangles):
        raise InputError(f"a mesh has no triangle left: all {given} are too small beside its extent. Give them as a mesh of their own.")
    sides = np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2)  # (T, 3, 2) vertices of each side
    planes = _planes(vertices[triangles])

    ends, edge_of_side = np.unique(np.sort(sides, axis=2).reshape(-1, 2), axis=0, return_inverse=True)
    edge_of_side = edge_of_side.reshape(-1)
    edge_side, edge_first = _grouped(edge_of_side, len(ends))
    along = vertices[ends[:, 1]] - vertices[ends[:, 0]]
    size = length(along)[:, None]
    direction = along / size
    spoke, vertex_first = _grouped(ends.T.ravel(), len(vertices))

    grid, cell_first, cell_triangle = _build_grid(vertices[triangles], planes, largest_radius * (1 + REACH_SLACK))
    table = MeshTable(
        triangle=planes.reshape(-1, 16),
        region=_regions(planes, edge_side, edge_first),
        own=np.hstack([_first_owner(edge_of_side), _first_owner(triangles.ravel())]),
        edge=np.hstack([vertices[ends[:, 0]], direction, size]),
        edge_first=edge_first,
        edge_side=edge_side,
        vertex=vertices,
        vertex_first=vertex_first,
        spoke=np.vstack([direction, -direction])[spoke],
        cell_first=cell_first,
        cell_triangle=cell_triangle,
        candidate_room=7 * int(np.diff(cell_first).max()),  # a face, three edges and three vertices of each triangle
    )
    return table, grid


def weld(vertices: FloatArray, triangles: IntArray) -> tuple[FloatArray, IntArray]:
    """Merge vertices that (nearly) coincide; drop triangles that collapse by it or that repeat another one.

    Vertices that no triangle uses do not count. Others merge within a part of the mesh's diagonal, but not further than a small part of
    the triangles there: so a small part beside a large one keeps its triangles.
    """
    return _weld(vertices, triangles)[:2]


def dropped(vertices: FloatArray, triangles: IntArray) -> tuple[int, int]:
    """How many triangles welding drops: those that collapse, and those that repeat another one."""
    return _weld(vertices, triangles)[2:]


def _weld(vertices: FloatArray, triangles: IntArray) -> tuple[FloatArray, IntArray, int, int]:
    """Vertices, triangles, and how many of them collapsed or were repeated."""
    used, index = np.unique(triangles, return_inverse=True)
    points, same = np.unique(vertices[used], axis=0, return_inverse=True)
    corner = same.reshape(-1)[index.reshape(-1, 3)]
    label = _merged(points, corner)
    corner = label[corner]
    points = points[np.unique(label, return_index=True)[1]]
    a, b, c = (points[corner[:, k]] for k in range(3))
    corner = corner[length(np.cross(b - a, c - a)) > 1e-12 * _longest(points, corner)]
    whole = len(corner)
    _, first = np.unique(np.sort(corner, axis=1), axis=0, return_index=True)
    corner = corner[np.sort(first)]
    used, index = np.unique(corner, return_inverse=True)
    return points[used], index.reshape(-1, 3).astype(np.int32), len(triangles) - whole, whole - len(corner)


def _merged(points: FloatArray, triangles: LongArray) -> LongArray:
    """(V,) the vertex that each point (V, 3) [m] becomes."""
    from scipy.sparse import coo_array  # here, as most scenes have no mesh and start faster without
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    diagonal = float(length(np.ptp(points, axis=0)))
    size = np.full(len(points), np.inf)  # of the smallest triangle at each point [m]
    np.minimum.at(size, triangles.ravel(), np.repeat(np.sqrt(_longest(points, triangles)), 3))
    reach = np.maximum(np.minimum(WELD_REACH * diagonal, WELD_PART * size), WELD_LEAST * diagonal)
    tree = cKDTree(points)
    some = np.flatnonzero(tree.query(points, k=2)[0][:, 1] <= reach)  # few: exact copies are one point already
    near = [(i, j) for i, found in zip(some, tree.query_ball_point(points[some], reach[some]), strict=True) for j in found]
    pair = np.array(near, np.int64).reshape(-1, 2)
    away = points[pair[:, 0]] - points[pair[:, 1]]
    pair = pair[length(away) <= np.minimum(reach[pair[:, 0]], reach[pair[:, 1]])]
    graph = coo_array((np.ones(len(pair)), pair.T), shape=(len(points),) * 2)
    return connected_components(graph, directed=False)[1]


def _longest(points: FloatArray, triangles: LongArray) -> FloatArray:
    """(T,) square of the longest edge of each triangle [m^2]."""
    a, b, c = (points[triangles[:, k]] for k in range(3))
    return np.max([dot(b - a, b - a), dot(c - b, c - b), dot(a - c, a - c)], axis=0)


def _first_owner(part: np.ndarray) -> IntArray:
    """(T, 3): parts (edges or vertices, three to each triangle) where they are named first, -1 where again."""
    names, first = np.unique(part, return_index=True)
    owned = np.full(part.size, -1, np.int32)
    owned[first] = names
    return owned.reshape(-1, 3)


def _planes(corner: FloatArray) -> FloatArray:
    """(T, 4, 4): the plane of each triangle, and the planes through its sides that stand on it, facing inwards."""
    side = np.roll(corner, -1, axis=1) - corner
    side /= length(side)[..., None]
    normal = np.cross(side[:, 0], side[:, 1])
    normal /= length(normal)[:, None]
    inward = np.cross(normal[:, None], side)
    planes = np.empty((len(corner), 4, 4))
    planes[:, 0, :3], planes[:, 1:, :3] = normal, inward
    planes[:, 0, 3] = dot(normal, corner[:, 0])
    planes[:, 1:, 3] = dot(inward, corner)
    return planes


def _regions(planes: FloatArray, edge_side: IntArray, edge_first: IntArray) -> IntArray:
    """(T,) number of the smooth region: triangles connected over edges where the surface turns by little."""
    inward = planes[:, 1:, :3].reshape(-1, 3)
    sharing = np.diff(edge_first)
    pairs = []
    for apart in range(1, int(sharing.max())):  # edges of more than two triangles: every two of them
        first = np.concatenate([edge_first[:-1][sharing > apart + k] + k for k in range(int(sharing.max()) - apart)])
        pair = np.stack([edge_side[first], edge_side[first + apart]])
        # inward directions of a flat edge are opposite, whatever the sense of rotation of the two triangles
        pairs.append(pair[:, -dot(inward[pair[0]], inward[pair[1]]) > SMOOTH_EDGE])
    near = np.concatenate([*pairs, np.zeros((2, 0), np.int32)], axis=1) // 3
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(near.shape[1]), near), shape=(len(planes),) * 2)
    return connected_components(graph, directed=False)[1].astype(np.int32)


def _build_grid(corner: FloatArray, planes: FloatArray, reach: float) -> tuple[Grid, IntArray, IntArray]:
    """The grid and, for each cell, the triangles that a centre in the cell can have within ``reach`` [m].

    Cells are as wide as the reach, or as much wider as memory and building time ask.
    """
    low, high = corner.min(axis=1) - reach, corner.max(axis=1) + reach
    lower, extent = low.min(axis=0), np.ptp(np.concatenate([low, high]), axis=0)
    budget = PER_TRIANGLE * len(corner)
    size = reach if reach > 0 else float(extent.max())  # without grains one cell will do
    while True:
        shape = (extent / size).astype(np.int64) + 1
        begin, end = ((bound - lower) / size for bound in (low, high))
        begin, end = begin.astype(np.int64), np.minimum(end.astype(np.int64), shape - 1) + 1
        if np.prod(shape.astype(float)) <= CELLS_AT_LEAST + budget and np.prod(end - begin, axis=1).sum() <= CELL_TESTS:
            first = np.zeros(np.prod(shape) + 1, np.int32)
            entries = list_triangles(begin, end, planes, lower, size, shape, reach, True, first, np.empty(0, np.int32))
            if entries <= ENTRIES_AT_LEAST + budget:
                break
        size *= 1.25
    listed = np.empty(entries, np.int32)
    first[1:] = np.cumsum(first[:-1])
    first[0] = 0
    list_triangles(begin, end, planes, lower, size, shape, reach, False, first, listed)
    first[1:] = first[:-1].copy()  # filling moved each start to that of the next cell
    first[0] = 0
    return Grid(lower, size, shape), first, listed


@kernel
def list_triangles(
    begin: LongArray,  # (T, 3) first cell of the box of each triangle, grown by the reach
    end: LongArray,  # (T, 3) behind its last cell
    planes: FloatArray,  # (T, 4, 4)
    lower: FloatArray,  # (3,) corner of the grid [m]
    size: float,  # of a cell [m]
    shape: LongArray,  # (3,)
    reach: float,  # [m]
    counting: bool,  # count entries per cell only, or write them
    first: IntArray,  # (cells + 1,) counts, at the cell; or where the next entry of each cell is written
    listed: IntArray,  # triangles, cell by cell
) -> int:
    """Sort triangles into the cells they are near to; returns the number of entries."""
    entries = 0
    for t in range(begin.shape[0]):
        for i in range(begin[t, 0], end[t, 0]):
            for j in range(begin[t, 1], end[t, 1]):
                for k in range(begin[t, 2], end[t, 2]):
                    x, y, z = lower[0] + (i + 0.5) * size, lower[1] + (j + 0.5) * size, lower[2] + (k + 0.5) * size
                    if not near_cell(planes, t, x, y, z, 0.5 * size, reach):
                        continue
                    cell = (i * shape[1] + j) * shape[2] + k
                    if not counting:
                        listed[first[cell]] = t
                    first[cell] += 1
                    entries += 1
    return entries


@device
def near_cell(planes, t, x, y, z, half, reach):
    """Whether no plane of triangle t keeps the cell around (x, y, z) farther away than the reach."""
    for k in range(4):
        nx, ny, nz = planes[t, k, 0], planes[t, k, 1], planes[t, k, 2]
        height = nx * x + ny * y + nz * z - planes[t, k, 3]
        far = reach + half * (abs(nx) + abs(ny) + abs(nz))
        if height < -far or (k == 0 and height > far):
            return False
    return True


def _grouped(key: LongArray, count: int) -> tuple[IntArray, IntArray]:
    """Indices sorted by key, ascending within a key, and where each key's indices start (count + 1,)."""
    first = np.concatenate([[0], np.cumsum(np.bincount(key, minlength=count))])
    return np.argsort(key, kind="stable").astype(np.int32), first.astype(np.int32)


def _starts(parts: Sequence[np.ndarray]) -> LongArray:
    """Where each part begins when they are put one behind the other."""
    return np.cumsum([0, *map(len, parts)])[:-1]
