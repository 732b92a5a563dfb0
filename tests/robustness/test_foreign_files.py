"""Files of others are never read, changed or removed by what a file of ours refers to, by its size, or by the names that we choose.

A crafted recording, checkpoint, problem or FCLIB file that keeps numbers in another file, links to one, or claims to hold more than fits
into it is refused in words before any of it is read. Drafts overwrite nothing and follow no link.
"""

from __future__ import annotations

import os
import tempfile
from functools import cache
from pathlib import Path

import h5py
import numpy as np
import pytest
from scipy import sparse

from granum.checks import InputError
from granum.io import Recording, RecordingWriter, draft, read, read_checkpoint, write_checkpoint
from granum.io.fclib import FclibProblem, read_fclib, write_fclib
from granum.io.problem import read_problem
from granum.nonsmooth.local import LocalProblem
from tests.command_line import granum
from tests.robustness.files import files_below, run_column
from tests.unit.test_recording import SCALARS, frame, write

SECRET = b"the user's own words, which are nobody's business"


@pytest.fixture
def secret(tmp_path) -> Path:
    (tmp_path / "own").mkdir()
    path = tmp_path / "own" / "secret.txt"
    path.write_bytes(SECRET)
    return path


# How a file can reach out of itself, or lie about its size: each changes the dataset ``name`` of a file. ---------------------------------


def outside_storage(group: h5py.Group, name: str, secret: Path) -> None:
    del group[name]
    group.create_dataset(name, (len(SECRET),), "u1", maxshape=(None,), external=[(str(secret), 0, h5py.h5f.UNLIMITED)])


def outside_link(group: h5py.Group, name: str, secret: Path) -> None:
    del group[name]
    group[name] = h5py.ExternalLink(str(secret), "/x")


def virtual_layout(group: h5py.Group, name: str, secret: Path) -> None:
    del group[name]
    layout = h5py.VirtualLayout((4,), "f8")
    layout[:] = h5py.VirtualSource(str(secret), "x", (4,))
    group.create_virtual_dataset(name, layout)


def soft_link_out(group: h5py.Group, name: str, secret: Path) -> None:
    del group[name]
    group["way_out"] = h5py.ExternalLink(str(secret), "/")
    group[name] = h5py.SoftLink(f"{group.name}/way_out/x")


def many_rows(group: h5py.Group, name: str, secret: Path) -> None:
    del group[name]
    group.create_dataset(name, (10**12,), "f8", chunks=(100,), maxshape=(None,), fillvalue=0)


def one_block(group: h5py.Group, name: str, secret: Path) -> None:
    del group[name]
    group.create_dataset(name, (10**12,), "f8", fillvalue=1.0)


def packed_rows(group: h5py.Group, name: str, secret: Path) -> None:
    del group[name]
    group.create_dataset(name, (10**9,), "f8", chunks=(1000,), compression="gzip")


WAYS = [outside_storage, outside_link, virtual_layout, soft_link_out, many_rows, one_block, packed_rows]


def make_recording(path: Path) -> None:
    write(path, [5, 6])


def make_checkpoint(path: Path) -> None:
    write_checkpoint(path, {"a": np.arange(5.0)})


def make_fclib(path: Path) -> None:
    write_fclib(path, FclibProblem(LocalProblem(sparse.csc_array(np.eye(3)), np.ones(3), np.ones(1), np.zeros(3), 3)))


@cache
def problem() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        assert run_column(Path(folder) / "run.h5", "--dump-problem", 0.01).exit_code == 0
        return (Path(folder) / "run.problem-0.01.h5").read_bytes()


def make_problem(path: Path) -> None:
    path.write_bytes(problem())


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize(
    "make, place, open_it",
    [
        (make_recording, "granum/summary", Recording),
        (make_recording, "VTKHDF/Points", lambda path: RecordingWriter.resume(path, keep_until=0.0)),
        (make_checkpoint, "arrays/a", read_checkpoint),
        (make_problem, "contacts/a", read_problem),
        (make_fclib, "fclib_local/vectors/q", read_fclib),
    ],
    ids=["recording", "resumed", "checkpoint", "problem", "fclib"],
)
def test_a_file_that_reaches_out_or_claims_too_much_is_refused(tmp_path, secret, make, place, open_it, way):
    path = tmp_path / "crafted.h5"
    make(path)
    with h5py.File(path, "r+") as file:
        folder, _, name = place.rpartition("/")
        way(file[folder], name, secret)
    before = files_below(tmp_path)
    with pytest.raises(InputError, match=r"crafted\.h5 is refused: .* Use a file from a source that you trust"):
        open_it(path)
    assert files_below(tmp_path) == before
    assert secret.read_bytes() == SECRET


