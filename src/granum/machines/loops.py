"""Loops of joints that contradict each other: a check before a run, on which nothing of the run depends.

Joints are given where the scene has their bodies, so that each holds at the start. A loop has more rows than it needs all the same, and
moves only if these agree: an axis that is tilted against the others, or an anchor that is off, locks it. Two questions are asked of the
velocities that all rows leave: does any of them move the joint, and do the joints still hold after a short way along them? What is less
than a ten-thousandth of the machine's size, or rad, counts as nothing: the joints' own softness takes it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from .._jit import kernel
from ..array_types import BoolArray, FloatArray
from ..state.bodies import Bodies, BodyArrays
from ..state.rotation import matrix, quaternion_product, quaternions
from .groups import FIXED, JointTable
from .machines import Machines
from .rows import joint_rows

SMALL = 1e-4  # of sizes, and of motions of length 1: as good as nothing
WAY = 0.3  # of the size, or rad: how far a loop is moved to see whether it holds
ROUNDS = 30  # of moving bodies back to their joints
STRAY = 1e-5  # of the size: how far joints may be off after that way, which is shared by all rows of the loop
EXACT = 1e-9  # of motions of length 1: rounding
MOST = 600  # freedoms of bodies in loops: what is larger is not looked at
WORLD = -1


@kernel
def all_rows(table: JointTable, bodies: BodyArrays, row: FloatArray, gap: FloatArray) -> None:
    """Rows (R, 12) of all joints where the bodies are."""
    for j in range(len(table.kind)):
        joint_rows(table, bodies, j, row, gap)


class _Off(NamedTuple):
    """How far a joint is off the motion that the others leave it."""

    tilt: float
    """[rad]"""
    offset: float
    """[m]"""
    resisted: float
    """How much the others resist it all the same: motions are found to ``SMALL``."""

    def words(self, size: float) -> str:
        if self.tilt > self.offset / size:
            return f"(axis tilted by {np.degrees(self.tilt):.3g} degrees)"
        return f"(anchor {self.offset:.3g} m off)"


class _Loops:
    """Joints of one machine that are parts of loops, with the freedoms of the bodies between them.

    Motions are velocities of these bodies, and their spins times ``size``: all in m/s.
    """

    def __init__(self, machines: Machines, bodies: Bodies, joints: Sequence[int]) -> None:
        self.machines, self.table, self.joints = machines, machines.table, list(joints)
        self.ends = {j: _ends(machines, j) for j in self.joints}
        self.links = sorted({end for pair in self.ends.values() for end in pair} - {WORLD})
        self.size = float(np.abs(self.table.anchor[self.joints]).max()) or 1.0
        self.start = bodies.arrays._replace(position=bodies.position.copy(), orientation=bodies.orientation.copy())
        self.moves = ~bodies.locked[machines.rows[self.links]].ravel()

    def rows(self, arrays: BodyArrays) -> tuple[FloatArray, FloatArray, FloatArray, BoolArray]:
        """G (R, freedoms), gaps (R,) [m], joints (R,), and which rows are those of turns."""
        table = self.table
        every, gaps = np.zeros((int(table.first_row[-1]), 12)), np.zeros(int(table.first_row[-1]))
        all_rows(table, arrays, every, gaps)
        mine = np.concatenate([np.arange(table.first_row[j], table.first_row[j + 1]) for j in self.joints])
        owner = np.repeat(self.joints, [table.first_row[j + 1] - table.first_row[j] for j in self.joints])
        turns = (every[mine][:, [0, 1, 2, 6, 7, 8]] == 0.0).all(axis=1)
        scale = np.where(turns, self.size, 1.0)
        found = np.zeros((len(mine), 6 * len(self.links)))
        for k, (row, j) in enumerate(zip(mine, owner, strict=True)):
            for side, end in enumerate(self.ends[j]):
                if end != WORLD:
                    at = 6 * self.links.index(end)
                    found[k, at : at + 6] += scale[k] * every[row, 6 * side : 6 * side + 6] / self._lengths
        return found[:, self.moves], gaps[mine] * scale, owner, turns

    @property
    def _lengths(self) -> FloatArray:
        return np.array([1.0, 1.0, 1.0, self.size, self.size, self.size])

    def relative(self, joint: int, motion: FloatArray) -> FloatArray:
        """(6, n) velocity at the joint and spin times size, of b against a, in motions (freedoms, n)."""
        whole = np.zeros((6 * len(self.links), motion.shape[1]))
        whole[self.moves] = motion
        found = np.zeros((6, motion.shape[1]))
        for side, end in enumerate(self.ends[joint]):
            if end != WORLD:
                at = 6 * self.links.index(end)
                arm = matrix(self.start.orientation[self.machines.rows[end]]) @ self.table.anchor[joint, side]
                velocity, spin = whole[at : at + 3], whole[at + 3 : at + 6]
                sign = 1.0 if side else -1.0
                found[:3] += sign * (velocity + np.cross(spin.T / self.size, arm).T)
                found[3:] += sign * spin
        return found

    def moved(self, arrays: BodyArrays, motion: FloatArray) -> BodyArrays:
        """Bodies after a motion (freedoms,) [m]."""
        whole = np.zeros(6 * len(self.links))
        whole[self.moves] = motion
        way = whole.reshape(-1, 6)
        rows = self.machines.rows[self.links]
        position, orientation = arrays.position.copy(), arrays.orientation.copy()
        position[rows] += way[:, :3]
        orientation[rows] = quaternion_product(quaternions(way[:, 3:] / self.size), orientation[rows])
        return arrays._replace(position=position, orientation=orientation)


def contradicting_loops(machines: Machines, bodies: Bodies) -> Iterator[tuple[str, str]]:
    """Loops of joints that hold each other, though each of them alone could move."""
    for joints in _in_loops(machines):
        loops = _Loops(machines, bodies, joints)
        if 6 * len(loops.links) > MOST:
            continue
        rows, *_ = loops.rows(loops.start)
        free = _free(rows)
        locked = [j for j in joints if np.abs(loops.relative(j, free)).max(initial=0.0) < SMALL]
        told = [words for part in _parts(machines, locked) if (words := _about_locked(_Loops(machines, bodies, part))) is not None]
        if not told and free.shape[1] > rows.shape[1] - len(rows):
            words = _about_stray(loops, free)
            told = [words] if words is not None else []
        for words in told:
            yield f"loop: {words}", words


def _about_locked(part: _Loops) -> str | None:
    """Joints that hold each other and have more rows than freedoms; None: a frame that just holds is no contradiction."""
    names = {j: repr(part.machines.names[j]) for j in part.joints}
    rows, _, owner, turns = part.rows(part.start)
    bodies = {end for pair in part.ends.values() for end in pair}
    if len(bodies) < 3 or len(rows) <= 6 * (len(bodies) - 1) or all(part.table.kind[j] == FIXED for j in part.joints):
        return None
    carried = _free(rows)  # motions of all of them as one
    found: dict[int, _Off] = {}
    for released in (turns, np.ones(len(rows), bool)):  # an axis that is off is found first: without it the joint is a ball
        for j in (j for j in part.joints if part.table.kind[j] != FIXED):
            out = released & (owner == j)
            left = _free(rows[~out])
            if out.any() and left.shape[1] > carried.shape[1]:
                found[j] = _off(part, j, rows, turns, out, left @ _free(carried.T @ left))
        if found:
            break
    told = f"the joints {', '.join(names.values())} hold each other: none of them can move"
    if not found:
        return f"{told}. Look at their axes and anchors, or take balls for hinges"
    least = min(off.resisted for off in found.values())
    culprits = {j: off for j, off in found.items() if off.resisted <= 10 * least + EXACT}
    each = ", ".join(f"{names[j]} {off.words(part.size)}" for j, off in culprits.items())
    return f"{told}. They could if one of these were otherwise: {each}"


def _off(part: _Loops, joint: int, rows: FloatArray, turns: BoolArray, out: BoolArray, motions: FloatArray) -> _Off:
    """Of the motions (freedoms, n) that a joint has without its rows ``out``, by the one that these resist least."""
    motion = motions @ np.linalg.svd(rows[out] @ motions)[2][-1]
    relative, missed = part.relative(joint, motion[:, None])[:, 0], rows @ motion
    velocity, spin = float(np.linalg.norm(relative[:3])), float(np.linalg.norm(relative[3:]))
    about, along, resisted = (float(np.linalg.norm(missed[some])) for some in (out & turns, out & ~turns, ~out))
    if spin > SMALL:
        return _Off(_angle(about, spin), part.size * along / spin, resisted)
    return _Off(_angle(along, velocity), 0.0, resisted)


def _angle(across: float, whole: float) -> float:
    """[rad] between a vector and its part along an axis."""
    return float(np.arcsin(min(1.0, across / max(whole, SMALL))))


def _about_stray(loops: _Loops, free: FloatArray) -> str | None:
    """Joints that do not hold any more after a short way along the motions that all rows leave; None: all hold."""
    weights = 1.0 / np.arange(1.0, free.shape[1] + 1)
    across = _free(free.T)
    here = loops.moved(loops.start, WAY * loops.size * (free @ (weights / np.linalg.norm(weights))))
    for _ in range(ROUNDS):
        rows, gap, *_ = loops.rows(here)
        back = across @ np.linalg.lstsq(rows @ across, -gap, rcond=SMALL)[0]
        here = loops.moved(here, back)
    _, gap, owner, _ = loops.rows(here)
    off = {j: float(np.abs(gap[owner == j]).max()) for j in loops.joints}
    if not max(off.values()) > STRAY * loops.size:
        return None
    worst = [j for j in loops.joints if off[j] > 0.3 * max(off.values())]
    joints = ", ".join(f"{loops.machines.names[j]!r} ({off[j]:.2g} m)" for j in worst)
    return (
        f"the joints of a loop do not agree: after a short way they do not hold any more, {joints}. Look at their axes and anchors; or the "
        "loop starts at a dead point, from which it can go on in more than one way"
    )


def _ends(machines: Machines, joint: int) -> tuple[int, int]:
    """Links a and b of a joint with rows; the world stands for all that is not moved."""
    a, b = machines.links.rows.link[machines.table.first_row[joint]]
    return int(a), int(b)


def _in_loops(machines: Machines) -> Iterator[list[int]]:
    """Joints of each machine that are parts of loops: what is left when links at loose ends are taken away, again and again."""
    first = machines.table.first_row
    joints = [j for j in range(len(machines.names)) if first[j + 1] > first[j]]
    while True:
        degree = Counter(end for j in joints for end in _ends(machines, j))
        inner = [j for j in joints if all(end == WORLD or degree[end] > 1 for end in _ends(machines, j))]
        if len(inner) == len(joints):
            break
        joints = inner
    of = {j: int(machines.links.machine[max(_ends(machines, j))]) for j in joints}
    for machine in sorted(set(of.values())):
        yield [j for j in joints if of[j] == machine]


def _parts(machines: Machines, joints: Sequence[int]) -> Iterator[list[int]]:
    """Joints that hang together, by bodies or by the world."""
    left = list(joints)
    while left:
        part, ends = [left[0]], set(_ends(machines, left[0]))
        grown = True
        while grown:
            more = [j for j in left if j not in part and ends & set(_ends(machines, j))]
            grown = bool(more)
            part += more
            ends |= {end for j in more for end in _ends(machines, j)}
        yield sorted(part)
        left = [j for j in left if j not in part]


def _free(rows: FloatArray) -> FloatArray:
    """(columns, n) orthonormal motions that rows (R, columns) leave, or all but leave."""
    _, sizes, motions = np.linalg.svd(rows)
    return np.asarray(motions[int((sizes > SMALL).sum()) :].T)
