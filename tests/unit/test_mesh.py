"""Grains against triangle meshes: local minima of the distance, compared with closed forms and a plain slow twin."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial import Delaunay

from granum.detection.mesh_table import build_mesh, weld
from granum.detection.wall_table import WallTable
from granum.detection.walls import find_wall_contacts
from granum.parallel import ONE
from granum.scene.bodies import Body
from granum.scene.shapes import Box, Mesh
from granum.state.bodies import BodyArrays, GrainArrays
from granum.state.contacts import Spans, Touching
from granum.state.rotation import matrix

HERE = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0))
TURNED = ((0.3, -1.2, 2.0), (0.5, -0.1, 0.7, 0.5))


def mesh(vertices, triangles):
    return Mesh(material="steel", vertices=vertices, triangles=triangles)


def touch(walls, centre, radius, poses=(HERE,), largest_radius=None):
    """Per grain, a list of (wall, feature, normal, overlap); wall k belongs to body k if there are several poses."""
    owned = [walls] if len(poses) == 1 else [[wall] for wall in walls]
    bodies = [
        Body(name=str(n), position=position, orientation=orientation, walls=tuple(own))
        for n, ((position, orientation), own) in enumerate(zip(poses, owned, strict=True))
    ]
    centre = np.atleast_2d(np.asarray(centre, float))
    grains = len(centre)
    table = WallTable.build(bodies, {"steel": 0}, largest_radius or float(np.max(radius)))
    where = np.vstack([*(np.reshape(pose[0], (1, 3)) for pose in poses), centre])
    turned = np.vstack([*(np.reshape(pose[1], (1, 4)) for pose in poses), np.tile([1.0, 0, 0, 0], (grains, 1))])
    room, rows, still = 64 * grains, np.arange(grains, dtype=np.int32), np.zeros_like(where)
    out, (first, count) = Touching.room_for(room), Spans(np.zeros(grains, np.int32), np.zeros(grains, np.int32))
    _a, b, feature, normal, overlap = out
    state = BodyArrays(where, turned, still, still, np.ones(len(where)))
    own = GrainArrays(len(bodies), len(bodies) + rows, np.broadcast_to(radius, grains).astype(float), rows)
    total = ONE.run(find_wall_contacts, 0, rows, state, own, table, 0, None, out, Spans(first, count))
    assert total == count.sum() <= room
    assert_allclose(np.linalg.norm(normal[:total], axis=1), 1, rtol=1e-12)
    return [[(-1 - b[c], feature[c], normal[c], overlap[c]) for c in range(first[i], first[i] + count[i])] for i in range(grains)]


def closest_point(p, a, b, c):
    """Of triangle abc to p: the foot on its plane if that is inside, else the best point of the three sides."""
    normal = np.cross(b - a, c - a)
    foot = p - normal * ((p - a) @ normal) / (normal @ normal)
    corners = [(a, b), (b, c), (c, a)]
    if all(np.cross(end - start, foot - start) @ normal >= 0 for start, end in corners):
        return foot
    points = [
        start + np.clip((p - start) @ (end - start) / ((end - start) @ (end - start)), 0, 1) * (end - start) for start, end in corners
    ]
    return min(points, key=lambda q: np.linalg.norm(p - q))


def slow_touch(vertices, triangles, region, p, radius):
    """All triangles; a closest point counts if every triangle that contains it has it as its own closest point."""
    corners = vertices[triangles]
    closest = [closest_point(p, *t) for t in corners]
    near = [t for t, q in enumerate(closest) if np.linalg.norm(p - q) < radius]
    minima = []  # (overlap, normal, region, point), by triangle
    for t in near:
        q = closest[t]
        distance = np.linalg.norm(p - q)
        if any(np.linalg.norm(q - seen) < 1e-9 for *_, seen in minima):
            continue
        around = [s for s in near if np.linalg.norm(closest_point(q, *corners[s]) - q) < 1e-9]
        if all(np.linalg.norm(closest[s] - q) < 1e-9 for s in around):
            minima.append((radius - distance, (q - p) / distance, region[t], q))
    kept = []
    for n in sorted(range(len(minima)), key=lambda n: -minima[n][0]):
        alike = (minima[m] for m in kept if minima[m][2] == minima[n][2])
        if all(other[1] @ minima[n][1] <= np.cos(np.radians(25)) for other in alike):
            kept.append(n)
    return [minima[n] for n in sorted(kept)]


def flat_triangulation(rng, points=40):
    """Unit square, random inner points."""
    inner = np.vstack([[[0, 0], [1, 0], [0, 1], [1, 1]], rng.random((points, 2))])
    triangles = Delaunay(inner).simplices
    return np.column_stack([inner, np.zeros(len(inner))]), triangles


def bumpy_surface(rng, n=7, height=0.12):
    """Height field over the unit square: convex and concave edges, a rim, and every kind of vertex."""
    x, y = np.meshgrid(np.linspace(0, 1, n), np.linspace(0, 1, n), indexing="ij")
    jitter = rng.uniform(-0.04, 0.04, (2, n, n))
    vertices = np.stack([x + jitter[0], y + jitter[1], rng.uniform(0, height, (n, n))], axis=-1).reshape(-1, 3)
    a = (np.arange(n - 1)[:, None] * n + np.arange(n - 1)).ravel()
    flip = rng.random(len(a)) < 0.5
    one = np.where(flip[:, None], np.stack([a, a + n, a + 1], 1), np.stack([a, a + n, a + n + 1], 1))
    two = np.where(flip[:, None], np.stack([a + 1, a + n, a + n + 1], 1), np.stack([a, a + n + 1, a + 1], 1))
    return vertices, np.concatenate([one, two])


def drum(facets, length=1.0, radius=1.0, rows=3):
    """Lateral surface about the z axis."""
    angle = 2 * np.pi * np.arange(facets) / facets
    ring = radius * np.column_stack([np.cos(angle), np.sin(angle)])
    heights = np.linspace(-length / 2, length / 2, rows)
    vertices = np.vstack([np.column_stack([ring, np.full(facets, z)]) for z in heights])
    j, k = np.arange(facets), (np.arange(facets) + 1) % facets
    quads = [(r * facets + j, r * facets + k, (r + 1) * facets + k, (r + 1) * facets + j) for r in range(rows - 1)]
    return vertices, np.concatenate([np.stack(t, 1) for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("turn", [(1, 0, 0, 0), (0.5, -0.1, 0.7, 0.5)])
def test_flat_tessellation_is_felt_as_a_plane(seed, turn):
    """One contact with the plane's normal and the exact overlap: over faces, exactly over edges and over vertices."""
    rng = np.random.default_rng(seed)
    vertices, triangles = flat_triangulation(rng)
    a, b, _ = np.moveaxis(vertices[triangles], 1, 0)
    along = rng.random((len(a), 1))
    over = np.vstack([rng.random((300, 3)), along * a + (1 - along) * b, (a + b) / 2, vertices])
    radius = 0.1
    # also a hair over and under the surface, where an edge has no direction of its own
    height = rng.choice([0.099, 0.07, 0.003, 1e-7, -0.05], len(over))
    rotation = matrix(turn)
    centre = (over * [1, 1, 0] + np.outer(height, [0, 0, 1])) @ rotation.T
    found = touch([mesh(vertices @ rotation.T, triangles)], centre, radius)
    for contacts, h in zip(found, height, strict=True):
        [(wall, feature, normal, overlap)] = contacts
        assert (wall, feature) == (0, 0)
        assert_allclose(normal, -np.sign(h) * rotation[:, 2], atol=1e-9)
        assert_allclose(overlap, radius - abs(h), atol=1e-14)  # rounding of coordinates of the order of one


