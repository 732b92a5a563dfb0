"""One frame of a recording, as it is read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..array_types import FloatArray, IndexArray
from ..notebook import Pictured, counted
from . import layout
from .data_table import DataTable
from .not_recorded import NotRecorded

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, repr=False)
class FrameContacts:
    """Contacts of one frame; C rows, SI units, world axes."""

    a: IndexArray  # (C,) id of the owning grain
    b: IndexArray  # (C,) id of the other grain, or -1 - wall
    feature: IndexArray  # (C,) part of the wall touched
    point: FloatArray  # (C, 3) [m]
    normal: FloatArray  # (C, 3) unit, from a towards b
    overlap: FloatArray  # (C,) [m]
    force: FloatArray  # (C, 3) on b [N]
    normal_force: FloatArray  # (C,) [N]
    status: IndexArray  # (C,)

    def __len__(self) -> int:
        return len(self.a)

    def table(self) -> DataTable:
        """All columns, a dict of arrays: ``frame.contacts.table()["force"]``."""
        return DataTable({column.name: getattr(self, column.name) for column in layout.CONTACTS}, _units(layout.CONTACTS))

    def to_pandas(self) -> pandas.DataFrame:
        """All columns as a DataFrame, as those of ``frame.grains``."""
        return self.table().to_pandas()

    def to_csv(self, path: str | Path) -> None:
        """All columns into a file, as those of ``frame.grains``."""
        self.table().to_csv(path)

    def __repr__(self) -> str:
        if not len(self):
            return "FrameContacts(none)"
        largest = f"normal force up to {self.normal_force.max():.4g} N, overlap up to {self.overlap.max():.4g} m"
        return f"FrameContacts({counted(len(self), 'contact')}, {int((self.b < 0).sum())} of them with walls, {largest})"


@dataclass(frozen=True, repr=False)
class FrameWalls:
    """Wall bodies of one frame, the ground first; W rows, SI units, world axes."""

    position: FloatArray  # (W, 3) [m]
    orientation: FloatArray  # (W, 4) unit quaternion, w first
    velocity: FloatArray  # (W, 3) [m/s]
    spin: FloatArray  # (W, 3) [rad/s]
    force: FloatArray | None = None  # (W, 3) of all that touches it, mean since the last frame [N]; None: not recorded
    torque: FloatArray | None = None  # (W, 3) [N m]
    power: FloatArray | None = None  # (W,) [W]

    def __repr__(self) -> str:
        return f"FrameWalls({counted(len(self.position), 'body')}{'' if self.force is not None else ', forces not recorded'})"


@dataclass(frozen=True, repr=False)
class FrameJoints:
    """Joints of one frame, in the order of the scene; J rows, SI units, world axes. Forces are means since the last frame."""

    coordinate: FloatArray  # (J,) [m, rad]
    speed: FloatArray  # (J,) [m/s, rad/s]
    force: FloatArray  # (J, 3) on the second body [N]
    torque: FloatArray  # (J, 3) about its centre of mass [N m]
    motor_force: FloatArray  # (J,) [N, N m]
    limit_force: FloatArray  # (J,) [N, N m]

    def __repr__(self) -> str:
        return f"FrameJoints({counted(len(self.coordinate), 'joint')})"


@dataclass(frozen=True, repr=False)
class Frame(Pictured):
    """One instant of a run; N grains, SI units, world axes."""

    time: float  # [s]
    step: int
    position: FloatArray  # (N, 3) [m]
    orientation: FloatArray  # (N, 4) unit quaternion, w first
    velocity: FloatArray  # (N, 3) [m/s]
    spin: FloatArray  # (N, 3) [rad/s]
    radius: FloatArray  # (N,) [m]
    id: IndexArray  # (N,)
    material: IndexArray  # (N,)
    contacts: FrameContacts
    walls: FrameWalls
    more: dict[str, Any]  # (N, ...) columns of extensions, by their names in the file
    joints: FrameJoints | None = None  # None: not recorded
    path: Path | None = None  # of the recording

    def __repr__(self) -> str:
        contacts = "contacts not recorded" if isinstance(self.contacts, NotRecorded) else counted(len(self.contacts), "contact")
        return f"Frame(t = {self.time:.6g} s, step {self.step}, {counted(len(self.id), 'grain')}, {contacts})"

    @property
    def grains(self) -> DataTable:
        """All that is recorded of the grains, a dict of arrays: ``frame.grains["diameter"]``, ``frame.grains.to_pandas()``."""
        names = ("id", "material", "radius", "position", "velocity", "spin", "orientation")
        columns = {name: rows for name in names if not isinstance(rows := getattr(self, name), NotRecorded)}
        columns |= {"diameter": 2.0 * self.radius, **self.more}
        return DataTable(columns, _units(layout.point_columns(self.more)) | {"position": "m"})


def _units(columns: Iterable[layout.Column]) -> dict[str, str]:
    return {column.name: column.unit for column in columns}
