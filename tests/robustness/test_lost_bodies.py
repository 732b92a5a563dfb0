"""A dynamic body that nothing holds is noticed as lost grains are, and its fall does not blind the guard of the grains' energy."""

from __future__ import annotations

import pytest

from granum.checks import RunError
from granum.scene import Body, Box
from tests.reference.scenes import D, G, make

WORLD = ((-1, -1, -1), (1, 1, 1))
QUIET = {"on_coarse": "off"}
PLATE = Box(material="m", lower=(-0.05, -0.05, -0.01), upper=(0.05, 0.05, 0.01), side="outside")


def plate(**given):
    return Body(name="lid", kind="dynamic", mass=1.0, inertia=(1e-3, 1e-3, 1e-3), walls=[PLATE], **given)


def falling(guards, down=0.0, **given):
    """A grain that rests on a plane, and a body that falls beside it, through the plane, as it touches grains only."""
    body = plate(position=(0.5, 0, 0.5), velocity=(0, 0, -down), touches="grains")
    return make((0, 0, D / 2), walls=True, gravity=(0, 0, -G), h=1e-3, guards=QUIET | guards, bodies=[body], **given)


@pytest.mark.parametrize("name, h", [("nonsmooth", 1e-3), ("smooth", 5e-5)])
def test_a_body_that_leaves_the_world_stops_the_run(name, h):
    """From 0.5 m at 20 m/s downwards: 1.5 m take 0.074 s."""
    sim = falling({}, world=WORLD, down=20.0, settings={"stepper": {"name": name}, "time_step": h})
    with pytest.raises(RunError, match=r"the body 'lid' left the world, \(-1, -1, -1\) to \(1, 1, 1\) m, at \(0\.5, 0, -1"):
        sim.run(1.0)
    assert sim.time == pytest.approx(0.0737, abs=1.1e-3)


def test_a_body_leaves_the_world_that_granum_chose():
    """The world of a scene that names none reaches 65 m here; a body thrown at 1 km/s is through it in some steps."""
    sim = make((0, 0, D / 2), walls=True, guards=QUIET, bodies=[plate(position=(0.5, 0, 0.5), velocity=(1000, 0, 0))])
    with pytest.raises(RunError, match=r"the body 'lid' left the world"):
        sim.run(1.0)


def test_a_lost_body_is_told_once_where_losses_are_only_told():
    sim = falling({"on_lost": "warn"}, world=WORLD)
    with pytest.warns(RuntimeWarning, match="the body 'lid' left the world") as caught:
        sim.run(0.7)
    assert len(caught) == len(sim.warnings) == 1
    silent = falling({"on_lost": "off"}, world=WORLD)
    silent.run(0.7)
    assert silent.warnings == []


def test_bodies_that_are_driven_out_of_the_world_are_not_lost():
    driven = Body(name="lid", kind="kinematic", motion={"velocity": (1000, 0, 0)}, walls=[PLATE], position=(0.5, 0, 0.5))
    sim = make((0, 0, D / 2), walls=True, guards=QUIET, bodies=[driven], world=WORLD)
    sim.run(0.1)
    assert sim.bodies.position[1, 0] > 100


def test_energy_from_nothing_is_found_beside_a_falling_body():
    """The grain gains 50 m g d, far below the 10 J of the body, which is 2 m away from it by then."""
    sim = falling({"on_lost": "off", "on_energy": "stop"})
    sim.run(0.7)
    assert sim.report.kinetic_energy > 20
    sim.velocity[0] = (0, 0, (2 * 50 * G * D) ** 0.5)
    with pytest.raises(RunError, match="energy came from nothing"):
        sim.run(0.01)


def test_the_energy_of_a_body_among_the_grains_counts():
    """A plate that has come down on grains may leave a part of its energy to them."""
    sim = make((0, 0, D / 2), walls=True, gravity=(0, 0, -G), h=1e-3, guards=QUIET, bodies=[plate(position=(0, 0, 0.05))])
    sim.run(0.05)
    assert sim.guard.largest_kinetic > 0.05  # of 0.27 J that the fall of 2.7 cm gives
