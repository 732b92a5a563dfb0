"""How fast a scene will move: every kind of speed and fall against its closed form, and the compiled parts against plain twins."""

from __future__ import annotations

import math

import numpy as np
import pytest

from granum.contact import Material
from granum.scene import (
    Body,
    Box,
    BoxRegion,
    BoxSource,
    Capsule,
    Cell,
    Cylinder,
    Disc,
    Emitter,
    Grains,
    Gravity,
    Lattice,
    Mesh,
    Motion,
    Plane,
    Rectangle,
    Scene,
    Sink,
)
from granum.scene.falls import falls_of_grains, heights_at_end
from granum.scene.floors import Frame, fall_to_floor
from granum.scene.library import make_scene
from granum.scene.library.sites import speed_of_fall
from granum.scene.placed import Placed
from granum.scene.speeds import expected_speeds, speed_after_fall, speeds_at_start
from granum.simulation import Simulation, make_settings
from tests.reference.falls import fall_to_triangles_plainly, let_down_plainly
from tests.reference.scenes import FREE

D, G = 0.01, 9.81
M = Material(name="m")
FLOOR = Plane(material="m")


def scene(*grains, gravity=(0, 0, -G), **more):
    return Scene(materials=[M], grains=grains, gravity=gravity if isinstance(gravity, Gravity) else Gravity(acceleration=gravity), **more)


def at(*position, diameter=D, **more):
    return Grains(material="m", position=np.atleast_2d(position), diameter=diameter, **more)


def fastest(made):
    return expected_speeds(made)[0]


def falls(made):
    return falls_of_grains(made, Frame.of(made), Placed.of(made))


# speeds at the start


def test_what_is_at_rest_has_no_speed():
    assert speeds_at_start(scene(at(0, 0, 1), walls=[FLOOR])) == []
    assert expected_speeds(scene(at(0, 0, 1), gravity=(0, 0, 0))) == []
    assert expected_speeds(scene(at(0, 0, 1))) == []  # it falls for ever, and meets nothing


def test_placed_grains_count_with_velocity_and_spin():
    made = scene(at((0, 0, 1), (1, 0, 1), velocity=[(3, 0, 4), (1, 0, 0)]), at(2, 0, 1, spin=[(0, 600, 0)]), gravity=(0, 0, 0))
    assert [speed.value for speed in speeds_at_start(made)] == pytest.approx([5, 600 * D / 2])
    assert [speed.reason for speed in speeds_at_start(made)] == [
        "a grain placed at 5 m/s",
        "a grain placed with a spin that moves its surface at 3 m/s",
    ]


def emitter(source, velocity=(0, 0, 0)):
    return Emitter(name="hose", material="m", sizes=D, source=source, count=3, velocity=velocity)


@pytest.mark.parametrize(
    "source, height",
    [
        (Disc(centre=(0, 0, 0.5), diameter=0.1), 0.5),
        (Rectangle(corner=(0, 0, 0.5), edge_u=(0.1, 0, 0), edge_v=(0, 0, 0.2)), 0.7),
        (BoxSource(lower=(0, 0, 0.1), upper=(0.1, 0.1, 0.5)), 0.5),
    ],
)
def test_emitted_grains_count_with_their_fall_to_the_floor(source, height):
    found = fastest(scene(emitters=[emitter(source, (0, 2, 0))], walls=[FLOOR]))
    assert found.value == pytest.approx(math.sqrt(4 + 2 * G * (height - D / 2)))
    assert "from the emitter 'hose' at 2 m/s" in found.reason


def test_an_emitter_falls_to_the_furthest_wall_below_it():
    """Half of the source is above a table."""
    table = Box(material="m", lower=(0, -1, 0.2), upper=(1, 1, 0.3), side="outside")
    source = Rectangle(corner=(-0.1, 0, 0.5), edge_u=(0.2, 0, 0), edge_v=(0, 0.1, 0))
    assert fastest(scene(emitters=[emitter(source)], walls=[FLOOR, table])).value == pytest.approx(math.sqrt(2 * G * (0.5 - D / 2)))


