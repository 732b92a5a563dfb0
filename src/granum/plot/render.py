"""Shaded spheres as an image: an orthographic depth buffer with one light, its shadow, and darker gaps between grains.

Arrays only, no drawing library: a sphere is a disc of pixels whose depth and normal are known exactly. Triangles, of machines, are laid
over them where they are nearer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter, zoom

from ..array_types import FloatArray
from .parts import Parts

AT_ONCE = 2_000_000  # pixels tried in one go: memory
GROUND = np.array([0.91, 0.90, 0.88])
AMBIENT, DIFFUSE, SHINE, GLOSS = 0.58, 0.60, 0.20, 30
SHADOW = 0.6  # part of the light that is missing in a shadow
GAPS = 0.5  # and in the deepest gap
CLEAR = 0.62  # part of the light that comes through a thin part of a machine
FINEST_SHADOW = 1200  # pixels across the shadow map, at most


@dataclass(frozen=True)
class Camera:
    """Orthonormal axes of an orthographic view: ``right``, ``up`` and ``towards`` the viewer, each (3,)."""

    right: FloatArray
    up: FloatArray
    towards: FloatArray

    @classmethod
    def at(cls, azimuth: float, elevation: float) -> Camera:
        """Looking at the scene from ``azimuth`` and ``elevation`` [degrees], z upright."""
        a, e = math.radians(azimuth), math.radians(elevation)
        towards = np.array([math.cos(e) * math.cos(a), math.cos(e) * math.sin(a), math.sin(e)])
        right = np.array([-math.sin(a), math.cos(a), 0.0])
        return cls(right, np.cross(towards, right), towards)

    @classmethod
    def along(cls, direction: FloatArray) -> Camera:
        """Looking from where ``direction`` points to: what a light sees."""
        towards = direction / np.linalg.norm(direction)
        right = np.cross(np.eye(3)[np.argmin(np.abs(towards))], towards)
        right /= np.linalg.norm(right)
        return cls(right, np.cross(towards, right), towards)

    def project(self, points: FloatArray) -> FloatArray:
        """(n, 3) across, up and depth [m] (larger is nearer) of points (n, 3)."""
        return np.asarray(points) @ np.stack([self.right, self.up, self.towards]).T


@dataclass(frozen=True)
class Window:
    """The part of the projection plane that is drawn: lower left corner [m], pixel size [m], rows and columns."""

    left: float
    bottom: float
    pixel: float
    rows: int
    columns: int

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """left, right, bottom, top [m]."""
        return self.left, self.left + self.columns * self.pixel, self.bottom, self.bottom + self.rows * self.pixel

    def axes(self) -> tuple[FloatArray, FloatArray]:
        """Pixel centres across (columns,) and up (rows,) [m]."""
        return (
            self.left + (np.arange(self.columns, dtype=np.float64) + 0.5) * self.pixel,
            self.bottom + (np.arange(self.rows, dtype=np.float64) + 0.5) * self.pixel,
        )


def splat(centre: FloatArray, radius: FloatArray, window: Window) -> tuple[FloatArray, NDArray[np.int64]]:
    """Depth [m] (-inf: nothing) and number of the nearest sphere (-1: none) at every pixel; ``centre`` (n, 3) is projected."""
    depth = np.full(window.rows * window.columns, -np.inf)
    owner = np.full(window.rows * window.columns, -1, np.int64)
    order = np.argsort(radius)
    first = 0
    while first < len(order):
        reach = math.ceil(radius[order[first]] * 1.3 / window.pixel) + 1  # for spheres up to 1.3 times as large as the smallest
        last = int(np.searchsorted(radius[order], radius[order[first]] * 1.3, side="right"))
        some = order[first : min(last, first + max(1, AT_ONCE // (2 * reach + 1) ** 2))]
        first += len(some)
        _splat_some(centre[some], radius[some], some, reach, window, depth, owner)
    return depth.reshape(window.rows, window.columns), owner.reshape(window.rows, window.columns)


def _splat_some(
    centre: FloatArray,
    radius: FloatArray,
    number: NDArray[np.int64],
    reach: int,
    window: Window,
    depth: FloatArray,
    owner: NDArray[np.int64],
) -> None:
    offset = np.arange(-reach, reach + 1)
    column = np.floor((centre[:, 0] - window.left) / window.pixel).astype(np.int64)[:, None] + offset
    row = np.floor((centre[:, 1] - window.bottom) / window.pixel).astype(np.int64)[:, None] + offset
    x = (window.left + (column + 0.5) * window.pixel - centre[:, :1]) ** 2
    y = (window.bottom + (row + 0.5) * window.pixel - centre[:, 1:2]) ** 2
    left = radius[:, None, None] ** 2 - y[:, :, None] - x[:, None, :]
    hit = left > 0
    hit &= ((column >= 0) & (column < window.columns))[:, None, :]
    hit &= ((row >= 0) & (row < window.rows))[:, :, None]
    who, r, c = np.nonzero(hit)
    place = row[who, r] * window.columns + column[who, c]
    z = centre[who, 2] + np.sqrt(left[who, r, c])
    nearer = z > depth[place]
    place, z, who = place[nearer], z[nearer], who[nearer]
    order = np.argsort(z)  # of several at one pixel the last written stays: the nearest
    depth[place[order]] = z[order]
    owner[place[order]] = number[who[order]]


def render(
    position: FloatArray,
    radius: FloatArray,
    colour: FloatArray,
    camera: Camera,
    window: Window,
    *,
    light: FloatArray,
    ground: tuple[FloatArray, FloatArray] | None = None,
    ground_reach: float = math.inf,
    parts: Parts | None = None,
) -> NDArray[np.float32]:
    """(rows, columns, 4) RGBA image, bottom row first, of spheres with ``colour`` (n, 3), and of the plane ``ground`` (point, normal).

    The ground fades out at ``ground_reach`` [m] from the middle of the spheres; it hides nothing that lies below it. Thin ``parts`` of
    machines are transparent.
    """
    view = camera.project(position)
    depth, owner = splat(view, radius, window)
    light = light / np.linalg.norm(light)
    d = 2 * float(np.median(radius))
    image = np.zeros((window.rows, window.columns, 4), np.float32)
    grain = owner >= 0
    nearest = np.where(grain, depth, -np.inf)
    if ground is not None:
        _draw_ground(image, depth, grain, camera, window, ground, np.median(position, axis=0), ground_reach)
    gaps = crevices(depth, d, window.pixel)
    drawn = image[:, :, 3] > 0
    drawn |= grain
    across, upward = window.axes()
    row, column = np.nonzero(drawn)
    place = np.stack([across[column], upward[row], depth[drawn]])  # (3, n) in the axes of the camera, as all that follows
    lit = 1 - SHADOW * shadow(place, view, radius, camera.project(light[None])[0], window.pixel)
    on_grain = grain[drawn]
    image[drawn & ~grain, :3] *= lit[~on_grain][:, None]

    who, lit = owner[grain], lit[on_grain]
    normal = (place[:, on_grain] - view[who].T) / radius[who]
    half = light + camera.towards
    from_light, from_half, upright = camera.project(np.stack([light, half / np.linalg.norm(half), np.array([0.0, 0.0, 1.0])])) @ normal
    shine = SHINE * np.clip(from_half, 0, 1) ** GLOSS * lit
    # Wrapped diffuse light: the dark side is not flat.
    brightness = AMBIENT * (0.75 + 0.25 * upright) + DIFFUSE * np.clip(0.15 + 0.85 * from_light, 0, 1) * lit
    brightness *= 1 - GAPS * gaps[grain]
    image[grain, :3] = np.clip(colour[who] * brightness[:, None] + shine[:, None], 0, 1)
    image[grain, 3] = 1.0
    if parts is not None and len(parts.corner):
        _draw_parts(image, nearest, parts, camera, window, light)
    return image


def _draw_parts(image: NDArray[np.float32], depth: FloatArray, parts: Parts, camera: Camera, window: Window, light: FloatArray) -> None:
    """Triangles over what is behind them; ``depth`` is that of the spheres, and receives that of solid parts."""
    corner = camera.project(parts.corner.reshape(-1, 3)).reshape(-1, 3, 3)
    normal = np.cross(parts.corner[:, 1] - parts.corner[:, 0], parts.corner[:, 2] - parts.corner[:, 0])
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    normal *= np.where(normal @ camera.towards < 0, -1.0, 1.0)[:, None]  # the side that is seen
    brightness = AMBIENT * (0.75 + 0.25 * normal[:, 2]) + DIFFUSE * np.clip(0.15 + 0.85 * (normal @ light), 0, 1)
    shade = np.clip(parts.colour * brightness[:, None], 0, 1).astype(np.float32)
    for k in np.flatnonzero(~parts.thin):
        rows, columns, z, inside = _cover(corner[k], window)
        before = inside & (z > depth[rows, columns])
        depth[rows, columns][before] = z[before]
        image[rows, columns][before] = [*shade[k], 1.0]
    thin = np.flatnonzero(parts.thin)
    for k in thin[np.argsort(corner[thin, :, 2].mean(axis=1))]:  # from the back
        rows, columns, z, inside = _cover(corner[k], window)
        before = inside & (z > depth[rows, columns])
        behind = image[rows, columns][before]
        opaque = 1 - CLEAR
        alpha = opaque + behind[:, 3] * CLEAR
        behind[:, :3] = (opaque * shade[k] + behind[:, :3] * (behind[:, 3] * CLEAR)[:, None]) / alpha[:, None]
        behind[:, 3] = alpha
        image[rows, columns][before] = behind


def _cover(corner: FloatArray, window: Window) -> tuple[slice, slice, FloatArray, NDArray[np.bool_]]:
    """Rows, columns, depth and which pixels of them a projected triangle (3, 3) covers."""
    low, high = corner[:, :2].min(axis=0), corner[:, :2].max(axis=0)
    first = np.floor((low - [window.left, window.bottom]) / window.pixel).astype(int)
    last = np.ceil((high - [window.left, window.bottom]) / window.pixel).astype(int)
    columns = slice(max(0, first[0]), max(0, min(window.columns, last[0])))
    rows = slice(max(0, first[1]), max(0, min(window.rows, last[1])))
    across, upward = window.axes()
    x, y = across[columns][None, :] - corner[0, 0], upward[rows][:, None] - corner[0, 1]
    (ux, uy, uz), (vx, vy, vz) = corner[1] - corner[0], corner[2] - corner[0]
    area = ux * vy - uy * vx
    if area == 0.0:  # seen from its edge
        return rows, columns, np.zeros(np.broadcast(x, y).shape), np.zeros(np.broadcast(x, y).shape, bool)
    u, v = (x * vy - y * vx) / area, (ux * y - uy * x) / area
    edge = 1e-9
    return rows, columns, corner[0, 2] + u * uz + v * vz, (u >= -edge) & (v >= -edge) & (u + v <= 1 + edge)


def _draw_ground(
    image: NDArray[np.float32],
    depth: FloatArray,
    grain: NDArray[np.bool_],
    camera: Camera,
    window: Window,
    ground: tuple[FloatArray, FloatArray],
    middle: FloatArray,
    reach: float,
) -> None:
    """Colour and fading of the ground where no grain is before it; ``depth`` receives its depth."""
    point, normal = ground
    slope = float(normal @ camera.towards)
    if slope < 0.05:  # seen from the edge or from below
        return
    across, upward = window.axes()
    # The depth of a plane, and the place on it as seen from its middle, are linear in both directions of the picture.
    offset = float(point @ normal) / slope
    du, dv = -float(camera.right @ normal) / slope, -float(camera.up @ normal) / slope
    far = offset + du * across[None, :] + dv * upward[:, None]
    foot = middle - ((middle - point) @ normal) * normal
    start = offset * camera.towards - foot
    square = np.zeros_like(far)
    for axis in range(3):
        by_column = across * (camera.right[axis] + du * camera.towards[axis])
        by_row = upward * (camera.up[axis] + dv * camera.towards[axis])
        square += (start[axis] + by_column[None, :] + by_row[:, None]) ** 2
    fade = np.clip((1.0 - np.sqrt(square) / reach) / 0.5, 0, 1)
    image[:, :, :3] = GROUND
    border = np.minimum.outer(*(_feather(n, 0.12 * window.columns) for n in (window.rows, window.columns)))
    image[:, :, 3] = fade * fade * (3 - 2 * fade) * border
    depth[~grain] = far[~grain]


def _feather(count: int, width: float) -> FloatArray:
    """(count,) from 0 at both ends to 1 at ``width`` pixels from them."""
    k = np.arange(count)
    return np.clip(np.minimum(k, count - 1 - k) / width, 0, 1)


def shadow(place: FloatArray, centre: FloatArray, radius: FloatArray, light: FloatArray, pixel: float) -> FloatArray:
    """(n,) part of the light that spheres keep from places (3, n), 0 to 1, with soft borders; ``pixel`` [m] is the finest detail."""
    sun = Camera.along(light)
    seen = sun.project(centre)
    low, high = seen[:, :2].min(axis=0) - 2 * radius.max(), seen[:, :2].max(axis=0) + 2 * radius.max()
    pixel = max(pixel, float(np.max(high - low)) / FINEST_SHADOW)
    columns, rows = np.ceil((high - low) / pixel).astype(int)
    depth, _ = splat(seen, radius, Window(low[0], low[1], pixel, int(rows), int(columns)))
    column, row = (sun.right @ place - low[0]) / pixel, (sun.up @ place - low[1]) / pixel
    r = float(np.median(radius))
    soft = 0.05 * r / pixel
    edge = 1.5 * soft + 1
    near = (column > edge) & (column < columns - edge) & (row > edge) & (row < rows - edge)
    column, row = column[near], row[near]
    limit = sun.towards @ place[:, near] + 0.12 * r + 1.5 * pixel  # a surface does not shade itself
    dark = np.zeros(len(limit), np.float32)
    for dx, dy in ((-1.2, -0.5), (0.5, -1.2), (1.2, 0.5), (-0.5, 1.2)):
        dark += depth[(row + dy * soft).astype(np.int32), (column + dx * soft).astype(np.int32)] > limit
    result = np.zeros(place.shape[1])
    result[near] = dark / 4
    return result


def crevices(depth: FloatArray, diameter: float, pixel: float) -> FloatArray:
    """(rows, columns) how deep each pixel lies below its surroundings, 0 to 1: light does not reach into gaps."""
    every = max(1, int(0.06 * diameter / pixel))  # the surroundings are smooth: a coarse picture of them will do
    coarse = depth[::every, ::every]
    known = np.isfinite(coarse)
    if not known.any():
        return np.zeros_like(depth)
    filled = np.where(known, coarse, coarse[known].min())
    total = np.zeros_like(depth)
    for width in (0.25, 0.7):  # of a diameter
        around = gaussian_filter(filled, width * diameter / pixel / every, truncate=3)
        around = zoom(around, every, order=1, grid_mode=True, mode="nearest")[: depth.shape[0], : depth.shape[1]]
        total += np.clip((around - depth) / (1.1 * width * diameter), 0, 1)
    return np.clip(total, 0, 1)
