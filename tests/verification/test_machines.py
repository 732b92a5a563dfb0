"""Joints, motors and limits against closed forms, and against numbers of MuJoCo (RK4, fine steps).

Steps are of first order in h where a machine turns, and joints come back to their place within some steps, so tolerances are errors of the
order of h or h^2, or what is left after many steps at rest.
"""

from __future__ import annotations

import numpy as np
import pytest

from granum import Ball, Body, Cylindrical, Distance, Fixed, Hinge, InputError, Limits, Motor, Simulation, Slider, Universal
from tests.reference.machines import GRAVITY, excavator, machine_scene, pin, rod, turned


def run(bodies, joints, h=0.005, gravity=GRAVITY, **fields):
    return Simulation(machine_scene(bodies, joints, gravity, **fields), time_step=h)


def test_pendulum_has_the_period_of_its_length():
    start = 0.1
    bob = Body(name="bob", kind="dynamic", mass=1, inertia=(1e-6,) * 3, position=(np.sin(start), 0, -np.cos(start)))
    sim = run([bob], [pin("pin", "ground", "bob", (0, 0, 0))])
    x = []
    for _ in range(1250):
        sim.step()
        x.append(sim.bodies.position[1, 0])
    x = np.array(x)
    up = np.flatnonzero((x[:-1] < 0) & (x[1:] >= 0))
    crossing = (up - x[up] / (x[up + 1] - x[up])) * 0.005
    # T = 2 pi sqrt(L/g) (1 + a^2/16 + ...); the scheme is symplectic Euler along the circle, whose period is right to (w h)^2 / 24 = 1e-5
    assert np.diff(crossing).mean() == pytest.approx(2.0073212, rel=2e-5)
    assert x[-400:].max() == pytest.approx(np.sin(start), rel=1e-3)


def test_double_pendulum_tends_to_the_reference_in_first_order():
    left, middle, right = (np.array([x, 0.0, 0.0]) for x in (0, 1, 2))
    bodies = [rod("upper", left, middle, 1.0), rod("lower", middle, right, 1.0)]
    joints = [pin("top", "ground", "upper", left), pin("elbow", "upper", "lower", middle)]
    errors = []
    for h in (0.002, 0.001):
        sim = run(bodies, joints, h)
        sim.run(0.5)
        first = sim.bodies.position[2, [0, 2]] - [0.864990, -1.153517]
        sim.run(0.5)
        errors.append(np.concatenate([first, sim.bodies.position[2, [0, 2]] - [-1.298461, -0.698311]]))
    assert np.abs(errors[1]).max() < 2e-3
    assert np.allclose(errors[0] / errors[1], 2.0, atol=0.15)


def test_a_spinning_top_precesses_steadily():
    tilt, arm, precession = np.radians(30), 0.1, 3.81666
    axis = np.array([np.sin(tilt), 0, np.cos(tilt)])
    spin = 60 * axis + precession * (np.array([0, 0, 1]) - axis * np.cos(tilt))
    top = Body(
        name="top",
        kind="dynamic",
        mass=1,
        inertia=(3e-3, 3e-3, 5e-3),
        position=tuple(arm * axis),
        orientation=turned((0, 1, 0), tilt),
        spin=tuple(spin),
        velocity=tuple(np.cross(spin, arm * axis)),
    )
    sim = run([top], [Ball(name="tip", bodies=("ground", "top"), anchor=(0, 0, 0))], 0.0025)
    angle = []
    for _ in range(400):
        sim.step()
        angle.append(np.arctan2(sim.bodies.position[1, 1], sim.bodies.position[1, 0]))
    assert (np.unwrap(angle)[-1] - np.unwrap(angle)[0]) / (399 * 0.0025) == pytest.approx(precession, rel=0.01)
    assert np.degrees(np.arccos(sim.bodies.position[1, 2] / arm)) == pytest.approx(30, abs=1.5)


def test_every_joint_of_a_heavily_loaded_chain_carries_what_hangs_on_it():
    bodies, joints, above = [], [], "ground"
    for k in range(10):
        bodies.append(Body(name=f"link {k}", kind="dynamic", mass=1000, inertia=(100, 100, 10), position=(0, 0, -0.5 - k)))
        joints.append(Ball(name=f"joint {k}", bodies=(above, f"link {k}"), anchor=(0, 0, -k)))
        above = f"link {k}"
    bodies.append(Body(name="load", kind="dynamic", mass=1e5, inertia=(1e5,) * 3, position=(0, 0, -11)))
    joints.append(Ball(name="joint 10", bodies=(above, "load"), anchor=(0, 0, -10)))
    sim = run(bodies, joints)
    sim.run(0.3)
    for k in range(11):
        assert sim.joint(f"joint {k}").force == pytest.approx([0, 0, GRAVITY * (1e5 + 1000 * (10 - k))], rel=1e-9, abs=1e-3)


