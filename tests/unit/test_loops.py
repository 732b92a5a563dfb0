"""Loops of joints that contradict each other are told before the run, with the name of the joint and how far it is off."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

from granum import Ball, Body, Fixed, Hinge, Simulation, Slider
from granum.scene.library import make_scene
from tests.reference.machines import excavator, machine_scene, pin, rod

A, B, C, D = (np.array(at) for at in ([0, 0, 0], [0, 0, 0.2], [0.5, 0, 0.5], [0.7, 0, 0]))


def told(bodies, joints):
    """What a run says about loops before its first step."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        sim = Simulation(machine_scene(bodies, joints), time_step=0.002)
    return [words for words in sim.warnings if "hold each other" in words or "do not agree" in words]


def bars():
    return [rod("crank", A, B, 1.0), rod("coupler", B, C, 2.0), rod("rocker", C, D, 1.5)]


def pins(last):
    return [pin("a", "ground", "crank", A), pin("b", "crank", "coupler", B), pin("c", "coupler", "rocker", C), last]


def tilted(angle):
    return Hinge(name="d", bodies=("rocker", "ground"), anchor=tuple(D), axis=(np.sin(angle), np.cos(angle), 0))


def test_a_four_bar_linkage_is_fine_wherever_its_anchors_are():
    """Anchors are places in the scene as it is given: one that is moved makes other bars, which fit as well."""
    assert told(bars(), pins(pin("d", "rocker", "ground", D))) == []
    assert told(bars(), pins(pin("d", "rocker", "ground", D + 0.01))) == []
    assert told(bars(), pins(Ball(name="d", bodies=("rocker", "ground"), anchor=tuple(D)))) == []


@pytest.mark.parametrize("degrees", [0.5, 3.0, 40.0])
def test_an_axis_that_is_tilted_against_its_loop_is_named(degrees):
    (words,) = told(bars(), pins(tilted(np.radians(degrees))))
    assert "the joints 'a', 'b', 'c', 'd' hold each other" in words
    found = re.search(r"'d' \(axis tilted by ([\d.]+) degrees", words)
    assert float(found[1]) == pytest.approx(degrees, rel=0.01)
    assert "'b' (" not in words  # those between bars are not to blame
    assert "'c' (" not in words


def test_a_tilt_that_the_softness_of_joints_takes_is_not_told():
    assert told(bars(), pins(tilted(1e-6))) == []


def three_cranks(foot=(0, 0, 0), top=(0, 0, 0)):
    """Three equal cranks under one beam; joints of the third are moved."""
    x, up = np.array([1.0, 0, 0]), 0.2 * np.array([np.sin(0.3), 0, np.cos(0.3)])
    at = [k * 0.4 * x for k in range(3)]
    bodies = [rod("beam", up, at[2] + up, 3.0), *(rod(f"crank {k}", at[k], at[k] + up, 1.0) for k in range(3))]
    joints = [pin(f"foot {k}", "ground", f"crank {k}", at[k] + (foot if k == 2 else 0.0)) for k in range(3)]
    joints += [pin(f"top {k}", f"crank {k}", "beam", at[k] + up + (top if k == 2 else 0.0)) for k in range(3)]
    return bodies, joints, up / 0.2


def test_three_equal_cranks_move_together():
    assert told(*three_cranks()[:2]) == []
    shift = [0.01, 0.0, -0.02]
    assert told(*three_cranks(shift, shift)[:2]) == []  # still a parallelogram


def test_an_anchor_that_is_moved_across_its_crank_is_named_with_its_distance():
    _, _, up = three_cranks()
    (words,) = told(*three_cranks(top=0.01 * np.array([up[2], 0, -up[0]]))[:2])
    off = {name: float(m) for name, m in re.findall(r"'([a-z]+ \d)' \(anchor ([\d.]+) m off\)", words)}
    # of three cranks any one can be blamed: the first and the last by as much, the middle one by half of it
    assert off == pytest.approx({f"{end} {k}": 0.01 / (1 + k % 2) for k in range(3) for end in ("foot", "top")}, rel=0.05)


def test_an_anchor_that_is_moved_along_its_crank_is_seen_after_a_short_way():
    """At the start all three can turn, each at its own rate."""
    _, _, up = three_cranks()
    (words,) = told(*three_cranks(top=0.01 * up)[:2])
    assert "the joints of a loop do not agree" in words
    assert "'top 2'" in words or "'foot 2'" in words


def test_frames_that_just_hold_and_trees_are_not_told():
    """A triangle of bars with three pins, of which two are balls: as many rows as freedoms. A weld of many parts has no freedom to lose."""
    post = [rod("left", A, C, 1.0), rod("right", C, D, 1.0)]
    joints = [Ball(name="a", bodies=("ground", "left"), anchor=tuple(A)), pin("c", "left", "right", C)]
    assert told(post, [*joints, Ball(name="d", bodies=("right", "ground"), anchor=tuple(D))]) == []
    welds = [Fixed(name=f"weld {k}", bodies=pair) for k, pair in enumerate((("ground", "left"), ("left", "right"), ("right", "ground")))]
    assert told(post, welds) == []
    assert told(post, joints) == []


def test_a_guide_that_is_tilted_against_another_is_named():
    """Two carriages on their own guides, with a bar that slides on one of them across: fine if straight, locked if a guide is tilted."""

    def carriages(lean):
        bodies = [Body(name=n, kind="dynamic", mass=1, inertia=(0.1,) * 3, position=p) for n, p in (("one", (0, 0, 0)), ("two", (0, 1, 0)))]
        guides = [
            Slider(name="first", bodies=("ground", "one"), axis=(1, 0, 0)),
            Slider(name="second", bodies=("ground", "two"), axis=(np.cos(lean), np.sin(lean), 0)),
        ]
        return bodies, [*guides, Fixed(name="bar", bodies=("one", "two"))]

    assert told(*carriages(0.0)) == []
    (words,) = told(*carriages(np.radians(2.0)))
    assert "'first' (axis tilted by 2 degrees), 'second' (axis tilted by 2 degrees)" in words


def test_machines_that_work_are_not_told():
    for scene in (excavator(), make_scene("excavator", count=1000), make_scene("triaxial", count=60)):
        sim = Simulation(scene, time_step=0.0025)
        assert not any("hold each other" in words or "do not agree" in words for words in sim.warnings)
