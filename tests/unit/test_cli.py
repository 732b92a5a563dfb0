"""The command line: one JSON object, exit codes, refusals in words, and nothing lost."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import h5py
import pytest

from granum.io import Recording, checkpoint_path
from granum.runs.output import check_output

KEYS = {
    "scene",
    "grains",
    "contacts",
    "time",
    "steps",
    "time_step",
    "iterations",
    "warm_start",
    "momentum",
    "threads",
    "residual",
    "mean_overlap",
    "max_overlap",
    "kinetic_energy",
    "wall_seconds",
    "stage_seconds",
    "state_hash",
    "recording",
    "checkpoint",
    "results",
}
STAGES = {"detection", "assembly", "impact", "solve", "integrate", "measure", "output"}


def small(*more):
    return ("run", "column", "--set", "count=3", "--duration", "0.05", "--no-picture", *more)


def refused(result, *words):
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    for word in words:
        assert word in result.stderr


def test_json_is_one_object_with_the_agreed_keys(granum, tmp_path):
    result = granum(*small("--json"))
    assert result.exit_code == 0
    summary = json.loads(result.stdout)
    assert set(summary) >= KEYS
    assert set(summary["stage_seconds"]) == STAGES
    assert (summary["scene"], summary["grains"], summary["steps"], summary["time"]) == ("column", 3, 10, pytest.approx(0.05))
    assert set(summary["results"]) >= {"height", "height_error"}
    assert summary["complete"] is True
    assert (tmp_path / summary["recording"]).exists()
    assert (tmp_path / summary["checkpoint"]).exists()


def test_info_and_restart_give_the_same_object(granum):
    summary = json.loads(granum(*small("--json")).stdout)
    info = json.loads(granum("info", "column.vtkhdf", "--json").stdout)
    assert {key: info[key] for key in KEYS} == {key: summary[key] for key in KEYS}
    again = json.loads(granum("restart", "column.vtkhdf", "--json").stdout)
    assert set(again) >= KEYS
    assert again["state_hash"] == summary["state_hash"]
    assert again["steps"] == summary["steps"]


def test_restart_with_other_threads(granum):
    whole = json.loads(granum("run", "box", "--set", "count=40", "--duration", 0.2, "--no-picture", "-o", "whole.vtkhdf", "--json").stdout)
    granum("run", "box", "--set", "count=40", "--duration", 0.1, "--no-picture", "--threads", 2)
    rest = 0.2 - json.loads(granum("info", "box.vtkhdf", "--json").stdout)["time"]
    for threads in (0, 1000):
        result = granum("restart", "box.vtkhdf", "--threads", threads)
        assert result.exit_code == 2
        assert "threads must be from 1" in result.stderr
    again = json.loads(granum("restart", "box.vtkhdf", "--duration", rest, "--threads", 3, "--json").stdout)
    assert again["threads"] == 3
    assert again["steps"] == whole["steps"]
    assert again["state_hash"] == whole["state_hash"]


def test_summary_table_shows_the_defaults(granum):
    result = granum(*small())
    assert result.exit_code == 0
    for words in ("sweeps to an accuracy", "momentum on (default)", "history (default)", "(of the scene)", "column.vtkhdf"):
        assert words in result.stdout
    table = granum("info", "column.vtkhdf").stdout
    assert "granum" in table
    assert "numba" in table


def test_flags_reach_the_solver(granum):
    flags = (
        "--iterations",
        7,
        "--warm-start",
        "history",
        "--beta",
        0.5,
        "--normals-only",
        "--no-velocity-update",
        "--no-momentum",
        "--friction",
        "box",
        "--order",
        "random",
        "--tolerance",
        1e-7,
        "--time-step",
        0.01,
        "--stepper",
        "nonsmooth",
        "--solver",
        "pgs",
        "--seed",
        3,
        "--every",
        0.02,
        "--checkpoint-every",
        5,
        "--relax",
    )
    summary = json.loads(granum(*small("--json", *flags)).stdout)
    assert (summary["iterations"], summary["momentum"], summary["time_step"], summary["steps"]) == (7, False, 0.01, 5)
    with Recording("column.vtkhdf") as recording:
        settings = recording.description["settings"]
        times = recording.times
    assert settings["stepper"]["warm_start"] == {
        "name": "history",
        "beta": 0.5,
        "normals_only": True,
        "update_velocity": False,
        "guard": settings["stepper"]["warm_start"]["guard"],
    }
    assert (settings["stepper"]["friction"], settings["stepper"]["solver"]["order"]) == ("box", "random")
    assert list(times) == pytest.approx([0.0, 0.02, 0.04, 0.05])


def test_frames_do_not_drift(granum):
    """Frames lie at the steps nearest to k times the interval, first and last included."""
    granum(*small("--time-step", 0.003, "--every", 0.01, "--duration", 0.1))
    with Recording("column.vtkhdf") as recording:
        assert list(recording.steps) == [0, 3, 7, 10, 13, 17, 20, 23, 27, 30, 33]


def test_threads_are_told_and_do_not_change_the_result(granum):
    one, many = (granum(*small("--threads", threads, "--json")) for threads in (1, 64))
    assert json.loads(many.stdout)["threads"] == 64
    assert "64 threads on" in many.stderr
    assert "threads on" not in one.stderr
    assert json.loads(many.stdout)["state_hash"] == json.loads(one.stdout)["state_hash"]


@pytest.mark.parametrize("threads", [0, -2])
def test_too_few_threads_are_refused(granum, threads):
    result = granum(*small("--threads", threads))
    assert result.exit_code == 2
    assert "threads" in result.stderr


def test_scenes_lists_parameters(granum):
    scenes = json.loads(granum("scenes", "--json").stdout)["scenes"]
    assert set(scenes) >= {"box", "column", "pile"}
    count = {"default": 25, "type": "int", "unit": "", "help": "number of grains."}
    assert scenes["column"]["parameters"]["count"] == count
    assert scenes["column"]["help"] in granum("scenes").stdout


def test_picture(granum, drawn):
    result = granum("run", "box", "--set", "count=20", "--duration", "0.02", "-o", "b.vtkhdf", "--json")
    summary = json.loads(result.stdout)
    assert summary["picture"] == "b.png"
    assert [text.get_text() for text in drawn["b.png"].texts] == ["box", "20 grains, t = 0.0206 s"]
    assert set(summary["results"]) >= {"height", "packing_fraction"}
    check_output(Path("b.vtkhdf"), True, print)  # our own picture may be replaced


def test_toml_scene_from_the_command_line(granum, tmp_path):
    (tmp_path / "one.toml").write_text(
        'materials = [{name = "m"}]\nwalls = [{shape = "plane", material = "m"}]\nrun = {duration = 0.02, time_step = 0.001}\n'
        'grains = [{material = "m", position = [[0, 0, 1]], diameter = 1}]\n'
    )
    summary = json.loads(granum("run", "one.toml", "--set", "materials.0.friction=0.3", "--json", "--no-picture").stdout)
    assert (summary["scene"], summary["steps"], summary["recording"]) == ("one", 20, "one.vtkhdf")
    (tmp_path / "one.toml").write_text("materials = []\ngrainz = 1\n")
    refused(granum("run", "one.toml"), "materials", "grainz: is not a known key (got 1). Did you mean 'grains'?")


# Bad input. --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments, words",
    [
        (
            ("run", "piel"),
            [
                "unknown scene 'piel'",
                "'box', 'circuit', 'collapse', 'column', 'conveyor', 'drum', 'excavator'",
                "you mean 'pile'?",
            ],
        ),
        (small("--solver", "gauss"), ["unknown solver 'gauss'", "'pgs'"]),
        (small("--stepper", "magic"), ["unknown stepper 'magic'", "'nonsmooth'"]),
        (small("--warm-start", "histroy"), ["unknown warm start 'histroy'", "Did you mean 'history'?"]),
        (small("--warm-start", "none", "--beta", 0.5), ["beta", "is not a known key"]),
        (small("--beta", 1.5), ["beta", "less than or equal to 1", "got 1.5"]),
        (small("--friction", "sphere"), ["friction", "'cone' or 'box'", "got 'sphere'"]),
        (small("--order", "wild"), ["order", "'colour'", "got 'wild'"]),
        (small("--iterations", 0), ["iterations", "greater than or equal to 1", "got 0"]),
        (small("--tolerance", "nan"), ["tolerance", "got nan"]),
        (small("--time-step", -1), ["time_step", "greater than 0", "got -1"]),
        (small("--time-step", "nan"), ["time_step", "finite", "got nan"]),
        (small("--time-step", "inf"), ["time_step", "finite", "got inf"]),
        (small("--duration", 0), ["duration", "greater than 0", "got 0"]),
        (small("--every", -1), ["every", "greater than 0"]),
        (small("--checkpoint-every", 0), ["checkpoint_every", "greater than 0"]),
        (small("--threads", 0), ["threads", "greater than or equal to 1"]),
        (small("--seed", -1), ["seed must be 0 or more (got -1)"]),
        (small("--set", "cuont=3"), ["unknown parameter of scene 'column' 'cuont'", "Did you mean 'count'?"]),
        (small("--set", "count=three"), ["count of scene 'column' must be a whole number (got 'three')"]),
        (small("--set", "count=0"), ["count", "got 0"]),
        (small("--set", "diameter=-1"), ["diameter must be a finite number above 0", "got -1.0"]),
        (small("--set", "diameter=nan"), ["diameter must be a finite number above 0", "got nan"]),
        (small("--set", "friction=-1"), ["friction", "greater than or equal to 0", "got -1.0"]),
        (small("--set", "materials.0.restitution=2"), ["restitution", "less than or equal to 1", "got 2"]),
        (small("--set", "materials.0.density=0"), ["density", "greater than 0"]),
        (small("--set", "count"), ["--set needs key=value (got 'count')"]),
        (small("--output", "no/where.vtkhdf"), ["no/where.vtkhdf", "folder no does not exist"]),
        (small("--output", "."), ["it is a folder"]),
        (small("--output", "x.png"), ["must be the name of a recording"]),
        (small("--unknown-flag"), ["--unknown-flag"]),
        (("restart", "none.vtkhdf"), ["none.vtkhdf does not exist"]),
        (("restart", "none.checkpoint.hdf5"), ["none.checkpoint.hdf5 does not exist"]),
        (("info", "none.vtkhdf"), ["none.vtkhdf does not exist"]),
    ],
)
def test_bad_input_is_refused_in_words(granum, tmp_path, arguments, words):
    refused(granum(*arguments), *words)
    assert not list(tmp_path.glob("*.vtkhdf"))


@pytest.mark.skipif(not os.path.isdir("/proc/1"), reason="needs a folder that cannot be written")
def test_output_that_cannot_be_written(granum):
    refused(granum(*small("-o", "/proc/x.vtkhdf")), "/proc/x.vtkhdf")


def test_foreign_files_are_not_overwritten(granum, tmp_path):
    (tmp_path / "column.vtkhdf").write_text("my thesis")
    refused(granum(*small()), "column.vtkhdf exists and would be lost")
    assert (tmp_path / "column.vtkhdf").read_text() == "my thesis"
    (tmp_path / "column.vtkhdf").unlink()
    (tmp_path / "column.png").write_bytes(b"my photo")
    refused(granum("run", "column", "--duration", "0.01"), "column.png exists", "--no-picture")
    assert granum(*small()).exit_code == 0
    assert "replacing the recording column.vtkhdf" in granum(*small("--overwrite")).stderr
    (tmp_path / "column.checkpoint.hdf5").write_text("notes")
    refused(granum(*small("--overwrite")), "column.checkpoint.hdf5 exists")


def test_a_second_run_keeps_the_recording_of_the_first(granum, tmp_path):
    granum(*small())
    first = (tmp_path / "column.vtkhdf").read_bytes()
    for name in ("column-2.vtkhdf", "column-3.vtkhdf"):
        again = granum(*small("--json"))
        assert again.exit_code == 0
        assert f"this run writes {name}" in again.stderr
        assert json.loads(again.stdout)["recording"] == name
        assert (tmp_path / name).exists()
    assert (tmp_path / "column.vtkhdf").read_bytes() == first


def test_bad_restart_files(granum, tmp_path):
    granum(*small())
    checkpoint = checkpoint_path(tmp_path / "column.vtkhdf")
    whole = checkpoint.read_bytes()
    checkpoint.write_bytes(whole[: len(whole) // 2])
    refused(granum("restart", "column.vtkhdf"), "column.checkpoint.hdf5", "damaged or cut short")
    checkpoint.write_text("not HDF5 at all")
    refused(granum("restart", "column.vtkhdf"), "is not a checkpoint of granum")
    with h5py.File(checkpoint, "w") as file:
        file["x"] = 1
    refused(granum("restart", "column.checkpoint.hdf5"), "is not a checkpoint of granum", "another program wrote it")
    checkpoint.write_bytes(whole)
    with h5py.File(checkpoint, "a") as file:
        file.attrs["version"] = 999
    refused(granum("restart", "column.vtkhdf"), "version 999", "Update granum")
    checkpoint.unlink()
    refused(granum("restart", "column.vtkhdf"), "there is no checkpoint column.checkpoint.hdf5")
    recording = tmp_path / "column.vtkhdf"
    recording.write_bytes(recording.read_bytes()[:3000])
    refused(granum("info", "column.vtkhdf"), "damaged or cut short")


def test_checkpoint_of_another_run_is_refused(granum, tmp_path):
    granum(*small())
    old = (tmp_path / "column.checkpoint.hdf5").read_bytes()
    granum(*small("--overwrite"))
    (tmp_path / "column.checkpoint.hdf5").write_bytes(old)
    refused(granum("restart", "column.vtkhdf"), "belongs to another run")


@pytest.mark.slow
def test_full_disk_says_where_to_go_on(tmp_path):
    """A recording that cannot grow stops the run with 1; frames so far and a checkpoint are there."""
    resource = pytest.importorskip("resource")
    command = [sys.executable, "-m", "granum", "run", "box", "--set", "count=30", "--duration", "2", "--no-picture", "--every", "0.005"]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000)),
        env={**os.environ, "COLUMNS": "400"},
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "cannot be continued" in done.stderr
    assert "granum restart box.vtkhdf" in done.stderr
    with Recording(tmp_path / "box.vtkhdf") as recording:
        assert len(recording) > 10
    assert (tmp_path / "box.checkpoint.hdf5").exists()


def test_run_error_names_the_checkpoint(granum):
    """A guard stops the run with 1; the checkpoint is from before."""
    result = granum(*small("--set", "run.guards.overlap=1e-9", "--duration", "1"))
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "overlaps by" in result.stderr
    assert "Last checkpoint: column.checkpoint.hdf5" in result.stderr


def test_guards_that_warn_say_so_in_a_line(granum):
    result = granum(*small("--set", "run.guards.overlap=1e-9", "--set", "run.guards.on_overlap=warn", "--json"))
    assert result.exit_code == 0
    assert json.loads(result.stdout)["complete"] is True
    assert [line for line in result.stderr.splitlines() if line.startswith("warning: t = ")]


def test_help_does_not_import_the_compiler():
    """``granum --help`` must answer at once."""
    code = (
        "import sys\nsys.argv = ['granum', 'run', '--help']\nfrom granum.cli import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code\n"
        "slow = {'numba', 'numpy', 'scipy', 'h5py', 'matplotlib'} & set(sys.modules)\nassert not slow, slow"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, timeout=60)


@pytest.mark.parametrize("encoding", ["ascii", "cp1250"])
def test_signs_that_an_encoding_lacks_are_question_marks(encoding, monkeypatch):
    """As on terminals of Windows; a table is not lost for one sign."""
    from granum.cli.console import guarded

    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding=encoding))
    with pytest.raises(SystemExit) as ended:
        guarded(lambda: print("d = 5 \u03bcm"))
    assert ended.value.code == 0
    assert written.getvalue().decode(encoding).strip() == "d = 5 ?m"