def test_an_emitter_above_fixed_grains_alone_falls_to_them():
    rough = at((0, 0, 0), (D, 0, 0), static=True)
    source = emitter(BoxSource(lower=(0, 0, 0.5), upper=(D, 0, 0.5)))
    assert fastest(scene(rough, emitters=[source])).value == pytest.approx(math.sqrt(2 * G * 0.5))


@pytest.mark.parametrize(
    "motion, speed",
    [
        (Motion(velocity=(0, 3, 4)), 5.0),
        (Motion(amplitude=(0, 0, 0.01), frequency=10), 2 * math.pi * 0.1),
        (Motion(velocity=(1, 0, 0), amplitude=(0, 0, 0.01), frequency=10), 1 + 2 * math.pi * 0.1),
        (Motion(velocity=(1, 0, 0), stop=0.0), None),
        (Motion(velocity=(1, 0, 0), start=-2, stop=-1), None),
        (Motion(velocity=(1, 0, 0), start=5), 1.0),
    ],
)
def test_driven_walls_count_at_their_fastest(motion, speed):
    found = speeds_at_start(scene(at(0, 0, 1), bodies=[Body(name="press", kind="kinematic", motion=motion, walls=[FLOOR])]))
    assert [s.value for s in found] == pytest.approx([] if speed is None else [speed])
    if speed is not None:
        assert found[0].wall
        assert "'press'" in found[0].reason


@pytest.mark.parametrize(
    "wall, reach",
    [
        (Cylinder(material="m", axis=(0, 1, 0), radius=0.3), 0.3),
        (Cylinder(material="m", axis=(0, 1, 0), radius=0.3, length=5.0), 0.3),
        (Cylinder(material="m", axis=(0, 1, 0), centre=(0.1, 9, 0), radius=0.3), 0.4),
        (Cylinder(material="m", axis=(1, 0, 0), radius=0.3, length=2.0), 1.3),
        (Cylinder(material="m", axis=(1, 0, 0), radius=0.3, length=2.0, side="outside"), 1.3),
        (Capsule(material="m", axis=(0, 1, 0), centre=(0.1, 9, 0), radius=0.3, length=1.0), 0.4),
        (Capsule(material="m", axis=(1, 0, 0), radius=0.3, length=2.0), 1.3),
        (Box(material="m", lower=(-0.3, -9, -0.1), upper=(0.2, 9, 0.4), side="outside"), 0.5),
        (Mesh(material="m", vertices=[(0, 5, 0.6), (0.8, 1, 0.6), (0, 0, 0.0)], triangles=[(0, 1, 2)]), 1.0),
        (Plane(material="m", normal=(0, 1, 0)), 0.25),  # it has no end, but the grain is not further from the axis
    ],
)
def test_turning_walls_count_with_the_rim(wall, reach):
    """About the y axis through the body's position; turned about that axis it is as far."""
    half = math.sqrt(0.5)
    for orientation in ((1, 0, 0, 0), (half, 0, half, 0)):
        motion = Motion(spin=(0, -2, 0))
        drum = Body(name="drum", kind="kinematic", position=(1, 2, 3), orientation=orientation, motion=motion, walls=[wall])
        (found,) = speeds_at_start(scene(at(1, 2, 3.25), bodies=[drum]))
        assert found.value == pytest.approx(2 * reach)


def test_belts_count():
    belt = Plane(material="m", surface_velocity=(3, 0, 0))
    (found,) = speeds_at_start(scene(at(0, 0, 1), walls=[belt]))
    assert (found.value, found.reason) == (3, "the belt of 'ground' at 3 m/s")


def piston(height, **more):
    plate = Box(material="m", lower=(-0.1, -0.1, -0.01), upper=(0.1, 0.1, 0.01), side="outside")
    return Body(name="piston", kind="dynamic", position=(0, 0, height), mass=2.0, inertia=(1, 1, 1), walls=[plate], **more)