def four_bar(h):
    crank, coupler, rocker, ground = 0.2, 0.6, 0.5, 0.7
    a, d = np.zeros(3), np.array([ground, 0, 0])
    b = np.array([0, 0, crank])
    to_d = (d - b) / np.linalg.norm(d - b)
    along = (coupler**2 - rocker**2 + (d - b) @ (d - b)) / (2 * np.linalg.norm(d - b))
    c = b + along * to_d + np.sqrt(coupler**2 - along**2) * np.array([-to_d[2], 0, to_d[0]])
    bodies = [rod("crank", a, b, 1.0), rod("coupler", b, c, 2.0), rod("rocker", c, d, 1.5)]
    motor = Motor(speed=[[0, 0], [0.5, -2 * np.pi]])
    joints = [pin("drive", "ground", "crank", a, motor=motor), pin("b", "crank", "coupler", b)]
    joints += [pin("c", "coupler", "rocker", c), pin("d", "rocker", "ground", d)]
    return run(bodies, joints, h)


def test_a_four_bar_linkage_returns_its_work_and_stays_together():
    sim = four_bar(0.0025)  # a loop: some of the rows of its hinges follow from the others
    sim.run(1.0)
    before, torque, apart = sim.ledger.joules["motors"], [], []
    for _ in range(400):
        sim.step()
        torque.append(sim.joint("drive").motor_force)
        apart.append(sim.joint_drift)
    assert np.abs(torque).max() == pytest.approx(5.90, rel=2e-3)
    assert abs(sim.ledger.joules["motors"] - before) < 2e-3  # of the 5.9 N m x 2 pi that go in and out: first order in h
    assert max(apart) < 5e-5  # 4.4e-5 m at 2.5 ms, and 1.8e-4 m at 5 ms: second order in h


def test_a_slider_crank_holds_the_torque_of_virtual_work():
    r, size, angle = 0.1, 0.3, np.radians(60)
    pin_at = r * np.array([np.cos(angle), 0, np.sin(angle)])
    end = np.array([pin_at[0] + np.sqrt(size**2 - pin_at[2] ** 2), 0, 0])
    piston = Body(name="piston", kind="dynamic", mass=1, inertia=(1e-3,) * 3, position=tuple(end), force=(-1000, 0, 0))
    bodies = [rod("crank", np.zeros(3), pin_at, 1.0), rod("rod", pin_at, end, 1.0), piston]
    joints = [
        pin("drive", "ground", "crank", (0, 0, 0), motor=Motor(position=0.0)),
        pin("big end", "crank", "rod", pin_at),
        pin("small end", "rod", "piston", end),
        Slider(name="bore", bodies=("ground", "piston"), axis=(1, 0, 0)),
    ]
    sim = run(bodies, joints, 0.002, gravity=0.0)
    sim.run(0.4)
    # a positive turn about y takes the crank down and the piston outwards, against the force
    assert sim.joint("drive").motor_force == pytest.approx(101.678, abs=1e-3)


@pytest.mark.parametrize("strongest, speed", [(150.0, 0.5139), (60.0, -0.3772)])
def test_a_motor_beyond_its_strength_gives_all_it_has(strongest, speed):
    arm = Body(name="arm", kind="dynamic", mass=10, inertia=(0.1,) * 3, position=(1, 0, 0))
    hinge = Hinge(name="drive", bodies=("ground", "arm"), anchor=(0, 0, 0), axis=(0, -1, 0), motor=Motor(speed=2.0, force_limit=strongest))
    sim = run([arm], [hinge], 0.001)
    sim.run(0.1)
    assert sim.joint("drive").motor_force == strongest
    assert sim.joint("drive").speed == pytest.approx(speed, abs=2e-4)


