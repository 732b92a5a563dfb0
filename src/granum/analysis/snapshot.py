"""A snapshot: one frame of a run and what its scene says, as plain arrays. All measures start from it.

Contacts, their normals, overlaps and forces are those of the step that led to the frame, found at its start; positions and velocities
are those at its end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..array_types import BoolArray, FloatArray, IndexArray
from ..checks import InputError
from ..io import Frame, Recording
from ..io.read import RECORD_AGAIN, DamagedFileError
from ..state.rotation import matrix
from ..state.status import contact_friction, contact_status

if TYPE_CHECKING:
    from ..scene.scene import Scene


@dataclass(frozen=True)
class Snapshot:
    """One instant: N grains, C contacts, K walls of W wall bodies; SI units, world axes.

    ``a`` and ``b`` are rows of the grains' arrays, not ids; b < 0 is wall ``-1 - b``. n points from a towards b, forces act on b.
    """

    scene: Scene
    time: float  # [s]
    gravity: FloatArray  # (3,) [m/s^2] in the step that led here

    position: FloatArray  # (N, 3) [m]
    velocity: FloatArray  # (N, 3) [m/s]
    spin: FloatArray  # (N, 3) [rad/s]
    radius: FloatArray  # (N,) [m]
    mass: FloatArray  # (N,) [kg], from density and radius, also of held grains
    held: BoolArray  # (N,) grains that never move
    id: IndexArray  # (N,) kept for a grain's whole life
    material: IndexArray  # (N,) place in scene.materials

    a: IndexArray  # (C,) row of the owning grain
    b: IndexArray  # (C,) row of the other grain, or -1 - wall
    point: FloatArray  # (C, 3) [m]
    normal: FloatArray  # (C, 3) unit, from a towards b
    overlap: FloatArray  # (C,) [m]
    force: FloatArray  # (C, 3) on b, whole [N]
    normal_force: FloatArray  # (C,) >= 0 [N]
    tangential_force: FloatArray  # (C, 3) on b [N]
    status: NDArray[np.int8]  # (C,) 0 continuous, 1 rebounding from an impact, 2 sliding
    friction: FloatArray  # (C,) mu [-]
    slip: FloatArray  # (C, 3) tangential velocity of b against a at the contact [m/s], belts included

    wall_body: IndexArray  # (K,) body of each wall
    wall_position: FloatArray  # (W, 3) of the wall bodies [m]
    wall_orientation: FloatArray  # (W, 4) unit quaternion, w first
    wall_velocity: FloatArray  # (W, 3) [m/s]; NaN where an old file does not tell
    wall_spin: FloatArray  # (W, 3) [rad/s]; NaN where an old file does not tell

    aggregate: IndexArray | None = None  # (N,) -1 free, below W held by that wall body, else an aggregate; None: no model reduction
    path: Path | None = None  # of the recording

    @property
    def grain_count(self) -> int:
        return len(self.radius)

    @property
    def contact_count(self) -> int:
        return len(self.a)

    @property
    def at_wall(self) -> BoolArray:
        """(C,) contacts with a wall."""
        return self.b < 0

    @property
    def gravity_strength(self) -> float:
        """g [m/s^2]."""
        return float(np.linalg.norm(self.gravity))

    @property
    def smaller(self) -> IndexArray:
        """(C,) row of the smaller grain of each contact; of the grain, at a wall."""
        other = np.where(self.at_wall, self.a, self.b)
        return np.where(self.radius[other] < self.radius[self.a], other, self.a)

    def check_walls(self) -> None:
        """InputError if the file does not tell how the walls move."""
        if np.isnan(self.wall_velocity).any():
            raise InputError(
                f"recording {self.path} was written by an older granum and does not hold the motion of its walls. Run it again."
            )

    @classmethod
    def read(cls, recording: Recording, index: int = -1) -> Snapshot:
        """Frame ``index`` of an open recording; -1 is the last one."""
        frame, scene = recording.frame(index), recording.scene_at(index)
        c, ids = frame.contacts, frame.id
        _check_references(recording, frame, scene)
        order = np.argsort(ids, kind="stable")
        row_of = lambda names: order[np.searchsorted(ids, names, sorter=order)]  # noqa: E731
        b = np.asarray(c.b, np.int64)
        b[b >= 0] = row_of(b[b >= 0])
        time_step = frame.time / frame.step if frame.step else 0.0
        walls = vars(frame.walls) if frame.walls is not None else _walls_as_far_as_known(scene, frame.time)
        return cls.build(
            scene,
            time=frame.time,
            gravity=scene.gravity.at(max(0.0, frame.time - time_step)),
            position=frame.position,
            velocity=frame.velocity,
            spin=frame.spin,
            radius=frame.radius,
            material=frame.material,
            id=ids,
            held=_held(scene, ids),
            a=row_of(c.a),
            b=b,
            point=c.point,
            normal=c.normal,
            overlap=c.overlap,
            normal_force=c.normal_force,
            tangential_force=c.force - c.normal_force[:, None] * c.normal,
            status=c.status,
            walls=walls,
            aggregate=frame.aggregate,
            path=recording.path,
        )

    @classmethod
    def of(cls, sim: Any) -> Snapshot:
        """A simulation as it is now; its arrays are copied."""
        c, bodies = sim.contacts, sim.bodies
        walls = {name: getattr(bodies, name)[: bodies.wall_body_count].copy() for name in WALL_ARRAYS}
        return cls.build(
            sim.scene,
            time=sim.time,
            gravity=sim.scene.gravity.at(max(0.0, sim.time - sim.time_step)),
            position=np.array(sim.wrapped_position),
            velocity=sim.velocity.copy(),
            spin=sim.spin.copy(),
            radius=sim.radius.copy(),
            material=bodies.material.copy(),
            id=bodies.id.copy(),
            held=bodies.inverse_mass[bodies.grains] == 0,
            a=c.a.copy(),
            b=c.b.copy(),
            normal=c.normal.copy(),
            overlap=c.overlap.copy(),
            normal_force=c.normal_force,
            tangential_force=c.tangential_force,
            rebounding=c.rebound > 0,
            walls=walls,
            aggregate=sim.stepper.reduced.merged_into if sim.settings.reduction is not None else None,
        )

    @classmethod
    def build(
        cls,
        scene: Scene,
        *,
        position: Any,
        radius: Any,
        velocity: Any = None,
        spin: Any = None,
        material: Any = None,
        id: Any = None,
        held: Any = None,
        time: float = 0.0,
        gravity: Any = None,
        a: Any = (),
        b: Any = (),
        normal: Any = None,
        overlap: Any = 0.0,
        normal_force: Any = 0.0,
        tangential_force: Any = 0.0,
        point: Any = None,
        status: Any = None,
        rebounding: Any = False,
        walls: dict[str, Any] | None = None,
        aggregate: Any = None,
        path: Path | None = None,
    ) -> Snapshot:
        """From plain arrays; numbers stand for all rows.

        What is left out: grains at rest, of the first material; walls as the scene says for ``time`` (those that are driven or pushed
        have not moved yet); contact points half an overlap inside of a; status from the forces.
        """
        n, c = len(position), len(a)
        position, radius = _rows(position, n, 3), _rows(radius, n)
        velocity, spin = (_rows(0.0 if v is None else v, n, 3) for v in (velocity, spin))
        material = np.zeros(n, np.int32) if material is None else np.asarray(material)
        a, b = np.asarray(a, np.int64), np.asarray(b, np.int64)
        normal = _rows(0.0 if normal is None else normal, c, 3)
        overlap, normal_force, tangential_force = _rows(overlap, c), _rows(normal_force, c), _rows(tangential_force, c, 3)
        density = np.array([m.density for m in scene.materials])
        wall_body = np.array([body for body, owner in enumerate(scene.all_bodies) for _ in owner.walls], np.int64)
        wall_material = np.array([scene.material_index[wall.material] for wall in scene.all_walls], np.int32)
        friction = contact_friction(scene.pair_table().friction, material, wall_material, a, b)
        if point is None:
            point = position[a] + (radius[a] - overlap / 2)[:, None] * normal
            point = point if scene.cell is None else scene.cell.wrap(point)
        if status is None:
            status = contact_status(normal_force, tangential_force, friction, np.broadcast_to(rebounding, c))
        walls = walls if walls is not None else _walls_of(scene, time)
        return cls(
            scene=scene,
            time=time,
            gravity=scene.gravity.at(time) if gravity is None else np.asarray(gravity, float),
            position=position,
            velocity=velocity,
            spin=spin,
            radius=radius,
            mass=density[material] * np.pi / 6 * (2 * radius) ** 3,
            held=np.zeros(n, bool) if held is None else np.asarray(held),
            id=np.arange(n) if id is None else np.asarray(id),
            material=material,
            a=a,
            b=b,
            point=_rows(point, c, 3),
            normal=normal,
            overlap=overlap,
            force=normal_force[:, None] * normal + tangential_force,
            normal_force=normal_force,
            tangential_force=tangential_force,
            status=np.asarray(status, np.int8),
            friction=friction,
            slip=_slip(scene, position, velocity, spin, radius, a, b, normal, overlap, wall_body, walls),
            wall_body=wall_body,
            aggregate=None if aggregate is None else np.asarray(aggregate),
            path=path,
            **{f"wall_{name}": np.asarray(walls[name], float) for name in WALL_ARRAYS},
        )


WALL_ARRAYS = ("position", "orientation", "velocity", "spin")


def snapshots(recording: Recording, indices: Iterable[int] | None = None) -> Iterator[Snapshot]:
    """Frames of an open recording, one at a time; none: all."""
    for index in range(len(recording)) if indices is None else indices:
        yield Snapshot.read(recording, index)


def _rows(value: Any, count: int, *width: int) -> FloatArray:
    array = np.asarray(value, float)
    return array if array.shape == (count, *width) else np.broadcast_to(array, (count, *width)).copy()


def _slip(
    scene: Scene,
    position: FloatArray,
    velocity: FloatArray,
    spin: FloatArray,
    radius: FloatArray,
    a: IndexArray,
    b: IndexArray,
    normal: FloatArray,
    overlap: FloatArray,
    wall_body: IndexArray,
    walls: dict[str, Any],
) -> FloatArray:
    """(C, 3) tangential velocity [m/s] of b against a, in one point of both."""
    pair = b >= 0
    grain, other = a[pair], b[pair]
    part = 1 - overlap[pair] / (radius[grain] + radius[other])  # of both radii: the lever arms meet
    arm = np.array(radius[a])
    arm[pair] *= part
    u = -velocity[a] - np.cross(spin[a], arm[:, None] * normal)
    u[pair] += velocity[other] - np.cross(spin[other], (part * radius[other])[:, None] * normal[pair])
    if not pair.all():
        wall = -1 - b[~pair]
        body, n = wall_body[wall], normal[~pair]
        touched = position[a[~pair]] + radius[a[~pair], None] * n - walls["position"][body]
        belt = np.array([matrix(walls["orientation"][w]) @ v.surface_velocity for w, v in zip(wall_body, scene.all_walls, strict=True)])
        u[~pair] += walls["velocity"][body] + np.cross(walls["spin"][body], touched) + belt[wall]
    return u - np.einsum("ij,ij->i", u, normal)[:, None] * normal


def _walls_of(scene: Scene, time: float) -> dict[str, FloatArray]:
    """The wall bodies where the scene puts them, with the velocities of ``time`` [s]."""
    bodies = scene.all_bodies
    motion = [owner.motion.at(time) if owner.kind == "kinematic" else (owner.velocity, owner.spin) for owner in bodies]
    return {
        "position": np.array([owner.position for owner in bodies], float),
        "orientation": np.array([np.asarray(owner.orientation) / np.linalg.norm(owner.orientation) for owner in bodies]),
        "velocity": np.array([v for v, _ in motion], float),
        "spin": np.array([w for _, w in motion], float),
    }


def _check_references(recording: Recording, frame: Frame, scene: Scene) -> None:
    """Every number of a grain, wall or material that a frame names exists."""
    c, bodies = frame.contacts, len(scene.all_bodies)
    materials = frame.material
    for name, fits in (
        ("grains", np.isin(c.a, frame.id).all() and np.isin(c.b[c.b >= 0], frame.id).all()),
        ("walls", (c.b >= -len(scene.all_walls)).all() and (frame.walls is None or len(frame.walls.position) in (0, bodies))),
        ("materials", ((materials >= 0) & (materials < len(scene.materials))).all()),
    ):
        if not fits:
            raise DamagedFileError(recording.path, "recording", f"a frame names {name} that are not in it", RECORD_AGAIN)


def _walls_as_far_as_known(scene: Scene, time: float) -> dict[str, FloatArray]:
    """Of a file of version 1: walls that stand are where the scene puts them, nothing is known of the others."""
    walls = _walls_of(scene, time)
    moving = np.array([owner.kind != "static" for owner in scene.all_bodies])
    for array in walls.values():
        array[moving] = np.nan
    return walls


def _held(scene: Scene, ids: IndexArray) -> BoolArray:
    """(N,) grains of static blocks: those of the scene have the first ids, block by block."""
    if not any(block.static for block in scene.grains):
        return np.zeros(len(ids), bool)
    static = np.concatenate([np.full(len(block.place()[0]), block.static) for block in scene.grains])
    held = np.zeros(len(ids), bool)
    first = ids < len(static)
    held[first] = static[ids[first]]
    return held