def test_bodies_that_fall_count():
    """Onto the floor, or onto a grain under the plate; a force that pushes makes it faster."""
    on_floor, on_grain = (scene(at(x, 0, D / 2), walls=[FLOOR], bodies=[piston(0.5)]) for x in (0.5, 0.05))
    assert fastest(on_floor).value == pytest.approx(math.sqrt(2 * G * 0.49))
    assert fastest(on_grain).value == pytest.approx(math.sqrt(2 * G * (0.49 - D)))
    pushed = scene(walls=[FLOOR], bodies=[piston(0.5, force=(0, 0, -20), velocity=(0, 0, 3))])
    assert fastest(pushed).value == pytest.approx(math.sqrt(9 + 2 * (G + 10) * 0.49))


# falls


def test_grains_fall_to_what_is_below():
    bed = at((0, 0, D / 2), (0.5, 0, D / 2))
    made = scene(bed, at(0, 0, 0.3, diameter=2 * D), at(0.2, 0, 0.3), walls=[FLOOR])
    assert falls(made) == pytest.approx([0, 0, 0.3 - 2 * D, 0.3 - D / 2], abs=1e-15)
    thrown = scene(at(0, 0, 0.3, velocity=[(0, 0, 2)]), walls=[FLOOR])
    assert fastest(thrown).value == pytest.approx(math.sqrt(4 + 2 * G * (0.3 - D / 2)))
    assert fastest(thrown).reason == "a grain placed at 2 m/s that falls 0.295 m"


def test_a_bed_that_stands_does_not_fall_however_high_it_is():
    """Columns, and a closest packing whose upper grains lie in the hollows of the lower."""
    assert falls(make_scene("column", {"count": 200})).max() < 1e-12
    layer = [(x + 0.5 * (z % 2), y + 0.5 * (z % 2), z * math.sqrt(0.5) + 0.5) for z in range(30) for x in range(5) for y in range(5)]
    assert falls(scene(at(*(np.array(layer) * D)), walls=[FLOOR])).max() < 1e-12


def test_static_grains_hold_and_stay():
    made = scene(at(0, 0, 0.5, static=True), at(0, 0, 0.7))
    assert falls(made) == pytest.approx([0, 0.2 - D])


def test_a_lattice_falls_as_far_as_it_is_high_above_the_floor_and_packs():
    """20 d down, and the top of a lattice of solid fraction phi by 1 - phi / 0.6 of its height more."""
    count, layers = 10 * 10 * 20, 20
    spacing = D * 1.001
    block = Lattice(
        material="m", lower=(0, 0, 20 * D), upper=(10 * spacing, 10 * spacing, 20 * D + layers * spacing), count=count, sizes=D, jitter=0.0
    )
    found = falls(scene(block, walls=[FLOOR]))
    gap = 20 * D + 0.0005 * D
    assert found[:100] == pytest.approx(gap)
    area = (9 * spacing + D) ** 2
    packed = 100 * 19 * math.pi / 6 * D**3 / (0.6 * area)
    assert found.max() == pytest.approx(gap + 19 * spacing - packed)


@pytest.mark.parametrize("lean", [0.0, 0.3])
def test_falls_follow_gravity_that_leans(lean):
    """Down to a plane across gravity, and down a slope: r and the distance are measured across the plane."""
    down = np.array([math.sin(lean), 0.0, -math.cos(lean)])
    level = Plane(material="m", normal=tuple(-down))
    assert falls(scene(at(0, 0, 0.3), gravity=tuple(G * down), walls=[level])) == pytest.approx([0.3 * math.cos(lean) - D / 2])
    assert falls(scene(at(0, 0, 0.3), gravity=tuple(G * down), walls=[FLOOR])) == pytest.approx([(0.3 - D / 2) / math.cos(lean)])


