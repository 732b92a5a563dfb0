"""Bad joints, motors and machines in scene files: exit code 2, and words that name what is wrong."""

from __future__ import annotations

import pytest

from tests.command_line import granum

SCENE = """
materials = [{{ name = "steel", density = 7800 }}]
run = {{ duration = 0.01, time_step = 0.002 }}
bodies = [
  {{ name = "arm", kind = "dynamic", mass = {mass}, inertia = [1, 1, 1], position = [1, 0, 0] }},
  {{ name = "post" }},
  {{ name = "driven", kind = "kinematic", motion = {motion} }},
]
[[joints]]
kind = "{kind}"
name = "j"
bodies = {bodies}
{place}
{more}
"""
GOOD = {
    "mass": "10",
    "motion": "{ velocity = [0, 0, 0.1] }",
    "kind": "hinge",
    "bodies": '["ground", "arm"]',
    "place": "anchor = [0, 0, 0]\naxis = [0, 1, 0]",
    "more": "",
}
AT = "anchor = [0, 0, 0]"
ENDS = "anchors = [[0, 0, 0], [1, 0, 0]]"
BAD = {
    "itself": ({"bodies": '["arm", "arm"]'}, "links the body 'arm' to itself"),
    "unknown body": ({"bodies": '["ground", "arn"]'}, "unknown body of joint 'j' 'arn'; choose one of: 'arm', 'driven'"),
    "three bodies": ({"bodies": '["ground", "arm", "post"]'}, "joints.0.bodies: must have 2 entries at most, has 3"),
    "one body": ({"bodies": '["arm"]'}, "joints.0.bodies.1: is missing"),
    "nothing to move": ({"bodies": '["driven", "post"]'}, "neither 'driven' nor 'post' is dynamic"),
    "zero axis": ({"place": AT + "\naxis = [0, 0, 0]"}, "axis of joint 'j' must not be zero"),
    "unknown kind": ({"kind": "weld"}, "joints.0.kind: must be one of 'ball', 'hinge'"),
    "swapped limits": ({"more": "limits = { lower = 1, upper = 0.5 }"}, "lower must be below upper, has 1 and 0.5"),
    "motor on a ball": (
        {"kind": "ball", "place": AT, "more": "motor = { speed = 1 }"},
        "joint 'j' is a ball, which has no coordinate for motor: take a hinge, slider, cylindrical or distance",
    ),
    "limits of a fixed joint": ({"kind": "fixed", "place": AT, "more": "limits = { upper = 1 }"}, "has no coordinate for limits"),
    "mass of zero": ({"mass": "0"}, "bodies.0.mass: must be greater than 0"),
    "unsorted motor": ({"more": "motor = { speed = [[0, 0], [2, 1], [1, 1]] }"}, "times must grow from row to row, has 2 s and then 1 s"),
    "equal times": ({"more": "motor = { speed = [[0, 0], [0, 1]] }"}, "times must grow from row to row, has 0 s and then 0 s"),
    "no number": ({"more": "motor = { speed = [[0, 0], [1, nan]] }"}, "joints.0.motor.speed.1.1: must be a finite number (got nan)"),
    "flat table": ({"more": "motor = { speed = [0, 1] }"}, "a table of rows of a time [s] and a value; has the row 0"),
    "text": ({"more": "motor = { speed = 'fast' }"}, "must be a number (got 'fast')"),
    "weak": ({"more": "motor = { speed = 1, force_limit = 0 }"}, "force_limit: must be greater than 0"),
    "pressure without area": ({"kind": "slider", "more": "motor = { pressure = 1e5 }"}, "pressure and area belong together"),
    "pressure that turns": ({"more": "motor = { pressure = 1e5, area = 0.1 }"}, "joint 'j' turns, and a pressure drives what slides"),
    "negative length": (
        {"kind": "distance", "place": ENDS, "more": "motor = { position = [[0, 1], [1, -1]] }"},
        "position of joint 'j' is a length [m] from anchor to anchor and must be above 0, has -1",
    ),
    "zero quaternion": ({"motion": "{ poses = [[0, 0, 0, 0, 1, 0, 0, 0], [1, 0, 0, 0, 0, 0, 0, 0]] }"}, "a quaternion must not be zero"),
    "unsorted file": ({"motion": '{ file = "path.csv" }'}, "times must grow from row to row, has 2 and then 1 s"),
    "missing file": ({"motion": '{ file = "nowhere.csv" }'}, "nowhere.csv' does not exist"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_machines_are_refused_in_words(case, tmp_path):
    change, words = BAD[case]
    (tmp_path / "path.csv").write_text("t,x,y,z\n0,0,0,0\n2,0,0,1\n1,0,0,0\n")
    scene = tmp_path / "scene.toml"
    scene.write_text(SCENE.format(**(GOOD | change)))
    result = granum("run", scene, "-o", tmp_path / "x.h5", "--no-picture")
    assert result.exit_code == 2
    assert words in result.output
    assert "function-" not in result.output  # names of pydantic's
    assert not (tmp_path / "x.h5").exists()


def test_a_joint_that_starts_beyond_its_limit_is_told(tmp_path):
    scene = tmp_path / "scene.toml"
    scene.write_text(SCENE.format(**(GOOD | {"more": "limits = { lower = 1, upper = 2 }"})))
    result = granum("run", scene, "-o", tmp_path / "x.h5", "--no-picture")
    assert result.exit_code == 0
    assert "joint 'j' starts at 0 m (or rad), beyond its lower limit, 1, which throws it back" in result.output
