"""Which smooth contacts count as impacts and as sliding, and which walls and speeds shorten the step: against what is known."""

from __future__ import annotations

import numpy as np
import pytest

from granum.scene.bodies import Body, Motion
from granum.scene.shapes import Cylinder, Plane
from granum.smooth.time_step import automatic_step, longest_step
from granum.state.status import SLIDING, contact_status
from tests.reference.smooth import make, platen

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
    steps = [automatic_step(make((0, 0, 1), velocity=(v, 0, 0), diameter=D, h=1e-9).scene, True) for v in (10.0, 100.0)]
    assert steps[1] / steps[0] == pytest.approx(10**-0.2, rel=1e-9)
