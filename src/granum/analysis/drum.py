"""Flow in a drum that turns about a level axis: dynamic angle of repose, plug zone and flow profile (WS 4.3, SN 5.2)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..array_types import FloatArray
from ..checks import InputError
from ..scene.library.drum import DrumParameters
from ..scene.shapes import Cylinder, Mesh, Shape
from ..state.rotation import matrix
from .contact_errors import Spread
from .snapshot import Snapshot
from .surface import MIDDLE, SurfaceLine, carried, fit_surface, main_heap, surface_profile

PLUG = 0.15  # of the rim's speed: slower grains, as seen from the drum, are in the plug zone (WS 4.3)
BAND = 0.1  # of the radius: half width of the band across the surface in which the flow profile is taken,
NARROWEST_BAND = 1.5  # [mean diameters] or this
SAME_SPEED = 0.05  # of Omega: frames of a flow profile may differ by this from the last one
WINDOW = 6.0  # [mean diameters] of surface over which its steepest part is looked for
STANDING = 2.0  # [mean diameters] above the fitted surface: what co-rotates there stands out of the flow
PARALLEL = 0.99  # least cosine of the angle between the axis of a cylinder and that about which it turns
RIM = 0.9  # of the radius of a mesh: corners farther out make up its rim
WIDEST_GAP = math.pi / 3 * 1.01  # [rad] between corners of the rim
TRAVELS = 0.05  # of the rim's speed: a drum whose axis moves faster than this is none
LEVEL = 0.5  # least sine of the angle between a level axis and gravity


@dataclass(frozen=True)
class Drum:
    """Where a drum is and how it turns. ``axis``, ``up`` and ``across`` = axis x up are unit vectors.

    The drum turns about ``axis`` with ``speed`` >= 0, so its bottom moves against ``across`` and grains flow down along it.
    """

    centre: FloatArray  # (3,) [m]
    axis: FloatArray  # (3,)
    up: FloatArray  # (3,)
    across: FloatArray  # (3,)
    speed: float  # Omega [rad/s]
    radius: float  # R [m]

    @classmethod
    def of(cls, snapshot: Snapshot) -> Drum:
        """The body of the scene that turns about a level axis and has a wall that is round about it; InputError without one."""
        scene = snapshot.scene
        known = scene.parameters if isinstance(scene.parameters, DrumParameters) else None
        for w, owner in enumerate(scene.all_bodies):
            spin = snapshot.wall_spin[w]
            speed = float(np.linalg.norm(spin))
            if speed == 0 and (known is None or not any(isinstance(wall, (Cylinder, Mesh)) for wall in owner.walls)):
                continue
            axis = spin / speed if known is None or speed > 0 else np.asarray(known.axis) / np.linalg.norm(known.axis)
            gravity = np.asarray(scene.gravity.acceleration)  # at the start of a ramp there may be none
            up = axis * (axis @ gravity) - gravity
            if not np.linalg.norm(up) > LEVEL * np.linalg.norm(gravity):
                continue
            up /= np.linalg.norm(up)
            if known is not None:
                centre, radius = snapshot.wall_position[w], known.drum_radius
            else:
                turn = matrix(snapshot.wall_orientation[w])
                found = next((one for wall in owner.walls if (one := _round_about(wall, turn.T @ axis)) is not None), None)
                if found is None:
                    continue
                centre, radius = snapshot.wall_position[w] + turn @ found[0], found[1]
                moves = snapshot.wall_velocity[w] + np.cross(spin, centre - snapshot.wall_position[w])
                if np.linalg.norm(moves - axis * (axis @ moves)) > TRAVELS * speed * radius:
                    continue  # it swings about another axis than its own
            return cls(centre, axis, up, np.cross(axis, up), speed, radius)
        raise InputError(
            f"scene {scene.name!r} has no drum: a body with a wall that is round about a level axis, and that turns about it at "
            f"t = {snapshot.time:g} s. Give the recording of a drum (granum run drum), or a frame in which it turns."
        )

    def project(self, vector: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Components (N,) of vectors (N, 3) across (downhill), along the axis, and up."""
        return vector @ self.across, vector @ self.axis, vector @ self.up


