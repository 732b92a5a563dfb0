"""What ``granum plan`` prints runs, and a run that a large step has stopped names one that does."""

from __future__ import annotations

import json
import re
import shlex

import pytest

from tests.command_line import granum

DRUM = """
materials = [{ name = "glass", youngs_modulus = "50 MPa", restitution = 0.5 }]
run = { duration = "0.16 s" }

[[bodies]]
name = "drum"
kind = "kinematic"
motion = { spin = [0, "20 rpm", 0] }
walls = [{ shape = "cylinder", material = "glass", axis = [0, 1, 0], radius = "10 cm", length = "2 cm" }]

[[grains]]
material = "glass"
count = 240
lower = [-0.06, -0.01, -0.06]
upper = [0.06, 0.01, "6 cm"]
sizes = { distribution = "uniform", lower = "4 mm", upper = "8 mm" }
"""


@pytest.fixture
def drum(tmp_path, monkeypatch):
    """A scene file of a drum with sizes of its own, on a lattice 0.11 m high."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "drum.toml").write_text(DRUM)
    return "drum.toml"


def test_the_planned_command_runs(drum):
    """Grains fall 0.1 m: the step follows from it, and no grain overlaps by much."""
    said = granum("plan", "--scene", drum).stdout
    command = re.search(r"granum (run drum\.toml --stepper nonsmooth --time-step \S+ --iterations \d+)", said)
    assert command is not None
    done = granum(*shlex.split(command[1]), "--no-picture", "--json")
    assert done.exit_code == 0
    assert json.loads(done.stdout)["complete"]
    assert json.loads(done.stdout)["max_overlap"] < 0.2


def test_a_run_that_stops_ends_with_a_step_that_does_not(drum):
    """10 ms are more than thirty of the steps that the fall allows."""
    stopped = granum("run", drum, "--time-step", "10ms", "--no-picture")
    assert stopped.exit_code == 1
    step = re.search(r"try --time-step (\S+)\.$", stopped.stderr.strip())
    assert step is not None
    assert granum("run", drum, "--time-step", step[1], "--no-picture").exit_code == 0
