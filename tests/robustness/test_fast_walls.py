"""Walls that move many diameters in a step push what is in their way with the right momentum, or the run tells which step would fit."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

from granum.checks import RunError
from granum.nonsmooth.time_step import REACH
from granum.scene import Body, Box, Mesh, Motion
from tests.reference.scenes import D, G, make, mass

E = 0.5
BOX = Box(material="m", lower=(-0.01, -0.1, 0), upper=(0.01, 0.1, 0.1), side="outside")
SHEET = Mesh(material="m", vertices=[[0, -0.1, 0], [0, 0.1, 0], [0, 0.1, 0.1], [0, -0.1, 0.1]], triangles=[[0, 1, 2], [0, 2, 3]])
BLADE = Box(material="m", lower=(-0.3, -0.01, 0), upper=(0.3, 0.01, 0.1), side="outside")
BLADE_SHEET = Mesh(material="m", vertices=[[-0.3, 0, 0], [0.3, 0, 0], [0.3, 0, 0.1], [-0.3, 0, 0.1]], triangles=[[0, 1, 2], [0, 2, 3]])


def driven(wall, motion, position=(0, 0, D / 2), *, at=(0, 0, 0), **given):
    """A grain at rest on a plane, and a wall that is driven towards it; and what was told before the first step."""
    body = Body(name="paddle", kind="kinematic", position=at, motion=motion, walls=[wall])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sim = make(position, walls=True, gravity=(0, 0, -G), bodies=[body], friction=0.0, restitution=E, **given)
    return sim, [str(w.message) for w in caught]


def pushed(wall, speed, h, **given):
    return driven(wall, Motion(velocity=(speed, 0, 0)), at=(-0.5, 0, 0), h=h, **given)


def quietly(sim, steps):
    """Steps whose warnings are looked at in ``sim.warnings``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(steps):
            sim.step()


def step_in(messages, thing):
    """The step [s] that a message about a thing advises."""
    (message,) = [m for m in messages if thing in m]
    return float(re.search(r"--time-step (\d\S*?)[.,]?(\s|$)", message)[1])


@pytest.mark.parametrize("wall", [BOX, SHEET], ids=["box", "sheet"])
@pytest.mark.parametrize("speed", [20.0, 100.0, 1000.0])
@pytest.mark.parametrize("way", [0.5, 1.0, 7.3, 50.0])  # of the wall in a step, in diameters
def test_a_wall_of_any_speed_gives_the_right_momentum(wall, speed, way):
    """v = (1 + e) V, and the work of the wall, p V, is what the energy guard counts."""
    h = way * D / speed
    sim, told = pushed(wall, speed, h)
    quietly(sim, int(0.5 / speed / h) + 3)
    np.testing.assert_allclose(sim.velocity[0, 0], (1 + E) * speed, rtol=1e-9)
    assert abs(sim.velocity[0, 1:]).max() < 1e-3 * speed
    assert sim.ledger.joules["drives"] == pytest.approx(mass() * (1 + E) * speed**2, rel=1e-6)
    assert step_in(told, "the wall body 'paddle'") == pytest.approx(REACH * D / speed, rel=0.1)


@pytest.mark.parametrize("wall", [BOX, SHEET], ids=["box", "sheet"])
@pytest.mark.parametrize("lift", [-1e-12, 1e-12, 1e-6, 1e-3])  # off the floor, in diameters
def test_a_floor_does_not_hold_a_grain_that_is_pushed_along_it(wall, lift):
    """A gap of rounding closes while the grain slides: held there, it would be overtaken by the wall and hit from behind."""
    sim, _ = driven(wall, Motion(velocity=(20.0, 0, 0)), (0, 0, (0.5 + lift) * D), at=(-0.5, 0, 0), h=50 * D / 20.0)
    quietly(sim, 4)
    assert sim.velocity[0, 0] == pytest.approx((1 + E) * 20.0, rel=1e-9)
    ahead = sim.position[0, 0] - sim.bodies.position[1, 0] - D / 2
    hit = (0.5 - D / 2 - (0.01 if wall is BOX else 0.0)) / 20.0  # [s]
    assert ahead == pytest.approx(E * 20.0 * (sim.time - hit) + (0.01 if wall is BOX else 0.0), rel=1e-6)


