"""The step that smooth DEM can take: stable below the limit, refused above; and packings that come to rest on it."""

from __future__ import annotations

import copy
import warnings
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose

import granum.smooth.stepper
from granum.checks import InputError, RunError
from granum.contact import HertzContact, LinearContact
from granum.scene.library import make_scene
from granum.simulation import Simulation, make_settings
from granum.smooth.time_step import automatic_step, longest_step
from granum.state.contacts import overlap_in_diameters
from tests.reference.scenes import FREE, G

SOFT = {"diameter": 0.01, "youngs_modulus": 1e6, "friction": 0.9, "rolling_friction": 0.32}
LINEAR = LinearContact(stiffness=1000.0)  # as stiff as Hertz at an overlap of 1 %


def packing(law, count=100, seconds=0.5, **changes):
    """A box of grains that lie, settled in big steps."""
    parameters = {"count": count, **SOFT, **changes}
    scene = make_scene("box", parameters).model_copy(update={"law": law})
    return scene, settled(tuple(parameters.items()), law, seconds)


@cache
def settled(parameters, law, seconds):
    scene = make_scene("box", dict(parameters)).model_copy(update={"law": law})
    sim = Simulation(scene, make_settings(scene.run, {"guards": FREE}))
    sim.run(seconds)
    return sim.bodies


def smooth(scene, bodies, h=None, damping="restitution"):
    how = {"stepper": {"name": "smooth", "damping": damping}, "guards": FREE}
    return Simulation(scene, make_settings(how, {} if h is None else {"time_step": h}), bodies=copy.deepcopy(bodies))


def unrest(sim, steps):
    """Kinetic energy in a later fifth of some steps, over m g d of all grains."""
    kinetic = [sim.step().kinetic_energy for _ in range(steps)][-steps // 5 :]
    return np.mean(kinetic) / (sim.bodies.mass @ sim.radius * 2 * G)


CASES = {
    "hertz 0.1": (HertzContact(), 0.1, "restitution"),
    "hertz 0.5": (HertzContact(), 0.5, "restitution"),
    "hertz 0.9": (HertzContact(), 0.9, "restitution"),
    "linear 0.1": (LINEAR, 0.1, "restitution"),
    "linear 0.5": (LINEAR, 0.5, "restitution"),
    "hertz c": (HertzContact(dissipation=3e-3), 0.5, "dissipation"),
    "linear c": (LinearContact(stiffness=1000.0, dissipation=1e-2), 0.5, "dissipation"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_packing_stays_at_rest_just_below_the_limit(case):
    """Friction and rolling, overlaps beyond the 1 % that the limit is for: it settles, as its springs form, as at half the step.

    A mode that grew would shake it at 0.01 m g d (below), thousands of times more.
    """
    law, e, damping = CASES[case]
    scene, bodies = packing(law, restitution=e)
    longest = longest_step(scene, damping == "restitution")
    sim = smooth(scene, bodies, 0.99 * longest, damping)
    still, half = unrest(sim, 1000), unrest(smooth(scene, bodies, 0.99 * longest / 2, damping), 2000)
    c = sim.contacts
    deepest = overlap_in_diameters(c.overlap, c.a, c.b, sim.radius).max()
    assert deepest > 0.01
    assert still < 2 * half + 1e-6
    assert still < 1e-3


@pytest.mark.parametrize("case", ["hertz 0.1", "hertz 0.5", "linear 0.5"])
def test_the_limit_is_near(case, monkeypatch):
    """At three times the limit the same packing never rests, or flies apart."""
    law, e, damping = CASES[case]
    scene, bodies = packing(law, restitution=e)
    monkeypatch.setattr(granum.smooth.stepper, "check_step", lambda *_: None)
    sim = smooth(scene, bodies, 3 * longest_step(scene, damping == "restitution"), damping)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # grains that fly are told of
        try:
            shaken = unrest(sim, 1000)
        except RunError:
            shaken = np.inf
    assert shaken > 0.01


@pytest.mark.parametrize("integrator", ["verlet", "euler"])
@pytest.mark.parametrize("law", [HertzContact(), LINEAR], ids=lambda law: law.name)
def test_unstable_step_is_refused(law, integrator):
    """In words that name the step, the limit, and the step to take."""
    scene = make_scene("column", {"count": 2}).model_copy(update={"law": law})
    longest, automatic = longest_step(scene, True), automatic_step(scene, True)
    how = {"stepper": {"name": "smooth", "integrator": integrator}}
    Simulation(scene, make_settings(how, {"time_step": 0.999 * longest}))
    with pytest.raises(InputError, match=rf"time_step = .* unstable .* below {longest:.3g} s.* {automatic:.3g} s"):
        Simulation(scene, make_settings(how, {"time_step": 1.001 * longest}))
    assert Simulation(scene, make_settings(how)).time_step == automatic


@pytest.mark.parametrize("law", ["hertz", "linear"])
def test_automatic_step_is_well_below_the_limit(law):
    """For any restitution and dissipation, and it scales as d sqrt(rho / E)."""

    def steps(e=0.5, c=None, **changes):
        made = HertzContact(dissipation=c or 0.0) if law == "hertz" else LinearContact(stiffness=1000.0, dissipation=c or 0.0)
        scene = make_scene("box", {"count": 2, **SOFT, "restitution": e, **changes}).model_copy(update={"law": made})
        return automatic_step(scene, c is None), longest_step(scene, c is None)

    for e in (0.0, 0.05, 0.1, 0.3, 0.5, 0.8, 1.0):
        automatic, longest = steps(e)
        assert automatic < 0.6 * longest
    for c in (0.0, 1e-5, 1e-3, 1e-1, 10.0):
        automatic, longest = steps(c=c)
        assert automatic < 0.85 * longest
    if law == "hertz":
        assert_allclose(steps(diameter=0.02), np.array(steps(diameter=0.01)) * 2, rtol=1e-12)
        assert_allclose(steps(youngs_modulus=4e6), np.array(steps(youngs_modulus=1e6)) / 2, rtol=1e-12)
        assert_allclose(steps(size_ratio=10.0), np.array(steps()) / 10, rtol=1e-12)


def test_size_ratio_of_ten():
    """Grains of 1 to 10 mm come to rest, and the box carries them."""
    scene, bodies = packing(
        HertzContact(), count=60, size_ratio=10.0, youngs_modulus=2e5, friction=0.5, rolling_friction=0.1, restitution=0.3
    )
    sim = Simulation(scene, make_settings({"stepper": {"name": "smooth"}}), bodies=copy.deepcopy(bodies))  # with all guards
    sim.run(0.15)
    c, weight = sim.contacts, sim.bodies.mass.sum() * G
    walls = c.b < 0
    load = (c.normal_force[walls, None] * c.normal[walls] + c.tangential_force[walls]).sum(axis=0)
    assert sim.radius.max() > 9 * sim.radius.min()
    assert_allclose(load, (0, 0, -weight), atol=1e-3 * weight)
