"""Bodies: everything that changes in time, as plain arrays.

The wall bodies come first, then one body for each grain: grain i is body ``wall_body_count + i``. Arrays have spare room at the
end, so that emitted grains are appended without copying; the public views show the used part and are renewed when it changes.
"""

from __future__ import annotations

import numpy as np

from ..array_types import FloatArray, IntArray, LongArray

STATIC, KINEMATIC, DYNAMIC = 0, 1, 2

_COLUMNS: dict[str, tuple[int, ...]] = {
    "position": (3,),
    "orientation": (4,),
    "velocity": (3,),
    "spin": (3,),
    "inverse_mass": (),
    "movable": (),
}
_GRAIN_COLUMNS = {"radius": np.float64, "material": np.int32, "aggregate": np.int32, "id": np.int64}


class Bodies:
    """State and inertia of all bodies; views of the used part, writable, SI units, world axes.

    ``position`` (B, 3) [m], ``orientation`` (B, 4) unit quaternion (w first), ``velocity`` (B, 3) [m/s], ``spin`` (B, 3) [rad/s],
    ``inverse_mass`` (B,) [1/kg], 0 for what does not yield; ``movable`` (B,) the same as contacts see it: 0 also for grains that are part
    of an aggregate. Of grains alone: ``radius`` (N,) [m], ``material`` (N,), ``aggregate`` (N,) they are part of, -1: free, ``id`` (N,)
    in the order in which they appeared, kept when others leave; ``next_id`` is that of the next one.
    Of wall bodies alone: ``kind`` (W,), ``inertia`` (W, 3) principal moments [kg m^2].
    """

    position: FloatArray
    orientation: FloatArray
    velocity: FloatArray
    spin: FloatArray
    inverse_mass: FloatArray
    movable: FloatArray
    radius: FloatArray
    material: IntArray
    aggregate: IntArray
    id: LongArray

    def __init__(self, kind: IntArray, inertia: FloatArray) -> None:
        self.kind = np.ascontiguousarray(kind, np.int32)
        self.inertia = np.ascontiguousarray(inertia, float).reshape(-1, 3)
        self.wall_body_count = len(self.kind)
        self.dynamic = [int(w) for w in np.flatnonzero(self.kind == DYNAMIC)]  # wall bodies that are pushed
        self.moving = [int(w) for w in np.flatnonzero(self.kind != STATIC)]  # wall bodies that are pushed or driven
        self.grain_count = self.next_id = 0
        self._room: dict[str, np.ndarray] = {}
        self._reserve(64)
        self._show()
        self.orientation[:, 0] = 1.0

    @property
    def body_count(self) -> int:
        return self.wall_body_count + self.grain_count

    @property
    def grains(self) -> slice:
        """The grains' part of the body arrays: ``bodies.position[bodies.grains]``."""
        return slice(self.wall_body_count, self.body_count)

    @property
    def mass(self) -> FloatArray:
        """(N,) of the grains [kg]; infinite for static ones."""
        inverse = self.inverse_mass[self.grains]
        return np.divide(1.0, inverse, out=np.full(len(inverse), np.inf), where=inverse > 0)

    def append_grains(
        self,
        position: FloatArray,
        radius: FloatArray,
        material: IntArray,
        inverse_mass: FloatArray,
        velocity: FloatArray | None = None,
        spin: FloatArray | None = None,
    ) -> None:
        """Add grains at rest, or with the given velocity [m/s] and spin [rad/s]."""
        first, count = self.body_count, len(position)
        self._reserve(self.grain_count + count)
        self.grain_count += count
        self._show()
        new = slice(first, first + count)
        self.position[new] = position
        self.orientation[new] = (1.0, 0.0, 0.0, 0.0)
        self.velocity[new] = 0.0 if velocity is None else velocity
        self.spin[new] = 0.0 if spin is None else spin
        self.inverse_mass[new] = self.movable[new] = inverse_mass
        own = slice(first - self.wall_body_count, self.grain_count)
        self.radius[own] = radius
        self.material[own] = material
        self.aggregate[own] = -1
        self.id[own] = np.arange(self.next_id, self.next_id + count)
        self.next_id += count

    def keep(self, rows: IntArray) -> None:
        """Take out all grains but those in ``rows`` (in order), which close up."""
        walls, count = self.wall_body_count, len(rows)
        for name in _COLUMNS:
            self._room[name][walls : walls + count] = self._room[name][walls + rows]
        for name in _GRAIN_COLUMNS:
            self._room[name][:count] = self._room[name][rows]
        self.grain_count = count
        self._show()

    def _reserve(self, grains: int) -> None:
        have = len(self._room["radius"]) if self._room else -1
        if grains <= have:
            return
        room = max(grains, 2 * have)
        for name, shape in _COLUMNS.items():
            self._room[name] = self._grown(name, (self.wall_body_count + room, *shape), np.float64)
        for name, dtype in _GRAIN_COLUMNS.items():
            self._room[name] = self._grown(name, (room,), dtype)

    def _grown(self, name: str, shape: tuple[int, ...], dtype: type) -> np.ndarray:
        new: np.ndarray = np.zeros(shape, dtype)
        old = self._room.get(name)
        if old is not None:
            new[: len(old)] = old
        return new

    def _show(self) -> None:
        for name in _COLUMNS:
            setattr(self, name, self._room[name][: self.body_count])
        for name in _GRAIN_COLUMNS:
            setattr(self, name, self._room[name][: self.grain_count])
