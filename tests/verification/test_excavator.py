"""The excavator of WS section 5: its parts, its statics, the way of its bucket, and a dig that fills it."""

from __future__ import annotations

import numpy as np
import pytest

from granum import Simulation, make_scene
from granum.analysis.dig import bed_height, displaced_volume, in_bucket, outside_trench
from granum.papers.ws_excavator import body_row, bucket_load
from granum.scene.library.excavator_arm import Arm, Pose, dig_cycle, upright

GRAVITY = 9.81
MACHINE = (
    "chassis",
    "carriage",
    "counterweight",
    "boom",
    "stick",
    "bucket",
    "boom barrel",
    "boom rod",
    "stick barrel",
    "stick rod",
)
ACTUATORS = ("boom cylinder", "stick cylinder", "bucket cylinder")


@pytest.fixture(scope="module")
def scene():
    return make_scene("excavator", count=1500)


def without_stones(scene, **fields):
    return scene.changed(grains=(), world=((-50,) * 3, (50,) * 3), **fields)


def held(scene):
    """All motors hold where they are at the start."""
    joints = []
    for joint in scene.joints:
        motor = getattr(joint, "motor", None)
        if motor is not None:
            joint = joint.model_copy(update={"motor": motor.model_copy(update={"position": motor.target(0.0)})})
        joints.append(joint)
    return without_stones(scene, joints=joints)


def test_the_machine_has_the_parts_of_the_paper(scene):
    """10 bodies of 50 t, 8 joints, 3 cylinders, a swing motor, and what holds it to the ground."""
    machine = [body for body in scene.bodies if body.kind == "dynamic"]
    assert tuple(body.name for body in machine) == MACHINE
    assert sum(body.mass for body in machine) == 50_000
    driven = {joint.name for joint in scene.joints if getattr(joint, "motor", None) is not None}
    assert driven == {"swing", *ACTUATORS}
    assert len([joint for joint in scene.joints if joint.name not in driven | {"stand"}]) == 8


def test_the_bucket_is_a_shell_with_one_mouth(scene):
    """Edges of one triangle only lie around the mouth: between lip and upper edge on both sides, and along these two."""
    mesh = scene.bodies[MACHINE.index("bucket")].walls[0]
    t = mesh.triangles
    edges = np.sort(np.concatenate([t[:, [0, 1]], t[:, [1, 2]], t[:, [2, 0]]]), axis=1)
    unique, count = np.unique(edges, axis=0, return_counts=True)
    assert count.max() == 2
    rim = unique[count == 1]
    assert len(rim) == 4
    assert len(np.unique(rim)) == 4  # they go around


def test_cylinders_hold_the_arm_by_virtual_work(scene):
    """The force of a cylinder is the change of potential energy with its length; barrels and rods go with what they are between."""
    sim = Simulation(held(scene), time_step=0.005)
    sim.run(1.0)
    found = {name: sim.joint(name).motor_force for name in ACTUATORS}

    masses = {body.name: body.mass for body in scene.bodies if body.kind == "dynamic"}
    place = {name: sim.bodies.position[body_row(sim.scene, name)] for name in MACHINE}
    ends = {}
    for joint in scene.joints:
        if joint.name in ("boom barrel pin", "boom rod pin", "stick barrel pin", "stick rod pin", "foot", "tip", "end"):
            ends[joint.name] = np.array(joint.anchor)
        if joint.name == "bucket cylinder":
            ends["bucket base"], ends["bucket eye"] = (np.array(a) for a in joint.anchors)

    def arm(pivot, force_at, towards):
        """Of a force along a line about a pivot, in the plane of the arm."""
        r, u = force_at - pivot, towards / np.linalg.norm(towards)
        return r[2] * u[0] - r[0] * u[2]  # about y

    def weight_torque(pivot, at, mass):
        return -(at - pivot)[0] * -GRAVITY * mass  # about y

    def end_loads(name):
        """What the weights of barrel and rod do at the two ends: they carry themselves like a beam that slides."""
        a, b = ends[f"{name} barrel pin"], ends[f"{name} rod pin"]
        u = (b - a) / np.linalg.norm(b - a)
        across = np.array([-u[2], 0, u[0]])
        moment = sum(masses[f"{name} {part}"] * ((place[f"{name} {part}"] - a) @ u) for part in ("barrel", "rod"))
        at_b = -GRAVITY * across[2] * moment / np.linalg.norm(b - a) * across  # the part across the axis that b carries
        barrel, rod = (-GRAVITY * masses[f"{name} {part}"] * np.array([0, 0, 1.0]) for part in ("barrel", "rod"))
        at_a = (barrel + rod) - (barrel + rod) @ u * u - at_b
        return at_a + (barrel @ u) * u, at_b, (rod @ u), u  # the motor holds the rod's weight along the axis

    _, boom_b, boom_rod, boom_u = end_loads("boom")
    stick_a, stick_b, stick_rod, stick_u = end_loads("stick")
    bucket_u = ends["bucket eye"] - ends["bucket base"]

    def torque(pivot, at, force):
        r = at - pivot
        return r[2] * force[0] - r[0] * force[2]

    bucket = weight_torque(ends["end"], place["bucket"], masses["bucket"])
    expected = {"bucket cylinder": -bucket / arm(ends["end"], ends["bucket eye"], bucket_u)}
    on_stick = sum(weight_torque(ends["tip"], place[name], masses[name]) for name in ("stick", "bucket"))
    on_stick += torque(ends["tip"], ends["stick rod pin"], stick_b + stick_rod * stick_u)
    expected["stick cylinder"] = -on_stick / arm(ends["tip"], ends["stick rod pin"], stick_u)
    on_boom = sum(weight_torque(ends["foot"], place[name], masses[name]) for name in ("boom", "stick", "bucket"))
    on_boom += torque(ends["foot"], ends["stick rod pin"], stick_b + stick_rod * stick_u)
    on_boom += torque(ends["foot"], ends["stick barrel pin"], stick_a)
    on_boom += torque(ends["foot"], ends["boom rod pin"], boom_b + boom_rod * boom_u)
    expected["boom cylinder"] = -on_boom / arm(ends["foot"], ends["boom rod pin"], boom_u)
    for name, force in expected.items():
        assert found[name] == pytest.approx(force, rel=1e-4), name  # what is left is the swing of joints with a little give


