"""Recordings of what bodies and joints carry: means against sums of every step, restarts, older files, commands and figures."""

from __future__ import annotations

import csv
import io
import json

import h5py
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from granum import Body, Box, Grains, Hinge, Limits, Material, Motion, Motor, Plane, Scene, Simulation, restart, run
from granum.analysis import Snapshot
from granum.checks import InputError
from granum.io import Recording
from granum.observe import Checkpointer, Recorder, steps
from granum.simulation.saved import load_run
from tests.command_line import granum
from tests.figures import curve, is_sound, legend, panels

D, EVERY, LAST = 0.02, 10, 64


def machine() -> Scene:
    """A lid on a hinge that a motor presses onto grains on a driven plate; the last frame of ``LAST`` steps is not due."""
    stone = Material(name="stone", density=2500, youngs_modulus=1e7, friction=0.5)
    box = Box(material="stone", lower=(-0.1, -0.1, -0.01), upper=(0.1, 0.1, 0.01), side="outside")
    lid = Body(name="lid", kind="dynamic", mass=0.5, inertia=(2e-3, 2e-3, 3e-3), position=(0.1, 0, D + 0.012), walls=[box])
    plate = Body(name="plate", kind="kinematic", motion=Motion(velocity=(0, 0, 0.05)), walls=[Plane(material="stone")])
    pin = Hinge(
        name="pin",
        bodies=("ground", "lid"),
        anchor=(0, 0, D + 0.012),
        axis=(0, 1, 0),
        motor=Motor(force=0.3),
        limits=Limits(lower=-0.2, upper=0.5),
    )
    free = Hinge(name="free", bodies=("lid", "flap"), anchor=(0.2, 0, D + 0.012), axis=(0, 1, 0))
    flap = Body(name="flap", kind="dynamic", mass=0.1, inertia=(1e-4,) * 3, position=(0.25, 0, D + 0.012))
    beds = Grains(material="stone", position=[(0.15, -0.03, D / 2), (0.15, 0.03, D / 2)], diameter=D)
    return Scene(name="lid", materials=[stone], bodies=[lid, plate, flap], joints=[free, pin], grains=[beds])


def recorded(path, **settings) -> Simulation:
    sim = Simulation(machine(), time_step=1e-3, guards={"on_coarse": "off"}, **settings)
    sim.observers += [Recorder(path, steps(EVERY)), Checkpointer(path.with_suffix(".checkpoint"))]
    return sim


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("loads") / "lid.h5"
    recorded(path).run_until(LAST)
    return path


def test_frames_have_the_means_of_all_steps_since_the_last_one(file):
    sim = Simulation(machine(), time_step=1e-3, guards={"on_coarse": "off"})
    body: list[list[np.ndarray]] = []
    joint: list[list[np.ndarray]] = []
    for _ in range(LAST):
        sim.step()
        lid, pin = sim.body("lid"), sim.joint("pin")
        body.append([*lid.force, *lid.torque, lid.power])
        joint.append([*pin.force, *pin.torque, pin.motor_force, pin.limit_force])
    spans = [slice(k, min(k + EVERY, LAST)) for k in range(0, LAST, EVERY)]
    with Recording(file) as recording:
        lid, pin = recording.body("lid"), recording.joint("pin")
        assert_array_equal(recording.steps, [0, 10, 20, 30, 40, 50, 60, 64])
        last = Snapshot.read(recording, -1)
    expected = np.array([np.mean(body[span], axis=0) for span in spans])
    assert np.abs(expected).max() > 1
    assert np.isnan(lid.force[0]).all()  # no step led to it
    assert_allclose(np.column_stack([lid.force, lid.torque, lid.power])[1:], expected, rtol=1e-12, atol=1e-12)
    expected = np.array([np.mean(joint[span], axis=0) for span in spans])
    found = np.column_stack([pin.force, pin.torque, pin.motor_force, pin.limit_force])[1:]
    assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    assert pin.coordinate[-1] == sim.joint("pin").coordinate
    assert pin.speed[-1] == sim.joint("pin").speed
    assert_array_equal(lid.position[-1], sim.body("lid").position)
    assert_array_equal(last.body("lid").force, lid.force[-1])
    assert last.joint("pin").motor_force == pin.motor_force[-1]
    assert_array_equal(Snapshot.of(sim).body("lid").torque, sim.body("lid").torque)
    assert_array_equal(Snapshot.of(sim).joint("pin").force, sim.joint("pin").force)


