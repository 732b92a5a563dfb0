"""Numbers by columns, for other programs: as they are a dict of arrays, on request a pandas DataFrame or a CSV file.

The type never depends on what is installed: ``recording.table()``, ``frame.grains`` and ``frame.contacts.table()`` are dicts of arrays,
and ``.to_pandas()`` of each is a DataFrame, or says that pandas is missing.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks import InputError, known_name
from .whole import replace_file

if TYPE_CHECKING:
    import pandas

PARTS = {3: "xyz", 4: "wxyz"}


class DataTable(dict[str, np.ndarray]):
    """Columns by their names, (N, ...) each: ``table["velocity"][:, 2]``. ``units`` has their units."""

    def __init__(self, columns: Mapping[str, Any], units: Mapping[str, str]) -> None:
        super().__init__({name: np.asarray(rows) for name, rows in columns.items()})
        self.units = {name: units[name] for name in self if units.get(name, "1") != "1"}

    @property
    def row_count(self) -> int:
        return len(next(iter(self.values()))) if self else 0

    def flat(self) -> dict[str, np.ndarray]:
        """Columns with one number in a row: of vectors one for each axis, such as ``velocity_x``; of orientations ``orientation_w`` too."""
        found: dict[str, np.ndarray] = {}
        for name, rows in self.items():
            if rows.ndim == 1:
                found[name] = rows
            else:
                found |= {f"{name}_{axis}": rows[:, k] for k, axis in enumerate(PARTS[rows.shape[1]])}
        return found

    def to_pandas(self) -> pandas.DataFrame:
        """The flat columns as a DataFrame; their units are in its ``attrs["units"]``."""
        try:
            import pandas
        except ImportError:
            raise InputError("to_pandas() needs pandas: pip install 'granum[tables]'. Without it a table is a dict of arrays.") from None
        frame = pandas.DataFrame(self.flat())
        frame.attrs["units"] = self._flat_units()
        return frame

    def to_csv(self, path: str | Path) -> None:
        """The flat columns into a file; the first line has their names, with units in brackets."""
        columns, unit_of = self.flat(), self._flat_units()
        text = io.StringIO()
        lines = csv.writer(text, lineterminator="\n")
        lines.writerow([f"{name} [{unit_of[name]}]" if name in unit_of else name for name in columns])
        lines.writerows(zip(*(rows.tolist() for rows in columns.values()), strict=True))
        replace_file(Path(path), text.getvalue().encode(), "table")

    def _flat_units(self) -> dict[str, str]:
        return {flat: unit for name, unit in self.units.items() for flat in DataTable({name: self[name][:0]}, {}).flat()}

    def __missing__(self, name: Any) -> np.ndarray:
        known_name("column", name, self)
        raise AssertionError

    def __repr__(self) -> str:
        return f"DataTable({self.row_count} rows: {', '.join(self)})"
