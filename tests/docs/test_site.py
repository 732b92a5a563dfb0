"""The documentation site: it is built without a warning, has what the source has, and its examples work."""

from __future__ import annotations

import html
import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

import granum as package
from granum import load_scene, run
from granum.analysis.metrics import METRICS
from granum.cli import COMMANDS
from granum.papers import EXPERIMENTS
from granum.plot.figures import FIGURES, PACKING_FIGURES
from granum.scene.library import LIBRARY
from tests.command_line import app

DOCS = Path(__file__).parents[2] / "docs"
WRITTEN = [DOCS / "index.md", DOCS / "how-do-i.md", *sorted((DOCS / "choosing").glob("*.md")), *sorted((DOCS / "reference").glob("*.md"))]
NEEDED = ("sphinx", "myst_parser", "furo")
MISSING = [name for name in NEEDED if importlib.util.find_spec(name) is None]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the site, built with warnings as errors."""
    if MISSING:
        pytest.skip(f"{', '.join(MISSING)} not installed: pip install granum[docs]")
    folder = tmp_path_factory.mktemp("site")
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-W",
        "--keep-going",
        "-q",
        "-b",
        "html",
        "-d",
        str(folder / "read"),
        str(DOCS),
        str(folder / "html"),
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / "html"


def text(site, page):
    """What a page says, without its marks."""
    return html.unescape(re.sub(r"<[^>]+>", "", (site / f"{page}.html").read_text(encoding="utf-8")))


def scene_schema():
    """Of granum as it is installed: other tests may have added laws and solvers of their own to this process."""
    return json.loads(subprocess.run([sys.executable, "-m", "granum", "schema"], capture_output=True, text=True, check=True).stdout)


def test_every_key_of_scene_files_is_there(site):
    schema = scene_schema()
    said = "".join(text(site, f"reference/made/scene-files/{page.stem}") for page in (site / "reference/made/scene-files").glob("*.html"))
    for kind in schema["$defs"].values():
        for key, field in kind.get("properties", {}).items():
            assert f"\n{key}\n" in said, key
            words = re.findall(r"\b[a-z]{4,}\b", field.get("description", ""))
            assert not [word for word in words if word not in said and word != "physics"]  # numbers of equations are left out


def test_every_key_says_what_it_means():
    """But those that name their kind, and tables whose records say it."""
    fields = {(name, key): field for name, kind in scene_schema()["$defs"].items() for key, field in kind.get("properties", {}).items()}
    assert not [place for place, field in fields.items() if "description" not in field and "const" not in field]


def test_every_command_has_a_page_with_its_options(site):
    for name in COMMANDS:
        said = text(site, f"reference/made/commands/{name}")
        for option in get_command(app()).commands[name].params:
            if option.param_type_name == "option" and not option.hidden:
                assert option.opts[0] in said


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("metrics", METRICS),
        ("figures", {**FIGURES, **PACKING_FIGURES}),
        ("library", LIBRARY),
        ("experiments", EXPERIMENTS),
    ],
)
def test_what_has_a_name_is_there(site, page, names):
    said = text(site, f"reference/made/{page}")
    assert not [name for name in names if name not in said]


def test_every_name_of_the_package_is_there(site):
    said = "".join(text(site, f"reference/made/python/{page.stem}") for page in (site / "reference/made/python").glob("*.html"))
    assert not [name for name in package.__all__ if name != "__version__" and f"granum.{name}" not in said]


def test_the_site_can_be_searched(site):
    found = (site / "searchindex.js").read_text(encoding="utf-8")
    assert all(word in found for word in ("friction", "restart", "checkpoint"))


def examples(language):
    """Every example of the written pages in a language, with where it stands."""
    return [
        pytest.param(found, id=f"{page.stem}-{number}")
        for page in WRITTEN
        for number, found in enumerate(
            re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
        )
    ]


@pytest.mark.parametrize("example", examples("toml"))
def test_scenes_of_the_pages_are_sound(example, tmp_path):
    (tmp_path / "scene.toml").write_text(example, encoding="utf-8")
    assert load_scene(tmp_path / "scene.toml").materials


@pytest.mark.parametrize("example", examples("python"))
def test_python_of_the_pages_runs(example, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    run("column", duration=0.02, progress=False, picture=False)
    exec(compile(example, "an example", "exec"), {})
    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize("example", examples("console"))
def test_commands_of_the_pages_take_their_options(example):
    commands = get_command(app()).commands
    for line in re.findall(r"^\$ granum (.*?)(?:\s+#.*)?$", example, re.MULTILINE):
        name, *rest = line.split()
        known = {spelling for option in commands[name].params for spelling in (*option.opts, *option.secondary_opts)}
        assert not [word for word in rest if re.match(r"--?[a-z]", word) and word.split("=")[0] not in known], line
