"""Grains against planes, boxes, cylinders and capsules: overlaps and normals in closed form, in moved and turned bodies."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from granum.checks import InputError
from granum.detection.prediction import Ahead
from granum.detection.wall_table import WallTable
from granum.detection.walls import find_wall_contacts
from granum.parallel import ONE
from granum.scene.bodies import Body
from granum.scene.shapes import Box, Capsule, Cylinder, Mesh, Plane
from granum.state.bodies import BodyArrays, GrainArrays
from granum.state.contacts import Spans, Touching
from granum.state.rotation import matrix

POSES = {
    "at rest": ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)),
    "moved": ((0.3, -1.2, 2.0), (1.0, 0.0, 0.0, 0.0)),
    "turned": ((0.3, -1.2, 2.0), (0.5, -0.1, 0.7, 0.5)),  # 0.25 + 0.01 + 0.49 + 0.25 = 1
}
MATERIALS = {"steel": 0, "glass": 1}


def touch(bodies, position, radius, room=1000, pair_count=0, order=None, inverse_mass=None, wall_inverse_mass=0.0, motion=None, ahead=None):
    """Contacts of grains at world positions, as a dict, with the returned total and the per-grain ranges."""
    position = np.atleast_2d(np.asarray(position, float))
    grains, first = len(position), len(bodies)
    radius = np.broadcast_to(np.asarray(radius, float), grains).copy()
    walls = WallTable.build(bodies, MATERIALS, float(radius.max(initial=1e-3)))
    where = np.vstack([*(np.reshape(body.position, (1, 3)) for body in bodies), position])
    upright = np.tile([1.0, 0, 0, 0], (grains, 1))
    turned = np.vstack([*(np.reshape(body.orientation, (1, 4)) for body in bodies), upright])
    own = np.ones(grains) if inverse_mass is None else np.asarray(inverse_mass, float)
    a, b, feature = (np.full(room, -7, np.int32) for _ in range(3))
    out = Touching(a, b, feature, np.full((room, 3), np.nan), np.full(room, np.nan))
    spans = Spans(np.full(grains, -7, np.int32), np.full(grains, -7, np.int32))
    order = np.arange(grains, dtype=np.int32) if order is None else np.asarray(order, np.int32)
    rows, still = np.arange(grains, dtype=np.int32), np.zeros_like(where)
    velocity, spin = (still, still) if motion is None else motion
    state = BodyArrays(where, turned, velocity, spin, np.concatenate([np.full(first, wall_inverse_mass), own]))
    total = ONE.run(
        find_wall_contacts, 0, order, state, GrainArrays(first, first + rows, radius, rows), walls, pair_count, ahead, out, spans
    )
    used = {name: values[pair_count : min(total, room)] for name, values in out._asdict().items()}
    return {**used, "total": total, "first_of": spans.first, "count_of": spans.number, "whole": out._asdict()}


def body(*walls, pose="at rest", name="walls"):
    position, orientation = POSES[pose]
    return Body(name=name, position=position, orientation=orientation, walls=walls)


def world(points, pose):
    """Points of the body's frame in the world."""
    position, orientation = POSES[pose]
    return np.asarray(position) + np.atleast_2d(points) @ matrix(orientation).T


def vectors(rows, pose):
    return np.atleast_2d(np.asarray(rows, float)) @ matrix(POSES[pose][1]).T


def check(found, feature, normal, overlap, pose="at rest"):
    """Contacts of one grain, or of one each, in order. 1e-12 m is rounding of coordinates of the order of a metre."""
    assert_array_equal(found["feature"], feature)
    assert_allclose(found["overlap"], overlap, atol=1e-12)
    assert_allclose(found["normal"], vectors(normal, pose) if len(feature) else np.empty((0, 3)), atol=1e-12)