@pytest.mark.parametrize("stepper", ["nonsmooth", "smooth"])
def test_means_go_on_over_a_restart_with_the_same_bits(stepper, tmp_path):
    """Stopped between two frames, once on its own and once at its end, whose frame is dropped when the run goes on."""
    settings = {"stepper": stepper} | ({"time_step": 5e-5} if stepper == "smooth" else {})
    files = [tmp_path / "whole.h5", tmp_path / "parts.h5"]
    for path, ends in zip(files, ([47], [13, 24, 47]), strict=True):
        sim = Simulation(machine(), **({"time_step": 1e-3} | settings), guards={"on_coarse": "off"})
        for k, end in enumerate(ends):
            saved = path.with_suffix(".checkpoint")
            sim = load_run(saved).simulation if k else sim
            sim.observers += [Recorder(path, steps(EVERY), resume=k > 0), Checkpointer(saved)]
            sim.run_until(end)
    with Recording(files[0]) as whole, Recording(files[1]) as parts:
        assert_array_equal(whole.steps, parts.steps)
        for name in ("ground", "plate", "lid"):
            for of in ("force", "torque", "power"):
                assert_array_equal(getattr(whole.body(name), of), getattr(parts.body(name), of))
        for of in ("coordinate", "force", "torque", "motor_force", "limit_force"):
            assert_array_equal(getattr(whole.joint("pin"), of), getattr(parts.joint("pin"), of))


def test_runs_and_restarts_record_forces(tmp_path):
    path = tmp_path / "a.h5"
    run(machine(), output=path, time_step=1e-3, duration=0.03, every=0.01, progress=False, picture=False)
    restart(path, duration=0.01, progress=False)
    with Recording(path) as recording:
        assert np.isfinite(recording.body("plate").force[1:]).all()
        assert len(recording.joint("free").force) == 5


def test_a_file_without_forces_still_reads_and_goes_on(file, tmp_path):
    """As older versions wrote them."""
    path = tmp_path / "old.h5"
    recorded(path).run_until(15)
    with h5py.File(path, "r+") as old:
        for name in ("walls/force", "walls/torque", "walls/power", "joints"):
            del old["granum"][name]
    sim = load_run(path.with_suffix(".checkpoint")).simulation
    sim.observers.append(Recorder(path, steps(EVERY), resume=True))
    sim.run_until(20)
    with Recording(path) as recording:
        assert len(recording) == 3
        assert recording.frame(-1).joints is None
        assert Snapshot.read(recording, -1).body("lid").force is None
        assert recording.body("lid").position.shape == (3, 3)
        with pytest.raises(InputError, match="holds no forces on bodies: an older version wrote it"):
            recording.body("lid").force  # noqa: B018
        with pytest.raises(InputError, match="holds no joint 'pin': an older version wrote it"):
            recording.joint("pin")
    with Recording(file) as recording, pytest.raises(InputError, match=r"unknown joint 'pen'.*Did you mean 'pin'"):
        recording.joint("pen")


def test_a_scene_of_the_ground_alone_records_no_forces(tmp_path):
    stone = Material(name="stone", density=2500)
    scene = Scene(
        materials=[stone], walls=[Plane(material="stone")], grains=[Grains(material="stone", position=[(0, 0, 0.02)], diameter=D)]
    )
    sim = Simulation(scene, time_step=1e-3)
    sim.observers.append(Recorder(tmp_path / "a.h5", steps(5)))
    sim.run_until(5)
    with h5py.File(tmp_path / "a.h5") as file:
        assert "force" not in file["granum/walls"]
        assert "joints" not in file["granum"]
    assert not sim.sums
    result = granum("analyse", tmp_path / "a.h5", "body-force")
    assert result.exit_code == 2
    assert "without bodies besides the ground" in result.stderr


def test_means_weigh_frames_by_their_steps(file):
    """The whole mean is that of all steps, though the last frame has fewer of them."""
    found = json.loads(granum("analyse", file, "body-force", "joint-force", "--json").stdout)["metrics"]
    with Recording(file) as recording:
        force, motor = recording.body("lid").force[1:], recording.joint("pin").motor_force
    mean = (EVERY * force[:6].sum(axis=0) + 4 * force[6]) / LAST
    bodies, joints = found["body-force"], found["joint-force"]
    assert bodies["lid.force_z"] == pytest.approx(mean[2], rel=1e-12)
    assert bodies["lid.largest_force"] == pytest.approx(np.linalg.norm(force, axis=1).max(), rel=1e-12)
    assert bodies["units"]["lid.torque_y"] == "N m"
    assert "flap.force_z" not in bodies  # nothing can touch it
    assert bodies["series"]["body"] == ["lid"] * 8 + ["plate"] * 8
    assert bodies["series"]["force_z"][0] is None
    assert_allclose(bodies["series"]["force_z"][1:8], force[:, 2])
    assert set(joints["series"]["joint"]) == {"pin"}  # the one with a motor
    assert_allclose(joints["series"]["motor_force"][1:], motor[1:])
    assert joints["pin.motor_force"] == pytest.approx(0.3)


