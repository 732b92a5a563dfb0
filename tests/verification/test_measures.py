"""Measures of states whose numbers are known."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from granum.analysis import (
    ContactRows,
    Container,
    Drum,
    GrainRows,
    Snapshot,
    Spread,
    axis_profile,
    contact_counts,
    contacts_per_grain,
    drum_angles,
    energy_series,
    flow_profile,
    heap_slope,
    janssen_fit,
    kinetic_energy,
    loads,
    overlap_ratio,
    pile_shape,
    plug_fraction,
    relative_speed,
    scaled_kinetic_energy,
    scene_results,
    slide_errors,
    surface_height,
    vertical_pressure,
    wall_pressure,
)
from granum.checks import InputError
from granum.contact import Material, MaterialPair
from granum.scene.bodies import Body, Motion
from granum.scene.library import make_scene
from granum.scene.scene import Scene
from granum.scene.shapes import Box, Cylinder, Mesh, Plane

G, D, RHO = 9.81, 0.01, 2500.0
GLASS = Material(name="glass", density=RHO, friction=0.5)
ICE = Material(name="ice", density=RHO, friction=0.0)
M = RHO * math.pi / 6 * D**3


def lattice(*counts: int) -> np.ndarray:
    """(n, 3) cubic lattice of grains that touch, its lowest corner at the origin [m]."""
    return (np.stack(np.meshgrid(*map(np.arange, counts), indexing="ij"), axis=-1).reshape(-1, 3) + 0.5) * D


# Contacts. -----------------------------------------------------------------------------------------------------------------


def sliding(force, slip, **changes) -> Snapshot:
    """Grain 1 on grain 0, pressed by its weight times ten: friction ``force`` [mu f_n] on it, moving with ``slip`` [m/s]."""
    f_n = 10 * M * G
    grains = {"position": [[0, 0, 0], [0, 0, D]], "radius": D / 2, "velocity": [[0, 0, 0], slip]}
    contact = {"a": [0], "b": [1], "normal": [[0, 0, 1.0]], "normal_force": f_n, "tangential_force": 0.5 * f_n * np.atleast_2d(force)}
    for name, value in changes.items():
        (grains if name in grains else contact)[name] = value
    return Snapshot.build(Scene(materials=(GLASS,)), GrainRows(**grains), ContactRows(**contact))


@pytest.mark.parametrize("angle", [0.0, 1e-9, 30.0, 90.0, 180.0])
@pytest.mark.parametrize("part", [0.25, 1.0, 1.1])
def test_slide_errors_of_two_spheres(part, angle):
    """Friction ``part`` of its bound, ``angle`` off the direction against the slip: eps_sl = part - 1, eps_dir = -angle / 180."""
    a = math.radians(angle)
    found = slide_errors(sliding([-part * math.cos(a), part * math.sin(a), 0], [0.1, 0, 0]))
    assert_allclose(found.size, [part - 1], atol=1e-14)
    assert_allclose(found.direction, [-angle / 180], atol=2e-16)


def test_slide_errors_skip_what_sticks_is_weak_or_frictionless():
    threshold = 0.01 * math.sqrt(G * D / 2)
    assert len(slide_errors(sliding([0, 0, 0], [0.999 * threshold, 0, 0])).size) == 0
    assert len(slide_errors(sliding([0, 0, 0], [1.001 * threshold, 0, 0])).size) == 1
    assert len(slide_errors(sliding([0, 0, 0], [1, 0, 0], normal_force=0.0099 * M * G)).size) == 0
    assert len(slide_errors(sliding([0, 0, 0], [1, 0, 0], normal_force=0.0101 * M * G)).size) == 1
    # the smaller grain sets the scale: a quarter of the mass and of its speed scale
    large = sliding([0, 0, 0], [0.6 * threshold, 0, 0], radius=[D / 2, D / 8], position=[[0, 0, 0], [0, 0, 0.625 * D]])
    assert len(slide_errors(large).size) == 1
    scene = Scene(materials=(GLASS, ICE), pairs=(MaterialPair(materials=("glass", "ice"), friction=0.0),))
    on_ice = Snapshot.build(
        scene,
        GrainRows(position=[[0, 0, 0], [0, 0, D]], radius=D / 2, material=[0, 1], velocity=[[0, 0, 0], [1, 0, 0]]),
        ContactRows(a=[0], b=[1], normal=[[0, 0, 1.0]], normal_force=1.0),
    )
    assert len(slide_errors(on_ice).size) == 0
    no_force = slide_errors(sliding([0, 0, 0], [1, 0, 0]))
    assert_array_equal(no_force.size, [-1])
    assert np.isnan(no_force.direction).all()
    assert Spread.of(no_force.direction).count == 0


def test_overlaps_counts_and_coordination():
    shot = Snapshot.build(
        Scene(materials=(GLASS,), walls=(Plane(material="glass"),)),
        GrainRows(position=[[0, 0, 0.5], [0, 0, 1.25], [5, 5, 5]], radius=[0.5, 0.25, 0.5]),
        ContactRows(
            a=[0, 0, 1],
            b=[1, -1, -1],
            normal=[[0, 0, 1.0], [0, 0, -1.0], [0, 0, -1.0]],
            overlap=[0.05, 0.05, 0.01],
            normal_force=[1, 1, 0.0],
            tangential_force=[[0.5, 0, 0], [0.1, 0, 0], [0, 0, 0]],
            rebounding=[False, False, True],
        ),
    )
    assert_allclose(overlap_ratio(shot), [0.1, 0.05, 0.02])
    spread = Spread.of(overlap_ratio(shot))
    assert (spread.count, spread.mean, spread.largest) == (3, pytest.approx(0.17 / 3), pytest.approx(0.1))
    assert spread.std == pytest.approx(np.std([0.1, 0.05, 0.02]))
    assert_array_equal(contacts_per_grain(shot), [2, 2, 0])
    counts = contact_counts(shot)
    assert (counts.total, counts.continuous, counts.impacting, counts.sliding) == (3, 1, 1, 1)
    assert (counts.pairs, counts.walls, counts.loaded, counts.coordination) == (1, 2, 2, pytest.approx(4 / 3))


# Energy and height. --------------------------------------------------------------------------------------------------------


def test_kinetic_energy_in_units_of_n_m_g_d():
    """Grains that roll with v: (1/2)(1 + 2/5) m v^2 each."""
    v = 0.3
    shot = Snapshot.build(
        Scene(materials=(GLASS,)),
        GrainRows(
            position=lattice(3, 1, 1), radius=D / 2, velocity=[[v, 0, 0]] * 3, spin=[[0, 2 * v / D, 0]] * 3, static=[False, False, True]
        ),
        time=2.0,
    )
    assert kinetic_energy(shot) == pytest.approx(2 * 0.7 * M * v**2)
    assert scaled_kinetic_energy(shot) == pytest.approx(0.7 * v**2 / (G * D))
    series = energy_series([shot, shot])
    assert_array_equal(series.time, [2, 2])
    assert_allclose(series.scaled, 0.7 * v**2 / (G * D))
    assert energy_series([]).time.shape == (0,)


def test_surface_of_a_layer_is_its_top_and_grains_in_flight_do_not_count():
    position = np.concatenate([lattice(6, 6, 4), [[0.03, 0.03, 0.2]]])
    n = len(position) - 1
    floor = ContactRows(a=np.arange(n), b=np.full(n, -1), normal=np.tile([0, 0, -1.0], (n, 1)))
    scene = Scene(materials=(GLASS,), walls=(Plane(material="glass"),))
    found = surface_height(Snapshot.build(scene, GrainRows(position=position, radius=D / 2), floor))
    assert (found.level, found.top, found.bottom) == (pytest.approx(4 * D), pytest.approx(4 * D), pytest.approx(0, abs=1e-15))
    assert found.centre_of_mass == pytest.approx(2 * D)
    assert found.spread == pytest.approx(0, abs=1e-15)
    empty = Snapshot.build(Scene(materials=(GLASS,)), GrainRows(position=np.zeros((0, 3)), radius=[]))
    assert math.isnan(surface_height(empty).level)
    assert math.isnan(heap_slope(empty).angle)


def slope(angle: float, length: int = 60, width: int = 8) -> np.ndarray:
    """Random grains, five to a cell of d^3, below a plane that falls by ``angle`` [degrees] along x."""
    rng = np.random.default_rng(1)
    x = rng.random((5 * length * width * 2 * length, 3)) * [length * D, width * D, 2 * length * D]
    return x[x[:, 2] < length * D - (x[:, 0] - length * D / 2) * math.tan(math.radians(angle))]


@pytest.mark.parametrize("angle", [-20.0, 0.0, 10.0, 30.0, 45.0])
def test_slope_of_a_heap(angle):
    """The highest points of cells lie equally deep below the surface everywhere; 30 bins of 4 cells, each uncertain by about 0.1 d."""
    x = slope(angle)
    line = heap_slope(Snapshot.build(Scene(materials=(GLASS,)), GrainRows(position=x, radius=D / 2)))
    assert line.angle == pytest.approx(angle, abs=0.3)
    turned = heap_slope(
        Snapshot.build(Scene(materials=(GLASS,)), GrainRows(position=x[:, [1, 0, 2]] * [1, -1, 1], radius=D / 2)), downhill=(0, -2)
    )
    assert turned.angle == pytest.approx(line.angle, abs=1e-9)


def test_angle_of_a_pile_is_that_of_its_resting_grains():
    x = lattice(81, 81, 20) - [40.5 * D, 40.5 * D, 0]
    x = x[x[:, 2] < 35 * D * math.tan(math.radians(25)) - np.hypot(x[:, 0], x[:, 1]) * math.tan(math.radians(25))]
    falling = [[0, 0, 1.0]]
    velocity = np.zeros((len(x) + 1, 3))
    velocity[-1] = [0, 0, -1]
    shape = pile_shape(
        Snapshot.build(Scene(materials=(GLASS,)), GrainRows(position=np.concatenate([x, falling]), radius=D / 2, velocity=velocity))
    )
    assert shape.angle == pytest.approx(25, abs=1.5)  # the steps of a lattice
    assert shape.height < 0.2


# Drums. --------------------------------------------------------------------------------------------------------------------

R, OMEGA, CENTRE = 0.2, 0.5, (1.0, 2.0, 3.0)


def drum_scene(spin=(0.0, OMEGA, 0.0), wall=None, parameters=None, start=0.0) -> Scene:
    wall = wall or Cylinder(material="glass", axis=(0, 1, 0), radius=R, length=0.08)
    body = Body(name="drum", kind="kinematic", position=CENTRE, motion=Motion(spin=spin, start=start), walls=(wall,))
    return Scene(materials=(GLASS,), bodies=(body,), parameters=parameters)


def drum_parameters(axis):
    """As the library has them, of a drum that may stand."""
    return make_scene("drum", count=5, width=8, length=3).parameters.model_copy(update={"drum_radius": R, "axis": axis})


def filled(angle: float, level: float = 0.0) -> np.ndarray:
    """(n, 3) random places, from the centre, in a drum about y, filled to ``level`` [R] above it, surface falling along +x by ``angle``.

    Each place has a mirror image, so that the centre of mass lies exactly on the normal of the surface.
    """
    rng = np.random.default_rng(2)
    x = (rng.random((30_000, 3)) - [0, 0.5, 0.5]) * [R, 0.08, 2 * R]
    x = x[(np.hypot(x[:, 0], x[:, 2]) < R) & (x[:, 2] < level * R)]
    x = np.concatenate([x, x * [-1, 1, 1]])
    c, s = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    return x @ np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]])


@pytest.mark.parametrize("angle", [0.0, 20.0, 35.0, 50.0])
@pytest.mark.parametrize("level", [-0.3, 0.0])
def test_both_angles_of_a_tilted_filling(angle, level):
    """The centre of mass of a segment lies on the normal of its chord. The surface as in a heap."""
    x = filled(angle, level)
    found = drum_angles(Snapshot.build(drum_scene(), GrainRows(position=x + CENTRE, radius=D / 2)))
    assert found.centre_of_mass == pytest.approx(angle, abs=1e-9)
    assert found.surface == pytest.approx(angle, abs=0.3)
    assert found.line.offset == pytest.approx(level * R + D / 2, abs=0.3 * D)


def test_a_drum_that_turns_the_other_way_is_a_mirror_image():
    x = filled(30.0)
    one = drum_angles(Snapshot.build(drum_scene(), GrainRows(position=x + CENTRE, radius=D / 2)))
    other = drum_angles(Snapshot.build(drum_scene(spin=(0, -OMEGA, 0)), GrainRows(position=x * [-1, 1, 1] + CENTRE, radius=D / 2)))
    assert other.surface == pytest.approx(one.surface, abs=1e-6)
    assert other.centre_of_mass == pytest.approx(one.centre_of_mass, abs=1e-9)


def test_rigid_rotation_is_all_plug_and_a_straight_profile():
    x = filled(30.0)
    rigid = np.cross([0, OMEGA, 0], x)
    shot = Snapshot.build(drum_scene(), GrainRows(position=x + CENTRE, radius=D / 2, velocity=rigid))
    assert_allclose(relative_speed(shot), 0, atol=1e-14)
    assert plug_fraction(shot) == 1
    profile = flow_profile([shot, shot])
    # a bin is one diameter high: its mean is within half of that of its middle
    assert_allclose(profile.scaled_velocity, profile.scaled_z, atol=D / 2 / R)
    assert profile.scaled_z[0] == pytest.approx(-1, abs=D / R)
    assert profile.plug_thickness == pytest.approx(1, abs=2 * D / R)
    assert profile.angle == pytest.approx(30, abs=1)


def test_frames_before_the_drum_turns_are_no_part_of_its_flow():
    """Level and at rest until t = 1 s, then tilted and turning: the profile is that of the turning frames alone."""
    scene = drum_scene(parameters=drum_parameters((0, 1, 0)), start=1.0)
    rest = [Snapshot.build(scene, GrainRows(position=filled(0.0) + CENTRE, radius=D / 2), time=t) for t in (0.0, 0.5)]
    x = filled(30.0)
    turning = [
        Snapshot.build(scene, GrainRows(position=x + CENTRE, radius=D / 2, velocity=np.cross([0, OMEGA, 0], x)), time=t) for t in (1.0, 1.5)
    ]
    found, alone = flow_profile(rest + turning), flow_profile(turning)
    assert_array_equal(found.time, [1.0, 1.5])
    assert found.angle == alone.angle
    assert_array_equal(found.scaled_velocity, alone.scaled_velocity)
    assert_array_equal(found.count, alone.count)
    assert_array_equal(flow_profile(rest).time, [0.0, 0.5])


def test_plug_zone_below_a_sliding_layer():
    """Above z' = -R/2 the grains also slide down with 0.4 R Omega: the plug zone is what lies below."""
    a = math.radians(30)
    x = filled(30.0)
    rigid, depth = np.cross([0, OMEGA, 0], x), x[:, 0] * math.sin(a) + x[:, 2] * math.cos(a)
    upper = depth > -R / 2
    velocity = rigid + np.where(upper, 0.4 * R * OMEGA, 0)[:, None] * [math.cos(a), 0, -math.sin(a)]
    shot = Snapshot.build(drum_scene(), GrainRows(position=x + CENTRE, radius=D / 2, velocity=velocity))
    assert_allclose(relative_speed(shot)[upper], 0.4)
    assert plug_fraction(shot) == pytest.approx(1 - upper.mean())
    profile = flow_profile([shot], angle=30.0)
    clear = np.abs(profile.scaled_z + 0.5) > D / R
    expected = profile.scaled_z + np.where(profile.scaled_z > -0.5, 0.4, 0)
    assert_allclose(profile.scaled_velocity[clear], expected[clear], atol=D / 2 / R)
    assert profile.plug_thickness == pytest.approx(0.5, abs=1.5 * D / R)