@pytest.mark.parametrize("way", [outside_storage, outside_link])
def test_no_command_shows_or_changes_a_foreign_file(tmp_path, secret, way):
    """The two of the campaign: `restart` wrote its summary over it, `info --json` printed it."""
    path = tmp_path / "run.h5"
    assert run_column(path).exit_code == 0
    with h5py.File(path, "r+") as file:
        way(file["granum"], "summary", secret)
    before = files_below(tmp_path)
    for arguments in (
        ["info", path, "--json"],
        ["restart", path, "--duration", 0.01],
        ["analyse", path, "energy"],
        ["plot", path, "picture"],
        ["solve", path],
        ["run", "column", "-o", path],
    ):
        result = granum(*arguments)
        assert result.exit_code == 2, arguments
        assert SECRET.decode() not in result.output
        assert "refused" in result.stderr
    assert files_below(tmp_path) == before


def test_frames_that_a_recording_claims_are_counted(tmp_path):
    """160 kB that claimed 1e7 frames took `info` 21 s."""
    path = tmp_path / "run.h5"
    write(path, [5])
    with h5py.File(path, "r+") as file:
        for table in ("Steps/Values", "NumberOfPoints", "Steps/PointOffsets"):
            file["VTKHDF"][table].resize((10**7,))
        file["VTKHDF/Steps"].attrs["NSteps"] = 10**7
    with pytest.raises(InputError, match="cannot hold"):
        Recording(path)


@pytest.mark.parametrize("rows", [-1, 10**6])
def test_rows_that_a_frame_claims_are_in_the_tables(tmp_path, monkeypatch, rows):
    monkeypatch.setattr(read, "PAUSES", ())
    path = tmp_path / "run.h5"
    for table in ("VTKHDF/NumberOfPoints", "granum/contacts/first", "granum/walls/first"):
        write(path, [5, 6])
        with h5py.File(path, "r+") as file:
            file[table][1] = rows
        with pytest.raises(InputError, match=r"the rows of its frames do not fit its \w+"):
            Recording(path)


# Drafts. ---------------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unnamed", [True, False], ids=["unnamed", "named"])
def test_drafts_overwrite_nothing_follow_no_link_and_leave_no_trace(tmp_path, secret, monkeypatch, unnamed):
    if not unnamed:
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    (tmp_path / "run.h5.new").write_text("mine")
    (tmp_path / "run.checkpoint.h5.new").symlink_to(secret)
    with RecordingWriter(tmp_path / "run.h5", {}, SCALARS) as writer:
        writer.append(**frame(0, 5))
    write_checkpoint(tmp_path / "run.checkpoint.h5", {"step": 1})
    assert (tmp_path / "run.h5.new").read_text() == "mine"
    assert secret.read_bytes() == SECRET
    assert sorted(os.listdir(tmp_path)) == ["own", "run.checkpoint.h5", "run.checkpoint.h5.new", "run.h5", "run.h5.new"]


@pytest.mark.parametrize("unnamed", [True, False], ids=["unnamed", "named"])
def test_two_drafts_of_one_file_do_not_meet(tmp_path, monkeypatch, unnamed):
    """Two runs of one name, one of them moved away, wrote one draft: the second died of it."""
    if not unnamed:
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    target = tmp_path / "x"
    first, second = draft.Draft(target), draft.Draft(target)
    for one, text in ((second, b"second"), (first, b"first")):
        os.write(one.handle, text)
        os.close(os.dup(one.handle))
        one.replace_target()
        assert target.read_bytes() == text
    third = draft.Draft(target)
    with pytest.raises(FileExistsError):
        third.become_target()
    third.drop()
    for one in (first, second, third):
        os.close(one.handle)
    assert os.listdir(tmp_path) == ["x"]
