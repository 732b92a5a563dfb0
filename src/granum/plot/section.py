"""A plane through a scene: where it cuts the walls, and the grains near it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..analysis.drum import Drum
from ..analysis.snapshot import Snapshot
from ..array_types import BoolArray, FloatArray
from ..checks import InputError
from ..scene.shapes import Box, Capsule, Cylinder, Mesh, Plane, Shape
from ..state.rotation import matrix
from . import style
from .picture import picture_camera
from .render import Camera

AROUND = 1.5  # [mean diameters] of space around the grains
SIDES = 96  # of the polygon that is drawn for a circle
FACES = {"-x": (0, 0), "+x": (0, 1), "-y": (1, 0), "+y": (1, 1), "-z": (2, 0), "+z": (2, 1)}


@dataclass(frozen=True)
class Section:
    """A slab of space, seen along its normal: across, up and depth [m] are the coordinates of ``camera``, larger depth is nearer."""

    camera: Camera
    names: tuple[str, str]
    """Of the two axes of the drawing."""
    depth: tuple[float, float]
    """Of the back and of the front of the slab [m]."""
    drum: Drum | None = None
    """The drum that is seen along its axis."""

    @property
    def middle(self) -> float:
        return (self.depth[0] + self.depth[1]) / 2

    def thickness(self, s: Snapshot) -> float:
        """In mean diameters."""
        return (self.depth[1] - self.depth[0]) / (2 * float(s.radius.mean()))

    def holds(self, depth: FloatArray) -> BoolArray:
        """Which points lie in the slab, by their depth [m]."""
        return (depth >= self.depth[0]) & (depth <= self.depth[1])

    def seen(self, s: Snapshot) -> Snapshot:
        """The snapshot in the axes of the camera: x across, y up, z towards the viewer."""
        turn = self.camera.project
        return replace(
            s,
            position=turn(s.position),
            velocity=turn(s.velocity),
            point=turn(s.point),
            normal=turn(s.normal),
            force=turn(s.force),
            gravity=turn(s.gravity[None])[0],
        )

    def walls(self, s: Snapshot, extent: tuple[float, float, float, float]) -> FloatArray:
        """(m, 2, 2) line pieces [m], across and up, where the middle of the slab cuts the walls; planes end at ``extent``."""
        pieces, planes = [np.zeros((0, 2, 2))], []
        for body, position, orientation in zip(s.scene.all_bodies, s.wall_position, s.wall_orientation, strict=True):
            turned = matrix(orientation)
            for wall in body.walls:
                if isinstance(wall, Plane):
                    normal = self.camera.project((turned @ np.asarray(wall.normal))[None])[0]
                    point = self.camera.project((turned @ np.asarray(wall.point) + position)[None])[0]
                    planes.append((normal[0], normal[1], float(normal @ point) - normal[2] * self.middle))
                else:
                    corners, triangles = surface(wall)
                    pieces.append(cut(self.camera.project(corners @ turned.T + position), triangles, self.middle))
        return np.concatenate([*pieces, outline(np.array(planes).reshape(-1, 3), extent)])


def make_section(s: Snapshot, view: str | None, slab: float | None, usual: float, *, whole_drum: bool = False) -> Section:
    """Through the middle of the grains, looking along axis ``view`` (none: y, or the axis of a drum), from the side of pictures.

    ``slab`` is its thickness in mean diameters, none: ``usual``, or all of a drum if ``whole_drum``.
    """
    drum = _drum_of(s) if view is None else None
    camera = _camera(view) if drum is None else Camera(drum.across, drum.up, np.cross(drum.across, drum.up))
    if camera.towards @ picture_camera(s.scene).towards < 0:  # seen from behind
        camera = Camera(-camera.right, camera.up, -camera.towards)
    names = _name(camera.right, "across"), _name(camera.up, "up")
    depth = camera.project(s.position)[:, 2]
    back, front = float((depth - s.radius).min()), float((depth + s.radius).max())
    if slab is None and not (whole_drum and drum is not None):
        slab = usual
    if slab is not None:
        half, middle = slab * float(s.radius.mean()), float(np.median(depth))
        back, front = max(back, middle - half), min(front, middle + half)
    return Section(camera, names, (back, front), drum)


def _camera(view: str | None) -> Camera:
    x, y, z = np.eye(3)
    return {"x": Camera(y, z, x), "z": Camera(x, y, z)}.get(view or "y", Camera(x, z, -y))


def _name(direction: FloatArray, otherwise: str) -> str:
    """Of an axis of the drawing: x, -x, ... where it is one of the scene's."""
    k = int(np.argmax(np.abs(direction)))
    if abs(direction[k]) < 1 - 1e-9:
        return otherwise
    return ("" if direction[k] > 0 else "-") + "xyz"[k]