@pytest.mark.parametrize("pose", POSES)
def test_plane_overlap_is_radius_minus_height(pose, rng):
    """A half-space pushes everything below radius, however deep."""
    normal = rng.normal(size=3)
    wall = Plane(material="steel", point=(0.1, 0.2, 0.3), normal=tuple(normal))
    normal /= np.linalg.norm(normal)
    centre = rng.uniform(-1, 1, (200, 3))
    radius = rng.uniform(0.1, 0.5, 200)
    overlap = radius - (centre - [0.1, 0.2, 0.3]) @ normal
    found = touch([body(wall, pose=pose)], world(centre, pose), radius)
    touching = np.flatnonzero(overlap > 0)
    assert_array_equal(found["a"], touching)
    assert_array_equal(found["b"], -1)
    check(found, np.zeros(len(touching)), np.tile(-normal, (len(touching), 1)), overlap[touching], pose)


@pytest.mark.parametrize("pose", POSES)
def test_container_corner_touches_three_faces(pose):
    wall = Box(material="steel", lower=(0, 0, 0), upper=(1, 2, 3))
    found = touch([body(wall, pose=pose)], world([0.96, 0.07, 2.98], pose), 0.1)
    check(found, [1, 2, 5], [[1, 0, 0], [0, -1, 0], [0, 0, 1]], [0.06, 0.03, 0.08], pose)


def test_open_faces_of_a_container_are_left_out_and_the_others_are_endless_planes():
    wall = Box(material="steel", lower=(0, 0, 0), upper=(1, 1, 1), open=("+z", "-x"))
    assert touch([body(wall)], [0.0, 0.5, 1.0], 0.1)["total"] == 0
    check(touch([body(wall)], [1.0, 0.5, 5.0], 0.1), [1], [[1, 0, 0]], [0.1])


@pytest.mark.parametrize("pose", POSES)
@pytest.mark.parametrize(
    "centre, normal, distance",
    [
        ((0.3, -0.2, 3.08), (0, 0, -1), 0.08),  # face
        ((1.03, 0.5, 3.04), (-0.6, 0, -0.8), 0.05),  # edge
        ((-1.02, -2.02, 3.01), (2 / 3, 2 / 3, -1 / 3), 0.03),  # corner
        ((0.0, -1.9, 0.5), (0, 1, 0), -0.1),  # inside: the nearest way out
        ((0.95, 1.99, 0.0), (0, -1, 0), -0.01),
        ((0.0, 0.0, 3.0), (0, 0, -1), 0.0),  # on the face
    ],
)
def test_obstacle_is_met_at_its_closest_point(centre, normal, distance, pose):
    wall = Box(material="steel", lower=(-1, -2, -3), upper=(1, 2, 3), side="outside")
    found = touch([body(wall, pose=pose)], world(centre, pose), 0.1)
    check(found, [0], [normal], [0.1 - distance], pose)


def test_obstacle_is_not_met_past_its_corner():
    """Within the radius of both faces' planes and of the edge lines, but not of the corner."""
    wall = Box(material="steel", lower=(0, 0, 0), upper=(1, 1, 1), side="outside")
    assert touch([body(wall)], [1.07, 1.07, 1.07], 0.1)["total"] == 0


def tube(**keys):
    """Radius 0.5 and length 2 along (0.6, 0, 0.8), centre at (0.1, 0, 0)."""
    return Cylinder(material="steel", centre=(0.1, 0, 0), axis=(3, 0, 4), radius=0.5, **{"length": 2.0, **keys})


ALONG, ACROSS = np.array([0.6, 0, 0.8]), np.array([-0.8, 0, 0.6])


@pytest.mark.parametrize("pose", POSES)
def test_cylinder_with_caps_touches_side_and_end(pose):
    centre = [0.1, 0, 0] + 0.45 * ACROSS
    for end, feature in ((-1, 1), (1, 2)):
        found = touch([body(tube(), pose=pose)], world(centre + end * 0.97 * ALONG, pose), 0.1)
        check(found, [0, feature], [ACROSS, end * ALONG], [0.05, 0.07], pose)
    check(touch([body(tube(), pose=pose)], world(centre, pose), 0.1), [0], [ACROSS], [0.05], pose)
    assert touch([body(tube(), pose=pose)], world([0.1, 0, 0] + 0.3 * ALONG, pose), 0.1)["total"] == 0


