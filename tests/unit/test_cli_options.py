"""Options and help pages: made from the fields of settings, in panels, with defaults."""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys

import pytest

from granum.cli import COMMANDS, jam, make_app, minimise, reduction, run, shear
from granum.cli.fields import field_text
from granum.progress import Bar, clock, fitting

OPTIONS = [*run.OPTIONS, *reduction.OPTIONS, *jam.OPTIONS, *minimise.OPTIONS, *shear.OPTIONS]


@pytest.mark.parametrize("one", OPTIONS, ids=lambda one: f"{one.name}:{one.field}")
def test_what_is_read_of_a_field_is_what_the_record_has(one):
    """The source is read as text; the record itself must say the same."""
    module, _, rest = one.field.partition(":")
    name, _, field = rest.partition(".")
    info = getattr(importlib.import_module(f"granum.{module}"), name).model_fields[field]
    text = field_text(one.field)
    if text.default is not None:
        assert text.default == info.default
    assert text.text == " ".join((info.description or "").split())
    if text.choices:
        for choice in text.choices:
            assert repr(choice) in str(info.annotation)
    assert text.kind.__name__ in str(info.annotation) or "Literal" in str(info.annotation)


def test_defaults_and_choices_are_shown(granum):
    page = granum("run", "-h").stdout
    for words in (
        "Default: 10.",
        "Default: 0.0025.",
        "colour, given, symmetric or random. Default: colour.",
        "verlet or euler. Default: verlet.",
        "[m/s]",
        "[rad/s]",
    ):
        assert words in page
    for panel in (run.RUN, run.SOLVE, run.OUTPUT, reduction.PANEL):
        assert f"─ {panel} ─" in page
    assert page.index(run.RUN) < page.index(run.SOLVE) < page.index(reduction.PANEL)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_help_page_shows_its_examples_line_by_line(granum, command):
    page = granum(command, "-h").stdout
    assert "╭─ Options ─" in page
    examples = [line.strip() for line in page.splitlines() if line.strip().startswith(f"granum {command} ")]
    doc = inspect.getdoc(getattr(importlib.import_module(f"granum.cli.{command}"), command)) or ""
    assert len(examples) == doc.count(f"\ngranum {command} ")
    assert "Example" not in page


def test_no_function_of_the_command_line_has_more_than_ten_parameters():
    import ast

    from granum.cli.fields import PACKAGE

    for folder in ("cli", "runs", "observe"):
        for path in (PACKAGE / folder).glob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.FunctionDef):
                    count = len(node.args.args) + len(node.args.kwonlyargs)
                    assert count <= 10, f"{path.name}: {node.name} has {count}"


def test_help_imports_no_compiler():
    """Of any command, at once."""
    code = (
        "import sys\nfrom granum.cli import main\nsys.argv = ['granum', sys.argv[1], '-h']\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code\n"
        "slow = {'numba', 'numpy', 'scipy', 'h5py', 'matplotlib'} & set(sys.modules)\nassert not slow, slow"
    )
    for command in ("run", "jam", "plan"):
        subprocess.run([sys.executable, "-c", code, command], check=True, capture_output=True, timeout=60)


def test_make_app_has_all_commands():
    import typer

    assert set(typer.main.get_command(make_app()).commands) == set(COMMANDS)


# Progress. ---------------------------------------------------------------------------------------------------


def test_times_stay_where_there_is_little_room():
    words = ["t = 3.75 s", "562 grains", "956 contacts", "E_kin 4.68e-02 J"]
    wide = fitting("pile", 0.31, words, 11.2, 2.0, 200)
    assert wide == "pile 31%  t = 3.75 s, 562 grains, 956 contacts, E_kin 4.68e-02 J  ETA 0:11 (0:02 gone)"
    narrow = fitting("pile", 0.31, words, 11.2, 2.0, 60)
    assert narrow == "pile 31%  t = 3.75 s, 562 grains  ETA 0:11 (0:02 gone)"
    assert fitting("pile", None, words, None, 3700.0, 10) == "pile  1:01:40 gone"
    assert [clock(s) for s in (0.4, 59.6, 754, 3723)] == ["0:00", "1:00", "12:34", "1:02:03"]


def test_what_is_left_counts_from_the_later_half(monkeypatch):
    from granum import progress

    now, said = [0.0], []
    monkeypatch.setattr(progress, "monotonic", lambda: now[0])
    bar = Bar("work", talk=said.append)
    for now[0], part in ((0.0, 0.5), (0.5, 0.55), (10.0, 0.75), (12.0, 0.8), (20.5, 0.9)):
        bar.show(part, ["a word"])
    assert said == ["work: 75%, a word, about 10 s left", "work: 90%, a word, about 7 s left"]  # 15 % in the last 10.5 s


def test_a_bar_on_a_terminal_is_drawn_and_taken_away(monkeypatch):
    import io

    from rich.console import Console

    from granum import progress

    monkeypatch.setattr(progress, "QUIET", -1.0)
    drawn = io.StringIO()
    console = Console(file=drawn, force_terminal=True, width=80)
    with Bar("pile", console=console) as bar:
        bar.show(0.25, ["562 grains"])
    assert "pile 25%" in drawn.getvalue()
    assert "562 grains" in drawn.getvalue()


def test_bad_options_are_told_as_typed(granum):
    result = granum("shear", "x.h5", "--frames", "1")
    assert result.exit_code == 2
    assert "--frames must be greater than or equal to 2 (got 1)" in result.stderr
