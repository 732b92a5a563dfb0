"""Writing the recording of a run: one HDF5 file that ParaView opens as it is, complete after every frame."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from ..checks import InputError, OutputError
from . import layout
from .consistency import FILE_SPACE, BusyError, OrderedFile
from .contained import check_contained
from .draft import Draft
from .layout import Column
from .read import RECORD_AGAIN, Recording, damage_in_words

DEFAULT_POINTS = 1024  # grains in a frame, if nobody says
_COUNT, _POINT, _BYTES = Column("count", np.int64), Column("point", np.int32), Column("text", np.uint8)
_CELL_COUNT = Column("count", np.int64, (len(layout.VTK_TOPOLOGIES),))


class RecordingWriter:
    """Appends frames to a recording; whatever happens to the process, all complete frames stay readable.

    ``scalars`` names the numbers that come with every frame. ``expected_points`` [grains in a frame] sizes the chunks of the
    file: it changes speed and size, never what can be written. ``units`` of scalars that mean something else than in a run. With
    ``aggregates`` every frame says what its grains have merged into. An existing file of that name is replaced.
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
        aggregates: bool = False,
    ) -> None:
        path = Path(path)
        for name in scalars:
            if not name.isidentifier():
                raise InputError(f"the name of a scalar must be letters, digits and _ (got {name!r}).")
        try:
            if path.exists():
                OrderedFile(path).release()  # refuses a file that is protected, or that another run is writing
            draft = Draft(path)  # the file appears with its layout complete
            disk = OrderedFile(path, draft)
            try:
                with h5py.File(disk, "w", **FILE_SPACE) as file:
                    _lay_out(file, description, scalars, expected_points, units or {}, aggregates)
                disk.commit()
                draft.replace_target()
            finally:
                draft.drop()
                disk.release()
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
    def aggregates(self) -> bool:
        """Whether every frame says what its grains have merged into."""
        return layout.AGGREGATE.name in self._point_data

    @property
    def last_step(self) -> int:
        """Number of time steps done in the last frame; -1 without frames."""
        return int(h5py.Dataset(self._steps.id)[self.frame_count - 1]) if self.frame_count else -1

    def append(
        self,
        *,
        step: int,
        time: float,
        position: Any,
        orientation: Any,
        velocity: Any,
        spin: Any,
        radius: Any,
        id: Any,
        body: Any,
        material: Any,
        contacts: Mapping[str, Any],
        walls: Mapping[str, Any],
        scalars: Mapping[str, float],
        aggregate: Any = (),
    ) -> None:
        """Add one frame: N grains, C contacts (columns of ``layout.CONTACTS``), W wall bodies (``layout.WALLS``), all scalars; SI units.

        ``aggregate`` (N,) is for files made with ``aggregates``.

        On return the frame is in the file. OutputError if the disk does not take it; the frames before it stay.
        """
        self._check_open()
        count = len(position)
        points = {
            "radius": radius,
            "velocity": velocity,
            "spin": spin,
            "orientation": orientation,
            "id": id,
            "body": body,
            "material": material,
            "aggregate": aggregate,
        }
        data = {c.name: _rows(c, points[c.name], count) for c in _point_columns(self.aggregates)}
        contact_count = len(contacts["a"])
        contact_data = {c.name: _rows(c, contacts[c.name], contact_count) for c in layout.CONTACTS}
        wall_count = len(walls["position"])
        wall_data = {c.name: _rows(c, walls[c.name], wall_count) for c in layout.WALLS}
        if set(scalars) != set(self._scalars):
            raise ValueError(f"every frame needs the scalars {sorted(self._scalars)} (got {sorted(scalars)}).")

        with damage_in_words(self.path, "recording", RECORD_AGAIN):  # of a file that is continued
            self._write_frame(step, time, _rows(layout.POSITION, position, count), data, contact_data, wall_data, scalars)
        self._check_place()

    def _write_frame(
        self,
        step: int,
        time: float,
        position: np.ndarray,
        data: dict[str, np.ndarray],
        contacts: dict[str, np.ndarray],
        walls: dict[str, np.ndarray],
        scalars: Mapping[str, float],
    ) -> None:
        count, contact_count, wall_count = len(position), len(contacts["a"]), len(walls["position"])
        first = self._point_count
        self._points.put(first, position)
        for name, table in self._point_data.items():
            table.put(first, data[name])
        for name, table in self._contacts.items():
            table.put(self._contact_count, contacts[name])
        for name, table in self._walls.items():
            table.put(self._wall_count, walls[name])
        frame = self.frame_count
        self._add_vertices(frame, count)
        for table, value in ((self._point_offsets, first), (self._part_offsets, frame), (self._steps, step)):
            table.put(frame, [value])
        for name, table in self._scalars.items():
            table.put(frame, [scalars[name]])
        self._first_contact.put(frame + 1, [self._contact_count + contact_count])
        if self._first_wall is not None:
            self._first_wall.put(frame + 1, [self._wall_count + wall_count])
        for table in self._constants:
            table.resize(frame + 1)
        self._no_offsets.resize(frame + 2)
        self._save(announced=False)  # rows beyond the last frame, which nobody looks at
        self._times.put(frame, [time])
        self._number_of_points.put(frame, [count])
        self._set_frame_count(frame + 1)  # last: now the frame counts
        self._point_count += count
        self._contact_count += contact_count
        self._wall_count += wall_count

    def set_summary(self, summary: Mapping[str, Any]) -> None:
        """Store what the run reports at its end."""
        self._check_open()
        text = _json(summary).encode()
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
        self._points = _Table(vtk["Points"], layout.POSITION)
        columns = _point_columns(layout.AGGREGATE.name in vtk["PointData"])
        self._point_data = {c.name: _Table(vtk["PointData"][c.name], c) for c in columns}
        self._connectivity, self._offsets = _Table(vtk["Vertices/Connectivity"], _POINT), _Table(vtk["Vertices/Offsets"], _POINT)
        self._number_of_points, self._point_offsets = _Table(vtk["NumberOfPoints"], _COUNT), _Table(steps["PointOffsets"], _COUNT)
        self._part_offsets = _Table(steps["PartOffsets"], _COUNT)
        self._cell_offsets = _Table(steps["CellOffsets"], _CELL_COUNT)
        self._constants = [
            _Table(vtk["Lines/NumberOfCells"], _COUNT),
            _Table(steps["ConnectivityIdOffsets"], _CELL_COUNT),
            _Table(steps["NumberOfParts"], _COUNT),
        ]
        self._no_offsets = _Table(vtk["Lines/Offsets"], _COUNT)
        self._times, self._steps = _Table(own["frames/time"], layout.TIME), _Table(own["frames/step"], layout.STEP)
        self._scalars = {name: _Table(data, layout.scalar_column(name, {})) for name, data in own["scalars"].items()}
        # A file of version 1 is continued as it is, without what it has no tables for.
        self._contacts = {c.name: _Table(own["contacts"][c.name], c) for c in layout.CONTACTS if c.name in own["contacts"]}
        self._walls = {c.name: _Table(own["walls"][c.name], c) for c in layout.WALLS} if "walls" in own else {}
        self._first_wall = _Table(own["walls/first"], _COUNT) if "walls" in own else None
        self._first_contact, self._summary = _Table(own["contacts/first"], _COUNT), _Table(own["summary"], _BYTES)
        self._frame_count_attribute = h5py.h5a.open(steps.id, b"NSteps")
        self.frame_count = int(steps.attrs["NSteps"])
        self._contact_count = int(own["contacts/first"][self.frame_count])
        self._wall_count = int(own["walls/first"][self.frame_count]) if "walls" in own else 0
        counts = vtk["NumberOfPoints"][: self.frame_count]
        self._point_count = int(counts.sum())
        if not np.array_equal(steps["PointOffsets"][: self.frame_count], np.cumsum(counts) - counts):
            raise ValueError("its frames do not follow each other")

    def _drop_frames(self, kept: int) -> None:
        contact_count = int(h5py.Dataset(self._first_contact.id)[kept])
        wall_count = int(h5py.Dataset(self._first_wall.id)[kept]) if self._first_wall is not None else 0
        point_count = int(h5py.Dataset(self._number_of_points.id)[:kept].sum())
        self._times.resize(kept)
        self._number_of_points.resize(kept)
        self._set_frame_count(kept, shrinking=True)  # first: from here on nobody looks at the rows that go
        for table in (self._point_offsets, self._part_offsets, self._cell_offsets, self._steps, *self._constants, *self._scalars.values()):
            table.resize(kept)
        self._no_offsets.resize(kept + 1)
        self._offsets.resize(_first_offset(kept, point_count))
        self._first_contact.resize(kept + 1)
        for table in (self._points, *self._point_data.values()):
            table.resize(point_count)
        for table in self._contacts.values():
            table.resize(contact_count)
        if self._first_wall is not None:
            self._first_wall.resize(kept + 1)
        for table in self._walls.values():
            table.resize(wall_count)
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
        # for as many parts if NSteps is 1: the headers of all three share a page of the file (see _lay_out) and change in one write.
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


