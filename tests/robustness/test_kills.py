"""A run that is killed at any of its writes leaves files that everybody can read, and a restart gives what an undisturbed run gives.

The n-th system call that changes a file (write, rename, link, truncate) is the last one of the process, or a half of it is. Afterwards
frames are a prefix of those of the undisturbed run, bit by bit, VTK reads them, and the restarted run has all frames.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

from granum.io import Recording
from tests.command_line import granum
from tests.robustness.files import run_column
from tests.unit.test_recording import vtk_frames

ROOT = Path(__file__).parents[2]

KILLED = """
import io, os, sys
from pathlib import Path
from tests.robustness.files import run_column

left = int(sys.argv[2])

def dies(before):
    # The last change that this process makes.
    global left
    left -= 1
    if left == 0:
        before()
        os.kill(os.getpid(), 9)

class File(io.FileIO):
    def write(self, data):
        dies(lambda: super(File, self).write(bytes(data)[: len(data) // 2 // 4096 * 4096]))
        return super().write(data)

    def truncate(self, size=None):
        dies(lambda: None)
        return super().truncate(size)

def counted(call):
    def change(*arguments, **options):
        dies(lambda: None)
        return call(*arguments, **options)
    return change

from granum.io import consistency
consistency.io.FileIO = File
os.replace, os.link = counted(os.replace), counted(os.link)
result = run_column(Path(sys.argv[1]), "--checkpoint-every", "0.000001")
print(int(sys.argv[2]) - left)
sys.exit(result.exit_code)
"""


def run_until_change(path: Path, number: int) -> subprocess.CompletedProcess:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT), *sys.path])}
    return subprocess.run([sys.executable, "-c", KILLED, str(path), str(number)], capture_output=True, text=True, env=environment)


def frames_of(path: Path) -> list[bytes]:
    """All numbers of each frame but times of the clock."""
    found = []
    with Recording(path) as recording:
        for i in range(len(recording)):
            frame = recording.frame(i)
            columns = [getattr(frame, name) for name in ("position", "orientation", "velocity", "spin", "radius", "id", "material")]
            columns += [getattr(frame.contacts, name) for name in ("a", "b", "normal", "overlap", "force", "status")]
            columns += [recording.scalars[name][i : i + 1] for name in recording.scalars if not name.endswith("_seconds")]
            found.append(b"".join(np.ascontiguousarray(column).tobytes() for column in columns))
    return found


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> tuple[list[bytes], int]:
    """Frames, and the number of changes that the run makes."""
    path = tmp_path_factory.mktemp("undisturbed") / "run.h5"
    result = run_until_change(path, 10**9)
    assert result.returncode == 0, result.stderr
    return frames_of(path), int(result.stdout.split()[-1])


def kill_and_restart(folder: Path, number: int, undisturbed: list[bytes]) -> None:
    folder.mkdir()
    path = folder / "run.h5"
    assert run_until_change(path, number).returncode == -9
    left = sorted(os.listdir(folder))
    assert [name for name in left if not name.endswith(".new")] in ([], ["run.h5"], ["run.checkpoint.h5", "run.h5"])
    if not path.exists():
        return
    with h5py.File(path) as file:
        file.visititems(lambda name, item: item[()] if isinstance(item, h5py.Dataset) else None)
    found = frames_of(path)
    assert found == undisturbed[: len(found)]
    assert len(vtk_frames(path)) == len(found) or len(found) < 2
    assert granum("restart", path).exit_code == 0
    assert frames_of(path) == undisturbed


def test_a_run_killed_at_a_write_loses_nothing(undisturbed, tmp_path):
    frames, changes = undisturbed
    assert changes > 100
    for number in random.Random(3).sample(range(1, changes + 1), 2):
        kill_and_restart(tmp_path / str(number), number, frames)


@pytest.mark.slow
def test_a_run_killed_at_any_of_many_writes_loses_nothing(undisturbed, tmp_path):
    frames, changes = undisturbed
    for number in random.Random(4).sample(range(1, changes + 1), 60):
        kill_and_restart(tmp_path / str(number), number, frames)


def test_a_run_that_nobody_kills_leaves_two_files(tmp_path):
    assert run_column(tmp_path / "run.h5").exit_code == 0
    assert sorted(os.listdir(tmp_path)) == ["run.checkpoint.h5", "run.h5"]