def test_the_results_of_a_run_tell_of_its_drum_or_silo():
    x = filled(30.0)
    turning = drum_scene().changed(results=["drum"])
    found, _ = scene_results(turning, x + CENTRE, np.full(len(x), D / 2), np.cross([0, OMEGA, 0], x), 1.0)
    assert found["surface_angle"] == pytest.approx(30, abs=0.3)
    assert found["centre_of_mass_angle"] == pytest.approx(30)
    assert found["plug_fraction"] == 1
    layer = lattice(4, 4, 3)
    unasked, _ = scene_results(drum_scene(), x + CENTRE, np.full(len(x), D / 2), np.cross([0, OMEGA, 0], x), 1.0)
    assert unasked == found  # by what is in the scene
    found, _ = scene_results(
        Scene(name="bin", materials=(GLASS,), results=["level"]), layer, np.full(len(layer), D / 2), np.zeros((len(layer), 3)), 1.0
    )
    assert found["height"] == pytest.approx(3 * D)


def test_a_drum_that_a_motor_turns_has_the_results_of_one_that_is_driven():
    """Its spin is not in the scene but in the state."""
    x = filled(30.0)
    state = (x + CENTRE, np.full(len(x), D / 2), np.cross([0, OMEGA, 0], x), 1.0)
    driven, _ = scene_results(drum_scene(), *state)
    shell = Body(name="drum", kind="dynamic", position=CENTRE, mass=1.0, inertia=(0.1, 0.1, 0.1), walls=drum_scene().bodies[0].walls)
    axle = {"name": "axle", "kind": "hinge", "bodies": ("ground", "drum"), "anchor": CENTRE, "axis": (0, 1, 0), "motor": {"speed": OMEGA}}
    walls = {"position": [np.zeros(3), CENTRE], "orientation": [(1, 0, 0, 0)] * 2, "velocity": np.zeros((2, 3))}
    turned, _ = scene_results(
        Scene(materials=(GLASS,), bodies=(shell,), joints=(axle,)), *state, walls={**walls, "spin": [np.zeros(3), (0, OMEGA, 0)]}
    )
    assert driven["plug_fraction"] == 1
    assert turned == driven