class _Table:
    """A dataset that grows by rows, through h5py's low-level calls: they take a third of the time of the others."""

    def __init__(self, dataset: h5py.Dataset, column: Column) -> None:
        if dataset.dtype != column.dtype or dataset.maxshape != (None, *column.width):
            raise ValueError(f"{dataset.name} is not the table that it should be")
        self.id = dataset.id
        self._dtype = dataset.dtype
        self._width = dataset.shape[1:]
        self.length = dataset.shape[0]

    def resize(self, length: int) -> None:
        self.id.set_extent((length, *self._width))
        self.length = length

    def put(self, first: int, rows: Any) -> None:
        """Write rows from number ``first`` on; the table ends with them."""
        data = np.ascontiguousarray(rows, self._dtype)
        self.resize(first + len(data))
        if len(data):
            there = self.id.get_space()
            there.select_hyperslab((first, *(0 for _ in self._width)), data.shape)
            self.id.write(h5py.h5s.create_simple(data.shape), there, data)


def _busy(path: Path) -> InputError:
    return InputError(f"recording {path} is being written by another process. Wait for it or stop it, or choose another name.")


def _rows(column: Column, values: Any, count: int) -> np.ndarray:
    data = np.ascontiguousarray(values, column.dtype)
    if data.shape != (count, *column.width):
        raise ValueError(f"{column.name} of a frame must have the shape {(count, *column.width)} (got {data.shape}).")
    return data


