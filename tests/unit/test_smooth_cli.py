"""Smooth runs from the command line and from Python: settings, refusals, and a time step that fits the stepper."""

from __future__ import annotations

import json
import warnings

import pytest

from granum import InputError, Smooth, simulate
from granum.contact import Material
from granum.scene import Grains, Plane, Scene
from granum.scene.library import make_scene
from granum.simulation import Simulation, make_settings
from tests.command_line import granum


def test_run_and_restart_are_one_run(tmp_path):
    path = str(tmp_path / "box.h5")
    words = ("run", "box", "--stepper", "smooth", "--set", "count=20", "--no-picture", "--json", "-o")
    first = granum(*words, path, "--duration", "0.01")
    assert first.exit_code == 0, first.stderr
    summary = json.loads(first.stdout)
    assert (summary["stepper"], summary["integrator"], summary["damping"]) == ("smooth", "verlet", "restitution")
    assert summary["time_step"] < 1e-4  # the scene's own step is meant for the nonsmooth stepper
    on = granum("restart", path, "--duration", "0.01", "--json")
    assert on.exit_code == 0, on.stderr
    whole = granum(*words, str(tmp_path / "whole.h5"), "--duration", "0.02")
    assert json.loads(on.stdout)["state_hash"] == json.loads(whole.stdout)["state_hash"]


@pytest.mark.parametrize(
    "words, message",
    [
        (("--stepper", "smoth"), "Did you mean 'smooth'"),
        (("--stepper", "smooth", "--iterations", "20"), "belong to the nonsmooth stepper"),
        (("--integrator", "euler"), "belong to the smooth stepper"),
        (("--stepper", "smooth", "--integrator", "leapfrog"), "stepper.integrator"),
        (("--stepper", "smooth", "--time-step", "0.01"), "unstable"),
    ],
)
def test_bad_settings_are_refused(words, message, tmp_path):
    done = granum("run", "box", "--set", "count=20", "-o", str(tmp_path / "x.h5"), *words)
    assert done.exit_code == 2
    assert message in done.stderr


def test_settings_of_one_stepper_are_not_taken_for_the_other():
    scene = make_scene("column")
    assert scene.run.time_step is not None
    assert make_settings(scene.run, {"stepper": {"name": "smooth"}}).time_step is None
    assert make_settings(scene.run, {"stepper": {"name": "nonsmooth"}}).time_step == scene.run.time_step


def test_simulate_takes_a_stepper():
    run = simulate("column", duration=1e-3, stepper=Smooth(integrator="euler"))
    assert run.settings.stepper == Smooth(integrator="euler")
    with pytest.raises(InputError, match="smoth"):
        simulate("column", stepper="smoth")
    with pytest.raises(InputError, match="not both"):
        simulate("column", stepper="nonsmooth", solver="pgs")


def test_restitution_below_the_least_is_told(tmp_path):
    """Once, with the pair, the number that is used and the way out; in the summary, and after a restart, too."""
    path = str(tmp_path / "box.h5")
    words = ("run", "box", "--stepper", "smooth", "--set", "count=8", "--set", "restitution=0.05", "--no-picture", "--duration", "0.002")
    message = "restitution 0.05 of pellet with pellet is below 0.1, the least that the smooth stepper damps for: 0.1 is used"
    done = granum(*words, "--json", "-o", path)
    assert done.exit_code == 0, done.stderr
    assert done.stderr.count(message) == 1
    assert sum(message in told for told in json.loads(done.stdout)["warnings"]) == 1
    on = granum("restart", path, "--duration", "0.002", "--json")
    assert message not in on.stderr
    assert sum(message in told for told in json.loads(on.stdout)["warnings"]) == 1
    table = granum(*words, "-o", str(tmp_path / "table.h5"))
    assert "restitution 0.05 of" in " ".join(table.stdout.split())
    assert message not in granum(*words, "--json", "-o", path, "--set", "restitution=0.1").stderr


def touching(names, restitution, walls=(), damping="restitution"):
    """Warnings of a scene with grains of these materials, and walls of those."""
    materials = [Material(name=name, restitution=e) for name, e in restitution.items()]
    scene = Scene(
        materials=materials,
        walls=[Plane(material=name) for name in walls],
        grains=[Grains(material=name, position=[(0, 0, 1 + k)], diameter=0.01) for k, name in enumerate(names)],
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Simulation(scene, make_settings({"stepper": {"name": "smooth", "damping": damping}}, {"time_step": 1e-8})).warnings


def test_only_pairs_that_can_touch_are_told_of():
    """Of grains with grains and walls, the lowest first: sqrt(0.002) = 0.0447; walls never touch each other, and c needs no restitution."""
    (one,) = touching(["lead"], {"lead": 0.002, "steel": 1.0}, walls=["steel"])
    assert "restitution 0.002 of lead with lead (and that of 1 more pairs) is below 0.1" in one
    (both,) = touching(["lead", "steel"], {"lead": 0.002, "steel": 1.0})
    assert both.endswith(one.split("restitution", 1)[1])
    (wall,) = touching(["steel"], {"steel": 1.0, "putty": 0.002}, walls=["putty"])
    assert "restitution 0.0447 of steel with putty is below 0.1" in wall
    assert touching(["steel"], {"steel": 1.0, "putty": 0.002}, walls=["steel"]) == []
    assert touching(["steel"], {"steel": 1.0, "putty": 0.011}, walls=["steel", "putty"]) == []  # sqrt(0.011) = 0.105
    assert touching(["lead"], {"lead": 0.002}, damping="dissipation") == []
