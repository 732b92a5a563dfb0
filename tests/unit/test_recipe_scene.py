"""CONTRIBUTING's recipe for a scene, followed once: a heap of grains that fall on a plane, known to nobody but this file."""

from __future__ import annotations

import json

import numpy as np
import pytest

from granum import Grains, Material, Plane, Scene, make_scene
from granum.checks import InputError
from granum.scene.library import registered


@pytest.fixture(autouse=True)
def rain():
    """The scene, as a module of the library would make it known; forgotten after the test."""
    known = dict(registered.LIBRARY)

    @registered.library_scene
    def rain(count: int = 5, drop: float = 0.02, friction: float = 0.4) -> Scene:
        """Grains that fall by ``drop`` onto a plane, side by side [m]."""
        position = np.array([(0.012 * k, 0.0, 0.005 + drop) for k in range(count)])
        return Scene(
            name="rain",
            materials=(Material(name="glass", friction=friction),),
            walls=(Plane(material="glass"),),
            grains=(Grains(material="glass", position=position, diameter=0.01),),
            run={"time_step": 0.001, "duration": 0.1},
            results=("level",),
        )

    yield rain
    registered.LIBRARY.clear()
    registered.LIBRARY.update(known)


def test_it_is_listed_with_its_parameters(granum):
    listed = json.loads(granum("scenes", "--json").stdout)["scenes"]["rain"]
    assert listed["parameters"]["count"] == {"default": 5, "type": "int", "unit": "", "help": "number of grains."}
    assert listed["help"].startswith("Grains that fall")
    assert "rain" in granum("scenes").stdout


def test_it_runs_by_name_with_parameters_from_outside(granum):
    result = granum("run", "rain", "--set", "count=3", "--set", "drop=0.01", "--no-picture", "--json")
    assert result.exit_code == 0, result.stderr
    summary = json.loads(result.stdout)
    assert (summary["scene"], summary["grains"], summary["steps"]) == ("rain", 3, 100)
    assert summary["results"]  # of the result that the scene names


def test_its_parameters_are_checked_in_words():
    assert make_scene("rain", count=2).name == "rain"
    with pytest.raises(InputError, match="count of scene 'rain' must be a whole number"):
        make_scene("rain", count="many")
    with pytest.raises(InputError, match="Did you mean 'drop'"):
        make_scene("rain", {"dorp": 1})
