"""Shaded spheres as an image: an orthographic depth buffer with one light, its shadow, and darker gaps between grains.

Arrays only, no drawing library: a sphere is a disc of pixels whose depth and normal are known exactly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

FloatArray = NDArray[np.float64]

AT_ONCE = 2_000_000  # pixels tried in one go: memory
GROUND = np.array([0.91, 0.90, 0.88])
AMBIENT, DIFFUSE, SHINE, GLOSS = 0.46, 0.62, 0.22, 28
SHADOW = 0.62        # part of the light that is missing in a shadow


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
            self.left + (np.arange(self.columns) + 0.5) * self.pixel,
            self.bottom + (np.arange(self.rows) + 0.5) * self.pixel,
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
    centre: FloatArray, radius: FloatArray, number: NDArray[np.int64], reach: int, window: Window, depth: FloatArray,
    owner: NDArray[np.int64],
) -> None:  # fmt: skip
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
    position: FloatArray, radius: FloatArray, colour: FloatArray, camera: Camera, window: Window, *, light: FloatArray,
    ground: tuple[FloatArray, FloatArray] | None = None, ground_reach: float = math.inf,
) -> FloatArray:  # fmt: skip
    """(rows, columns, 4) RGBA image, bottom row first, of spheres with ``colour`` (n, 3), and of the plane ``ground`` (point, normal).

    The ground fades out at ``ground_reach`` [m] from the middle of the spheres.
    """
    view = camera.project(position)
    depth, owner = splat(view, radius, window)
    light = light / np.linalg.norm(light)
    image = np.zeros((window.rows, window.columns, 4))
    across, upward = window.axes()
    grain = owner >= 0
    if ground is not None:
        _draw_ground(image, depth, grain, across, upward, camera, ground, np.median(position, axis=0), ground_reach)
    point = (
        across[None, :, None] * camera.right + upward[:, None, None] * camera.up
        + np.where(np.isfinite(depth), depth, 0.0)[:, :, None] * camera.towards
    )  # fmt: skip
    lit = 1 - SHADOW * shadow(point, np.isfinite(depth), position, radius, light)
    open_sky = 1 - 0.55 * crevices(depth, 2 * float(np.median(radius)), window.pixel)
    who = owner[grain]
    normal = (point[grain] - position[who]) / radius[who][:, None]
    facing = normal @ light
    half = light + camera.towards
    half /= np.linalg.norm(half)
    shine = SHINE * np.clip(normal @ half, 0, 1) ** GLOSS * lit[grain]
    # Wrapped diffuse light: the dark side is not flat.
    brightness = AMBIENT * (0.75 + 0.25 * normal[:, 2]) + DIFFUSE * np.clip(0.15 + 0.85 * facing, 0, 1) * lit[grain]
    image[grain, :3] = np.clip(colour[who] * (brightness * open_sky[grain])[:, None] + shine[:, None], 0, 1)
    image[grain, 3] = 1.0
    rest = ~grain
    image[rest, :3] *= (lit * open_sky)[rest][:, None]
    return image


def _draw_ground(
    image: FloatArray, depth: FloatArray, grain: NDArray[np.bool_], across: FloatArray, upward: FloatArray, camera: Camera,
    ground: tuple[FloatArray, FloatArray], middle: FloatArray, reach: float,
) -> None:  # fmt: skip
    point, normal = ground
    slope = float(normal @ camera.towards)
    if slope < 0.05:  # seen from the edge or from below
        return
    flat = across[None, :, None] * camera.right + upward[:, None, None] * camera.up
    far = ((point - flat) @ normal) / slope
    hidden = grain & (far < depth)
    depth[~hidden & ~grain] = far[~hidden & ~grain]
    place = flat + far[:, :, None] * camera.towards
    foot = middle - ((middle - point) @ normal) * normal
    distance = np.linalg.norm(place - foot, axis=2) / reach
    fade = np.clip((1.0 - distance) / 0.45, 0, 1)
    image[:, :, :3] = GROUND
    image[:, :, 3] = fade * fade * (3 - 2 * fade)


def shadow(point: FloatArray, drawn: NDArray[np.bool_], position: FloatArray, radius: FloatArray, light: FloatArray) -> FloatArray:
    """(rows, columns) part of the light that spheres keep from each point, 0 to 1, with soft borders."""
    sun = Camera.along(light)
    seen = sun.project(position)
    pixel = float(np.median(radius)) / 7
    low, high = seen[:, :2].min(axis=0) - 2 * radius.max(), seen[:, :2].max(axis=0) + 2 * radius.max()
    pixel = max(pixel, float(np.max(high - low)) / 2500)
    columns, rows = np.ceil((high - low) / pixel).astype(int)
    depth, _ = splat(seen, radius, Window(low[0], low[1], pixel, int(rows), int(columns)))
    where = sun.project(point[drawn])
    column, row = ((where[:, :2] - low) / pixel).T
    bias = 0.12 * float(np.median(radius))
    dark = np.zeros(len(where))
    for dx, dy in ((-1.2, -0.5), (0.5, -1.2), (1.2, 0.5), (-0.5, 1.2), (0.0, 0.0)):
        c, r = (column + dx).astype(int), (row + dy).astype(int)
        inside = (c >= 0) & (c < columns) & (r >= 0) & (r < rows)
        dark[inside] += depth[r[inside], c[inside]] > where[inside, 2] + bias
    result = np.zeros(drawn.shape)
    result[drawn] = dark / 5
    return result


def crevices(depth: FloatArray, diameter: float, pixel: float) -> FloatArray:
    """(rows, columns) how deep each pixel lies below its surroundings, 0 to 1: light does not reach into gaps."""
    known = np.isfinite(depth)
    if not known.any():
        return np.zeros_like(depth)
    filled = np.where(known, depth, 0.0)
    total = np.zeros_like(depth)
    for width in (0.25, 0.7):  # of a diameter
        sigma = width * diameter / pixel
        weight = np.maximum(gaussian_filter(known.astype(float), sigma), 1e-6)
        around = gaussian_filter(filled, sigma) / weight
        total += np.clip((around - depth) / (1.1 * width * diameter), 0, 1)
    return np.where(known, np.clip(total, 0, 1), 0.0)