def test_a_drum_is_found_by_its_walls_and_says_what_is_missing():
    at_rest = drum_scene(spin=(0, 0, 0), parameters=drum_parameters((0, -1, 0)))
    shot = Snapshot.build(at_rest, GrainRows(position=filled(0.0) + CENTRE, radius=D / 2))
    drum = Drum.of(shot)
    assert (drum.speed, drum.radius) == (0, R)
    assert_allclose(drum.across, [-1, 0, 0])
    assert math.isnan(plug_fraction(shot))
    turned = np.linspace(0, 2 * np.pi, 9)[:-1]
    ring = np.stack([R * np.cos(turned), np.zeros(8), R * np.sin(turned)], axis=1)
    mesh = Mesh(material="glass", vertices=np.concatenate([ring, ring + np.array([0, 0.1, 0])]), triangles=[[0, 1, 8], [3, 2, 9]])
    assert Drum.of(Snapshot.build(drum_scene(wall=mesh), GrainRows(position=[CENTRE], radius=D))).radius == pytest.approx(R)
    for scene in (Scene(materials=(GLASS,)), drum_scene(spin=(0, 0, 1)), drum_scene(spin=(0, 0, 0))):
        with pytest.raises(InputError, match="has no drum: a body with a wall that is round about a level axis"):
            Drum.of(Snapshot.build(scene, GrainRows(position=[CENTRE], radius=D)))


