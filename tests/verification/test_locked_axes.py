"""Dynamic bodies with locked axes: platens that do not tilt, pistons that keep their way, wheels on an axle."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from granum import restart, run
from granum.checks import InputError
from granum.scene import Body, Box, Plane
from granum.state.mobility import mobilities
from granum.state.motion import turn_held
from granum.state.rotation import matrix
from tests.reference.scenes import FREE, D, G, hertz_stiffness, make, mass

SMOOTH = {"stepper": {"name": "smooth"}}
PLATE = Box(material="m", lower=(-0.05, -0.05, -0.005), upper=(0.05, 0.05, 0.005), side="outside")
TURNED = (0.8, 0.2, -0.4, 0.4)


def platen(locked=(), position=(0, 0, 0), **fields):
    fields = {"mass": 0.2, "inertia": (2e-4, 3e-4, 5e-4), **fields}
    return Body(name="platen", kind="dynamic", position=position, locked=locked, walls=(PLATE,), **fields)


LOCKS = {
    "nothing": ((), (False,) * 6),
    "platen": (("x", "y", "rotation"), (True, True, False, True, True, True)),
    "one rotation": (("rotation y",), (False,) * 4 + (True, False)),
    "axle": (("translation", "rotation x", "rotation z"), (True, True, True, True, False, True)),
}


@pytest.mark.parametrize("name", LOCKS)
def test_mobility_is_the_inverse_on_the_free_axes(name):
    """K M = 1 on the free axes, K = 0 on the locked ones, K symmetric; K f is what Lagrange's multipliers give."""
    locked, flags = LOCKS[name]
    sim = make([(9, 0, 0)], bodies=[platen(locked, orientation=TURNED)], guards=FREE, h=1e-5, settings=SMOOTH)
    (k,) = mobilities(sim.bodies, np.array([1], np.int32))
    axes = matrix(sim.bodies.orientation[1])
    whole = np.zeros((6, 6))
    whole[:3, :3], whole[3:, 3:] = 0.2 * np.eye(3), axes @ np.diag((2e-4, 3e-4, 5e-4)) @ axes.T
    flags = np.array(flags)
    p = np.eye(6)[:, ~flags]
    assert_allclose(k, p @ np.linalg.inv(p.T @ whole @ p) @ p.T, rtol=1e-12, atol=1e-9)
    assert_array_equal(k[flags], 0.0)
    assert_array_equal(k[:, flags], 0.0)
    force = np.array([1.0, -2.0, 3.0, 0.01, 0.02, -0.03])
    g = np.eye(6)[flags]  # rows of the locks: M a = f + g^T lambda, g a = 0
    saddle = np.block([[whole, -g.T], [g, np.zeros((len(g), len(g)))]])
    assert_allclose(k @ force, np.linalg.solve(saddle, np.concatenate([force, np.zeros(len(g))]))[:6], rtol=1e-9, atol=1e-12)


def test_bad_locks_are_refused_in_words():
    for fields, words in (
        ({"locked": ("rotation w",)}, "locked.0: must be 'x', 'y', 'z', 'translation'"),
        ({"locked": ("translation", "rotation")}, "all axes locked: make it static"),
        ({"locked": ("x",), "velocity": (1, 0, 0)}, "velocity of body 'platen' must be 0 along locked axes"),
        ({"locked": ("rotation",), "spin": (0, 0, 1)}, "spin of body 'platen' must be 0"),
    ):
        with pytest.raises(InputError, match=words):
            platen(**fields)
    with pytest.raises(InputError, match="only a dynamic body has locked axes"):
        Body(name="b", locked=("x",))
    with pytest.raises(InputError, match="does not know of locked axes"):
        make([(9, 0, 0)], bodies=[platen(("rotation",))], stepper={"reduction": {}})


@pytest.mark.parametrize(
    "stepper, h, locked",
    [
        ("nonsmooth", 1e-3, ("rotation",)),
        ("nonsmooth", 1e-3, ("x", "y", "rotation")),
        ("smooth", 5e-5, ("rotation",)),
        ("smooth", 5e-5, ("x", "y", "rotation")),
    ],
)
def test_a_platen_rests_on_one_side_without_tilting(stepper, h, locked):
    """On one grain under its corner: free to turn it would tip over; locked, that grain carries all of it. It is laid down in balance."""
    k = hertz_stiffness(D / 2)
    lower, upper = ((0.2 + mass()) * G / k) ** (2 / 3), (0.2 * G / k) ** (2 / 3)
    sim = make(
        [(0.03, 0.02, D / 2 - lower)],
        walls=True,
        gravity=(0, 0, -G),
        bodies=[platen(locked, position=(0, 0, D - lower - upper + 0.005))],
        friction=0.0,
        h=h,
        guards=FREE,
        settings={} if stepper == "nonsmooth" else SMOOTH,
    )
    sim.run(0.1)
    assert_array_equal(sim.bodies.orientation[1], (1, 0, 0, 0))
    assert_array_equal(sim.bodies.spin[1], 0.0)
    above = sim.contacts.b == -2
    assert_allclose(sim.contacts.normal_force[above], 0.2 * G, rtol=1e-6)  # solves of the nonsmooth step go to an accuracy
    assert_allclose(sim.contacts.normal_force[~above], (0.2 + mass()) * G, rtol=1e-6)


