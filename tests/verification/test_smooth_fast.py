"""Fast grains in smooth DEM: the automatic step fits them, a longer one is told and stopped, and contacts that are too soft are named."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

from granum.checks import RunError
from granum.contact import HertzContact, LinearContact, Material
from granum.scene import Body, Box, Cylinder, Grains, Gravity, Mesh, Motion, Plane, Scene
from granum.simulation import Simulation, make_settings
from granum.smooth.time_step import LEAP, WAY, automatic_step, impact_depth, longest_step
from tests.reference.scenes import G
from tests.reference.smooth import LAWS, make

D = 0.002
SQUARE = [(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)]
TARGETS = {
    "plane": Plane(material="m"),
    "box": Box(material="m", lower=(-1, -1, 0), upper=(1, 1, 1)),
    "slab": Box(material="m", lower=(-1, -1, -1e-4), upper=(1, 1, 0), side="outside"),
    "cylinder": Cylinder(material="m", axis=(0, 1, 0), centre=(0, 0, 0.3), radius=0.3, length=4.0),
    "sheet": Mesh(material="m", vertices=SQUARE, triangles=[(0, 1, 2), (0, 2, 3)]),
}


def shots(target, modulus, speed, count=20, law=None, e=0.5, size=D, seed=0):
    """Projectiles on their way down to a target at z = 0, from 10 d above, up to 60 degrees from the normal."""
    rng = np.random.default_rng(seed)
    angle, turn = np.radians(rng.uniform(0, 60, count)), rng.uniform(0, 2 * np.pi, count)
    velocity = speed * np.stack([np.sin(angle) * np.cos(turn), np.sin(angle) * np.sin(turn), -np.cos(angle)], axis=1)
    centre = np.stack([np.zeros(count), 60 * D * (np.arange(count) - count / 2 + 0.5), rng.uniform(10, 12, count) * D], axis=1)
    if target != "grains":
        centre *= (1, 0.25, 1)  # a wide target
    grains = [Grains(material="m", position=centre, diameter=size, velocity=velocity)]
    if target == "grains":  # a layer of fixed ones under each
        x, y = (k.ravel() * 0.9 * D for k in np.meshgrid(np.arange(-24, 25), np.arange(-24, 25)))
        layer = np.concatenate([np.stack([x, y + c, 0 * x], axis=1) for c in centre[:, 1]])
        grains.append(Grains(material="m", position=layer, diameter=D, static=True))
    return Scene(
        materials=[Material(name="m", density=2500.0, youngs_modulus=modulus, restitution=e, friction=0.3)],
        grains=grains,
        walls=[TARGETS[target]] if target != "grains" else [],
        law=law or HertzContact(),
        gravity=Gravity(acceleration=(0, 0, 0)),
    )


def shoot(scene, h=None):
    """The run until all have gone twice as far as the target, and its warnings."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        sim = Simulation(scene, make_settings({"stepper": {"name": "smooth"}}, {} if h is None else {"time_step": h}))
        moving = slice(0, len(scene.grains[0].position))
        slowest = np.abs(sim.velocity[moving, 2]).min()
        while sim.time < 30 * D / slowest:
            sim.step()
    return sim, [str(w.message) for w in told]


@pytest.mark.parametrize("target", [*TARGETS, "grains"])
def test_nothing_passes_at_the_automatic_step(target):
    """At 500 m/s, with grains stiff enough that an impact goes 0.3 d deep at most: all come back, from walls with their restitution."""
    count, modulus = (4, 6e10) if target == "grains" else (20, 6e10)
    scene = shots(target, modulus, 500.0, count)
    assert 0.05 < impact_depth(scene, 500.0) < 0.3
    before = scene.grains[0].velocity[:, 2]
    sim, _ = shoot(scene)
    assert (sim.position[:count, 2] > 0).all()
    if target == "grains":
        assert (np.linalg.norm(sim.velocity[:count], axis=1) < 500).all()
    elif target == "cylinder":
        assert (sim.velocity[:, 2] > 0).all()
    else:
        np.testing.assert_allclose(-sim.velocity[:, 2] / before, 0.5, atol=0.01)


@pytest.mark.parametrize("target", [*TARGETS, "grains"])
def test_a_step_too_long_stops_and_names_the_one_that_fits(target):
    """2.5 d per step: stable for such soft grains, told before the first step, and stopped after it."""
    scene, h = shots(target, 1e6, 500.0, 2), 1e-5
    assert h < longest_step(scene, True)
    with pytest.warns(RuntimeWarning, match=r"2\.5 d per step .* try --time-step"):
        sim = Simulation(scene, make_settings({"stepper": {"name": "smooth"}}, {"time_step": h}))
    with pytest.raises(RunError) as stopped:
        sim.run(1.0)
    words = str(stopped.value)
    assert re.search(r"\(step 1\): grain [01] at .* moves at 500 m/s, 5 r per step: it may pass others and walls unseen", words)
    fits = float(re.search(r"Try --time-step (\S+?),", words)[1])
    assert 0.9 * WAY * D / 2 / 500 < fits <= WAY * D / 2 / 500
    assert re.search(r"stiffer grains: an impact at that speed goes up to 14 d deep at any step", words)