def test_a_drum_is_round_about_the_axis_it_turns_about():
    """A cylinder away from the origin of its body that turns about its own axis is one; a bucket, or a cylinder that swings, is none."""

    def found(wall, **motion) -> Drum:
        body = Body(name="thing", kind="kinematic", motion=Motion(spin=(0, OMEGA, 0), **motion), walls=(wall,))
        return Drum.of(Snapshot.build(Scene(materials=(GLASS,), bodies=(body,)), GrainRows(position=[CENTRE], radius=D), time=1.0))

    wall = Cylinder(material="glass", centre=CENTRE, axis=(0, 1, 0), radius=R, length=0.08)
    drum = found(wall, about=CENTRE)
    assert_allclose(drum.centre, CENTRE, atol=1e-12)
    assert drum.radius == R
    bucket = Mesh(
        material="glass", vertices=[[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1.0]], triangles=[[0, 1, 2], [0, 2, 3], [0, 1, 4]]
    )
    across = Cylinder(material="glass", centre=CENTRE, axis=(1, 0, 0), radius=R, length=0.08)
    for other, about in ((wall, (0, 0, 0)), (bucket, (0, 0, 0)), (across, CENTRE)):
        with pytest.raises(InputError, match="has no drum"):
            found(other, about=about)


# Containers. ---------------------------------------------------------------------------------------------------------------


