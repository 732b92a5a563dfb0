"""Which smooth contacts count as impacts and as sliding, and which walls and speeds shorten the step: against what is known."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from granum.contact import HertzContact, LinearContact
from granum.scene.bodies import Body, Motion
from granum.scene.shapes import Cylinder, Plane
from granum.simulation import Simulation
from granum.smooth.time_step import automatic_step, longest_step
from granum.state.status import SLIDING, contact_status
from tests.reference.scenes import G
from tests.reference.smooth import everything, make, platen

D = 0.01


def test_a_collision_is_an_impact_at_the_speed_of_its_closing():
    sim = make([(0, 0, 0), (0.999 * D, 0, 0)], velocity=[(0.4, 0.2, 0), (-0.1, 0.2, 0)], diameter=D, friction=0.0, h=1e-8)
    sim.step()
    assert sim.contacts.rebound == pytest.approx([0.5], rel=1e-4)  # the force of one short step changes it little


def test_slow_contacts_are_no_impacts():
    sim = make([(0, 0, 0), (0.999 * D, 0, 0)], velocity=[(0.02, 3, 0), (-0.02, 3, 0)], diameter=D, friction=0.0, h=1e-8)
    sim.step()
    assert sim.contacts.contact_count == 1
    assert not sim.contacts.rebound.any()


def test_the_motion_of_a_wall_counts():
    rising = Body(name="rising", kind="kinematic", motion=Motion(velocity=(0, 0, 0.3)), walls=[Plane(material="m")])
    sim = make((0, 0, 0.499 * D), velocity=(0.1, 0, -0.2), diameter=D, bodies=[rising], friction=0.0, h=1e-8)
    sim.step()
    assert sim.contacts.rebound == pytest.approx([0.5], rel=1e-4)
    # A drum that turns about its own axis moves along its surface only.
    drum = Body(name="drum", kind="kinematic", motion=Motion(spin=(0, 5, 0)), walls=[Cylinder(material="m", axis=(0, 1, 0), radius=0.05)])
    sim = make((0, 0, -0.05 + 0.499 * D), diameter=D, bodies=[drum], friction=0.0, h=1e-8)
    sim.step()
    assert sim.contacts.contact_count == 1
    assert not sim.contacts.rebound.any()


BOUNCES = {0.5: 4, 0.6: 5}  # of a ball that comes at 0.53 m/s: the last at 0.066 and 0.069 m/s, the next would be at 0.033 and 0.041 m/s


@pytest.mark.parametrize("law", [HertzContact(), LinearContact(stiffness=3e4)], ids=lambda law: law.name)
@pytest.mark.parametrize("e", BOUNCES)
def test_balls_dropped_count_their_bounces(e, law):
    """Each bounce is one impact, however many steps it takes, down to 0.05 m/s; balls that lie count no more."""
    count, speed = 5, 0.53
    place = np.stack([2 * D * np.arange(count), np.zeros(count), D / 2 + 1e-4 * np.arange(1, count + 1)], axis=1)
    sim = make(
        place,
        velocity=np.outer(np.sqrt(speed**2 - 2 * G * (place[:, 2] - D / 2)), (0, 0, -1)),
        diameter=D,
        walls=True,
        law=law,
        restitution=e,
        gravity=(0, 0, -G),
        youngs_modulus=3e7,
    )
    found = 0
    while sim.time < 2 * speed / G / (1 - e):  # all flights: 2 v / g (1 + e + e^2 ...)
        found += sim.step().impacts
    assert sim.report.contacts == count
    assert found == count * BOUNCES[e]
    assert sum(sim.step().impacts for _ in range(100)) == 0


def test_pairs_that_meet_count_one_each():
    """Spheres that collide in mid-air, each pair once, however long the contact lasts; a pair that meets slowly does not."""
    count = 12
    place = np.array([(x, 3 * D * k, 0) for x in (0, 1.01 * D) for k in range(count)])
    velocity = np.zeros((2 * count, 3))
    velocity[:count, 0], velocity[count - 1, 0] = 0.3, 0.04
    sim = make(place, velocity=velocity, diameter=D, h=2e-5)
    found = [sim.step().impacts for _ in range(600)]
    assert sum(found) == count - 1
    assert max(found) == count - 1  # all in one step
    assert sim.velocity[2 * count - 1, 0] > 0.01  # the slow ones met too


def test_contacts_at_the_start_count_in_the_first_step():
    sim = make([(0, 0, 0), (0.999 * D, 0, 0)], velocity=[(0.4, 0.2, 0), (-0.1, 0.2, 0)], diameter=D, h=1e-6)
    assert [sim.step().impacts for _ in range(3)] == [1, 0, 0]


def test_new_lists_and_restarts_do_not_count_again():
    """A rain on every kind of wall: the same counts with a list that is made anew in every step, and after a restart in the midst."""

    def lists(sim):
        sim.stepper.neighbours.skin[:] = 0.0

    calm, restless = everything(h=1e-4), everything(h=1e-4)
    restless.callbacks.append(lists)
    counts = [[sim.step().impacts for _ in range(300)] for sim in (calm, restless)]
    twin = Simulation.restore(calm.scene, calm.settings, copy.deepcopy(calm.checkpoint()))
    on = [[sim.step().impacts for _ in range(300)] for sim in (calm, twin)]
    assert sum(counts[0]) > 30
    assert counts[0] == counts[1]
    assert on[0] == on[1]
    assert sum(on[0]) > 30


def test_contacts_without_friction_do_not_count_as_sliding():
    status = contact_status(np.ones(2), np.array([[0.0, 0, 0], [0.5, 0, 0]]), np.array([0.0, 0.5]), np.zeros(2, bool))
    assert status.tolist() == [0, SLIDING]


def test_a_light_free_wall_shortens_the_step_as_its_mass_does():
    """w^2 = k/m: a wall of a hundredth of the mass takes a tenth of the step."""
    limit = [longest_step(make((0, 0, 1), diameter=D, bodies=[platen((0, 0, 0.1), mass=m)], h=1e-9).scene, True) for m in (1e-6, 1e-8)]
    assert limit[0] / limit[1] == pytest.approx(10, rel=1e-9)
    assert limit[0] < longest_step(make((0, 0, 1), diameter=D, h=1e-9).scene, True)


def test_fast_grains_shorten_the_automatic_step_as_hertz_says():
    """Overlap ~ v^(4/5), stiffness ~ overlap^(1/2), step ~ stiffness^(-1/2): ten times the speed, 10^(-1/5) of the step."""
    steps = [automatic_step(make((0, 0, 1), velocity=(v, 0, 0), diameter=D, h=1e-9).scene, True) for v in (1.0, 10.0)]
    assert steps[1] / steps[0] == pytest.approx(10**-0.2, rel=1e-9)