def test_centre_on_the_surface_takes_the_normal_of_the_face():
    vertices, triangles = flat_triangulation(np.random.default_rng(3))
    triangles = np.where((np.cross(*np.diff(vertices[triangles], axis=1).swapaxes(0, 1))[:, 2] > 0)[:, None], triangles, triangles[:, ::-1])
    inner = vertices[4:]
    for [(_, _, normal, overlap)] in touch([mesh(vertices, triangles)], np.vstack([inner, [0.3, 0.4, 0]]), 0.1):
        assert_allclose(normal, [0, 0, -1], atol=1e-12)
        assert_allclose(overlap, 0.1, atol=1e-12)


@pytest.mark.parametrize("pose", [HERE, TURNED])
def test_cube_mesh_from_outside_equals_the_box(pose):
    """Faces, edges and corners of a closed mesh (both triangles of a face) against the closest point of the box."""
    rng = np.random.default_rng(5)
    cube = trimesh.creation.box(extents=(1, 2, 3))
    radius = 0.2
    centre = rng.uniform(-1, 1, (3000, 3)) * (np.array([0.5, 1, 1.5]) + 1.1 * radius)
    outside = (np.abs(centre) > [0.5, 1, 1.5]).any(axis=1)
    world = np.asarray(pose[0]) + centre[outside] @ matrix(pose[1]).T
    box = Box(material="steel", lower=(-0.5, -1, -1.5), upper=(0.5, 1, 1.5), side="outside")
    met = 0
    tessellated = mesh(cube.vertices, cube.faces)
    for by_mesh, by_box in zip(*(touch([wall], world, radius, [pose]) for wall in (tessellated, box)), strict=True):
        assert len(by_mesh) == len(by_box) <= 1
        for one, other in zip(by_mesh, by_box, strict=True):
            assert_allclose(one[2], other[2], atol=1e-12)
            assert_allclose(one[3], other[3], atol=1e-12)
            met += 1
    assert met > 1000


