"""The recording of a run: what is written is read back, by granum, by h5py and by VTK, whatever happens to the writer."""

from __future__ import annotations

import io
import json
import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import h5py
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from granum.checks import InputError
from granum.io import Recording, RecordingWriter, consistency, layout
from granum.io.storage import Storage

SCALARS = ["kinetic_energy", "contacts", "residual"]
PACKED = Storage(compress=True)
SOURCE = Path(__file__).parents[2] / "src"


def frame(k: int, count: int, contact_count: int | None = None) -> dict:
    """A frame whose every number tells that it belongs to frame ``k``."""
    c = 2 * count if contact_count is None else contact_count
    return {
        "step": 10 * k,
        "time": 0.1 * k,
        "grains": {
            "position": np.full((count, 3), float(k)),
            "orientation": np.tile([1.0, 0.0, 0.0, k], (count, 1)),
            "velocity": np.full((count, 3), k + 0.5),
            "spin": np.full((count, 3), -float(k)),
            "radius": np.full(count, k + 1.0),
            "id": 1000 * k + np.arange(count),
            "material": np.full(count, k),
        },
        "contacts": {
            "a": np.full(c, k),
            "b": np.full(c, -1 - k),
            "feature": np.full(c, k),
            "point": np.full((c, 3), float(k)),
            "normal": np.tile([0.0, 0.0, 1.0], (c, 1)),
            "overlap": np.full(c, k / 7),
            "force": np.full((c, 3), 2.0 * k),
            "normal_force": np.full(c, 2.0 * k),
            "status": np.full(c, k % 100),
        },
        "walls": {
            "position": np.full((2, 3), float(k)),
            "orientation": np.tile([1.0, k, 0.0, 0.0], (2, 1)),
            "velocity": np.full((2, 3), k + 0.25),
            "spin": np.full((2, 3), -float(k)),
        },
        "scalars": {"kinetic_energy": k / 3, "contacts": c, "residual": 1e-4},
    }


def expect_frames(path: Path, numbers: list[int]) -> None:
    """Every frame of the recording is whole, and they are these."""
    with Recording(path) as recording:
        assert recording.steps.tolist() == [10 * k for k in numbers]
        assert_array_equal(recording.times, 0.1 * np.array(numbers, float))
        assert_array_equal(recording.scalars["kinetic_energy"], np.array(numbers, float) / 3)
        for i, k in enumerate(numbers):
            got = recording.frame(i)
            expected = frame(k, len(got.position), len(got.contacts))
            for name, values in expected["grains"].items():
                assert_array_equal(getattr(got, name), values)
            for name, values in expected["contacts"].items():
                assert_array_equal(getattr(got.contacts, name), values)
            for name, values in expected["walls"].items():
                assert_array_equal(getattr(got.walls, name), values)
            assert recording.scalars["contacts"][i] == len(got.contacts)


def write(path: Path, counts: list[int], **options) -> None:
    with RecordingWriter(path, {"scene": "test"}, SCALARS, expected_points=20, **options) as writer:
        for k, count in enumerate(counts):
            writer.append(**frame(k, count))


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "run.h5"


# What is written is read back. ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("storage", [Storage(), PACKED], ids=["plain", "compressed"])
def test_frames_of_changing_size_come_back(path, storage):
    counts = [3, 0, 20, 5, 400, 130]
    write(path, counts, storage=storage)
    expect_frames(path, list(range(6)))
    with Recording(path) as recording:
        assert len(recording) == recording.frame_count == 6
        assert [len(recording.frame(i).id) for i in range(6)] == counts
        assert recording.frame(-1).step == 50
        assert recording.frame(2).position.dtype == np.float64
        assert recording.frame(2).contacts.status.dtype == np.int8
        with pytest.raises(InputError, match=r"frame 6 does not exist: .* holds 6 frames \(0 to 5\)"):
            recording.frame(6)


