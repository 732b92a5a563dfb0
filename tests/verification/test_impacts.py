"""Head-on impacts at a big step: Newton's restitution, whatever the phase between contact and step."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from granum import PGS
from tests.reference.scenes import FREE, D, G, H, make

RESTITUTION = [0.0, 0.18, 0.3, 0.5, 0.8, 1.0]
SPEEDS = [0.5, 1.0, 2.0]
PHASES = np.linspace(0.02, 0.98, 9)  # of one step's travel, left to go when the last free step begins


def after_contact(sim, separation):
    """Separation speed [m/s] when the contact has opened; or 20 steps after it closed, if it stays."""
    closed = 0
    for _ in range(200):
        sim.step()
        if sim.contacts.contact_count:
            closed += 1
        elif closed:
            break
        if closed == 20:
            break
    assert closed
    return separation(sim)


def two_spheres(e, speed, phase, size_b=D):
    """Two spheres of diameters D and ``size_b`` closing at ``speed``, a ``phase`` of a step before they touch."""
    gap = phase * speed * H
    axis = np.array([0.6, 0.0, 0.8])
    return make(
        [np.zeros(3), ((D + size_b) / 2 + gap) * axis],
        velocity=[0.7 * speed * axis, -0.3 * speed * axis],
        diameter=[D, size_b],
        restitution=e,
        guards=FREE,
    ), axis


@pytest.mark.parametrize("e", RESTITUTION)
def test_two_spheres_part_with_restitution(e):
    """u+ = e u- within 0.02 of u-, and the momentum is as before."""
    worst = 0.0
    for speed in SPEEDS:
        for phase in PHASES:
            sim, axis = two_spheres(e, speed, phase, size_b=D if phase < 0.5 else 1.5 * D)
            before = sim.bodies.mass @ sim.velocity
            parted = after_contact(sim, lambda s, n=axis: (s.velocity[1] - s.velocity[0]) @ n)
            worst = max(worst, abs(parted / speed - e))
            assert_allclose(sim.bodies.mass @ sim.velocity, before, atol=1e-14 * np.abs(sim.bodies.mass).sum() * speed)
    assert worst < 0.02


@pytest.mark.parametrize("e", RESTITUTION)
def test_sphere_leaves_a_wall_with_restitution(e):
    worst = 0.0
    for speed in SPEEDS:
        for phase in PHASES:
            sim = make((0, 0, D / 2 + phase * speed * H), velocity=(0, 0, -speed), walls=True, restitution=e, guards=FREE)
            worst = max(worst, abs(after_contact(sim, lambda s: s.velocity[0, 2]) / speed - e))
    assert worst < 0.02


def after_impact_stage(sim):
    """Steps until an impact; returns the velocities (N, 3) right after the impact stage of that step: those that its solver is given.

    Nothing pulls these grains, and a contact that is new starts from no impulse.
    """
    seen, solve = [], PGS.solve

    def look(solver, problem, **how):
        slots = problem.packed.body[: 8 * problem.packed.first_full].reshape(-1, 8)
        seen.append(slots[sim.stepper.detector.neighbours.rank, :3])
        return solve(solver, problem, **how)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PGS, "solve", look)
        while not sim.step().impacts:
            pass
    return seen[-1]


@pytest.mark.parametrize("e", RESTITUTION)
def test_impact_stage_alone_is_exact(e):
    """Right after the impact stage the speed is e times that before: 1e-6 asked, rounding found (one contact, one sweep)."""
    for phase in PHASES:
        sim = make((0, 0, D / 2 + phase * H), velocity=(0, 0, -1.0), walls=True, restitution=e, guards=FREE)
        assert_allclose(after_impact_stage(sim)[0], (0, 0, e), atol=1e-14)
        sim, axis = two_spheres(e, 1.0, phase)
        velocity = after_impact_stage(sim)
        assert_allclose((velocity[1] - velocity[0]) @ axis, e, atol=1e-14)


@pytest.mark.parametrize("e", [0.0, 0.3, 0.5, 0.8, 1.0])
def test_bounce_under_gravity(e):
    """A sphere dropped on a plane bounces off with e times its speed of impact."""
    worst = 0.0
    for speed in SPEEDS:
        for phase in PHASES:
            sim = make(
                (0, 0, D / 2 + phase * speed * H),
                velocity=(0, 0, -speed),
                walls=True,
                restitution=e,
                gravity=(0, 0, -G),
                guards=FREE,
            )
            while not sim.contacts.contact_count:
                hit = sim.velocity[0, 2]
                sim.step()
            # The step that found the contact has added one pull of gravity to the rebound -e u; following steps add one each.
            steps = 0
            while sim.contacts.contact_count and steps < 20:
                sim.step()
                steps += 1
            expected = -e * hit - (steps + 1) * G * H
            if sim.contacts.contact_count or expected < 0:
                expected = 0.0 if sim.contacts.contact_count else max(expected, -G * H)
            worst = max(worst, abs(sim.velocity[0, 2] - expected) / speed)
    assert worst < 0.02


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_chain_keeps_its_momentum_and_gains_no_energy(e):
    """A sphere hits a row of five that touch. Newton's cradle is not expected of one simultaneous solve; momentum is."""
    position = np.outer(np.arange(6.0), (D, 0, 0))
    position[0, 0] -= 0.3 * D
    velocity = np.zeros((6, 3))
    velocity[0, 0] = 1.0
    sim = make(position, velocity=velocity, restitution=e, guards=FREE)
    lowest = np.inf
    # Approaches slower than v_imp are elastic: each of the five contacts may hold back and return m/2 v_imp^2 / 2.
    spring = 5 * 0.25 * sim.bodies.mass[0] * 0.05**2
    for _ in range(40):
        sim.step()
        assert_allclose(sim.velocity.sum(axis=0), (1, 0, 0), atol=1e-14)
        lowest = min(lowest, sim.report.kinetic_energy)
        assert sim.report.kinetic_energy <= lowest + spring
    apart = np.diff(sim.velocity[:, 0])
    assert (apart > -0.05).all()  # slower approaches than the impact velocity are left to the continuous stage