def test_a_motor_that_holds_its_place_carries_the_weight():
    arm = Body(name="arm", kind="dynamic", mass=10, inertia=(0.1,) * 3, position=(1, 0, 0))
    motor = Motor(position=0.0, force_limit=1000)
    hinge = Hinge(name="lock", bodies=("ground", "arm"), anchor=(0, 0, 0), axis=(0, -1, 0), motor=motor)
    sim = run([arm], [hinge], 0.001)
    sim.run(0.3)
    assert sim.joint("lock").motor_force == pytest.approx(98.1, rel=1e-9)
    assert abs(sim.joint("lock").coordinate) < 1e-8


def test_a_motor_follows_a_table_of_places():
    arm = Body(name="arm", kind="dynamic", mass=10, inertia=(0.1,) * 3, position=(1, 0, 0))
    motor = Motor(position=[[0, 0.0], [1.0, 2.0], [1.5, 2.0]])
    sim = run([arm], [Hinge(name="drive", bodies=("ground", "arm"), anchor=(0, 0, 0), axis=(0, -1, 0), motor=motor)], 0.002)
    sim.run(0.5)
    assert sim.joint("drive").coordinate == pytest.approx(1.0, abs=1e-4)
    assert sim.joint("drive").speed == pytest.approx(2.0, rel=1e-4)
    sim.run(0.9)
    assert sim.joint("drive").coordinate == pytest.approx(2.0, abs=1e-4)
    # m g L cos rises the arm by sin(2) - 0: the motor has done that work, and nothing else is left in the ledger
    assert sim.ledger.joules["motors"] == pytest.approx(98.1 * np.sin(2.0), rel=5e-3)


@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_a_limit_stops_or_throws_back(restitution):
    arm = Body(name="arm", kind="dynamic", mass=10, inertia=(0.1,) * 3, position=(1, 0, 0))
    limits = Limits(upper=np.pi / 4, restitution=restitution)
    sim = run([arm], [pin("hinge", "ground", "arm", (0, 0, 0), limits=limits)], 0.001)
    course = []
    for _ in range(2000):
        sim.step()
        course.append((sim.joint("hinge").coordinate, sim.joint("hinge").speed))
    angle, speed = np.array(course).T
    hit = int(np.argmax(np.diff(speed) < -0.5))  # the last step before the limit
    assert angle.max() < np.pi / 4 + 2e-5
    # the step of the collision has some g h / L = 0.01 rad/s of its own on either side
    assert -speed[hit : hit + 5].min() == pytest.approx(restitution * speed[hit], abs=0.02)
    assert sim.joint("hinge").limit_force == pytest.approx(-10 * GRAVITY * np.cos(np.pi / 4), rel=1e-6)


@pytest.mark.parametrize(
    "load, forces",
    [
        ((0, 0, 0), (375373.1, -26161.0, 8521.8)),
        ((0, 0, 1e5), (-219042.3, 53707.3, -34912.6)),
        ((-5e4, 0, 5e4), (96904.8, -227207.3, -89205.5)),
    ],
)
def test_cylinders_of_an_excavator_carry_it(load, forces):
    sim = Simulation(excavator(load), time_step=0.005)
    sim.run(1.5)
    found = [sim.joint(f"{name} cylinder").motor_force for name in ("boom", "stick", "bucket")]
    assert found == pytest.approx(forces, abs=1.0)


def test_a_floating_machine_keeps_its_momenta():
    """Motor, limits and all kinds of joints are inside of it."""
    bodies = [
        Body(name=f"b{k}", kind="dynamic", mass=1.0 + k, inertia=(0.1 + 0.02 * k, 0.2, 0.15), position=(k, 0.1 * k, 0), spin=(0.3, k, -1))
        for k in range(7)
    ]
    joints = [
        Ball(name="ball", bodies=("b0", "b1"), anchor=(0.5, 0, 0)),
        Hinge(name="hinge", bodies=("b1", "b2"), anchor=(1.5, 0, 0), axis=(1, 1, 0), motor=Motor(speed=3.0, force_limit=5.0)),
        Slider(name="slider", bodies=("b2", "b3"), axis=(1, 0, 0), motor=Motor(force=4.0), limits=Limits(upper=0.1, restitution=0.3)),
        Cylindrical(name="cylindrical", bodies=("b3", "b4"), anchor=(3.5, 0, 0), axis=(0, 1, 1)),
        Universal(name="universal", bodies=("b4", "b5"), anchor=(4.5, 0, 0), axis=(0, 1, 0), other_axis=(0, 0, 1)),
        Fixed(name="fixed", bodies=("b5", "b6")),
        Distance(name="rod", bodies=("b0", "b6"), anchors=((0, 0.2, 0), (6, 0.5, 0))),
    ]
    sim = run(bodies, joints, 0.002, gravity=0.0)

    def momenta():
        b = sim.bodies
        mass, v = 1 / b.inverse_mass[1:8], b.velocity[1:8]
        w, x, y, z = b.orientation[1:8].T
        turn = np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        ).transpose(2, 0, 1)
        own = np.einsum("nij,nj,nkj,nk->ni", turn, b.moments[1:8], turn, b.spin[1:8])
        return (mass[:, None] * v).sum(axis=0), (np.cross(b.position[1:8], mass[:, None] * v) + own).sum(axis=0)

    before = momenta()
    sim.run(0.5)
    after = momenta()
    assert after[0] == pytest.approx(before[0], abs=1e-11)
    # Rows of a joint turn about two anchors that drift apart by h^2: so much angular momentum comes from the forces of the joints.
    assert after[1] == pytest.approx(before[1], abs=2e-3 * np.abs(before[1]).max())
    assert sim.joint_drift < 1e-3