def test_open_tube_holds_only_grains_between_its_ends_and_inside():
    centre = np.array([0.1, 0, 0])
    inside = centre + 0.45 * ACROSS
    check(touch([body(tube(caps=False))], inside + 0.99 * ALONG, 0.1), [0], [ACROSS], [0.05])
    assert touch([body(tube(caps=False))], inside + 1.01 * ALONG, 0.1)["total"] == 0
    assert touch([body(tube(caps=False))], centre + 0.51 * ACROSS, 0.1)["total"] == 0  # beside the tube
    assert touch([body(tube())], centre + 0.51 * ACROSS, 0.1)["total"] == 1  # a closed one gives no grain up


def test_endless_cylinder_has_no_ends():
    found = touch([body(tube(length=None))], [0.1, 0, 0] + 0.45 * ACROSS + 100 * ALONG, 0.1)
    assert_allclose(found["overlap"], [0.05], atol=1e-12)


@pytest.mark.parametrize("axis", [(0, 0, 1), (1, 0, 0), (0, 1, 0), (1, 1, 1)])
def test_grain_on_the_axis_of_a_narrow_cylinder_has_some_normal_across(axis):
    found = touch([body(Cylinder(material="steel", axis=axis, radius=0.05))], [0, 0, 0], 0.1)
    assert_allclose(found["overlap"], [0.05])
    assert_allclose(np.linalg.norm(found["normal"], axis=1), 1)
    assert_allclose(found["normal"] @ np.asarray(axis, float), 0, atol=1e-15)


def test_walls_are_numbered_through_all_bodies_with_their_materials():
    floor, side = Plane(material="glass"), Plane(material="steel", normal=(1, 0, 0), surface_velocity=(0, 0.5, 0))
    bodies = [body(name="empty"), body(floor, name="floor"), body(side, tube(), name="rest")]
    walls = WallTable.build(bodies, MATERIALS, 0.1)
    assert_array_equal(walls.body, [1, 2, 2])
    assert_array_equal(walls.material, [1, 0, 0])
    assert_allclose(walls.surface_velocity[1], [0, 0.5, 0])
    found = touch(bodies, [0.05, 0, 0.05], 0.1)
    assert_array_equal(found["b"], [-1, -2])


def test_unknown_material_is_refused_by_name():
    with pytest.raises(InputError, match=r"unknown material 'wood'.*'glass', 'steel'"):
        WallTable.build([body(Plane(material="wood"))], MATERIALS, 0.1)


def test_contacts_stand_in_the_order_of_visiting_behind_the_pairs():
    wall = Box(material="steel", lower=(0, 0, 0), upper=(1, 1, 1))
    centre = [[0.05, 0.05, 0.5], [0.5, 0.5, 0.5], [0.5, 0.5, 0.95]]
    found = touch([body(wall)], centre, 0.1, order=[2, 1, 0], pair_count=4)
    assert found["total"] == 7
    assert_array_equal(found["a"], [2, 0, 0])
    assert_array_equal(found["first_of"], [5, 5, 4])
    assert_array_equal(found["count_of"], [2, 0, 1])
    assert_array_equal(found["whole"]["a"][:4], -7)  # the pairs' part is left alone


@pytest.mark.parametrize("room", [0, 2, 5])
def test_too_little_room_still_counts_every_contact(room):
    """Nothing is written behind the room, what is written is right, and the needed count comes back."""
    square = Mesh(material="steel", vertices=[[0, 0, 0], [1, 0, 0], [0, 1, 0]], triangles=[[0, 1, 2]])
    walls = (Box(material="steel", lower=(0, 0, 0), upper=(1, 1, 1)), square)
    centre = np.tile([0.05, 0.05, 0.05], (3, 1))
    enough = touch([body(*walls)], centre, 0.1)
    short = touch([body(*walls)], centre, 0.1, room=room)
    assert enough["total"] == short["total"] == 12
    assert_array_equal(short["count_of"], [4, 4, 4])
    assert_array_equal(short["first_of"], [0, 4, 8])
    assert_array_equal(short["b"], enough["b"][:room])
    assert_array_equal(short["overlap"], enough["overlap"][:room])


