"""Bad input is refused in words.

Guaranteed: values of the wrong type, deep nesting, huge numbers and names, empty and long file names, durations that never end and a full
stdout end with a message that names what is wrong, and exit code 2; no text or truth value is taken for a number; many mistakes cost linear
time and are told up to ten.
"""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from pydantic import BaseModel, ConfigDict, ValidationError

from granum import InputError, Material, Mesh, Scene
from granum.checks import explain, known_name, steps_in
from granum.io import Recording, RecordingWriter
from granum.observe.trigger import seconds
from granum.scene.arrays import read_array
from tests.robustness.door import call
from tests.unit.test_recording import SCALARS, frame

BALL = """
[[materials]]
name = "m"
[[walls]]
shape = "plane"
material = "m"
[[grains]]
material = "m"
position = [[0, 0, 0.01]]
diameter = 0.01
"""
MESH = """
[[materials]]
name = "m"
[[grains]]
material = "m"
position = [[0.03, 0.03, 0.01]]
diameter = 0.01
[[walls]]
shape = "mesh"
material = "m"
vertices = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
triangles = [[0, 1, 2]]
"""

SCENES = {
    "stepper no table": (BALL + "[run]\nstepper = 0", "run.stepper: must be a table, or the name of a stepper (got 0)"),
    "solver no table": (
        BALL + "[run.stepper]\nsolver = 'x'",
        "run.stepper.solver: unknown solver 'x'; choose one of: 'direct', ",
    ),
    "stepper name no text": (BALL + "[run.stepper]\nname = 1", "run.stepper.name: must be one of 'nonsmooth', 'smooth' (got '1')"),
    "solver name no text": (
        BALL + "[run.stepper.solver]\nname = ['pgs']",
        "run.stepper.solver: unknown solver ['pgs']",
    ),
    "reduction no table": (BALL + "[run.stepper]\nreduction = 'contact'", "run.stepper.reduction"),
    "table in a position": (BALL.replace("[[0, 0, 0.01]]", "[[{}, 0, 0]]"), "numbers only, has a table"),
    "truth value in a position": (BALL.replace("[[0, 0, 0.01]]", "[[true, 0, 0.5]]"), "numbers only, has a truth value"),
    "text in a position": (BALL.replace("[[0, 0, 0.01]]", "[[0, 0, '0.5']]"), "numbers only, has a text"),
    "ragged position": (BALL.replace("[[0, 0, 0.01]]", "[[0, 0, 1], [0]]"), "rows of equal length"),
    "text as a diameter": (BALL.replace("0.01\n", "'0.01'\n"), "numbers only, has a text"),
    "text as a density": (BALL.replace('name = "m"', 'name = "m"\ndensity = "2500"'), "materials.0.density: must be a number (got '2500')"),
    "truth value as gravity": (BALL + "[gravity]\nacceleration = [0, 0, true]", "must be a number (got True)"),
    "truth value as threads": (BALL + "[run]\nthreads = true", "must be a number (got True)"),
    "table of diameters": (BALL.replace("0.01\n", "[[0.01]]\n"), "diameter must be one number or a row"),
    "speed of 1e300": (BALL.replace("diameter", "velocity = [[1e300, 0, 0]]\ndiameter"), "must be at most 1e+100 in size"),
    "gravity of 1e-300": (BALL + "[gravity]\nacceleration = [0, 0, 1e-300]", "must be 0 or from 1e-100 to 1e+100 in size"),
    "table in a cell": (BALL + "[cell]\nvectors = [{}]", "numbers only, has a table"),
    "table in vertices": (MESH.replace("[[0, 0, 0], ", "[[{}, 0, 0], "), "numbers only, has a table"),
    "index with a fraction": (MESH.replace("[[0, 1, 2]]", "[[0, 1, 2.7]]"), "whole numbers, has 2.7"),
    "index of 1e30": (MESH.replace("[[0, 1, 2]]", "[[0, 1, 1e30]]"), "at most 2147483647"),
    "index of 2^32": (MESH.replace("[[0, 1, 2]]", "[[0, 1, 4294967298]]"), "at most 2147483647"),
    "deep array": ("a = " + "[" * 1200 + "]" * 1200, "nested deeper than 32 levels"),
    "deep table": (BALL + "[" + ".".join("a" * 1500) + "]\nx = 1", "nested deeper than 32 levels"),
    "long integer": ("a = " + "9" * 4400, "64 bits or more"),
    "integer of 100 digits": (BALL + "[parameters]\na = " + "9" * 100, "64 bits or more"),
    "long name": (f"name = '{'x' * 300}'\n" + BALL, "at most 200 bytes"),
    "long mesh file": (BALL + f"[[walls]]\nshape = 'mesh'\nmaterial = 'm'\nfile = '{'x' * 300}.stl'", "File name too long"),
    "endless duration": (BALL + "[run]\nduration = 1e300", "the most that can be counted is 2^53"),
    "endless steps": (BALL + "[run]\ntime_step = 1e-300", "the most that can be counted is 2^53"),
}


