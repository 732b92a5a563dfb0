"""What bodies touch each other with: corners, edges and faces of their walls, and which walls may meet.

Two bodies touch where a corner of one meets a face of the other, and where two edges cross:

========================  =========  ======  =========================================
wall                      corners    edges   faces
========================  =========  ======  =========================================
plane                                        one
box, grains inside                           its sides that are not open, without end
box, grains outside       8          12      6
cylinder, hollow                             its inside, and its caps
cylinder, solid                              its side, and its flat ends
capsule                   2, round   1,      its surface
                                     round
mesh                      sharp      sharp   its triangles
========================  =========  ======  =========================================

Corners are met by all faces, and edges cross. Round ones have the radius of their wall: the ends of a capsule are balls, its axis is an
edge as thick as it is. A solid cylinder is met by corners, but has none: it passes through planes and other cylinders, as nobody looks for
the lowest places of its rims; take a capsule or a mesh. A further shape gets its row here: corners and edges in ``_features``, and its
faces in ``body_corners.touch_corner``.

**Joints.** Bodies of one machine do not touch each other, nor does a body touch another one that a joint ties it to: hinged parts reach
into each other. The ground, which is all around, is touched by every body.

**Size of a contact.** A corner has no radius, but a contact law asks for one. A wall touches other bodies as the largest ball that fits
into it (``scene.extent.inner_radius``), and a flat wall as a plane: 1/R* = 1/R_a + 1/R_b, as for grains. So a body of size L is pressed in
by its own weight by about L (rho g L / E)^(2/3), as grains of its size are, at any size.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from .._jit import kernel
from ..arithmetic import dot, length
from ..array_types import BoolArray, FloatArray, IntArray
from ..kernel_groups import group
from ..scene.bodies import Body
from ..scene.extent import inner_radius
from ..scene.joints import Joint
from ..scene.scene import Scene
from ..scene.shapes import Box, Capsule, Mesh, Shape
from .mesh_table import weld
from .wall_table import WallTable

SHARP = 1e-6  # [-]: a corner that sticks out by less than this is flat
FOLDED = 0.1  # sine of the angle by which a surface turns at an edge that touches others: rounded parts touch with their corners
ROUNDS = 200  # in which a direction is looked for that all edges of a corner go away from


@group
class BodyShapes(NamedTuple):
    """Corners and edges of K walls in the frames of their bodies, and the P pairs of walls that may touch."""

    pair: IntArray  # (P, 2) walls; the first belongs to a dynamic body
    centre: FloatArray  # (K, 3) of a ball around each wall [m]
    reach: FloatArray  # (K,) its radius [m]; infinite: the wall has no end
    half: FloatArray  # (K, 3) half the sides of a box around it, in the axes of the body [m]
    inverse_radius: FloatArray  # (K,) of the ball that each wall touches as [1/m]; 0: flat
    corner_first: IntArray  # (K + 1,) into corner
    corner: FloatArray  # (C, 3) [m]
    spoke_first: IntArray  # (C + 1,) into spoke
    spoke: FloatArray  # (S, 3) unit vectors along the edges that leave each corner
    edge_first: IntArray  # (K + 1,) into edge
    edge: FloatArray  # (E, 13) start [m], unit direction, length [m], unit normals of the two faces beside it, 0 if it is round
    round: FloatArray  # (K,) radius of all corners and edges of each wall [m]; 0: sharp


class _Features(NamedTuple):
    """Corners, the spokes of each of them, and edges of one wall, and the radius of them all."""

    corner: FloatArray
    spokes: Sequence[FloatArray]
    edge: FloatArray
    round: float = 0.0


NOTHING = _Features(np.zeros((0, 3)), (), np.zeros((0, 13)))


def body_shapes(bodies: Sequence[Body], walls: WallTable, joints: Sequence[Joint] = ()) -> BodyShapes | None:
    """Of all walls, if any two of them may touch: walls of two bodies that touch ``all``, one of them dynamic at least, and that no joints
    keep together."""
    owned = [(owner, wall) for owner in bodies for wall in owner.walls]
    first, second = np.triu_indices(len(owned), 1)
    dynamic = np.array([owner.kind == "dynamic" for owner, _ in owned], bool)
    willing = np.array([owner.touches == "all" for owner, _ in owned], bool)
    apart = ~_together(bodies, joints)[walls.frame[first], walls.frame[second]]
    may = apart & (dynamic[first] | dynamic[second]) & willing[first] & willing[second]
    first, second = first[may], second[may]
    asked = np.zeros(len(owned), bool)
    asked[first] = asked[second] = True
    features = [_features(wall) if asked[k] else NOTHING for k, (_, wall) in enumerate(owned)]
    cornered = np.array([len(of.corner) > 0 for of in features], bool)
    some = cornered[first] | cornered[second]
    pair = np.stack([np.where(dynamic[first], first, second), np.where(dynamic[first], second, first)], axis=1)[some]
    if not len(pair):
        return None
    centre, reach, half = np.zeros((len(owned), 3)), np.full(len(owned), np.inf), np.full((len(owned), 3), np.inf)
    for k in np.flatnonzero(cornered):
        low, high = features[k].corner.min(axis=0), features[k].corner.max(axis=0)
        centre[k], half[k] = 0.5 * (low + high), 0.5 * (high - low) + features[k].round
        reach[k] = length(features[k].corner - centre[k]).max() + features[k].round
    spokes = [spoke for of in features for spoke in of.spokes]
    return BodyShapes(
        pair=np.ascontiguousarray(pair, np.int32),
        centre=centre,
        reach=reach,
        half=half,
        inverse_radius=np.array([1 / inner_radius(wall) for _, wall in owned], float),
        corner_first=_starts([of.corner for of in features]),
        corner=np.concatenate([of.corner for of in features]),
        spoke_first=_starts(spokes),
        spoke=np.concatenate([np.zeros((0, 3)), *spokes]),
        edge_first=_starts([of.edge for of in features]),
        edge=np.concatenate([of.edge for of in features]),
        round=np.array([of.round for of in features]),
    )


def _together(bodies: Sequence[Body], joints: Sequence[Joint]) -> BoolArray:
    """(B, B) bodies that belong together: each to itself, all of a machine, and any two with a joint between them but for the ground."""
    number = {body.name: row for row, body in enumerate(bodies)}
    tied = [(number[joint.bodies[0]], number[joint.bodies[1]]) for joint in joints]
    machine = np.arange(len(bodies))
    for a, b in tied:
        if bodies[a].kind == bodies[b].kind == "dynamic":
            machine[machine == machine[b]] = machine[a]
    found = machine[:, None] == machine
    for a, b in tied:
        found[a, b] = found[b, a] = found[a, b] or 0 not in (a, b)
    return found


def roundest(bodies: Sequence[Body]) -> float:
    """Radius [m] of the thickest capsule that may touch other bodies; 0: none may."""
    willing = [body for body in bodies if body.touches == "all"]
    if not any(body.kind == "dynamic" for body in willing):
        return 0.0
    return max((wall.radius for body in willing for wall in body.walls if isinstance(wall, Capsule)), default=0.0)


def largest_ball(scene: Scene) -> float:
    """Radius [m] of the largest ball that meshes meet: a grain, or a round end of a body; without them, the finest body."""
    largest = max(scene.size_range[1] / 2, roundest(scene.all_bodies))
    return largest or (scene.finest / 2 if math.isfinite(scene.finest) else 0.0)


def touching_rows(shapes: BodyShapes | None, walls: WallTable, dynamic: IntArray) -> IntArray:
    """Rows of those ``dynamic`` bodies that may touch others."""
    return np.intersect1d(dynamic, walls.frame[shapes.pair]) if shapes is not None else np.zeros(0, np.int32)


def without(shapes: BodyShapes, gone: BoolArray) -> BodyShapes | None:
    """The same shapes, but the pairs ``gone`` (P,) do not touch; none: no pair is left."""
    return shapes._replace(pair=np.ascontiguousarray(shapes.pair[~gone])) if not gone.all() else None


def _starts(parts: Sequence[FloatArray]) -> IntArray:
    return np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int32)


def _features(wall: Shape) -> _Features:
    """Corners and edges of a wall; planes and containers have none."""
    if isinstance(wall, Box) and wall.side == "outside":
        return _of_box(np.asarray(wall.lower), np.asarray(wall.upper))
    if isinstance(wall, Capsule):
        return _of_capsule(wall)
    if isinstance(wall, Mesh):
        return _of_mesh(wall)
    return NOTHING


def _of_capsule(wall: Capsule) -> _Features:
    axis = np.asarray(wall.axis)
    ends = np.stack([wall.centre - 0.5 * wall.length * axis, wall.centre + 0.5 * wall.length * axis])
    edge = np.concatenate([ends[0], axis, [wall.length], np.zeros(6)])
    return _Features(ends, [axis[None], -axis[None]], edge[None], wall.radius)


def _of_box(lower: FloatArray, upper: FloatArray) -> _Features:
    sides = np.array(list(product((0, 1), repeat=3)))  # of each corner: 1 where it lies on the upper face
    corner = np.where(sides == 1, upper, lower)
    axes = np.eye(3)
    spokes = [(1 - 2 * side)[:, None] * axes for side in sides]
    edges = []
    for axis, side in product(range(3), product((-1.0, 1.0), repeat=2)):
        across = [k for k in range(3) if k != axis]
        start = np.array(lower, float)
        for k, sign in zip(across, side, strict=True):
            start[k] = upper[k] if sign > 0 else lower[k]
        edges.append(
            np.concatenate(
                [start, axes[axis], [upper[axis] - lower[axis]], *(sign * axes[k] for k, sign in zip(across, side, strict=True))]
            )
        )
    return _Features(corner, spokes, np.array(edges))


def _of_mesh(wall: Mesh) -> _Features:
    """Vertices that stick out, and edges at which the surface turns away; of a mesh with a front, as seen from there."""
    vertices, triangles = weld(wall.vertices, wall.triangles)
    solid = wall.side == "front"
    x, y, z = (vertices[triangles[:, k]] for k in range(3))
    normal = np.cross(y - x, z - x)
    normal /= length(normal)[:, None]
    sides = np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2).reshape(-1, 2)
    ends, edge = np.unique(np.sort(sides, axis=1), axis=0, return_inverse=True)
    edge = edge.reshape(-1)
    along = vertices[ends[:, 1]] - vertices[ends[:, 0]]
    size = length(along)
    along /= size[:, None]

    # corners
    vertex, out = np.concatenate([ends[:, 0], ends[:, 1]]), np.concatenate([along, -along])
    order = np.argsort(vertex, kind="stable")
    first = np.concatenate([[0], np.cumsum(np.bincount(vertex, minlength=len(vertices)))]).astype(np.int32)
    spoke, mean = np.ascontiguousarray(out[order]), np.zeros((len(vertices), 3))
    for k in range(3):
        np.add.at(mean, triangles[:, k], normal)
    sharp = sticks_out(first, spoke, mean, solid)
    spokes = [spoke[first[v] : first[v + 1]] for v in np.flatnonzero(sharp)]

    # edges of two triangles; the direction from the edge into each of them tells on which side it sticks out
    two = np.flatnonzero(np.bincount(edge, minlength=len(ends)) == 2)
    by_edge = np.argsort(edge, kind="stable")
    begin = np.concatenate([[0], np.cumsum(np.bincount(edge, minlength=len(ends)))])
    pair = np.stack([by_edge[begin[two]], by_edge[begin[two] + 1]], axis=1)  # sides
    third = vertices[triangles[pair // 3, (pair % 3 + 2) % 3]]
    inward = third - vertices[ends[two, 0]][:, None]
    inward -= dot(inward, along[two][:, None])[..., None] * along[two][:, None]
    inward /= length(inward)[..., None]
    away = -(inward[:, 0] + inward[:, 1])
    beside = normal[pair // 3]
    lean = dot(beside, away[:, None])
    if not solid:
        beside = np.where(lean < 0, -1.0, 1.0)[..., None] * beside
        lean = np.abs(lean)
    kept = (lean > FOLDED).all(axis=1)
    two, beside = two[kept], beside[kept]
    rows = np.concatenate([vertices[ends[two, 0]], along[two], size[two, None], beside.reshape(-1, 6)], axis=1)
    return _Features(np.ascontiguousarray(vertices[sharp]), spokes, rows)


@kernel
def sticks_out(first: IntArray, spoke: FloatArray, normal: FloatArray, solid: bool) -> BoolArray:
    """(V,) whether a vertex is a corner: there is a direction, away from the solid, that all of its spokes go down from.

    Spokes of vertex v are ``spoke[first[v] : first[v + 1]]``; ``normal`` (V, 3) are sums of the normals of the triangles around. Vertices
    inside of a flat part, along a straight edge, or where the surface goes up on one side are none: others touch before them.
    """
    found = np.zeros(len(normal), np.bool_)
    d = np.empty(3)
    for v in range(len(normal)):
        for sign in (1.0, -1.0):  # the normal itself serves for rounded parts, however fine their triangles are
            size = np.sqrt(normal[v, 0] ** 2 + normal[v, 1] ** 2 + normal[v, 2] ** 2)
            highest = -np.inf
            for n in range(first[v], first[v + 1]):
                highest = max(highest, sign * (spoke[n, 0] * normal[v, 0] + spoke[n, 1] * normal[v, 1] + spoke[n, 2] * normal[v, 2]))
            if highest < -SHARP * size and (sign > 0.0 or not solid):
                found[v] = True
        if found[v]:
            continue
        d[:] = 0.0
        for n in range(first[v], first[v + 1]):
            for f in range(3):
                d[f] -= spoke[n, f]
        for _ in range(ROUNDS):  # a perceptron: the spoke that is highest pulls the direction away from itself
            size = np.sqrt(d[0] ** 2 + d[1] ** 2 + d[2] ** 2)
            worst, highest = -1, -np.inf
            for n in range(first[v], first[v + 1]):
                height = spoke[n, 0] * d[0] + spoke[n, 1] * d[1] + spoke[n, 2] * d[2]
                if height > highest:
                    worst, highest = n, height
            if worst < 0 or size == 0.0:
                break
            if highest < -SHARP * size:
                front = d[0] * normal[v, 0] + d[1] * normal[v, 1] + d[2] * normal[v, 2]
                found[v] = front > -SHARP * size or not solid
                break
            for f in range(3):
                d[f] -= spoke[worst, f]
    return found
