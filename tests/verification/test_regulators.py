"""Regulators of stress and speed, and a triaxial test: stresses of motors, platens and contacts agree, restarts have the same bits."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from granum import Body, Grains, Material, Motor, Plane, Regulator, Scene, Simulation, Slider, Span
from granum.analysis.snapshot import Snapshot
from granum.analysis.triaxial import TriaxialCurve, TriaxialState, mobilised_angle
from granum.checks import InputError
from granum.scene import Gravity
from granum.scene.library import make_scene

STONE = Material(name="stone", density=2500, youngs_modulus=1e10)
H = 0.002


def ram(motor: Motor, *regulators: Regulator, mass: float = 10.0, height: float = 0.25, material: Material = STONE) -> Scene:
    """A platen above a grain on a floor, without gravity; its way down is positive."""
    return Scene(
        materials=[material],
        gravity=Gravity(acceleration=(0, 0, 0)),
        walls=[Plane(material="stone")],
        bodies=[
            Body(
                name="platen",
                kind="dynamic",
                mass=mass,
                inertia=(1, 1, 1),
                position=(0, 0, height),
                walls=[Plane(material="stone", normal=(0, 0, -1))],
            )
        ],
        grains=[Grains(material="stone", position=[[0, 0, 0.1]], diameter=0.2)],
        joints=[Slider(name="ram", bodies=("ground", "platen"), axis=(0, 0, -1), motor=motor)],
        regulators=regulators,
        run={"time_step": H},
    )


def test_a_stress_presses_with_the_area_of_the_moment():
    """The span of 1 m loses the way of the ram: force = 200 Pa x 2 m^2 x (1 - way), and the floor carries it."""
    press = Regulator(name="p", joint="ram", stress=200.0, area=2.0, spans=(Span(length=1.0, joints=("ram",)),))
    sim = Simulation(ram(Motor(force=0.0), press)).run(1.0)
    way = sim.joint("ram").coordinate
    assert way == pytest.approx(0.05, abs=1e-3)
    assert sim.joint("ram").motor_force == pytest.approx(400 * (1 - way), rel=1e-6)
    assert float(sim.contacts.normal_force[sim.contacts.b == -1].sum()) == pytest.approx(400 * (1 - way), rel=1e-3)


def test_a_speed_regulator_holds_its_speed_against_a_force():
    """Free motion: f = P e + I int e drives a mass like a damped spring drives its error; after many periods the speed is the set point."""
    p, i, mass = 10.0 / (2 * H), 10.0 / (10 * H * H), 10.0
    sim = Simulation(ram(Motor(force=0.0), Regulator(name="v", joint="ram", speed=0.01, proportional=p, integral=i), mass=mass))
    speed = []
    for _ in range(60):
        sim.step()
        speed.append(sim.joint("ram").speed)
    error, force, twin = 0.01, 0.0, []  # the scheme by hand: forces of a step follow from the speed before it
    integral = 0.0 - p * error
    v = 0.0
    for _ in range(60):
        error = 0.01 - v
        integral += i * error * H
        force = p * error + integral
        v += force / mass * H
        twin.append(v)
    assert_allclose(speed, twin, rtol=1e-9, atol=1e-12)
    assert speed[-1] == pytest.approx(0.01, rel=1e-3)


def test_a_stress_regulator_of_a_motor_for_speed_comes_to_its_stress():
    """Integral action leaves no error at rest, and a motor for speed gives no force but that of the contact."""
    press = Regulator(name="p", joint="ram", stress=300.0, area=2.0, proportional=2e-4, integral=2e-3)
    soft = Material(name="stone", density=2500, youngs_modulus=1e7)  # a stiff contact would need smaller gains
    sim = Simulation(ram(Motor(speed=0.0), press, mass=0.1, height=0.2, material=soft)).run(2.0)
    assert sim.joint("ram").motor_force == pytest.approx(600.0, rel=1e-3)
    assert float(sim.contacts.normal_force[sim.contacts.b == -1].sum()) == pytest.approx(600.0, rel=1e-3)


def test_regulators_take_turns_without_a_jump_and_restart_with_the_same_bits():
    first = Regulator(name="stress", joint="ram", stress=200.0, area=2.0, stop=0.5)
    then = Regulator(name="speed", joint="ram", speed=0.0, proportional=100.0, integral=1000.0, start=0.5)
    scene = ram(Motor(force=0.0), first, then)
    sim = Simulation(scene).run(0.5)
    before = sim.joint("ram").motor_force
    sim.step()
    assert sim.joint("ram").motor_force == pytest.approx(before, rel=1e-3)
    sim.run(0.02)
    other = Simulation.restore(scene, sim.settings, copy.deepcopy(sim.checkpoint()))
    sim.run(0.1)
    other.run(0.1)
    assert_array_equal(sim.bodies.position, other.bodies.position)
    assert sim.joint("ram").motor_force == other.joint("ram").motor_force


@pytest.mark.parametrize(
    "motor, fields, words",
    [
        (Motor(force=0.0), {"speed": 1.0}, "needs proportional or integral"),
        (Motor(speed=0.0), {"speed": 1.0, "integral": 1.0}, "drives the speed by itself"),
        (Motor(position=0.0), {"speed": 1.0, "integral": 1.0}, "needs a motor for force or for speed"),
        (Motor(force=0.0), {"stress": 1.0}, "stress and area belong together"),
        (Motor(force=0.0), {}, "needs a stress or a speed"),
        (Motor(force=0.0), {"stress": 1.0, "area": 1.0, "joint": "rum"}, "Did you mean 'ram'"),
        (Motor(force=0.0), {"stress": 1.0, "area": 1.0, "start": 1.0, "stop": 0.5}, "must start before it stops"),
    ],
)
def test_regulators_that_cannot_work_are_refused_in_words(motor, fields, words):
    with pytest.raises(InputError, match=words):
        ram(motor, Regulator(**({"name": "r", "joint": "ram"} | fields)))


def test_two_regulators_do_not_work_on_one_joint_at_once():
    two = [Regulator(name=name, joint="ram", stress=1.0, area=1.0, start=start) for name, start in (("a", 0.0), ("b", 1.0))]
    with pytest.raises(InputError, match="'a' and 'b' both work on joint 'ram' at t = 1 s"):
        ram(Motor(force=0.0), *two)


@pytest.fixture(scope="module")
def confined() -> Simulation:
    """A small bed, pressed from all sides, at the moment at which the axial load begins."""
    scene = make_scene("triaxial", count=100, seed=3, time_step=0.005)
    return Simulation(scene).run(scene.parameters.starts)


def test_stresses_of_motors_platens_and_contacts_are_one_at_rest(confined):
    """Each platen carries stress x area, and so does the network of contacts (Love, Weber): the bed is at rest under smooth platens."""
    state = TriaxialState.of(Snapshot.of(confined))
    assert_allclose(state.platen_stress, 100.0, rtol=1e-3)
    assert_allclose(np.diag(state.contact_stress), 100.0, rtol=1e-3)
    assert_allclose(state.contact_stress, state.contact_stress.T, atol=0.1)  # no grain is turned
    for k, name in enumerate(("left", "front", "bottom")):
        area = state.width.prod() / state.width[k]
        assert confined.joint(name).motor_force == pytest.approx(100.0 * area, rel=1e-4)


def test_strain_control_misses_its_way_by_what_its_integral_has_learnt(confined):
    """The integral part of the force has grown by I times the way that is missing, whatever the grains do; a restart has the same bits."""
    scene = confined.scene
    regulator = next(r for r in scene.regulators if r.name == "speed of top")
    sim = Simulation.restore(scene, confined.settings, copy.deepcopy(confined.checkpoint()))
    while not regulator.works_at(sim.time):
        sim.step()
    before, integral = sim.joint("top").motor_force - regulator.proportional * (0.01 - sim.joint("top").speed), 0.0
    began, place = sim.step_count, sim.joint("top").coordinate
    for k in range(80):
        if k == 40:
            twin = Simulation.restore(scene, sim.settings, copy.deepcopy(sim.checkpoint()))
        last = sim.joint("top").speed
        at = sim.joint("top").coordinate
        sim.step()
        integral = sim.joint("top").target - regulator.proportional * (0.01 - last)
    missing = 0.01 * (sim.step_count - began) * sim.time_step - (at - place)
    assert missing == pytest.approx((integral - before) / regulator.integral, rel=1e-3)
    twin.run_until(sim.step_count)
    assert_array_equal(sim.bodies.position, twin.bodies.position)
    assert_array_equal(sim.bodies.velocity, twin.bodies.velocity)


def test_a_curve_begins_at_the_load_and_rises(confined):
    states = [TriaxialState.of(Snapshot.of(confined))]
    sim = Simulation.restore(confined.scene, confined.settings, copy.deepcopy(confined.checkpoint()))
    for _ in range(60):
        sim.step()
        states.append(TriaxialState.of(Snapshot.of(sim)))
    curve = TriaxialCurve.of(states, confined.scene.parameters.starts)
    assert curve.axial_strain[0] == 0
    assert curve.volumetric_strain[0] == 0
    assert curve.axial_strain[-1] > 0.005
    assert curve.deviator.max() > 100  # a bed with friction carries more along the axis than from the sides


def test_the_mobilised_angle_is_that_of_mohrs_circle():
    """A bed that slides at 30 degrees carries three times the lateral stress."""
    assert mobilised_angle(300.0, 100.0) == pytest.approx(30.0)
    assert mobilised_angle(100.0, 100.0) == 0


def test_stress_control_raises_the_axial_stress_until_the_bed_gives_way():
    scene = make_scene("triaxial", count=60, control="stress", stress_rate=200.0)
    sim = Simulation(scene).run(scene.parameters.starts + 0.2)
    state = TriaxialState.of(Snapshot.of(sim))
    assert state.stress[2] == pytest.approx(140.0, rel=0.05)
    assert_allclose(state.stress[:2], 100.0, rtol=0.1)