def ring_of_planes(faces: int, radius: float) -> tuple[Plane, ...]:
    angle = 2 * np.pi / faces * np.arange(faces)
    inward = np.stack([np.cos(angle), np.sin(angle), np.zeros(faces)], axis=1)
    return tuple(Plane(material="glass", point=tuple(-radius * n), normal=tuple(n)) for n in inward)


def prism(faces: int, radius: float, low: float, high: float) -> Mesh:
    """Upright sides around a circle of ``radius``."""
    angle = 2 * np.pi / faces * (np.arange(faces) + 0.5)
    ring = radius / math.cos(math.pi / faces) * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    i = np.arange(faces)
    j = (i + 1) % faces
    triangles = np.concatenate([np.stack([i, j, i + faces], axis=1), np.stack([j, j + faces, i + faces], axis=1)])
    corners = np.concatenate([np.column_stack([ring, np.full(faces, z)]) for z in (low, high)])
    return Mesh(material="glass", vertices=corners, triangles=triangles)


PERIMETER = 2 * 20 * 0.03 * math.tan(math.pi / 20)


@pytest.mark.parametrize(
    ("walls", "floor", "perimeter", "area"),
    [
        ((Plane(material="glass", point=(0, 0, -1)), *ring_of_planes(20, 0.03)), -1, PERIMETER, PERIMETER * 0.015),
        ((Plane(material="glass", point=(0, 0, -1)), prism(20, 0.03, 0.0, 0.5)), 0, PERIMETER, PERIMETER * 0.015),
        ((Cylinder(material="glass", radius=0.03, length=2),), -1, 2 * math.pi * 0.03, math.pi * 0.03**2),
        ((Box(material="glass", lower=(-0.03, -0.05, 0), upper=(0.03, 0.05, 1), open=("+z",)),), 0, 0.32, 0.06 * 0.1),
    ],
)
def test_the_container_follows_from_the_walls(walls, floor, perimeter, area):
    found = Container.of(Snapshot.build(Scene(materials=(GLASS,), walls=walls), GrainRows(position=[[0.01, 0, 0.3]], radius=D / 2)))
    assert (found.floor, found.perimeter, found.area) == (floor, pytest.approx(perimeter), pytest.approx(area))
    assert found.radius == pytest.approx(0.03)
    assert_allclose(found.centre, 0, atol=1e-15)


