"""Steps that are too large are told once, with the step that would fit: before the first step, when grains become fast, and for walls."""

from __future__ import annotations

import json
import re
import warnings

import numpy as np
import pytest

from granum.contact import Material
from granum.nonsmooth.time_step import REACH
from granum.scene import Body, Box, Grains, Gravity, Motion, Plane, Scene
from granum.simulation import Simulation, make_settings
from granum.simulation.coarse import DEEP, FAR, pressed_overlap
from tests.reference.scenes import FREE, D, G, hertz_stiffness, make, mass, write_scene

QUIET = {**FREE, "on_coarse": "warn"}


def told(caught):
    return [str(w.message) for w in caught if issubclass(w.category, RuntimeWarning)]


def run(sim, duration):
    """The warnings of a run."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sim.run(duration)
    return told(caught)


def tried(message):
    """The step [s] that a warning advises."""
    return float(re.search(r"--time-step (\S+?)\.?$", message)[1])


@pytest.mark.parametrize("way, warned", [(0.19, False), (0.21, True), (5.0, True)])
def test_a_step_given_by_hand_is_judged_by_the_speeds_at_the_start(way, warned):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sim = make((0, 0, 1.0), velocity=(0, 0, 2.0), h=way * D / 2, guards=QUIET)
    assert len(told(caught)) == warned
    assert sim.warnings == told(caught)
    if warned:
        assert "t = 0 s (step 0)" in sim.warnings[0]
        assert "a grain placed at 2 m/s" in sim.warnings[0]
        assert tried(sim.warnings[0]) == pytest.approx(REACH * D / 2, rel=0.1)


def test_the_advice_foresees_the_falls_of_the_scene():
    """A grain at 1 m/s that then falls 1 m: the automatic step is advised, not one that suits 1 m/s only."""
    with pytest.warns(RuntimeWarning, match="1 m/s"):
        sim = make((0, 0, 1.0), velocity=(0, 0, -1.0), h=0.01, gravity=(0, 0, -G), walls=True, guards=QUIET)
    assert tried(sim.warnings[0]) == pytest.approx(sim.settings.stepper.step_for(sim.scene), rel=0.1)
    assert tried(sim.warnings[0]) < 0.3 * REACH * D / 1.0


def test_a_run_that_meets_faster_grains_says_so_once_and_keeps_the_worst():
    """Free fall: v = g t; told at 0.2 d per step, and what is kept grows with it."""
    h = 0.002
    sim = make([(0, 0, 0), (1, 0, 0)], gravity=(0, 0, -G), h=h, guards=QUIET)
    found = run(sim, 1.0)
    assert len(found) == 1
    time = float(re.match(r"t = (\S+) s", found[0])[1])
    assert time == pytest.approx(FAR * D / h / G, abs=2 * h)
    assert re.search(r"grain [01] moves at 1\.3\d? m/s, 0\.2 d per step", found[0])
    (worst,) = sim.warnings
    speed = float(re.search(r"moves at (\S+) m/s", worst)[1])
    assert G * 1.0 / 1.1 < speed <= G * 1.001  # within a tenth of the fastest of all
    assert tried(worst) == pytest.approx(REACH * D / speed, rel=0.1)


def test_nothing_is_told_of_steps_that_fit_or_when_it_is_off():
    fine = make((0, 0, 0), gravity=(0, 0, -G), h=1e-4, guards=QUIET)
    assert run(fine, 0.1) == fine.warnings == []
    off = make((0, 0, 0), gravity=(0, 0, -G), h=0.01, velocity=(0, 0, 9), guards={**FREE, "on_coarse": "off"})
    assert run(off, 0.1) == off.warnings == []


@pytest.mark.parametrize("speed", [20.0, 100.0])
def test_walls_that_move_too_fast_are_told(speed):
    """A box 2 cm thick that is driven through a bed: nothing of it shows in the speeds of grains."""
    block = Box(material="m", lower=(-1, -0.05, 0), upper=(-0.98, 0.05, 0.1), side="outside")
    body = Body(name="plough", kind="kinematic", motion=Motion(velocity=(speed, 0, 0)), walls=[block])
    with pytest.warns(RuntimeWarning, match=rf"the wall body 'plough' at {speed:g} m/s: .* d per step"):
        sim = make((0, 0, D / 2), bodies=[body], walls=True, guards=QUIET)
    assert tried(sim.warnings[0]) == pytest.approx(REACH * D / speed, rel=0.1)


def test_bodies_that_become_too_fast_are_told():
    plate = Box(material="m", lower=(-0.1, -0.1, -0.01), upper=(0.1, 0.1, 0.01), side="outside")
    body = Body(name="plate", kind="dynamic", position=(0, 0, 5), mass=1.0, inertia=(1, 1, 1), walls=[plate])
    sim = make((3, 0, 0), bodies=[body], gravity=(0, 0, -G), guards=QUIET, h=0.002)
    found = run(sim, 0.3)
    assert [message for message in found if "the body 'plate' moves at" in message]


def overlapping(part, youngs_modulus=6e6):
    return make([(0, 0, 0), ((1 - part) * D, 0, 0)], youngs_modulus=youngs_modulus, guards=QUIET, h=1e-3)


def test_overlaps_that_no_load_explains_ask_for_a_smaller_step():
    assert run(overlapping(0.9 * DEEP), 0.001) == []
    sim = make([(0, 0, 0), (2 * D, 0, 0)], guards=QUIET, youngs_modulus=6e10, h=1e-3)
    sim.position[1, 0] = 0.8 * D
    (message,) = run(sim, 0.001)
    assert re.search(r"grain [01] with grain [01] overlap by 0\.2 d", message)
    assert tried(message) == pytest.approx(1e-3 * 0.5 * DEEP / 0.2, rel=0.1)


def test_overlaps_of_soft_grains_under_load_do_not_blame_the_step():
    """A grain pressed into the floor by a heavy plate: the overlap is that of Hertz, for any step."""
    overlap, load = 0.08 * D, 1.0
    youngs_modulus = load / (hertz_stiffness(D / 2, youngs_modulus=1.0) * overlap**1.5)
    sim = make(
        (0, 0, D / 2 - overlap * 0.5),
        walls=True,
        gravity=(0, 0, -load / mass()),
        youngs_modulus=youngs_modulus,
        guards=QUIET,
        h=5e-4,
        law=None,
        solver={"iterations": 100},
    )
    found = run(sim, 0.1)
    assert pressed_overlap(sim, 0) == pytest.approx(overlap, rel=1e-3)
    assert [message for message in found if "stiffer grains help" in message]
    assert not [message for message in found if "overlap" in message and "--time-step" in message]


def test_a_restarted_run_keeps_what_was_told():
    sim = make((0, 0, 0), gravity=(0, 0, -G), h=0.002, guards=QUIET)
    run(sim, 0.3)
    again = Simulation.restore(sim.scene, sim.settings, sim.checkpoint())
    assert again.warnings == sim.warnings != []
    assert run(again, 0.3) == []  # told already
    sim.run(0.3)
    assert again.warnings == sim.warnings


def test_the_command_line_warns_and_goes_on(granum, tmp_path):
    """5 m/s and a step of 2 ms: a line before the first step, the summary and the JSON; exit code 0."""
    material = Material(name="m")
    made = Scene(
        materials=[material],
        gravity=Gravity(acceleration=(0, 0, 0)),
        walls=[Plane(material="m")],
        grains=[Grains(material="m", position=np.array([[0, 0, 1.0]]), diameter=0.002, velocity=np.array([[5.0, 0, 0]]))],
    )
    file = write_scene(tmp_path / "scene.py", made)
    arguments = ("run", file, "--time-step", "2e-3", "--duration", "0.01", "--no-picture")
    result = granum(*arguments, "--json")
    assert result.exit_code == 0
    lines = [line for line in result.stderr.splitlines() if line.startswith("warning: ")]
    assert len(lines) == 1
    assert "time_step = 0.002 s is large for a grain placed at 5 m/s: 5 d per step" in lines[0]
    assert json.loads(result.stdout)["warnings"] == [lines[0].removeprefix("warning: ")]
    assert "try --time-step 4e-5" in lines[0]
    assert "5 d per step" in granum(*arguments).stdout
    fitting = granum(*arguments[:2], "--time-step", "4e-5", *arguments[4:], "--json")
    assert json.loads(fitting.stdout)["warnings"] == []


def test_settings_reach_the_guard():
    assert make_settings({"guards": {"on_coarse": "off"}}).guards.on_coarse == "off"
