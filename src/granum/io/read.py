"""Reading the recording of a run, finished or not, frame by frame."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np

from ..array_types import FloatArray, IndexArray
from ..checks import InputError, Named, RunError, as_path, known_name
from ..notebook import Pictured, counted, drawn_by
from . import layout
from .contained import check_contained, check_texts
from .data_table import DataTable
from .frame import Frame, FrameContacts, FrameJoints, FrameWalls
from .not_recorded import NotRecorded
from .series import BodySeries, CounterSeries, JointSeries, frames_of
from .storage import whole_chunks
from .tables import is_stored_as

if TYPE_CHECKING:
    from ..scene.scene import Scene

RECORD_AGAIN = "Copy it again from where it was written, or repeat the run."


DAMAGE = (OSError, RuntimeError, KeyError, ValueError, TypeError, AttributeError, IndexError, OverflowError)
"""What h5py raises for bad bytes."""
PAUSES = (0.01, 0.05, 0.2)  # [s] between two looks at a recording that may be live; a frame is written in some milliseconds


class Recording(Pictured):
    """A recording, open for reading: ``with Recording("run.vtkhdf") as run: run.frame(-1).position``.

    It shows the frames that were complete when it was opened, also of a run that is still going on or was killed.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = as_path("recording", path)
        _repeat(self._load)

    def _load(self) -> None:
        self._file = open_checked(self.path, "recording", layout.OWN, layout.RECORDING_FORMAT, layout.RECORDING_VERSION, RECORD_AGAIN)
        try:
            self._look(self._load_tables)
        except InputError:
            self._file.close()
            raise

    def _load_tables(self) -> None:
        self._vtk, self._own = self._file[layout.VTK], self._file[layout.OWN]
        self.frame_count = int(self._vtk["Steps"].attrs["NSteps"])
        self.times: FloatArray = self._own["frames/time"][: self.frame_count]  # (F,) [s]
        self.steps: IndexArray = self._own["frames/step"][: self.frame_count]  # (F,) time steps done
        self.recorded = recorded(self._own)
        """What the run was told to record of velocity, spin, orientation and contacts."""
        self._columns = found_columns(self._vtk, self._own)
        self.columns = layout.extension_columns(self._vtk["PointData"])  # of extensions
        counts = self._vtk["NumberOfPoints"][: self.frame_count]
        self._first_point, self._point_counts = self._vtk["Steps/PointOffsets"][: self.frame_count], counts
        self._kinds: dict[str, tuple[layout.Column, ...]] = {"contacts": layout.CONTACTS} if "contacts" in self.recorded else {}
        self._kinds["walls"] = layout.wall_columns(self._own["walls"])
        if "joints" in self._own:
            self._kinds["joints"] = layout.JOINTS
        if "counters" in self._own:
            self._kinds["counters"] = layout.COUNTERS
        self._first = {name: self._own[name]["first"][: self.frame_count + 1] for name in self._kinds}
        firsts = {len(first) for first in self._first.values()}
        if not len(self.times) == len(self.steps) == len(counts) == self.frame_count or firsts != {self.frame_count + 1}:
            raise ValueError("its tables are shorter than its number of frames")
        _check_columns(self._vtk, (layout.POSITION,))
        _check_columns(self._vtk["PointData"], self._columns)
        for name, columns in self._kinds.items():
            _check_columns(self._own[name], columns)
        points = self._vtk["Points"]
        rows = whole_chunks(counts, points.chunks[0] if points.compression else 1)
        fit = rows.sum() <= min(map(len, [points, *self._vtk["PointData"].values()]))
        if (counts < 0).any() or not fit or not np.array_equal(self._first_point, np.cumsum(rows) - rows):
            raise ValueError("the rows of its frames do not fit its points")
        self._end = {name: first[1:] for name, first in self._first.items()}
        for name, first in self._first.items():
            if "rows" in self._own[name]:
                self._end[name] = first[:-1] + self._own[name]["rows"][: self.frame_count]
            most = min(len(data) for key, data in self._own[name].items() if key not in ("first", "rows"))
            if not 0 <= first.min() <= first.max() <= most or not (self._end[name] <= first[1:]).all():
                raise ValueError(f"the rows of its frames do not fit its {name}")

    @cached_property
    def description(self) -> dict[str, Any]:
        """What was run: scene, settings, versions, seed and command."""
        return self._checked(lambda: _table(json.loads(self._own["description"].asstr()[()])))

    @cached_property
    def scene(self) -> Scene:
        """What was simulated."""
        from ..scene.scene import Scene

        return Scene.read(self.description.get("scene"), f"the scene in the description of recording {self.path}")

    def scene_at(self, index: int) -> Scene:
        """The scene of frame ``index``: with the cell that a packing had then."""
        if "cell_xx" not in self.scalars:
            return self.scene
        from ..scene.cell import Cell

        dim = 3 if "cell_zz" in self.scalars else 2
        vectors = [[self.scalars[f"cell_{i}{j}"][index] for j in "xyz"[:dim]] for i in "xyz"[:dim]]
        return self.scene.changed(cell=Cell(vectors=vectors))

    @cached_property
    def summary(self) -> dict[str, Any] | None:
        """What the run reported at its end; None if it has not ended."""
        return self._checked(lambda: _table(json.loads(self._own["summary"][()].tobytes() or "null") or {})) or None

    @cached_property
    def scalars(self) -> dict[str, FloatArray]:
        """(F,) one number of each frame, by name; units in ``layout.SCALAR_UNITS``."""
        return self._checked(lambda: {name: data[: self.frame_count] for name, data in self._own["scalars"].items()})

    def table(self) -> DataTable:
        """Time, step and scalars of all frames, a dict of (F,) arrays: ``recording.table().to_pandas()``."""
        units = {"time": "s"} | {name: layout.scalar_column(name, {}).unit for name in self.scalars}
        units |= self._checked(
            lambda: {name: str(data.attrs["unit"]) for name, data in self._own["scalars"].items() if "unit" in data.attrs}
        )
        return DataTable({"time": self.times, "step": self.steps, **self.scalars}, units)

    def frame(self, index: int) -> Frame:
        """Frame ``index``, read now; -1 is the last one."""
        i = index + self.frame_count if index < 0 else index
        if not 0 <= i < self.frame_count:
            raise InputError(
                f"frame {index} does not exist: {self.path} holds {self.frame_count} frames"
                + (f" (0 to {self.frame_count - 1})." if self.frame_count else ". Record at least one.")
            )
        points = slice(int(self._first_point[i]), int(self._first_point[i] + self._point_counts[i]))
        read = lambda columns: {c.name: _in_full(self._vtk["PointData"][c.name][points], c) for c in columns}  # noqa: E731
        own = tuple(c for c in self._columns if c not in self.columns and c.name != "diameter")
        data: dict[str, Any] = {name: NotRecorded(name, self.path) for name in layout.CHOSEN if name not in self.recorded}
        data |= self._checked(lambda: read(own))
        more = self._checked(lambda: read(self.columns))
        position = self._checked(lambda: _in_full(self._vtk["Points"][points], layout.POSITION))
        if "contacts" in self.recorded:
            data["contacts"] = FrameContacts(**self._rows("contacts", i))
        return Frame(
            time=float(self.times[i]),
            step=int(self.steps[i]),
            position=position,
            walls=FrameWalls(**self._rows("walls", i)),
            joints=FrameJoints(**self._rows("joints", i)) if "joints" in self._kinds else None,
            more=more,
            path=self.path,
            **data,
        )

    def _rows(self, kind: str, i: int) -> dict[str, Any]:
        """Contacts, walls or joints of frame i."""
        rows, table = slice(int(self._first[kind][i]), int(self._end[kind][i])), self._own[kind]
        return self._checked(lambda: {c.name: _in_full(table[c.name][rows], c) for c in self._kinds[kind]})

    def body(self, name: str) -> BodySeries:
        """A body of the scene by its name, ``ground`` too, in all frames: ``recording.body("bucket").force`` (F, 3)."""
        self.scene.body_number(name)
        found = self._series("walls", [body.name for body in self.scene.all_bodies], "body", name)
        loads = {column.name: found.pop(column.name) for column in layout.LOADS if column.name in found}
        return BodySeries(name=name, time=self.times, path=self.path, loads=loads, **found)

    def joint(self, name: str) -> JointSeries:
        """A joint of the scene by its name, in all frames: ``recording.joint("boom").motor_force`` (F,)."""
        if "joints" not in self._kinds:
            has = "an older version wrote it. Run it again" if self.scene.joints else "its scene has none"
            raise InputError(f"{self.path} holds no joint {name!r}: {has}.")
        return JointSeries(name=name, time=self.times, **self._series("joints", [j.name for j in self.scene.joints], "joint", name))

    @property
    def has_counters(self) -> bool:
        """Whether frames have what sinks and counters have seen."""
        return "counters" in self._kinds

    @property
    def counters(self) -> Named[CounterSeries]:
        """What sinks and counters have seen, by name, in all frames: ``recording.counters["outlet"].mass`` (F,)."""
        names = self.scene.counted
        if names and not self.has_counters:
            raise InputError(f"{self.path} holds no counts of {', '.join(map(repr, names))}: an older version wrote it. Run it again.")
        return Named(
            "sink or counter",
            {name: CounterSeries(name=name, time=self.times, **self._series("counters", list(names), "counter", name)) for name in names},
        )

    def _series(self, kind: str, names: list[str], what: str, name: str) -> dict[str, Any]:
        """(F, ...) of the row with this name in every frame."""
        row, first = names.index(known_name(what, name, names)), self._first[kind]
        if not (np.diff(first) == len(names)).all():
            raise DamagedFileError(self.path, "recording", f"its frames do not have the {kind} of its scene", RECORD_AGAIN)
        part = slice(int(first[0]), int(first[-1]))
        return self._checked(lambda: {c.name: self._own[kind][c.name][part][row :: len(names)] for c in self._kinds[kind]})

    @property
    def grain_counts(self) -> IndexArray:
        """(F,) grains of each frame."""
        return self._point_counts

    def plot(self, figure: str = "", path: str | Path | None = None, *, ax: Any = None, **look: Any) -> Any:
        """A matplotlib figure, as ``granum plot`` draws it; with ``path`` it is saved, too (.png, .pdf or .svg).

        ``figure`` none: the picture of grains, or of a packing. ``look`` says which frames and from where: ``time=2.5``, ``view="x"``.
        ``ax`` puts it into a figure of yours, as large as there is room: ``figure, (left, right) = plt.subplots(1, 2)``, then
        ``recording.plot("velocity", ax=left)``. It takes the place of those axes, since most figures have several, and returns the
        subfigure there; a subfigure or an empty figure may be given as well.
        """
        return drawn_by("figures").plot_recording(self, figure, path, ax, look)

    def __len__(self) -> int:
        return self.frame_count

    def __repr__(self) -> str:
        grains = f", {counted(int(self._point_counts[-1]), 'grain')} in the last" if self.frame_count else ""
        return f"Recording({str(self.path)!r}, {frames_of(self.times)}{grains}{'' if self._file else ', closed'})"

    def close(self) -> None:
        """Close the file; frames read before stay valid."""
        self._file.close()

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _checked(self, read: Callable[[], Any]) -> Any:
        if not self._file:
            raise InputError(f"recording {self.path} has been closed; open it again to read more of it.")
        return _repeat(lambda: self._look(read))

    def _look(self, read: Callable[[], Any]) -> Any:
        with damage_in_words(self.path, "recording", RECORD_AGAIN):
            return read()


