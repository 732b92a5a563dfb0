"""Walls that move: dynamic bodies with six degrees of freedom, prescribed motions, belts, and gravity that grows."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from granum.contact import Material
from granum.scene import Body, Box, Grains, Gravity, Motion, Plane, Scene
from granum.simulation import Simulation, make_settings
from granum.state.rotation import matrix
from tests.reference.scenes import FREE, D, G, H, column_overlaps, hertz_stiffness, make, mass


def platen(position, mass=0.2, velocity=(0, 0, 0), spin=(0, 0, 0), orientation=(1, 0, 0, 0), force=(0, 0, 0)):
    """A plate 100 x 100 x 10 mm about its centre."""
    box = Box(material="m", lower=(-0.05, -0.05, -0.005), upper=(0.05, 0.05, 0.005), side="outside")
    inertia = tuple(mass / 12 * np.array([0.1**2 + 0.01**2, 0.1**2 + 0.01**2, 0.1**2 + 0.1**2]))
    return Body(
        name="platen",
        kind="dynamic",
        position=position,
        mass=mass,
        inertia=inertia,
        velocity=velocity,
        spin=spin,
        orientation=orientation,
        walls=(box,),
        force=force,
    )


def total_momenta(sim):
    """Linear and angular momentum of grains and dynamic walls about the origin."""
    m, r = sim.bodies.mass, sim.radius
    linear = (m[:, None] * sim.velocity).sum(axis=0)
    angular = (np.cross(sim.position, m[:, None] * sim.velocity) + (0.4 * m * r**2)[:, None] * sim.spin).sum(axis=0)
    b = sim.bodies
    for w in np.flatnonzero(b.kind == 2):
        turned, big = matrix(b.orientation[w]), 1 / b.inverse_mass[w]
        linear = linear + big * b.velocity[w]
        angular = angular + np.cross(b.position[w], big * b.velocity[w])
        angular = angular + turned @ (b.moments[w] * (turned.T @ b.spin[w]))
    return linear, angular


def on_four_grains(height, grain_height=D / 2, friction=0.5, **body):
    """A plate of 0.2 kg whose lower face is at ``height``, above four grains on a floor, after 1 s."""
    position = [(x, y, grain_height) for x in (-0.03, 0.03) for y in (-0.03, 0.03)]
    sim = make(
        position,
        walls=True,
        gravity=(0, 0, -G),
        friction=friction,
        rolling_friction=0.2 * friction,
        solver={"iterations": 300},
        bodies=[platen((0, 0, height + 0.005), **body)],
    )
    sim.run(1.0)
    assert (sim.contacts.b == -2).sum() == 4
    return sim, sim.contacts.b == -2


def test_platen_rests_on_four_grains():
    """Four grains carry a quarter of a plate each, the floor all; the heights are Hertz's, and stay.

    Without friction, so that the loads are determinate, and laid down where it should rest, as balls under a smooth plate run away.
    """
    k, load = hertz_stiffness(D / 2), 0.2 * G / 4
    lower, upper = ((load + mass() * G) / k) ** (2 / 3), (load / k) ** (2 / 3)
    height = D - lower - upper
    sim, above = on_four_grains(height, grain_height=D / 2 - lower, friction=0.0)
    force = sim.contacts.normal_force
    assert_allclose(force[above], load, rtol=1e-9)  # rounding, grown by the run-away
    assert_allclose(force[~above], load + mass() * G, rtol=1e-9)
    assert_allclose(sim.bodies.position[1], (0, 0, height + 0.005), atol=1e-9 * D)
    assert np.abs(sim.bodies.spin[1]).max() < 1e-9


def test_dropped_platen_is_in_balance_when_it_rests():
    """With friction the loads are indeterminate (250 ppm of uneven load are seen), but forces and moments balance the weight."""
    sim, upper = on_four_grains(D + 0.002)
    c = sim.contacts
    on_plate = c.normal_force[upper, None] * c.normal[upper] + c.tangential_force[upper]
    assert_allclose(on_plate.sum(axis=0), (0, 0, 0.2 * G), atol=1e-6 * 0.2 * G)
    point = sim.position[c.a[upper]] + D / 2 * c.normal[upper] - sim.bodies.position[1]
    moment = np.cross(point, on_plate) + c.rolling_torque[upper]
    assert_allclose(moment.sum(axis=0), 0, atol=1e-6 * 0.2 * G * 0.03)


def test_constant_force_on_a_platen_is_carried():
    """An external force adds to the weight."""
    sim, upper = on_four_grains(D, force=(0, 0, -3.0))
    assert_allclose(sim.contacts.normal_force[upper].sum(), 0.2 * G + 3.0, rtol=1e-6)


@pytest.mark.parametrize("e, friction, rolling", [(0.0, 0.5, 0.0), (0.5, 0.5, 0.2), (1.0, 0.0, 0.0)])
def test_grain_and_free_platen_exchange_momentum(e, friction, rolling):
    """Off-centre, oblique, both free: linear and angular momentum of the two together keep their values."""
    sim = make(
        (0.03, 0.01, 0.02),
        velocity=(0.3, -0.1, -1.0),
        spin=(5, 2, 3),
        restitution=e,
        friction=friction,
        rolling_friction=rolling,
        bodies=[platen((0, 0, 0), mass=0.05, spin=(0.5, 1.0, 2.0), velocity=(0.0, 0.1, 0.0))],
        guards=FREE,
        h=0.001,
    )
    before = total_momenta(sim)
    energy = None
    hits = 0
    for _ in range(40):
        report = sim.step()
        hits += report.impacts
        energy = energy or report.kinetic_energy
    assert hits >= 1
    assert report.kinetic_energy <= energy * (1 + 1e-4)  # turning keeps L exactly, and energy to (w h)^2 a step
    after = total_momenta(sim)
    # rounding of some hundred sweeps; lever arms of 3 cm
    assert_allclose(after[0], before[0], atol=1e-13 * 0.05)
    assert_allclose(after[1], before[1], atol=1e-12 * 0.05 * 0.03)


def test_impact_with_a_free_platen_obeys_newton():
    """Centric impact of masses m and M: the separation speed is e times the approach speed, momentum is shared."""
    sim = make((0, 0, 0.02), velocity=(0, 0, -1.0), restitution=0.5, bodies=[platen((0, 0, 0), mass=0.05)], guards=FREE)
    sim.run(0.05)
    m, big = mass(), 0.05
    assert_allclose(sim.velocity[0, 2], -(m - 0.5 * big) / (m + big), rtol=1e-9)
    assert_allclose(sim.bodies.velocity[1, 2], -1.5 * m / (m + big), rtol=1e-9)


def test_tumbling_body_keeps_its_angular_momentum():
    """A free body with three different moments tumbles about its middle axis; L stays, and so about does its energy."""
    body = Body(name="brick", kind="dynamic", position=(5, 5, 5), mass=1.0, inertia=(1e-3, 2e-3, 3e-3), spin=(0.05, 4.0, 0.05))
    sim = make((0, 0, 1), bodies=[body], guards=FREE, h=0.001)
    before = total_momenta(sim)[1]
    lean = []
    for _ in range(5000):
        sim.step()
        lean.append((matrix(sim.bodies.orientation[1]).T @ sim.bodies.spin[1])[1])
    assert_allclose(total_momenta(sim)[1], before, atol=1e-12 * np.linalg.norm(before))
    assert min(lean) < -3.5  # it did turn over


def test_lifted_plate_carries_its_grain():
    """A plate that rises at v takes a grain along at v, pressed by its weight."""
    lift = Body(name="lift", kind="kinematic", motion=Motion(velocity=(0.02, 0, 0.3), start=0.0), walls=(Plane(material="m"),))
    sim = make((0, 0, D / 2), bodies=[lift], gravity=(0, 0, -G), rolling_friction=0.5)
    sim.run(1.0)
    assert_allclose(sim.velocity[0], (0.02, 0, 0.3), atol=1e-7)  # creep of the soft friction rows: 2e-8 m/s
    assert_allclose(sim.position[0, 2] - sim.bodies.position[1, 2], D / 2 - column_overlaps(1)[0], rtol=1e-9)
    assert_allclose(sim.contacts.normal_force[0], mass() * G, rtol=1e-9)
    assert_allclose(sim.bodies.position[1], (0.02, 0, 0.3), rtol=1e-12)


def test_rotating_plate_takes_its_grain_along():
    """On a turntable a grain that cannot roll moves with the plate, v = w x R, held by friction m w^2 R; and slips when mu g is less."""
    w, radius = 2.0, 0.1
    for friction, held in ((0.5, True), (0.02, False)):  # w^2 R / g = 0.04
        table = Body(name="table", kind="kinematic", motion=Motion(spin=(0, 0, w)), walls=(Plane(material="m"),))
        sim = make(
            (radius, 0, D / 2 - column_overlaps(1)[0]),
            velocity=(0, w * radius, 0),
            spin=(0, 0, w),
            bodies=[table],
            gravity=(0, 0, -G),
            friction=friction,
            rolling_friction=10.0,
            h=0.001,
            guards=FREE,
        )
        sim.run(1.0)
        out = np.linalg.norm(sim.position[0, :2])
        if held:
            # x += h v+ runs along the tangent: the path spirals out by (w h)^2 R / 2 each step, 2e-3 of R in 1000 steps
            assert_allclose(out, radius, rtol=3e-3)
            assert_allclose(sim.velocity[0], np.cross((0, 0, w), sim.position[0]), atol=2 * w * w * radius * 0.001)
            assert_allclose(sim.spin[0], (0, 0, w), atol=1e-6)
            force = np.linalg.norm(sim.contacts.tangential_force[0])
            assert_allclose(force, mass() * w**2 * out, rtol=1e-2)
        else:
            assert out > 1.02 * radius


def test_belt_pulls_with_friction_up_to_its_speed():
    """A grain put on a belt accelerates at mu g until it has the belt's speed (rolling blocked), and keeps it."""
    friction, belt = 0.3, 0.5
    plane = Plane(material="m", surface_velocity=(belt * 0.8, belt * 0.6, 0.2))  # the part along the normal must not count
    height = D / 2 - column_overlaps(1)[0]
    sim = make((0, 0, height), walls=[plane], gravity=(0, 0, -G), friction=friction, rolling_friction=10.0)
    finds_its_place = abs(sim.position[0, 2] - height) / H  # [m/s], in one step at most
    while sim.time < 0.15:
        sim.step()
        assert_allclose(sim.velocity[0], friction * G * sim.time * np.array([0.8, 0.6, 0]), rtol=1e-9, atol=1e-12 + finds_its_place)
    sim.run(0.1)
    assert_allclose(sim.velocity[0], (0.8 * belt, 0.6 * belt, 0), atol=1e-7)


