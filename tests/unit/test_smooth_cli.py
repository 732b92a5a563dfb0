"""Smooth runs from the command line and from Python: settings, refusals, and a time step that fits the stepper."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from granum import InputError, Smooth, simulate
from granum.cli import make_app
from granum.scene.library import make_scene
from granum.simulation import make_settings


def granum(*words: str):
    return CliRunner().invoke(make_app(), list(words))


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


@pytest.mark.parametrize("words, message", [
    (("--stepper", "smoth"), "Did you mean 'smooth'"),
    (("--stepper", "smooth", "--iterations", "20"), "belong to the nonsmooth stepper"),
    (("--integrator", "euler"), "belong to the smooth stepper"),
    (("--stepper", "smooth", "--integrator", "leapfrog"), "stepper.integrator"),
    (("--stepper", "smooth", "--time-step", "0.01"), "unstable"),
])  # fmt: skip
def test_bad_settings_are_refused(words, message, tmp_path):
    done = granum("run", "box", "--set", "count=20", "-o", str(tmp_path / "x.h5"), *words)
    assert done.exit_code == 2
    assert message in done.stderr


def test_settings_of_one_stepper_are_not_taken_for_the_other():
    scene = make_scene("column")
    assert scene.run["time_step"] is not None
    assert make_settings(scene.run, {"stepper": {"name": "smooth"}}).time_step is None
    assert make_settings(scene.run, {"stepper": {"name": "nonsmooth"}}).time_step == scene.run["time_step"]


def test_simulate_takes_a_stepper():
    run = simulate("column", duration=1e-3, stepper=Smooth(integrator="euler"))
    assert run.settings.stepper == Smooth(integrator="euler")
    with pytest.raises(InputError, match="smoth"):
        simulate("column", stepper="smoth")
    with pytest.raises(InputError, match="not both"):
        simulate("column", stepper="nonsmooth", solver="pgs")