def test_cube_faces_are_regions_and_corner_from_inside_touches_three():
    cube = trimesh.creation.box(extents=(1, 1, 1))
    table, _ = build_mesh(np.asarray(cube.vertices), np.asarray(cube.faces), 0.1)
    assert len(np.unique(table.region)) == 6
    [contacts] = touch([mesh(cube.vertices, cube.faces)], [0.42, 0.43, 0.44], 0.1)
    assert len({feature for _, feature, *_ in contacts}) == 3
    assert_allclose(sorted(overlap for *_, overlap in contacts), [0.02, 0.03, 0.04], atol=1e-12)
    assert_allclose(np.sum([normal for *_, normal, _ in contacts], axis=0), [1, 1, 1], atol=1e-12)


def test_groove_touches_both_flanks():
    """Flanks at 45 degrees: a sphere on the centre line at height h is h / sqrt 2 from both."""
    vertices = [[-1, -1, 1], [-1, 1, 1], [0, -1, 0], [0, 1, 0], [1, -1, 1], [1, 1, 1]]
    triangles = [[0, 2, 3], [0, 3, 1], [2, 4, 5], [2, 5, 3]]
    [contacts] = touch([mesh(vertices, triangles)], [0, 0.1, 0.2], 0.15)
    assert [feature for _, feature, *_ in contacts] == [0, 1]
    assert_allclose([overlap for *_, overlap in contacts], 0.15 - 0.2 / np.sqrt(2), atol=1e-12)
    flanks = np.array([[-1, 0, -1], [1, 0, -1]]) / np.sqrt(2)
    assert_allclose([normal for *_, normal, _ in contacts], flanks, atol=1e-12)


def test_two_walls_of_one_smooth_region_are_both_kept():
    """A drum is one region; a grain a little wider than it touches it all around, not only where it is deepest."""
    vertices, triangles = drum(64)
    [contacts] = touch([mesh(vertices, triangles)], [0, 0, 0.1], 1.01)
    assert len(contacts) > 2
    normals = np.array([normal for *_, normal, _ in contacts])
    assert (normals @ normals.T - 2 * np.eye(len(normals)) <= np.cos(np.radians(25))).all()
    assert {feature for _, feature, *_ in contacts} == {0}


def test_drum_of_64_facets_touches_a_grain_once():
    """One contact, with the normal of the nearest facet: at most half a facet away from the radial direction."""
    rng = np.random.default_rng(7)
    vertices, triangles = drum(64)
    radius, facet = 0.05, np.pi / 64
    angle = np.concatenate([rng.uniform(0, 2 * np.pi, 500), 2 * facet * np.arange(64), facet * (2 * np.arange(64) + 1)])
    radial = np.column_stack([np.cos(angle), np.sin(angle), 0 * angle])
    centre = 0.96 * radial + np.outer(rng.uniform(-0.4, 0.4, len(angle)), [0, 0, 1])
    for contacts, out in zip(touch([mesh(vertices, triangles)], centre, radius), radial, strict=True):
        [(_, feature, normal, overlap)] = contacts
        assert feature == 0
        away = np.arccos(min(1.0, normal @ out))
        assert away < facet * (1 + 1e-6)
        assert_allclose(overlap, radius - np.cos(facet) + 0.96 * np.cos(away), atol=1e-9)


