"""A linear spring with a constant attraction A: overlaps at rest, what hangs and what falls, friction, energy and momentum."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from granum import InputError, Plane, Scene, relax_run
from granum.contact.adhesive import AdhesiveContact
from tests.reference import scenes, smooth
from tests.reference.scenes import FREE, D, G, by_height, mass

K = 2e3  # [N/m]
WEIGHT = float(mass() * G)
CEILING = Plane(material="m", point=(0, 0, 0), normal=(0, 0, -1))


def sticky(pull, **more):
    """``pull``: A in weights of a grain."""
    return AdhesiveContact(stiffness=K, pull=pull * WEIGHT, **more)


def standing(stepper, heights, **more):
    """A run of grains above each other at these heights [m], by either stepper."""
    position = np.outer(heights, (0, 0, 1))
    if stepper == "smooth":
        return smooth.make(position, gravity=(0, 0, -G), restitution=0.1, **more)
    damped = {"damping_steps": 20}  # over 4 ms; the law at rest does not depend on it
    return scenes.make(position, gravity=(0, 0, -G), h=2e-4, solver={"iterations": 500}, stepper=damped, guards=FREE, **more)


STEPPERS = pytest.mark.parametrize("stepper", ["nonsmooth", "smooth"])


@STEPPERS
def test_overlaps_of_a_column_at_rest(stepper):
    """Contact j carries the weight W_j above it, and overlaps by (W_j + A) / k."""
    count, pull = 6, 2.5
    sim = standing(stepper, D * (np.arange(count) + 0.499), walls=True, law=sticky(pull))
    sim.run(0.6)
    above = WEIGHT * np.arange(count, 0, -1)
    order = by_height(sim)
    # 0.6 s damp the slowest wave of the column by e^-18 and more
    assert_allclose(sim.contacts.overlap[order], (above + pull * WEIGHT) / K, rtol=1e-6)
    assert_allclose(sim.contacts.normal_force[order], above, rtol=1e-6)
    assert_allclose(sim.body("ground").force, (0, 0, -count * WEIGHT), rtol=1e-6, atol=1e-6 * WEIGHT)


@STEPPERS
def test_grains_that_hang_below_a_ceiling(stepper):
    """Three grains hang from each other if A is more than three weights; contact j below j - 1 others overlaps by (A - W_j) / k."""
    below = WEIGHT * np.arange(3, 0, -1)
    heights = D / 2 - np.cumsum(D - 1.01 * (3.2 * WEIGHT - below) / K)  # near to where they rest: more would swing them off
    sim = standing(stepper, heights, walls=[CEILING], law=sticky(3.2))
    sim.run(0.6)
    order = by_height(sim)[::-1]
    assert_allclose(sim.contacts.overlap[order], (3.2 * WEIGHT - below) / K, rtol=1e-6)
    assert_allclose(sim.contacts.normal_force[order], -below, rtol=1e-6)


@STEPPERS
@pytest.mark.parametrize("pull, holds", [(1.05, True), (0.95, False)])
def test_a_grain_falls_if_it_weighs_more_than_the_attraction(stepper, pull, holds):
    # it starts a little inside of where it rests, or without any load: nothing throws it off
    rest = max(0.0, pull - 1) * WEIGHT / K
    sim = standing(stepper, [-D / 2 + rest + 1e-7], walls=[CEILING], law=sticky(pull))
    sim.run(0.3)
    fallen = -D / 2 - sim.position[0, 2]
    if holds:
        assert_allclose(sim.contacts.overlap, [rest], rtol=1e-6)
        assert_allclose(sim.contacts.normal_force, [-WEIGHT], rtol=1e-6)
    else:
        # slowly at first, at (1 - 0.95) g over the overlap, for 1 ms or less; then freely
        assert fallen == pytest.approx(G * 0.3**2 / 2, rel=0.05)


@STEPPERS
@pytest.mark.parametrize("friction", [0.1, 0.5])
def test_friction_is_bounded_by_the_push(stepper, friction):
    """On a wall that attracts it with A = 2 m g a grain slides down at g - mu A / m, or rolls at 5/7 g if 2/7 m g <= mu A (DMT)."""
    pull = 2.0
    wall = Plane(material="m", point=(0, 0, 0), normal=(1, 0, 0))
    position = [(D / 2 - pull * WEIGHT / K, 0, 0)]
    if stepper == "smooth":
        sim = smooth.make(position, gravity=(0, 0, -G), walls=[wall], law=sticky(pull), friction=friction, restitution=0.1)
    else:
        sim = scenes.make(position, gravity=(0, 0, -G), walls=[wall], law=sticky(pull), friction=friction, h=2e-4, guards=FREE)
    sim.run(0.1)
    slides = friction * pull < 2 / 7
    rate = 1 - friction * pull if slides else 5 / 7
    # the spring of smooth friction lags by some of its periods of 2 ms
    assert_allclose(sim.velocity[0, 2], -rate * G * 0.1, rtol=1e-3)


def test_energy_of_grains_that_swing_in_contact_stays():
    """Kinetic energy + k delta^2 / 2 - A delta of two grains that never part; Verlet errs by (w h)^2 / 8 of the swing's, for ever."""
    rest, m = 10 * WEIGHT / K, float(mass()) / 2
    h, w = 2e-5, float(np.sqrt(K / m))
    sim = smooth.make([(0, 0, 0), (D - 1.5 * rest, 0, 0)], law=sticky(10.0), h=h, damping="dissipation", friction=0.0)
    swing = K * (0.5 * rest) ** 2 / 2
    total = []
    for _ in range(7000):
        report = sim.step()
        total.append(report.kinetic_energy + report.elastic_energy)
        assert 0.0 < sim.contacts.overlap[0] < 2 * rest
    assert sim.time * w > 20 * 2 * np.pi
    assert np.abs(np.array(total) / swing - (1 - 4)).max() < (w * h) ** 2  # at rest the energy is -A^2 / 2 k: four times the swing's


