"""Writing the recording of a run: one HDF5 file that ParaView opens as it is, complete after every frame."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from ..checks import InputError, OutputError
from . import layout
from .blank import BYTES, CELL_COUNT, COUNT, POINT, json_text, lay_out
from .consistency import FILE_SPACE, BusyError, OrderedFile
from .contained import check_contained
from .draft import Draft
from .frame_rows import FrameRows
from .layout import Column
from .read import RECORD_AGAIN, Recording, damage_in_words, found_columns, recorded
from .storage import Storage, whole_chunks
from .tables import Table

DEFAULT_POINTS = 1024  # grains in a frame, if nobody says
_POSITION = replace(layout.POSITION, name="position")


class RecordingWriter:
    """Appends frames to a recording; whatever happens to the process, all complete frames stay readable.

    ``scalars`` names the numbers that come with every frame. ``expected_points`` [grains in a frame] sizes the chunks of the
    file: it changes speed and size, never what can be written. ``units`` of scalars that mean something else than in a run, or that
    extensions add. ``columns`` names what grains have of extensions. ``loads``: wall bodies come with what grains do to them, ``joints``:
    frames have joints. ``storage``: what is recorded of grains, and how. An existing file of that name is replaced.
    """

    path: Path
    frame_count: int
    _file: h5py.File | None

    def __init__(
        self,
        path: str | Path,
        description: Mapping[str, Any],
        scalars: Sequence[str],
        *,
        expected_points: int = DEFAULT_POINTS,
        units: Mapping[str, str] | None = None,
        columns: Sequence[str] = (),
        loads: bool = False,
        joints: bool = False,
        counters: Sequence[str] = (),
        storage: Storage = Storage(),
    ) -> None:
        path = Path(path)
        for name in scalars:
            if not name.isidentifier():
                raise InputError(f"the name of a scalar must be letters, digits and _ (got {name!r}).")
        for name in set(columns) - {column.name for column in layout.point_columns(columns)}:
            raise InputError(f"no extension records a column {name!r} of grains.")
        try:
            if path.exists():
                OrderedFile(path).release()  # refuses a file that is protected, or that another run is writing
            draft = Draft(path)  # the file appears with its layout complete
            disk = OrderedFile(path, draft)
            try:
                with h5py.File(disk, "w", **FILE_SPACE) as file:
                    lay_out(file, description, scalars, expected_points, units or {}, columns, loads, joints, counters, storage)
                disk.commit()
                draft.replace_target(disk.release)
            finally:
                disk.release()
                draft.drop()
        except BusyError as error:
            raise _busy(path) from error
        except OSError as error:
            raise InputError(
                f"recording {path} cannot be written ({error.strerror or error}). Choose a folder that exists, is writable and has room."
            ) from error
        self._open(path)

    @classmethod
    def resume(cls, path: str | Path, keep_until: float) -> RecordingWriter:
        """Continue a recording: frames later than ``keep_until`` [s] are dropped, the next frame follows the last one kept."""
        with Recording(path) as recording:
            late = recording.times > keep_until + 1e-9 * abs(keep_until)  # the time of a checkpoint is that of its frame
            kept = int(np.argmax(late)) if late.any() else recording.frame_count
        writer = cls.__new__(cls)
        with damage_in_words(Path(path), "recording", RECORD_AGAIN):
            writer._open(Path(path))
            try:
                writer._drop_frames(kept)
            finally:
                # Space that dropped frames leave is not used again while older metadata may still point to it: a new session forgets it.
                writer.close()
            writer._open(Path(path))
        return writer

    @property
    def scalar_names(self) -> tuple[str, ...]:
        """Of the numbers that come with every frame."""
        return tuple(self._scalars)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of what grains have of extensions."""
        return tuple(column.name for column in layout.extension_columns(self._point_data))

    @property
    def has_loads(self) -> bool:
        """Whether wall bodies come with what grains do to them."""
        return len(self._rows["walls"].columns) > len(layout.WALLS)

    @property
    def has_contacts(self) -> bool:
        """Whether frames have contacts."""
        return "contacts" in self._rows

    @property
    def has_joints(self) -> bool:
        """Whether frames have joints."""
        return "joints" in self._rows

    @property
    def has_counters(self) -> bool:
        """Whether frames have what sinks and counters have seen."""
        return "counters" in self._rows

    @property
    def last_step(self) -> int:
        """Number of time steps done in the last frame; -1 without frames."""
        return int(h5py.Dataset(self._steps.id)[self.frame_count - 1]) if self.frame_count else -1

    def append(
        self,
        *,
        step: int,
        time: float,
        grains: Mapping[str, Any],
        contacts: Mapping[str, Any],
        walls: Mapping[str, Any],
        scalars: Mapping[str, float],
        joints: Mapping[str, Any] | None = None,
        counters: Mapping[str, Any] | None = None,
    ) -> None:
        """Add one frame, SI units: N ``grains`` (``position``, the columns of ``layout.POINT_DATA`` but ``diameter``, which is twice the
        radius, and those of extensions), C ``contacts`` (``layout.CONTACTS``), W wall bodies ``walls`` (``layout.WALLS``, and
        ``layout.LOADS`` in a file that was made with them), ``joints`` (``layout.JOINTS``) and ``counters`` (``layout.COUNTERS``) in a
        file that has them, and all ``scalars``. What the file was made without is not looked at.

        On return the frame is in the file. OutputError if the disk does not take it; the frames before it stay.
        """
        self._check_open()
        position = _columns((_POSITION,), grains)["position"]
        if "diameter" in self._point_data:
            grains = {**grains, "diameter": 2.0 * np.asarray(grains.get("radius"), float)}
        data = _columns(self._columns, grains, len(position))
        given = {"contacts": contacts, "walls": walls, "joints": joints or {}, "counters": counters or {}}
        rows = {name: _columns(table.columns, given[name]) for name, table in self._rows.items()}
        if set(scalars) != set(self._scalars):
            raise ValueError(f"every frame needs the scalars {sorted(self._scalars)} (got {sorted(scalars)}).")

        with damage_in_words(self.path, "recording", RECORD_AGAIN):  # of a file that is continued
            self._write_frame(step, time, position, data, rows, scalars)
        self._check_place()

    def _write_frame(
        self,
        step: int,
        time: float,
        position: np.ndarray,
        data: dict[str, np.ndarray],
        rows: dict[str, dict[str, np.ndarray]],
        scalars: Mapping[str, float],
    ) -> None:
        count, first = len(position), self._next_row
        self._points.put(first, position)
        for name, table in self._point_data.items():
            table.put(first, data[name])
        frame = self.frame_count
        for name, of_kind in self._rows.items():
            of_kind.put(frame, rows[name])
        self._add_vertices(frame, count)
        for table, value in ((self._point_offsets, first), (self._part_offsets, frame), (self._steps, step)):
            table.put(frame, [value])
        for name, table in self._scalars.items():
            table.put(frame, [scalars[name]])
        for table in self._constants:
            table.resize(frame + 1)
        self._no_offsets.resize(frame + 2)
        self._save(announced=False)  # rows beyond the last frame, which nobody looks at
        self._times.put(frame, [time])
        self._number_of_points.put(frame, [count])
        self._set_frame_count(frame + 1)  # last: now the frame counts
        self._point_count += count
        self._next_row += whole_chunks(count, self._points.block)
        for of_kind in self._rows.values():
            of_kind.count_in()

    def set_summary(self, summary: Mapping[str, Any]) -> None:
        """Store what the run reports at its end."""
        self._check_open()
        text = json_text(summary).encode()
        # A shorter text is filled up with blanks: room in the file is never given back while it is written.
        with damage_in_words(self.path, "recording", RECORD_AGAIN):
            self._summary.put(0, np.frombuffer(text.ljust(self._summary.length), np.uint8))
            self._save()
        self._check_place()

    def close(self) -> None:
        """End writing; the recording is complete. After a full disk what did not fit is dropped."""
        if self._file is not None:
            self._file.close()
            self._file = None
            try:
                if not self._broken:
                    self._commit()
                    self._check_place()
            finally:
                self._disk.release()

    def __enter__(self) -> RecordingWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open(self, path: Path) -> None:
        self.path = path
        self._broken = False
        try:
            self._disk = OrderedFile(path)
        except BusyError as error:
            raise _busy(path) from error
        except OSError as error:
            raise InputError(f"recording {path} cannot be written ({error.strerror}). Change its permissions.") from error
        try:
            with damage_in_words(path, "recording", RECORD_AGAIN):
                self._file = h5py.File(self._disk, "r+", libver=FILE_SPACE["libver"], rdcc_nbytes=0)
                check_contained(self._file, path, "recording")
                self._find_tables(self._file)
        except BaseException:
            self._disk.release()
            raise

    def _find_tables(self, file: h5py.File) -> None:
        vtk, own = file[layout.VTK], file[layout.OWN]
        steps = vtk["Steps"]
        self._points = Table(vtk["Points"], layout.POSITION)
        self._columns = found_columns(vtk, own)
        self._point_data = {c.name: Table(vtk["PointData"][c.name], c) for c in self._columns}
        self._connectivity, self._offsets = Table(vtk["Vertices/Connectivity"], POINT), Table(vtk["Vertices/Offsets"], POINT)
        self._number_of_points, self._point_offsets = Table(vtk["NumberOfPoints"], COUNT), Table(steps["PointOffsets"], COUNT)
        self._part_offsets = Table(steps["PartOffsets"], COUNT)
        self._cell_offsets = Table(steps["CellOffsets"], CELL_COUNT)
        self._constants = [
            Table(vtk["Lines/NumberOfCells"], COUNT),
            Table(steps["ConnectivityIdOffsets"], CELL_COUNT),
            Table(steps["NumberOfParts"], COUNT),
        ]
        self._no_offsets = Table(vtk["Lines/Offsets"], COUNT)
        self._times, self._steps = Table(own["frames/time"], layout.TIME), Table(own["frames/step"], layout.STEP)
        self._scalars = {name: Table(data, layout.scalar_column(name, {})) for name, data in own["scalars"].items()}
        self._summary = Table(own["summary"], BYTES)
        self._frame_count_attribute = h5py.h5a.open(steps.id, b"NSteps")
        self.frame_count = int(steps.attrs["NSteps"])
        kinds = {
            **({"contacts": layout.CONTACTS} if "contacts" in recorded(own) else {}),
            "walls": layout.wall_columns(own["walls"]),
            **({"joints": layout.JOINTS} if "joints" in own else {}),
            **({"counters": layout.COUNTERS} if "counters" in own else {}),
        }
        self._rows = {name: FrameRows(own[name], columns, self.frame_count) for name, columns in kinds.items()}
        counts = vtk["NumberOfPoints"][: self.frame_count]
        self._point_count = int(counts.sum())
        rows = whole_chunks(counts, self._points.block)
        self._next_row = int(rows.sum())
        if not np.array_equal(steps["PointOffsets"][: self.frame_count], np.cumsum(rows) - rows):
            raise ValueError("its frames do not follow each other")

    def _drop_frames(self, kept: int) -> None:
        counts = h5py.Dataset(self._number_of_points.id)[:kept]
        point_count, rows = int(counts.sum()), int(whole_chunks(counts, self._points.block).sum())
        self._times.resize(kept)
        self._number_of_points.resize(kept)
        self._set_frame_count(kept, shrinking=True)  # first: from here on nobody looks at the rows that go
        for table in (self._point_offsets, self._part_offsets, self._cell_offsets, self._steps, *self._constants, *self._scalars.values()):
            table.resize(kept)
        self._no_offsets.resize(kept + 1)
        self._offsets.resize(_first_offset(kept, point_count))
        for table in (self._points, *self._point_data.values()):
            table.resize(rows)
        for of_kind in self._rows.values():
            of_kind.drop(kept)
        self._summary.resize(0)
        self._save(shrinking=True)

    def _add_vertices(self, frame: int, count: int) -> None:
        # Vertex i is point i in every frame: one list of points, as long as the largest frame, serves all. Their offsets VTK wants
        # anew with every frame.
        have = self._connectivity.length
        if count > have:
            self._connectivity.put(have, np.arange(have, count))
        first = _first_offset(frame, self._point_count)
        self._offsets.put(first, np.arange(count + 1))
        self._cell_offsets.put(frame, [[first - frame, 0, 0, 0]])

    def _set_frame_count(self, count: int, shrinking: bool = False) -> None:
        # VTK's reader writes beyond its memory if there are more time values than NSteps, and takes more than one number of points
        # for as many parts if NSteps is 1: the headers of all three share a page of the file (see ``blank.py``) and change in one write.
        self._frame_count_attribute.write(np.array(count, np.int64))
        self._save(shrinking)
        self.frame_count = count

    def _save(self, shrinking: bool = False, announced: bool = True) -> None:
        assert self._file is not None
        self._file.flush()
        self._commit(shrinking, announced)

    def _commit(self, shrinking: bool = False, announced: bool = True) -> None:
        try:
            self._disk.commit(shrinking=shrinking, announced=announced)
        except OSError as error:
            self._broken = True
            raise OutputError(
                f"recording {self.path} cannot be continued ({error.strerror or error}). Its {self.frame_count} frames so far are saved "
                "and readable. Make room on the disk."
            ) from error

    def _check_place(self) -> None:
        """A file that was deleted still has all its frames as long as it is open: they are written again."""
        if self._disk.is_at_its_place():
            return
        lost = self.path
        what = "was replaced by another file" if os.path.lexists(lost) else "was deleted or moved away"
        kept = self._disk.keep()
        if kept is None:
            self._broken = True
            raise OutputError(f"recording {lost} {what} while it was written, and its {self.frame_count} frames could not be kept.")
        self.path = kept
        raise OutputError(f"recording {lost} {what} while it was written. Its {self.frame_count} frames are kept in {kept}.")

    def _check_open(self) -> None:
        if self._broken:
            raise OutputError(f"recording {self.path} stopped after {self.frame_count} frames, when the disk refused to take more.")
        if self._file is None:
            raise ValueError(f"recording {self.path} is closed.")


def _first_offset(frame: int, points_before: int) -> int:
    """Where the vertex offsets of a frame begin: each frame has one more offset than points, and one row stays free after the first.

    VTK 9.3 reads a frame's offsets from ``CellOffsets + frame`` on. Later versions count the frames before it that hold points,
    up to ``CellOffsets``: that is ``frame`` too, also after empty frames, if ``CellOffsets`` is larger than all points before.
    """
    return points_before + frame + (1 if frame else 0)


def _busy(path: Path) -> InputError:
    return InputError(f"recording {path} is being written by another process. Wait for it or stop it, or choose another name.")


def _columns(columns: Sequence[Column], given: Mapping[str, Any], count: int | None = None) -> dict[str, np.ndarray]:
    """The columns by name, each with ``count`` rows (none: as many as the first has); ValueError if one is missing or of another shape."""
    found = {}
    for column in columns:
        if column.name not in given:
            raise ValueError(f"every frame needs the column {column.name}.")
        data = found[column.name] = np.ascontiguousarray(given[column.name], column.dtype)
        count = len(data) if count is None else count
        if data.shape != (count, *column.width):
            raise ValueError(f"{column.name} of a frame must have the shape {(count, *column.width)} (got {data.shape}).")
    return found