def _check_columns(group: h5py.Group, columns: Iterable[layout.Column]) -> None:
    for column in columns:
        if not is_stored_as(group[column.name].dtype, column) or group[column.name].shape[1:] != column.width:
            raise ValueError(f"{group.name}/{column.name} is not the table that it should be")


def _in_full(rows: Any, column: layout.Column) -> Any:
    """Rows of a table as the column has them: double precision, whatever the file has."""
    return np.asarray(rows, column.dtype)


def recorded(own: h5py.Group) -> tuple[str, ...]:
    """What of ``layout.CHOSEN`` the file was made with; older versions recorded all."""
    text = own.attrs.get("record")
    return layout.CHOSEN if text is None else tuple(name for name in str(text).split(",") if name)


def found_columns(vtk: h5py.Group, own: h5py.Group) -> tuple[layout.Column, ...]:
    """Columns of grains that a recording has, or should have; files of version 1 have no ``diameter``."""
    without = {name for name in layout.CHOSEN if name not in recorded(own)}
    without |= {"diameter"} if int(own.attrs["version"]) < 2 else set()
    return tuple(column for column in layout.point_columns(vtk["PointData"]) if column.name not in without)


def _table(content: Any) -> dict[str, Any]:
    if not isinstance(content, dict):
        raise TypeError("a text in it is no table of names")
    return content