@pytest.mark.parametrize("name", SCENES)
def test_scene_is_refused_in_words(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    text, words = SCENES[name]
    (tmp_path / "scene.toml").write_text(text)
    ending = call("run", "scene.toml", "--no-picture")
    assert ending.trace == ""
    assert ending.code == 2
    assert words in ending.stderr
    assert len(ending.stderr) < 2000


COMMANDS = {
    "seed of 77 bits": (["run", "box", "--seed", "9" * 23], "seed must be below 2^62"),
    "seed of a packing": (["minimise", "--packing", "8,0.8," + "9" * 5000], "--packing"),
    "no name to restart": (["restart", ""], "must be the name of a file"),
    "no name to plot": (["plot", "", "picture"], "must be the name of a file"),
    "long name to read": (["info", "x" * 300], "names of 255 at most"),
    "long name to write": (["run", "box", "-o", "x" * 240 + ".h5"], "at most 200 bytes"),
    "long name of a scene": (["run", "x" * 300 + ".toml"], "File name too long"),
    "name that is no text": (["run", "\udcff"], "unknown scene"),
    "figure that is a path": (["plot", "x.h5", "/dev/null"], "unknown figure '/dev/null'"),
    "endless duration": (["run", "box", "--duration", "1e300"], "2^53"),
    "endless steps": (["run", "box", "--time-step", "1e-300"], "2^53"),
    "deep value": (["run", "box", "--set", "run.x=" + "[" * 2000], "nested too deeply"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_command_line_is_refused_in_words(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    arguments, words = COMMANDS[name]
    ending = call(*arguments)
    assert ending.trace == ""
    assert ending.code == 2
    assert words in ending.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["scenes", "--help"])
def test_full_stdout_is_told_in_words(command):
    with open("/dev/full", "w") as full:
        done = subprocess.run([sys.executable, "-m", "granum", command], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert done.stderr == "error: a file or the output cannot be read or written: No space left on device.\n"


def test_a_reader_that_has_enough_ends_a_command_quietly():
    done = subprocess.run(f"{sys.executable} -m granum scenes | true", shell=True, capture_output=True, text=True)
    assert done.stderr == ""


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Counted(str):
    """A key that counts how often it is compared."""

    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other):
        Counted.compared += 1
        return str.__eq__(self, other)


def test_many_mistakes_are_told_up_to_ten_and_cost_linear_work():
    class Many:
        """As pydantic's error, with keys that count."""

        def errors(self, include_url):
            keys = [Counted(f"k{n}") for n in range(3000)]
            return [{"loc": (key,), "msg": "", "type": "extra_forbidden", "input": 0} for key in keys]

    Counted.compared = 0
    lines = str(explain(Many(), "scene")).splitlines()
    assert len(lines) == 12
    assert lines[-1] == "  and 2990 more"
    assert Counted.compared < 10 * 3000
    with pytest.raises(ValidationError) as found:
        Strict(**{f"k{n}": n for n in range(11)})
    assert str(explain(found.value, "scene")).endswith("  and 1 more")


@pytest.mark.parametrize(
    "value", [True, [np.bool_(True)], ["1"], [None], [[1], [{}]], np.array(["1"]), np.array([True]), b"1", [1j], {1: 2}]
)
def test_nothing_else_is_taken_for_numbers(value):
    with pytest.raises(ValueError, match="numbers only"):
        read_array(value)


@pytest.mark.parametrize("value", [1, [1, 2.5], np.float32([1, 2]), [np.array([1, 2]), (3, 4)], [np.int64(3)], []])
def test_numbers_of_every_kind_are_read_to_the_bit(value):
    found = read_array(value)
    assert found.dtype == float
    assert np.array_equal(found, np.asarray(value, float))


def test_whole_numbers_may_be_written_with_a_point_but_lose_nothing():
    assert read_array([[0, 1.0, 2]], np.int32).tolist() == [[0, 1, 2]]
    with pytest.raises(InputError, match="whole numbers"):
        Mesh(material="m", vertices=np.eye(3), triangles=[[0, 1, 1.5]])
    with pytest.raises(InputError, match="density"):
        Scene(materials=[Material(name="m", density=True)])


def test_steps_are_counted_up_to_where_numbers_are_exact():
    assert steps_in(1.0, 1e-3) == 1000
    assert steps_in(1e-9, 1.0) == 1
    with pytest.raises(InputError, match="time_step must be"):
        steps_in(1.0, 0.0)
    for duration, step in ((1e300, 1e-3), (1.0, 1e-300), (1e300, 1e-300)):
        with pytest.raises(InputError, match=r"2\^53"):
            steps_in(duration, step)


@pytest.mark.parametrize("period, due", [(1e-300, [0, 1, 2, 3]), (1e300, [0]), (0.5, [0, 1, 2, 3]), (2.0, [0, 2])])
def test_any_period_of_frames_ends_its_search(period, due):
    assert [step for step in range(4) if seconds(period).due(step, 1.0)] == due


def test_known_names_are_asked_of_anything():
    for name in (1, None, ["pgs"], {}):
        with pytest.raises(InputError, match="choose one of: 'pgs'"):
            known_name("solver", name, ["pgs"])


def test_advice_of_a_full_disk_holds_without_a_checkpoint(tmp_path):
    """A shear has a recording and no checkpoint: what the recording advises must not need one. The file may not grow any more."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    writer = RecordingWriter(tmp_path / "x.h5", {}, SCALARS)
    for step in range(3):
        writer.append(**frame(step, 5))
    resource.setrlimit(resource.RLIMIT_FSIZE, ((tmp_path / "x.h5").stat().st_size, hard))
    try:
        with pytest.raises(RuntimeError, match="Its 3 frames so far are saved") as told:
            writer.append(**frame(3, 5000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    writer.close()
    assert "restart" not in str(told.value)
    with Recording(tmp_path / "x.h5") as recording:
        assert len(recording) == 3