WALLS = {
    "box inside": (Box(material="m", lower=(-1, -1, 0), upper=(1, 1, 1)), 0.3 - D / 2),
    "open box": (Box(material="m", lower=(-1, -1, 0), upper=(1, 1, 1), open=("-z",)), 0.3 - D / 2),  # where its sides end
    "box outside": (Box(material="m", lower=(-1, -1, -1), upper=(1, 1, 0.1), side="outside"), 0.2 - D / 2),
    "beside a box": (Box(material="m", lower=(0.3, -1, -1), upper=(1, 1, 0.1), side="outside"), 1.3 - D / 2),  # to its lower end
    "lying cylinder": (Cylinder(material="m", axis=(0, 1, 0), radius=0.5), 0.3 + math.sqrt((0.5 - D / 2) ** 2 - 0.2**2)),
    "upright cylinder": (Cylinder(material="m", radius=0.5, length=1.0), 0.8 - D / 2),
    "tube": (Cylinder(material="m", radius=0.5, length=1.0, caps=False), 0.8 - D / 2),  # nothing below, but the tube ends there
    "roller": (Cylinder(material="m", axis=(0, 1, 0), radius=0.25, side="outside"), 0.3 - math.sqrt((0.25 + D / 2) ** 2 - 0.2**2)),
    "post": (Cylinder(material="m", centre=(0, 0, -0.4), radius=0.25, length=1.0, side="outside"), 0.2 - D / 2),
    "rod": (Capsule(material="m", axis=(0, 1, 0), radius=0.25, length=1.0), 0.3 - math.sqrt((0.25 + D / 2) ** 2 - 0.2**2)),
    "end of a rod": (
        Capsule(material="m", centre=(-0.4, 0, 0), axis=(1, 0, 0), radius=0.25, length=1.0),
        0.3 - math.sqrt((0.25 + D / 2) ** 2 - 0.1**2),
    ),
    "upright rod": (Capsule(material="m", centre=(0, 0, -0.5), radius=0.25, length=1.0), 0.3 - math.sqrt((0.25 + D / 2) ** 2 - 0.2**2)),
    "slope": (
        Mesh(material="m", vertices=[(-1, -1, -1), (1, -1, 1), (1, 1, 1), (-1, 1, -1)], triangles=[(0, 1, 2), (0, 2, 3)]),
        0.1 - D / 2 * math.sqrt(2),
    ),
}


@pytest.mark.parametrize("name", WALLS)
def test_every_wall_is_a_floor(name):
    """A grain at (0.2, 0, 0.3); walls moved and turned with their body are met where they are."""
    wall, height = WALLS[name]
    assert falls(scene(at(0.2, 0, 0.3), walls=[wall])) == pytest.approx([height])
    half = math.sqrt(0.5)  # a quarter turn about z: what was along x is along y
    body = Body(name="b", position=(1, 2, 3), orientation=(half, 0, 0, half), walls=[wall])
    assert falls(scene(at(1, 2.2, 3.3), bodies=[body])) == pytest.approx([height])


def test_a_sink_ends_a_fall():
    sink = Sink(region=BoxRegion(lower=(-1, -1, -5), upper=(1, 1, -0.5)))
    assert falls(scene(at(0, 0, 0.3), sinks=[sink])) == pytest.approx([0.8])


def test_falls_end_where_the_scene_ends():
    """A grain beside a table of finite height has nothing below it: it can meet nothing lower than the table's feet."""
    table = Box(material="m", lower=(0, -1, -0.7), upper=(1, 1, 0), side="outside")
    assert falls(scene(at((0.5, 0, D / 2), (-0.5, 0, D / 2)), walls=[table])) == pytest.approx([0, 0.7])


def test_grains_meet_across_the_faces_of_a_cell():
    cell = Cell(vectors=(0.1, 0.1))
    made = scene(at((0.001, 0.05, D / 2), (0.099, 0.05, 0.2)), walls=[FLOOR], cell=cell)
    assert falls(made)[1] == pytest.approx(0.2 - D / 2 - math.sqrt(D**2 - 0.002**2))
    chute = scene(
        at(
            (0.05, 0.05, 0.2),
        ),
        walls=[FLOOR],
        cell=cell,
        gravity=(5, 0, -8),
    )  # across the axes that repeat
    assert falls(chute) == pytest.approx([0.2 - D / 2])
    assert Frame.of(scene(at(0.05, 0.05, 0.05), cell=Cell(vectors=(0.1, 0.1, 0.1)))) is None


