"""Triaxial tests: Hertz' strain of a regular bed, work of the platens, and the critical state of what is known."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from numpy.testing import assert_allclose

from granum import Grains, Simulation
from granum.analysis.snapshot import Snapshot
from granum.analysis.triaxial import TriaxialCurve, TriaxialState
from granum.scene.library import make_scene
from granum.simulation import make_settings

D, SIDE = 0.013, 3


def lattice(stress):
    """A triaxial test of grains in a cube, each on the next one, that the platens come up to."""
    scene = make_scene(
        "triaxial", count=SIDE**3, size_ratio=1.0, diameter=D, stress=stress, settle=3.0, time_step=0.005, youngs_modulus=6e6
    )
    axis = (np.arange(SIDE) - (SIDE - 1) / 2) * D
    place = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)
    return scene.model_copy(update={"grains": (Grains(material=scene.grains[0].material, position=place, diameter=D),)})


@pytest.mark.parametrize("stress", [100.0, 10_000.0])
def test_a_cubic_bed_is_as_high_as_hertz_has_it(stress):
    """Every contact carries stress x area / 9; width = 3 d less two overlaps of grains, R* = d / 4, and two at platens, R* = d / 2.

    Friction between the columns keeps some difference of their loads from when the platens came. Of loads with a scatter s the mean of
    f^(2/3) is smaller by s^2 / 9, to second order.
    """
    scene = lattice(stress)
    sim = Simulation(scene).run(3.0)
    state = TriaxialState.of(Snapshot.of(sim))
    force = stress * state.width.prod() / state.width / SIDE**2  # (3,) [N]
    grain, platen = scene.materials
    overlaps = 0.0
    for other, radius, number in ((grain, D / 4, SIDE - 1), (platen, D / 2, 2)):
        stiffness = scene.law.pair_stiffness(grain, other) * np.sqrt(radius)
        overlaps = overlaps + number * (force / stiffness) ** (2 / 3)
    axis, load = np.abs(sim.contacts.normal).argmax(axis=1), sim.contacts.normal_force
    scatter = np.array([load[axis == k].std() / load[axis == k].mean() for k in range(3)])
    assert (scatter < 0.2).all()
    assert_allclose(SIDE * D - state.width, overlaps * (1 - scatter**2 / 9), rtol=2e-4)
    assert_allclose(state.stress, stress, rtol=1e-3)
    assert_allclose(np.diag(state.contact_stress), stress, rtol=1e-3)


def test_motors_work_as_much_as_stress_times_change_of_volume():
    """Work of motors = sum of stress x area x way inwards + what the platens have gained: each step's forces and ways, to rounding."""
    scene = make_scene("triaxial", count=60, settle=1.0, time_step=0.005)
    sim = Simulation(scene, make_settings(scene.run, {"stepper": {"impact_velocity": 1e9}})).run(1.0)  # no collisions: forces are all
    rows = [k for k, body in enumerate(scene.all_bodies) if body.kind == "dynamic"]
    inwards = np.array([(1 - 2 * side) * np.eye(3)[axis] for axis in range(3) for side in range(2)])  # left, right, front, ...

    def speed():
        return (sim.bodies.velocity[rows] * inwards).sum(axis=1)

    first, motors, work = speed(), sim.ledger.joules["motors"], 0.0
    for _ in range(100):
        last = speed()
        sim.step()
        state = TriaxialState.of(Snapshot.of(sim))
        force = state.platen_stress * (state.width.prod() / state.width)[:, None]
        work += float((force.ravel() * (last + speed()) / 2).sum()) * sim.time_step
    gained = 0.5 * scene.parameters.platen_mass * float((speed() ** 2 - first**2).sum())
    assert sim.ledger.joules["motors"] - motors == pytest.approx(work + gained, rel=1e-6)


