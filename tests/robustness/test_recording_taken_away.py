"""A recording that is deleted, moved or replaced while a run goes on: the run says so, keeps every frame, and does not end with 0.

What is at its path by then is never overwritten, and what the message advises works.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import h5py
import pytest

from granum.checks import OutputError
from granum.io import Recording, RecordingWriter, consistency
from tests.command_line import granum
from tests.robustness.files import run_column
from tests.unit.test_recording import SCALARS, expect_frames, frame


@pytest.fixture
def after_frame(monkeypatch):
    """Do something to the file after the frame of that number was written; with "end" after the last."""

    def arrange(number, act):
        append, close, ends = RecordingWriter.append, RecordingWriter.close, [number == "end"]

        def watched_append(writer, **content):
            append(writer, **content)
            if writer.frame_count == number:
                act()

        def watched_close(writer):
            if ends[0] and writer.frame_count > 2:
                ends[0] = False  # closed twice, it ends once
                act()
            close(writer)

        monkeypatch.setattr(RecordingWriter, "append", watched_append)
        monkeypatch.setattr(RecordingWriter, "close", watched_close)

    return arrange


def steps_of(path: Path) -> list[int]:
    with Recording(path) as recording:
        return recording.steps.tolist()


@pytest.fixture
def whole(tmp_path) -> list[int]:
    """Steps of the run that nobody disturbs."""
    (tmp_path / "whole").mkdir()
    assert run_column(tmp_path / "whole" / "run.h5").exit_code == 0
    return steps_of(tmp_path / "whole" / "run.h5")


@pytest.mark.parametrize("moment", [3, "end"])
@pytest.mark.parametrize("what", ["file", "folder"])
def test_a_deleted_recording_is_written_again_and_the_run_goes_on_from_there(tmp_path, after_frame, monkeypatch, whole, moment, what):
    path = tmp_path / "results" / "run.h5"
    path.parent.mkdir()
    after_frame(moment, path.unlink if what == "file" else lambda: shutil.rmtree(path.parent))
    result = run_column(path)
    assert result.exit_code == 2
    assert f"recording {path} was deleted or moved away while it was written" in result.stderr
    assert f"frames are kept in {path}" in result.stderr
    found = steps_of(path)
    assert found == whole[: len(found)]
    assert len(found) == (4 if moment == 3 else len(whole))
    monkeypatch.undo()
    if path.with_name("run.checkpoint.h5").exists():
        assert f"continue with: granum restart {path}" in result.stderr
        assert granum("restart", path).exit_code == 0
        assert steps_of(path) == whole
    else:
        assert what == "folder"
        assert "There is no checkpoint to continue from" in result.stderr


def test_a_file_that_took_its_place_is_left_alone(tmp_path, after_frame):
    path = tmp_path / "run.h5"

    def replace():
        path.unlink()
        path.write_text("a letter")

    after_frame(3, replace)
    result = run_column(path)
    assert result.exit_code == 2
    assert "run.h5 was replaced by another file while it was written" in result.stderr
    assert f"move {path}, which is not of this run, away before you continue" in result.stderr
    assert path.read_text() == "a letter"
    assert len(steps_of(tmp_path / "run.kept-1.h5")) == 4


def test_a_link_that_took_its_place_is_not_followed(tmp_path):
    path, own = tmp_path / "run.h5", tmp_path / "letter"
    own.write_text("a letter")
    with RecordingWriter(path, {}, SCALARS) as writer:
        path.unlink()
        path.symlink_to(own)
        with pytest.raises(OutputError, match=r"replaced by another file .* kept in .*run\.kept-1\.h5"):
            writer.append(**frame(0, 5))
        path.unlink()
    assert own.read_text() == "a letter"
    expect_frames(tmp_path / "run.kept-1.h5", [0])


def test_a_moved_recording_is_found_where_it_is(tmp_path, after_frame):
    (tmp_path / "old").mkdir()
    (tmp_path / "new").mkdir()
    after_frame(3, lambda: os.rename(tmp_path / "old" / "run.h5", tmp_path / "new" / "other.h5"))
    result = run_column(tmp_path / "old" / "run.h5")
    assert result.exit_code == 2
    assert f"kept in {tmp_path / 'new' / 'other.h5'}" in result.stderr
    assert len(steps_of(tmp_path / "new" / "other.h5")) == 4
    assert [p.name for p in (tmp_path / "old").iterdir()] == ["run.checkpoint.h5"]


def test_a_reader_does_not_bring_a_file_back_over_a_foreign_one(tmp_path):
    """A copy for the sake of a reader takes the place of the recording only."""
    path = tmp_path / "run.h5"
    with RecordingWriter(path, {}, SCALARS) as writer:
        writer.append(**frame(0, 5))
        with h5py.File(path):
            path.unlink()
            path.write_text("a letter")
            with pytest.raises(OutputError, match="replaced by another file"):
                writer.append(**frame(1, 5))
        assert path.read_text() == "a letter"
        writer.append(**frame(2, 5))  # who goes on all the same goes on in the file that was kept
    expect_frames(tmp_path / "run.kept-1.h5", [0, 1, 2])


def test_frames_that_can_be_kept_nowhere_are_told(tmp_path, monkeypatch):
    path = tmp_path / "run.h5"
    with RecordingWriter(path, {}, SCALARS) as writer:
        path.unlink()

        def full(*_):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(consistency, "MOST_NAMES", 3)
        monkeypatch.setattr("granum.io.consistency.shutil.copyfileobj", full)
        with pytest.raises(OutputError, match="its 1 frames could not be kept"):
            writer.append(**frame(0, 5))
    assert os.listdir(tmp_path) == []


def test_a_folder_deleted_before_a_checkpoint_keeps_the_frames(tmp_path, after_frame):
    """The checkpoint meets the missing folder first; the frames are told of all the same."""
    path = tmp_path / "results" / "run.h5"
    path.parent.mkdir()
    after_frame(3, lambda: shutil.rmtree(path.parent))
    result = run_column(path, "--checkpoint-every", 1e-9)
    assert result.exit_code == 2
    assert "run.checkpoint.h5 cannot be written (No such file or directory)" in result.stderr
    assert len(steps_of(path)) == 3
