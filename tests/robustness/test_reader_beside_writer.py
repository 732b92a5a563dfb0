"""A recording that is being written never contradicts itself: VTK's reader, h5py and granum read it at any moment without an error.

The writer adds up to 30 frames a second, fewer while readers leave it no gap; they open the file in a loop, each in a process of its own
that dies alone if its memory is spoilt, and compare all numbers of the frames that they look at. Each tells which frame it belongs to.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import h5py
import pytest
from numpy.testing import assert_array_equal

from granum.io import Recording, RecordingWriter, readers
from tests.unit.test_recording import SCALARS, expect_frames, frame

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="readers are seen by leases and watches of Linux")

ROOT = Path(__file__).parents[2]

WRITER = """
    import itertools, sys, time
    from granum.io import RecordingWriter
    from tests.unit.test_recording import SCALARS, frame
    writer = RecordingWriter(sys.argv[1], {"scene": "test"}, SCALARS, expected_points=20)
    writer.append(**frame(0, 5))
    print("ready", flush=True)
    for k in itertools.count(1):
        time.sleep(1 / 30)
        writer.append(**frame(k, (5, 20, 300, 7)[k % 4]))
"""

READERS = """
    import os, sys
    import h5py, numpy as np
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline
    from vtkmodules.vtkIOHDF import vtkHDFReader
    from granum.io import Recording
    from tests.unit.test_recording import frame

    def with_vtk(path):
        reader, told = vtkHDFReader(), []
        reader.AddObserver("ErrorEvent", lambda *_: told.append("error"))
        reader.SetFileName(path)
        reader.UpdateInformation()
        times = reader.GetOutputInformation(0).Get(vtkStreamingDemandDrivenPipeline.TIME_STEPS()) or (0.0,)
        assert np.allclose(times, 0.1 * np.arange(len(times)))
        for k in {0, len(times) // 2, max(len(times) - 2, 0), len(times) - 1}:
            reader.UpdateTimeStep(times[k])
            output = reader.GetOutput()
            expected = frame(k, (5, 20, 300, 7)[k % 4] if k else 5)["grains"]
            assert np.array_equal(vtk_to_numpy(output.GetPoints().GetData()), expected["position"])
            for name in ("velocity", "radius", "id", "orientation"):
                assert np.array_equal(vtk_to_numpy(output.GetPointData().GetArray(name)), expected[name])
        assert not told

    def with_h5py(path):
        with h5py.File(path) as file:
            frames = int(file["VTKHDF/Steps"].attrs["NSteps"])
            file.visititems(lambda name, item: item[()] if isinstance(item, h5py.Dataset) else None)
            assert len(file["VTKHDF/Steps/Values"]) == len(file["VTKHDF/NumberOfPoints"]) == frames

    def with_granum(path):
        with Recording(path) as recording:
            for i in {0, len(recording) - 1}:
                assert recording.frame(i).step == 10 * i
                assert (recording.frame(i).contacts.a == i).all()

    failed, sizes = 0, set()
    for number in range(int(sys.argv[2])):
        child = os.fork()
        if not child:
            status = 1
            try:
                (with_vtk, with_vtk, with_vtk, with_h5py, with_granum)[number % 5](sys.argv[1])
                status = 0
            finally:
                os._exit(status)
        failed += os.waitpid(child, 0)[1] != 0
        sizes.add(os.stat(sys.argv[1]).st_size)
    print(failed, len(sizes))
"""


def start(script: str, *arguments: object) -> subprocess.Popen:
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT), *sys.path])
    command = [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": path})


def failures_beside_a_writer(path: Path, reads: int) -> int:
    """Of that many reads; the file has grown meanwhile."""
    writer = start(WRITER, path)
    try:
        assert writer.stdout.readline() == "ready\n"
        failed, sizes = map(int, start(READERS, path, reads).communicate()[0].split())
        assert writer.poll() is None
    finally:
        writer.kill()
        writer.communicate()
    assert sizes > reads / 100
    with Recording(path) as recording:
        expect_frames(path, list(range(len(recording))))
    assert os.listdir(path.parent) == [path.name]
    return failed


def test_readers_beside_a_writer_meet_no_error(tmp_path):
    assert failures_beside_a_writer(tmp_path / "run.h5", 40) == 0


@pytest.mark.slow
def test_a_thousand_reads_beside_a_writer_meet_no_error(tmp_path):
    assert failures_beside_a_writer(tmp_path / "run.h5", 1250) == 0  # three of five are VTK's


def everything(file: h5py.File) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    file.visititems(lambda name, item: found.update({name: item[()].tobytes()}) if isinstance(item, h5py.Dataset) and item.shape else None)
    return found


@pytest.mark.parametrize("way", ["lease", "flock"])
def test_a_file_that_somebody_has_open_does_not_change_under_him(tmp_path, monkeypatch, way):
    """He keeps what he opened; the path has all frames, and the writer goes on in place as soon as nobody reads."""
    path = tmp_path / "run.h5"
    if way == "flock":
        monkeypatch.delattr(readers.fcntl, "F_SETLEASE")
    with RecordingWriter(path, {}, SCALARS) as writer:
        for k in range(3):
            writer.append(**frame(k, 5 + k))
        with h5py.File(path) as open_file:
            before = path.stat().st_ino
            writer.append(**frame(3, 50))
            first = path.stat().st_ino
            writer.append(**frame(4, 60))
            assert first != before
            assert path.stat().st_ino == first  # one copy, not one for each frame
            assert open_file["VTKHDF/Steps"].attrs["NSteps"] == 3
            assert len(open_file["VTKHDF/Steps/Values"]) == 3
            assert_array_equal(open_file["VTKHDF/Points"][-7:], frame(2, 7)["grains"]["position"])
            assert everything(open_file)
        expect_frames(path, list(range(5)))
        writer.append(**frame(5, 9))
        assert path.stat().st_ino == first
    expect_frames(path, list(range(6)))
    assert os.listdir(tmp_path) == ["run.h5"]


def test_a_frame_is_not_announced_to_a_reader_between_two_of_its_questions(tmp_path, monkeypatch):
    """VTK asks for the number of frames, closes the file, and opens it again for their times."""
    path = tmp_path / "run.h5"
    pauses = []
    with RecordingWriter(path, {}, SCALARS) as writer:
        writer.append(**frame(0, 5))
        monkeypatch.setattr(readers, "sleep", lambda pause: pauses.append(path.read_bytes() if len(pauses) < 5 else time.sleep(pause)))
        writer.append(**frame(1, 5))
        assert not pauses  # nobody has looked
        h5py.File(path).close()
        writer.append(**frame(2, 5))
    assert len(pauses) > 5  # it waits as long as somebody comes and goes
    assert all(content == pauses[0] for content in pauses[:5])
    expect_frames(path, [0, 1, 2])


def test_a_copy_keeps_permissions_and_the_lock(tmp_path):
    path = tmp_path / "run.h5"
    with RecordingWriter(path, {}, SCALARS) as writer:
        path.chmod(0o640)
        with h5py.File(path):
            writer.append(**frame(0, 5))
        assert path.stat().st_mode & 0o777 == 0o640
        script = "import sys; from granum.io import RecordingWriter; RecordingWriter.resume(sys.argv[1], 1.0)"
        other = subprocess.run(
            [sys.executable, "-c", script, str(path)], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT / "src")}
        )
        assert "is being written by another process" in other.stderr


def test_no_room_for_a_copy_changes_the_file_in_place(tmp_path, monkeypatch):
    """The run matters more than who watches it."""
    path = tmp_path / "run.h5"
    with RecordingWriter(path, {}, SCALARS) as writer:
        with h5py.File(path):
            before = path.stat().st_ino

            def full(*_):
                raise OSError(28, "No space left on device")

            monkeypatch.setattr("granum.io.consistency.shutil.copyfileobj", full)
            writer.append(**frame(0, 5))
        assert path.stat().st_ino == before
    expect_frames(path, [0])
    assert os.listdir(tmp_path) == ["run.h5"]


def test_whoever_opens_the_file_while_it_changes_waits(tmp_path):
    """The lease of Linux turns nobody away: an open that would have to wait says so if it is not allowed to."""
    path = tmp_path / "file"
    path.write_bytes(b"old")
    script = "import os, sys; os.open(sys.argv[1], os.O_RDONLY | os.O_NONBLOCK)"
    opening = [sys.executable, "-S", "-c", script, str(path)]
    with open(path, "r+b") as file:
        watched = readers.Readers(file.fileno(), tmp_path)
        assert watched.begin(0.0, announced=True)
        assert b"BlockingIOError" in subprocess.run(opening, capture_output=True).stderr
        watched.end()
        assert subprocess.run(opening, capture_output=True).returncode == 0
        watched.close()
