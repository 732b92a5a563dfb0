"""Which bodies touch each other, what a run says about those that do not, and how contacts between bodies are known and shown."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from granum.checks import InputError, RunError
from granum.contact import LinearContact
from granum.contact.adhesive import AdhesiveContact
from granum.detection.body_shapes import body_shapes
from granum.detection.wall_table import WallTable
from granum.scene import Body, Box, BoxRegion, Cylinder, Grains, Mesh, Motion, Plane, Sink
from granum.scene.extent import inner_radius
from tests.reference.blocks import DENSITY, FLOOR, block, blocks, cube_mesh, run, solid_box, turned
from tests.reference.scenes import G, hertz_stiffness, make

L = 0.1
CONTAINER = Box(material="m", lower=(-L, -L, 0), upper=(L, L, 5 * L), open=("+z",))


def shapes_of(*bodies):
    bodies = (Body(name="ground"), *bodies)
    return body_shapes(bodies, WallTable.build(bodies, {"m": 0}, 0.01))


def pairs_of(*bodies):
    found = shapes_of(*bodies)
    return [] if found is None else found.pair.tolist()


# --- who may touch ---


def test_two_bodies_touch_if_one_is_dynamic_and_both_are_willing():
    wall = {"walls": [solid_box(L)]}
    free, shy = block(L, (0, 0, 0)), block(L, (0, 0, 1), "shy", touches="grains")
    stands, driven = Body(name="stands", **wall), Body(name="driven", kind="kinematic", motion=Motion(velocity=(1, 0, 0)), **wall)
    assert pairs_of(stands, driven) == []
    assert pairs_of(stands, driven, shy) == []
    assert pairs_of(stands, driven, free) == [[2, 0], [2, 1]]  # the first is of the dynamic body
    assert pairs_of(stands, free, shy, block(L, (0, 0, 2), "other")) == [[1, 0], [3, 0], [1, 3]]
    two = block(L, (0, 0, 0)).model_copy(update={"walls": (solid_box(L), solid_box(2 * L))})
    assert pairs_of(two) == []  # walls of one body belong together


def test_walls_without_corners_do_not_touch_each_other():
    lid = Body(name="lid", kind="dynamic", mass=1.0, inertia=(1, 1, 1), walls=[Plane(material="m", normal=(0, 0, -1))])
    tube = Body(name="tube", walls=[Plane(material="m"), CONTAINER, Cylinder(material="m", radius=1.0)])
    assert pairs_of(tube, lid) == []


def test_sharp_corners_and_edges_of_meshes_are_found():
    """Triangles that cut a flat face or a straight edge add none, however many they are; a fold inwards is no edge, a hollow no corner."""
    whole = shapes_of(block(L, (0, 0, 0), wall=cube_mesh(L)), block(L, (0, 0, 1), "b"))
    assert np.diff(whole.corner_first).tolist() == [8, 8]
    assert np.diff(whole.edge_first).tolist() == [12, 12]
    n = 5
    x, y = (a.ravel() for a in np.meshgrid(np.arange(n), np.arange(n), indexing="ij"))
    cells = [(i * n + j, (i + 1) * n + j, (i + 1) * n + j + 1, i * n + j + 1) for i in range(n - 1) for j in range(n - 1)]
    triangles = [t for a, b, c, d in cells for t in ((a, b, c), (a, c, d))]
    for height, corners, edges in ((0.0 * x, 4, 0), (-1.0 * np.abs(x - 2), 4, n - 1), (1.0 * np.abs(x - 2), 4, 0)):
        for side in ("both", "front"):
            mesh = Mesh(material="m", side=side, vertices=np.column_stack([x, y, height]), triangles=triangles)
            found = shapes_of(block(L, (0, 0, 9), wall=mesh), block(L, (0, 0, 1), "b"))
            assert found.corner_first[1] >= corners
            if side == "front":
                assert found.edge_first[1] == edges  # a ridge is one, a valley is none
            else:
                assert found.edge_first[1] == (n - 1 if height.any() else 0)  # it has two fronts


def test_the_radius_of_a_contact():
    """Of the ball that fits into the wall; a sheet is a tenth as thick as long, and what is flat or hollow has none."""
    assert inner_radius(Box(material="m", lower=(0, 0, 0), upper=(3, 2, 1), side="outside")) == 0.5
    assert inner_radius(cube_mesh(L)) == pytest.approx(L / 2)
    assert inner_radius(Mesh(material="m", vertices=[(0, 0, 0), (2, 0, 0), (0, 1, 0)], triangles=[(0, 1, 2)])) == pytest.approx(0.1)
    assert inner_radius(Plane(material="m")) == inner_radius(CONTAINER) == inner_radius(Cylinder(material="m", radius=1.0)) == np.inf
    stacked = run(blocks([block(L, (0, 0, L / 2), "low"), block(2 * L, (0, 0, 2 * L), "high")]), 2)
    c = stacked.body_contacts
    assert_allclose(c.radius_eff[c.b == 0], L / 2)  # on the plane
    assert_allclose(c.radius_eff[c.b != 0], 1 / (2 / L + 1 / L))


# --- what a run says ---


def test_bodies_that_are_built_into_each_other_pass_and_are_told():
    """A piston that is wider than its box slides in it as if it did not touch; one that fits touches."""
    wide = block((2.02 * L, 2 * L, 0.2 * L), (0, 0, 2 * L), "piston")
    with pytest.warns(
        RuntimeWarning, match=r"wall 1 of body 'piston' and wall 0 of 'ground' are 0\.001 m inside of each other at the start"
    ):
        sim = blocks([wide], walls=[CONTAINER])
    run(sim, 100)
    assert sim.bodies.velocity[1, 2] == pytest.approx(-G * 0.1)
    assert len(sim.body_contacts) == 0
    assert any("touches = 'grains'" in words for words in sim.warnings)
    narrow = run(blocks([block((1.98 * L, 1.98 * L, 0.2 * L), (0, 0, 0.1 * L), "piston")], walls=[CONTAINER]), 100)
    assert narrow.warnings == []
    assert len(narrow.body_contacts) == 4


def test_bodies_that_lie_on_each_other_under_their_load_are_not_built_in():
    """Soft ones are pressed in by a part of their size; a force counts as a load."""
    size, push = 1.0, 20 * DENSITY * G
    quarter = (DENSITY * G + push) / 4
    overlap = (quarter / (4 / 3 * 1e7 / (2 * 0.91) * np.sqrt(size / 2))) ** (2 / 3)
    assert overlap > 0.02 * size
    sim = run(blocks([block(size, (0, 0, size / 2 - overlap), force=(0, 0, -push))], h=5e-3, youngs_modulus=1e7), 20)
    assert sim.warnings == []
    assert_allclose(sim.body_contacts.normal_force, quarter, rtol=1e-6)


def test_a_body_that_touches_grains_only_passes_through_others():
    sim = run(blocks([block(L, (0, 0, L / 2), touches="grains")]), 50)
    assert sim.bodies.velocity[1, 2] == pytest.approx(-G * 0.05)
    assert len(sim.body_contacts) == 0


def test_the_smooth_stepper_says_that_bodies_pass():
    body = block(L, (0, 0, L))
    with pytest.warns(RuntimeWarning, match=r"with the smooth stepper bodies touch grains only: 'block' passes through 'ground'"):
        sim = make((1, 0, 0.1), bodies=[body], walls=FLOOR, settings={"stepper": {"name": "smooth"}, "time_step": 1e-5})
    assert len(sim.body_contacts) == 0


def test_a_body_that_is_pressed_through_another_is_stopped():
    with pytest.raises(RunError, match=r"the bodies 'block' and 'ground' are .* R\* deep in each other"):
        run(blocks([block(L, (0, 0, L / 2), force=(0, 0, -1e6))], youngs_modulus=1e6, h=1e-3, stepper={"impact_velocity": 1e3}), 300)


def test_scenes_of_bodies_alone_have_a_step_of_their_own():
    """As if they were grains of their size; what has neither grains nor bodies to follow is refused as before."""
    sim = blocks([block(L, (0, 0, L))], h=None)
    assert 1e-4 < sim.time_step < 1e-2
    with pytest.raises(InputError, match="no grains and no emitter, nor a dynamic body"):
        blocks([Body(name="stands", walls=[solid_box(L)])])


# --- how contacts are known and shown ---


def test_contacts_of_grains_are_those_of_grains():
    """``sim.contacts`` does not know of bodies that touch; their door has names, places and forces."""
    grain = Grains(material="m", position=[(0, 0, L + 0.01)], diameter=0.02)
    sim = run(blocks([block(L, (0, 0, L / 2))], grains=[grain]), 50)
    assert_array_equal(sim.contacts.a, [0])
    assert_array_equal(sim.contacts.b, [-2])
    c = sim.body_contacts
    assert [c.names[k] for k in c.a] == ["block"] * 4
    assert [c.names[k] for k in c.b] == ["ground"] * 4
    assert_array_equal(c.wall_a, 1)
    assert_array_equal(c.wall_b, 0)
    assert_allclose(np.sort(np.abs(c.point[:, :2]), axis=0), L / 2, rtol=1e-6)
    assert_allclose(c.normal, np.tile((0, 0, -1), (4, 1)), atol=1e-8)
    assert_allclose(c.force_on("block"), -c.force.sum(axis=0))
    with pytest.raises(InputError, match="unknown body 'blok'"):
        c.force_on("blok")


def test_impulses_follow_contacts_when_grains_leave_and_come():
    """Contacts of bodies stand behind those of grains, whose number changes all the time: a box at rest feels nothing of it."""
    position = np.array([(0.3 + 0.02 * x, 0.02 * y, 0.006 + 0.015 * z) for x in range(5) for y in range(5) for z in range(4)])
    grains = Grains(material="m", position=position, diameter=0.01, velocity=np.tile((1.0, 0, 0), (100, 1)))
    sink = Sink(name="end", region=BoxRegion(lower=(0.42, -1, -1), upper=(1, 1, 1)))
    quarter = DENSITY * L**3 * G / 4
    overlap = (quarter / hertz_stiffness(L / 2, youngs_modulus=1e9)) ** (2 / 3)
    sim = blocks([block(L, (0, 0, L / 2 - overlap))], grains=[grains], sinks=[sink])
    most = 0
    for _ in range(200):
        sim.step()
        most = max(most, sim.contacts.contact_count)
        assert_allclose(sim.body_contacts.normal_force, quarter, rtol=1e-3)
    assert most > 20
    assert sim.taken_out > 20


@pytest.mark.parametrize(
    "law", [LinearContact(stiffness=1e6), pytest.param(AdhesiveContact(stiffness=1e6, pull=50.0), marks=pytest.mark.slow)]
)
def test_bodies_do_not_attract_each_other(law):
    """The overlap is the weight over the stiffness, and a box can be lifted off."""
    sim = make([], bodies=[block(L, (0, 0, L / 2))], walls=FLOOR, gravity=(0, 0, -G), law=law, h=1e-3, guards={"on_coarse": "off"})
    run(sim, 200)
    assert_allclose(sim.body_contacts.overlap, DENSITY * L**3 * G / 4 / 1e6, rtol=1e-6)
    assert sim.report.elastic_energy == pytest.approx(4 * 0.5 * 1e6 * (DENSITY * L**3 * G / 4 / 1e6) ** 2, rel=1e-5)
    sim.bodies.velocity[1, 2] = 0.01
    sim.step()
    assert sim.bodies.velocity[1, 2] > 0


def test_a_box_that_turns_on_the_spot_keeps_its_corners():
    """A corner is the same contact wherever it goes on its face."""
    sim = blocks([block(L, (0, 0, L / 2), spin=(0, 0, 3.0), orientation=turned((0, 0, 1), 0.2))], friction=0.0)
    run(sim, 20)
    for _ in range(200):
        sim.step()
        assert sim.nonsmooth.detector.same
    assert sim.bodies.spin[1, 2] == pytest.approx(3.0, rel=1e-9)