def test_a_collision_returns_what_the_attraction_gave():
    """Without damping two grains part as fast as they met, at speeds where A matters: sqrt(m* / k) v = A / k."""
    law = sticky(5.0)
    m = float(mass()) / 2
    speed = 5 * WEIGHT / np.sqrt(K * m)
    sim = smooth.make(
        [(0, 0, 0), (1.001 * D, 0, 0)], velocity=[(speed / 2, 0, 0), (-speed / 2, 0, 0)], law=law, h=2e-6, damping="dissipation"
    )
    sim.run(0.03)
    assert not len(sim.contacts.overlap)
    # The force sets in and ends within a step: an error of A v h in energy each, 2 A h / (m v) = 2 h sqrt(k / m) of the speed
    assert_allclose(sim.velocity[1, 0] - sim.velocity[0, 0], speed, rtol=2 * 2e-6 * np.sqrt(K / m))


@pytest.mark.parametrize("of", [scenes, smooth], ids=["nonsmooth", "smooth"])
def test_momentum_of_a_grain_that_sticks_to_a_free_plate(of):
    """The attraction acts on both, at the point of contact: linear and angular momentum stay, and they hold together."""
    plate = smooth.platen((0, 0, 0), spin=(0, 1.0, 0))
    sim = of.make([(0.03, 0, 0.005 + D / 2 - 1e-5)], bodies=[plate], law=sticky(50.0), h=1e-4, guards=FREE, restitution=0.1)
    b = sim.bodies

    def momenta():
        m, i = np.array([0.05, float(mass())]), 0.4 * float(mass()) * (D / 2) ** 2
        x, v = b.position[1:], b.velocity[1:]
        turning = np.asarray(plate.inertia)[1] * b.spin[1, 1] + i * b.spin[2, 1]
        return m @ v, turning + (m * np.cross(x, v)[:, 1]).sum()

    linear, angular = momenta()
    sim.run(0.05)
    assert len(sim.contacts.overlap) == 1
    assert_allclose(momenta()[0], linear, atol=1e-12)
    assert_allclose(momenta()[1], angular, rtol=2e-3)  # the plate turns by 3 degrees: its contacts move by steps


def test_no_energy_is_minimised():
    sim = scenes.make([(0, 0, D / 2)], walls=True, gravity=(0, 0, -G), law=sticky(1.0))
    with pytest.raises(InputError, match="'adhesive' attracts"):
        relax_run(sim.scene)


def test_scene_files_know_the_law_by_its_name():
    scene = scenes.make([(0, 0, D / 2)], law=sticky(1.0)).scene
    again = Scene.model_validate_json(scene.model_dump_json())
    assert again.law == scene.law
    with pytest.raises(ValueError, match="'adhesive', 'hertz', 'linear'"):
        Scene.model_validate({**scene.model_dump(), "law": {"name": "hooke"}})
    with pytest.raises(ValueError, match="needs a name, one of: 'adhesive'"):
        Scene.model_validate({**scene.model_dump(), "law": {"stiffness": 1.0}})