def _round_about(wall: Shape, axis: FloatArray) -> tuple[FloatArray, float] | None:
    """Centre (3,) and radius [m] of a wall, in the frame of its body, if it is round about an axis of that direction; else None.

    A mesh is round if its outermost corners lie on a circle, none of their gaps wider than those of a hexagon.
    """
    if isinstance(wall, Cylinder):
        along = abs(float(np.asarray(wall.axis) @ axis))
        return (np.asarray(wall.centre, float), wall.radius) if wall.side == "inside" and along > PARALLEL else None
    if not isinstance(wall, Mesh):
        return None
    u = np.cross(np.eye(3)[np.argmin(np.abs(axis))], axis)
    u /= np.linalg.norm(u)
    flat = wall.vertices @ np.stack([u, np.cross(axis, u)], axis=1)
    middle = (flat.min(axis=0) + flat.max(axis=0)) / 2
    away = np.hypot(*(flat - middle).T)
    radius = float(away.max())
    angle = np.sort(np.arctan2(*(flat - middle)[away > RIM * radius].T))
    if np.diff(angle, append=angle[:1] + 2 * np.pi).max() > WIDEST_GAP:
        return None
    return wall.vertices.mean(axis=0) @ axis * axis + middle @ np.stack([u, np.cross(axis, u)]), radius


@dataclass(frozen=True)
class DrumAngles:
    """Dynamic angle of repose [degrees], measured in two ways; NaN without grains or surface."""

    surface: float  # of a line through the middle part of the free surface
    centre_of_mass: float  # of the line from the axis to the centre of mass against the direction of gravity
    line: SurfaceLine  # in the drum's plane: x across, z up, from the axis


def drum_angles(snapshot: Snapshot, drum: Drum | None = None) -> DrumAngles:
    """Positive if the side that rises with the drum is higher."""
    drum = drum or Drum.of(snapshot)
    x, y, z = drum.project(snapshot.position - drum.centre)
    some, free = carried(snapshot), ~snapshot.static
    line = fit_surface(x[some], y[some], z[some], snapshot.radius[some])
    mass = snapshot.mass[free]
    tilt = math.degrees(math.atan2(-float(mass @ x[free]), -float(mass @ z[free]))) if free.any() else math.nan
    return DrumAngles(line.angle, tilt, line)


@dataclass(frozen=True)
class Towers:
    """What rises out of the free surface as no flow does: lumps that a drum lifts too high, and steep structures (MR section 5)."""

    lift: float  # highest point of the bed above the axis [R]; grains that fly, or lie apart from it, do not count
    above: float  # largest height of a co-rotating grain above the fitted line, across it [mean diameters]
    standing: float  # part of the grains that co-rotate 2 mean diameters or more above the line
    steepest: float  # angle [degrees] of the steepest piece of the surface, 6 mean diameters long, in its middle half


def towers(snapshot: Snapshot, drum: Drum | None = None) -> Towers:
    """Of one instant; NaN without grains or surface. A flow at full resolution has some, too: compare with one."""
    drum = drum or Drum.of(snapshot)
    heap = main_heap(snapshot.position, snapshot.radius) & ~snapshot.static
    line = drum_angles(snapshot, drum).line
    if not heap.any() or math.isnan(line.angle):
        return Towers(math.nan, math.nan, math.nan, math.nan)
    x, y, z = (part[heap] for part in drum.project(snapshot.position - drum.centre))
    radius = snapshot.radius[heap]
    size, tilt = 2 * float(radius.mean()), math.radians(line.angle)
    along, across = math.cos(tilt) * x - math.sin(tilt) * z, math.sin(tilt) * x + math.cos(tilt) * z
    out = (across + radius - line.offset) / size
    stuck = relative_speed(snapshot, drum)[heap] <= PLUG
    place, height = surface_profile(along, y, across + radius, size, MIDDLE)
    return Towers(
        lift=float((z + radius).max()) / drum.radius,
        above=float(out[stuck].max(initial=0.0)),
        standing=float((stuck & (out > STANDING)).mean()),
        steepest=line.angle + _steepest(place, height, WINDOW * size),
    )


def _steepest(x: FloatArray, z: FloatArray, length: float) -> float:
    """Angle [degrees] by which the steepest piece of a profile, ``length`` [m] long, falls along x; NaN if there is none."""
    steepest = -math.inf
    for start in x[x <= x.max(initial=-math.inf) - length]:
        piece = (x >= start) & (x <= start + length)
        steepest = max(steepest, -float(np.polyfit(x[piece], z[piece], 1)[0]))
    return math.degrees(math.atan(steepest)) if math.isfinite(steepest) else math.nan


