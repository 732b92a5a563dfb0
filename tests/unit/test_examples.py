"""The examples of the documents work: Python and TOML of the README, its commands, and the doctests of the package."""

from __future__ import annotations

import doctest
import importlib
import json
import re
import shlex
from pathlib import Path

import pytest
from typer.main import get_command

import granum as package
from granum import Recording, load_scene
from tests.command_line import app

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
DOCTESTS = [
    "granum." + ".".join(path.relative_to(Path(package.__file__).parent).with_suffix("").parts)
    for path in sorted(Path(package.__file__).parent.rglob("*.py"))
    if ">>> " in path.read_text()
]


def blocks(language):
    """Texts of the README's examples in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("number", range(len(blocks("python"))))
def test_python_of_the_readme_runs(number, capsys, monkeypatch, tmp_path):
    """As it stands, but for the number of grains where it is large, and says something."""
    monkeypatch.chdir(tmp_path)
    source = blocks("python")[number].replace("count=2000", "count=200")
    names: dict = {}
    exec(compile(source, f"README.md, example {number}", "exec"), names)
    assert capsys.readouterr().out.strip()
    if "contacts.normal_force" in source:  # five grains at rest: the lowest contact carries all of them
        force, g = names["done"].found.contacts.normal_force, 9.81
        mass = 2500 * 3.141592653589793 / 6 * 0.01**3
        assert sorted(force) == pytest.approx([k * mass * g for k in range(1, 6)], rel=1e-3)
    if "relax_run" in source:
        assert names["packed"].phi == pytest.approx(0.6, rel=1e-6)
        assert names["level"].position[:, 2].mean() <= names["run"].position[:, 2].mean()  # without friction they lie lower


@pytest.mark.parametrize("number", range(len(blocks("toml"))))
def test_scene_of_the_readme_runs(granum, number):
    """Its first twentieth of a second; it is the scene that the text says it is."""
    Path("gravel.toml").write_text(blocks("toml")[number])
    scene = load_scene("gravel.toml")
    assert scene.materials[0].name == "gravel"
    result = granum("run", "gravel.toml", "--duration", 0.05, "--json", "--no-picture")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    with Recording("gravel.vtkhdf") as recording:
        if scene.joints:
            assert found["grains"] == 3
            assert abs(recording.joint("ram").motor_force[-1]) <= 5000  # its limit
        else:
            assert 20 <= found["grains"] <= 26  # 500 in a second
            assert recording.scene.emitters[0].count == 800


def commands():
    """Command lines of the README, without their comments and the prompt."""
    lines = [line.removeprefix("$ ") for block in blocks("console") for line in block.splitlines() if line.startswith("$ granum ")]
    return [shlex.split(line, comments=True) for line in lines]


@pytest.mark.parametrize("line", commands(), ids=" ".join)
def test_command_lines_of_the_readme_are_understood(line):
    """Commands, options and the types of their values; most would run for minutes."""
    group = get_command(app())
    command = group.commands[line[1]]
    context = command.make_context(line[1], line[2:], resilient_parsing=False)
    assert set(context.params) >= {p.name for p in command.params if p.name != "help"}


@pytest.mark.parametrize("name", DOCTESTS)
def test_doctests(name, monkeypatch, tmp_path):
    """Names of the package need no import in them."""
    monkeypatch.chdir(tmp_path)
    known = {word: getattr(package, word) for word in package.__all__}
    module = importlib.import_module(name)
    found = doctest.testmod(module, extraglobs=known | vars(module), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.attempted
    assert not found.failed


def test_there_are_examples():
    assert len(blocks("python")) >= 2
    assert len(blocks("toml")) >= 1
    assert len(DOCTESTS) >= 6
