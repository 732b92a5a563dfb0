"""Plane shear between rough plates: pressure control, balance of the plates' forces, a linear profile, and mu(I)."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from granum import Simulation
from granum.analysis import GrainRows, Snapshot
from granum.analysis.shear_cell import Mean, ShearState, shear_means, velocity_profile
from granum.scene.library import make_scene


def sheared(**parameters):
    """The scene, its run, and what was seen after the transient at every fifth step."""
    scene = make_scene("shear-cell", parameters)
    sim = Simulation(scene).run(scene.parameters.transient)
    states = []
    while sim.time < scene.run.duration:
        sim.step()
        if sim.step_count % 5 == 0:
            states.append(ShearState.of(Snapshot.of(sim)))
    return scene, sim, states


def test_forces_on_the_upper_plate_are_those_of_its_joint_and_of_its_motion():
    """m dv/dt = contacts - motor upwards; across, the joint holds it against the contacts. To the softness of joints, 1e-6."""
    scene = make_scene("shear-cell", count=60, length=4, depth=4)
    sim = Simulation(scene).run(0.3)
    mass, area = scene.bodies[1].mass, scene.cell.volume
    for _ in range(5):
        before = sim.bodies.velocity[2, 2]
        sim.step()
        state, lid = ShearState.of(Snapshot.of(sim)), sim.joint("lid")
        rate = mass * (sim.bodies.velocity[2, 2] - before) / sim.time_step
        assert lid.motor_force == pytest.approx(1000 * area, rel=1e-12)
        assert state.normal_stress[1] * area == pytest.approx(lid.motor_force + rate, rel=1e-6, abs=1e-9)
        assert state.shear_stress[1] * area == pytest.approx(-lid.force[0], rel=1e-4, abs=1e-6)
    assert_allclose(sim.bodies.velocity[2, :2], 0.0, atol=1e-6)
    assert sim.bodies.velocity[1, 0] == scene.parameters.speed


def test_means_have_errors_from_blocks():
    """Of independent numbers the error is sigma / sqrt(n), to the 24 % that ten blocks leave open."""
    values = np.random.default_rng(1).normal(3.0, 0.5, 4000)
    found = Mean.of(values)
    assert found.value == values.mean()
    assert found.error == pytest.approx(0.5 / np.sqrt(4000), rel=0.6)
    assert Mean.of(2 * values, values).value == pytest.approx(2.0)
    assert Mean.of(2 * values, values).error == pytest.approx(0.0, abs=1e-12)


def test_packing_fraction_and_shear_rate_of_a_known_state():
    """A cubic lattice of touching grains that move with a linear profile: pi / 6, and its slope."""
    scene = make_scene("shear-cell", count=60, length=4, depth=4, spread=0.0)
    ids = np.concatenate([np.full(len(block.place()[0]), k) for k, block in enumerate(scene.grains)])
    place = np.concatenate([block.place()[0] for block in scene.grains])
    top, d = scene.bodies[1].position[2], 0.01
    pile = np.stack(np.meshgrid(*[np.arange(4)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)[:60] * d + d / 2
    place[ids == 0] = np.add(pile, [0, 0, top / 2 - 2 * d])
    velocity = np.zeros_like(place)
    velocity[:, 0] = -3.0 * place[:, 2]
    state = ShearState.of(Snapshot.build(scene, GrainRows(position=place, radius=np.full(len(place), d / 2), velocity=velocity)))
    volume = 60 * np.pi / 6 * d**3
    inside = 0.6 * state.gap * scene.cell.volume
    assert 0.6 * state.gap > 4 * d  # all of them are in the middle
    assert state.packing_fraction == pytest.approx(volume / inside)
    assert state.shear_rate == pytest.approx(3.0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_pressure_balance_and_profile_of_a_steady_flow(seed):
    scene, _, states = sheared(count=500, length=8, depth=6, seed=seed)
    found = shear_means(states, scene.parameters)
    # The mean over the time of the flow is exact but for the plate's momentum; the sampling leaves its error.
    assert found.pressure.value == pytest.approx(1000.0, rel=0.01)
    lower, upper = found.shear_stress
    assert abs(lower.value - upper.value) < 3 * np.hypot(lower.error, upper.error)
    height, velocity = velocity_profile(states)
    bulk = (height > 0.2) & (height < 0.8)
    line = np.polyval(np.polyfit(height[bulk], velocity[bulk], 1), height[bulk])
    assert np.abs(velocity[bulk] - line).max() < 0.05 * scene.parameters.speed


@pytest.mark.slow
def test_friction_rises_and_packing_falls_with_the_inertial_number():
    """Dense flow of grains with friction 0.4: mu from about 0.35 on, phi down from about 0.6 (da Cruz 2005, Jop 2006)."""
    found = []
    for number, pressure in ((0.03, 1000.0), (0.1, 500.0), (0.3, 1000.0)):
        scene, _, states = sheared(count=400, length=8, depth=6, inertial_number=number, pressure=pressure, strain=8.0)
        found.append(shear_means(states, scene.parameters))
    friction, packing = [f.friction.value for f in found], [f.packing_fraction.value for f in found]
    assert friction[0] < friction[1] < friction[2]
    assert packing[0] > packing[1] > packing[2]
    assert 0.3 < friction[0] < 0.45
    assert 0.56 < packing[0] < 0.62
