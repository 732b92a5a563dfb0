"""Model reduction at the door: options and scene files become the policy of a run, and what cannot be is refused in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from granum import InputError, Nonsmooth, Reduction, Scene, Simulation, Smooth
from granum.cli.reduction import PLACES, ReductionOptions
from granum.reduction import ContactSplit, Merge, TrialSplit
from granum.scene import BallSensor, BoxSensor, Cell
from granum.scene.file import load_scene
from granum.scene.library import make_scene
from granum.simulation import Settings, make_settings

NONE = dict.fromkeys(PLACES)
SENSOR = "--sensor=-0.1,-0.1,0:0.1,0.1,0.02"
TOML = """
[[materials]]
name = "glass"

[[grains]]
kind = "placed"
material = "glass"
diameter = 0.01
position = [[0.0, 0.0, 0.01]]

[[walls]]
shape = "plane"
material = "glass"

[[sensors]]
shape = "box"
lower = [-0.1, -0.1, 0.0]
upper = [0.1, 0.1, 0.05]

[[sensors]]
shape = "ball"
centre = [0.0, 0.0, 0.0]
radius = 0.02

[run.stepper.reduction]
split = ["contact", "sensor"]
shadow = 5

[run.stepper.reduction.merge]
approach = 1e-3
"""


def policy_of(scene: Scene, reduce: str | None, *sensors: str, **numbers: float) -> Reduction | None:
    options = ReductionOptions(reduce, NONE | numbers, sensors)
    return make_settings(scene.run, {"stepper": {"reduction": options.over(scene, "nonsmooth")}}).stepper.reduction


@pytest.fixture
def scene_file(tmp_path: Path) -> str:
    path = tmp_path / "heap.toml"
    path.write_text(TOML)
    return str(path)


def test_options_become_the_policy():
    scene = make_scene("column", {"count": 3})
    assert policy_of(scene, None) is None
    assert policy_of(scene, "off") is None
    assert policy_of(scene, "contact,trial") == Reduction()
    found = policy_of(
        scene,
        "contact, trial",
        merge_velocity=1e-3,
        merge_spin=0.2,
        merge_acceleration=0,
        merge_steps=7,
        split_velocity=0.1,
        split_depth=3,
        trial_force=0.3,
        trial_load=0.01,
        trial_depth=0,
        shadow=4,
    )
    assert found == Reduction(
        split=("contact", "trial"),
        merge=Merge(
            approach=1e-3, separation=1e-3, tangential=1e-3, rolling=0.2, normal_acceleration=None, tangential_acceleration=None, steps=7
        ),
        contact=ContactSplit(approach=0.1, tangential=0.1, depth=3),
        trial=TrialSplit(force=0.3, load=0.01, depth=None),
        shadow=4,
    )


def test_scene_files_hold_policy_and_sensors(scene_file):
    scene = load_scene(scene_file)
    assert scene.sensors == (BoxSensor(lower=(-0.1, -0.1, 0), upper=(0.1, 0.1, 0.05)), BallSensor(centre=(0, 0, 0), radius=0.02))
    of_file = Reduction(split=("contact", "sensor"), shadow=5, merge=Merge(approach=1e-3))
    assert make_settings(scene.run).stepper.reduction == of_file
    # Options go over what the file says, and off turns it off.
    assert policy_of(scene, None, split_depth=1) == of_file.model_copy(update={"contact": ContactSplit(depth=1)})
    assert policy_of(scene, "sensor") == of_file.model_copy(update={"split": ("sensor",)})
    assert policy_of(scene, "off") is None
    assert load_scene(scene_file, {"run.stepper.reduction.shadow": "7"}).run.stepper["reduction"]["shadow"] == 7


def test_sensors_of_the_command_line_come_to_those_of_the_scene(scene_file):
    scene = ReductionOptions("sensor", NONE, ("0,0,0:1,2,3",)).add_to(load_scene(scene_file))
    assert len(scene.sensors) == 3
    assert scene.sensors[-1] == BoxSensor(lower=(0, 0, 0), upper=(1, 2, 3))


@pytest.mark.parametrize(
    "words, messages",
    [
        (("--reduce", "contact", "--merge-velocity", "-1e-3"), ("--merge-velocity", "greater than or equal to 0", "-0.001")),
        (("--reduce", "contact", "--split-velocity", "-1"), ("--split-velocity", "greater than 0", "-1.0")),
        (("--reduce", "contact", "--merge-spin", "nan"), ("--merge-spin", "nan")),
        (("--reduce", "contact", "--shadow", "-2"), ("--shadow", "greater than or equal to 0", "-2")),
        (("--reduce", "contact", "--merge-velocity", "0.2"), ("--split-velocity (0.15 m/s)", "above --merge-velocity (0.2 m/s)")),
        (("--reduce", "contact", "--merge-velocity", "0.02", "--split-velocity", "0.01"), ("--split-velocity (0.01 m/s)",)),
        (("--reduce", "contact,trail"), ("'trail'", "Did you mean 'trial'", "'contact'")),
        (("--reduce", "contact,contact"), ("twice",)),
        (("--reduce", ""), ("unknown split ''",)),
        (("--merge-velocity", "1e-3"), ("--merge-velocity needs --reduce",)),
        ((SENSOR,), ("--sensor needs --reduce",)),
        (("--reduce", "off", "--shadow", "3"), ("--shadow needs --reduce",)),
        (("--reduce", "trial", "--split-depth", "3"), ("--split-depth belongs to the split 'contact'", "--reduce trial,contact")),
        (("--reduce", "contact", "--trial-force", "0.1"), ("--trial-force belongs to the split 'trial'",)),
        (("--reduce", "contact", SENSOR), ("--sensor belongs to the split 'sensor'",)),
        (("--reduce", "sensor"), ("the scene has no sensor", "--sensor")),
        (("--reduce", "sensor", "--sensor", "0,0:1,1,1"), ("--sensor must be two corners", "'0,0:1,1,1'")),
        (("--reduce", "sensor", "--sensor", "0,0,0:1,1,0"), ("lower must be below upper",)),
        (("--reduce", "sensor", "--sensor", "900,0,0:901,1,1"), ("sensors.0", "must reach into the world", "901")),
        (("--reduce", "sensor", "--sensor", "9,0,0:10,1,1", "--set", "world=[[-1,-1,-1],[1,1,1]]"), ("sensor 0", "outside the world")),
        (("--reduce", "contact", "--stepper", "smooth"), ("needs the nonsmooth stepper", "overlap of every one", "--stepper nonsmooth")),
        (("--shadow", "3", "--stepper", "smooth"), ("needs the nonsmooth stepper",)),
    ],
)
def test_bad_options_are_refused(granum, tmp_path, words, messages):
    if "--set" in words:
        (tmp_path / "one.toml").write_text(TOML.partition("[[sensors]]")[0])
        result = granum("run", "one.toml", "--no-picture", *words)
    else:
        result = granum("run", "column", "--set", "count=3", "--no-picture", *words)
    assert result.exit_code == 2
    assert result.stdout == ""
    for message in messages:
        assert message in result.stderr
    assert not list(tmp_path.glob("*.vtkhdf"))


@pytest.mark.parametrize("words", [("jam",), ("minimise", "x.h5"), ("shear", "x.h5")])
def test_packings_have_nothing_to_reduce(granum, words):
    result = granum(*words, "--reduce", "contact")
    assert result.exit_code == 2
    assert "needs a run in time with the nonsmooth stepper" in result.stderr
    assert "granum run --reduce contact" in result.stderr


def test_python_meets_the_same_refusals():
    scene = make_scene("column", {"count": 3})
    on = Settings(stepper=Nonsmooth(reduction=Reduction(split=("contact", "sensor"))))
    with pytest.raises(InputError, match="the scene has no sensor"):
        Simulation(scene, on)
    far = scene.changed(sensors=(BallSensor(centre=(0, 0, 900.0), radius=1.0),))
    with pytest.raises(InputError, match=r"sensors\.0 \(ball\) must reach into the world"):
        Simulation(far, on)
    Simulation(far)  # without reduction a sensor does nothing
    with pytest.raises(InputError, match="periodic cell"):
        Simulation(scene.changed(cell=Cell(vectors=((1.0, 0), (0, 1.0)))), on)
    with pytest.raises(InputError, match="needs the nonsmooth stepper"):
        Smooth(reduction=Reduction())
    with pytest.raises(InputError, match="needs the nonsmooth stepper"):
        make_settings({"stepper": {"name": "smooth", "reduction": {"split": ["contact"]}}})
