"""The direct solver against closed forms, against sweeps carried to the end, and against itself from other starts."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from granum.nonsmooth.solvers import PGS, Direct
from granum.nonsmooth.system import System
from tests.reference.problems import PROBLEMS, RESTING, bounded_by, kept, put_back, ready
from tests.reference.scenes import FREE, D, G, H, column_heights, column_overlaps, make, mass

SWEEPS = 20000
NEARLY, CONVERGED = 1e-10, 1e-12  # [m/s]
IN_BOX = ["column", "stirred box", "impact"]  # in the others sweeps with box friction circle, or find another solution at times


def solved(problem, solver):
    """The system after a solve, and its report."""
    report = solver.solve(problem)
    return System.read(problem), report


def from_cold(problem):
    system = System.read(problem)
    system.write(problem, np.zeros_like(system.impulse))


@pytest.mark.parametrize(("name", "friction"), [(name, "cone") for name in PROBLEMS] + [(name, "box") for name in IN_BOX])
def test_direct_meets_converged_sweeps(name, friction):
    """Ten problems with friction: velocities differ by no more than what the two residuals stand for.

    An error of the velocities is the residual grown by the condition of the packing. How much it grows is measured on the way of the
    sweeps: how far they still were from their end when their residual had come down to 1e-10 m/s. Ten times that is allowed for each
    residual that is left, as the slowest mode of a sweep need not be that of the direct solver; a residual is a mean over the contacts,
    and may be all of one of them. Solutions with friction need not be
    unique, and where they are not the two may find different ones (in a silo with a friction coefficient of 0.3 they do at times); in these
    ten they are.
    """
    problem = bounded_by(PROBLEMS[name](), friction)
    saved = kept(problem)
    near, far = solved(problem, PGS(iterations=SWEEPS, tolerance=NEARLY))
    swept, report = solved(problem, PGS(iterations=SWEEPS, tolerance=CONVERGED))
    assert report.converged
    put_back(problem, saved)
    direct, exact = solved(problem, Direct())
    assert exact.converged
    assert exact.message == ""
    growth = max(np.abs(near.velocity - swept.velocity).max() / far.residual, np.sqrt(problem.contact_count))
    rounding = 1e-14 * np.abs(swept.velocity).max()
    assert_allclose(direct.velocity, swept.velocity, rtol=0, atol=10 * growth * (exact.residual + report.residual) + rounding)


@pytest.mark.parametrize("name", PROBLEMS)
def test_sweeps_keep_a_solution_in_a_box_of_friction(name):
    """A fixed point of the sweeps is a solution, also where there are several, or where it repels them in the long run (in a pile)."""
    problem = bounded_by(PROBLEMS[name](), "box")
    scale = max(np.abs(System.read(problem).free_velocity).max(), G * H)
    direct, report = solved(problem, Direct(tolerance=1e-12))
    assert report.converged
    swept, _ = solved(problem, PGS(iterations=30, momentum=False))
    assert_allclose(swept.velocity, direct.velocity, rtol=0, atol=1e-8 * scale)


@pytest.mark.parametrize("name", RESTING)
def test_rest_does_not_depend_on_the_start(name):
    """Where sweeps do not arrive: the same velocities from a warm and a cold start, and sweeps from there change nothing."""
    problem = RESTING[name]()
    solver = Direct(tolerance=1e-12)
    scale = max(np.abs(System.read(problem).free_velocity).max(), G * H)
    warm, report = solved(problem, solver)
    assert report.converged
    from_cold(problem)
    cold, report = solved(problem, solver)
    assert report.converged
    assert_allclose(cold.velocity, warm.velocity, rtol=0, atol=1e-8 * scale)
    swept, _ = solved(problem, PGS(iterations=1000, momentum=False))
    assert_allclose(swept.velocity, warm.velocity, rtol=0, atol=1e-8 * scale)


@pytest.mark.parametrize("count", [1, 2, 300])
def test_standing_column_carries_the_weight_above(count):
    """A column laid down at its Hertz overlaps stays at rest, and contact k carries the weight above it for one step, in one factorisation.

    Impulses add up over the column, so their rounding grows with its height; velocities are differences of impulses over a mass.
    """
    overlaps = column_overlaps(count, youngs_modulus=6e8)
    position = np.zeros((count, 3))
    position[:, 2] = column_heights(overlaps)
    sim = make(position, walls=True, gravity=(0, 0, -G), youngs_modulus=6e8, rolling_friction=0.2, guards=FREE)
    problem = ready(sim)
    column, report = solved(problem, Direct())
    assert report.converged
    assert report.iterations == 1
    impulse = np.sort(column.impulse[:: column.rows])[::-1]
    assert_allclose(impulse, mass() * G * H * np.arange(count, 0, -1), rtol=1e-9)
    assert np.abs(column.velocity).max() < 1e-15 * count * G * H * count + 1e-11 * D / H


def on_incline(angle, friction, rolling_friction=0.0):
    """The problem of a grain laid down at rest on an incline, pressed in as it should be."""
    rest = column_overlaps(1)[0] * np.cos(angle) ** (2 / 3)
    gravity = (G * np.sin(angle), 0, -G * np.cos(angle))
    return ready(
        make([(0, 0, D / 2 - rest)], walls=True, gravity=gravity, friction=friction, rolling_friction=rolling_friction, guards=FREE)
    )


@pytest.mark.parametrize(("slope", "friction"), [(20.0, 0.5), (40.0, 0.2), (40.0, 0.0)])
def test_grain_that_rolls_or_slides_down(slope, friction):
    """It rolls with 5/7 g sin a while that needs no more friction than there is; else it slides, and turns as friction makes it."""
    angle = np.radians(slope)
    problem = on_incline(angle, friction)
    grain, report = solved(problem, Direct())
    assert report.converged
    if 2 / 7 * np.sin(angle) <= friction * np.cos(angle):
        speed = turn = 5 / 7 * np.sin(angle)
    else:
        speed, turn = np.sin(angle) - friction * np.cos(angle), 2.5 * friction * np.cos(angle)
    soft = 2 * problem.blocks.soft_t * mass()  # the part by which a sticking contact gives way
    assert_allclose(grain.velocity, G * H * np.array([speed, 0, 0, 0, turn, 0]), atol=soft * G * H + 1e-15)


@pytest.mark.parametrize("slope", [15.0, 35.0])
def test_grain_that_cannot_roll_sticks_or_slides(slope):
    """Held by rolling resistance, it stays below the friction angle (26.6 degrees) and slides above it."""
    angle, mu = np.radians(slope), 0.5
    problem = on_incline(angle, mu, rolling_friction=5.0)
    grain, report = solved(problem, Direct())
    assert report.converged
    weight = mass() * G * H
    soft = 2 * problem.blocks.soft_t * mass()
    assert_allclose(grain.impulse[0], weight * np.cos(angle), rtol=soft)
    assert_allclose(np.hypot(*grain.impulse[1:3]), weight * min(np.sin(angle), mu * np.cos(angle)), rtol=soft)
    assert_allclose(grain.velocity[0], G * H * max(0.0, np.sin(angle) - mu * np.cos(angle)), atol=soft * G * H)
