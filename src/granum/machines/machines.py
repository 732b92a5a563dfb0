"""The machines of a scene: which bodies are linked, and what is known of their joints from step to step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arithmetic import length, times
from ..array_types import BoolArray, FloatArray, IntArray
from ..checks import known_name
from ..scene.joints import Ball, Cylindrical, Distance, Fixed, Hinge, Joint, Limits, Motor, Slider, Universal
from ..scene.scene import Scene
from ..state.bodies import DYNAMIC, Bodies
from ..state.rotation import matrix
from .groups import (
    AT_LOW,
    BALL,
    CYLINDER,
    CYLINDRICAL,
    FIXED,
    FORCE,
    HINGE,
    LOWER,
    POSITION,
    ROD,
    ROW_COUNT,
    SLIDER,
    SPEED,
    UNIVERSAL,
    UPPER,
    Drives,
    JointTable,
    Links,
    Rows,
)
from .rows import measure_coordinate

KINDS = {"ball": BALL, "hinge": HINGE, "slider": SLIDER, "cylindrical": CYLINDRICAL, "universal": UNIVERSAL, "fixed": FIXED}
MODES = {"speed": SPEED, "position": POSITION, "force": FORCE}


@dataclass(frozen=True)
class _Laid:
    """One joint as the table has it, with its bodies as numbers."""

    joint: Joint
    kind: int
    bodies: tuple[int, int]
    anchors: tuple[Any, Any]
    axis: Any = (0.0, 0.0, 1.0)
    other_axis: Any = None

    @property
    def rows(self) -> int:
        return ROW_COUNT[self.kind]


def machines_of(scene: Scene, bodies: Bodies, locked: bool) -> Machines | None:
    """The machines of a scene; ``locked``: bodies with locked translations are links too, if no joint holds them. None: there are none."""
    rows = np.flatnonzero(bodies.locked[: bodies.wall_body_count, :3].any(axis=1)).tolist() if locked else []
    if not scene.joints and not rows:
        return None
    made = Machines(scene, bodies, rows)
    bodies.linked = made.rows
    return made


class Machines:
    """Links, joints, motors and limits of a scene.

    ``table`` says what is fixed about the joints, ``links`` holds all that kernels work with. ``joints`` are those of the scene in
    the order of the table.
    """

    def __init__(self, scene: Scene, bodies: Bodies, alone: Sequence[int] = ()) -> None:
        """``alone``: rows of bodies that no joint needs to hold for them to be links."""
        laid = _lay(scene)
        machine_of = _machines(laid, bodies, alone)
        laid.sort(key=lambda one: machine_of[one.bodies[1] if one.bodies[1] in machine_of else one.bodies[0]])
        self.joints = [one.joint for one in laid]
        self.rows: IntArray = np.array(sorted(machine_of, key=lambda row: (machine_of[row], row)), np.int32)
        self._link_of_row = {int(row): link for link, row in enumerate(self.rows)}
        self.table = _table(laid, scene)
        self.links = self._make_links(laid, [machine_of[int(row)] for row in self.rows], bodies)
        self.motors = [
            (k, self.joints[j].motor)
            for k, j in enumerate(self.links.drives.joint)
            if self.links.drives.kind[k] in (SPEED, POSITION, FORCE)
        ]
        self.names = [joint.name for joint in self.joints]
        self.carried = np.zeros((len(laid), 8))  # impulses of the last step on b: of the joint (6), its motor and its limits [N s, N m s]
        self.size = float(np.abs(self.table.anchor).max(initial=0.0)) or 1.0  # how far joints are from the centres of their bodies [m]
        self.weak = np.zeros(len(self.links.drives.joint))  # for how long each motor has been at its largest force [s]
        self.given: dict[str, float] = {}  # set points that a controller has written, by joint

    def _make_links(self, laid: list[_Laid], machine: Sequence[int], bodies: Bodies) -> Links:
        count, machines = len(machine), machine[-1] + 1
        size = np.bincount(machine, minlength=machines)
        most = int(size.max())
        owner = [machine[next(self._link_of_row[b] for b in one.bodies if b in self._link_of_row)] for one in laid]
        rows = self._make_rows(laid, owner, machines)
        return Links(
            first=_starts(size),
            machine=np.array(machine, np.int32),
            body=self.rows.copy(),
            arm=np.zeros((count, 3)),
            full=np.searchsorted(bodies.dynamic, self.rows).astype(np.int32),
            link_of=_link_of(bodies.dynamic, self.rows),
            locked=bodies.locked[self.rows, :3].astype(np.int32),
            inverse=np.zeros((count, 6, 6)),
            touched=np.zeros(count, np.int32),
            touched_count=np.zeros(machines, np.int32),
            rank=np.full(count, -1, np.int32),
            mobility=np.zeros((count, most, 6, 6)),
            active=np.zeros((count, most, 6, 6)),
            entered=np.zeros((count, 6)),
            start=np.zeros((count, 6)),
            kept=np.zeros((count, 6)),
            base=np.zeros((count, 6)),
            wrench=np.zeros((count, 6)),
            wrench_before=np.zeros((count, 6)),
            changed=np.zeros(2, np.int32),
            rows=rows,
            drives=self._make_drives(laid, owner, machines, most),
        )

    def _two_links(self, one: _Laid) -> list[int]:
        return [self._link_of_row.get(b, -1) for b in one.bodies]

    def _make_rows(self, laid: list[_Laid], owner: list[int], machines: int) -> Rows:
        size = np.bincount(owner, [one.rows for one in laid], machines).astype(int)
        link = np.array([self._two_links(one) for one in laid for _ in range(one.rows)], np.int32).reshape(-1, 2)
        count = len(link)
        numbers = {name: np.zeros(count) for name in ("gap", "drift", "softness", "target", "impulse", "work")}
        return Rows(
            first=_starts(size),
            joint=np.repeat(np.arange(len(laid), dtype=np.int32), [one.rows for one in laid]),
            link=link,
            row=np.zeros((count, 12)),
            pushed=np.zeros((count, 12)),
            factor=np.zeros(int((size**2).sum())),
            factor_first=_starts(size**2),
            **numbers,
        )

    def _make_drives(self, laid: list[_Laid], owner: list[int], machines: int, most: int) -> Drives:
        found: list[tuple[int, int, float, float, float]] = []  # joint, kind, place of a limit, strength, restitution
        for j, one in enumerate(laid):
            motor: Motor | None = getattr(one.joint, "motor", None)
            limits: Limits | None = getattr(one.joint, "limits", None)
            if motor is not None:
                strength = motor.force_limit if motor.force_limit is not None else np.inf
                found.append((j, MODES[motor.mode], 0.0, strength, 0.0))
            if limits is not None:
                ends = ((LOWER, limits.lower), (UPPER, limits.upper))
                found += [(j, kind, place, np.inf, limits.restitution) for kind, place in ends if place is not None]
        count = len(found)
        joint = np.array([row[0] for row in found], np.int32)
        size = np.bincount([owner[j] for j in joint], minlength=machines)
        largest = max(1, int(size.max())) if count else 1
        numbers = {name: np.zeros(count) for name in ("drift", "softness", "target", "missing", "lack", "impulse")}
        return Drives(
            first=_starts(size),
            joint=joint,
            kind=np.array([row[1] for row in found], np.int32),
            link=np.array([self._two_links(laid[j]) for j in joint], np.int32).reshape(-1, 2),
            row=np.zeros((count, 12)),
            column=np.zeros((count, most, 6)),
            weight=np.zeros((count, largest)),
            coordinate=np.zeros(len(laid)),
            set_point=np.array([(row[2], row[2]) for row in found]).reshape(-1, 2),
            strength=np.array([row[3] for row in found], float),
            restitution=np.array([row[4] for row in found], float),
            bounds=np.zeros((count, 2)),
            status=np.full(count, AT_LOW, np.int32),
            built=np.full(count, AT_LOW, np.int32),
            work=np.zeros((4 + largest, largest)),
            **numbers,
        )

    @property
    def is_linked(self) -> BoolArray:
        """(bodies before the grains,) which of them are links."""
        found = np.zeros(int(self.rows.max()) + 1, bool)
        found[self.rows] = True
        return found

    @property
    def drift(self) -> float:
        """How far [m, rad] the worst joint was from its place at the start of the last step."""
        return float(np.abs(self.links.rows.gap).max(initial=0.0))

    def aim_motors(self, time: float, h: float) -> None:
        """Set points of all motors at ``time`` [s] and a step later; a step begins."""
        self.carried[:] = 0.0
        points = self.links.drives.set_point
        for k, motor in self.motors:
            joint = self.joints[self.links.drives.joint[k]]
            if joint.name in self.given:
                points[k] = self.given[joint.name]
            else:
                points[k] = motor.target(time), motor.target(time + h)

    def number(self, name: str) -> int:
        """The place of a joint of the scene in the table."""
        return self.names.index(known_name("joint", name, self.names))

    def coordinate(self, joint: int, bodies: Bodies) -> float:
        """Of a joint where its bodies are now [m, rad]; angles near the one of the last step. NaN: it has none."""
        return self._measured(joint, bodies)[0]

    def speed(self, joint: int, bodies: Bodies) -> float:
        """Its rate [m/s, rad/s]; NaN: it has none."""
        return self._measured(joint, bodies)[1]

    def _measured(self, joint: int, bodies: Bodies) -> tuple[float, float]:
        given = self.joints[joint]
        if not given.has_coordinate:
            return math.nan, math.nan
        found: tuple[float, float] = measure_coordinate(self.table, bodies.arrays, joint, self.links.drives.coordinate[joint])
        return found

    def checkpoint(self) -> dict[str, Any]:
        """What the next step depends on."""
        drives = self.links.drives
        return {
            "status": drives.status,
            "impulse": drives.impulse,
            "coordinate": drives.coordinate,
            "carried": self.carried,
            "given": dict(self.given),
            "weak": self.weak,
        }

    def restore(self, saved: dict[str, Any]) -> None:
        drives = self.links.drives
        for name in ("status", "impulse", "coordinate"):
            getattr(drives, name)[:] = saved[name]
        self.weak[:], self.carried[:] = saved["weak"], saved.get("carried", 0.0)
        self.given = {name: float(value) for name, value in saved["given"].items()}


def _starts(sizes: Any) -> IntArray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)


def _link_of(full: IntArray, rows: IntArray) -> IntArray:
    """(F,) the link that each body with full inertia is, or -1."""
    found = np.full(len(full), -1, np.int32)
    found[np.searchsorted(full, rows)] = np.arange(len(rows))
    return found


def _lay(scene: Scene) -> list[_Laid]:
    """All joints of a scene, with the bodies as numbers."""
    number = {body.name: k for k, body in enumerate(scene.all_bodies)}
    laid = []
    for joint in scene.joints:
        a, b = (number[name] for name in joint.bodies)
        if isinstance(joint, Distance):
            laid.append(_Laid(joint, ROD if joint.is_rod else CYLINDER, (a, b), joint.anchors))
            continue
        at = joint.anchor if joint.anchor is not None else scene.all_bodies[b].position
        axis = joint.axis if isinstance(joint, (Hinge, Slider, Cylindrical, Universal)) else (0.0, 0.0, 1.0)
        other = joint.other_axis if isinstance(joint, Universal) else None
        assert isinstance(joint, (Ball, Hinge, Slider, Cylindrical, Universal, Fixed))
        laid.append(_Laid(joint, KINDS[joint.kind], (a, b), (at, at), axis, other))
    return laid


def _machines(laid: Sequence[_Laid], bodies: Bodies, alone: Sequence[int]) -> dict[int, int]:
    """The machine of every row that joints link, and of those ``alone``, numbered in the order of the rows."""
    parent = {row: row for rows in (*(one.bodies for one in laid), alone) for row in rows if bodies.kind[row] == DYNAMIC}

    def root(row: int) -> int:
        while parent[row] != row:
            row = parent[row]
        return row

    for one in laid:
        a, b = one.bodies
        if a in parent and b in parent:
            low, high = sorted((root(a), root(b)))
            parent[high] = low
    number = {row: k for k, row in enumerate(sorted({root(row) for row in parent}))}
    return {row: number[root(row)] for row in parent}


def _across(u: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Two unit vectors that complete u to a right-handed basis."""
    x, y, z = u
    sign = 1.0 if z >= 0.0 else -1.0
    f = -1.0 / (sign + z)
    g = x * y * f
    return np.array([1.0 + sign * x * x * f, sign * g, -sign * x]), np.array([g, sign + y * y * f, -y])


def _table(laid: Sequence[_Laid], scene: Scene) -> JointTable:
    """Anchors and axes in the frames of the bodies as the scene places them."""
    count = len(laid)
    anchor, axes, size = np.zeros((count, 2, 3)), np.zeros((count, 2, 3, 3)), np.zeros(count)
    for j, one in enumerate(laid):
        u = np.asarray(one.axis, float) / length(one.axis)
        basis = [u, *_across(u)]
        size[j] = length(np.subtract(*one.anchors))
        for side, row in enumerate(one.bodies):
            body = scene.all_bodies[row]
            back = matrix(np.asarray(body.orientation, float)).T
            anchor[j, side] = times(back, np.asarray(one.anchors[side], float) - np.asarray(body.position, float))
            own = basis
            if side == 1 and one.other_axis is not None:
                v = np.asarray(one.other_axis, float) / length(one.other_axis)
                own = [v, *_across(v)]
            axes[j, side] = [times(back, e) for e in own]
    return JointTable(
        kind=np.array([one.kind for one in laid], np.int32),
        body=np.array([one.bodies for one in laid], np.int32).reshape(-1, 2),
        anchor=anchor,
        axes=axes,
        length=size,
        first_row=_starts([one.rows for one in laid]),
    )
