"""A smooth sphere on an incline: sticks without creep, slides, rolls. Gravity leans, the plane stays."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.reference.scenes import D, G, hertz_stiffness, mass
from tests.reference.smooth import LAWS, make

R = D / 2
SHEAR = 2 * (1 - 0.3) / (2 - 0.3)  # k_t over the tangent stiffness of the normal force (Mindlin), nu = 0.3


def incline(tangent, law="hertz", turn=0.4, **material):
    """A sphere laid at rest on a slope of that tangent, ``turn`` [rad] from x; with downhill and the axis of rolling downhill."""
    angle = np.arctan(tangent)
    downhill = np.array([np.cos(turn), np.sin(turn), 0.0])
    pull = G * (np.sin(angle) * downhill - (0, 0, np.cos(angle)))
    sim = make((0, 0, R - overlap(tangent, law)), walls=True, gravity=pull, law=LAWS[law], **material)
    return sim, downhill, np.cross((0, 0, 1), downhill)


def overlap(tangent, law):
    """[m] under the normal load m g cos."""
    load = mass() * G / np.sqrt(1 + tangent**2)
    return (load / hertz_stiffness(R)) ** (2 / 3) if law == "hertz" else load / LAWS[law].stiffness


def shear_stiffness(tangent, law):
    """k_t [N/m] at that load."""
    k = 1.5 * hertz_stiffness(R) * overlap(tangent, law) ** 0.5 if law == "hertz" else LAWS[law].stiffness
    return SHEAR * k


def gains(sim, downhill, axis, settle=0.05, seconds=0.05):
    """Acceleration downhill and r times that of the spin [m/s^2], once the springs have come to rest."""
    sim.run(settle)
    v, w, t = sim.velocity[0].copy(), sim.spin[0].copy(), sim.time
    sim.run(seconds)
    return (sim.velocity[0] - v) @ downhill / (sim.time - t), R * (sim.spin[0] - w) @ axis / (sim.time - t)


@pytest.mark.parametrize("law", LAWS)
def test_sphere_rolls_at_five_sevenths(law):
    """Enough friction, mu_r = 0: rolls without slip at 5/7 g sin. What the friction spring still swings dies out with e = 0.3."""
    sim, *axes = incline(0.5, law, friction=0.5, restitution=0.3)
    along, spun = gains(sim, *axes)
    assert_allclose([along, spun], 5 / 7 * G * np.sin(np.arctan(0.5)), rtol=1e-9)
    assert_allclose(R * np.linalg.norm(sim.spin), np.linalg.norm(sim.velocity), rtol=1e-4)  # the spring was loaded by a slip of f_t / k_t


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("tangent", [0.5 * (1 + 1e-3), 0.8, 1.5])
def test_sphere_slides_above_the_friction_angle(tangent, law):
    """mu_r large: no rolling. For tan > mu the acceleration is g (sin - mu cos)."""
    mu, angle = 0.5, np.arctan(tangent)
    sim, *axes = incline(tangent, law, friction=mu, rolling_friction=10, restitution=0.3)
    along, spun = gains(sim, *axes)
    assert_allclose(along, G * (np.sin(angle) - mu * np.cos(angle)), rtol=1e-9, atol=1e-9 * G)
    assert abs(spun) < 1e-6 * G


def test_sphere_slides_and_spins_without_rolling_resistance():
    """tan > 3.5 mu, mu_r = 0: v' = g (sin - mu cos) and r w' = 2.5 mu g cos, the point of contact still slips."""
    mu, angle = 0.2, np.arctan(1.2)
    sim, *axes = incline(1.2, friction=mu, restitution=0.3)
    along, spun = gains(sim, *axes)
    assert_allclose(along, G * (np.sin(angle) - mu * np.cos(angle)), rtol=1e-9)
    assert_allclose(spun, 2.5 * mu * G * np.cos(angle), rtol=1e-9)


@pytest.mark.parametrize("law", LAWS)
def test_rolling_resistance_holds_up_to_its_tangent(law):
    """R* of a sphere on a plane is its radius, so the moment mu_r r f_n holds m g sin r up to tan = mu_r; above: 5/7 g (sin - mu_r cos)."""
    mu_r = 0.3
    sim, *axes = incline(mu_r * 0.97, law, friction=2.0, rolling_friction=mu_r, restitution=0.1)
    # the springs overshoot when gravity sets in: it gives way a little, then stands
    sim.run(0.15)
    assert np.linalg.norm(sim.velocity) + R * np.linalg.norm(sim.spin) < 1e-8
    for tangent in (mu_r * 1.01, 0.6):
        angle = np.arctan(tangent)
        sim, *axes = incline(tangent, law, friction=2.0, rolling_friction=mu_r, restitution=0.3)
        along, spun = gains(sim, *axes)
        assert_allclose([along, spun], 5 / 7 * G * (np.sin(angle) - mu_r * np.cos(angle)), rtol=1e-6)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("integrator", ["verlet", "euler"])
def test_sphere_sticks_without_creep(law, integrator):
    """Rolling blocked, far below the friction angle: it settles where the springs hold it and stays there, to rounding.

    Friction is k_t s, the moment k_t R*^2 q = r f_t, and the centre moves by s + r q = 2 m g sin / k_t.
    """
    tangent = 0.2
    sim, downhill, _ = incline(tangent, law, friction=0.5, rolling_friction=0.5, restitution=0.1, integrator=integrator)
    start = sim.position[0].copy()
    sim.run(0.15)
    place = sim.position[0].copy()
    load = mass() * G * np.sin(np.arctan(tangent))
    assert_allclose((place - start) @ downhill, 2 * load / shear_stiffness(tangent, law), rtol=1e-6)
    assert_allclose(np.linalg.norm(sim.contacts.tangential_force[0]), load, rtol=1e-9)
    assert_allclose(np.linalg.norm(sim.contacts.rolling_torque[0]), R * load, rtol=1e-9)
    sim.run(0.05)
    assert np.abs(sim.position[0] - place).max() < 1e-15
    assert np.linalg.norm(sim.velocity) < np.finfo(float).eps * R / sim.time_step  # not by the last digit of its place in a step


def test_spring_is_capped_by_coulomb():
    """After a long slide the spring is mu f_n / k_t long and no longer, so that a grain pushed back soon feels friction turn."""
    mu, tangent = 0.3, 0.9
    sim, downhill, _ = incline(tangent, friction=mu, rolling_friction=10, restitution=1.0)
    sim.run(0.03)
    slid = np.linalg.norm(sim.position[0, :2])
    length = mu * mass() * G * np.cos(np.arctan(tangent)) / shear_stiffness(tangent, "hertz")
    spring = sim.stepper.at_walls.now.of("spring")[0, 1:4]
    assert slid > 10 * length
    assert_allclose(spring, -length * downhill, rtol=1e-6, atol=1e-9 * length)  # of the wall against the grain
    sim.velocity[:] = -sim.velocity
    sim.run(2.2 * length / np.linalg.norm(sim.velocity))
    assert sim.contacts.tangential_force[0] @ downhill < 0  # on the wall: uphill, as the grain now slides uphill