def test_static_grains_meet_only_walls_that_can_yield():
    wall = Plane(material="steel")
    for wall_inverse_mass, expected in ((0.0, [1]), (2.0, [0, 1])):
        found = touch([body(wall)], [[0, 0, 0.05]] * 2, 0.1, inverse_mass=[0.0, 1.0], wall_inverse_mass=wall_inverse_mass)
        assert_array_equal(found["a"], expected)


def test_no_walls_and_no_grains_give_no_contacts():
    assert touch([], [[0, 0, 0]], 0.1, pair_count=3)["total"] == 3
    assert touch([body(Plane(material="steel"))], np.empty((0, 3)), 0.1)["total"] == 0


@pytest.mark.parametrize(
    "wall",
    [
        Plane(material="steel"),
        Box(material="steel", lower=(0, 0, 0), upper=(1, 1, 1)),
        Box(material="steel", lower=(0, 0, 0), upper=(1, 1, 1), side="outside"),
        tube(),
        Cylinder(material="steel", radius=0.2, length=1.0, side="outside"),
        Capsule(material="steel", radius=0.2, length=1.0),
        Mesh(material="steel", vertices=[[0, 0, 0], [1, 0, 0], [0, 1, 0]], triangles=[[0, 1, 2]]),
    ],
)
def test_a_position_that_is_not_a_number_touches_nothing(wall):
    """It is the NaN check that stops the run; detection must survive until then."""
    assert touch([body(wall)], [[np.nan, 0.1, 0.1], [np.inf, np.nan, 0.1]], 0.2)["total"] == 0


@pytest.fixture
def rng():
    return np.random.default_rng(20240)


def rod(**keys):
    """A solid cylinder or capsule of radius 0.5, 2 long, along (0.6, 0, 0.8), centre at (0.1, 0, 0)."""
    make = Capsule if keys.pop("round_ends", False) else Cylinder
    return make(
        material="steel", centre=(0.1, 0, 0), axis=(3, 0, 4), radius=0.5, length=2.0, **({"side": "outside"} if make is Cylinder else {})
    )


@pytest.mark.parametrize("pose", POSES)
def test_solid_cylinder_touches_with_mantle_ends_and_rims(pose):
    """The closest point: beside the mantle, beyond an end, or diagonally across the rim (a 3-4-5 triangle of 0.05 m)."""
    owner, centre = [body(rod(), pose=pose)], np.array([0.1, 0, 0])
    check(touch(owner, world(centre + 0.55 * ACROSS + 0.9 * ALONG, pose), 0.1), [0], [-ACROSS], [0.05], pose)
    for end in (-1, 1):
        check(touch(owner, world(centre + 0.3 * ACROSS + end * 1.04 * ALONG, pose), 0.1), [0], [-end * ALONG], [0.06], pose)
        rim = centre + 0.53 * ACROSS + end * 1.04 * ALONG
        check(touch(owner, world(rim, pose), 0.1), [0], [-0.6 * ACROSS - 0.8 * end * ALONG], [0.05], pose)
    assert touch(owner, world(centre + 0.58 * ACROSS + 1.08 * ALONG, pose), 0.1)["total"] == 0  # near both, but not the rim


def test_centre_inside_of_a_solid_cylinder_takes_the_nearest_way_out():
    owner, centre = [body(rod())], np.array([0.1, 0, 0])
    check(touch(owner, centre + 0.4 * ACROSS, 0.1), [0], [-ACROSS], [0.2])
    check(touch(owner, centre + 0.4 * ACROSS - 0.95 * ALONG, 0.1), [0], [ALONG], [0.15])
    on_axis = touch(owner, centre, 0.1)
    assert_allclose(on_axis["overlap"], [0.6])
    assert_allclose(on_axis["normal"] @ ALONG, 0, atol=1e-15)


