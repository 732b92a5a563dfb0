"""Records of benchmarks: they grow row by row, are never damaged, and are told from other files; all benchmarks give figures."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from granum import bench
from granum.bench import BENCHMARKS, append_record, check_record, figures_of, read_record, record_table
from granum.bench.figures import FIGURES
from granum.bench.machine import commit, cpu_model
from granum.bench.records import COLUMNS
from granum.checks import InputError, OutputError

ROOT = Path(__file__).parents[2]
FIGURE = {"benchmark": "pgs", "figure": "ns_per_contact_iteration", "value": 12.5, "unit": "ns", "threads": 1}


@pytest.fixture
def few(monkeypatch):
    """Two benchmarks that measure nothing, in place of all."""

    def pgs(count=10, talk=print):
        return {"benchmark": "pgs", "ns_per_contact_iteration": 20.0, "ns_per_contact_iteration_momentum": 25.0, "grains": count}

    def small(talk=print):
        return {"benchmark": "small", "microseconds_per_step": {"nonsmooth": {"1": 9.0}, "smooth": {"1": 4.0}}, "threads": 1}

    monkeypatch.setattr(bench, "BENCHMARKS", {"pgs": pgs, "small": small})


def test_all_gives_one_table(granum, few):
    done = granum("bench", "all")
    assert done.exit_code == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["pgs", "ns_per_contact_iteration", "20", "ns"] in lines
    assert ["small", "microseconds_per_step.smooth.1", "4", "us"] in lines
    found = json.loads(granum("bench", "all", "--json").stdout)["figures"]
    assert [row["value"] for row in found] == [20.0, 25.0, 9.0, 4.0]
    head, *rows = csv.reader(granum("bench", "all", "--csv").stdout.splitlines())
    assert head == ["benchmark", "figure", "value", "unit", "threads"]
    assert [row[2] for row in rows] == ["20.0", "25.0", "9.0", "4.0"]


def test_every_benchmark_has_figures(granum, monkeypatch):
    """Of all that there are, on few grains: each pattern of a figure finds one at least."""
    monkeypatch.setattr("granum.bench.small.STEPS", 20)
    done = granum("bench", "all", "--particles", 64, "--iterations", 3, "--json")
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)["figures"]
    typed = {name: given for name, *given in (row["benchmark"].split() for row in found)}
    assert set(typed) == set(BENCHMARKS) - {"compare"}
    assert typed["pgs"] == ["--particles", "64", "--iterations", "3"]
    assert typed["minimise"] == ["--particles", "64"]  # it knows no iterations
    assert {row["threads"] for row in found if row["figure"] == "ns_per_grain_step"} == {1, 2}
    assert all(isinstance(row["value"], (int, float)) and row["unit"] for row in found)
    for name in set(BENCHMARKS) - {"compare"}:
        for pattern in FIGURES[name]:
            known = re.compile(re.escape(pattern).replace(r"\*", ".*"))
            assert any(known.fullmatch(row["figure"]) for row in found if row["benchmark"].split()[0] == name), (name, pattern)


def test_a_record_grows(granum, few):
    """A row for each figure and call, with what it was measured with; what was there stays, byte for byte."""
    first = granum("bench", "all", "--record", "records.csv")
    assert first.exit_code == 0, first.stderr
    assert "recorded: 4 rows in records.csv" in first.stderr
    before = Path("records.csv").read_bytes()
    assert granum("bench", "pgs", "--record", "records.csv", "--json").exit_code == 0
    after = Path("records.csv").read_bytes()
    assert after.startswith(before)
    rows = read_record(Path("records.csv"))
    assert tuple(rows[0]) == COLUMNS
    assert [row["benchmark"] for row in rows] == ["pgs", "pgs", "small", "small", "pgs", "pgs"]
    assert [float(row["value"]) for row in rows] == [20.0, 25.0, 9.0, 4.0, 20.0, 25.0]
    assert abs(datetime.now(UTC) - datetime.fromisoformat(rows[0]["date"])) < timedelta(minutes=5)
    for name in set(COLUMNS) - {"commit"}:
        assert rows[0][name]
    assert rows[0]["threads"] == "1"


def test_other_sizes_are_other_figures(granum, few):
    """They are recorded with the options that were typed."""
    assert granum("bench", "pgs", "--particles", 20, "--record", "records.csv").exit_code == 0
    assert granum("bench", "all", "--particles", 30, "--record", "records.csv").exit_code == 0
    assert [row["benchmark"] for row in read_record(Path("records.csv"))] == ["pgs --particles 20"] * 2 + ["pgs --particles 30"] * 2 + [
        "small"
    ] * 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n1,2\n", "is no record of granum"),
        ("", "is no record of granum"),
        ("\x00\x01", "is no record of granum"),
        (",".join(COLUMNS) + "\n1,2\n", "row 2 has 2 values"),
        (",".join(COLUMNS) + "\n" + ",".join("1" * len(COLUMNS)), "its last line has no end"),
        (",".join(COLUMNS) + "\n" + ",".join("x" * len(COLUMNS)) + "\n", "is no number"),
    ],
)
def test_a_foreign_or_broken_file_is_refused_and_left_alone(granum, few, text, words):
    Path("other.csv").write_text(text)
    done = granum("bench", "all", "--record", "other.csv")
    assert done.exit_code == 2
    assert words in done.stderr
    assert "(1 of" not in done.stderr  # before anything is measured
    assert Path("other.csv").read_text() == text


def test_bytes_that_are_no_text_are_refused(tmp_path):
    path = tmp_path / "other.csv"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="is no record of granum"):
        append_record(path, [FIGURE])


def test_a_place_where_no_record_can_be_is_refused(granum, few):
    Path("folder.csv").mkdir()
    for name in ("records.txt", "nowhere/records.csv", "folder.csv"):
        done = granum("bench", "all", "--record", name)
        assert done.exit_code == 2, name
        assert "record" in done.stderr


def test_a_full_disk_leaves_the_record_as_it_was(tmp_path, monkeypatch):
    path = tmp_path / "records.csv"
    append_record(path, [FIGURE])
    before, write = path.read_bytes(), os.write
    monkeypatch.setattr(os, "write", lambda handle, content: write(handle, content[:10]))
    with pytest.raises(OutputError, match="what was there is as it was"):
        append_record(path, [FIGURE])
    monkeypatch.undo()
    assert path.read_bytes() == before
    check_record(path)


def test_table_of_a_record(tmp_path, monkeypatch):
    """One part for each call, the newest first."""
    path = tmp_path / "records.csv"
    for day, value in (("2026-01-01", 12.5), ("2026-02-01", 11.25)):
        known = dict.fromkeys(("version", "python", "numpy", "numba"), "1.0") | {"commit": "a" * 40 + "-dirty", "cpu": "slow", "cores": "2"}
        monkeypatch.setattr("granum.bench.records.measured_with", lambda day=day, known=known: {"date": f"{day}T00:00:00+00:00", **known})
        append_record(path, [{**FIGURE, "value": value}])
    text = record_table(path)
    assert text.index("| pgs | ns_per_contact_iteration | 11.25 | ns | 1 |") < text.index("| 12.5 |")
    assert text.startswith("2026-02-01T00:00:00+00:00: granum 1.0, commit aaaaaaaaaa-dirty; slow, 2 cores; Python 1.0")
    with pytest.raises(InputError, match="does not exist"):
        record_table(tmp_path / "none.csv")


def test_figures_of_the_page_stand_in_the_record():
    """``docs/benchmarks.md`` shows what was recorded, not what was typed."""
    recorded = record_table(ROOT / "benchmarks" / "records.csv").splitlines()
    shown = [line for line in (ROOT / "docs" / "benchmarks.md").read_text().splitlines() if line.startswith("| ")]
    assert len(shown) > 10
    assert set(shown) <= set(recorded)


def test_figures_are_numbers_with_units():
    found = figures_of({"benchmark": "small", "microseconds_per_step": {"smooth": {"1": 4.0, "why": "text", "good": True}}, "threads": 2})
    assert found == [{"benchmark": "small", "figure": "microseconds_per_step.smooth.1", "value": 4.0, "unit": "us", "threads": 2}]


def test_the_cpu_has_a_name(tmp_path):
    table = tmp_path / "cpuinfo"
    table.write_text("processor\t: 0\nmodel name\t: Fast 9000\nprocessor\t: 1\nmodel name\t: Fast 9000\n")
    assert cpu_model(table) == "Fast 9000"
    assert cpu_model(tmp_path / "none")


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_the_commit_is_that_of_the_source(tmp_path):
    """Of a checkout that the source is part of, and says whether it was changed since; nothing elsewhere."""
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    assert commit(package) == ""

    def git(*arguments):
        who = ["-c", "user.name=nobody", "-c", "user.email=nobody@localhost"]
        return subprocess.run(["git", *who, *arguments], cwd=tmp_path, check=True, capture_output=True, text=True).stdout.strip()

    git("init")
    assert commit(package) == ""  # not tracked: something that was installed there
    git("add", ".")
    git("commit", "-m", "begin")
    known = git("rev-parse", "HEAD")
    assert commit(package) == known
    (tmp_path / "beside.txt").write_text("no source")
    assert commit(package) == known
    (package / "__init__.py").write_text("changed = True")
    assert commit(package) == f"{known}-dirty"
