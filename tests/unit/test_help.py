"""Help pages: every command and option is there, in words, in its panel; representations for notebooks show the facts of a run."""

from __future__ import annotations

import pytest
from typer.main import get_command

from granum import Simulation, make_scene
from tests.command_line import app, granum

COMMANDS = get_command(app()).commands


def shown(command):
    """Options and arguments that a user is told of."""
    return [p for p in command.params if not getattr(p, "hidden", False) and p.name != "help"]


def test_all_commands_are_listed_with_what_they_do():
    page = granum("--help").stdout
    for name, command in COMMANDS.items():
        if command.hidden:
            continue
        assert name in page
        first = (command.help or "").strip().splitlines()[0]
        assert first
        assert first.rstrip(".")[:40] in page


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_help_of_a_command(name):
    """All options with a word on each, under the title of their panel."""
    result = granum(name, "--help")
    assert result.exit_code == 0
    assert result.stderr == ""
    words = " ".join(result.stdout.split())
    for parameter in shown(COMMANDS[name]):
        if parameter.param_type_name == "option":
            assert parameter.opts[-1] in words or parameter.opts[0] in words
        assert parameter.help, f"{parameter.name} of {name} is not explained"
        assert parameter.help.split()[0] in words
    for panel in {p.rich_help_panel for p in shown(COMMANDS[name]) if getattr(p, "rich_help_panel", None)}:
        assert panel in words


def test_help_of_run_is_in_panels():
    """Some forty options in one list would be no help."""
    panels = {p.rich_help_panel for p in shown(COMMANDS["run"]) if p.param_type_name == "option"} - {None}
    assert len(panels) >= 4
    assert len([p for p in shown(COMMANDS["run"]) if p.param_type_name == "option" and not p.rich_help_panel]) == 0


def test_help_fits_into_80_columns():
    for name in COMMANDS:
        assert max(len(line) for line in granum(name, "--help", width=80).stdout.splitlines()) <= 80


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_examples_stand_on_lines_of_their_own(name):
    """As they are typed, not broken, on a terminal of 80 columns."""
    written = [line.strip() for line in (COMMANDS[name].help or "").splitlines() if line.strip().startswith("granum ")]
    shown_lines = [line.strip() for line in granum(name, "--help", width=80).stdout.splitlines()]
    assert all(line in shown_lines for line in written)


def test_a_command_that_is_unknown_is_refused():
    result = granum("rnu")
    assert result.exit_code == 2
    assert "rnu" in result.stderr


def test_simulation_shows_its_facts_in_a_notebook():
    sim = Simulation(make_scene("column", {"count": 3}))
    sim.run(0.05)
    html, text = sim._repr_html_(), repr(sim)
    assert html.startswith("<table>")
    assert html.endswith("</table>")
    assert html.count("<tr>") == html.count("</tr>") == html.count("<th>")
    for name, value in (("scene", "column"), ("grains", "3"), ("contacts", "3"), ("time", "0.05 s")):
        assert f"<th>{name}</th><td>{value}</td>" in html
        assert f"{name}={value}" in text
