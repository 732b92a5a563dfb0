"""``granum init``: a library scene as a scene file that can be edited, and is the same scene."""

from __future__ import annotations

import tomllib

import pytest

from granum import Scene, load_scene, make_scene
from granum.scene.library import LIBRARY
from granum.scene.written import FIRST, HEADS, LISTS, TABLES, scene_text

SMALL = {"drum": {"count": 40}, "excavator": {"count": 800}, "silo": {"count": 60, "outlet": 4.0}, "shear-cell": {"count": 60}}


def without_choices(scene):
    """What the library chose is no part of a file, which says all of it; parameters are, where measures need them."""
    kept = scene.parameters.model_copy(update={"chosen": {}}) if scene.parameters.measured else None
    return scene.model_copy(update={"parameters": kept})


@pytest.mark.parametrize("name", LIBRARY)
def test_a_written_scene_is_the_scene(name, tmp_path):
    """Field by field, arrays to the last bit: so a run of the file has the bits of a run of the library scene."""
    scene = make_scene(name, SMALL.get(name, {}))
    file = tmp_path / "mine.toml"
    file.write_text(scene_text(scene, "a head"))
    assert load_scene(file) == without_choices(scene)


def test_all_that_a_scene_has_is_written():
    assert {*FIRST, *TABLES, *LISTS} == set(Scene.model_fields)
    assert {*TABLES, *LISTS} == set(HEADS)


def test_a_sieve_curve_and_a_sawtooth_drum_are_written(tmp_path):
    sizes = {"distribution": "sieve", "sizes": [0.006, 0.008, 0.012], "passing": [0, 0.4, 1]}
    for scene in (make_scene("pile", sizes=sizes), make_scene("drum", kind="sawtooth", width=16, count=30)):
        file = tmp_path / "mine.toml"
        file.write_text(scene_text(scene))
        assert load_scene(file) == without_choices(scene)


def test_a_file_says_what_its_keys_are():
    text = scene_text(make_scene("pile"), "pile\nof the library")
    assert text.startswith("# pile\n# of the library\n")
    assert "rate = 150.0  # [1/s]; none: as fast as there is room" in text
    assert "[[emitters]]" in text
    tomllib.loads(text)
