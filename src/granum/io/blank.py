"""A new recording: all its tables, without frames."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

import h5py
import numpy as np

from . import layout
from .layout import Column
from .storage import Storage
from .tables import make_table

COUNT, POINT, BYTES = Column("count", np.int64), Column("point", np.int32), Column("text", np.uint8)
CELL_COUNT = Column("count", np.int64, (len(layout.VTK_TOPOLOGIES),))


def lay_out(
    file: h5py.File,
    description: Mapping[str, Any],
    scalars: Sequence[str],
    expected_points: int,
    units: Mapping[str, str],
    columns: Sequence[str],
    loads: bool,
    joints: bool,
    counters: Sequence[str],
    storage: Storage,
) -> None:
    """Make all tables in an empty file; ``columns`` names those of extensions, ``loads`` and ``joints`` ask for those of bodies and
    joints, ``counters`` names sinks and counters, ``storage`` says what is recorded of grains, and how."""
    point_chunk, contact_chunk = layout.chunk_rows(expected_points), layout.chunk_rows(3 * expected_points)
    vtk = file.create_group(layout.VTK)
    steps = vtk.create_group("Steps")
    steps.attrs["NSteps"] = np.int64(0)
    time = make_table(steps, "Values", layout.TIME)  # these two right after NSteps: see ``RecordingWriter``
    points = make_table(vtk, "NumberOfPoints", COUNT)
    vtk.attrs["Version"] = layout.VTK_VERSION
    vtk.attrs["Type"] = np.bytes_("PolyData")
    packed = storage.compress
    make_table(vtk, "Points", storage.stored(layout.POSITION), point_chunk, compress=packed)
    make_table(vtk, "Vertices/Connectivity", POINT, point_chunk)
    make_table(vtk, "Vertices/Offsets", POINT, point_chunk)
    vtk["Vertices/NumberOfCells"] = vtk["Vertices/NumberOfConnectivityIds"] = points
    zero = make_table(vtk, "Lines/NumberOfCells", COUNT, fill=0)
    vtk["Lines/NumberOfConnectivityIds"] = zero
    vtk["Lines/Connectivity"] = np.zeros(0, np.int64)
    make_table(vtk, "Lines/Offsets", COUNT, fill=0)
    for name in layout.VTK_TOPOLOGIES[2:]:
        for part in vtk["Lines"]:
            vtk[f"{name}/{part}"] = vtk["Lines"][part]
    make_table(steps, "CellOffsets", CELL_COUNT)
    make_table(steps, "ConnectivityIdOffsets", CELL_COUNT, fill=0)
    offsets = make_table(steps, "PointOffsets", COUNT)
    make_table(steps, "NumberOfParts", COUNT, fill=1)
    make_table(steps, "PartOffsets", COUNT)
    for column in storage.grain_columns(columns):
        make_table(vtk, f"PointData/{column.name}", column, point_chunk, compress=packed)
        steps[f"PointDataOffsets/{column.name}"] = offsets

    own = file.create_group(layout.OWN)
    own.attrs.update(format=layout.RECORDING_FORMAT, version=layout.RECORDING_VERSION, created_by=layout.CREATED_BY)
    own.attrs["record"] = ",".join(name for name in layout.CHOSEN if name in storage.record)
    own.create_dataset("description", data=json_text(description), dtype=h5py.string_dtype())
    make_table(own, "summary", BYTES, 4096)
    make_table(own, "frames/step", layout.STEP)
    own["frames/time"] = time
    own.create_group("scalars", track_order=True)
    for name in scalars:
        make_table(own["scalars"], name, layout.scalar_column(name, units))
    if storage.contact_columns:
        make_table(own, "contacts/first", COUNT, initial=[0])
        if packed:
            make_table(own, "contacts/rows", COUNT)
    for column in storage.contact_columns:
        make_table(own, f"contacts/{column.name}", column, contact_chunk, compress=packed)
    for name, own_columns in (
        ("walls", (*layout.WALLS, *(layout.LOADS if loads else ()))),
        ("joints", layout.JOINTS if joints else ()),
        ("counters", layout.COUNTERS if counters else ()),
    ):
        if own_columns:
            make_table(own, f"{name}/first", COUNT, initial=[0])
        for column in own_columns:
            make_table(own, f"{name}/{column.name}", column)
    if counters:
        own["counters"].attrs["names"] = json.dumps(list(counters), ensure_ascii=False)


def json_text(content: Mapping[str, Any]) -> str:
    """Of a tree that may hold arrays and paths."""
    return json.dumps(content, ensure_ascii=False, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError(f"{value!r} cannot be stored as JSON text.")