def test_drum_from_outside_touches_a_grain_once():
    """From outside the edges between facets are the nearest places, and each is met once."""
    vertices, triangles = drum(64)
    angle = np.linspace(0, 2 * np.pi, 257)
    centre = 1.04 * np.column_stack([np.cos(angle), np.sin(angle), 0 * angle])
    for contacts, p in zip(touch([mesh(vertices, triangles)], centre, 0.05), centre, strict=True):
        [(_, _, normal, _)] = contacts
        assert normal @ p < -1.03


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("pose", [HERE, TURNED])
def test_bumpy_surface_matches_all_triangles_checked_plainly(seed, pose):
    rng = np.random.default_rng(seed)
    height = [0.05, 0.12, 0.3, 0.6][seed]
    vertices, triangles = bumpy_surface(rng, height=height)
    radius = rng.uniform(0.03, 0.2, 40)
    centre = rng.uniform([-0.1, -0.1, -0.1], [1.1, 1.1, height + 0.1], (40, 3))
    region = build_mesh(vertices, triangles, 0.2)[0].region
    rotation = matrix(pose[1])
    found = touch([mesh(vertices, triangles)], np.asarray(pose[0]) + centre @ rotation.T, radius, [pose])
    met = 0
    for contacts, p, r in zip(found, centre, radius, strict=True):
        expected = slow_touch(vertices, triangles, region, p, r)
        assert len(contacts) == len(expected)
        # the twin names an edge by its first triangle, as the table does
        for (_, feature, normal, overlap), (depth, towards, named, _) in zip(contacts, expected, strict=True):
            assert feature == named
            assert_allclose(overlap, depth, atol=1e-12)
            assert_allclose(normal, rotation @ towards, atol=1e-9)
            met += 1
    assert met > 20


@pytest.mark.parametrize("radius", [0.02, 0.3])
def test_sphere_mesh_is_met_where_the_line_of_centres_points(radius):
    """A convex body is met once. Icosphere of 1280 triangles: within its sag of a unit sphere."""
    ball = trimesh.creation.icosphere(subdivisions=3)
    rng = np.random.default_rng(2)
    out = rng.normal(size=(400, 3))
    out /= np.linalg.norm(out, axis=1, keepdims=True)
    sag = 1 - np.linalg.norm(ball.triangles_center, axis=1).min()
    for contacts, direction in zip(touch([mesh(ball.vertices, ball.faces)], (1 + 0.5 * radius) * out, radius), out, strict=True):
        [(_, feature, normal, overlap)] = contacts
        assert feature == 0
        assert 0.5 * radius - 1.01 * sag - 1e-12 < overlap < 0.5 * radius + 1e-12
        assert normal @ direction < -0.95


def test_repeated_and_nearly_equal_vertices_are_welded():
    """As STL stores them: three vertices for each triangle, seven digits; no contact with an inner edge appears."""
    rng = np.random.default_rng(11)
    vertices, triangles = flat_triangulation(rng, points=20)
    loose = vertices[triangles].reshape(-1, 3) * (1 + rng.uniform(-1e-7, 1e-7, (3 * len(triangles), 1)))
    separate = np.arange(3 * len(triangles)).reshape(-1, 3)
    points, welded = weld(loose, np.vstack([separate, separate[:2]]))  # two triangles come twice
    assert (len(points), len(welded)) == (len(vertices), len(triangles))
    centre = np.column_stack([rng.uniform(0.1, 0.9, (200, 2)), np.full(200, 0.05)])
    for contacts in touch([mesh(loose, separate)], centre, 0.1):
        [(_, _, normal, overlap)] = contacts
        assert_allclose(normal, [0, 0, -1], atol=1e-6)
        assert_allclose(overlap, 0.05, atol=1e-7)


