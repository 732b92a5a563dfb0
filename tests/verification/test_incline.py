"""A sphere on an incline: sticks, slides, rolls. Gravity leans, the plane stays: cone friction must not know the axes."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from granum import Grains, Material, Plane, Scene, Simulation
from tests.reference.scenes import D, G, H, column_overlaps, make

DOWNHILL = {"x": (1.0, 0.0), "45 degrees": (np.sqrt(0.5), np.sqrt(0.5)), "20 degrees": (np.cos(0.35), np.sin(0.35))}


def incline(tangent, direction="x", seconds=0.5, **material):
    """Velocity and spin gained downhill in 0.1 s by a sphere on a slope of the given tangent, once its overlap has settled."""
    angle = np.arctan(tangent)
    x, y = DOWNHILL[direction]
    lean = (G * np.sin(angle) * x, G * np.sin(angle) * y, -G * np.cos(angle))
    z = D / 2 - column_overlaps(1)[0] * np.cos(angle) ** (2 / 3)  # the Hertz overlap of the normal load
    guards = {"on_lost": "off", "on_energy": "off"}
    material["solver"] = {"iterations": 50, **material.get("solver", {})}  # to rounding
    sim = make((0, 0, z), walls=True, gravity=lean, guards=guards, **material)
    sim.run(seconds)
    v, w = sim.velocity[0].copy(), sim.spin[0].copy()
    sim.run(0.1)
    axis = np.array([-y, x, 0.0])  # a sphere that rolls downhill spins about n x downhill
    return (sim.velocity[0] - v) @ (x, y, 0), (sim.spin[0] - w) @ axis, sim


@pytest.mark.parametrize("direction", DOWNHILL)
def test_sphere_sticks_below_the_friction_angle(direction):
    """mu_r large: no rolling. For tan < mu it rests; the only motion is the creep Sigma_t p_t of the regularised rows."""
    mu = 0.5
    _, _, sim = incline(mu * (1 - 1e-4), direction, friction=mu, rolling_friction=10)
    force = sim.contacts.tangential_force[0]
    creep = 1e-6 / H * np.linalg.norm(force) * H
    # both rows give way: friction by Sigma_t p_t, rolling by r Sigma_r p_r, p_r = r p_t: 2 is room enough for r^2 << 1
    assert np.linalg.norm(sim.velocity[0]) < 2 * creep
    assert creep < 1e-7
    m = 1 / sim.bodies.inverse_mass[1]
    assert_allclose(np.linalg.norm(force), m * G * np.sin(np.arctan(mu * (1 - 1e-4))), rtol=1e-6)


@pytest.mark.parametrize("direction", DOWNHILL)
@pytest.mark.parametrize("tangent", [0.5 * (1 + 1e-3), 0.8, 1.5])
def test_sphere_slides_above_the_friction_angle(tangent, direction):
    """mu_r large: no rolling. For tan > mu the acceleration is g (sin - mu cos)."""
    mu, angle = 0.5, np.arctan(tangent)
    gained, _, sim = incline(tangent, direction, friction=mu, rolling_friction=10)
    # velocities are linear in time and the step is exact for them; the normal load has settled to rounding.
    # Absolute part: near the friction angle the two terms cancel.
    assert_allclose(gained / 0.1, G * (np.sin(angle) - mu * np.cos(angle)), rtol=1e-4, atol=1e-6 * G)
    assert np.linalg.norm(sim.spin) * D < 1e-6 * np.linalg.norm(sim.velocity)


@pytest.mark.parametrize("direction", DOWNHILL)
def test_sphere_slides_and_spins_without_rolling_resistance(direction):
    """tan > 3.5 mu, mu_r = 0: v' = g (sin - mu cos) and r w' = 2.5 mu g cos, the point of contact still slips."""
    mu, angle = 0.2, np.arctan(1.2)
    gained, spun, _ = incline(1.2, direction, friction=mu)
    assert_allclose(gained / 0.1, G * (np.sin(angle) - mu * np.cos(angle)), rtol=1e-4)
    assert_allclose(spun / 0.1 * D / 2, 2.5 * mu * G * np.cos(angle), rtol=1e-4)


@pytest.mark.parametrize("direction", DOWNHILL)
def test_sphere_rolls_at_five_sevenths(direction):
    """Enough friction, mu_r = 0: rolls without slip at 5/7 g sin."""
    gained, spun, sim = incline(0.5, direction, friction=0.5)
    # exact but for the softness of the friction rows, Sigma_t / D_t = 1e-6 / h m / 3.5 = 2e-7
    assert_allclose(gained / 0.1, 5 / 7 * G * np.sin(np.arctan(0.5)), rtol=1e-6)
    assert_allclose(spun * D / 2, gained, rtol=1e-6)
    assert_allclose(np.linalg.norm(np.cross(sim.spin[0], (0, 0, D / 2))), np.linalg.norm(sim.velocity[0]), rtol=1e-6)


@pytest.mark.parametrize("direction", DOWNHILL)
def test_rolling_resistance_holds_up_to_its_tangent(direction):
    """R* of a sphere on a plane is its radius, so the moment mu_r r f_n holds m g sin r up to tan = mu_r."""
    mu_r = 0.3
    _, _, sim = incline(mu_r * (1 - 1e-4), direction, friction=2.0, rolling_friction=mu_r)
    # creeps as above; the spin's creep Sigma_r p_r is 1e-6 / h times the moment r m g sin h
    m = 1 / sim.bodies.inverse_mass[1]
    assert np.linalg.norm(sim.velocity[0]) < 2e-6 * m * G
    # above: I w' = r (m g (sin - mu_r cos)) - ..., so a = 5/7 g (sin - mu_r cos)
    for tangent in (mu_r * (1 + 1e-3), 0.6):
        angle = np.arctan(tangent)
        gained, _, _ = incline(tangent, direction, friction=2.0, rolling_friction=mu_r)
        assert_allclose(gained / 0.1, 5 / 7 * G * (np.sin(angle) - mu_r * np.cos(angle)), rtol=1e-4, atol=1e-6 * G)


def test_box_friction_reaches_further_between_its_axes():
    """``box`` bounds each of two components by mu f_n: along the tangents it holds mu, at 45 degrees to them 1.41 mu."""
    mu = 0.5
    for direction, reach in (("x", 1.0), ("45 degrees", np.sqrt(2)), ("20 degrees", 1 / np.cos(0.35))):
        box = {"stepper": {"friction": "box"}, "friction": mu, "rolling_friction": 10}
        gained, _, sim = incline(mu * reach * 0.999, direction, **box)
        assert abs(gained) < 1e-6
        gained, _, sim = incline(mu * reach * 1.01, direction, **box)
        assert np.linalg.norm(sim.velocity) > 1e-3
        force = sim.contacts.tangential_force[0, :2]
        # sliding starts where the first component reaches its bound; at 45 degrees both do, with 1.41 mu f_n together
        assert_allclose(np.abs(force).max(), mu * sim.contacts.normal_force[0], rtol=1e-9)
        assert np.linalg.norm(force) <= reach * mu * sim.contacts.normal_force[0] * (1 + 2e-2)


def shaft(radius, **settings):
    """A sphere that two upright planes squeeze so that friction could hold four times its weight; 40 steps of 2.5 ms."""
    stone = Material(name="stone", density=2500, youngs_modulus=1e9, friction=0.5, restitution=0.0)
    weight = 2500 * 4 / 3 * np.pi * radius**3 * G
    stiffness = 4 / 3 * 1e9 / (2 * (1 - stone.poisson_ratio**2)) * np.sqrt(radius)
    apart = radius - (4 * weight / stiffness) ** (2 / 3)
    walls = [Plane(material="stone", point=(side * apart, 0, 0), normal=(-side, 0, 0)) for side in (-1, 1)]
    scene = Scene(
        materials=[stone],
        walls=walls,
        grains=[Grains(material="stone", position=[[0, 0, 0]], diameter=2 * radius)],
        gravity={"acceleration": (0, 0, -G)},
    )
    sim = Simulation(scene, time_step=2.5e-3, guards={"on_coarse": "off"}, stepper={"name": "nonsmooth", **settings})
    for _ in range(40):
        sim.step()
    return weight, sim.velocity[0, 2]


@pytest.mark.parametrize("radius", [5e-4, 5e-3, 0.3, 1.0])
def test_a_squeezed_sphere_creeps_by_a_thousandth_of_a_fall_at_most(radius):
    """Friction rows give way: each of two contacts carries half of the weight and creeps with gamma_t times that. From 1 mg to 10 t."""
    weight, speed = shaft(radius)
    fall = G * 2.5e-3
    assert -speed <= 0.5e-3 * fall * (1 + 1e-6)
    assert speed == pytest.approx(-min(0.5e-6 * weight, 0.5e-3 * fall), rel=1e-3)


def test_a_regularisation_that_is_given_is_taken():
    weight, speed = shaft(0.3, regularisation=1e-6)
    assert speed == pytest.approx(-0.5e-6 * weight, rel=1e-3)