def test_what_was_not_asked_for_is_missed_in_words(path):
    """Single precision: numbers come back as doubles that differ by its rounding, 6e-8 of them at most."""
    storage = Storage(record=("position", "velocity"), precision="single", compress=True)
    content = frame(3, 50)
    content["grains"]["velocity"] = np.random.default_rng(4).standard_normal((50, 3))
    with RecordingWriter(path, {}, SCALARS, storage=storage) as writer:
        writer.append(**content)
        assert not writer.has_contacts
    with Recording(path) as recording:
        got = recording.frame(0)
        assert recording.recorded == ("velocity",)
        assert got.velocity.dtype == got.radius.dtype == np.float64
        assert_allclose(got.velocity, content["grains"]["velocity"], rtol=2.0**-24)
        assert_array_equal(got.id, content["grains"]["id"])
        for use in (lambda: got.spin[0], lambda: 2 * got.spin, lambda: np.asarray(got.orientation), lambda: len(got.contacts)):
            with pytest.raises(InputError, match=r"holds no (spin|orientation|contacts): .* --record"):
                use()
        assert "not recorded" in repr(got.spin)
    with h5py.File(path) as file:
        assert file["VTKHDF/Points"].dtype == file["VTKHDF/PointData/diameter"].dtype == np.float32
        assert "spin" not in file["VTKHDF/PointData"]


def test_files_of_version_1_are_read_and_continued(path):
    """They have no diameter, and nothing that says what was recorded: all was."""
    write(path, [3, 5, 4])
    with h5py.File(path, "r+") as file:
        file["granum"].attrs["version"] = 1
        del file["granum"].attrs["record"], file["VTKHDF/PointData/diameter"], file["VTKHDF/Steps/PointDataOffsets/diameter"]
    expect_frames(path, [0, 1, 2])
    with RecordingWriter.resume(path, keep_until=0.1) as writer:
        writer.append(**frame(7, 6))
    expect_frames(path, [0, 1, 7])


def test_frames_beyond_the_first_chunk_of_every_table_come_back(path):
    """Of more than 255 frames none knew its contacts: an index that had changed was overwritten by the old one, together with headers."""
    write(path, [1] * 260)
    expect_frames(path, list(range(260)))


def test_values_are_bit_equal(path):
    rng = np.random.default_rng(3)
    content = frame(0, 50)
    for name in ("position", "velocity", "spin", "orientation", "radius"):
        content["grains"][name] = rng.standard_normal(content["grains"][name].shape)
    content["scalars"]["residual"] = float("nan")
    with RecordingWriter(path, {}, SCALARS) as writer:
        writer.append(**content)
    with Recording(path) as recording:
        got = recording.frame(0)
        for name in ("position", "velocity", "spin", "orientation", "radius"):
            assert getattr(got, name).tobytes() == content["grains"][name].tobytes()
        assert np.isnan(recording.scalars["residual"][0])


def test_description_of_many_megabytes_and_summary(path):
    description = {"scene": {"name": "Löß", "radii": np.linspace(0, 1, 200_000)}, "seed": 2**100, "command": ["granum", "run"]}
    with RecordingWriter(path, description, SCALARS) as writer:
        with Recording(path) as recording:
            assert recording.summary is None
            assert recording.frame_count == 0
        writer.set_summary({"steps": 10**6, "reason": "a long first version"})
        writer.set_summary({"steps": 3})
    with Recording(path) as recording:
        assert recording.description["scene"]["radii"][-1] == 1.0
        assert recording.description["scene"]["name"] == "Löß"
        assert recording.description["seed"] == 2**100
        assert recording.summary == {"steps": 3}


def test_the_file_explains_itself(path):
    write(path, [4, 4])
    with h5py.File(path) as file:
        attributes = file["granum"].attrs
        assert attributes["format"] == "granum-recording"
        assert attributes["version"] == layout.RECORDING_VERSION
        assert attributes["created_by"] == layout.CREATED_BY
        assert json.loads(file["granum/description"].asstr()[()]) == {"scene": "test"}
        assert file["VTKHDF/Points"].attrs["unit"] == "m"
        assert file["VTKHDF/PointData/velocity"].attrs["unit"] == "m/s"
        assert file["granum/contacts/force"].attrs["unit"] == "N"
        assert file["granum/scalars/kinetic_energy"].attrs["unit"] == "J"
        assert file["granum/frames/time"].attrs["unit"] == "s"
        assert_array_equal(file["granum/contacts/first"], [0, 8, 16])