def test_winding_does_not_matter():
    rng = np.random.default_rng(13)
    vertices, triangles = bumpy_surface(rng)
    mixed = np.where(rng.random((len(triangles), 1)) < 0.5, triangles, triangles[:, ::-1])
    centre = rng.uniform([0, 0, 0], [1, 1, 0.3], (200, 3))
    for one, other in zip(touch([mesh(vertices, triangles)], centre, 0.1), touch([mesh(vertices, mixed)], centre, 0.1), strict=True):
        assert len(one) == len(other)
        for (_, feature, normal, overlap), (_, feature2, normal2, overlap2) in zip(one, other, strict=True):
            assert feature == feature2
            assert_allclose(overlap, overlap2, atol=1e-12)
            assert_allclose(normal, normal2, atol=1e-9)


def test_three_sheets_on_one_edge():
    """A fin on a floor: the floor stays one region through the edge that three triangles share."""
    vertices = [[-1, -1, 0], [-1, 1, 0], [0, -1, 0], [0, 1, 0], [1, -1, 0], [1, 1, 0], [0, -1, 1], [0, 1, 1]]
    triangles = [[0, 2, 3], [0, 3, 1], [2, 6, 7], [2, 7, 3], [2, 4, 5], [2, 5, 3]]
    table, _ = build_mesh(np.array(vertices, float), np.array(triangles), 0.1)
    assert_array_equal(table.region, [0, 0, 1, 1, 0, 0])
    [contacts] = touch([mesh(vertices, triangles)], [0.05, 0, 0.08], 0.1)
    assert [feature for _, feature, *_ in contacts] == [1, 0]  # by triangle
    assert_allclose([overlap for *_, overlap in contacts], [0.05, 0.02], atol=1e-12)


def test_many_meshes_each_give_what_they_give_alone():
    rng = np.random.default_rng(17)
    poses = [HERE, TURNED, ((0.2, 0.1, 0.05), (0.8, 0.6, 0.0, 0.0))]
    walls = [mesh(*bumpy_surface(rng)), mesh(*drum(16)), mesh(*flat_triangulation(rng))]
    centre = rng.uniform([-1, -2, -0.2], [1.2, 1.2, 2.5], (2000, 3))
    together = touch(walls, centre, 0.15, poses)
    alone = [touch([wall], centre, 0.15, [pose]) for wall, pose in zip(walls, poses, strict=True)]
    assert min(sum(map(len, one)) for one in alone) > 20
    for i, contacts in enumerate(together):
        expected = [(k, *contact[1:]) for k in range(3) for contact in alone[k][i]]
        assert [c[:2] for c in contacts] == [c[:2] for c in expected]
        for one, other in zip(contacts, expected, strict=True):
            assert_array_equal(one[2], other[2])
            assert one[3] == other[3]


@pytest.mark.parametrize("largest_radius", [0.13, 0.35, 2.0])
def test_contacts_do_not_depend_on_the_grid(largest_radius):
    rng = np.random.default_rng(19)
    wall = mesh(*bumpy_surface(rng))
    centre = rng.uniform([-0.1, -0.1, -0.1], [1.1, 1.1, 0.3], (500, 3))
    grids = (touch([wall], centre, 0.1, largest_radius=largest) for largest in (0.1, largest_radius))
    for one, other in zip(*grids, strict=True):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            assert a[1] == b[1]
            assert a[3] == b[3]


def test_grid_of_huge_oblique_triangles_and_tiny_grains_stays_small():
    """Cells widen instead of filling the memory; a plate of 1 m with grains of 10 micrometres."""
    rotation = matrix(TURNED[1])
    vertices, triangles = flat_triangulation(np.random.default_rng(23), points=2)
    table, grid = build_mesh(vertices @ rotation.T, triangles, 1e-5)
    assert np.prod(grid.shape) < 200_000
    assert len(table.cell_triangle) < 200_000
    [[(_, _, normal, overlap)]] = touch([mesh(vertices @ rotation.T, triangles)], rotation @ [0.3, 0.6, 0.9e-5], 1e-5)
    assert_allclose(normal, -rotation[:, 2], atol=1e-9)
    assert_allclose(overlap, 1e-6, rtol=1e-9)
