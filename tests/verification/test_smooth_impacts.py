"""Collisions in smooth DEM: Hertz' closed forms (after Chung and Ooi), the restitution asked for, friction in oblique impacts."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from granum.contact import LinearContact, Material
from granum.smooth.damping import LEAST, damping_for, restitution
from tests.reference.smooth import LAWS, make

RESTITUTION = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]


def collide(sim):
    """Largest overlap [m], largest force [N] and duration [s] of one contact, between the steps where the path says."""
    overlap, force = [0.0], [0.0]
    while len(overlap) < 3 or sim.report.contacts:
        sim.step()
        c = sim.contacts
        if c.contact_count:
            overlap.append(c.overlap[0])
            force.append(c.normal_force[0])
    x, peak = np.array(overlap[1:]), int(np.argmax(overlap)) - 1
    # Contact begins and ends between steps: the overlap goes through zero in a line there. The peak is a parabola.
    h = sim.time_step
    begin, end = -x[0] / (x[1] - x[0]), len(x) - 1 + x[-1] / (x[-2] - x[-1])
    top = np.polyfit([-1, 0, 1], x[peak - 1 : peak + 2], 2)
    return top[2] - top[1] ** 2 / (4 * top[0]), max(force), (end - begin) * h


def hertz_collision(stiffness, inertia, speed):
    """The same in closed form: delta^(5/2) = 5/4 m v^2 / k, f = k delta^(3/2), t = 2.9433 delta / v."""
    overlap = (1.25 * inertia * speed**2 / stiffness) ** 0.4
    beta = math.gamma(0.4) / math.gamma(0.9) * math.sqrt(math.pi) * 0.8  # 4/5 B(2/5, 1/2)
    return overlap, stiffness * overlap**1.5, beta * overlap / speed


CHUNG_OOI = {
    # R [m], E [Pa], nu, rho [kg/m^3], approach speed [m/s]; overlap [m], force [N], duration [s]
    "spheres": ((0.01, 48e9, 0.2, 2800.0, 20.0), (274.1e-6, 10.697e3, 40.34e-6)),
    "rigid wall": ((0.1, 70e9, 0.3, 2699.0, 0.2), (49.72e-6, 11.37e3, 731.6e-6)),
}


@pytest.mark.parametrize("case", CHUNG_OOI)
def test_elastic_impact_follows_hertz(case):
    """Second order in h: at half the automatic step, 200 steps per collision, better than 1e-3; asked is 0.5 %."""
    (r, modulus, nu, density, speed), published = CHUNG_OOI[case]
    m = density * 4 / 3 * math.pi * r**3
    stone = {"diameter": 2 * r, "youngs_modulus": modulus, "poisson_ratio": nu, "density": density, "restitution": 1.0, "friction": 0.0}
    if case == "spheres":
        scene = {"position": [(0, 0, 0), (2 * r * (1 + 1e-12), 0, 0)], "velocity": [(speed / 2, 0, 0), (-speed / 2, 0, 0)]}
        exact = hertz_collision(4 / 3 * modulus / (2 * (1 - nu**2)) * math.sqrt(r / 2), m / 2, speed)
    else:
        rigid = Material(name="rigid", youngs_modulus=1e30, poisson_ratio=0.0, restitution=1.0)
        scene = {"position": (0, 0, r * (1 + 1e-12)), "velocity": (0, 0, -speed), "walls": True, "wall_material": rigid}
        exact = hertz_collision(4 / 3 * modulus / (1 - nu**2) * math.sqrt(r), m, speed)
    h = make(**scene, **stone).time_step / 2
    found = collide(make(**scene, **stone, h=h))
    assert_allclose(exact, published, rtol=1e-3)  # printed digits
    assert_allclose(found, exact, rtol=1e-3)
    assert_allclose(found, published, rtol=5e-3)


def test_linear_elastic_impact_is_half_a_swing():
    """delta = v sqrt(m/k), f = v sqrt(m k), t = pi sqrt(m/k)."""
    k, speed = 1e4, 0.3
    scene = {
        "position": (0, 0, 0.005 * (1 + 1e-12)),
        "velocity": (0, 0, -speed),
        "diameter": 0.01,
        "walls": True,
        "law": LinearContact(stiffness=k),
        "restitution": 1.0,
        "friction": 0.0,
    }
    sim = make(**scene, h=5e-6)
    m = float(sim.bodies.mass[0])
    exact = speed * math.sqrt(m / k), speed * math.sqrt(m * k), math.pi * math.sqrt(m / k)
    assert_allclose(collide(sim), exact, rtol=1e-3)


@pytest.mark.parametrize("exponent", [1.25, 1.0])
def test_damping_for_inverts_restitution(exponent):
    for e in RESTITUTION:
        assert abs(restitution(damping_for(e, exponent), exponent) - e) < 1e-12


PHASES = (np.arange(8) + 0.5) / 8  # of one step's travel, left to go when the last free step begins


def rebounds(law, e, speed, other, integrator="verlet"):
    """(8,) measured restitution of pairs (``other`` = size ratio) or at a wall, at all phases, at the step for grains at rest."""
    d, count = 0.01, len(PHASES)
    kind = {"restitution": e, "friction": 0.0, "law": LAWS[law], "integrator": integrator}
    smallest = d if other == "wall" else d / other
    h = make((0, 0, 1), diameter=smallest, **kind).time_step
    aside, up = np.outer(np.arange(count), (3 * d, 0, 0)), np.array([0, 0, 1.0])
    if other == "wall":
        place = aside + np.outer(d / 2 + PHASES * speed * h, up)
        sim = make(place, velocity=np.tile(-speed * up, (count, 1)), diameter=d, walls=True, h=h, **kind)
        parted = lambda: sim.velocity[:, 2]  # noqa: E731
    else:
        place = np.vstack([aside, aside + np.outer((d + smallest) / 2 + PHASES * speed * h, up)])
        velocity = np.outer(np.repeat([0.5, -0.5], count), speed * up)
        sim = make(place, velocity=velocity, diameter=np.repeat([d, smallest], count), h=h, **kind)
        parted = lambda: sim.velocity[count:, 2] - sim.velocity[:count, 2]  # noqa: E731
    sim.run(3 * h)
    while sim.contacts.normal_force.any():
        sim.step()
    return parted() / speed


@pytest.mark.parametrize("law", LAWS)
def test_restitution_is_the_one_asked_for(law):
    """Within 0.01 at the automatic step, whatever speed, size ratio and phase are.

    First order in h, as the dashpot sets in and the force ends between two steps.
    """
    worst = {}
    for e in RESTITUTION:
        cases = [(0.01, 1), (1.0, 1), (0.1, 10), (0.1, "wall"), (1.0, "wall")] if law == "hertz" else [(0.1, 1), (0.1, 10), (0.1, "wall")]
        worst[e] = max(np.abs(rebounds(law, e, *case) - e).max() for case in cases)
    assert max(worst.values()) < 0.01


def test_restitution_with_symplectic_euler():
    for law in LAWS:
        for e in (0.2, 0.5):
            assert np.abs(rebounds(law, e, 0.1, "wall", "euler") - e).max() < 0.01


def test_restitution_below_the_least_is_the_least():
    """e = 0 would need infinite damping."""
    assert np.abs(rebounds("hertz", 0.0, 0.1, "wall") - LEAST).max() < 0.01


def oblique(tangent, e, friction, law="hertz", finer=4, speed=0.5, d=0.01):
    """Velocity and r times spin along the wall and velocity up after an impact at that tangent of an angle, over the normal speed."""
    kind = {"diameter": d, "restitution": e, "law": LAWS[law]}
    sim = make(
        (0, 0, d / 2 * (1 + 1e-9)),
        velocity=(speed * tangent, 0, -speed),
        walls=True,
        friction=friction,
        h=make((0, 0, 1), **kind).time_step / finer,
        **kind,
    )
    sim.run(3 * sim.time_step)
    while sim.contacts.normal_force.any():
        sim.step()
    return np.array([sim.velocity[0, 0], d / 2 * sim.spin[0, 1], sim.velocity[0, 2]]) / speed


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("e", [0.5, 1.0])
@pytest.mark.parametrize("friction", [0.1, 0.4])
def test_sliding_impact_takes_mu_times_the_normal_impulse(law, e, friction):
    """Far above tan = 7/2 mu (1 + e) the contact slides in every step: v_t loses mu (1 + e) v_n and r w gains 5/2 of it, to rounding."""
    tangent = 5 * 3.5 * friction * (1 + e)
    along, spun, up = oblique(tangent, e, friction, law)
    assert abs(up - e) < 0.01
    assert_allclose(tangent - along, friction * (1 + up), rtol=1e-10)
    assert_allclose(spun, 2.5 * friction * (1 + up), rtol=1e-10)


@pytest.mark.parametrize("e", [0.5, 1.0])
def test_tangential_impulse_never_exceeds_friction(e):
    """For all angles: the loss of v_t stays within mu (1 + e) v_n, spin and velocity share it 5/2 : 1, and energy is not gained."""
    friction = 0.3
    for tangent in (0.05, 0.2, 0.5, 1.0, 2.0, 4.0):
        along, spun, up = oblique(tangent, e, friction)
        lost = tangent - along
        assert abs(lost) <= friction * (1 + up) * (1 + 1e-9)
        assert_allclose(spun, 2.5 * lost, rtol=1e-10)  # a wall pushes at r from the centre
        assert along**2 + 0.4 * spun**2 + up**2 <= (1 + tangent**2) * (1 + 1e-6)


def test_sticking_impact_swings_as_its_two_springs():
    """Linear law, enough friction: normally half a swing, tangentially one of mass 2/7 m, so u_t' = cos(pi sqrt(7/2 k_t/k)) u_t."""
    shear = 2 * (1 - 0.3) / (2 - 0.3)  # Mindlin's ratio for nu = 0.3
    along, spun, _ = oblique(0.3, 1.0, 1e6, "linear", finer=16)
    swing = math.cos(math.pi * math.sqrt(3.5 * shear))
    assert_allclose((along - spun) / 0.3, swing, atol=2e-3)  # the end between two of 500 steps: pi sqrt(...) / 500