def test_small_runs_make_small_files(path):
    write(path, [20] * 100)
    numbers = 100 * (20 * 128 + 40 * 109 + 2 * 104)  # [bytes] of 20 grains, 40 contacts and 2 wall bodies in 100 frames
    assert path.stat().st_size < 1.2 * numbers < 1_000_000


def test_wrong_shapes_and_scalars_are_refused_and_leave_no_trace(path):
    with RecordingWriter(path, {}, SCALARS) as writer:
        writer.append(**frame(0, 5))
        with pytest.raises(ValueError, match=r"radius of a frame must have the shape \(5,\) \(got \(4,\)\)"):
            writer.append(**frame(1, 5) | {"grains": frame(1, 5)["grains"] | {"radius": np.ones(4)}})
        with pytest.raises(ValueError, match="every frame needs the scalars"):
            writer.append(**frame(1, 5) | {"scalars": {"contacts": 1}})
        writer.append(**frame(1, 5))
    expect_frames(path, [0, 1])


# ParaView's reader. --------------------------------------------------------------------------------------------------------


def vtk_frames(path: Path) -> list[tuple[float | None, dict[str, np.ndarray]]]:
    """Time and point arrays of every step, as vtkHDFReader gives them (a single frame has no time for VTK)."""
    reader_module = pytest.importorskip("vtkmodules.vtkIOHDF")
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline

    reader = reader_module.vtkHDFReader()
    reader.SetFileName(str(path))
    reader.UpdateInformation()
    frames = []
    for time_value in reader.GetOutputInformation(0).Get(vtkStreamingDemandDrivenPipeline.TIME_STEPS()) or (None,):
        if time_value is None:
            reader.Update()
        else:
            reader.UpdateTimeStep(time_value)
        output = reader.GetOutput()
        count = output.GetNumberOfPoints()
        assert output.GetNumberOfVerts() == output.GetNumberOfCells() == count
        arrays = {"position": vtk_to_numpy(output.GetPoints().GetData()).copy() if count else np.zeros((0, 3))}
        vertices = vtk_to_numpy(output.GetVerts().GetConnectivityArray()).copy() if count else np.zeros(0)
        assert_array_equal(vertices, np.arange(count))
        for name in [column.name for column in layout.POINT_DATA] if count else []:
            arrays[name] = vtk_to_numpy(output.GetPointData().GetArray(name)).copy()
        frames.append((time_value, arrays))
    return frames


@pytest.mark.parametrize("counts", [[3, 0, 20, 5, 400], [0, 0, 7, 7], [20, 5, 1, 0, 0, 9], [4, 4]])
@pytest.mark.parametrize("storage", [Storage(), PACKED], ids=["plain", "compressed"])
def test_vtk_reads_times_points_and_data(path, counts, storage):
    write(path, counts, storage=storage)
    frames = vtk_frames(path)
    assert [t for t, _ in frames] == [0.1 * k for k in range(len(counts))]
    for k, (_, arrays) in enumerate(frames):
        assert len(arrays["position"]) == counts[k]
        if counts[k]:
            expected = frame(k, counts[k])["grains"]
            expected["diameter"] = 2 * expected["radius"]
            for name, values in arrays.items():
                assert_array_equal(values, expected[name])


def test_vtk_and_h5py_read_while_the_writer_is_alive(path):
    with RecordingWriter(path, {}, SCALARS) as writer:
        for k in range(3):
            writer.append(**frame(k, 5 + k))
            assert [len(arrays["id"]) for _, arrays in vtk_frames(path)] == [5 + i for i in range(k + 1)]
            with h5py.File(path) as file:
                assert file["VTKHDF/Steps"].attrs["NSteps"] == k + 1
                assert file["VTKHDF/Points"].shape == (sum(5 + i for i in range(k + 1)), 3)