def test_walls_that_do_not_close_are_refused():
    block = Box(material="glass", lower=(-1, -1, 0), upper=(1, 1, 1), side="outside")
    trough = Box(material="glass", lower=(-1, -1, 0), upper=(1, 1, 1), open=("-x", "+x", "+z"))
    for walls in ((), (Plane(material="glass"),), ring_of_planes(20, 0.03)[:8], (block,), (trough,)):
        with pytest.raises(InputError, match="has no side walls that close around its grains"):
            Container.of(Snapshot.build(Scene(materials=(GLASS,), walls=walls), GrainRows(position=[[0, 0, 2.0]], radius=D / 2)))


def filled_tube(pressure, shear=0.0, d: float = D, around: int = 40) -> Snapshot:
    """Layers of grains along the wall of a smooth tube, 0.5 m high, pressed against it with ``pressure(z)`` [Pa]."""
    radius, perimeter = 0.03, 2 * math.pi * 0.03
    scene = Scene(materials=(GLASS,), walls=(Cylinder(material="glass", radius=radius, length=4),), gravity={"acceleration": (0, 0, -G)})
    z, angle = (a.ravel() for a in np.meshgrid(np.arange(d / 2, 0.5, d), 2 * np.pi / around * np.arange(around), indexing="ij"))
    out = np.stack([np.cos(angle), np.sin(angle), np.zeros_like(z)], axis=1)
    force = pressure(z) * perimeter * d / around
    n = len(z)
    return Snapshot.build(
        scene,
        GrainRows(position=(radius - d / 2) * out + np.outer(z, [0, 0, 1]) - [0, 0, 2], radius=d / 2),
        ContactRows(a=np.arange(n), b=np.full(n, -1), normal=out, normal_force=force, tangential_force=-np.outer(shear * force, [0, 0, 1])),
    )