def test_a_grain_that_becomes_fast_stops_the_run():
    """Free fall with the guard on: g t h = LEAP r, to a step."""
    h = 1e-3
    falls = {"gravity": (0, 0, -G), "diameter": D, "density": 1e6, "youngs_modulus": 1e6, "h": h}
    sim = make((0, 0, 0), guards={"on_lost": "stop", "on_coarse": "off"}, **falls)
    with pytest.raises(RunError, match=r"0\.5 r per step"):
        sim.run(1.0)
    assert sim.time == pytest.approx(LEAP * D / 2 / h / G, abs=1.5 * h)
    # told once, or not at all, by setting
    for action, told in (("warn", 1), ("off", 0)):
        sim = make((0, 0, 0), guards={"on_lost": action, "on_coarse": "off"}, **falls)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            sim.run(0.2)
        assert len(caught) == len(sim.warnings) == told


def test_a_large_grain_may_be_as_fast_as_its_own_radius_allows():
    """What counts is the way over a grain's own radius: ten times the size, ten times the speed."""
    sim = make([(0, 0, 0), (1, 0, 0)], velocity=[(1.0, 0, 0), (9.0, 0, 0)], diameter=[D, 10 * D], h=1e-5)
    sim.step()
    assert sim.stepper.leap == pytest.approx(1.0 * 1e-5 / (D / 2), rel=1e-12)
    assert sim.stepper.fastest == pytest.approx(9.0, rel=1e-12)


@pytest.mark.parametrize("law", LAWS)
def test_the_automatic_step_goes_a_quarter_radius_at_most(law):
    """For what starts fast, is driven fast, is emitted or falls far; slower scenes keep the step that resolves their collisions."""

    def step(**scene):
        return automatic_step(make((0, 0, 1), diameter=D, h=1e-9, law=LAWS[law], **scene).scene, True)

    slow = step()
    assert step(velocity=(0.01, 0, 0)) == slow
    assert step(velocity=(1e4, 0, 0)) == pytest.approx(WAY * D / 2 / 1e4, rel=1e-12)
    piston = Body(name="piston", kind="kinematic", motion=Motion(velocity=(0, 0, 1e4)), walls=[Plane(material="m", point=(0, 0, -1))])
    assert step(bodies=[piston]) == pytest.approx(WAY * D / 2 / 1e4, rel=1e-12)
    shaker = Body(name="shaker", kind="kinematic", motion=Motion(amplitude=(0, 0, 1.0), frequency=1e4 / 2 / np.pi), walls=piston.walls)
    assert step(bodies=[shaker]) == pytest.approx(WAY * D / 2 / 1e4, rel=1e-12)
    fall = make((0, 0, 1e5), diameter=D, h=1e-9, law=LAWS[law], gravity=(0, 0, -1e3), walls=True).scene
    assert automatic_step(fall, True) == pytest.approx(WAY * D / 2 / np.sqrt(2e8), rel=1e-6)
    assert automatic_step(make((0, 0, 1), diameter=D, h=1e-9, law=LAWS[law]).scene, True, 1e4) == step(velocity=(1e4, 0, 0))


@pytest.mark.parametrize("law", [HertzContact(), LinearContact(stiffness=2e3)], ids=lambda law: law.name)
def test_soft_impacts_are_as_deep_as_foretold(law):
    """The depth of an elastic impact in closed form is what a run finds; beyond half a diameter it is told before the first step."""
    speed = 2.0
    sim = make((0, 0, D / 2 * 1.001), velocity=(0, 0, -speed), diameter=D, walls=True, restitution=1.0, law=law, youngs_modulus=1e6)
    foretold, deepest = impact_depth(sim.scene, speed), 0.0
    while sim.velocity[0, 2] < 0:
        deepest = max(deepest, sim.step().max_overlap)
    assert deepest / D == pytest.approx(foretold, rel=1e-3)
    assert not sim.warnings
    faster = speed * (0.6 / foretold) ** (1.25 if law.name == "hertz" else 1.0)
    with pytest.warns(RuntimeWarning, match=rf"an impact at {faster:.3g} m/s goes up to 0\.6 d deep, .* take stiffer grains"):
        make((0, 0, 1), velocity=(0, 0, -faster), diameter=D, walls=True, law=law, youngs_modulus=1e6, h=1e-7)
