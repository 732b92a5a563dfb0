"""``granum scenes``, ``init``, ``check``, ``schema`` and ``references``, as a user types them."""

from __future__ import annotations

import json
import re

import pytest

from granum import make_scene
from granum.scene.schema import scene_schema
from tests.command_line import granum


def test_scenes_shows_defaults_units_and_meanings():
    said = granum("scenes", "drum").stdout
    assert re.search(r"width +40 +diameters +of the drum, inside\.", said)
    assert re.search(r"time_step +0\.005 +s ", said)
    found = json.loads(granum("scenes", "--json").stdout)["scenes"]
    assert found["silo"]["parameters"]["wall_friction"]["default"] == 0.7
    units = {name: scene["parameters"]["width"]["unit"] for name, scene in found.items() if "width" in scene["parameters"]}
    assert set(units.values()) == {"diameters"}
    refused = granum("scenes", "drumm")
    assert refused.exit_code == 2
    assert "Did you mean 'drum'?" in refused.stderr


def test_init_writes_a_file_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert granum("init", "pile", "--set", "count=50").exit_code == 0
    assert "granum check pile.toml" in (tmp_path / "pile.toml").read_text()
    again = granum("init", "pile")
    assert again.exit_code == 2
    assert "--overwrite" in again.stderr
    assert granum("init", "pile", "--overwrite").exit_code == 0
    for bad in (("pile.toml",), ("box", "-o", "box.txt"), ("box", "-o", "nowhere/box.toml"), ("box", "--set", "sise=3")):
        assert granum("init", *bad).exit_code == 2


def test_check_tells_what_a_run_will_be(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    granum("init", "box", "--set", "count=100", "--set", "size_ratio=2", "-o", "mine.toml")
    found = json.loads(granum("check", "mine.toml", "--json").stdout)
    made = make_scene("box", count=100, size_ratio=2)
    assert found["grains"] == found["grains_at_start"] == 100
    assert (found["diameter_smallest"], found["diameter_largest"]) == (0.0065, 0.013)
    assert found["time_step"] == made.run.time_step
    assert found["steps"] == round(1.0 / made.run.time_step)
    assert found["memory_bytes"] == 104_000
    assert found["recording_bytes"] == pytest.approx(100 * 101 * (136 + 1.8 * 109))  # the forecast of a recording: grains and contacts
    assert found["wall_seconds"] > 0
    assert (tmp_path / "mine-start.png").read_bytes().startswith(b"\x89PNG")
    said = granum("check", "pile", "--no-picture").stdout
    assert "3363, 3363 of them from emitters" in said
    assert "of the scene" in said
    assert not (tmp_path / "pile-start.png").exists()
    assert granum("check", "missing.toml").exit_code == 2


def test_the_schema_knows_the_keys_of_scene_files():
    schema = json.loads(granum("schema").stdout)
    assert schema == json.loads(json.dumps(scene_schema()))
    assert {"materials", "grains", "emitters", "machines"} <= schema["properties"].keys()
    kinds = schema["$defs"]
    assert kinds["SieveCurve"]["properties"]["passing"]["description"].startswith("Part that passes")
    for kind, key in (("Material", "density"), ("RunSettings", "duration")):  # "2.7 g/cm3" and "2 s", as well as numbers
        assert "string" in json.dumps(kinds[kind]["properties"][key])
    sizes = json.dumps(kinds["Emitter"]["properties"]["sizes"])  # a diameter, a list of them, or a distribution
    assert all(word in sizes for word in ('"array"', '["number", "string"]', "SieveCurve"))
    for kind, key, name in (("AdhesiveContact", "pull", "adhesive"), ("PGS", "momentum", "pgs")):  # members of families, or their names
        assert key in kinds[kind]["properties"]
        family = kinds["ContactLaw" if name == "adhesive" else "SolverRecord"]["anyOf"]
        assert {"$ref": f"#/$defs/{kind}"} in family
        assert name in family[-1]["enum"]
    places = set(re.findall(r'"#/\$defs/([^"]+)"', json.dumps(schema)))
    assert places <= kinds.keys()


def test_references_gives_the_papers_in_full():
    said = granum("references").stdout
    assert "Warm starting the projected Gauss-Seidel algorithm for granular matter simulation" in said
    assert len(json.loads(granum("references", "--json").stdout)["papers"]) == 5


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[[materials]]\nname = "a"\ndensty = 3\n', ["bad.toml", "materials.0.densty", "Did you mean 'density'?"]),
        ('[rum]\nduration = 1\n[[materials]]\nname = "a"\ndensity = 3\n', ["bad.toml", "Did you mean 'run'?"]),
        ('[run]\nduraton = 1\n[[materials]]\nname = "a"\ndensity = 3\n', ["bad.toml", "run.duraton", "Did you mean 'duration'?"]),
    ],
)
def test_a_typo_in_a_scene_file_names_the_file_and_the_key_that_is_meant(tmp_path, text, words):
    file = tmp_path / "bad.toml"
    file.write_text(text)
    refused = granum("run", file)
    assert refused.exit_code == 2
    assert all(word in refused.stderr for word in words)


@pytest.mark.parametrize(
    "page",
    [
        *(
            (name, "--help")
            for name in ("run", "compare", "plan", "bench", "jam", "minimise", "shear", "analyse", "plot", "solve", "scenes")
        ),
        ("analyse", "--list"),
        ("plot", "--list"),
        ("scenes",),
        ("--help",),
    ],
)
def test_help_names_no_paper_by_its_initials(page):
    assert not re.search(r"\b(WS|SN|PP|EM|MR)\b", granum(*page).stdout)


def test_american_spellings_do():
    assert granum("analyze", "--list").stdout == granum("analyse", "--list").stdout
    assert granum("minimize", "--help").exit_code == 0
    assert "analyze" not in granum("--help").stdout
