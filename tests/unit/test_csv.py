"""``--csv`` of every table: the same numbers as ``--json``, in lines that other programs read."""

from __future__ import annotations

import csv
import json

import pytest

COMMANDS = (
    "run",
    "restart",
    "jam",
    "minimise",
    "shear",
    "info",
    "analyse",
    "compare",
    "solve",
    "scenes",
    "plan",
    "bench",
    "doctor",
    "reproduce",
    "check",
    "sweep",
    "calibrate",
    "references",
)


def lines(result):
    """Head and rows."""
    assert result.exit_code == 0, result.stderr
    head, *rows = csv.reader(result.stdout.splitlines())
    assert all(len(row) == len(head) for row in rows)
    return head, rows


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_with_a_table_takes_it(command, granum):
    shown = granum(command, "--help").stdout
    assert "--csv" in shown


@pytest.fixture(scope="module")
def column(tmp_path_factory):
    from tests.command_line import granum

    path = tmp_path_factory.mktemp("csv") / "column.h5"
    done = granum("run", "column", "--duration", 0.05, "--dump-problem", 0.05, "--no-picture", "-o", path, "--csv")
    return path, done


def test_a_summary_is_one_line_with_the_names_of_json(column, granum):
    path, done = column
    head, rows = lines(done)
    summary = json.loads(granum("info", path, "--json").stdout)
    assert len(rows) == 1
    row = dict(zip(head, rows[0], strict=True))
    assert float(row["kinetic_energy"]) == summary["kinetic_energy"]
    assert float(row["results.height"]) == summary["results"]["height"]
    assert float(row["energy.potential"]) == summary["energy"]["potential"]
    assert row["state_hash"] == summary["state_hash"]
    assert lines(granum("info", path, "--csv"))[1][0][0] == "column"


def test_parts_with_names_are_columns_and_other_lists_are_left_out():
    from granum.cli.csv_out import flattened

    content = {"a": 1, "b": {"c": 2.5}, "sinks": [{"name": "outlet", "mass": 3.0}], "curve": [1, 2, 3]}
    assert flattened(content) == {"a": 1, "b.c": 2.5, "sinks.outlet.mass": 3.0}


def test_solvers_scenes_and_plans_have_a_line_each(column, granum):
    path, _ = column
    problem = next(path.parent.glob("column.problem-*"))
    head, rows = lines(granum("solve", problem, "--solver", "pgs", "--solver", "pgs-plain", "--iterations", 5, "--csv"))
    assert [row[0] for row in rows] == ["pgs", "pgs-plain"]
    assert {"sweeps", "residual", "residual_by_kind.normal", "converged"} <= set(head)
    head, rows = lines(granum("scenes", "--csv"))
    assert ["column", "count"] in [row[:2] for row in rows]
    head, rows = lines(granum("scenes", "silo", "--csv"))
    assert head == ["scene", "parameter", "default", "type", "unit", "help"]
    assert ["silo", "width", "diameters"] in [[row[0], row[1], row[4]] for row in rows]
    head, rows = lines(granum("check", "column", "--no-picture", "--csv"))
    assert rows[0][head.index("grains")] == "25"
    head, rows = lines(granum("plan", "--table", "--csv"))
    assert len(rows) == 33
    head, rows = lines(granum("plan", "--diameter", "10mm", "--young", "1e7Pa", "--width", 15, "--height", 10, "--csv"))
    assert rows[-1][head.index("stepper")] == "smooth"
    assert lines(granum("reproduce", "--list", "--csv"))[0] == ["experiment", "title"]
    assert lines(granum("analyse", "--list", "--csv"))[1][0][0] == "overlap"


def test_both_formats_at_once_are_refused_before_the_work(column, granum):
    path, _ = column
    for command in (("info", path), ("scenes",), ("run", "column", "-o", path.with_name("other.h5")), ("bench",), ("check", "column")):
        refused = granum(*command, "--json", "--csv")
        assert refused.exit_code == 2
        assert "--json and --csv exclude each other" in refused.stderr
    assert not path.with_name("other.h5").exists()


def test_wide_tables_show_the_columns_that_fit(column, granum):
    path, _ = column
    shown = granum("analyse", path, "fields", width=80).stdout
    table = shown[shown.index("\ncells") + 1 :].splitlines()
    assert max(map(len, table[:-3])) <= 80
    assert "x [m]" in table[2]
    head, _ = lines(granum("analyse", path, "fields", "--csv"))
    assert f"--csv gives all {len(head)} columns" in " ".join(shown.split())
    assert "columns fit here" not in granum("analyse", path, "fields", width=400).stdout


def test_all_keys_of_a_summary_are_documented(column, granum):
    """In docs/json.md, with their units."""
    import re
    from pathlib import Path

    path, _ = column
    text = (Path(__file__).parents[2] / "docs" / "json.md").read_text()
    documented = {name for row in re.findall(r"^\| (`[^|]*) \|", text, re.M) for name in re.findall(r"`(\w+)`", row)}
    assert set(json.loads(granum("info", path, "--json").stdout)) <= documented


def test_all_keys_of_packings_and_plans_are_documented(granum, tmp_path):
    """In docs/json.md, with the columns of a shear's curve that are not components."""
    import re
    from pathlib import Path

    from granum import run_jam, run_minimise, run_shear

    known = set(re.findall(r"`(\w+)`", (Path(__file__).parents[2] / "docs" / "json.md").read_text()))
    quiet = {"picture": False, "progress": False}
    jammed = run_jam(particles=20, output=tmp_path / "jam.h5", **quiet)
    dense = run_minimise(jammed.path, phi=0.87, **quiet)
    sheared = run_shear(dense.found, strain=1e-3, step=1e-3, output=tmp_path / "shear.h5", **quiet)
    plan = json.loads(granum("plan", "--diameter", "10mm", "--young", "1e7Pa", "--width", 15, "--height", 10, "--json").stdout)
    curve = {name for name in sheared.summary["curve"] if not re.search("_[xyz]{2}$", name)}
    keys = {*jammed.summary, *dense.summary, *dense.summary["methods"][0], *sheared.summary, *curve, *plan}
    assert keys <= known


def test_sweeps_print_their_rows(granum):
    given = ("sweep", "column", "--vary", "count=2,3", "--measure", "height_error", "--duration", "0.02", "--no-picture", "-j", 1)
    head, rows = lines(granum(*given, "--csv"))
    assert [row[0] for row in rows] == ["2", "3"]
    with open("column-sweep.csv", newline="") as file:
        assert list(csv.reader(file)) == [head, *rows]


def test_recordings_end_in_vtkhdf_and_older_endings_work(granum, tmp_path):
    from pathlib import Path

    assert granum("run", "column", "--duration", 0.01, "--no-picture").exit_code == 0
    assert {path.name for path in Path().iterdir()} == {"column.vtkhdf", "column.checkpoint.hdf5"}
    for name in ("column.vtkhdf", "column.checkpoint.hdf5"):
        assert json.loads(granum("info", name, "--json").stdout)["recording"] == "column.vtkhdf"
    assert granum("restart", "column.checkpoint.hdf5", "--duration", 0.01).exit_code == 0
    assert "Did you mean column.vtkhdf?" in granum("info", "column.h5").stderr
    assert granum("run", "column", "--duration", 0.01, "--no-picture", "-o", "old.h5").exit_code == 0
    assert Path("old.checkpoint.h5").exists()
    assert granum("restart", "old.checkpoint.h5", "--duration", 0.01).exit_code == 0
