"""Machines from URDF files."""

from __future__ import annotations

import numpy as np
import pytest

from granum import Distance, InputError, Material, Motor, Scene, Simulation, load_scene, read_urdf
from granum.state.rotation import matrix as rotation_matrix

pytest.importorskip("yourdfpy")

INERTIAL = """<inertial><origin xyz="{at} 0 0"/><mass value="{mass}"/>
  <inertia ixx="0.2" iyy="0.1" izz="0.15" ixy="0.01" ixz="0" iyz="0"/></inertial>"""
ARM = (
    """<?xml version="1.0"?><robot name="arm">
<link name="base"><collision><geometry><box size="0.2 0.2 0.1"/></geometry></collision></link>
<link name="upper">"""
    + INERTIAL.format(at=0.5, mass=10)
    + """
  <collision><origin xyz="0.5 0 0" rpy="0 1.5707963267948966 0"/><geometry>
  <cylinder radius="0.05" length="1"/></geometry></collision></link>
<link name="lower">"""
    + INERTIAL.format(at=0.25, mass=4)
    + """<collision><geometry><sphere radius="0.1"/></geometry></collision></link>
<joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><origin xyz="0 0 0.05"/><axis xyz="0 1 0"/>
  <limit lower="-1" upper="0.8" effort="100" velocity="1"/></joint>
<joint name="elbow" type="continuous"><parent link="upper"/><child link="lower"/>
  <origin xyz="1 0 0" rpy="0 0.5 0"/><axis xyz="0 1 0"/></joint>
</robot>"""
)


FRAMES = (
    ARM.replace('<link name="base">', '<link name="base_link"/><link name="base">')
    .replace('link="upper"/><child link="lower"/>', 'link="flange"/><child link="lower"/>')
    .replace('<origin xyz="1 0 0" rpy="0 0.5 0"/>', '<origin xyz="0 0 0.1" rpy="0 -1.2 0.3"/>')
    .replace(
        "</robot>",
        """
<link name="flange"><inertial><mass value="0"/></inertial></link>
<link name="tool"><collision>
  <origin xyz="0 0.02 0"/><geometry><box size="0.1 0.02 0.3"/></geometry></collision></link>
<link name="tip"/>
<joint name="stand" type="fixed"><parent link="base_link"/><child link="base"/><origin xyz="0.1 0.2 0.3" rpy="0 0 0.7"/></joint>
<joint name="mount" type="fixed"><parent link="upper"/><child link="flange"/>
  <origin xyz="0.9 0 0" rpy="0 1.5707963267948966 0"/></joint>
<joint name="hold" type="fixed"><parent link="lower"/><child link="tool"/><origin xyz="0.5 0 0.05" rpy="0.1 0.2 0.3"/></joint>
<joint name="end" type="fixed"><parent link="tool"/><child link="tip"/><origin xyz="0 0 0.15" rpy="0 0 1"/></joint></robot>""",
    )
)
TWO_LINKS = """<robot name="two"><link name="world"/><link name="base_link"/>
<link name="upper"><inertial><origin xyz="0.4 0 0"/><mass value="12"/>
  <inertia ixx="0.1" iyy="0.3" izz="0.3" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="lower"><inertial><origin xyz="0.3 0 0"/><mass value="7"/>
  <inertia ixx="0.1" iyy="0.2" izz="0.2" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="tool"/>
<link name="load"><inertial><mass value="20"/>
  <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="floor" type="fixed"><parent link="world"/><child link="base_link"/></joint>
<joint name="shoulder" type="revolute"><parent link="base_link"/><child link="upper"/>
  <origin xyz="0 0 1" rpy="0 -0.6 0"/><axis xyz="0 1 0"/></joint>
<joint name="elbow" type="continuous"><parent link="upper"/><child link="lower"/>
  <origin xyz="1 0 0" rpy="0 0.9 0"/><axis xyz="0 1 0"/></joint>
<joint name="flange" type="fixed"><parent link="lower"/><child link="tool"/><origin xyz="0.8 0 0" rpy="0 0.2 0"/></joint>
<joint name="grip" type="fixed"><parent link="tool"/><child link="load"/><origin xyz="0.1 0 0"/></joint></robot>"""