def _drum_of(s: Snapshot) -> Drum | None:
    try:
        return Drum.of(s)
    except InputError:
        return None


def window(section: Section, s: Snapshot) -> tuple[float, float, float, float]:
    """left, right, bottom, top [m] of a drawing: around the grains, and around a whole drum; ``s`` as the section sees it."""
    d = 2 * float(s.radius.mean())
    inside = section.holds(s.position[:, 2])
    x, r = s.position[inside, :2], s.radius[inside, None]
    low, high = (x - r).min(axis=0), (x + r).max(axis=0)
    if section.drum is not None:
        middle = section.camera.project(section.drum.centre[None])[0, :2]
        low, high = np.minimum(low, middle - section.drum.radius), np.maximum(high, middle + section.drum.radius)
    low, high = low - AROUND * d, high + AROUND * d
    return float(low[0]), float(high[0]), float(low[1]), float(high[1])


def draw_grains(axes: Any, section: Section, s: Snapshot) -> None:
    """Faint discs of the grains whose centre lies in the slab, far ones first; ``s`` as the section sees it."""
    inside = np.flatnonzero(section.holds(s.position[:, 2]))
    inside = inside[np.argsort(s.position[inside, 2], kind="stable")]
    _discs(axes, s.position[inside, :2], s.radius[inside], facecolors="0.955", edgecolors="0.82")


def draw_cut_grains(axes: Any, section: Section, s: Snapshot) -> None:
    """Circles where the middle of the slab cuts grains."""
    square = s.radius**2 - (s.position[:, 2] - section.middle) ** 2
    inside = square > 0
    _discs(axes, s.position[inside, :2], np.sqrt(square[inside]), facecolors="none", edgecolors="0.5", alpha=0.8)


def _discs(axes: Any, centre: FloatArray, radius: FloatArray, **look: Any) -> None:
    from matplotlib.collections import EllipseCollection

    size = 2 * radius
    discs = EllipseCollection(
        size, size, np.zeros(len(size)), units="xy", offsets=centre, offset_transform=axes.transData, linewidths=0.45, zorder=2, **look
    )
    axes.add_collection(discs, autolim=False)


def draw_walls(axes: Any, section: Section, s: Snapshot, extent: tuple[float, float, float, float]) -> None:
    """Where the middle of the slab cuts them."""
    from matplotlib.collections import LineCollection

    lines: Any = section.walls(s, extent)
    axes.add_collection(LineCollection(lines, colors=style.DARK, linewidths=1.3, capstyle="round", zorder=5), autolim=False)


def surface(wall: Shape) -> tuple[FloatArray, NDArray[np.integer]]:
    """Corners (n, 3) [m] and triangles (m, 3) of a wall that is not a plane, in the frame of its body; open faces are left out."""
    if isinstance(wall, Mesh):
        return wall.vertices, wall.triangles
    if isinstance(wall, Box):
        return _box(wall)
    assert isinstance(wall, (Cylinder, Capsule))
    return _cylinder(wall) if isinstance(wall, Cylinder) else _capsule(wall)


def _box(box: Box) -> tuple[FloatArray, NDArray[np.integer]]:
    ends = np.stack([box.lower, box.upper])
    corner = np.array([[ends[i, 0], ends[j, 1], ends[k, 2]] for i in (0, 1) for j in (0, 1) for k in (0, 1)])
    number = np.arange(8).reshape(2, 2, 2)
    triangles = []
    for name, (axis, end) in FACES.items():
        if name not in box.open:
            a, b, c, d = np.moveaxis(number, axis, 0)[end].ravel()
            triangles += [[a, b, c], [b, d, c]]
    return corner, np.array(triangles).reshape(-1, 3)


def _ring(wall: Cylinder | Capsule) -> FloatArray:
    """(SIDES, 3) points around the axis [m], from its centre."""
    axis = np.asarray(wall.axis)
    u = np.cross(np.eye(3)[np.argmin(np.abs(axis))], axis)
    u /= np.linalg.norm(u)
    angle = 2 * np.pi * np.arange(SIDES) / SIDES
    return np.asarray(wall.radius * (np.cos(angle)[:, None] * u + np.sin(angle)[:, None] * np.cross(axis, u)))