def _point_columns(aggregates: bool) -> tuple[Column, ...]:
    return (*layout.POINT_DATA, layout.AGGREGATE) if aggregates else layout.POINT_DATA


def _json(content: Mapping[str, Any]) -> str:
    return json.dumps(content, ensure_ascii=False, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError(f"{value!r} cannot be stored as JSON text.")


def _lay_out(
    file: h5py.File,
    description: Mapping[str, Any],
    scalars: Sequence[str],
    expected_points: int,
    units: Mapping[str, str],
    aggregates: bool,
) -> None:
    point_chunk, contact_chunk = layout.chunk_rows(expected_points), layout.chunk_rows(3 * expected_points)
    vtk = file.create_group(layout.VTK)
    steps = vtk.create_group("Steps")
    steps.attrs["NSteps"] = np.int64(0)
    time = _table(steps, "Values", layout.TIME)  # these two right after NSteps: see _set_frame_count
    points = _table(vtk, "NumberOfPoints", _COUNT)
    vtk.attrs["Version"] = layout.VTK_VERSION
    vtk.attrs["Type"] = np.bytes_("PolyData")
    _table(vtk, "Points", layout.POSITION, point_chunk)
    _table(vtk, "Vertices/Connectivity", _POINT, point_chunk)
    _table(vtk, "Vertices/Offsets", _POINT, point_chunk)
    vtk["Vertices/NumberOfCells"] = vtk["Vertices/NumberOfConnectivityIds"] = points
    zero = _table(vtk, "Lines/NumberOfCells", _COUNT, fill=0)
    vtk["Lines/NumberOfConnectivityIds"] = zero
    vtk["Lines/Connectivity"] = np.zeros(0, np.int64)
    _table(vtk, "Lines/Offsets", _COUNT, fill=0)
    for name in layout.VTK_TOPOLOGIES[2:]:
        for part in vtk["Lines"]:
            vtk[f"{name}/{part}"] = vtk["Lines"][part]
    _table(steps, "CellOffsets", _CELL_COUNT)
    _table(steps, "ConnectivityIdOffsets", _CELL_COUNT, fill=0)
    offsets = _table(steps, "PointOffsets", _COUNT)
    _table(steps, "NumberOfParts", _COUNT, fill=1)
    _table(steps, "PartOffsets", _COUNT)
    for column in _point_columns(aggregates):
        _table(vtk, f"PointData/{column.name}", column, point_chunk)
        steps[f"PointDataOffsets/{column.name}"] = offsets

    own = file.create_group(layout.OWN)
    own.attrs.update(format=layout.RECORDING_FORMAT, version=layout.RECORDING_VERSION, created_by=layout.CREATED_BY)
    own.create_dataset("description", data=_json(description), dtype=h5py.string_dtype())
    _table(own, "summary", _BYTES, 4096)
    _table(own, "frames/step", layout.STEP)
    own["frames/time"] = time
    own.create_group("scalars", track_order=True)
    for name in scalars:
        _table(own["scalars"], name, layout.scalar_column(name, units))
    _table(own, "contacts/first", _COUNT, initial=[0])
    for column in layout.CONTACTS:
        _table(own, f"contacts/{column.name}", column, contact_chunk)
    _table(own, "walls/first", _COUNT, initial=[0])
    for column in layout.WALLS:
        _table(own, f"walls/{column.name}", column)


def _table(
    group: h5py.Group, name: str, column: Column, chunk: int = layout.TABLE_CHUNK, *, fill: int | None = None, initial: Sequence[int] = ()
) -> h5py.Dataset:
    # With ``fill`` the table is never written: it costs no room and reads as that number. All others are not filled in advance, so
    # that rows go straight to the file.
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_fill_time(h5py.h5d.FILL_TIME_NEVER if fill is None else h5py.h5d.FILL_TIME_IFSET)
    table = group.create_dataset(
        name,
        (len(initial), *column.width),
        column.dtype,
        maxshape=(None, *column.width),
        chunks=(chunk, *column.width),
        fillvalue=fill,
        dcpl=properties,
    )
    table[:] = np.asarray(initial, column.dtype).reshape(table.shape)
    if column.unit:
        table.attrs["unit"] = column.unit
    if column.meaning:
        table.attrs["meaning"] = column.meaning
    return table
