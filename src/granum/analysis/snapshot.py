"""A snapshot: one frame of a run and what its scene says, as plain arrays. All measures start from it.

Contacts, their normals, overlaps and forces are those of the step that led to the frame, found at its start; positions and velocities
are those at its end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..array_types import BoolArray, FloatArray, IndexArray
from ..checks import InputError, known_name
from ..io import Frame, FrameJoints, Recording
from ..io.not_recorded import NotRecorded
from ..io.read import RECORD_AGAIN, DamagedFileError
from ..notebook import Pictured
from ..state.status import contact_friction, contact_status
from .snapshot_rows import ContactRows, GrainRows, rows_of, slip

if TYPE_CHECKING:
    from ..scene.scene import Scene


@dataclass(frozen=True)
class BodyState:
    """A body of the scene; SI units, world axes. Forces are None where they are not recorded."""

    position: FloatArray  # (3,) [m]
    orientation: FloatArray  # (4,) unit quaternion, w first
    velocity: FloatArray  # (3,) [m/s]
    spin: FloatArray  # (3,) [rad/s]
    force: FloatArray | None  # (3,) of all that touches it [N]; of a recorded frame: mean since the last one
    torque: FloatArray | None  # (3,) about its position [N m]
    power: float | None  # [W]


@dataclass(frozen=True)
class JointState:
    """A joint of the scene; SI units, world axes. Forces of a recorded frame are means since the last one."""

    coordinate: float  # [m, rad]; NaN: it has none
    speed: float  # [m/s, rad/s]
    force: FloatArray  # (3,) on its second body [N]
    torque: FloatArray  # (3,) about the centre of mass of that body [N m]
    motor_force: float  # [N, N m]
    limit_force: float  # [N, N m]


@dataclass(frozen=True, repr=False)
class Snapshot(Pictured):
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
    mass: FloatArray  # (N,) [kg], from density and radius, also of static grains
    static: BoolArray  # (N,) grains that never move
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
    wall_velocity: FloatArray  # (W, 3) [m/s]
    wall_spin: FloatArray  # (W, 3) [rad/s]

    wall_force: FloatArray | None = None  # (W, 3) of all that touches the body [N], mean since the last frame; None: not recorded
    wall_torque: FloatArray | None = None  # (W, 3) about its position [N m]
    wall_power: FloatArray | None = None  # (W,) [W]
    joints: FrameJoints | None = None  # in the order of the scene; None: there are none, or they are not recorded

    more: Mapping[str, Any] = field(default_factory=dict)  # (N, ...) what extensions record of grains, by the names that ``Bodies`` has
    path: Path | None = None  # of the recording

    def __repr__(self) -> str:
        return f"Snapshot({self.scene.name}, t = {self.time:.6g} s, {self.grain_count} grains, {self.contact_count} contacts)"

    @property
    def merged_into(self) -> IndexArray | None:
        """(N,) what each grain moves with: -1 nothing, below W that wall body, else a body of merged grains. None: grains never merge."""
        return self.more.get("merged_into")

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

    def body(self, name: str) -> BodyState:
        """A body of the scene by its name, ``ground`` too."""
        row = self.scene.body_number(name)
        parts = {part: getattr(self, f"wall_{part}") for part in (*WALL_ARRAYS, *LOADS)}
        found: dict[str, Any] = {part: None if rows is None else rows[row] for part, rows in parts.items()}
        return BodyState(**found)

    def joint(self, name: str) -> JointState:
        """A joint of the scene by its name."""
        names = [joint.name for joint in self.scene.joints]
        row = names.index(known_name("joint", name, names))
        if self.joints is None:
            raise InputError(f"{self.path} holds no joints: an older version wrote it. Run it again.")
        return JointState(**{part: rows[row] for part, rows in vars(self.joints).items()})

    @classmethod
    def read(cls, recording: Recording, index: int = -1) -> Snapshot:
        """Frame ``index`` of an open recording; -1 is the last one."""
        frame, scene = recording.frame(index), recording.scene_at(index)
        ids = frame.id
        _check_references(recording, frame, scene)
        lacking = [name for name in LACKING if name not in recording.recorded]
        time_step = frame.time / frame.step if frame.step else 0.0
        known = cls.build(
            scene,
            GrainRows(
                position=frame.position,
                velocity=frame.velocity if "velocity" not in lacking else 0.0,
                spin=frame.spin if "spin" not in lacking else 0.0,
                radius=frame.radius,
                material=frame.material,
                id=ids,
                static=static_grains(scene, ids),
                more={column.attribute: frame.more[column.name] for column in recording.columns},
            ),
            _contact_rows(frame) if "contacts" not in lacking else None,
            vars(frame.walls),
            frame.joints,
            time=frame.time,
            gravity=scene.gravity.at(max(0.0, frame.time - time_step)),
            path=recording.path,
        )
        holes: dict[str, Any] = {field: NotRecorded(name, recording.path) for name in lacking for field in LACKING[name]}
        return replace(known, **holes)

    @classmethod
    def of(cls, sim: Any) -> Snapshot:
        """A simulation as it is now; its arrays are copied."""
        c, bodies = sim.contacts, sim.bodies
        walls = {name: getattr(bodies, name)[: bodies.wall_body_count].copy() for name in WALL_ARRAYS}
        push = sim.stepper.pushes(sim.time_step)
        walls |= {"force": push[:, :3], "torque": push[:, 3:]}
        walls["power"] = (push[:, :3] * walls["velocity"]).sum(axis=1) + (push[:, 3:] * walls["spin"]).sum(axis=1)
        return cls.build(
            sim.scene,
            GrainRows(
                position=np.array(sim.wrapped_position),
                velocity=sim.velocity.copy(),
                spin=sim.spin.copy(),
                radius=sim.radius.copy(),
                material=bodies.material.copy(),
                id=bodies.id.copy(),
                static=bodies.inverse_mass[bodies.grains] == 0,
                more={
                    column.attribute: np.array(getattr(bodies, column.attribute)) for f in sim.settings.extensions for column in f.columns
                },
            ),
            ContactRows(
                a=c.a.copy(),
                b=c.b.copy(),
                normal=c.normal.copy(),
                overlap=c.overlap.copy(),
                normal_force=c.normal_force,
                tangential_force=c.tangential_force,
                point=c.point,
                rebounding=c.rebound > 0,
            ),
            walls,
            _joints_of(sim),
            time=sim.time,
            gravity=sim.scene.gravity.at(max(0.0, sim.time - sim.time_step)),
        )

    @classmethod
    def build(
        cls,
        scene: Scene,
        grains: GrainRows,
        contacts: ContactRows | None = None,
        walls: Mapping[str, Any] | None = None,
        joints: FrameJoints | None = None,
        *,
        time: float = 0.0,
        gravity: Any = None,
        path: Path | None = None,
    ) -> Snapshot:
        """From plain arrays; none: no contacts, and walls as the scene says for ``time``.

        Walls that are driven by a velocity alone, without a path, have not moved yet.
        """
        g = grains.filled()
        c = (contacts or ContactRows()).filled()
        density = np.array([m.density for m in scene.materials])
        wall_body = np.array([body for body, owner in enumerate(scene.all_bodies) for _ in owner.walls], np.int64)
        wall_material = np.array([scene.material_index[wall.material] for wall in scene.all_walls], np.int32)
        friction = contact_friction(scene.pair_table().friction, g.material, wall_material, c.a, c.b)
        point, status = c.point, c.status
        if point is None:
            point = g.position[c.a] + (g.radius[c.a] - c.overlap / 2)[:, None] * c.normal
            point = point if scene.cell is None else scene.cell.wrap(point)
        if status is None:
            status = contact_status(c.normal_force, c.tangential_force, friction, np.broadcast_to(c.rebounding, len(c.a)))
        walls = walls if walls is not None else _walls_of(scene, time)
        return cls(
            scene=scene,
            time=time,
            gravity=scene.gravity.at(time) if gravity is None else np.asarray(gravity, float),
            position=g.position,
            velocity=g.velocity,
            spin=g.spin,
            radius=g.radius,
            mass=density[g.material] * np.pi / 6 * (2 * g.radius) ** 3,
            static=g.static,
            id=g.id,
            material=g.material,
            a=c.a,
            b=c.b,
            point=rows_of(point, len(c.a), 3),
            normal=c.normal,
            overlap=c.overlap,
            force=c.normal_force[:, None] * c.normal + c.tangential_force,
            normal_force=c.normal_force,
            tangential_force=c.tangential_force,
            status=np.asarray(status, np.int8),
            friction=friction,
            slip=slip(scene, g, c, wall_body, walls),
            wall_body=wall_body,
            more=g.more,
            path=path,
            joints=joints,
            **{f"wall_{name}": np.asarray(walls[name], float) for name in WALL_ARRAYS},
            wall_force=walls.get("force"),
            wall_torque=walls.get("torque"),
            wall_power=walls.get("power"),
        )


LACKING = {
    "velocity": ("velocity", "slip"),
    "spin": ("spin", "slip"),
    "contacts": ("a", "b", "point", "normal", "overlap", "force", "normal_force", "tangential_force", "status", "friction", "slip"),
}
"""Arrays that a snapshot has not, where these are not recorded."""
WALL_ARRAYS = ("position", "orientation", "velocity", "spin")
LOADS = ("force", "torque", "power")


def _contact_rows(frame: Frame) -> ContactRows:
    """Contacts of a frame, by rows of its grains instead of ids."""
    c, ids = frame.contacts, frame.id
    order = np.argsort(ids, kind="stable")
    row_of = lambda names: order[np.searchsorted(ids, names, sorter=order)]  # noqa: E731
    b = np.asarray(c.b, np.int64)
    b[b >= 0] = row_of(b[b >= 0])
    return ContactRows(
        a=row_of(c.a),
        b=b,
        point=c.point,
        normal=c.normal,
        overlap=c.overlap,
        normal_force=c.normal_force,
        tangential_force=c.force - c.normal_force[:, None] * c.normal,
        status=c.status,
    )


def _joints_of(sim: Any) -> FrameJoints | None:
    """Joints of a simulation, with the forces of its last step."""
    views = [sim.joint(joint.name) for joint in sim.scene.joints]
    if not views:
        return None
    return FrameJoints(**{part.name: np.array([getattr(view, part.name) for view in views], float) for part in fields(FrameJoints)})


def snapshots(recording: Recording, indices: Iterable[int] | None = None) -> Iterator[Snapshot]:
    """Frames of an open recording, one at a time; none: all."""
    for index in range(len(recording)) if indices is None else indices:
        yield Snapshot.read(recording, index)


def _walls_of(scene: Scene, time: float) -> dict[str, FloatArray]:
    """The wall bodies where the scene puts them, on paths where these have them at ``time`` [s], with the velocities of that time."""
    bodies = scene.all_bodies
    motion = [owner.velocity_at(time) if owner.kind == "kinematic" else (owner.velocity, owner.spin) for owner in bodies]
    pose = [(np.asarray(owner.position, float), np.asarray(owner.orientation) / np.linalg.norm(owner.orientation)) for owner in bodies]
    for row, owner in enumerate(bodies):
        if owner.kind == "kinematic" and np.isfinite(motion[row][0]).all() and owner.path is not None:
            pose[row] = owner.path.pose(time)
    return {
        "position": np.array([place for place, _ in pose], float),
        "orientation": np.array([turned for _, turned in pose], float),
        "velocity": np.array([v for v, _ in motion], float),
        "spin": np.array([w for _, w in motion], float),
    }


def _check_references(recording: Recording, frame: Frame, scene: Scene) -> None:
    """Every number of a grain, wall or material that a frame names exists."""
    a, b = (frame.contacts.a, frame.contacts.b) if "contacts" in recording.recorded else (frame.id[:0], frame.id[:0])
    materials, bodies = frame.material, len(scene.all_bodies)
    for name, fits in (
        ("grains", np.isin(a, frame.id).all() and np.isin(b[b >= 0], frame.id).all()),
        ("walls", (b >= -len(scene.all_walls)).all() and len(frame.walls.position) == bodies),
        ("materials", ((materials >= 0) & (materials < len(scene.materials))).all()),
    ):
        if not fits:
            raise DamagedFileError(recording.path, "recording", f"a frame names {name} that are not in it", RECORD_AGAIN)


def static_grains(scene: Scene, ids: IndexArray) -> BoolArray:
    """(N,) grains of blocks that are static or fixed to a body: those of the scene have the first ids, block by block."""
    if not any(block.held for block in scene.grains):
        return np.zeros(len(ids), bool)
    of_scene = np.concatenate([np.full(len(block.place()[0]), block.held) for block in scene.grains])
    static = np.zeros(len(ids), bool)
    first = ids < len(of_scene)
    static[first] = of_scene[ids[first]]
    return static