@pytest.mark.parametrize(("lean", "upright"), [(3.0, True), (20.0, False), (45.0, False)])
def test_walls_that_are_not_upright_have_no_pressure_over_the_height(lean, upright):
    """A tube whose walls lean outwards by some degrees is a funnel."""
    shot, tilt = filled_tube(lambda z: 100 + 0 * z), math.radians(lean)
    funnel = replace(shot, normal=shot.normal * math.cos(tilt) - np.array([0, 0, math.sin(tilt)]))
    if upright:
        assert wall_pressure([funnel]).pressure.mean() == pytest.approx(100, rel=0.05)
        return
    for measure in (wall_pressure, vertical_pressure):
        with pytest.raises(InputError, match="are not upright: 100% of the push"):
            measure([funnel])


def test_hydrostatic_wall_pressure():
    """p = rho g (H - z): forces at the middle of each layer make the strip means exact."""
    height = 50 * D
    shot = filled_tube(lambda z: 1500 * G * (height - z), shear=0.2)
    found = wall_pressure([shot, shot])
    assert (found.strip, found.height) == (pytest.approx(5 * D), pytest.approx(height))
    assert_allclose(found.z, (np.arange(10) + 0.5) * 5 * D)
    assert_allclose(found.pressure, 1500 * G * (height - found.z), rtol=1e-12)
    assert_allclose(found.shear, 0.2 * found.pressure)
    assert_array_equal(found.contacts, 200)
    # what the walls do not carry: the weight of a layer is M g around, the friction grows with depth
    inside = vertical_pressure([shot])
    layers = np.arange(50, 0, -1)
    friction = 0.2 * 1500 * G * (layers * D) ** 2 / 2 * 2 * math.pi * 0.03  # [N] above
    assert_allclose(inside.pressure, (40 * M * G * layers - friction) / (math.pi * 0.03**2), rtol=1e-9)
    assert_allclose(inside.z, (50 - layers) * D, atol=1e-15)
    fit = janssen_fit(found.z, found.pressure, found.height, found.strip)
    assert fit.r_squared == pytest.approx(1)
    assert fit.gradient == pytest.approx(1500 * G, rel=1e-3)
    assert fit.length > 100 * height
    assert_allclose(fit.pressure(found.z), found.pressure, rtol=1e-3)


@pytest.mark.parametrize("length", [0.03, 0.1, 0.4])
def test_janssen_fit_finds_the_law_behind_strips(length):
    """The fit averages over strips as the pressures do; layers differ from an integral by (d / lambda)^2 / 24 < 5e-5 of the exponential."""
    law = lambda z: 800 * -np.expm1(-(0.5 - z) / length)  # noqa: E731
    found = wall_pressure([filled_tube(law, d=D / 10)], strip=5 * D)
    assert len(found.z) == 10
    fit = janssen_fit(found.z, found.pressure, found.height, found.strip)
    assert fit.saturation == pytest.approx(800, rel=3e-4)
    assert fit.length == pytest.approx(length, rel=3e-4)
    assert fit.r_squared > 0.9999
    assert_allclose(fit.pressure(np.array([0.1, 0.3])), law(np.array([0.1, 0.3])), rtol=1e-3)


def test_janssen_fit_of_points_with_noise_covers_the_truth():
    """Of 200 noisy profiles, each parameter lies within two standard errors of the truth in about 95 % (binomial: 0.87 to 1 is 5 sigma)."""
    rng, z = np.random.default_rng(4), (np.arange(20) + 0.5) / 20
    inside = []
    for _ in range(200):
        fit = janssen_fit(z, 100 * -np.expm1(-(1 - z) / 0.25) + rng.normal(0, 3, 20), 1.0)
        inside.append((abs(fit.saturation - 100) < 2 * fit.saturation_error, abs(fit.length - 0.25) < 2 * fit.length_error))
    assert (np.mean(inside, axis=0) > 0.87).all()


def test_janssen_fit_of_too_little_says_nothing():
    assert math.isnan(janssen_fit([0.1, 0.2], [1.0, 2.0], 1.0).length)
    assert math.isnan(janssen_fit([0.1, 0.2, 0.3], [0.0, 0.0, 0.0], 1.0).length)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("power", [1, 2, 4])
