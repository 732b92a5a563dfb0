"""Rigid aggregates: mass, centre, inertia and momentum of grains that move as one, and their motion (MR (6)-(13), physics 7).

Bodies that grains can be part of are numbered through: first the carriers, which are driven or stand still (the ground, a drum, a belt)
and hold their grains, then the aggregates, which are pushed. A grain of either moves with it and keeps its row in all arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._jit import device, kernel
from ..arithmetic import cos, dot, length, product, sin, solve, times, total
from ..array_types import FloatArray, IntArray, LongArray
from ..checks import InputError
from ..detection.walls import WallTable, surface_velocity
from ..parallel import LIGHT, Team
from ..parallel.barrier import share, wait
from ..state.bodies import DYNAMIC, STATIC, Bodies
from ..state.motion import turn_body
from ..state.rotation import matrix, turn

CHUNK = 1024  # grains whose energies are summed up in one go


@kernel
def sum_momenta(
    member: IntArray,
    group: IntArray,
    first: int,
    position: FloatArray,
    velocity: FloatArray,
    inverse_mass: FloatArray,
    mass: FloatArray,
    centre: FloatArray,
    speed: FloatArray,
) -> None:
    """Add mass, first moment and momentum of the ``member`` grains to those of their ``group``."""
    for n in range(len(member)):
        k, g = first + member[n], group[n]
        m = 1.0 / inverse_mass[k]
        mass[g] += m
        for f in range(3):
            centre[g, f] += m * position[k, f]
            speed[g, f] += m * velocity[k, f]


@kernel
def sum_turns(
    member: IntArray,
    group: IntArray,
    first: int,
    position: FloatArray,
    velocity: FloatArray,
    spin: FloatArray,
    radius: FloatArray,
    inverse_mass: FloatArray,
    centre: FloatArray,
    speed: FloatArray,
    inertia: FloatArray,
    momentum: FloatArray,
) -> None:
    """Add inertia and angular momentum of the ``member`` grains about the centre of their ``group``; spins and own inertia included."""
    for n in range(len(member)):
        k, g = first + member[n], group[n]
        m = 1.0 / inverse_mass[k]
        own = 0.4 * m * radius[member[n]] ** 2
        x, y, z = position[k, 0] - centre[g, 0], position[k, 1] - centre[g, 1], position[k, 2] - centre[g, 2]
        u, v, w = velocity[k, 0] - speed[g, 0], velocity[k, 1] - speed[g, 1], velocity[k, 2] - speed[g, 2]
        i = inertia[g]
        i[0, 0] += m * (y * y + z * z) + own
        i[1, 1] += m * (z * z + x * x) + own
        i[2, 2] += m * (x * x + y * y) + own
        i[0, 1] -= m * x * y
        i[0, 2] -= m * x * z
        i[1, 2] -= m * y * z
        momentum[g, 0] += m * (y * w - z * v) + own * spin[k, 0]
        momentum[g, 1] += m * (z * u - x * w) + own * spin[k, 1]
        momentum[g, 2] += m * (x * v - y * u) + own * spin[k, 2]


@device
def set_rigid(k, x, y, z, v, w, velocity, spin):
    """Velocity of a point (x, y, z) [m] from the centre of a body with velocity v and spin w."""
    velocity[k, 0] = v[0] + w[1] * z - w[2] * y
    velocity[k, 1] = v[1] + w[2] * x - w[0] * z
    velocity[k, 2] = v[2] + w[0] * y - w[1] * x
    spin[k, 0], spin[k, 1], spin[k, 2] = w[0], w[1], w[2]


@kernel
def move_members(
    thread: int,
    threads: int,
    barrier: LongArray,
    aggregate: IntArray,
    first: int,
    h: float,
    still: FloatArray,
    centre: FloatArray,
    shift: FloatArray,
    turned: FloatArray,
    speed: FloatArray,
    turning: FloatArray,
    new_turning: FloatArray,
    gx: float,
    gy: float,
    gz: float,
    inverse_mass: FloatArray,
    position: FloatArray,
    orientation: FloatArray,
    velocity: FloatArray,
    spin: FloatArray,
    gained: FloatArray,
) -> None:
    """Move the grains of all bodies that are not ``still`` (bodies,): turn about the old centre, shift, and take the body's new motion.

    ``still`` is 1 for carriers at rest, 0 for those that move and -1 for aggregates. ``gained`` (chunks,) is the kinetic and gravitational
    energy [J] that carriers bring to the grains of each chunk; to those of aggregates nobody brings any.
    """
    low, high = share(len(gained), thread, threads)
    for chunk in range(low, high):
        total = 0.0
        for i in range(chunk * CHUNK, min((chunk + 1) * CHUNK, len(aggregate))):
            body = aggregate[i]
            if body < 0 or still[body] > 0.0:
                continue
            k = first + i
            if turning[body, 0] == 0.0 and turning[body, 1] == 0.0 and turning[body, 2] == 0.0 and still[body] == 0.0:
                if inverse_mass[k] > 0.0:  # a carrier that only shifts: its grains have its velocity already
                    for f in range(3):
                        position[k, f] += shift[body, f]
                    total -= (gx * shift[body, 0] + gy * shift[body, 1] + gz * shift[body, 2]) / inverse_mass[k]
                continue
            x, y, z = position[k, 0] - centre[body, 0], position[k, 1] - centre[body, 1], position[k, 2] - centre[body, 2]
            r = turned[body]
            px = r[0, 0] * x + r[0, 1] * y + r[0, 2] * z
            py = r[1, 0] * x + r[1, 1] * y + r[1, 2] * z
            pz = r[2, 0] * x + r[2, 1] * y + r[2, 2] * z
            nx = centre[body, 0] + shift[body, 0] + px
            ny = centre[body, 1] + shift[body, 1] + py
            nz = centre[body, 2] + shift[body, 2] + pz
            if inverse_mass[k] > 0.0:
                square = velocity[k, 0] ** 2 + velocity[k, 1] ** 2 + velocity[k, 2] ** 2
                lifted = gx * (nx - position[k, 0]) + gy * (ny - position[k, 1]) + gz * (nz - position[k, 2])
                position[k, 0], position[k, 1], position[k, 2] = nx, ny, nz
                turn(orientation, k, turning[body, 0], turning[body, 1], turning[body, 2], h)
                set_rigid(k, px, py, pz, speed[body], new_turning[body], velocity, spin)
                if still[body] == 0.0:
                    after = velocity[k, 0] ** 2 + velocity[k, 1] ** 2 + velocity[k, 2] ** 2
                    total += (0.5 * (after - square) - lifted) / inverse_mass[k]
        gained[chunk] = total
    wait(barrier, threads)


@kernel
def set_members(
    member: IntArray,
    body: IntArray,
    first: int,
    centre: FloatArray,
    speed: FloatArray,
    turning: FloatArray,
    position: FloatArray,
    velocity: FloatArray,
    spin: FloatArray,
) -> None:
    """Give grains the motion of the bodies that they are part of."""
    for n in range(len(member)):
        k, g = first + member[n], body[n]
        set_rigid(
            k,
            position[k, 0] - centre[g, 0],
            position[k, 1] - centre[g, 1],
            position[k, 2] - centre[g, 2],
            speed[g],
            turning[g],
            velocity,
            spin,
        )


class Aggregates:
    """The bodies that grains are part of: ``carrier_count`` carriers, then aggregates.

    ``centre``, ``velocity``, ``spin`` (M, 3) [m, m/s, rad/s], ``mass`` (M,) [kg] and ``inertia`` (M, 3, 3) [kg m^2] in world axes, the last
    two of aggregates only; ``used`` (M,) those that exist. ``wall`` (W,) the aggregate that a dynamic wall body is part of, -1: none.
    """

    def __init__(self, bodies: Bodies, walls: WallTable, spinning: IntArray) -> None:
        """``spinning`` (W,) 1 for kinematic wall bodies that ever turn: their belts carry nothing."""
        self.bodies, self.walls = bodies, walls
        owner, belts = walls.body, np.abs(walls.surface_velocity).max(axis=1, initial=0.0) > 0.0
        self.of_wall = np.full(len(owner), -1, np.int32)  # carrier of each wall
        carriers: list[tuple[int, int]] = [(0, -1)]  # body and belt; the ground comes first
        for k, body in enumerate(owner):
            if bodies.kind[body] == DYNAMIC or (belts[k] and spinning[body]):
                continue
            own = (0 if bodies.kind[body] == STATIC else int(body), k if belts[k] else -1)
            if own not in carriers:
                carriers.append(own)
            self.of_wall[k] = carriers.index(own)
        self.carrier_body = np.array([body for body, _ in carriers], np.int32)
        self.carrier_belt = np.array([belt for _, belt in carriers], np.int32)
        self.carrier_count = len(carriers)
        self.travel = np.zeros((len(carriers), 3))  # of belts since the start [m]
        self.wall = np.full(bodies.wall_body_count, -1, np.int32)
        self._grow(self.carrier_count)
        self.used[: self.carrier_count] = True
        self.drive()

    def _grow(self, room: int) -> None:
        old = len(self.used) if hasattr(self, "used") else 0
        for name, shape, dtype in (
            ("centre", (3,), float),
            ("velocity", (3,), float),
            ("spin", (3,), float),
            ("mass", (), float),
            ("inertia", (3, 3), float),
            ("used", (), bool),
        ):
            new = np.zeros((room, *shape), dtype)
            if old:
                new[:old] = getattr(self, name)
            setattr(self, name, new)

    centre: FloatArray
    velocity: FloatArray
    spin: FloatArray
    mass: FloatArray
    inertia: FloatArray
    used: np.ndarray

    @property
    def alive(self) -> IntArray:
        """Numbers of the aggregates that exist."""
        return (self.carrier_count + np.flatnonzero(self.used[self.carrier_count :])).astype(np.int32)

    def pose_of(self, carrier: int) -> tuple[FloatArray, FloatArray]:
        """Where a carrier is [m] and how it is turned (3, 3)."""
        body = self.carrier_body[carrier]
        return self.bodies.position[body] + self.travel[carrier], matrix(self.bodies.orientation[body])

    def drive(self) -> IntArray:
        """Read the motion of all carriers; returns those whose motion has changed."""
        n, body = self.carrier_count, self.carrier_body
        velocity, spin = self.bodies.velocity[body], self.bodies.spin[body].copy()
        belts = self.carrier_belt >= 0
        if belts.any():
            velocity = velocity.copy()
            velocity[belts] += surface_velocity(self.walls, self.bodies.orientation)[self.carrier_belt[belts]]
        static = self.bodies.kind[body] == STATIC
        spin[static] = 0.0
        changed = (velocity != self.velocity[:n]).any(axis=1) | (spin != self.spin[:n]).any(axis=1)
        self.centre[:n], self.velocity[:n], self.spin[:n] = self.bodies.position[body], velocity, spin
        return np.flatnonzero(changed).astype(np.int32)

    def form(self, member: IntArray, group: IntArray, count: int, wall: IntArray, wall_group: IntArray) -> IntArray:
        """Make aggregates of grains ``member`` (n,) and dynamic wall bodies ``wall`` by ``group``, of ``count``; returns their numbers.

        Mass, momentum and angular momentum are those of the members, to the last digits.
        """
        b, first = self.bodies, self.bodies.wall_body_count
        mass, centre, speed = np.zeros(count), np.zeros((count, 3)), np.zeros((count, 3))
        inertia, momentum = np.zeros((count, 3, 3)), np.zeros((count, 3))
        sum_momenta(member, group, first, b.position, b.velocity, b.inverse_mass, mass, centre, speed)
        own = 1.0 / b.inverse_mass[wall]
        np.add.at(mass, wall_group, own)
        np.add.at(centre, wall_group, own[:, None] * b.position[wall])
        np.add.at(speed, wall_group, own[:, None] * b.velocity[wall])
        centre /= mass[:, None]
        speed /= mass[:, None]
        sum_turns(member, group, first, b.position, b.velocity, b.spin, b.radius, b.inverse_mass, centre, speed, inertia, momentum)
        inertia[:, 1, 0], inertia[:, 2, 0], inertia[:, 2, 1] = inertia[:, 0, 1], inertia[:, 0, 2], inertia[:, 1, 2]
        for w, g, m in zip(wall, wall_group, own, strict=True):
            r, u, turned = b.position[w] - centre[g], b.velocity[w] - speed[g], matrix(b.orientation[w])
            principal = product(turned * b.inertia[w], turned.T)
            inertia[g] += m * (dot(r, r) * np.eye(3) - np.outer(r, r)) + principal
            momentum[g] += m * np.cross(r, u) + times(principal, b.spin[w])
        number = self._room_for(count)
        self.used[number] = True
        self.mass[number], self.centre[number], self.velocity[number], self.inertia[number] = mass, centre, speed, inertia
        self.spin[number] = solve(inertia, momentum)
        b.aggregate[member] = number[group]
        b.movable[first + member] = 0.0
        self.wall[wall] = number[wall_group]
        b.movable[wall] = 0.0
        self.carry(member, wall)
        return number

    def _room_for(self, count: int) -> IntArray:
        """The lowest numbers that are not used."""
        free = self.carrier_count + np.flatnonzero(~self.used[self.carrier_count :])
        if len(free) < count:
            self._grow(2 * len(self.used) + count)
            free = self.carrier_count + np.flatnonzero(~self.used[self.carrier_count :])
        return free[:count].astype(np.int32)

    def hold(self, member: IntArray, carrier: IntArray) -> None:
        """Let carriers hold grains; these take their motion."""
        b = self.bodies
        b.aggregate[member] = carrier
        b.movable[b.wall_body_count + member] = 0.0
        self.carry(member, np.zeros(0, np.int32))

    def release(self, member: IntArray) -> None:
        """Free grains; they keep their motion."""
        b = self.bodies
        b.aggregate[member] = -1
        b.movable[b.wall_body_count + member] = b.inverse_mass[b.wall_body_count + member]

    def carry(self, member: IntArray, wall: IntArray) -> None:
        """Give grains and wall bodies the motion of what they are part of."""
        b = self.bodies
        arrays = (self.centre, self.velocity, self.spin, b.position, b.velocity, b.spin)
        set_members(member, b.aggregate[member], b.wall_body_count, *arrays)
        set_members(wall, self.wall[wall], 0, *arrays)

    def move(self, team: Team, h: float, gravity: FloatArray) -> float:
        """Move all members over a step; returns the energy [J] that carriers brought to the grains they hold.

        The wall bodies that carry have moved already. A free aggregate keeps its angular momentum exactly.
        """
        b, n = self.bodies, self.carrier_count
        count = len(self.used)
        turned = np.broadcast_to(np.eye(3), (count, 3, 3)).copy()
        shift = h * self.velocity
        spinning = np.flatnonzero(self.spin.any(axis=1) & self.used)
        if len(spinning):
            turned[spinning] = rotations(h * self.spin[spinning])
        self.travel += np.where(self.carrier_belt[:, None] >= 0, shift[:n] - h * b.velocity[self.carrier_body], 0.0)
        old_spin = self.spin.copy()
        alive = self.alive
        if len(alive):
            momentum = times(self.inertia[alive], self.spin[alive])
            r = turned[alive]
            self.inertia[alive] = product(product(r, self.inertia[alive]), r.transpose(0, 2, 1))
            self.spin[alive] = solve(self.inertia[alive], momentum)
        still = np.where(self.velocity.any(axis=1) | old_spin.any(axis=1), 0.0, 1.0)
        still[n:] = -1.0
        gained = np.zeros((b.grain_count + CHUNK - 1) // CHUNK)
        if len(alive) or not still[:n].all():
            team.run(
                move_members,
                b.grain_count // LIGHT,
                b.aggregate,
                b.wall_body_count,
                h,
                still,
                self.centre,
                shift,
                turned,
                self.velocity,
                old_spin,
                self.spin,
                gravity[0],
                gravity[1],
                gravity[2],
                b.inverse_mass,
                b.position,
                b.orientation,
                b.velocity,
                b.spin,
                gained,
            )
        for w in np.flatnonzero(self.wall >= 0):
            k = self.wall[w]
            b.position[w] = self.centre[k] + shift[k] + times(turned[k], b.position[w] - self.centre[k])
            turn_body(b.orientation, w, old_spin[k, 0], old_spin[k, 1], old_spin[k, 2], h)
        self.centre += shift
        if (self.wall >= 0).any():
            self.carry(np.zeros(0, np.int32), np.flatnonzero(self.wall >= 0).astype(np.int32))
        return total(gained)

    def checkpoint(self) -> dict[str, Any]:
        names = ("centre", "velocity", "spin", "mass", "inertia", "used", "travel", "wall")
        return {name: getattr(self, name) for name in names}

    def restore(self, saved: dict[str, Any]) -> None:
        for name, rows in (("travel", len(saved["travel"])), ("used", min(len(saved["used"]), self.carrier_count))):
            if rows != self.carrier_count:
                raise InputError(f"aggregates/{name} must have a row for each of {self.carrier_count} carriers (got {rows}).")
        for name, value in saved.items():
            setattr(self, name, np.array(value))


def rotations(angle: FloatArray) -> FloatArray:
    """(n, 3, 3) turns about the vectors ``angle`` (n, 3) by their lengths [rad]."""
    size = length(angle)
    cross = np.zeros((len(angle), 3, 3))
    cross[:, 0, 1], cross[:, 0, 2], cross[:, 1, 2] = -angle[:, 2], angle[:, 1], -angle[:, 0]
    cross -= cross.transpose(0, 2, 1)
    small = size < 1e-4
    part = np.where(small, 1.0 - size * size / 6.0, sin(size) / np.where(small, 1.0, size))
    square = np.where(small, 0.5 - size * size / 24.0, (1.0 - cos(size)) / np.where(small, 1.0, size * size))
    return np.eye(3) + part[:, None, None] * cross + square[:, None, None] * product(cross, cross)