@pytest.fixture
def arm(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(ARM)
    return path


def test_links_and_joints_stand_where_the_file_says(arm):
    machine = read_urdf(arm, "steel", position=(1, 0, 2), motors={"shoulder": Motor(position=0.0)})
    base, upper, lower = machine.bodies
    assert (base.kind, upper.kind, lower.kind) == ("static", "dynamic", "dynamic")
    assert upper.position == pytest.approx((1.5, 0, 2.05))
    assert lower.position == pytest.approx((2 + 0.25 * np.cos(0.5), 0, 2.05 - 0.25 * np.sin(0.5)))
    assert sorted(upper.inertia) == pytest.approx(np.linalg.eigvalsh([[0.2, 0.01, 0], [0.01, 0.1, 0], [0, 0, 0.15]]))
    shoulder, elbow = machine.joints
    assert shoulder.anchor == pytest.approx((1, 0, 2.05))
    assert (shoulder.limits.lower, shoulder.limits.upper) == (-1, 0.8)
    assert elbow.anchor == pytest.approx((2, 0, 2.05))
    assert elbow.axis == pytest.approx((0, 1, 0))
    assert [wall.shape for body in machine.bodies for wall in body.walls] == ["mesh", "cylinder", "capsule"]


def test_a_machine_of_a_file_carries_its_weight(arm, tmp_path):
    """In a scene file, with a motor that holds the shoulder, and an elbow that hangs."""
    scene = tmp_path / "scene.toml"
    scene.write_text(
        """
        materials = [{ name = "steel", density = 7800 }]
        machines = [{ file = "arm.urdf", material = "steel", motors = { shoulder = { position = 0.0 } } }]
        run = { time_step = 2e-3, duration = 1 }
        """
    )
    sim = Simulation(load_scene(scene), guards={"on_energy": "off"})
    for _ in range(2000):
        sim.step()
        sim.bodies.spin[3] *= 0.97  # the elbow swings: until it hangs
        sim.bodies.velocity[3] *= 0.97
    # the upper arm at 0.5 m and the lower at 1 m from the shoulder; a positive turn about y lowers it
    assert sim.joint("shoulder").motor_force == pytest.approx(-(10 * 0.5 + 4 * 1.0) * 9.81, rel=1e-3)


def test_frames_without_mass_belong_to_the_body_that_carries_them(arm):
    arm.write_text(FRAMES)
    machine = read_urdf(arm, "steel", prefix="an ")
    assert [body.name for body in machine.bodies] == ["an base_link", "an upper", "an lower"]
    assert [[frame.name for frame in body.frames] for body in machine.bodies] == [
        ["an base_link", "an base"],
        ["an upper", "an flange"],
        ["an lower", "an tool", "an tip"],
    ]
    assert [len(body.walls) for body in machine.bodies] == [1, 1, 2]
    assert [(joint.name, joint.bodies) for joint in machine.joints] == [
        ("an shoulder", ("an base_link", "an upper")),
        ("an elbow", ("an upper", "an lower")),
    ]
    scene = Scene(materials=[Material(name="steel", density=7800)], bodies=machine.bodies, joints=machine.joints)
    sim = Simulation(scene, time_step=1e-3)
    with pytest.raises(InputError, match="body 'an tip' is a frame of body 'an lower': name that one"):
        sim.body("an tip")
    with pytest.raises(InputError, match="unknown frame of body 'an upper' 'an tip'"):
        sim.body("an upper").frame("an tip")
    with pytest.raises(InputError, match="body 'ground' has no frame 'tip'"):
        sim.body("ground").frame("tip")
    rod = Distance(name="rod", bodies=("an tool", "ground"), anchors=((0, 0, 0), (1, 0, 0)))
    with pytest.raises(InputError, match="body of joint 'rod' 'an tool' is a frame of body 'an lower'"):
        scene.changed(joints=(*machine.joints, rod))


def test_frames_stand_where_the_kinematics_of_the_file_have_them(arm):
    """yourdfpy's forward kinematics, at the start and after motors have turned the joints; shapes of frames go with them."""
    from yourdfpy import URDF

    arm.write_text(FRAMES)
    motors = {"shoulder": Motor(position=((0, 0), (0.2, 0.4))), "elbow": Motor(position=((0, 0), (0.2, -1.1)))}
    machine = read_urdf(arm, "steel", motors=motors)
    scene = Scene(materials=[Material(name="steel", density=7800)], bodies=machine.bodies, joints=machine.joints)
    sim, robot = Simulation(scene, time_step=1e-3), URDF.load(str(arm), load_meshes=False)
    for steps in (0, 400):
        for _ in range(steps):
            sim.step()
        turned = {name: sim.joint(name).coordinate for name in motors}
        assert list(turned.values()) == pytest.approx([0.4, -1.1] if steps else [0, 0], abs=1e-4)
        robot.update_cfg(turned)
        for body in machine.bodies:
            for frame in body.frames:
                position, orientation = sim.body(body.name).frame(frame.name)
                expected = robot.get_transform(frame.name)
                np.testing.assert_allclose(position, expected[:3, 3], atol=1e-6)
                np.testing.assert_allclose(rotation_matrix(orientation), expected[:3, :3], atol=1e-6)
    at, turn = sim.body("lower").position, rotation_matrix(sim.body("lower").orientation)
    box = at + machine.bodies[2].walls[1].vertices @ turn.T
    tool = robot.get_transform("tool")
    np.testing.assert_allclose(box.mean(axis=0), tool[:3, 3] + 0.02 * tool[:3, 1], atol=1e-6)
    np.testing.assert_allclose(box[-1] - box[0], tool[:3, :3] @ [0.1, 0.02, 0.3], atol=1e-6)


def test_a_tool_frame_carries_a_load(arm):
    """A two-link arm with a load at its tool: torques of both motors by levers."""
    arm.write_text(TWO_LINKS)
    machine = read_urdf(arm, "steel", motors={"shoulder": Motor(position=0.0), "elbow": Motor(position=0.0)})
    assert machine.joints[-1].bodies == ("lower", "load")
    sim = Simulation(Scene(materials=[Material(name="steel", density=7800)], bodies=machine.bodies, joints=machine.joints), time_step=2e-3)
    for _ in range(200):
        sim.step()
    # heights grow with -sin of angles about y; each part of the arm has its own angle against the horizontal
    upper, lower, tool = np.cos([0.6, 0.3, 0.5])
    elbow = 7 * 0.3 * lower + 20 * (0.8 * lower + 0.1 * tool)
    shoulder = 12 * 0.4 * upper + 27 * 1.0 * upper + elbow
    assert sim.joint("elbow").motor_force == pytest.approx(-9.81 * elbow, rel=1e-5)
    assert sim.joint("shoulder").motor_force == pytest.approx(-9.81 * shoulder, rel=1e-5)
    assert sim.joint("grip").force == pytest.approx([0, 0, 20 * 9.81], abs=1e-3)


@pytest.mark.parametrize(
    "change, words",
    [
        (('mass value="4"', 'mass value="0"'), "link 'lower' moves, and needs an inertial with a mass above 0"),
        (('mass value="4"', 'mass value="0"'), "and 'elbow' is continuous: give the link what it weighs"),
        (('type="continuous"', 'type="floating"'), "joint 'elbow' is floating; granum knows revolute"),
        (('<sphere radius="0.1"/>', '<mesh filename="missing.stl"/>'), "missing.stl' does not exist"),
        (('<child link="lower"/>', '<child link="upper"/>'), "link 'upper' is the child of two joints. A loop is not a tree"),
        (('<child link="lower"/>', '<child link="hand"/>'), "joint 'elbow' links 'hand', which is no link of the file"),
        (('link name="base"', 'link name="upper"'), "joint 'shoulder' links 'base', which is no link of the file"),
        (("</robot>", '<link name="upper"/></robot>'), "names of links must differ, has 'upper' twice"),
        (('lower="-1" upper="0.8"', 'lower="1" upper="0.5"'), "joint 'shoulder': Limits is not valid:\n.* lower must be below upper"),
        (
            ('rpy="0 0.5 0"/><axis xyz="0 1 0"/>', 'rpy="0 0.5 0"/><axis xyz="0 1"/>'),
            "joint 'elbow': the axis must be three numbers, has 2",
        ),
        (('<sphere radius="0.1"/>', '<sphere radius="-0.1"/>'), "link 'lower': Capsule is not valid"),
    ],
)
def test_bad_files_are_refused_in_words(arm, change, words):
    arm.write_text(ARM.replace(*change))
    with pytest.raises(InputError, match=words):
        read_urdf(arm, "steel")


def test_a_limit_that_is_left_out_is_zero(arm):
    """As the format says; without both there are no limits."""
    arm.write_text(ARM.replace('lower="-1" ', ""))
    limits = read_urdf(arm, "steel").joints[0].limits
    assert (limits.lower, limits.upper) == (0, 0.8)
    arm.write_text(ARM.replace('lower="-1" upper="0.8" ', ""))
    assert read_urdf(arm, "steel").joints[0].limits is None


def test_the_orientation_of_a_machine_has_any_length_but_zero(arm):
    long, short = (read_urdf(arm, "steel", orientation=(0, 0, size, 0)).bodies[1] for size in (5.0, 1.0))
    assert long.position == pytest.approx(short.position)
    with pytest.raises(InputError, match="must not be zero"):
        read_urdf(arm, "steel", orientation=(0, 0, 0, 0))


def test_unknown_joints_and_files_are_refused(arm):
    with pytest.raises(InputError, match=r"unknown joint of .*'wrist'"):
        read_urdf(arm, "steel", motors={"wrist": Motor(speed=1.0)})
    with pytest.raises(InputError, match="does not exist"):
        read_urdf(arm.parent / "leg.urdf", "steel")


def test_two_machines_of_one_file_have_their_own_names(arm):
    left, right = read_urdf(arm, "steel", prefix="left "), read_urdf(arm, "steel", position=(0, 1, 0), prefix="right ")
    scene = Scene(materials=[Material(name="steel", density=7800)], bodies=left.bodies + right.bodies, joints=left.joints + right.joints)
    assert len(scene.bodies) == 6
    assert scene.joints[-1].name == "right elbow"