def test_a_pressure_that_does_not_saturate_gets_a_straight_line(power):
    """p = 100 y^power over the depth y: the least squares line through the surface has the slope 100 sum(y^(power + 1)) / sum(y^2)."""
    z = np.linspace(0.1, 0.9, 5)
    depth = 1 - z
    pressure = 100 * depth**power
    fit = janssen_fit(z, pressure, 1.0)
    slope = float(100 * (depth ** (power + 1)).sum() / (depth**2).sum())
    assert fit.gradient == pytest.approx(slope, rel=1e-5)
    assert_allclose(fit.pressure(z), slope * depth, rtol=1e-5)
    left = pressure - slope * depth
    assert fit.r_squared == pytest.approx(1 - left @ left / ((pressure - pressure.mean()) ** 2).sum(), abs=1e-9)
    if power > 1:
        assert not fit.saturates
        assert math.isinf(fit.length)
        assert math.isinf(fit.saturation)
        assert fit.r_squared < 0.97
    else:
        assert fit.length > 1e5


def test_pressure_along_the_axis_of_a_cubic_packing():
    """Each contact of a cubic lattice carries p d^2: the pressure is p and the mean normal force p d^2."""
    n, p = 9, 700.0
    x = lattice(n, n, 12) - [n * D / 2, n * D / 2, 0]
    index = np.arange(len(x)).reshape(n, n, 12)
    pairs = [(index[1:], index[:-1], 0), (index[:, 1:], index[:, :-1], 1), (index[:, :, 1:], index[:, :, :-1], 2)]
    b, a = (np.concatenate([pair[k].ravel() for pair in pairs]) for k in (0, 1))
    axis = np.concatenate([np.full(pair[0].size, pair[2]) for pair in pairs])
    box = Box(material="glass", lower=(-n * D / 2, -n * D / 2, 0), upper=(n * D / 2, n * D / 2, 1), open=("+z",))
    shot = Snapshot.build(
        Scene(materials=(GLASS,), walls=(box,)),
        GrainRows(position=x, radius=D / 2),
        ContactRows(a=a, b=b, normal=np.eye(3)[axis], normal_force=p * D**2),
    )
    found = axis_profile([shot])
    assert_allclose(found.normal_force, p * D**2)
    # contacts are counted whole: 21 and 12 of the columns of upright and level contacts lie in the core of 15.9 d^2
    area = math.pi * (0.25 * n) ** 2
    columns = lambda shift: sum(math.hypot(i + shift, j) < 0.25 * n for i in range(-4, 5) for j in range(-4, 5))  # noqa: E731
    expected = p * (columns(0.0) + 2 * columns(0.5)) / 3 / area
    inner = slice(1, -1)  # at the ends a slice has one layer of upright contacts less
    assert_allclose(found.pressure[inner], expected, rtol=1e-9)
    assert expected == pytest.approx(p, rel=0.2)


def test_loads_add_up_and_know_their_holders():
    """A grain on a held grain and against a side wall, under a lid."""
    scene = Scene(materials=(GLASS,), walls=(Box(material="glass", lower=(0, 0, 0), upper=(1, 1, 1)),))
    w = M * G
    shot = Snapshot.build(
        scene,
        GrainRows(position=[[D / 2, 0.5, 3 * D / 2], [D / 2, 0.5, D / 2]], radius=D / 2, static=[False, True]),
        ContactRows(
            a=[1, 0, 0, 1],
            b=[0, -1, -1, -1],
            normal=[[0, 0, 1.0], [-1.0, 0, 0], [0, 0, 1.0], [0, 0, -1.0]],
            normal_force=[1.2 * w, 5 * w, 0.5 * w, 7 * w],
            tangential_force=[[0, 0, 0], [0, 0, -0.3 * w], [0, 0, 0], [0, 0, 0]],
        ),
    )
    found = loads(shot)
    assert_allclose([found.weight, found.held, found.side, found.ceiling, found.floor], [w, 1.2 * w, 0.3 * w, -0.5 * w, 0])
    assert found.carried == pytest.approx(w)