@pytest.mark.parametrize("stepper, h", [("nonsmooth", 1e-3), ("smooth", 2e-5)])
def test_a_piston_slides_along_its_axis_only(stepper, h):
    """Pushed by a grain from the side, below a slanted roof: it gives way along x alone, by momentum m u of the grain."""
    piston = platen(("y", "z", "rotation"))
    sim = make(
        [(-0.05 - D / 2 - 1e-3, 0.01, 0.002)],
        velocity=[(1.0, 0.3, 0)],
        bodies=[piston],
        gravity=(0, 0, -G),
        h=h,
        guards=FREE,
        settings={} if stepper == "nonsmooth" else SMOOTH,
    )
    sim.run(0.02)
    assert_array_equal(sim.bodies.position[1, 1:], 0.0)
    assert_array_equal(sim.bodies.velocity[1, 1:], 0.0)
    assert_allclose(0.2 * sim.bodies.velocity[1, 0] + mass() * sim.velocity[0, 0], mass() * 1.0, rtol=1e-9)
    assert sim.bodies.velocity[1, 0] > 0


@pytest.mark.parametrize("stepper, h", [("nonsmooth", 1e-3), ("smooth", 2e-5)])
def test_a_wheel_turns_about_its_axle(stepper, h):
    """Hit at its rim, it turns about y alone; the angular momentum about that axis is the grain's loss. It moves on freely in space."""
    wheel = platen(("rotation x", "rotation z"), orientation=TURNED)
    arm = matrix(np.array(TURNED) / np.linalg.norm(TURNED)) @ np.array([0.045, 0.02, 0.005 + D / 2 + 2e-3])
    normal = matrix(np.array(TURNED) / np.linalg.norm(TURNED)) @ np.array([0, 0, 1.0])
    settings = {} if stepper == "nonsmooth" else SMOOTH
    sim = make([tuple(arm)], velocity=[tuple(-normal)], bodies=[wheel], friction=0.0, h=h, guards=FREE, settings=settings)

    def about_y():
        turned = matrix(sim.bodies.orientation[1])
        own = turned @ (np.array([2e-4, 3e-4, 5e-4]) * (turned.T @ sim.bodies.spin[1]))
        grains = mass() * np.cross(sim.position[0], sim.velocity[0])
        return (own + grains + 0.2 * np.cross(sim.bodies.position[1], sim.bodies.velocity[1]))[1]

    before = about_y()
    sim.run(0.02)
    assert_array_equal(sim.bodies.spin[1, [0, 2]], 0.0)
    assert abs(sim.bodies.spin[1, 1]) > 0.1
    assert_allclose(about_y(), before, rtol=1e-9)


def test_turning_with_one_lock_keeps_energy_and_what_is_free():
    """Rotation about z locked, 10 rad/s and moments (1, 2, 3): the angular momentum about x and y stays to rounding. The midpoint rule is
    of second order: at half the step a quarter of the error of the energy, or less."""
    drift = []
    for h in (5e-3, 2.5e-3):
        body = Body(name="b", kind="dynamic", mass=1.0, inertia=(1, 2, 3), orientation=TURNED, spin=(6, 8, 0), locked=("rotation z",))
        sim = make([(9, 0, 0)], bodies=[body], h=h, guards=FREE)
        momentum, energy = [], []
        for _ in range(round(2 / h)):
            axes = matrix(sim.bodies.orientation[1])
            own = axes.T @ sim.bodies.spin[1]
            momentum.append(axes @ (np.array([1, 2, 3]) * own))
            energy.append(0.5 * (np.array([1, 2, 3]) * own * own).sum())
            turn_held(sim.bodies, np.array([1], np.int32), h)
        momentum = np.array(momentum)
        assert_allclose(momentum[:, :2], np.broadcast_to(momentum[0, :2], (len(momentum), 2)), rtol=1e-10)
        assert np.ptp(momentum[:, 2]) > 1  # the lock does push
        drift.append(np.abs(np.array(energy) / energy[0] - 1).max())
    assert drift[0] < 2e-4
    assert drift[1] < 0.3 * drift[0]


def test_a_restart_keeps_locks(tmp_path):
    """Locks are the scene's: nothing of them is in a checkpoint."""
    bodies = [platen(("rotation",), position=(0, 0, D + 0.006))]
    scene = make([(0.03, 0.02, D / 2)], walls=True, gravity=(0, 0, -G), bodies=bodies).scene
    whole = run(scene, duration=0.04, time_step=1e-3, output=tmp_path / "whole.h5", progress=False, picture=False)
    run(scene, duration=0.02, time_step=1e-3, output=tmp_path / "part.h5", progress=False, picture=False)
    part = restart(tmp_path / "part.h5", duration=0.02, progress=False)
    frames = [found.recording.frame(-1) for found in (whole, part)]
    assert_array_equal(frames[0].position, frames[1].position)
    assert_array_equal(frames[0].walls.position, frames[1].walls.position)


@pytest.mark.parametrize("solver", ["pgs", "direct"])
def test_solvers_agree_on_a_locked_platen(solver):
    """Four unequal heights under a plate that cannot tilt: the highest grain carries it alone, whatever solves it."""
    walls = (Plane(material="m"),)
    sim = make(
        [(0.03, 0.02, D / 2), (-0.03, 0.02, D / 2 - 2e-4)],
        walls=walls,
        gravity=(0, 0, -G),
        bodies=[platen(("rotation",), position=(0, 0, D + 0.005))],
        friction=0.0,
        h=1e-3,
        guards=FREE,
        solver={"name": solver},
        settings=None,
    )
    sim.run(0.3)
    force = sim.contacts.normal_force[sim.contacts.b == -2]
    assert_allclose(force.sum(), 0.2 * G, rtol=1e-3)