@pytest.mark.parametrize("pose", POSES)
def test_capsule_touches_with_mantle_and_round_ends(pose):
    """Everywhere the distance from the piece of line, less the radius; beyond an end diagonally (0.33, 0.44)."""
    owner, centre = [body(rod(round_ends=True), pose=pose)], np.array([0.1, 0, 0])
    check(touch(owner, world(centre + 0.55 * ACROSS + 0.99 * ALONG, pose), 0.1), [0], [-ACROSS], [0.05], pose)
    for end in (-1, 1):
        tip = centre + 0.33 * ACROSS + end * 1.44 * ALONG
        check(touch(owner, world(tip, pose), 0.1), [0], [-0.6 * ACROSS - 0.8 * end * ALONG], [0.05], pose)
        check(touch(owner, world(centre + end * 1.55 * ALONG, pose), 0.1), [0], [-end * ALONG], [0.05], pose)
    assert touch(owner, world(centre + 1.61 * ALONG, pose), 0.1)["total"] == 0
    inside = touch(owner, world(centre + 0.2 * ALONG, pose), 0.1)
    assert_allclose(inside["overlap"], [0.6])


def test_endless_solid_cylinder_has_no_ends():
    wall = Cylinder(material="steel", axis=(3, 0, 4), radius=0.5, side="outside")
    check(touch([body(wall)], 0.55 * ACROSS + 100 * ALONG, 0.1), [0], [-ACROSS], [0.05])


def test_normals_point_down_the_distance_of_a_rod(rng):
    """The overlap changes by n . dx where a grain moves by dx, at places all around, inside too."""
    for round_ends in (False, True):
        owner = [body(rod(round_ends=round_ends), pose="turned")]
        for place in world(rng.uniform(-1.3, 1.3, (60, 3)), "turned"):
            found, step = touch(owner, place, 1.0), 1e-6 * rng.normal(size=3)
            if found["total"]:
                moved = touch(owner, place + step, 1.0)
                assert_allclose(moved["overlap"] - found["overlap"], found["normal"] @ step, atol=2e-10)


def test_tube_without_caps_cannot_be_solid():
    with pytest.raises(InputError, match=r"caps = false is for hollow cylinders"):
        Cylinder(material="steel", radius=0.5, length=1.0, caps=False, side="outside")


@pytest.mark.parametrize("seed", range(4))
def test_grains_that_are_looked_at_together_find_what_each_finds_alone(seed):
    """Groups of grains in the middle of walls of all kinds that move and turn: looked at grain by grain, nothing else is found."""
    rng = np.random.default_rng(seed)
    material = "steel"
    shapes = (
        Plane(material=material, point=(0, 0, -0.3), normal=(0, 0, 1)),
        Box(material=material, lower=(-0.5, -0.4, -0.6), upper=(0.6, 0.5, 0.7)),
        Box(material=material, lower=(-0.2, -0.1, -0.3), upper=(0.1, 0.2, 0.0), side="outside"),
        Cylinder(material=material, radius=0.5, axis=(0, 1, 0), length=1.2),
        Cylinder(material=material, radius=0.1, axis=(1, 0, 0), length=0.5, side="outside"),
        Capsule(material=material, centre=(0.2, 0, 0.1), radius=0.08, length=0.3),
        Mesh(material=material, vertices=[(-0.4, -0.4, 0.2), (0.4, -0.4, 0.1), (0, 0.4, 0.3)], triangles=[(0, 1, 2)]),
    )
    bodies = [body(shape, name=f"body {k}") for k, shape in enumerate(shapes)]
    position = rng.uniform(-0.5, 0.5, (600, 3))
    cells = np.floor(position / 0.2).astype(int)
    position = position[np.lexsort((position[:, 0], *cells.T))]
    count = len(bodies) + len(position)
    motion = rng.normal(0, 2.0, (count, 3)), rng.normal(0, 1.0, (count, 3))
    radius, given = rng.uniform(0.005, 0.03, len(position)), {"motion": motion, "ahead": Ahead.of(0.01, 1.0, 9.81, 0.05), "room": 10_000}
    together = touch(bodies, position, radius, **given)
    alone = [touch(bodies, position, radius, order=[i], **given) for i in range(len(position))]
    assert together["total"] > 300
    for name in ("a", "b", "feature", "normal", "overlap"):
        assert_array_equal(together[name], np.concatenate([one[name] for one in alone]))