def relative_speed(snapshot: Snapshot, drum: Drum | None = None) -> FloatArray:
    """(N,) v_r = |v - Omega x r| / (R Omega): speed as seen from the drum; NaN in a drum at rest."""
    drum = drum or Drum.of(snapshot)
    if not drum.speed > 0:
        return np.full(snapshot.grain_count, np.nan)
    rigid = np.cross(drum.speed * drum.axis, snapshot.position - drum.centre)
    return np.linalg.norm(snapshot.velocity - rigid, axis=1) / (drum.radius * drum.speed)


def plug_fraction(snapshot: Snapshot, drum: Drum | None = None) -> float:
    """Part of the grains with v_r <= 0.15; NaN without grains or in a drum at rest."""
    speed = relative_speed(snapshot, drum)[~snapshot.static]
    return float((speed <= PLUG).mean()) if len(speed) and not np.isnan(speed).any() else math.nan


@dataclass(frozen=True)
class FlowProfile:
    """Velocity along the free surface over the depth below the axis, in a band around the line through the axis (SN Fig. 9).

    x' points down along the surface and z' up across it, from the axis; rigid rotation is v_x' = Omega z'.
    """

    z: FloatArray  # (B,) z' [m] of the bins, one mean diameter each, from the wall up; bins without grains are left out
    velocity: FloatArray  # (B,) mean v_x' [m/s]
    count: NDArray[np.integer]  # (B,) grains, of all frames
    angle: float  # [degrees] of the surface
    radius: float  # R [m]
    speed: float  # Omega [rad/s]
    time: FloatArray  # (F,) [s] of the frames it is the mean of

    @property
    def scaled_z(self) -> FloatArray:
        """(B,) z' / R; -1 is the wall."""
        return self.z / self.radius

    @property
    def scaled_velocity(self) -> FloatArray:
        """(B,) v_x' / (R Omega); NaN in a drum at rest."""
        rim = self.radius * self.speed
        return self.velocity / rim if rim > 0 else np.full(len(self.z), np.nan)

    @property
    def plug_thickness(self) -> float:
        """Thickness of the layer at the wall in which v_x' differs from rigid rotation by at most 0.15 R Omega, over R."""
        off = np.abs(self.scaled_velocity - self.scaled_z) > PLUG
        if not len(off) or np.isnan(self.scaled_velocity).any():
            return math.nan
        end = self.z[np.argmax(off)] if off.any() else self.z[-1]
        return float((end - self.z[0]) / self.radius)


def flow_profile(snapshots: Iterable[Snapshot], angle: float | None = None) -> FlowProfile:
    """Mean over the frames, in the frame of their mean surface ``angle`` [degrees] unless it is given.

    Frames in which the drum does not turn as in the last one (Omega to 5 %), such as those before it starts, are left out. The band is
    0.1 R to both sides, at least 1.5 mean diameters.
    """
    rows, angles, times, spins, drum, size = [], [], [], [], None, math.nan
    for snapshot in snapshots:
        drum = Drum.of(snapshot)
        found = drum_angles(snapshot, drum)
        angles.append(found.surface if math.isfinite(found.surface) else found.centre_of_mass)
        some = carried(snapshot)
        x, _, z = drum.project(snapshot.position[some] - drum.centre)
        u, _, w = drum.project(snapshot.velocity[some])
        rows.append(np.stack([x, z, u, w]))
        times.append(snapshot.time)
        spins.append(drum.speed * drum.axis)
        size = 2 * float(snapshot.radius.mean()) if snapshot.grain_count else size
    if drum is None:
        raise InputError("a flow profile needs at least one frame (got none).")
    alike = np.flatnonzero(np.linalg.norm(np.array(spins) - spins[-1], axis=1) <= SAME_SPEED * drum.speed)
    tilt = math.radians(Spread.of([angles[i] for i in alike]).mean if angle is None else angle)
    x, z, u, w = np.concatenate([rows[i] for i in alike], axis=1)
    c, s = math.cos(tilt), math.sin(tilt)
    band = np.abs(c * x - s * z) <= max(BAND * drum.radius, NARROWEST_BAND * size)
    depth, velocity = (s * x + c * z)[band], (c * u - s * w)[band]
    bins = np.floor((depth + drum.radius) / size).astype(int).clip(0)
    count = np.bincount(bins)
    some = count > 0
    middle: FloatArray = (np.flatnonzero(some) + 0.5) * np.float64(size) - drum.radius
    return FlowProfile(
        z=middle,
        velocity=np.bincount(bins, velocity)[some] / count[some],
        count=count[some],
        angle=math.degrees(tilt),
        radius=drum.radius,
        speed=drum.speed,
        time=np.array(times)[alike],
    )
