"""A sphere against a triangle mesh: contacts are the local minima of the distance from its centre to the surface.

A closest point inside a face counts. One on an edge counts if it is the closest point of every triangle that shares the
edge, one on a vertex if it is that of every triangle around the vertex: so inner edges of flat or convex surfaces are
not felt, and a shared edge is met once. All tests allow a slack, so that rounding never loses a contact over an edge;
points that are found twice by it are one contact. In one smooth region, of several minima with nearly the same normal
only the deepest stays: a tessellated drum touches a grain like the drum.

A mesh with grains in front only is solid behind. Minima that are seen from behind do not count, unless the nearest one is:
then the centre was pushed into the solid, and the one contact is the shortest way out.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import device

SLACK = 1e-9  # [-] of the radius: far above rounding, far below what is seen
SAME_POINT = 1e-6  # [-] of the radius
SAME_NORMAL = 0.9063077870366499  # cos(25 degrees)
FACE, EDGE, VERTEX = 0.0, 1.0, 2.0
# 0:3 unit normal towards the surface, 3 overlap [m], 4 region, 5 FACE, EDGE or VERTEX, 6 status, 7 >= 0: seen from the front
CANDIDATE_COLUMNS = 8
OPEN, KEPT, DROPPED = 0.0, 1.0, 2.0


@device
def cell_of(grid, w, x, y, z):
    """Number of the cell that holds a point, -1 outside of the grid in row w (``MESH`` in ``walls``)."""
    size = grid[w, 3]
    i, j, k = (x - grid[w, 0]) / size, (y - grid[w, 1]) / size, (z - grid[w, 2]) / size
    within = 0.0 <= i < grid[w, 4] and 0.0 <= j < grid[w, 5] and 0.0 <= k < grid[w, 6]  # NaN is not
    row = np.int64(i) * np.int64(grid[w, 5]) + np.int64(j)
    return np.int64(grid[w, 7]) + row * np.int64(grid[w, 6]) + np.int64(k) if within else -1


@device
def touch_mesh(mesh, begin, end, x, y, z, radius, solid, found):
    """Contacts of a sphere with the triangles near its cell, ordered by triangle; returns how many were found.

    The triangles are ``mesh.cell_triangle[begin:end]``; centre and radius [m] stand in the frame of the mesh, which is ``solid`` if grains
    are in front only. ``found`` has ``candidate_room`` rows of CANDIDATE_COLUMNS.
    """
    triangle, region, own, cell_triangle = mesh.triangle, mesh.region, mesh.own, mesh.cell_triangle
    edge_first, edge_side = mesh.edge_first, mesh.edge_side
    slack = SLACK * radius
    count = 0
    for entry in range(begin, end):
        t = cell_triangle[entry]
        height = above(triangle, t, 0, x, y, z)
        if not abs(height) < radius:
            continue
        inside = above(triangle, t, 1, x, y, z)  # distance to the nearest side, < 0 beyond it
        inside = min(inside, above(triangle, t, 2, x, y, z))
        inside = min(inside, above(triangle, t, 3, x, y, z))
        if inside < 0.0 and height * height + inside * inside >= radius * radius:
            continue
        if inside >= -slack:
            dx, dy, dz = triangle[t, 0], triangle[t, 1], triangle[t, 2]
            add(found, count, -1.0 if height >= 0.0 else 1.0, dx, dy, dz, radius - abs(height), region[t], FACE, height)
            count += 1
        if inside > slack:
            continue  # then no side or corner of this triangle is nearer than its face
        for k in range(6):
            part = own[t, k]
            if part < 0:
                continue
            if k < 3:
                dx, dy, dz, distance = from_edge(mesh, part, x, y, z, slack)
            else:
                dx, dy, dz, distance = from_vertex(mesh, part, x, y, z, slack)
            if not distance < radius:
                continue
            ahead = from_front(triangle, edge_first, edge_side, t, part if k < 3 else -1, dx, dy, dz)
            factor = -1.0 / distance
            if not distance > slack:  # the centre lies on the surface
                dx, dy, dz, factor = triangle[t, 0], triangle[t, 1], triangle[t, 2], -1.0
            add(found, count, factor, dx, dy, dz, radius - distance, region[t], EDGE if k < 3 else VERTEX, ahead)
            count += 1
    if solid and count > 0:
        count = keep_front(found, count, radius)
    if count > 1:
        drop_same_points(found, count, radius)
        count = keep_deepest(found, count)
    return count


@device
def above(triangle, t, plane, x, y, z):
    """Signed distance [m] of a point from the plane of triangle t (0) or from the upright plane of a side (1, 2, 3)."""
    c = 4 * plane
    return triangle[t, c] * x + triangle[t, c + 1] * y + triangle[t, c + 2] * z - triangle[t, c + 3]


@device
def from_edge(mesh, e, x, y, z, slack):
    """Vector and distance [m] from the nearest point of edge e to the centre.

    The distance is infinite if the point is not between the ends, or if a triangle that shares the edge comes nearer.
    """
    edge, edge_first, edge_side = mesh.edge, mesh.edge_first, mesh.edge_side
    ux, uy, uz = edge[e, 3], edge[e, 4], edge[e, 5]
    dx, dy, dz = x - edge[e, 0], y - edge[e, 1], z - edge[e, 2]
    along = dx * ux + dy * uy + dz * uz
    if along < -slack or along > edge[e, 6] + slack:
        return 0.0, 0.0, 0.0, np.inf
    for n in range(edge_first[e], edge_first[e + 1]):
        if above(mesh.triangle, edge_side[n] // 3, 1 + edge_side[n] % 3, x, y, z) > slack:
            return 0.0, 0.0, 0.0, np.inf
    dx, dy, dz = dx - along * ux, dy - along * uy, dz - along * uz
    return dx, dy, dz, math.sqrt(dx * dx + dy * dy + dz * dz)


@device
def from_vertex(mesh, v, x, y, z, slack):
    """Vector and distance [m] from vertex v to the centre; infinitely far if an edge that leaves it comes nearer."""
    vertex, vertex_first, spoke = mesh.vertex, mesh.vertex_first, mesh.spoke
    dx, dy, dz = x - vertex[v, 0], y - vertex[v, 1], z - vertex[v, 2]
    for n in range(vertex_first[v], vertex_first[v + 1]):
        if dx * spoke[n, 0] + dy * spoke[n, 1] + dz * spoke[n, 2] > slack:
            return 0.0, 0.0, 0.0, np.inf
    return dx, dy, dz, math.sqrt(dx * dx + dy * dy + dz * dz)


@device
def from_front(triangle, edge_first, edge_side, t, e, dx, dy, dz):
    """>= 0 if a vector from edge e (-1: a vertex of triangle t) points to the front, by the mean normal of the triangles that share it."""
    if e < 0:
        return triangle[t, 0] * dx + triangle[t, 1] * dy + triangle[t, 2] * dz
    ahead = 0.0
    for n in range(edge_first[e], edge_first[e + 1]):
        side = edge_side[n] // 3
        ahead += triangle[side, 0] * dx + triangle[side, 1] * dy + triangle[side, 2] * dz
    return ahead


@device
def keep_front(found, count, radius):
    """Drop what is seen from behind; if that is the nearest point, make it the one contact, turned round. Returns how many stay."""
    nearest = 0
    for i in range(1, count):
        if found[i, 3] > found[nearest, 3]:
            nearest = i
    if found[nearest, 7] < 0.0:
        for c in range(3):
            found[0, c] = -found[nearest, c]
        found[0, 3] = 2.0 * radius - found[nearest, 3]
        found[0, 4], found[0, 5], found[0, 6] = found[nearest, 4], found[nearest, 5], OPEN
        return 1
    kept = 0
    for i in range(count):
        if found[i, 7] >= 0.0:
            for c in range(CANDIDATE_COLUMNS):
                found[kept, c] = found[i, c]
            kept += 1
    return kept


@device
def add(found, count, factor, dx, dy, dz, overlap, region, kind, ahead):
    """Write a candidate with normal ``factor (dx, dy, dz)``."""
    found[count, 0], found[count, 1], found[count, 2] = factor * dx, factor * dy, factor * dz
    found[count, 3] = overlap
    found[count, 4] = region
    found[count, 5] = kind
    found[count, 6] = OPEN
    found[count, 7] = ahead


@device
def drop_same_points(found, count, radius):
    """Of points that coincide keep the one on a face, else on an edge, as its normal does not suffer from the slack."""
    limit = (SAME_POINT * radius) ** 2
    for i in range(count):
        for j in range(i):
            if found[i, 6] == DROPPED or found[j, 6] == DROPPED:
                continue
            apart = 0.0
            for c in range(3):
                difference = (radius - found[i, 3]) * found[i, c] - (radius - found[j, 3]) * found[j, c]
                apart += difference * difference
            if apart < limit:
                found[i if found[i, 5] >= found[j, 5] else j, 6] = DROPPED


@device
def keep_deepest(found, count):
    """Keep the deepest contact, drop those of its region with nearly its normal, and so on; returns how many stay."""
    while True:
        deepest = -1
        for i in range(count):
            if found[i, 6] == OPEN and (deepest < 0 or found[i, 3] > found[deepest, 3]):
                deepest = i
        if deepest < 0:
            break
        for i in range(count):
            if found[i, 6] == OPEN and found[i, 4] == found[deepest, 4]:
                cosine = 0.0
                for c in range(3):
                    cosine += found[i, c] * found[deepest, c]
                if cosine > SAME_NORMAL:
                    found[i, 6] = DROPPED
        found[deepest, 6] = KEPT
    kept = 0
    for i in range(count):
        if found[i, 6] == KEPT:
            for c in range(CANDIDATE_COLUMNS):
                found[kept, c] = found[i, c]
            kept += 1
    return kept
