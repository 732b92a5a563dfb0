"""A run that was killed and restarted ends in the same bits as one that was not."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from granum.checks import InputError
from granum.io import Recording, RecordingWriter, checkpoint_path, read_checkpoint
from tests.command_line import granum

STEPS = 150
PILE = ("run", "pile", "--set", "count=60", "--set", "rate=120", "--duration", "0.75", "--no-picture", "--json", "--every", "0.05")
METHODS = {
    "cold": ("--warm-start", "none", "--no-momentum"),
    "history": ("--warm-start", "history", "--no-momentum"),
    "momentum": ("--warm-start", "history", "--momentum"),
    "model": ("--warm-start", "model", "--momentum", "--iterations", "100"),
}


def finished(*arguments):
    """The summary of a command that ends well, in this process."""
    result = granum(*arguments)
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def start(folder, *arguments):
    """In another process, with a checkpoint at nearly every step."""
    command = [sys.executable, "-m", "granum", *arguments, "--checkpoint-every", "0.001", "-o", "cut.h5"]
    environment = {**os.environ, "COLUMNS": "400"}
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def wait_for_step(process, recording, step):
    """Until the checkpoint of ``recording`` has come to ``step``."""
    end = time.monotonic() + 300
    while time.monotonic() < end and process.poll() is None:
        try:
            if read_checkpoint(checkpoint_path(recording))["simulation"]["step_count"] >= step:
                return
        except InputError:  # not there yet
            pass
        time.sleep(0.02)
    pytest.fail(f"the run ended before step {step}: {process.communicate()}")


def frames(path):
    """What an uninterrupted run and a restarted one must share: all but the clock."""
    with Recording(path) as recording:
        content = [recording.steps, recording.times]
        for i in range(len(recording)):
            frame = recording.frame(i)
            content += [frame.position, frame.orientation, frame.velocity, frame.spin, frame.contacts.force, frame.contacts.status]
    return content


def assert_same(a, b):
    assert len(a) == len(b)
    for x, y in zip(a, b, strict=True):
        assert np.array_equal(x, y)


@pytest.mark.parametrize("method", ["momentum", pytest.param("model", marks=pytest.mark.slow)])
def test_killed_run_restarts_bit_equal(method, tmp_path):
    """SIGKILL in the middle, while the emitter still works."""
    whole = finished(*PILE, *METHODS[method], "-o", tmp_path / "whole.h5")
    assert whole["steps"] == STEPS
    process = start(tmp_path, *PILE, *METHODS[method])
    cut = tmp_path / "cut.h5"
    wait_for_step(process, cut, 25)
    process.kill()
    process.communicate()

    saved = read_checkpoint(checkpoint_path(cut))["simulation"]
    assert 25 <= saved["step_count"] < STEPS
    left = finished("info", cut, "--json")
    assert left["complete"] is False
    assert 0 < left["grains"] <= 60
    again = finished("restart", cut, "--json")
    assert again["state_hash"] == whole["state_hash"]
    for key in ("steps", "time", "grains", "contacts", "residual", "kinetic_energy", "max_overlap", "results", "complete"):
        assert again[key] == whole[key]
    assert_same(frames(cut), frames(tmp_path / "whole.h5"))


def test_interrupted_run_says_how_to_continue(tmp_path):
    """Ctrl-C finishes the step, writes a checkpoint and leaves with 130; the checkpoint file can be given as well."""
    whole = finished(*PILE, "-o", tmp_path / "whole.h5")
    process = start(tmp_path, *PILE)
    wait_for_step(process, tmp_path / "cut.h5", 20)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    assert "continue with: granum restart cut.h5" in err
    assert "Traceback" not in err
    with Recording(tmp_path / "cut.h5") as recording:
        stopped = int(recording.steps[-1])
    assert read_checkpoint(tmp_path / "cut.checkpoint.h5")["simulation"]["step_count"] == stopped < STEPS
    again = finished("restart", tmp_path / "cut.checkpoint.h5", "--json")
    assert again["state_hash"] == whole["state_hash"]
    assert_same(frames(tmp_path / "cut.h5"), frames(tmp_path / "whole.h5"))


@pytest.mark.parametrize("method", METHODS)
def test_longer_run_is_the_same_as_one_long_run(method, tmp_path):
    """Through the files, while the emitter still works."""
    scene = (*PILE, *METHODS[method], "--every", "0.04")
    short = finished(*scene, "--duration", "0.3", "-o", tmp_path / "short.h5")
    assert 20 < short["grains"] < 60
    longer = finished("restart", tmp_path / "short.h5", "--duration", "0.3", "--json")
    once = finished(*scene, "--duration", "0.6", "-o", tmp_path / "long.h5")
    assert longer["state_hash"] == once["state_hash"]
    assert longer["steps"] == once["steps"] == 120
    assert_same(frames(tmp_path / "short.h5"), frames(tmp_path / "long.h5"))


def test_lost_recording_begins_at_the_checkpoint(tmp_path):
    scene = ("run", "box", "--set", "count=10", "--no-picture", "--json", "--time-step", "0.005")
    finished(*scene, "--duration", "0.1", "-o", tmp_path / "box.h5")
    (tmp_path / "box.h5").unlink()
    again = finished("restart", tmp_path / "box.h5", "--duration", "0.05", "--json")
    assert again["steps"] == 30
    with Recording(tmp_path / "box.h5") as recording:
        assert recording.times[0] == pytest.approx(0.1)


def test_run_killed_before_its_first_checkpoint_starts_again(tmp_path):
    scene = ("run", "box", "--set", "count=10", "--no-picture", "--json", "--duration", "0.05", "--every", "1", "-o", tmp_path / "box.h5")
    whole = finished(*scene)
    RecordingWriter.resume(tmp_path / "box.h5", keep_until=0.0).close()  # as if only its first frame had been written
    checkpoint_path(tmp_path / "box.h5").unlink()
    assert finished("restart", tmp_path / "box.h5", "--json")["state_hash"] == whole["state_hash"]
