"""Quantities with units: one parser for records, scene files, parameters of scenes and options."""

from __future__ import annotations

import json
import math

import pytest

from granum import Grains, InputError, Material, Settings, make_scene
from granum.scene.file import load_scene
from granum.units import read_quantity, units_in
from tests.command_line import granum

FILE = """
materials = [{ name = "m", youngs_modulus = "50 MPa", density = "2.5 g/cm3" }]
walls = [{ shape = "plane", material = "m" }]
grains = [{ material = "m", position = [[0, 0, "5 mm"]], diameter = "10 mm" }]
counters = [{ region = { shape = "disc", centre = [0, 0, "2 cm"], radius = "3 cm" } }]
run = { duration = "20 ms", every = "5 ms" }
"""


@pytest.mark.parametrize(
    "text, unit, value",
    [
        ("9mm", "m", 0.009),
        ("2 min", "s", 120.0),
        ("30 rpm", "rad/s", math.pi),
        ("180 deg", "rad", math.pi),
        ("3.6 km/h", "m/s", 1.0),
        ("36 t/h", "kg/s", 10.0),
        ("2 kN/m", "N/m", 2000.0),
        ("1.5 N*m", "N m", 1.5),
        ("7 kg m^2", "kg m^2", 7.0),
        ("5 %", "-", 0.05),
        ("1e-2", "m", 0.01),
        ("-3 cm/s^2", "m/s^2", -0.03),
        ("1 s^-1", "Hz", 1.0),
        ("1e-400 mm", "m", 0.0),
    ],
)
def test_a_quantity_is_rounded_once(text, unit, value):
    """Equal to the bit: 9 mm is the number that 0.009 is, not 9 times 0.001."""
    assert read_quantity("x", text, unit) == value


def test_units_stand_in_brackets():
    assert units_in("The largest force [N], of a hinge [N m], in [0, 1].") == ("N", "N m")
    assert units_in("mu [-], Coulomb friction.") == ("-",)
    assert units_in("k [N/m^(alpha - 1)]") == ()


def test_records_take_quantities_and_check_what_they_measure():
    """The unit of a field is the one that its text names."""
    assert Material(name="m", youngs_modulus="10 GPa", friction="50%") == Material(name="m", youngs_modulus=1e10, friction=0.5)
    assert Grains(material="m", position=[["1 cm", 0, 0]], diameter="13mm") == Grains(material="m", position=[[0.01, 0, 0]], diameter=0.013)
    assert Settings(duration="2 s", time_step="1ms") == Settings(duration=2.0, time_step=0.001)
    with pytest.raises(InputError, match=r"density: is a length, not a density\. Give a density in kg/m3.*got '3 mm'"):
        Material(name="m", density="3 mm")
    with pytest.raises(InputError, match="friction: is a length, not a plain number"):
        Material(name="m", friction="3 mm")
    with pytest.raises(InputError, match="unknown unit 'Gpa'"):
        Material(name="m", youngs_modulus="10 Gpa")
    with pytest.raises(InputError, match="density: must be a number"):
        Material(name="m", density="2500")
    with pytest.raises(InputError, match="diameter: is a mass, not a length"):
        Grains(material="m", position=[[0, 0, 0]], diameter="13 kg")
    with pytest.raises(InputError, match="too large"):
        Material(name="m", density="1e308 t/m3")


def test_a_record_keeps_names_that_look_like_quantities():
    assert Material(name="3 mm").name == "3 mm"


def test_scene_files_and_parameters_take_quantities(tmp_path):
    path = tmp_path / "one.toml"
    path.write_text(FILE)
    scene = load_scene(path, {"grains.0.diameter": "8mm"})
    assert (scene.materials[0].youngs_modulus, scene.materials[0].density) == (5e7, 2500.0)
    assert (scene.grains[0].position[0, 2], float(scene.grains[0].diameter)) == (0.005, 0.008)
    assert (scene.counters[0].region.centre[2], scene.counters[0].region.radius) == (0.02, 0.03)
    assert scene.run.duration == 0.02
    assert make_scene("column", diameter="13mm") == make_scene("column", diameter=0.013)
    with pytest.raises(InputError, match="diameter of scene 'column': '2kg' is a mass, not a length"):
        make_scene("column", diameter="2kg")
    assert make_scene("drum", speed="30 rpm") == make_scene("drum", speed=math.pi)
    assert make_scene("box", tilt="12deg") == make_scene("box", tilt="12 °") == make_scene("box", tilt=12)
    with pytest.raises(InputError, match="width of scene 'silo' counts in diameters of the grains: give a plain number"):
        make_scene("silo", width="20cm")
    with pytest.raises(InputError, match=r"tilt of scene 'box': '3 mm' is a length, not an angle.*a bare number is in degrees"):
        make_scene("box", tilt="3 mm")


@pytest.mark.parametrize(
    "arguments, words",
    [
        (("--duration", "2mm"), ["--duration", "is a length", "a time"]),
        (("--duration", "2parsec"), ["unknown unit", "parsec"]),
        (("--duration", "soon"), ["is not a number with a unit"]),
        (("--every", "20 kg"), ["--every", "is a mass"]),
        (("--set", "youngs_modulus=3s"), ["youngs_modulus", "is a time, not a pressure"]),
        (("--set", "materials.0.density=3s"), ["materials.0.density", "is a time, not a density"]),
        (("--threads", "many"), ["--threads", "auto"]),
    ],
)
def test_nonsense_on_the_command_line_is_refused_in_words(arguments, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = granum("run", "column", *arguments)
    said = " ".join(result.stderr.replace("│", " ").split())
    assert result.exit_code == 2
    assert all(word in said for word in words)
    assert not list(tmp_path.iterdir())


def test_a_run_with_units_is_the_run_with_numbers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    common = ("--set", "count=3", "--no-picture", "--json")
    plain = granum("run", "column", "--duration", 0.02, "--time-step", 0.001, "--set", "diameter=0.009", *common, "-o", "a.h5")
    units = granum("run", "column", "--duration", "20ms", "--time-step", "1 ms", "--set", "diameter=9mm", *common, "-o", "b.h5")
    assert plain.exit_code == units.exit_code == 0
    a, b = json.loads(plain.stdout), json.loads(units.stdout)
    assert (a["state_hash"], a["time"]) == (b["state_hash"], b["time"])
