"""How wide and how high the material of a scene will lie, and what it is made of: what the cost model asks for."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..contact import Material
from ..scene.grains import GrainBlock
from ..scene.scene import Scene
from ..scene.shapes import Box, Cylinder, Mesh, Plane, Shape
from ..state.rotation import matrix
from .cost_model import System

FloatArray = NDArray[np.float64]

PACKING = 0.6   # solid fraction of settled grains
REPOSE = 30.0   # [degrees] of a heap that no wall holds
SAMPLE = 2000   # emitted grains that stand for all when their volume is summed
FACING = 0.5    # cosine: a plane that leans less across a direction bounds it


@dataclass(frozen=True)
class SceneSize:
    """A scene as a system of the cost model, and where each number comes from."""

    system: System
    grains: int
    notes: tuple[str, ...]


def size_of_scene(scene: Scene, duration: float | None = None) -> SceneSize | None:
    """Size and material of a scene; None without grains. Emitters without a total count emit for ``duration`` [s]."""
    d = scene.size_range[0]
    loose = [block for block in scene.grains if not block.static]
    emitted = [(e, _emitted(e, duration)) for e in scene.emitters]
    count = sum(_length(block) for block in loose) + sum(number for _, number in emitted)
    if not count or not math.isfinite(d):
        return None
    volume = sum(_volume(block) for block in loose) + sum(_emitted_volume(e.sizes, number) for e, number in emitted)
    up = _up(scene)
    material = _quickest(scene, {block.material for block in (*loose, *scene.emitters)})
    notes = [
        f"diameter {_short(d)} m: the smallest",
        f"young {_short(material.youngs_modulus)} Pa, density {_short(material.density)} kg/m3, poisson {material.poisson_ratio:g}: "
        f"of the grains of {material.name!r}",
    ]
    width, height, how = _extent(scene, loose, volume, up, placed_only=not emitted)
    notes.append(f"width {_short(width / d)} d, height {_short(height / d)} d: {how}")
    notes.append(f"grains {count}" + (", emitters included" if emitted else ""))
    g = float(np.linalg.norm(scene.gravity.acceleration))
    system = System(
        width=max(1.0, width / d), height=max(1.0, height / d), diameter=d, young=material.youngs_modulus, density=material.density,
        poisson=material.poisson_ratio,
    )  # fmt: skip
    if g > 0:
        system = replace(system, gravity=g)
    return SceneSize(system, count, tuple(notes))


def _extent(scene: Scene, loose: list[GrainBlock], volume: float, up: FloatArray, placed_only: bool) -> tuple[float, float, str]:
    """Width and height [m] of the settled material, and how they were found."""
    across = _across(up)
    walls = _cross_section(scene, across, _middle(scene, loose))
    if walls is not None:
        width, area = walls
        return width, volume / PACKING / area, f"the walls, and the height that the grains fill between them (packed to {PACKING:g})"
    if placed_only:
        low, high = _placed_extent(loose, np.vstack([across, up]))
        return float(max(high[:2] - low[:2])), float(high[2] - low[2]), "the extent of the placed grains"
    slope = math.tan(math.radians(REPOSE))
    radius = (3 * volume / PACKING / math.pi / slope) ** (1 / 3)
    return 2 * radius, radius * slope, f"a heap at {REPOSE:g} degrees (packed to {PACKING:g})"


def _middle(scene: Scene, loose: list[GrainBlock]) -> FloatArray:
    """A point [m] among the grains."""
    if loose:
        return np.asarray(loose[0].place()[0].mean(axis=0))
    return np.asarray(scene.emitters[0].source.points(np.random.default_rng(0), SAMPLE).mean(axis=0))


def _cross_section(scene: Scene, across: FloatArray, middle: FloatArray) -> tuple[float, float] | None:
    """Width [m], the larger of the two across gravity, and area [m^2] of what the walls enclose; None where a side is open.

    Cylinders and meshes count with the outline of their points; planes with their distance from the grains, more than four as a circle.
    """
    from scipy.spatial import ConvexHull, QhullError

    seen: list[FloatArray] = []
    low, high, standing = np.full(2, -np.inf), np.full(2, np.inf), 0
    for body in scene.all_bodies:
        turn, shift = matrix(np.asarray(body.orientation)), np.asarray(body.position)
        for wall in body.walls:
            seen.append((shift + _points(wall) @ turn.T) @ across.T)
            for point, normal in _planes(wall):
                facing = across @ (turn @ normal)
                standing += bool(np.abs(facing).max() > FACING)
                with np.errstate(divide="ignore", invalid="ignore"):
                    at = (shift + turn @ point - middle) @ (turn @ normal) / facing  # along each direction, from the middle
                low = np.where(facing > FACING, np.maximum(low, at), low)
                high = np.where(facing < -FACING, np.minimum(high, at), high)
    sides = high - low
    if np.isfinite(sides).all() and (sides > 0).all():
        return float(sides.max()), float(sides.prod() * (np.pi / 4 if standing > 4 else 1.0))
    points = np.concatenate(seen) if seen else np.zeros((0, 2))
    sides = np.where(np.isfinite(sides), sides, np.ptp(points, axis=0) if len(points) else 0.0)
    if not (sides > 0).all():
        return None
    try:
        area = ConvexHull(points).volume  # of a plane figure that is its area
    except QhullError:
        area = float(sides.prod())
    return float(sides.max()), min(float(area), float(sides.prod()))


def _points(wall: Shape) -> FloatArray:
    """Corners of a mesh, or of a polygon around a cylinder, in the body's frame [m]."""
    if isinstance(wall, Mesh):
        return wall.vertices
    if isinstance(wall, Cylinder):
        axis = np.asarray(wall.axis)
        u, v = _across(axis)
        angle = np.linspace(0, 2 * np.pi, 64, endpoint=False)[:, None]
        ring = np.asarray(wall.centre) + wall.radius * (np.cos(angle) * u + np.sin(angle) * v)
        half = 0.0 if wall.length is None else wall.length / 2
        return np.concatenate([ring - half * axis, ring + half * axis])
    return np.zeros((0, 3))


