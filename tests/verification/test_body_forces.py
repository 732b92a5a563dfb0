"""What grains do to bodies: weights, lever arms, power, and momentum that bodies and grains exchange, collisions included."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from granum import Body, Box, Grains, Material, Motion, Motor, Plane, Scene, Simulation, Slider
from granum.checks import InputError
from granum.scene import Cell

G, D = 9.81, 0.02
MASS = 2500 * np.pi / 6 * D**3
SEED = 4
STONE = Material(name="stone", density=2500, youngs_modulus=1e7, restitution=0.4, friction=0.5, rolling_friction=0.05)
STEPS = {"nonsmooth": 1e-3, "smooth": 5e-5}


def simulate(scene: Scene, stepper: str, **settings) -> Simulation:
    return Simulation(scene, time_step=STEPS[stepper], stepper=stepper, guards={"on_coarse": "off"}, **settings)


def grains(*places, **fields) -> Grains:
    return Grains(material="stone", position=np.reshape(places, (-1, 3)), diameter=D, **fields)


def cloud(count: int = 12, height: float = 0.03, speed: float = 0.5) -> Grains:
    """Grains that do not touch, above z = ``height`` [m], with velocities of any direction."""
    rng = np.random.default_rng(SEED)
    places = np.stack(np.meshgrid(range(3), range(2), range(2), indexing="ij"), -1).reshape(-1, 3)[:count] * 1.3 * D
    return grains(*np.add(places, (-0.03, -0.01, height)), velocity=speed * rng.uniform(-1, 1, (count, 3)))


def tray(**fields) -> Body:
    """An open box of 0.2 m with the origin in its floor."""
    box = Box(material="stone", lower=(-0.1, -0.1, 0), upper=(0.1, 0.1, 0.3), open=("+z",))
    return Body(name="tray", walls=[box], **fields)


@pytest.mark.parametrize("stepper", STEPS)
def test_a_plate_carries_the_weight_of_its_grains_at_their_lever_arms(stepper):
    """F = -3 m g e_z, and T = sum of r x F about the position of the plate; the ground has nothing to carry."""
    places = np.array([(0.05, 0.01, D / 2), (-0.02, 0.04, D / 2), (0.06, -0.05, D / 2)])
    plate = Body(name="plate", kind="kinematic", position=(0.01, 0.02, 0), walls=[Plane(material="stone")])
    sim = simulate(Scene(materials=[STONE], bodies=[plate], grains=[grains(*places)]), stepper)
    sim.run(0.25)
    body, weight = sim.body("plate"), MASS * G
    # Placed without overlap they swing on their springs: e = 0.4 takes away all but e^(n) of it, below 1e-9 after n = 25 half periods.
    assert_allclose(body.force, (0, 0, -3 * weight), rtol=1e-6, atol=1e-6 * weight)
    arm = places - (0.01, 0.02, 0)
    assert_allclose(body.torque, np.cross(arm, (0, 0, -weight)).sum(axis=0), rtol=1e-6, atol=1e-7 * weight)
    assert_array_equal(sim.body("ground").force, 0.0)
    assert body.power == 0.0
    assert_array_equal(body.position, (0.01, 0.02, 0))
    assert_array_equal(body.orientation, (1, 0, 0, 0))


@pytest.mark.parametrize("stepper", STEPS)
def test_a_press_and_the_ground_carry_all_that_is_between_them(stepper):
    """A dynamic plate on two grains: the ground carries plate and grains, the plate is pushed up by its own weight; together with
    gravity all sums to zero."""
    plate = Body(
        name="plate",
        kind="dynamic",
        mass=0.5,
        inertia=(1e-3,) * 3,
        position=(0, 0, D + 0.01),
        walls=[Box(material="stone", lower=(-0.1, -0.1, -0.01), upper=(0.1, 0.1, 0.01), side="outside")],
        locked=["x", "y", "rotation"],
    )
    beds = grains((-0.05, 0, D / 2), (0.05, 0, D / 2))
    dull = STONE.model_copy(update={"restitution": 0.1})
    scene = Scene(materials=[dull], walls=[Plane(material="stone")], bodies=[plate], grains=[beds])
    if stepper == "smooth":  # one inverse mass cannot tell locked translations
        scene = scene.changed(bodies=(plate.model_copy(update={"locked": ()}),))
    sim = simulate(scene, stepper)
    sim.run(0.4)
    pushed, ground = sim.body("plate").force, sim.body("ground").force
    assert_allclose(pushed, (0, 0, 0.5 * G), rtol=2e-5, atol=1e-9)
    assert_allclose(ground + pushed, (0, 0, -2 * MASS * G), rtol=1e-4, atol=1e-9)


@pytest.mark.parametrize("stepper", STEPS)
@pytest.mark.parametrize("motion", [Motion(velocity=(0.1, 0.05, 0.3)), Motion(spin=(0, 0, 3.0))])
def test_the_power_of_a_driven_body_is_what_the_ledger_counts(stepper, motion):
    """Step by step, through collisions and friction, to rounding: W = -h sum(F.v + T.w).

    A tray that turns about z is touched at its floor and its sides; a big step finds forces at its start, where lever arms are taken."""
    sim = simulate(Scene(materials=[STONE], bodies=[tray(kind="kinematic", motion=motion)], grains=[cloud()]), stepper)
    work, struck = 0.0, 0
    for _ in range(int(0.12 / sim.time_step)):
        struck += sim.step().impacts
        work -= sim.time_step * sim.body("tray").power
    assert struck > 5
    assert abs(work) > 1e-5
    assert work == pytest.approx(sim.ledger.joules["drives"], rel=1e-9 if motion.spin[2] == 0 or stepper == "smooth" else 0.01)


@pytest.mark.parametrize("stepper", STEPS)
def test_grains_and_bodies_exchange_momentum(stepper):
    """What grains lose, bodies get: sum m dv = h sum(m g - F) over all steps, collisions included; to rounding.

    Velocity Verlet kicks with the mean of the forces at both ends of a step."""
    scene = Scene(materials=[STONE], walls=[Plane(material="stone", point=(0, 0, 0.001))], bodies=[tray(kind="static")], grains=[cloud()])
    sim = simulate(scene, stepper)
    before, given, last = sim.velocity.sum(axis=0) * MASS, np.zeros(3), np.zeros(3)
    for _ in range(int(0.12 / sim.time_step)):
        sim.step()
        force = sim.body("ground").force + sim.body("tray").force
        given += force if stepper == "nonsmooth" else (force + last) / 2
        last = force
    gained = sim.velocity.sum(axis=0) * MASS - before
    expected = sim.time_step * (int(0.12 / sim.time_step) * 12 * MASS * np.array([0, 0, -G]) - given)
    assert np.linalg.norm(given) * sim.time_step > 12 * MASS * 0.1
    assert_allclose(gained, expected, atol=1e-11 * 12 * MASS)


def test_a_free_body_is_moved_and_turned_by_what_it_is_told_to_get():
    """Of a ball of inertia, hit by a cloud: M dV = h sum F to rounding, I dw = h sum T but for how far grains move in a step."""
    box = Box(material="stone", lower=(-0.05, -0.05, -0.01), upper=(0.05, 0.05, 0.01), side="outside")
    plate = Body(name="plate", kind="dynamic", mass=0.4, inertia=(1e-3,) * 3, walls=[box])
    moving = cloud(height=0.03).model_copy(update={"velocity": np.tile((0.1, 0.2, -0.8), (12, 1))})
    scene = Scene(materials=[STONE], bodies=[plate], grains=[moving], gravity={"acceleration": (0, 0, 0)})
    sim = simulate(scene, "nonsmooth")
    push, turn = np.zeros(3), np.zeros(3)
    for _ in range(60):
        sim.step()
        push += sim.time_step * sim.body("plate").force
        turn += sim.time_step * sim.body("plate").torque
    assert np.linalg.norm(push) > 0.1 * 12 * MASS * 0.8
    assert_allclose(0.4 * sim.body("plate").velocity, push, atol=1e-12)
    # lever arms reach to where the collision takes place inside of the step: up to h v = 0.8 mm from where it was found
    assert_allclose(1e-3 * sim.body("plate").spin, turn, atol=8e-4 * np.linalg.norm(push))


@pytest.mark.parametrize("stepper", STEPS)
def test_grains_fixed_to_a_body_pass_on_what_pushes_them(stepper):
    """A grain in the hollow of three fixed ones, across the face of a periodic cell: the body carries it, with the torque of its place."""
    side = 1.1 * D
    triangle = [(side / np.sqrt(3), 0, 0), (-side / np.sqrt(12), side / 2, 0), (-side / np.sqrt(12), -side / 2, 0)]
    feet = np.add(triangle, (0.001, 0.1, 0.1))
    top = np.array([0.001, 0.1, 0.1 + np.sqrt(D**2 - side**2 / 3)])
    post = Body(name="post", kind="kinematic", position=(0.02, 0.1, 0.1))
    scene = Scene(
        materials=[STONE],
        bodies=[post],
        grains=[grains(*feet, body="post"), grains(top)],
        cell=Cell(vectors=[0.2, 0.2]),
    )
    sim = simulate(scene, stepper)
    sim.run(0.3)
    weight = MASS * G
    assert_allclose(sim.body("post").force, (0, 0, -weight), atol=2e-5 * weight)
    assert_allclose(sim.body("post").torque, np.cross(top - post.position, (0, 0, -weight)), atol=1e-6 * weight)


def test_a_dynamic_body_with_fixed_grains_carries_through_them():
    """Three fixed grains are the feet of a body on the ground: grains and walls of the ground push it up by its weight."""
    feet = [(0.05, 0, D / 2), (-0.03, 0.04, D / 2), (-0.03, -0.04, D / 2)]
    body = Body(name="stool", kind="dynamic", mass=0.5, inertia=(1e-3,) * 3, position=(0, 0, 0.05))
    sim = simulate(
        Scene(materials=[STONE], walls=[Plane(material="stone")], bodies=[body], grains=[grains(*feet, body="stool")]), "nonsmooth"
    )
    sim.run(0.3)
    assert_allclose(sim.body("stool").force, (0, 0, 0.5 * G), rtol=1e-6, atol=1e-6)
    assert_allclose(sim.body("stool").torque, 0, atol=1e-6 * 0.5 * G * 0.05)
    assert_array_equal(sim.body("ground").force, -sim.body("stool").force)


@pytest.mark.parametrize("stepper", STEPS)
def test_a_joint_carries_what_its_body_is_given(stepper):
    """A plate on a slider falls onto a grain: M dV = h sum(F of the grain + F of the joint + motor + M g), collisions included."""
    plate = Body(
        name="plate",
        kind="dynamic",
        mass=0.5,
        inertia=(1e-3,) * 3,
        position=(0, 0, D + 0.02),
        velocity=(0, 0, -0.5),
        walls=[Box(material="stone", lower=(-0.1, -0.1, -0.01), upper=(0.1, 0.1, 0.01), side="outside")],
    )
    ram = Slider(name="ram", bodies=("ground", "plate"), axis=(0, 0, 1), motor=Motor(force=-1.5))
    scene = Scene(materials=[STONE], walls=[Plane(material="stone")], bodies=[plate], grains=[grains((0.02, 0.01, D / 2))], joints=[ram])
    sim = simulate(scene, stepper)
    given, turned, struck = np.zeros(3), np.zeros(3), 0
    for _ in range(int(0.06 / sim.time_step)):
        force, torque = sim.body("plate").force, sim.body("plate").torque  # links of a smooth step are kicked with what was found before it
        struck += sim.step().impacts
        if stepper == "nonsmooth":
            force, torque = sim.body("plate").force, sim.body("plate").torque
        joint = sim.joint("ram")
        given += sim.time_step * (force + joint.force + (0, 0, joint.motor_force - 0.5 * G))
        turned += sim.time_step * (torque + joint.torque)
    assert struck > 0
    assert_allclose(0.5 * (sim.body("plate").velocity - (0, 0, -0.5)), given, atol=1e-10)
    # the slider keeps the plate from turning: what the grain twists it by, the joint takes
    assert_allclose(turned, 0, atol=1e-10 if stepper == "smooth" else 1e-3 * 0.5 * 0.5 * 0.02)


def test_live_contacts_have_forces_and_points():
    sim = simulate(Scene(materials=[STONE], bodies=[tray()], grains=[cloud()]), "nonsmooth")
    sim.run(0.4)
    c = sim.contacts
    assert len(c.a) > 3
    assert_allclose(c.force, c.normal_force[:, None] * c.normal + c.tangential_force)
    assert_allclose(c.point - sim.position[c.a], (sim.radius[c.a] - c.overlap / 2)[:, None] * c.normal, atol=1e-15)


def test_forces_on_bodies_are_the_same_bits_on_any_number_of_threads_and_after_a_restart():
    scene = Scene(materials=[STONE], bodies=[tray(kind="kinematic", motion=Motion(spin=(0, 0, 3.0)))], grains=[cloud()])
    one, two = (simulate(scene, "nonsmooth", threads=threads) for threads in (1, 2))
    for _ in range(400):
        one.step()
        two.step()
        assert_array_equal(one.body("tray").force, two.body("tray").force)
        assert_array_equal(one.body("tray").torque, two.body("tray").torque)
    again = Simulation.restore(scene, one.settings, one.checkpoint())
    assert np.abs(one.body("tray").force).max() > 0
    assert_array_equal(again.body("tray").force, one.body("tray").force)
    assert_array_equal(again.body("tray").torque, one.body("tray").torque)


def test_an_unknown_body_is_refused_with_those_there_are():
    sim = simulate(Scene(materials=[STONE], bodies=[tray()], grains=[cloud()]), "nonsmooth")
    with pytest.raises(InputError, match=r"unknown body 'trey'; choose one of: 'ground', 'tray'. Did you mean 'tray'"):
        sim.body("trey")