def test_a_step_that_fits_a_fast_wall_tells_nothing():
    sim, told = pushed(BOX, 20.0, 0.1 * D / 20.0)
    quietly(sim, 500)
    assert told == []
    assert sim.velocity[0, 0] == pytest.approx((1 + E) * 20.0)


@pytest.mark.parametrize("wall", [BLADE, BLADE_SHEET], ids=["box", "sheet"])
@pytest.mark.parametrize("turn, error", [(0.01, 0.03), (0.1, 0.3)])  # of the blade in a step [rad]
def test_a_turning_blade_hits_across_itself(wall, turn, error):
    """At 300 rad/s the rim goes 0.2 and 2 d per step. It hits (-0.2, -0.1) at 67 m/s, across itself; turns are straight lines in a step."""
    spin = 300.0
    sim, told = driven(wall, Motion(spin=(0, 0, spin)), (-0.2, -0.1, D / 2), h=turn / spin)
    quietly(sim, int(0.6 / turn))
    thick = D / 2 + (0.01 if wall is BLADE else 0.0)
    along = np.sqrt(0.2**2 + 0.1**2 - thick**2)  # from the axis to where they touch
    angle = np.arctan2(0.1, 0.2) - np.arcsin(thick / np.hypot(0.1, 0.2))
    expected = (1 + E) * spin * along * np.array([np.sin(angle), -np.cos(angle)])
    np.testing.assert_allclose(sim.velocity[0, :2], expected, atol=error * np.linalg.norm(expected))
    assert step_in(told, "the wall body 'paddle'") == pytest.approx(REACH * D / (spin * 0.3), rel=0.1)


@pytest.mark.parametrize("turn", [0.3, 1.5, 4.0])
def test_a_rim_that_sweeps_many_diameters_is_told(turn):
    """Beyond that a blade may miss grains: it is told before the first step, with the step that would fit."""
    _, told = driven(BLADE, Motion(spin=(0, 0, 300.0)), (0.1, 0.2, D / 2), h=turn / 300.0)
    assert step_in(told, "the wall body 'paddle'") == pytest.approx(REACH * D / 90.0, rel=0.1)


SMOOTH = {"name": "smooth"}


@pytest.mark.parametrize("wall", [BOX, SHEET], ids=["box", "sheet"])
def test_smooth_grains_are_hit_by_a_fast_wall(wall):
    """Automatic step, grains stiff enough: the momentum is right for the restitution of the contact law."""
    sim, told = driven(wall, Motion(velocity=(20.0, 0, 0)), at=(-0.03, 0, 0), h=None, youngs_modulus=1e9, settings={"stepper": SMOOTH})
    quietly(sim, int(0.002 / sim.time_step))
    assert told == []
    assert sim.velocity[0, 0] == pytest.approx((1 + E) * 20.0, rel=0.02)


@pytest.mark.parametrize("wall", [BOX, SHEET], ids=["box", "sheet"])
@pytest.mark.parametrize("speed", [50.0, 100.0, 1000.0])
def test_smooth_walls_that_leap_over_grains_are_told(wall, speed):
    """Soft grains allow a long step, in which the wall passes them: told before the first step, with the step that would fit."""
    _, told = pushed(wall, speed, 1e-4, youngs_modulus=1e6, settings={"stepper": SMOOTH})
    assert step_in(told, "the wall body 'paddle'") == pytest.approx(REACH * D / speed, rel=0.1)
    assert [m for m in told if "take stiffer grains" in m]


def test_a_wall_that_goes_through_a_smooth_grain_stops_with_the_way_out():
    """A blade at 100 rad/s, and grains that are too soft for its 22 m/s at any step."""
    blade = Motion(spin=(0, 0, 100.0))
    sim, _ = driven(BLADE_SHEET, blade, (-0.2, -0.1, D / 2), h=2e-5, youngs_modulus=1e5, settings={"stepper": SMOOTH})
    with pytest.raises(RunError, match=r"grain 0 went through wall 1 .*: against the wall it moves at .* Try stiffer grains: an impact"):
        quietly(sim, 1000)