@pytest.mark.parametrize("period", [(0.0, 0.0), (0.12, 0.0), (0.12, 0.1)])
@pytest.mark.parametrize("ratio", [1.0, 9.0])
def test_grains_come_down_as_in_the_plain_twin(period, ratio):
    rng = np.random.default_rng(int(10 * ratio) + len(period))
    count = 150
    x = rng.random((count, 3)) * (0.12, 0.1, 0.25)
    radius = 0.002 * ratio ** rng.random(count)
    floor = np.where(rng.random(count) < 0.1, np.inf, x[:, 2] + 0.3 * rng.random(count))
    frame = Frame(np.eye(3)[:2], np.array([0.0, 0.0, -1.0]), np.array(period))
    plain = let_down_plainly(x, radius, floor, np.array(period))
    assert heights_at_end(frame, x, radius, floor) == pytest.approx(plain, rel=1e-13, abs=1e-13)


def test_balls_fall_to_triangles_as_in_the_plain_twin():
    rng = np.random.default_rng(4)
    corners = rng.random((90, 3, 3)) * (1, 1, 0.5)
    mesh = Mesh(material="m", vertices=corners.reshape(-1, 3), triangles=np.arange(270).reshape(-1, 3))
    centre, radius = rng.random((60, 3)) * (1.2, 1.2, 0.6) - 0.1, 0.02 * rng.random(60)
    made = scene(at(0, 0, 0), walls=[mesh])
    frame = Frame(np.eye(3)[:2], np.array([0.0, 0.0, -1.0]), np.zeros(2))
    plain = [fall_to_triangles_plainly(mesh.vertices[mesh.triangles], c, r) for c, r in zip(centre, radius, strict=True)]
    assert fall_to_floor(made, frame, centre, radius) == pytest.approx(plain, rel=1e-9, abs=1e-12)
    assert 10 < np.isfinite(plain).sum() < 55


def test_gravity_that_grows_makes_falls_slow():
    """g t / T: v = g t^2 / 2 T after g t^3 / 6 T; a fall that outlasts the ramp goes on at full gravity."""
    ramp = Gravity(acceleration=(0, 0, -G), ramp=2.0)
    height = np.array([0.0, 0.01, 1.0, 6.0, 7.0, 50.0])
    assert speed_after_fall(ramp, height) == pytest.approx([speed_of_fall(G, h, 2.0) for h in height], rel=1e-12)
    assert speed_after_fall(Gravity(acceleration=(0, 0, -G)), height) == pytest.approx(np.sqrt(2 * G * height))
    steady = Gravity(acceleration=(0, 0, -G), initial=(0, 0, -G), ramp=2.0)  # 'grows' from what it is
    assert speed_after_fall(steady, height) == pytest.approx(np.sqrt(2 * G * height))


def test_grains_of_a_run_are_no_faster_than_expected():
    """A lattice that falls 6 d into a box: the bound holds, and is not far off."""
    walls = [Box(material="m", lower=(0, 0, 0), upper=(0.05, 0.05, 1), open=("+z",))]
    block = Lattice(material="m", lower=(0, 0, 6 * D), upper=(0.05, 0.05, 0.4), count=48, sizes=D)
    made = scene(block, walls=walls)
    sim = Simulation(made, make_settings({"guards": FREE}))
    fast = 0.0
    while sim.time < 0.2:
        sim.step()
        fast = max(fast, sim.stepper.fastest)
    assert 0.8 < fast / fastest(made).value < 1.05  # 0.963 to 0.970 over seeds: the top of a narrow box stays a little looser than 0.6
