"""Parameters of library scenes: described, with the default in effect, and sizes in place of a diameter."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest

from granum import InputError, make_scene
from granum.scene.library import LIBRARY
from granum.scene.library.described import described, explanation, summary, unit_of
from granum.scene.speeds import expected_speeds
from granum.units import unit

GRADED = ("box", "collapse", "conveyor", "drum", "pile", "silo", "triaxial")
SIEVE = {"distribution": "sieve", "sizes": [0.006, 0.008, 0.012], "passing": [0, 0.4, 1]}


@pytest.mark.parametrize("name", LIBRARY)
def test_every_parameter_says_what_it_is(name):
    found = described(name)
    assert list(found) == list(inspect.signature(LIBRARY[name]).parameters)
    for one in found.values():
        assert re.fullmatch(r"[A-Za-z].*\.", one.meaning), one
        assert len(one.meaning) < 130
        assert one.unit in ("", "diameters", "degrees") or unit(one.unit) is not None  # of which quantities are read
        assert one.unit == unit_of(name, one.name)


@pytest.mark.parametrize("name", LIBRARY)
def test_defaults_in_effect_make_the_same_scene(name):
    """What ``granum scenes NAME`` shows as the default of a parameter is what the scene is made with: given, it changes no bit."""
    given = {key: one.default for key, one in described(name).items() if one.default is not None}
    assert make_scene(name, given) == make_scene(name)


def test_texts_of_scenes_name_no_paper_by_its_initials():
    for name in LIBRARY:
        assert not re.search(r"\b(WS|SN|PP|EM|MR)\b", summary(name) + explanation(name) + str(described(name)))


@pytest.mark.parametrize("name", GRADED)
def test_scenes_take_sizes(name):
    scene = make_scene(name, {"sizes": SIEVE, "count": 300})
    assert scene.size_range[1] == pytest.approx(0.012, rel=0.05)
    drawn = [block.place()[1] for block in scene.grains] + [e.sizes.sample(np.random.default_rng(0), 300) for e in scene.emitters]
    drawn = np.concatenate(drawn)
    assert 0.006 <= drawn.min() < 0.0065
    assert 0.0115 < drawn.max() <= 0.012
    light = drawn <= 0.008
    assert abs((drawn**3 * light).sum() / (drawn**3).sum() - 0.4) < 0.12  # 300 grains: a standard error of 0.03
    assert scene.run.time_step <= make_scene(name, {"count": 300}).run.time_step


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("pile", {"diameter": 0.001}),
        ("conveyor", {"diameter": 0.001}),
        ("conveyor", {"drop": 1.0}),
        ("collapse", {"diameter": 0.001}),
        ("collapse", {"count": 15000}),
        ("collapse", {"size_ratio": 4.0}),
        ("drum", {"size_ratio": 5.0, "count": 600}),
    ],
)
def test_small_and_fast_grains_have_small_steps(name, values):
    """They move as far in a step, in diameters, as those of the usual scene, or as the 0.4 that grains of many sizes may."""

    def way(values: dict[str, float]) -> float:
        scene = make_scene(name, values)
        fastest = next(speed.value for speed in expected_speeds(scene) if not speed.wall)
        return fastest * scene.run.time_step / scene.finest

    assert way(values) < max(1.05 * way({}), 0.4)  # the speed of a fall is known to a few per cent when the step is chosen


def test_sizes_may_be_written_as_in_a_scene_file():
    text = make_scene("box", {"sizes": "{distribution = 'uniform', lower = 0.008, upper = 0.01}", "count": "20"})
    assert text == make_scene("box", {"sizes": {"distribution": "uniform", "lower": 0.008, "upper": 0.01}, "count": 20})
    for one in (0.02, "20 mm", "['20 mm']"):
        assert make_scene("pile", {"sizes": one}).emitters[0].sizes.range == (0.02, 0.02)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"sizes": 0.01, "diameter": 0.02}, ["give sizes or diameter of scene 'box'", "not both"]),
        ({"sizes": 0.01, "size_ratio": 2}, ["give sizes or size_ratio"]),
        ({"sizes": "10 apples"}, ["scene 'box'", "sizes: has the unknown unit 'apples'"]),
        ({"sizes": "large"}, ["sizes of scene 'box' must be", "large"]),
        ({"sizes": {**SIEVE, "passing": [0, 0.4, 0.3]}}, ["scene 'box'", "passing must not fall"]),
        ({"width": 0.2}, ["width of scene 'box' must be a finite number of diameters, 2 or more (got 0.2)"]),
    ],
)
def test_bad_sizes_are_refused_in_words(values, words):
    with pytest.raises(InputError) as refused:
        make_scene("box", values)
    assert all(word in str(refused.value) for word in words)