def _capsule(capsule: Capsule) -> tuple[FloatArray, NDArray[np.integer]]:
    """Rings from tip to tip; those of the tips are points."""
    axis, ring = np.asarray(capsule.axis), _ring(capsule)
    angle = np.linspace(0, np.pi / 2, SIDES // 4 + 1)
    width = np.concatenate([np.sin(angle), np.cos(angle)])
    height = np.concatenate([-capsule.length / 2 - capsule.radius * np.cos(angle), capsule.length / 2 + capsule.radius * np.sin(angle)])
    corners = np.asarray(capsule.centre) + width[:, None, None] * ring + height[:, None, None] * axis
    k = np.arange(SIDES)
    n = (k + 1) % SIDES
    strips = [
        np.stack([[k, n, k + SIDES], [n, n + SIDES, k + SIDES]]).transpose(0, 2, 1).reshape(-1, 3) + SIDES * row
        for row in range(len(width) - 1)
    ]
    return corners.reshape(-1, 3), np.concatenate(strips)


def _cylinder(cylinder: Cylinder) -> tuple[FloatArray, NDArray[np.integer]]:
    axis, centre, ring = np.asarray(cylinder.axis), np.asarray(cylinder.centre), _ring(cylinder)
    half = (cylinder.length if cylinder.length is not None else 1e3 * cylinder.radius) / 2
    corners = np.concatenate([centre + ring - half * axis, centre + ring + half * axis, [centre - half * axis, centre + half * axis]])
    k = np.arange(SIDES)
    n = (k + 1) % SIDES
    triangles = [np.stack([k, n, k + SIDES], 1), np.stack([n, n + SIDES, k + SIDES], 1)]
    if cylinder.length is not None and cylinder.caps:
        triangles += [np.stack([k, n, np.full(SIDES, 2 * SIDES)], 1), np.stack([k + SIDES, n + SIDES, np.full(SIDES, 2 * SIDES + 1)], 1)]
    return corners, np.concatenate(triangles)


def cut(corners: FloatArray, triangles: NDArray[np.integer], depth: float) -> FloatArray:
    """(m, 2, 2) line pieces (x, y) [m] where the plane z = ``depth`` cuts triangles."""
    above = corners[:, 2] - depth
    above = np.where(above == 0, 1e-300, above)  # a corner in the plane counts as above it
    corner, height = corners[triangles], above[triangles]
    crossing = np.flatnonzero(np.abs(np.sign(height).sum(axis=1)) < 3)
    corner, height = corner[crossing], height[crossing]
    sign = np.sign(height)
    alone = np.argmax(sign != np.sign(sign.sum(axis=1))[:, None], axis=1)  # the corner on the other side than the two others
    rows = np.arange(len(corner))
    top, top_height = corner[rows, alone], height[rows, alone]
    ends = []
    for step in (1, 2):
        other = (alone + step) % 3
        part = top_height / (top_height - height[rows, other])
        ends.append(top[:, :2] + part[:, None] * (corner[rows, other, :2] - top[:, :2]))
    return np.stack(ends, axis=1)


def outline(planes: FloatArray, extent: tuple[float, float, float, float]) -> FloatArray:
    """(m, 2, 2) line pieces of the border of the space that half planes n_x x + n_y y >= c leave, from rows (n_x, n_y, c).

    Of every line the part is drawn that no other plane hides, and that crosses the drawing.
    """
    steep = np.hypot(planes[:, 0], planes[:, 1]) > 1e-6  # others are seen from the front
    planes = planes[steep] / np.hypot(planes[steep, 0], planes[steep, 1])[:, None]
    left, right, bottom, top = extent
    middle, reach = np.array([(left + right) / 2, (bottom + top) / 2]), float(np.hypot(right - left, top - bottom))
    pieces = []
    for k, (nx, ny, c) in enumerate(planes):
        n, way = np.array([nx, ny]), np.array([-ny, nx])
        foot = middle + (c - n @ middle) * n
        others = np.delete(planes, k, axis=0)
        rate, start = others[:, :2] @ way, others[:, :2] @ foot - others[:, 2]  # distance from the others along the line
        with np.errstate(divide="ignore"):
            meet = -start / rate
        low, high = max(meet[rate > 1e-9], default=-reach), min(meet[rate < -1e-9], default=reach)
        hidden = ((np.abs(rate) <= 1e-9) & (start < -1e-9 * reach)).any()
        low, high = max(low, -reach), min(high, reach)
        if high > low and not hidden:
            pieces.append(np.stack([foot + low * way, foot + high * way]))
    return np.array(pieces).reshape(-1, 2, 2)
