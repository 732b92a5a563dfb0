"""Smooth DEM at walls: none is missed, free ones share momentum, driven ones do work that is accounted for."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from granum.checks import RunError
from granum.scene import Body, Box, Cylinder, Motion, Plane
from granum.smooth.wall_contacts import WallContacts
from tests.reference.scenes import FREE, D, G, hertz_stiffness, mass
from tests.reference.smooth import everything, make, platen

R = D / 2


def missed(sim):
    """Wall contacts that the last step did not look at: all grains against all walls, where they are now."""
    every = WallContacts(64, 4)
    every.find(sim.stepper.neighbours.live, sim.bodies, sim.bodies.radius, sim.stepper.walls)
    own = sim.stepper.at_walls.now
    key = lambda c: set(zip(*(c.of(name).tolist() for name in ("a", "b", "feature")), strict=True))  # noqa: E731
    return key(every) - key(own)


def test_grain_that_turns_back_meets_a_wall_that_follows():
    """A grain rises within its skin, walls are listed while it is at the top, then it falls on a floor that rises: twice the skin."""
    r, h = 0.005, 5e-5
    rise = 0.93 * 0.15 * r
    speed = (2 * G * rise) ** 0.5
    top = speed / G
    way = 0.25 * r  # of the walls, before grains near them are listed anew
    clock = Body(
        name="clock",
        kind="kinematic",
        position=(0, 0, -1),
        motion=Motion(velocity=(0, 0, -way / top), stop=top * 1.01),
        walls=[Plane(material="m")],
    )
    floor = Body(name="floor", kind="kinematic", motion=Motion(velocity=(0, 0, 0.06), start=top), walls=[Plane(material="m")])
    gap = 0.15 * r + way - rise + 1e-5
    sim = make((0, 0, r + gap), velocity=(0, 0, speed), diameter=2 * r, bodies=[clock, floor], gravity=(0, 0, -G), h=h, youngs_modulus=1e6)
    touched = 0
    while sim.time < 3 * top:
        sim.step()
        assert not missed(sim)
        touched += sim.report.contacts
    assert touched


def test_grain_that_enters_an_open_tube_touches_it():
    """Beyond the end of a tube there is nothing to touch; inside there is."""
    tube = Cylinder(material="m", axis=(1, 0, 0), radius=2 * R, length=0.1, caps=False)
    sim = make((-0.05 - 0.1 * R, 0, -R - 0.01 * R), velocity=(0.05, 0, 0), walls=[tube])
    touched = 0
    for _ in range(300):
        sim.step()
        assert not missed(sim)
        touched += sim.report.contacts
    assert touched


@pytest.mark.parametrize("e", [0.3, 1.0])
def test_impact_with_a_free_platen_obeys_newton(e):
    """Centric impact of masses m and M: they part at e times the approach speed, keep their momentum, and go on as they are."""
    m, big = mass(), 0.05
    sim = make((0, 0, 0.012), velocity=(0, 0, -1.0), restitution=e, bodies=[platen((0, 0, 0), mass=big)])
    sim.run(0.01)
    assert sim.report.contacts == 0
    parted = sim.velocity[0, 2] - sim.bodies.velocity[1, 2]
    assert abs(parted - e) < 0.01  # as for two grains
    after = [sim.velocity[0, 2], sim.bodies.velocity[1, 2]]
    assert_allclose(after, [(-m + big * parted) / (m + big), -m * (1 + parted) / (m + big)], rtol=1e-12)
    sim.run(0.01)
    assert [sim.velocity[0, 2], sim.bodies.velocity[1, 2]] == after


def test_only_the_tangential_part_of_a_belt_counts():
    """A belt that would run into its own normal presses no harder than one that stands."""
    r = R - (mass() * G / hertz_stiffness(R)) ** (2 / 3)
    heights = []
    for normal in (0.0, 0.3):
        sim = make((0, 0, r), walls=[Plane(material="m", surface_velocity=(0.1, 0, normal))], gravity=(0, 0, -G))
        sim.run(0.01)
        heights.append(sim.position[0, 2])
    assert heights[0] == heights[1]
    assert_allclose(heights[0], r, rtol=1e-6)


def test_guard_names_the_grain_that_went_through():
    """A soft thin plate is passed by a fast grain, while two others press each other."""
    plate = Box(material="m", lower=(-0.05, -0.05, -1e-4), upper=(0.05, 0.05, 1e-4), side="outside")
    sim = make(
        [(0, 0, 0.5), (0, 0, 0.5 + 0.99 * D), (0, 0, -D)],
        velocity=[(0, 0, 0), (0, 0, 0), (0, 0, 3)],
        walls=[plate],
        youngs_modulus=1e4,
        guards={**FREE, "on_lost": "stop"},
    )
    with pytest.raises(RunError, match="grain 2 went through wall 0"):
        sim.run(0.05)


def test_no_wall_is_missed():
    """Few grains are looked at in a step; looked at all, nothing else is found."""
    sim = everything(h=1e-4)
    kinds = set()
    for _ in range(1500):
        sim.step()
        assert not missed(sim)
        kinds.update(sim.stepper.at_walls.now.of("b").tolist())
    assert kinds == set(range(-7, 0))
    assert sim.grain_count == 118


def balance(sim):
    """Energy [J] of everything less the work of walls: it can only shrink."""
    return sim.report.energy + sim.report.elastic_energy - sim.stepper.ledger.joules["drives"]


GUARDED = {"on_energy": "stop", "on_lost": "stop", "on_overlap": "stop"}


def test_belt_does_twice_the_work_that_a_grain_gains():
    """Sliding friction mu m g at belt speed V until the contact has V: rolling blocked, m V^2 of work and half of it gained; rolling
    freely, 2/7 m V^2 and half of it gained."""
    belt = 0.3
    for mu_r, share in ((10.0, 1.0), (0.0, 2 / 7)):
        r = R - (mass() * G / hertz_stiffness(R)) ** (2 / 3)
        sim = make(
            (0, 0, r),
            walls=[Plane(material="m", surface_velocity=(belt, 0, 0))],
            gravity=(0, 0, -G),
            rolling_friction=mu_r,
            friction=0.3,
            guards=GUARDED,
        )
        before = sim.bodies.mass[0] * G * sim.position[0, 2]
        sim.run(0.2)
        gained = sim.report.energy - before
        # The friction spring stores (mu m g)^2 / 2 k_t meanwhile, 1e-4 of the work; when it sticks it swings by that much.
        assert_allclose(sim.stepper.ledger.joules["drives"], share * mass() * belt**2, rtol=0.01)
        assert_allclose(gained, 0.5 * share * mass() * belt**2, rtol=0.01)


def test_drum_works_as_much_as_it_spins_its_grain():
    """Friction alone turns the grain, I dw/dt = r f, and the drum works at V f: W = 0.4 m r w V, also while it rocks in the drum."""
    wide, w = 0.06, 4.0
    drum = Body(name="drum", kind="kinematic", motion=Motion(spin=(0, w, 0)), walls=[Cylinder(material="m", axis=(0, 1, 0), radius=wide)])
    sim = make((0, 0, R - wide), bodies=[drum], gravity=(0, 0, -G), friction=0.3, restitution=0.3, guards=GUARDED)
    energy = []
    while sim.time < 0.3:
        sim.step()
        energy.append(balance(sim))
    assert sim.spin[0, 1] > 0.9 * w * wide / R
    assert_allclose(
        sim.stepper.ledger.joules["drives"], 0.4 * mass() * R * sim.spin[0, 1] * w * wide, rtol=1e-3
    )  # the wall is an overlap away from V
    assert np.diff(energy).max() < 1e-4 * sim.stepper.ledger.joules["drives"]  # a step's work is first order in h


def test_shaken_box_gives_its_gas_the_work_it_does():
    """Without losses all work of an oscillating box is energy of the grains and of a free plate among them.

    The work of a step is that of the force at its end: first order, a h / 2v of the work, and it came as pushes and pulls that cancel.
    """
    box = Box(material="m", lower=(-0.06, -0.06, -0.06), upper=(0.06, 0.06, 0.06))
    shaker = Body(name="box", kind="kinematic", motion=Motion(amplitude=(0, 0, 0.002), frequency=40), walls=[box])
    place = [(x, y, z) for x in (-0.03, 0.03) for y in (-0.03, 0.03) for z in (-0.04, 0.04)]
    errors = []
    for h in (6e-5, 3e-5):
        sim = make(
            place,
            velocity=0.1 * np.random.default_rng(1).standard_normal((8, 3)),
            bodies=[shaker, platen((0, 0, 0), mass=0.02)],
            friction=0.0,
            restitution=1.0,
            guards=GUARDED,
            h=h,
        )
        sim.step()
        before, worked = balance(sim), 0.0
        while sim.time < 0.3:
            sim.step()
            worked = max(worked, abs(sim.stepper.ledger.joules["drives"]))
        errors.append(abs(balance(sim) - before) / worked)
        assert worked > 5 * before
    assert np.linalg.norm(sim.bodies.velocity[2]) > 0.01  # the plate was hit
    assert errors[0] < 0.03
    assert 0.4 < errors[1] / errors[0] < 0.6


def test_guards_let_driven_walls_work():
    """Everything at once, with losses: the balance never rises, and no guard fires.

    The tube is endless: a grain that comes to its open end beside it would be pushed in, out of nothing.
    """
    sim = everything(length=None, h=1e-4, guards=GUARDED)
    lowest, came, rise = np.inf, 0, 0.0
    for _ in range(2000):
        sim.step()
        now = sim.report.energy + sim.report.elastic_energy - sim.stepper.ledger.brought
        rise = max(rise, now - lowest)
        lowest = min(lowest, now)
        came = max(came, sim.report.contacts)
    assert came > 50
    assert rise < 1e-3 * sim.stepper.ledger.joules["drives"]