def test_the_critical_state_is_the_mean_over_strains_of_10_to_25_per_cent():
    """Of a made-up test, with other values before and behind: axial stress 300 and 500, lateral 100 and 140 Pa, phi 0.58 and 0.60."""
    strain = np.array([0.0, 0.09, 0.1, 0.25, 0.26])
    axial, lateral = np.array([100.0, 900.0, 300.0, 500.0, 50.0]), np.array([100.0, 10.0, 100.0, 140.0, 10.0])
    phi = np.array([0.64, 0.5, 0.58, 0.6, 0.4])
    curve = TriaxialCurve(np.arange(5.0), strain, np.zeros(5), axial, lateral, phi)
    found = curve.critical
    assert found["deviator"] == pytest.approx(400 - 120)
    assert found["lateral_stress"] == pytest.approx(120)
    assert found["packing_fraction"] == pytest.approx(0.59)
    assert found["stress_ratio"] == pytest.approx(280 / (640 / 3))
    assert found["friction_angle"] == pytest.approx(np.degrees(np.arcsin(280 / 520)))
    assert curve.lack is None


@pytest.mark.parametrize(
    "strain, stress, words",
    [
        ([0, 0.02, 0.04, 0.06, 0.08, 0.09], 300, ["strain is 9 % at t = 5 s, less than 10 %", "still moves: 25 % takes about 16 s more"]),
        (
            [0, 0.03, 0.05, 0.06, 0.0601, 0.0601],
            300,
            ["strain is 6.01 % at t = 5 s", "stalled (largest deviator 200 Pa)", "control = strain"],
        ),
        ([0, 0.0, 0.0, 0.0, 0.0, 0.0], 100, ["strain is 0 % at t = 5 s", "stalled (largest deviator 0 Pa)", "largest_strain"]),
        ([0, 0.12, 0.15, 0.1, 0.06, 0.05], 300, ["strain is 5 % at t = 5 s", "stalled"]),
        ([0, 0.04, 0.09, 0.27, 0.28, 0.3], 300, ["jump from 9 % (t = 2 s) to 27 % (t = 3 s)", "--every"]),
        ([0, 0.1, 0.15, 0.2, 0.25, 0.3], 0, ["do not press on the platens", "speed", "platen_mass"]),
    ],
)
def test_a_test_without_a_critical_state_says_why(strain, stress, words):
    """Made-up tests that stall, end too early, come back, jump over the critical strains, or lose their grains: words, and no numbers."""
    lateral = np.full(6, min(stress, 100.0))
    curve = TriaxialCurve(np.arange(6.0), np.array(strain, float), np.zeros(6), np.full(6, float(stress)), lateral, np.full(6, 0.6))
    assert np.isnan(list(curve.critical.values())).all()
    assert curve.lack.startswith("no critical state: ")
    for part in words:
        assert part in curve.lack


def sheared(prepared=None, strain=0.26, **parameters):
    """Curve of a test; the bed may be ``prepared`` with other parameters, such as less friction."""
    scene = make_scene("triaxial", parameters)
    starts = scene.parameters.starts
    first = make_scene("triaxial", parameters | (prepared or {}))
    bed = Simulation(first).run_until(int(starts / first.run.time_step))
    sim = Simulation.restore(scene, bed.settings, copy.deepcopy(bed.checkpoint()))
    states = [TriaxialState.of(Snapshot.of(sim))]
    while states[-1].width[2] > (1 - strain) * states[0].width[2]:
        sim.run_until(sim.step_count + 4)
        states.append(TriaxialState.of(Snapshot.of(sim)))
    return TriaxialCurve.of(states, starts)


@pytest.mark.slow
def test_dense_beds_dilate_and_loose_ones_contract_to_one_critical_state():
    """The critical state does not know how the bed was made: dense without friction, loose with much.

    Angles of single beds of 300 grains scatter by 1.3 degrees, their packing fractions by 0.006: three times that of a difference.
    """
    dense = sheared({"friction": 0.0, "rolling_friction": 0.0}, count=300, seed=1)
    loose = sheared({"friction": 5.0, "rolling_friction": 1.0}, count=300, seed=1)
    assert dense.packing_fraction[0] > loose.packing_fraction[0] + 0.05
    assert dense.volumetric_strain[-1] > 0.05
    assert loose.volumetric_strain[-1] < -0.02
    assert dense.critical["packing_fraction"] == pytest.approx(loose.critical["packing_fraction"], abs=0.025)
    assert dense.critical["friction_angle"] == pytest.approx(loose.critical["friction_angle"], abs=5.5)