def test_belt_spins_a_grain_that_may_roll():
    """Without rolling resistance the grain rolls: the belt's speed at the contact, 2/7 of it at the centre."""
    belt = 0.5
    sim = make(
        (0, 0, D / 2 - column_overlaps(1)[0]),
        walls=[Plane(material="m", surface_velocity=(belt, 0, 0))],
        gravity=(0, 0, -G),
        friction=0.3,
    )
    sim.run(0.5)
    assert_allclose(sim.velocity[0], (2 / 7 * belt, 0, 0), rtol=1e-6, atol=1e-9)
    assert_allclose(sim.velocity[0] + np.cross(sim.spin[0], (0, 0, -D / 2)), (belt, 0, 0), rtol=1e-6, atol=1e-9)


def test_gravity_grows_along_its_ramp():
    """g(t) grows linearly in the ramp: v(t) = g t^2 / (2 T) in free fall, with g taken at the start of each step."""
    ramp = 0.5
    scene = Scene(
        materials=[Material(name="m")],
        grains=[Grains(material="m", position=[[0, 0, 5.0]], diameter=D)],
        gravity=Gravity(acceleration=(0, 0, -G), ramp=ramp),
        world=((-1, -1, -9), (1, 1, 9)),
    )
    sim = Simulation(scene, make_settings({"time_step": H}))
    sim.run(ramp)
    n = round(ramp / H)
    assert_allclose(sim.velocity[0, 2], -G * H * (n - 1) / 2, rtol=1e-12)  # sum of g k / n h, k = 0 ... n - 1
    sim.run(0.1)
    assert_allclose(sim.velocity[0, 2], -G * H * (n - 1) / 2 - G * 0.1, rtol=1e-12)