def test_the_bucket_follows_its_way(scene):
    """Through air, from the dig to the empty bucket: the pin is where the cycle has it, to the drift of joints in a step of 5 ms."""
    sim = Simulation(without_stones(scene), time_step=0.005)
    p = scene.parameters
    arm = Arm(p.bucket_size, p.bucket_width)
    cycle, row, middle = dig_cycle(*p.trench, arm), body_row(sim.scene, "bucket"), arm.middle
    worst = 0.0
    while sim.time < 13.0:
        sim.run(0.25)
        worst = max(worst, float(np.abs(sim.bodies.position[row] - cycle.at(sim.time).bucket_point(*middle)).max()))
    assert worst < 0.02  # motors follow tables of straight pieces of 0.1 s, two steps behind
    assert sim.joint_drift < 1e-4


def test_the_arm_says_what_it_does_not_reach():
    with pytest.raises(ValueError, match="does not reach"):
        Pose(upright(12.0, 0.0), 0.0)


def test_points_in_the_bucket(scene):
    p = scene.parameters
    frame = (np.array([5.0, 1.0, -1.0]), np.array([1.0, 0, 0, 0]))
    s = p.bucket_size
    places = np.array([[5.0, 1.0, -1.0], [5.0, 1.0 + 0.6 * p.bucket_width, -1.0], [5.0 - 0.9 * s, 1.0, -1.0 + 0.5 * s], [5.0, 1.0, -2.0]])
    assert in_bucket(places, frame, p).tolist() == [True, False, False, False]


def test_measures_of_a_dig():
    """A level bed of one layer; one grain is taken out of the trench."""
    x, y = (axis.ravel() for axis in np.meshgrid(np.arange(10) + 0.5, np.arange(4) + 0.5))
    before = np.stack([x, y, np.full(40, -1.5)], axis=1)
    radius = np.full(40, 0.5)
    lower, upper = (0.0, 0.0, -2.0), (10.0, 4.0, 0.0)
    assert bed_height(before, radius, lower, upper) == pytest.approx(1.0)
    after = before.copy()
    after[7] = (20.0, 0.0, 0.5)
    after[3] += (0.5, 0, 0)
    assert np.flatnonzero(outside_trench(after, lower, upper)).tolist() == [7]
    assert displaced_volume(before, after, radius, 1.0) == pytest.approx(np.pi / 6)


@pytest.mark.parametrize("values", [{"count": 100}, {"count": 5000, "depth": 5.0}, {"count": 5000, "iterations": -1}])
def test_impossible_trenches_are_refused(values):
    with pytest.raises(ValueError, match="excavator"):
        make_scene("excavator", values)


@pytest.mark.slow
def test_the_bucket_fills_and_is_emptied_beside_the_trench():
    scene = make_scene("excavator")
    p = scene.parameters
    sim = Simulation(scene, threads=2)
    sim.run(p.lifted)
    lifted = bucket_load(sim, p)
    assert lifted > 100  # of 0.16 m^3, 220 kg when level
    sim.run(p.emptied - p.lifted)
    assert bucket_load(sim, p) < 0.05 * lifted
    beside = sim.position[:, 1] > 3.0
    assert (1 / sim.bodies.inverse_mass[sim.bodies.grains][beside]).sum() > 0.8 * lifted


@pytest.mark.slow
def test_a_dig_goes_on_with_the_same_bits_for_any_number_of_threads_and_after_a_restart():
    scene = make_scene("excavator", count=2000)
    sim = Simulation(scene, threads=1)
    sim.run(8.5)
    runs = [Simulation.restore(scene, Simulation(scene, threads=threads).settings, sim.checkpoint()) for threads in (1, 2)]
    for one in (sim, *runs):
        one.run(0.5)
    for one in runs:
        assert np.array_equal(sim.bodies.position, one.bodies.position)
        assert np.array_equal(sim.bodies.velocity, one.bodies.velocity)


@pytest.mark.slow
def test_25_sweeps_find_the_force_of_the_boom_in_a_bed():
    """30 steps in the drag, each solved with 25 and with 1000 sweeps from the same state; two runs by themselves would drift apart."""
    scene = make_scene("excavator", count=2000)
    sim = Simulation(scene)
    sim.run(8.5)
    few, many = [], []
    for _ in range(30):
        saved = sim.checkpoint()
        right = Simulation.restore(scene, Simulation(scene, solver={"name": "pgs", "iterations": 1000}).settings, saved)
        right.step()
        many.append(right.joint("boom cylinder").motor_force)
        sim.step()
        few.append(sim.joint("boom cylinder").motor_force)
    error = np.sqrt(np.mean(np.square(np.subtract(few, many)))) / np.sqrt(np.mean(np.square(many)))
    assert error < 2e-3
