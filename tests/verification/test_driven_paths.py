"""Driven bodies end every step where their path says, whatever the step, and go on from a checkpoint with the same bits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from granum import InputError, restart, run
from granum.arithmetic import cos, sin
from granum.scene import Body, Box, Motion
from granum.simulation.saved import load_run
from granum.state.rotation import matrix, quaternions
from tests.command_line import granum
from tests.reference.scenes import FREE, D, G, make

PLATE = Box(material="m", lower=(-0.1, -0.1, -0.01), upper=(0.1, 0.1, 0.0), side="outside")
QUIET = {"progress": False, "picture": False}


def rocking(t):
    """A plate that goes around and rocks."""
    turn = quaternions(np.array([0.1 * sin(2.0 * t), 0.2 * (1.0 - cos(t)), 0.0]))
    return (0.05 * sin(t), 0.02 * (1.0 - cos(3.0 * t)), 0.0), turn


ROWS = [[0.1 * k, *rocking(0.1 * k)[0], *rocking(0.1 * k)[1]] for k in range(31)]
MOTIONS = {
    "hinge": Motion(spin=(0.3, 2.0, -0.5), about=(-0.3, 0.1, 0.05)),
    "segments": [Motion(velocity=(0.1, 0, 0), spin=(0, 1, 0), stop=0.333), Motion(amplitude=(0, 0, 0.01), frequency=3.0, start=0.5)],
    "table": {"poses": ROWS},
    "function": rocking,
}


def driven(motion):
    return Body(name="plate", kind="kinematic", motion=motion, walls=(PLATE,))


@pytest.mark.parametrize("stepper, h", [("nonsmooth", 7e-3), ("smooth", 7e-5)])
@pytest.mark.parametrize("name", MOTIONS)
def test_a_driven_body_is_where_its_path_says(name, stepper, h):
    """After every step, to rounding: errors do not add up. One far grain."""
    sim = make([(9, 0, 0)], bodies=[driven(MOTIONS[name])], h=h, guards=FREE, settings={"stepper": {"name": stepper}})
    path = sim.scene.bodies[0].path
    for _ in range(300):
        sim.step()
        position, orientation = path.pose(sim.time)
        assert_allclose(sim.bodies.position[1], position, atol=4e-16)
        assert_allclose(matrix(sim.bodies.orientation[1]), matrix(orientation), atol=1e-14)


def test_a_hinge_keeps_its_distance():
    """A door about its hinge: 10 turns in big steps, the body's position stays on its circle to rounding."""
    sim = make([(9, 0, 0)], bodies=[driven(Motion(spin=(0, 0, 2 * math.pi), about=(0.3, 0, 0)))], h=5e-3, guards=FREE)
    sim.run(10.0)
    assert_allclose(sim.bodies.position[1], (0, 0, 0), atol=1e-13)


@pytest.mark.parametrize("stepper, h", [("nonsmooth", 1e-3), ("smooth", 5e-5)])
def test_a_grain_rides_on_a_plate_that_follows_a_table(stepper, h):
    """Lifted by 2 cm, from and to rest, a grain on the plate goes along."""
    sim = make(
        [(0, 0, D / 2)],
        bodies=[driven({"poses": [[0, 0, 0, 0], [0.05, 0, 0, 0], [0.3, 0, 0, 0.02], [0.35, 0, 0, 0.02]]})],
        gravity=(0, 0, -G),
        h=h,
        guards=FREE,
        settings={"stepper": {"name": stepper}},
    )
    sim.run(0.4)
    assert_allclose(sim.bodies.position[1], (0, 0, 0.02), atol=1e-15)
    assert_allclose(sim.position[0], (0, 0, 0.02 + D / 2), atol=1e-2 * D)


@pytest.mark.parametrize("name", MOTIONS)
def test_a_restart_gives_the_same_bits(name, tmp_path):
    """0.05 s at once, and in two parts; a function is given again with the scene."""

    def fresh():
        return make([(0, 0, D / 2 + 0.001)], bodies=[driven(MOTIONS[name])], gravity=(0, 0, -G), h=1e-3).scene

    whole = run(fresh(), duration=0.05, time_step=1e-3, output=tmp_path / "whole.h5", **QUIET)
    run(fresh(), duration=0.03, time_step=1e-3, output=tmp_path / "part.h5", **QUIET)
    given = {"scene": fresh()} if name == "function" else {}
    part = restart(tmp_path / "part.h5", duration=0.02, progress=False, **given)
    for field in ("position", "velocity", "spin"):
        last = [found.recording.frame(-1) for found in (whole, part)]
        assert_array_equal(getattr(last[0], field), getattr(last[1], field))
    if name == "function":
        with pytest.raises(InputError, match=r"driven by the Python function 'rocking'.*--scene"):
            load_run(tmp_path / "part.checkpoint.h5")
        other = make([(0, 0, 1)], bodies=[driven(lambda t: (0.1 * t, 0, 0))]).scene
        with pytest.raises(InputError, match="is another one than before"):
            load_run(tmp_path / "part.checkpoint.h5", scene=other)


def test_info_tells_what_drives(tmp_path):
    scene = make([(0, 0, 1)], bodies=[driven(rocking)]).scene
    run(scene, duration=0.01, time_step=1e-3, output=tmp_path / "x.h5", **QUIET)
    result = granum("info", tmp_path / "x.h5")
    assert result.exit_code == 0
    assert "plate by the Python function rocking" in result.stdout


def test_a_python_scene_goes_on_from_the_command_line(tmp_path):
    """A function is in no file: without the scene the restart is refused with the way out, with it it goes on."""
    (tmp_path / "lift.py").write_text(
        "from granum import Body, Box, Grains, Material, Scene\n"
        "from granum.arithmetic import sin\n"
        "plate = Box(material='m', lower=(-0.1, -0.1, -0.01), upper=(0.1, 0.1, 0), side='outside')\n"
        "lift = lambda t: (0, 0, 0.01 * sin(5.0 * t))\n"
        "scene = Scene(materials=[Material(name='m', density=2500)], grains=[Grains(material='m', position=[[0, 0, 1]], diameter=0.01)],\n"
        "    bodies=[Body(name='plate', kind='kinematic', motion=lift, walls=[plate])])\n"
    )
    record = tmp_path / "lift.h5"
    assert granum("run", tmp_path / "lift.py", "--duration", 0.01, "--time-step", 1e-3, "--no-picture", "-o", record).exit_code == 0
    refused = granum("restart", record, "--duration", 0.01)
    assert refused.exit_code == 2
    assert "--scene scene.py" in refused.stderr
    assert granum("restart", record, "--duration", 0.01, "--scene", tmp_path / "lift.py").exit_code == 0
