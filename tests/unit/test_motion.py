"""Motions of driven bodies: segments, tables of poses and functions, as a user writes them; bad ones are refused in words."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from granum import InputError, load_scene
from granum.scene import Body, Box, Motion, PoseFunction, PoseTable
from granum.scene.speeds import speeds_at_start
from granum.state.rotation import matrix, quaternions, rotation_vectors
from tests.command_line import granum
from tests.reference.scenes import FREE, make

PLATE = Box(material="m", lower=(-0.1, -0.1, -0.01), upper=(0.1, 0.1, 0.01), side="outside")
BAD = {
    "missing": (None, "does not exist"),
    "empty": ("\n", "is empty"),
    "columns": ("0,1,2\n1,2,3\n", "4 or 8 columns"),
    "ragged": ("0,0,0,0\n1,0,0\n", "line 2: must have 4 columns"),
    "text": ("0,0,0,0\n1,0,zero,0\n", "line 2: column 3 must be a number (got 'zero')"),
    "names": ("t,x,y,w\n0,0,0,0\n", "names of the columns must be t, x, y, z"),
    "unsorted": ("0,0,0,0\n2,0,0,0\n1,0,0,0\n", "times must grow from row to row, has 2 and then 1 s"),
    "one row": ("0,0,0,0\n", "two rows at least"),
    "zero": ("0,0,0,0,1,0,0,0\n1,0,0,0,0,0,0,0\n", "a quaternion must not be zero"),
    "infinite": ("0,0,0,0\n1,0,0,inf\n", "must be finite"),
}
SCENE = """
[[materials]]
name = "m"
density = 2500.0
[[grains]]
material = "m"
position = [[0.0, 0.0, 1.0]]
diameter = 0.01
[[bodies]]
name = "plate"
kind = "kinematic"
motion = { file = "path.csv" }
walls = [ { shape = "box", material = "m", lower = [-0.1, -0.1, -0.01], upper = [0.1, 0.1, 0.01], side = "outside" } ]
"""


def driven(motion, **fields):
    return Body(name="plate", kind="kinematic", motion=motion, walls=(PLATE,), **fields)


def scene_file(folder, table):
    if table is not None:
        (folder / "path.csv").write_text(table)
    (folder / "scene.toml").write_text(SCENE)
    return folder / "scene.toml"


def test_a_table_in_a_file_beside_the_scene(tmp_path):
    """Named relative to the scene file, with a line of names in any order, comments and blank lines; the body starts where it says."""
    path = scene_file(tmp_path, "# lifted\nt, z, y, x\n\n-1.0, 0.0, 0, 0\n1.0, 0.5, 0, 0\n")
    (body,) = load_scene(path).bodies
    assert_array_equal(body.motion.poses, [[-1, 0, 0, 0], [1, 0, 0, 0.5]])
    assert body.position == (0, 0, 0.25)
    (slower,) = load_scene(path, {"bodies.plate.motion": "{ poses = [[0, 0, 0, 0], [10, 0, 0, 1]] }"}).bodies
    assert len(slower.motion.poses) == 2
    (again,) = load_scene(path).model_validate_json(load_scene(path).model_dump_json()).bodies  # as a recording keeps it
    assert_array_equal(again.motion.poses, body.motion.poses)
    assert again.position == body.position


@pytest.mark.parametrize("name", BAD)
def test_bad_tables_are_refused_in_words(name, tmp_path):
    table, words = BAD[name]
    result = granum("run", scene_file(tmp_path, table), "--duration", "0.01", "-o", tmp_path / "x.h5")
    assert result.exit_code == 2
    assert words in result.stderr
    assert "plate" in result.stderr or "motion" in result.stderr


def test_bad_motions_are_refused_in_words():
    for motion, words in (
        ([], "one segment at least"),
        ([Motion(velocity=(1, 0, 0)), Motion(start=1.0)], "number 0 goes on for ever"),
        ([Motion(stop=2.0), Motion(start=1.0)], "number 0 stops at 2 s, number 1 starts at 1 s"),
        ({"poses": [[0, 0, 0, 0], [0, 1, 1, 1]]}, "times must grow"),
        ({"poses": [[0, 0, 0], [1, 1, 1]]}, "4 or 8 columns"),
        ({"poses": [[0, 0, 0, "x"], [1, 1, 1, 1]]}, "numbers only"),
        ({"velocity": (1, 0)}, "motion.velocity"),
        (3, "motion"),
    ):
        with pytest.raises(InputError, match=words.replace("(", r"\(")):
            driven(motion)
    with pytest.raises(InputError, match=r"position of body 'plate' is .* at t = 0 its motion has it at"):
        driven({"poses": [[0, 1, 0, 0], [1, 2, 0, 0]]}, position=(0, 0, 0))
    with pytest.raises(InputError, match="only a kinematic body has a motion"):
        Body(name="b", motion=[Motion(stop=1.0)])
    with pytest.raises(InputError, match=r"must give a position \(x, y, z\)"):
        driven(lambda t: (1, 2))


def test_segments_follow_each_other():
    """Up for 1 s, rest for 1 s, then turned about a hinge that goes along: x = hinge + v t + R (x0 - hinge)."""
    body = driven(
        [Motion(velocity=(0, 0, 0.5), stop=1.0), Motion(spin=(0, 0, 0.3), about=(1, 0, 0), velocity=(0, 0.1, 0), start=2.0, stop=4.0)]
    )
    assert_allclose(body.path.pose(1.7)[0], (0, 0, 0.5))
    position, orientation = body.path.pose(3.5)
    assert_allclose(position, (1 - math.cos(0.45), 0.15 - math.sin(0.45), 0.5), atol=1e-15)
    assert_allclose(rotation_vectors(orientation), (0, 0, 0.45), atol=1e-15)
    assert_array_equal(body.path.pose(9.0)[0], body.path.pose(4.0)[0])


def test_a_path_is_smooth_and_meets_its_rows():
    """Positions and orientations at the rows; velocities and spins on both sides of a row differ by what the acceleration explains."""
    rng = np.random.default_rng(5)
    time = np.cumsum(rng.uniform(0.2, 1.0, 8))
    turns = np.cumsum(rng.uniform(-1, 1, (8, 3)), axis=0)
    rows = np.column_stack([time, rng.normal(size=(8, 3)), quaternions(turns) * rng.uniform(0.5, 2, (8, 1)) * rng.choice([-1, 1], (8, 1))])
    path = PoseTable(poses=rows).path(np.array([1.0, 0, 0, 0]))
    tiny = 1e-5
    for k, t in enumerate(time):
        position, orientation = path.pose(t)
        assert_allclose(position, rows[k, 1:4])
        assert_allclose(matrix(orientation), matrix(rows[k, 4:]), atol=1e-12)
        if 0 < k < 7:
            before, here, after = (path.pose(t + s * tiny) for s in (-1, 0, 1))
            assert_allclose((here[0] - before[0]) / tiny, (after[0] - here[0]) / tiny, atol=100 * tiny)
            spins = [matrix(b[1]) @ matrix(a[1]).T for a, b in ((before, here), (here, after))]
            assert_allclose(spins[0], spins[1], atol=100 * tiny * tiny)


def test_a_path_through_parabola_and_steady_turn_is_exact():
    """Three rows and more of x = t^2, of a steady velocity, and of a steady spin about a leaning axis."""
    time = np.array([0.0, 0.3, 1.0, 1.4, 2.0])
    spin = np.array([0.6, -0.3, 0.8])
    rows = np.column_stack([time, time**2, 3 * time, 0 * time, quaternions(time[:, None] * spin)])
    path = PoseTable(poses=rows).path(np.array([1.0, 0, 0, 0]))
    for t in np.linspace(0, 2, 23):
        position, orientation = path.pose(t)
        assert_allclose(position, (t * t, 3 * t, 0), atol=1e-14)
        assert_allclose(rotation_vectors(orientation), t * spin, atol=1e-14)
    speeds, spins = path.fastest
    assert_allclose(speeds.max(), 5.0, rtol=1e-12)  # (4, 3) m/s at the end
    assert_allclose(np.linalg.norm(spins, axis=1).max(), np.linalg.norm(spin), rtol=1e-9)


def test_a_held_body_stands_between_equal_rows():
    """Lifted, held, lowered: no overshoot into the time between."""
    path = PoseTable(poses=[[0, 0, 0, 0], [1, 0, 0, 1], [2, 0, 0, 1], [3, 0, 0, 0]]).path(np.array([1.0, 0, 0, 0]))
    assert_array_equal([path.pose(t)[0][2] for t in (1.0, 1.3, 1.5, 2.0)], 1.0)
    assert 0 <= min(path.pose(t)[0][2] for t in np.linspace(0, 3, 31)) <= max(path.pose(t)[0][2] for t in np.linspace(0, 3, 31)) <= 1


def test_the_fastest_speed_of_a_path_is_foreseen():
    """A hinge: |w| (arm + rim of the plate about its own centre, diagonal 0.1 sqrt 2); a function: as fast as it gets."""
    rim = 0.1 * math.sqrt(2)
    for motion, speed in (
        (Motion(spin=(0, 0, 2), about=(0.5, 0, 0)), 2 * (0.5 + rim)),
        ([Motion(velocity=(0, 0, 0.1), stop=1.0), Motion(spin=(0, 0, 2), about=(0.5, 0, 0), start=1.0)], 2 * (0.5 + rim)),
        ({"poses": [[0, 0, 0, 0], [1, 0.7, 0, 0]]}, 0.7),
        (PoseFunction(function=lambda t: (0.3 * math.sin(t), 0, 0), until=20.0), 0.3),
    ):
        (found,) = speeds_at_start(make([(0, 0, 1.0)], bodies=[driven(motion)], guards=FREE).scene)
        assert found.value == pytest.approx(speed, rel=1e-4)
        assert found.wall
        assert "'plate'" in found.reason


def test_callbacks_drive_a_body_without_a_motion():
    """Its velocity stays what the callback gave it; that of a body with a motion cannot be written."""
    sim = make([(0, 0, 1.0)], bodies=[driven(Motion())], guards=FREE, h=1e-3)

    def push(sim):
        sim.bodies.velocity[1] = (0, 0, 0.2 if sim.step_count < 50 else 0.0)

    sim.callbacks.append(push)
    sim.run(0.1)
    assert_allclose(sim.bodies.position[1], (0, 0, 0.2 * 49e-3), atol=1e-15)
    sim = make([(0, 0, 1.0)], bodies=[driven(Motion(spin=(1, 0, 0)))], guards=FREE, h=1e-3)
    sim.callbacks.append(push)
    with pytest.raises(InputError, match="'plate', which its motion decides"):
        sim.run(0.1)