def _planes(wall: Shape) -> list[tuple[FloatArray, FloatArray]]:
    """Points and inward normals of the planes that a wall is made of."""
    if isinstance(wall, Plane):
        return [(np.asarray(wall.point), np.asarray(wall.normal))]
    if isinstance(wall, Box) and wall.side == "inside":
        found = []
        for k, name in enumerate("xyz"):
            for corner, sign, face in ((wall.lower, 1.0, f"-{name}"), (wall.upper, -1.0, f"+{name}")):
                if face not in wall.open:
                    found.append((np.asarray(corner), sign * np.eye(3)[k]))
        return found
    return []


def _placed_extent(loose: list[GrainBlock], axes: FloatArray) -> tuple[FloatArray, FloatArray]:
    lows, highs = [], []
    for block in loose:
        position, diameter = block.place()[:2]
        seen, radius = position @ axes.T, diameter[:, None] / 2
        lows.append((seen - radius).min(axis=0))
        highs.append((seen + radius).max(axis=0))
    return np.min(lows, axis=0), np.max(highs, axis=0)


def _up(scene: Scene) -> FloatArray:
    g = np.asarray(scene.gravity.acceleration)
    size = np.linalg.norm(g)
    return -g / size if size > 0 else np.array([0.0, 0.0, 1.0])


def _across(axis: FloatArray) -> FloatArray:
    """(2, 3) unit vectors square to an axis; x and y for an upright one."""
    first = np.eye(3)[0] if abs(axis[0]) < 0.9 else np.eye(3)[1]
    u = first - (first @ axis) * axis
    u /= np.linalg.norm(u)
    return np.stack([u, np.cross(axis, u)])


def _quickest(scene: Scene, names: set[str]) -> Material:
    """The material of grains that asks for the smallest smooth step."""
    return min((m for m in scene.materials if m.name in names), key=lambda m: m.density * (1 - m.poisson_ratio**2) / m.youngs_modulus)


def _length(block: GrainBlock) -> int:
    return len(block.place()[0])


def _volume(block: GrainBlock) -> float:
    """Solid volume [m^3] of the grains of a block."""
    return float(np.pi / 6 * (block.place()[1] ** 3).sum())


def _emitted(emitter: Any, duration: float | None) -> int:
    if emitter.count is not None:
        return int(emitter.count)
    return int(emitter.due(duration)) if duration is not None else 0


def _emitted_volume(sizes: Any, number: int) -> float:
    sample = sizes.sample(np.random.default_rng(0), SAMPLE)
    return float(number * np.pi / 6 * (sample**3).mean())


def _short(value: float) -> str:
    return f"{value:.4g}"