# Continuing. ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kept", [0, 1, 3, 6])
@pytest.mark.parametrize("storage", [Storage(), PACKED], ids=["plain", "compressed"])
def test_resume_drops_later_frames_and_goes_on(path, kept, storage):
    write(path, [20, 0, 300, 5, 40, 7], storage=storage)
    with RecordingWriter.resume(path, keep_until=0.1 * (kept - 1)) as writer:
        assert writer.frame_count == kept
        expect_frames(path, list(range(kept)))
        for k in (20, 21, 22):
            writer.append(**frame(k, 600))
    expect_frames(path, [*range(kept), 20, 21, 22])
    assert [round(10 * t) for t, _ in vtk_frames(path)] == [*range(kept), 20, 21, 22]


def test_resume_takes_back_the_summary_and_leaves_no_rows_behind(path):
    with RecordingWriter(path, {"seed": 1}, SCALARS) as writer:
        for k in range(4):
            writer.append(**frame(k, 5))
        writer.set_summary({"end": True})
    RecordingWriter.resume(path, keep_until=0.1).close()
    with Recording(path) as recording:
        assert recording.summary is None
        assert recording.description == {"seed": 1}
        assert recording.frame_count == 2
    with h5py.File(path) as file:
        assert len(file["VTKHDF/Points"]) == len(file["VTKHDF/PointData/id"]) == 10
        assert len(file["VTKHDF/Steps/Values"]) == len(file["granum/scalars/residual"]) == 2
        assert len(file["granum/contacts/force"]) == 20
        assert len(file["granum/walls/position"]) == 4


def test_resume_tolerates_rounding_of_the_time(path):
    write(path, [5, 5, 5])
    with RecordingWriter.resume(path, keep_until=np.nextafter(0.1, 0)) as writer:
        assert writer.frame_count == 2


# Refusals. -----------------------------------------------------------------------------------------------------------------


def test_a_folder_that_is_missing_or_protected_is_refused_in_words(tmp_path):
    with pytest.raises(InputError, match=r"recording .*run.h5 cannot be written \(No such file or directory\)"):
        RecordingWriter(tmp_path / "nowhere" / "run.h5", {}, SCALARS)
    with pytest.raises(InputError, match="cannot be written"):
        RecordingWriter(tmp_path, {}, SCALARS)
    with pytest.raises(InputError, match="letters, digits and _"):
        RecordingWriter(tmp_path / "run.h5", {}, ["kinetic energy"])
    assert list(tmp_path.iterdir()) == []


def test_files_that_are_no_recordings_are_refused_in_words(tmp_path, path):
    with pytest.raises(InputError, match="does not exist"):
        Recording(path)
    with pytest.raises(InputError, match="is not a file"):
        Recording(tmp_path)
    path.write_text("time, kinetic energy\n")
    with pytest.raises(InputError, match="not an HDF5 file"):
        Recording(path)
    path.write_bytes(b"")
    with pytest.raises(InputError, match="not an HDF5 file"):
        Recording(path)
    with h5py.File(path, "w") as file:
        file["x"] = 1.0
    with pytest.raises(InputError, match="another program wrote it"):
        Recording(path)


def test_a_newer_version_and_another_format_are_refused_in_words(path):
    write(path, [5])
    with h5py.File(path, "r+") as file:
        file["granum"].attrs["version"] = 99
    with pytest.raises(InputError, match=r"format version 99.*reads versions up to 2\. Update granum"):
        Recording(path)
    with h5py.File(path, "r+") as file:
        file["granum"].attrs["format"] = "granum-checkpoint"
    with pytest.raises(InputError, match="it is a granum-checkpoint"):
        Recording(path)