def test_restarted_machines_go_on_with_the_same_bits():
    sim = four_bar(0.005)
    sim.run(0.3)
    again = Simulation.restore(sim.scene, sim.settings, sim.checkpoint())
    sim.run(0.2)
    again.run(0.2)
    assert np.array_equal(sim.bodies.position, again.bodies.position)
    assert sim.joint("drive").motor_force == again.joint("drive").motor_force


def test_joints_that_contradict_each_other_are_told_and_hold():
    arm = Body(name="arm", kind="dynamic", mass=10, inertia=(1,) * 3, position=(1, 0, 0))
    joints = [
        Hinge(name="this way", bodies=("ground", "arm"), anchor=(0, 0, 0), axis=(0, 1, 0)),
        Hinge(name="that way", bodies=("arm", "ground"), anchor=(1, 0, 0), axis=(1, 0, 0)),
    ]
    with pytest.warns(RuntimeWarning, match="'this way' and 'that way' link the same two bodies and leave them no freedom"):
        sim = run([arm], joints)
    sim.run(0.5)
    assert np.abs(sim.bodies.position[1] - [1, 0, 0]).max() < 1e-6


def test_a_motor_that_is_too_weak_for_long_is_told():
    arm = Body(name="arm", kind="dynamic", mass=10, inertia=(0.1,) * 3, position=(1, 0, 0))
    limits, motor = Limits(lower=-0.1), Motor(speed=1.0, force_limit=60.0)
    sim = run([arm], [Hinge(name="hoist", bodies=("ground", "arm"), anchor=(0, 0, 0), axis=(0, -1, 0), motor=motor, limits=limits)])
    with pytest.warns(RuntimeWarning, match="the motor of joint 'hoist' has been at its force_limit, 60 N"):
        sim.run(1.5)
    assert sim.joint("hoist").limit_force == pytest.approx(10 * GRAVITY * np.cos(0.1) - 60, rel=1e-6)


@pytest.mark.parametrize(
    "fields, words",
    [
        ({"bodies": ("arm", "arm")}, "links the body 'arm' to itself"),
        ({"bodies": ("ground", "leg")}, "unknown body of joint 'j' 'leg'"),
        ({"axis": (0, 0, 0)}, "axis of joint 'j' must not be zero"),
        ({"limits": {"lower": 1.0, "upper": 0.5}}, "lower must be below upper"),
        ({"kind": "ball", "motor": {"speed": 1.0}}, "motor"),
        ({"motor": {"speed": [[0, 0], [2, 1], [1, 1]]}}, "times must grow from row to row"),
        ({"motor": {"speed": 1.0, "position": 2.0}}, "one of speed, position, force and pressure"),
        ({"motor": {"pressure": 1e5}}, "pressure and area belong together"),
        ({"bodies": ("ground", "post")}, "neither 'ground' nor 'post' is dynamic"),
    ],
)
def test_bad_joints_are_refused_in_words(fields, words):
    arm = Body(name="arm", kind="dynamic", mass=10, inertia=(1,) * 3, position=(1, 0, 0))
    joint = {"kind": "hinge", "name": "j", "bodies": ("ground", "arm"), "anchor": (0, 0, 0), "axis": (0, 1, 0)} | fields
    if joint["kind"] == "ball":
        del joint["axis"]
    with pytest.raises(InputError, match=words):
        machine_scene([arm, Body(name="post")], [joint])
