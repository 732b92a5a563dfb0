"""VTK's XML files of points, lines and polygons (.vtp), and collections of them over time (.pvd), written without VTK."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

CELLS = ("Verts", "Lines", "Polys")
TYPES = {"f4": "Float32", "f8": "Float64", "i1": "Int8", "i4": "Int32", "i8": "Int64"}


@dataclass(frozen=True)
class PolyData:
    """Points (N, 3) and cells of one kind, (M, corners) each, with numbers of both."""

    points: Any
    cells: Any
    """Numbers of the points of each cell."""
    kind: str
    """Verts, Lines or Polys."""
    point_data: Mapping[str, Any] = field(default_factory=dict)
    cell_data: Mapping[str, Any] = field(default_factory=dict)


def write_vtp(path: Path, data: PolyData) -> None:
    """Write one file; its arrays follow its text as they are in memory."""
    arrays: list[np.ndarray] = []

    def entry(name: str, values: Any) -> str:
        rows = np.ascontiguousarray(values)
        offset = sum(8 + array.nbytes for array in arrays)
        arrays.append(rows)
        width = f' NumberOfComponents="{rows.shape[1]}"' if rows.ndim > 1 else ""
        kind = TYPES[rows.dtype.str[1:]]
        return f'<DataArray type="{kind}" Name={quoteattr(name)}{width} format="appended" offset="{offset}"/>\n'

    points, cells = np.asarray(data.points).reshape(-1, 3), np.asarray(data.cells, np.int64)
    counts = {kind: len(cells) if kind == data.kind else 0 for kind in (*CELLS, "Strips")}
    numbers = " ".join(f'NumberOf{kind}="{count}"' for kind, count in counts.items())
    text = [
        '<?xml version="1.0"?>\n',
        f'<VTKFile type="PolyData" version="1.0" byte_order="{_order()}" header_type="UInt64">\n<PolyData>\n',
        f'<Piece NumberOfPoints="{len(points)}" {numbers}>\n',
        "<PointData>\n",
        *(entry(name, values) for name, values in data.point_data.items()),
        "</PointData>\n<CellData>\n",
        *(entry(name, values) for name, values in data.cell_data.items()),
        "</CellData>\n<Points>\n",
        entry("Points", points),
        f"</Points>\n<{data.kind}>\n",
        entry("connectivity", cells.reshape(-1)),
        entry("offsets", cells.shape[1] * np.arange(1, len(cells) + 1, dtype=np.int64)),
        f'</{data.kind}>\n</Piece>\n</PolyData>\n<AppendedData encoding="raw">\n_',
    ]
    with open(path, "wb") as out:
        out.write("".join(text).encode())
        for array in arrays:
            out.write(np.uint64(array.nbytes).tobytes())
            out.write(array.tobytes())
        out.write(b"\n</AppendedData>\n</VTKFile>\n")


def write_pvd(path: Path, files: Sequence[Path], times: Sequence[float]) -> None:
    """The collection of a series; ``files`` lie below its folder."""
    names = (quoteattr(file.relative_to(path.parent).as_posix()) for file in files)
    lines = [f'<DataSet timestep="{time!r}" part="0" file={name}/>\n' for name, time in zip(names, times, strict=True)]
    head = f'<?xml version="1.0"?>\n<VTKFile type="Collection" version="0.1" byte_order="{_order()}">\n<Collection>\n'
    path.write_text(head + "".join(lines) + "</Collection>\n</VTKFile>\n", encoding="utf-8")


def _order() -> str:
    return "LittleEndian" if sys.byteorder == "little" else "BigEndian"
