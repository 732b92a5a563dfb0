"""The automatic step: it fits the speeds of a scene, says why, is what ``plan`` tells, and a run with it is not stopped."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from granum.checks import InputError
from granum.contact import Material
from granum.nonsmooth import Nonsmooth
from granum.nonsmooth.time_step import FREE_FALL, REACH, as_typed, automatic_step, step_error
from granum.scene import Body, Box, Disc, Emitter, Grains, Gravity, Lattice, Motion, Plane, Scene
from granum.scene.library import LIBRARY, make_scene
from granum.scene.speeds import expected_speeds
from granum.simulation import make_settings
from tests.reference.scenes import write_scene

G = 9.81


def scene(*grains, gravity=(0, 0, -G), youngs_modulus=1e7, **more):
    material = Material(name="m", youngs_modulus=youngs_modulus)
    return Scene(materials=[material], grains=grains, gravity=Gravity(acceleration=gravity), **more)


def at(*position, **more):
    return Grains(material="m", position=np.atleast_2d(position), **more)


def tub(width, height):
    return Box(material="m", lower=(0, 0, 0), upper=(width, width, height), open=("+z",))


def projectile(count=60, d=0.002):
    """A sphere placed at 5 m/s over 2 mm grains."""
    bed = Lattice(material="m", lower=(0, 0, 0), upper=(7 * d, 7 * d, 5 * d), count=count, sizes=d)
    ball = at(3.5 * d, 3.5 * d, 0.02, diameter=2 * d, velocity=[(0, 0, -5)])
    return scene(bed, ball, walls=[tub(7 * d, 0.2)])


def falling_lattice(d=0.005, **material):
    block = Lattice(material="m", lower=(0, 0, 20 * d), upper=(6 * d, 6 * d, 60 * d), count=75, sizes=d)
    return scene(block, walls=[tub(6 * d, 100 * d)], **material)


def one_to_twenty():
    bed = Lattice(material="m", lower=(0, 0, 0), upper=(0.02, 0.02, 0.01), count=60, sizes=0.002)
    return scene(bed, at(0.01, 0.01, 0.06, diameter=0.04), walls=[Plane(material="m")])


def gas():
    """64 grains that fly about in a closed box, without gravity."""
    grid = np.stack(np.meshgrid(*[np.arange(4)] * 3), axis=-1).reshape(-1, 3)
    velocity = np.random.default_rng(0).uniform(-2, 2, (64, 3))
    inside = Box(material="m", lower=(0, 0, 0), upper=(0.06, 0.06, 0.06))
    return scene(at(*(0.01 + 0.013 * grid), diameter=0.01, velocity=velocity), gravity=(0, 0, 0), walls=[inside])


EXAMPLES = {
    "a sphere placed at 5 m/s over 2 mm grains": (projectile, math.hypot(5, math.sqrt(2 * G * 0.01))),  # a fall of about 1 cm more
    "a lattice that falls 20 d": (falling_lattice, math.sqrt(2 * G * 0.106)),  # and packs
    "a stiff one": (lambda: falling_lattice(youngs_modulus=6e10), math.sqrt(2 * G * 0.106)),
    "sizes of 1 to 20": (one_to_twenty, math.sqrt(2 * G * 0.036)),  # to the top of the lattice
    "no gravity": (gas, np.linalg.norm(np.random.default_rng(0).uniform(-2, 2, (64, 3)), axis=1).max()),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_step_fits_the_fastest_grain(name):
    make, speed = EXAMPLES[name]
    made = make()
    found = automatic_step(made)
    assert found.seconds * speed / made.size_range[0] == pytest.approx(REACH, rel=0.05)
    assert found.reason.endswith(f"{REACH:g} d per step")
    assert Nonsmooth().step_for(made) == make_settings({}).step_for(made) == found.seconds


def test_where_nothing_is_fast_gravity_decides():
    """As it always was, to the bit: sqrt(2 eps d / g)."""
    resting = scene(at(0, 0, 0.0065, diameter=0.013), walls=[Plane(material="m")])
    assert automatic_step(resting).seconds == math.sqrt(2 * FREE_FALL * 0.013 / G)
    assert automatic_step(resting).reason.startswith("gravity, ")
    assert automatic_step(make_scene("column")).seconds == math.sqrt(2 * FREE_FALL * 0.013 / G)


WEIGHTLESS = {"shear-cell", "triaxial"}  # what moves in them, motors decide: there is nothing to derive a step from


@pytest.mark.parametrize("name", sorted(set(LIBRARY) - WEIGHTLESS))
def test_no_library_scene_moves_further_than_the_rule_allows(name):
    made = make_scene(name)
    found = automatic_step(made)
    g, speeds = math.hypot(*made.gravity.acceleration), expected_speeds(made)
    fastest = speeds[0].value if speeds else 0.0
    d = made.size_range[0]
    assert found.seconds == pytest.approx(min(math.sqrt(2 * FREE_FALL * d / g), REACH * d / fastest if fastest else math.inf))
    assert step_error(found.seconds, d, g, fastest) <= REACH * (1 + 1e-12)
    assert make_settings(made.run).step_for(made) == made.run.time_step  # theirs stays


def test_stiffness_does_not_matter():
    assert automatic_step(falling_lattice(youngs_modulus=1e5)) == automatic_step(falling_lattice(youngs_modulus=6e11))


def test_without_anything_to_derive_it_from_a_step_is_asked_for():
    at_rest = scene(at(0, 0, 1, diameter=0.01), gravity=(0, 0, 0))
    with pytest.raises(InputError, match=r"time_step must be given: without gravity.*no speed.*--time-step"):
        automatic_step(at_rest)
    with pytest.raises(InputError, match="without grains or emitters"):
        automatic_step(scene(walls=[Plane(material="m")]))
    moved = scene(
        at(0, 0, 1, diameter=0.01),
        gravity=(0, 0, 0),
        bodies=[Body(name="press", kind="kinematic", motion=Motion(velocity=(0, 0, 1)), walls=[Plane(material="m")])],
    )
    assert automatic_step(moved).seconds == pytest.approx(REACH * 0.01)


def test_the_error_of_a_step_is_that_of_sn():
    """eps = max(v h / d, g h^2 / 2 d), SN (37)."""
    assert step_error(1e-3, 0.01, 9.8, 2.0) == pytest.approx(0.2)
    assert step_error(1e-2, 0.01, 9.8, 0.01) == pytest.approx(9.8e-4 / 0.02)


def test_steps_are_shown_as_typed_and_never_larger():
    assert [as_typed(h) for h in (9.19e-4, 1e-3, 0.0299, 1.0, 3.999e-6, 0.1)] == ["9.1e-4", "1e-3", "2.9e-2", "1e0", "3.9e-6", "1e-1"]
    for h in np.random.default_rng(0).uniform(1e-7, 1, 50) ** 2:
        assert 0.9 * h <= float(as_typed(h)) <= h * (1 + 1e-8)


# the command line


@pytest.mark.parametrize("name", ["a sphere placed at 5 m/s over 2 mm grains", "a lattice that falls 20 d", "a stiff one"])
def test_the_command_line_takes_the_step_says_why_and_is_not_stopped(granum, tmp_path, name):
    made = EXAMPLES[name][0]()
    duration = {"a sphere placed at 5 m/s over 2 mm grains": 0.004}.get(name, 0.16)  # the impact and some more
    file = write_scene(tmp_path / "scene.py", made)
    result = granum("run", file, "--duration", duration, "--iterations", 20, "--no-picture", "--json")
    assert result.exit_code == 0, result.stderr
    about, step = json.loads(result.stdout), automatic_step(made)
    assert (about["time_step"], about["time_step_reason"], about["complete"]) == (step.seconds, step.reason, True)
    assert f": {step.reason}" in next(line for line in result.stderr.splitlines() if line.startswith("time step "))
    assert step.reason in granum("info", "scene.vtkhdf").stdout


def test_where_the_step_comes_from_is_said(granum):
    small = ("run", "column", "--set", "count=2", "--duration", "0.01", "--no-picture", "--json")
    assert json.loads(granum(*small).stdout)["time_step_reason"] == "of the scene"
    given = granum(*small, "--time-step", "1e-3")
    assert json.loads(given.stdout)["time_step_reason"] == "given"
    assert "time step" not in given.stderr
    smooth = granum(*small, "--stepper", "smooth")
    assert json.loads(smooth.stdout)["time_step_reason"] == "the shortest collision is resolved"


@pytest.mark.parametrize("name", [*EXAMPLES, *sorted(set(LIBRARY) - WEIGHTLESS)])
def test_plan_tells_the_automatic_step(granum, tmp_path, name):
    made = EXAMPLES[name][0]() if name in EXAMPLES else make_scene(name)
    file = write_scene(tmp_path / "scene.py", made)
    found = json.loads(granum("plan", "--scene", file, "--json").stdout)
    step = automatic_step(made)
    assert (found["time_step"], found["time_step_reason"]) == (step.seconds, step.reason)
    assert all(way["time_step"] == step.seconds for way in found["ways"] if way["stepper"] == "nonsmooth")
    d, g, speeds = made.size_range[0], math.hypot(*made.gravity.acceleration), expected_speeds(made)
    fastest = speeds[0].value if speeds else 0.0
    for row in found["errors"]:
        assert row["error"] == pytest.approx(max(fastest * row["time_step"] / d, g * row["time_step"] ** 2 / (2 * d)))
    own = [row["time_step"] for row in found["errors"] if row["which"] == "of the scene"]
    assert own == ([made.run.time_step] if "time_step" in made.run.model_fields_set else [])


def test_plan_takes_speeds_gravity_and_tolerance_of_its_own(granum):
    system = ("plan", "--diameter", "10mm", "--young", "1GPa", "--width", "15", "--height", "20", "--json")
    planned = lambda *more: json.loads(granum(*system, *more).stdout)  # noqa: E731
    assert planned()["time_step"] == math.sqrt(2 * FREE_FALL * 0.01 / 9.8)
    assert planned("--gravity", "1.6")["time_step"] == math.sqrt(2 * FREE_FALL * 0.01 / 1.6)
    assert planned("--speed", "2 m/s")["time_step"] == REACH * 0.01 / 2
    assert planned("--tolerance", "0.01%")["time_step"] == math.sqrt(2 * 1e-4 * 0.01 / 9.8)
    assert planned("--tolerance", "20%")["time_step"] == planned()["time_step"]  # never more than the automatic one
    assert "error of a step" in granum(*system[:-1]).stdout
    refused = granum(*system, "--speed", "-1 m/s")
    assert refused.exit_code == 2
    assert "speed must be 0 or more" in refused.stderr


def test_a_step_by_an_emitter_counts_the_fall():
    source = Emitter(name="hose", material="m", sizes=0.01, source=Disc(centre=(0, 0, 0.3), diameter=0.05), count=3, velocity=(0, 0, -1))
    found = automatic_step(scene(emitters=[source], walls=[Plane(material="m")]))
    assert found.seconds == pytest.approx(REACH * 0.01 / math.sqrt(1 + 2 * G * 0.295))
    assert found.reason == "a fall of 0.295 m from the emitter 'hose' at 1 m/s, 0.1 d per step"
