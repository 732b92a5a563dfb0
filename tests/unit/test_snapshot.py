"""A snapshot: the same arrays from a simulation and from its recording, and contact velocities that are known."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from granum.analysis import ContactRows, GrainRows, Snapshot, snapshots
from granum.contact import Material, MaterialPair
from granum.io import Recording
from granum.observe.recorder import Recorder
from granum.observe.trigger import steps
from granum.scene.bodies import Body, Motion
from granum.scene.grains import Grains, Lattice
from granum.scene.scene import Scene
from granum.scene.shapes import Box, Plane
from granum.scene.sizes import Uniform
from granum.simulation import Simulation

LOADS = ("wall_force", "wall_torque", "wall_power", "joints")  # means between frames, not of the last step: see test_recorded_loads
GLASS = Material(name="glass", density=2500, friction=0.5)


def two_grains(**changes) -> Snapshot:
    """Grain 0 below grain 1, which is twice as large; overlap 0.03."""
    scene = Scene(materials=(GLASS,))
    contact = {"a": [0], "b": [1], "normal": [[0, 0, 1.0]], "overlap": 0.03, "normal_force": 2.0}
    grains = {"position": [[0, 0, 0], [0, 0, 2.97]], "radius": [1.0, 2.0], "velocity": 0.0, "spin": 0.0}
    for name, value in changes.items():
        (grains if name in grains else contact)[name] = value
    return Snapshot.build(scene, GrainRows(**grains), ContactRows(**contact))


def test_slip_of_grains_is_the_motion_of_b_against_a():
    still = two_grains(velocity=[[0, 0, 1.0], [0, 0, -1.0]])
    assert_array_equal(still.slip, [[0, 0, 0]])
    moved = two_grains(velocity=[[1.0, 2.0, 3.0], [4.0, 4.0, 4.0]])
    assert_allclose(moved.slip, [[3, 2, 0]])


def test_slip_counts_spins_with_arms_that_meet_in_one_point():
    """Lever arms are 0.99 and 1.98, of radii 1 and 2: rolling with r_a w_a = -r_b w_b is no slip."""
    assert_allclose(two_grains(spin=[[0, 2.0, 0], [0, -1.0, 0]]).slip, 0, atol=1e-15)
    # w = e_y turns the top of a towards +x and the bottom of b towards -x
    assert_allclose(two_grains(spin=[[0, 1.0, 0], [0, 1.0, 0]]).slip, [[-0.99 - 1.98, 0, 0]])


def test_slip_at_walls_counts_their_motion_and_belts():
    walls = (Plane(material="glass", surface_velocity=(0.0, 0.5, 9.0)),)
    turn = (np.cos(np.pi / 4), 0.0, 0.0, np.sin(np.pi / 4))  # a quarter about z: the belt runs along -x
    scene = Scene(
        materials=(GLASS,),
        bodies=(
            Body(
                name="table",
                kind="kinematic",
                position=(1, 0, 0),
                orientation=turn,
                motion=Motion(velocity=(0, 0, 7), spin=(0, 0, 3)),
                walls=walls,
            ),
        ),
    )
    shot = Snapshot.build(
        scene, GrainRows(position=[[2, 0, 1.0]], radius=1.0, velocity=[[0.25, 0, 0]]), ContactRows(a=[0], b=[-1], normal=[[0, 0, -1.0]])
    )
    assert_array_equal(shot.wall_body, [1])
    assert_allclose(shot.slip, [[-0.5 - 0.25, 3.0, 0]], atol=1e-15)


def test_masses_friction_status_and_points_follow_from_the_scene():
    scene = Scene(
        materials=(GLASS, Material(name="lead", density=11000, friction=0.2)),
        pairs=(MaterialPair(materials=("glass", "lead"), friction=0.3),),
        walls=(Plane(material="lead"),),
    )
    shot = Snapshot.build(
        scene,
        GrainRows(position=[[0, 0, 1.0], [0, 0, 3.0]], radius=[1.0, 1.0], material=[0, 1]),
        ContactRows(
            a=[0, 0, 1],
            b=[1, -1, -1],
            normal=[[0, 0, 1.0], [0, 0, -1.0], [1.0, 0, 0]],
            overlap=[0.2, 0, 0],
            normal_force=1.0,
            tangential_force=[[0.3, 0, 0], [0.1, 0, 0], [0, 0.2, 0]],
            rebounding=[False, False, True],
        ),
    )
    assert_allclose(shot.mass, np.array([2500, 11000]) * 4 / 3 * np.pi)
    assert_allclose(shot.friction, [0.3, 0.3, 0.2])
    assert_array_equal(shot.status, [2, 0, 1])
    assert_allclose(shot.point, [[0, 0, 1.9], [0, 0, 0], [1, 0, 3]])
    assert_allclose(shot.force[0], [0.3, 0, 1])
    assert_array_equal(shot.smaller, [0, 0, 1])
    assert_array_equal(two_grains().smaller, [0])


def test_no_grains_and_no_contacts():
    shot = Snapshot.build(Scene(materials=(GLASS,)), GrainRows(position=np.zeros((0, 3)), radius=[]))
    assert (shot.grain_count, shot.contact_count) == (0, 0)
    assert shot.slip.shape == shot.force.shape == (0, 3)
    assert shot.smaller.shape == shot.friction.shape == (0,)


@pytest.fixture(scope="module")
def shaken(tmp_path_factory):
    """A few grains on a rough floor in a box that is shaken, and their recording."""
    path = tmp_path_factory.mktemp("shaken") / "run.h5"
    floor = np.stack(np.meshgrid(np.arange(5), np.arange(5), [0.0]), axis=-1).reshape(-1, 3) * 0.01
    scene = Scene(
        materials=(GLASS,),
        gravity={"ramp": 0.2},
        grains=(
            Grains(material="glass", position=floor, diameter=0.009, static=True),
            Lattice(material="glass", lower=(0, 0, 0.01), upper=(0.04, 0.04, 0.06), count=30, sizes=Uniform(lower=0.005, upper=0.008)),
        ),
        bodies=(
            Body(
                name="box",
                kind="kinematic",
                motion=Motion(amplitude=(0.002, 0, 0), frequency=5.0, spin=(0, 0, 0.3)),
                walls=(Box(material="glass", lower=(-0.01, -0.01, -0.01), upper=(0.05, 0.05, 0.1)),),
            ),
        ),
        run={"time_step": 0.002},
    )
    sim = Simulation(scene)
    sim.observers.append(Recorder(path, steps(50)))
    sim.run(0.3)
    return sim, path


def test_a_recording_tells_what_the_simulation_knew(shaken):
    sim, path = shaken
    live = Snapshot.of(sim)
    assert live.contact_count > 10
    assert (live.b < 0).any()
    assert (live.b >= 0).any()
    with Recording(path) as recording:
        read = Snapshot.read(recording)
        assert [s.time for s in snapshots(recording)] == pytest.approx([0, 0.1, 0.2, 0.3])
        assert [s.time for s in snapshots(recording, [2, -1])] == pytest.approx([0.2, 0.3])
    assert read.path == path
    for field in fields(Snapshot):
        if field.name not in ("scene", "path", "more", *LOADS):
            # forces are recorded whole and taken apart again; times are products
            assert_allclose(getattr(read, field.name), getattr(live, field.name), rtol=1e-12, atol=1e-13, err_msg=field.name)
    assert read.merged_into is live.merged_into is None  # see test_reduction_files
    assert read.static.sum() == 25
    assert np.isfinite(read.slip).all()


def test_gravity_is_that_of_the_step_that_led_here(shaken):
    with Recording(shaken[1]) as recording:
        assert_allclose(Snapshot.read(recording, 1).gravity, [0, 0, -9.81 * 0.098 / 0.2])