def test_a_file_that_another_program_changes_is_refused_in_words(path):
    write(path, [5])
    script = "import h5py, sys; file = h5py.File(sys.argv[1], 'r+'); print('ready', flush=True); sys.stdin.read()"
    process = subprocess.Popen([sys.executable, "-c", script, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    with pytest.raises(InputError, match="is open for writing in another program"):
        Recording(path)
    process.communicate("")
    expect_frames(path, [0])


def test_a_file_cut_short_is_refused_in_words(path):
    write(path, [50] * 10)
    whole = path.read_bytes()
    for size in (100, 5000, len(whole) // 2):
        path.write_bytes(whole[:size])
        with pytest.raises(InputError, match=r"damaged or cut short .* Copy it again"):
            Recording(path)


def test_a_closed_recording_says_so(path):
    write(path, [5])
    with Recording(path) as recording:
        pass
    with pytest.raises(InputError, match="has been closed"):
        recording.frame(0)
    with RecordingWriter(path, {}, SCALARS) as writer:
        pass
    with pytest.raises(ValueError, match="is closed"):
        writer.append(**frame(0, 5))


# Killed writers. -----------------------------------------------------------------------------------------------------------

ENDLESS_WRITER = """
    import itertools, sys
    sys.path[:0] = sys.argv[2:]
    from test_recording import SCALARS, frame
    from granum.io import RecordingWriter
    writer = RecordingWriter(sys.argv[1], {"scene": "test"}, SCALARS, expected_points=20)
    print("ready", flush=True)
    for k in itertools.count():
        writer.append(**frame(k, (5, 20, 0, 700)[k % 4]))
"""


def start(script: str, *arguments: object) -> subprocess.Popen:
    command = [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments), str(SOURCE), str(Path(__file__).parent)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_a_killed_run_leaves_all_complete_frames(path):
    """SIGKILL at random moments; after each the file opens for everybody, and the same file is continued."""
    moments = random.Random(1)
    for _ in range(6):
        process = start(ENDLESS_WRITER, path)
        assert process.stdout.readline() == "ready\n"
        time.sleep(moments.uniform(0.0, 0.1))
        process.kill()
        process.wait()
        process.stdout.close()
        with h5py.File(path) as file:
            complete = int(file["VTKHDF/Steps"].attrs["NSteps"])
        expect_frames(path, list(range(complete)))
        assert complete == 0 or len(vtk_frames(path)) == complete
        with RecordingWriter.resume(path, keep_until=np.inf) as writer:
            writer.append(**frame(complete, 30))
        expect_frames(path, list(range(complete + 1)))


class LoggedFile(io.FileIO):
    """A file that notes every change made to it."""

    log: list[tuple[int, bytes | None]]

    def write(self, data):
        self.log.append((self.tell(), bytes(data)))
        return super().write(data)

    def truncate(self, size=None):
        self.log.append((size, None))
        return super().truncate(size)


@pytest.mark.parametrize("storage", [Storage(), PACKED], ids=["plain", "compressed"])
def test_every_instant_between_two_writes_is_readable(path, tmp_path, monkeypatch, storage):
    """All changes a writer makes to its file are made again one by one, cut at the system's pages: none may spoil it.

    This is what a kill can leave, since the system completes a write within one page.
    """
    with RecordingWriter(path, {"scene": "test"}, SCALARS, expected_points=20, storage=storage) as writer:
        copy = bytearray(path.read_bytes())
    monkeypatch.setattr(consistency.io, "FileIO", LoggedFile)
    log = LoggedFile.log = []
    ends = []  # number of changes after which each frame is complete
    counts = [0, 5, 130, 600, 20, 20]
    with RecordingWriter.resume(path, keep_until=np.inf) as writer:
        for k, count in enumerate(counts):
            writer.append(**frame(k, count))
            ends.append(len(log))
        writer.set_summary({"end": 1})
    first_drop = len(log)
    with RecordingWriter.resume(path, keep_until=0.25) as writer:
        writer.append(**frame(3, 40))
    monkeypatch.undo()

    victim, chosen = tmp_path / "victim.h5", random.Random(2)
    for i, (start_of, data) in enumerate(log):
        if data is None:
            del copy[start_of:]
            copy.extend(bytes(start_of - len(copy)))
        else:
            cuts = [0, *range(-start_of % 4096 or 4096, len(data), 4096), len(data)]
            half = chosen.choice(cuts)
            copy.extend(bytes(max(start_of + half - len(copy), 0)))
            copy[start_of : start_of + half] = data[:half]
        if chosen.random() < 0.08:
            complete = sum(end <= i for end in ends) if i < first_drop else 3
            victim.write_bytes(copy)
            with h5py.File(victim) as file:
                found = int(file["VTKHDF/Steps"].attrs["NSteps"])
                # Else VTK's reader overruns its memory, or takes frames for parts.
                assert len(file["VTKHDF/Steps/Values"]) == len(file["VTKHDF/NumberOfPoints"]) == found
            assert found >= complete
            expect_frames(victim, list(range(found)))
            with RecordingWriter.resume(victim, keep_until=np.inf) as writer:
                writer.append(**frame(found, 30))
            expect_frames(victim, list(range(found + 1)))
        if data is not None:
            copy.extend(bytes(max(start_of + len(data) - len(copy), 0)))
            copy[start_of : start_of + len(data)] = data
    assert len(log) > 300
    assert bytes(copy) == path.read_bytes()


def test_a_recording_that_is_being_written_is_not_resumed_or_replaced(path):
    process = start(ENDLESS_WRITER, path)
    try:
        assert process.stdout.readline() == "ready\n"
        with pytest.raises(InputError, match="is being written by another process"):
            RecordingWriter.resume(path, keep_until=np.inf)
        with pytest.raises(InputError, match="is being written by another process"):
            RecordingWriter(path, {}, SCALARS)
        for _ in range(5):  # and the reader follows
            with Recording(path) as recording:
                for i in range(recording.frame_count):
                    assert recording.frame(i).step == 10 * i
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_a_writer_that_is_never_closed_ends_quietly(path):
    script = """
        import sys
        sys.path[:0] = sys.argv[2:]
        from test_recording import SCALARS, frame
        from granum.io import RecordingWriter
        writer = RecordingWriter(sys.argv[1], {}, SCALARS)
        writer.append(**frame(0, 5))
    """
    assert start(script, path).wait() == 0
    expect_frames(path, [0])


# Full disks. ---------------------------------------------------------------------------------------------------------------


def test_a_full_disk_stops_the_run_in_words_and_loses_nothing(path):
    pytest.importorskip("resource")
    script = """
        import itertools, resource, signal, sys
        sys.path[:0] = sys.argv[2:]
        from test_recording import SCALARS, frame
        from granum.checks import RunError
        from granum.io import RecordingWriter
        writer = RecordingWriter(sys.argv[1], {}, SCALARS, expected_points=200)
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
        try:
            for k in itertools.count():
                writer.append(**frame(k, 200))
        except RunError as error:
            print(k, error)
        try:
            writer.append(**frame(k, 200))
        except RunError as error:
            print("again:", error)
        writer.close()
    """
    process = start(script, path)
    output = process.communicate()[0]
    assert process.returncode == 0
    complete = int(output.split()[0])
    assert complete > 5
    assert f"run.h5 cannot be continued (File too large). Its {complete} frames so far are saved and readable." in output
    assert "again: recording" in output
    assert path.stat().st_size <= 1_000_000
    expect_frames(path, list(range(complete)))
    with RecordingWriter.resume(path, keep_until=np.inf) as writer:  # there is room again
        writer.append(**frame(complete, 200))
    expect_frames(path, list(range(complete + 1)))


def test_no_room_for_a_new_file_leaves_the_old_one(path):
    write(path, [5])
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(InputError, match=r"cannot be written .* has room"):
            RecordingWriter(path, {}, SCALARS)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)
    assert os.listdir(path.parent) == [path.name]
    expect_frames(path, [0])