@pytest.mark.parametrize(("balls", "e"), [(2, 0.7), (2, 0.9), (2, 1.0), (3, 0.7), (3, 0.9), (3, 1.0), (8, 0.7), (8, 0.9)])
def test_a_row_thrown_back_onto_a_plane_wins_no_energy(balls, e):
    """The lowest ball leaves the plane and meets the next one in the same step, and so on up the row: energy stays (e = 1) or falls, in
    every step and for any size of it, though what comes down is stopped by contacts that were opening. The continuous stage may part
    grains that press each other at some 0.005 of an impact's speed, as in the tests above: a hundredth of the energy, in a step."""
    for h in (1e-3, 5e-4, 2e-4, 1e-4):
        position = [(0, 0, 0.7 * D + 1.01 * D * k) for k in range(balls)]
        velocity = [(0, 0, -1.0)] * balls
        sim = make(position, velocity=velocity, walls=True, h=h, restitution=e, friction=0.0, youngs_modulus=1e10, guards=FREE)
        start = last = float((sim.velocity**2).sum())  # nothing turns
        for _ in range(round(0.03 / h)):
            sim.step()
            now = float((sim.velocity**2).sum())
            assert now <= last + 0.01 * start
            last = now
        if e == 1.0:
            assert last > 0.999 * start


@pytest.mark.parametrize("h", [None, 2e-4])
def test_a_lattice_that_is_dropped_does_not_jump_higher(h):
    """Grains in columns, a fiftieth of a diameter apart, dropped on a plane with friction: never more energy than at the start."""
    place = np.stack(np.meshgrid(*[np.arange(3)] * 2, np.arange(5), indexing="ij"), axis=-1).reshape(-1, 3) * 1.02 * D
    step = {} if h is None else {"h": h}
    sim = make(place + 0.1, walls=True, gravity=(0, 0, -9.81), restitution=0.9, friction=0.3, youngs_modulus=1e8, guards=FREE, **step)
    sim.step()
    start = sim.report.energy
    while sim.time < 0.3:
        sim.step()
        assert sim.report.energy <= start * (1 + 1e-6)