def test_tables_and_csv_of_chosen_names(file):
    shown = granum("analyse", file, "body-force", "--body", "ground", "--last", 3)
    assert shown.exit_code == 0, shown.stderr
    assert "ground.force_z" in shown.stdout
    assert "torque_x [N m]" in shown.stdout
    lines = list(csv.DictReader(io.StringIO(granum("analyse", file, "joint-force", "--joint", "free", "--joint", "pin", "--csv").stdout)))
    assert [line["joint"] for line in lines] == ["free"] * 8 + ["pin"] * 8
    with Recording(file) as recording:
        assert float(lines[5]["force_z [N]"]) == recording.joint("free").force[5, 2]
    assert float(lines[-1]["time [s]"]) == pytest.approx(LAST * 1e-3)
    assert granum("analyse", file, "overlap", "--csv").stdout.count("\n") >= 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("body-force", "--body", "led"), "unknown body 'led'; choose one of: 'flap', 'ground', 'lid', 'plate'. Did you mean 'lid'?"),
        (("joint-force", "--joint", "x"), "unknown joint 'x'"),
        (("overlap", "--body", "lid"), "--body chooses what body-force looks at"),
        (("overlap", "body-force", "--csv"), "--csv gives the table of one metric"),
    ],
)
def test_what_cannot_be_measured_is_refused_in_words(file, options, words):
    result = granum("analyse", file, *options)
    assert result.exit_code == 2
    assert words in result.stderr


def test_figures_show_forces_in_time(file, tmp_path, drawn):
    for name, options in (("bodies", ()), ("lid", ("--body", "lid"))):
        assert granum("plot", file, "body-force", *options, "-o", tmp_path / f"{name}.png").exit_code == 0
    for name, options in (("motor", ()), ("free", ("--joint", "free"))):
        assert granum("plot", file, "joint-force", *options, "-o", tmp_path / f"{name}.png").exit_code == 0
    with Recording(file) as recording:
        lid, pin, times = recording.body("lid"), recording.joint("pin"), recording.times
    force, torque = panels(drawn["bodies.png"])
    assert legend(force) == legend(torque) == ["lid", "plate"]
    assert (force.get_ylabel(), torque.get_ylabel(), torque.get_xlabel()) == ("force [N]", "torque [N m]", "time [s]")
    assert_allclose(curve(force, "lid")[1], np.linalg.norm(lid.force, axis=1))
    force, torque = panels(drawn["lid.png"])
    assert legend(force) == ["x", "y", "z"]
    assert_allclose(curve(force, "z")[0], times)
    assert_allclose(curve(force, "z")[1], lid.force[:, 2])
    drives, angle = panels(drawn["motor.png"])[2:]
    assert legend(drives) == ["motor", "limits"]
    assert drives.get_ylabel() == "motor and limits [mN m]"
    assert angle.get_ylabel() in ("angle [rad]", "angle [mrad]")
    assert_allclose(curve(drives, "motor")[1][1:], 1e3 * pin.motor_force[1:])
    assert drawn["free.png"].texts[0].get_text() == "Forces of joint free"
    assert all(is_sound(figure) for figure in drawn.values())
    result = granum("plot", file, "energy", "--body", "lid")
    assert result.exit_code == 2
    assert "does not take body" in result.stderr


def test_info_lists_bodies_and_joints(file, tmp_path):
    shown = granum("info", file).stdout
    for words in ("lid", "dynamic", "0.5", "box", "pin", "hinge", "ground - lid", "force 0.3 N m", "-0.2 to 0.5 rad"):
        assert words in shown
    scene = tmp_path / "lid.toml"
    scene.write_text(
        """
        materials = [{name = "stone", density = 2500}]
        [[bodies]]
        name = "arm"
        kind = "dynamic"
        mass = 3.0
        inertia = [1, 1, 1]
        [[joints]]
        kind = "distance"
        name = "ram"
        bodies = ["ground", "arm"]
        anchors = [[0, 0, 1], [0, 0, 0]]
        motor = {speed = 0.1, force_limit = 500}
        """
    )
    assert "speed 0.1 m/s, at most 500 N" in granum("info", scene).stdout
    found = json.loads(granum("info", scene, "--json").stdout)
    assert found["bodies"][1] == {"name": "arm", "kind": "dynamic", "mass": 3.0, "walls": [], "fixed_grains": 0}
    assert found["joints"][0]["bodies"] == ["ground", "arm"]
    assert "ground" in granum("info", "pile").stdout
    assert json.loads(granum("info", file, "--json").stdout)["origin"]["joints"][1]["limits"] == "-0.2 to 0.5 rad"