class DamagedFileError(InputError):
    """The content of a file cannot be trusted."""

    def __init__(self, path: Path, kind: str, reason: object, way_out: str) -> None:
        super().__init__(f"{kind} {path} is damaged or cut short ({reason}). {way_out}")


@contextmanager
def damage_in_words(path: Path, kind: str, way_out: str) -> Iterator[None]:
    """What h5py raises for bad bytes comes out as a DamagedFileError."""
    try:
        yield
    except (InputError, RunError):
        raise
    except DAMAGE as error:
        raise DamagedFileError(path, kind, error, way_out) from error


def _repeat(read: Callable[[], Any]) -> Any:
    """``read()``, tried again if the writer of a live recording may just have been changing what was read."""
    for pause in PAUSES:
        try:
            return read()
        except DamagedFileError:
            time.sleep(pause)
    return read()


def open_checked(path: Path, kind: str, group: str, file_format: str, version: int, way_out: str) -> h5py.File:
    """``path`` open for reading if it is a file of that format and no newer version, else a refusal in words."""
    if not path.is_file():
        others = [path.with_suffix(ending) for ending in (layout.RECORDING_ENDING, ".h5")]
        hint = next((f" Did you mean {other}?" for other in others if kind == "recording" and other.is_file()), "")
        raise InputError(f"{kind} {path} does not exist.{hint}" if not path.exists() else f"{kind} {path} is not a file.")
    try:
        file = h5py.File(path, "r")
    except PermissionError as error:
        raise InputError(f"{kind} {path} may not be read. Change its permissions.") from error
    except BlockingIOError as error:
        raise InputError(f"{kind} {path} is open for writing in another program. Close it there first.") from error
    except OSError as error:
        if not _starts_like_hdf5(path):
            raise InputError(f"{path} is not a {kind} of granum: it is not an HDF5 file. Give a file that granum wrote.") from error
        raise DamagedFileError(path, kind, error, way_out) from error
    try:
        check_texts(path)
        check_contained(file, path, kind)
        attributes = dict(file[group].attrs) if group in file else {}
        found = attributes.get("format")
        if found != file_format:
            for place in ("/", layout.OWN):  # where granum's other files tell what they are
                found = found or (file[place].attrs.get("format") if place in file else None)
            what = f"it is a {found}" if isinstance(found, str) else "another program wrote it"
            raise InputError(f"{path} is not a {kind} of granum: {what}. Give a file of format {file_format!r}.")
        if not int(attributes["version"]) <= version:
            raise InputError(
                f"{kind} {path} has format version {attributes['version']}, written by {attributes.get('created_by')!r}; "
                f"this is {layout.CREATED_BY}, which reads versions up to {version}. Update granum."
            )
    except InputError:
        file.close()
        raise
    except DAMAGE as error:
        file.close()
        raise DamagedFileError(path, kind, error, way_out) from error
    return file


def has_format(path: Path, looks_right: Callable[[h5py.File], bool]) -> bool:
    """Whether ``path`` is an HDF5 file that refers to nothing outside of it and, at a look, is of some format."""
    try:
        with h5py.File(path, "r") as file:
            check_texts(path)
            check_contained(file, path, "file")
            return looks_right(file)
    except DAMAGE:
        return False


def _starts_like_hdf5(path: Path) -> bool:
    with open(path, "rb") as file:
        return file.read(8) == b"\x89HDF\r\n\x1a\n"
