"""Loads in a silo or any upright container: wall pressure by height, Janssen's law, and who carries the weight (SN 4.2.1, 5.1)."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from ..array_types import FloatArray
from ..checks import InputError
from ..scene.shapes import Box, Capsule, Cylinder, Mesh, Plane
from ..state.rotation import matrix
from .snapshot import Snapshot
from .surface import surface_height

UPRIGHT = 0.5  # |n_z| below which a surface is a side wall, above which floor or ceiling
PLUMB = 0.1  # |n_z| of a wall that is upright: it leans by less than 6 degrees,
LEVEL = 0.9  # and of one that is a floor or ceiling; what lies between is a slope
MOST_ON_SLOPES = 0.1  # of the push on walls that are not level: with more of it on slopes pressure over the height has no meaning
STRIP = 5.0  # [mean diameters] height of the strips of wall over which pressure is averaged (SN 4.2.1),
FEWEST_STRIPS = 6  # in a low filling its height over this number
AXIS_STRIP = 2.0  # [mean diameters] height of the slices of the core
CORE = 0.5  # of the container's inner radius: contacts closer to the axis make up the profile along it
FEWEST_POINTS = 3  # of a fit
STRAIGHT = 1e-6  # height over Janssen's length: with less, a profile is a straight line to rounding


@dataclass(frozen=True)
class Container:
    """An upright container: what is around the grains, from the walls of the scene."""

    floor: float  # z [m]
    perimeter: float  # [m] of the cross-section
    area: float  # [m^2] of the cross-section
    centre: FloatArray  # (2,) x and y [m]
    radius: float  # [m] of a circle that fits into the cross-section

    @classmethod
    def of(cls, snapshot: Snapshot) -> Container:
        """From upright cylinders, meshes, or planes and boxes that close around the grains; InputError otherwise."""
        middle = snapshot.position[~snapshot.static].mean(axis=0) if (~snapshot.static).any() else np.zeros(3)
        faces, floors, round_ones = [], [], []
        for wall, body in zip(snapshot.scene.all_walls, snapshot.wall_body, strict=True):
            turn, shift = matrix(snapshot.wall_orientation[body]), snapshot.wall_position[body]
            if isinstance(wall, Capsule):
                continue
            if isinstance(wall, Cylinder):
                if wall.side == "inside" and abs((turn @ wall.axis)[2]) > UPRIGHT:
                    centre = turn @ wall.centre + shift
                    round_ones.append((2 * math.pi * wall.radius, math.pi * wall.radius**2, centre[:2], wall.radius))
                    floors += [centre[2] - wall.length / 2] if wall.length is not None and wall.caps else []
            elif isinstance(wall, Mesh):
                corners = (wall.vertices @ turn.T + shift)[wall.triangles]
                found = _mesh_sides(corners)
                if found is not None:
                    round_ones.append(found[1:])
                    floors.append(found[0])
            else:
                for point, normal in _flat_faces(wall):
                    point, normal = turn @ point + shift, turn @ normal
                    if abs(normal[2]) < UPRIGHT:
                        faces.append((*(-normal[:2]), float(normal[:2] @ point[:2])))  # outward normal . x + offset <= 0 inside
                    elif normal[2] > 0:
                        floors.append(point[2])
        below = [z for z in floors if z <= middle[2]]
        floor = max(below) if below else surface_height(snapshot).bottom
        if round_ones:
            return cls(float(floor), *min(round_ones, key=lambda found: found[0]))
        return cls(float(floor), *_polygon(np.array(faces).reshape(-1, 3), middle[:2], snapshot.scene.name))


def _flat_faces(wall: Plane | Box) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Point and inward normal of a plane, or of each closed face of a container."""
    if isinstance(wall, Plane):
        yield np.asarray(wall.point), np.asarray(wall.normal)
        return
    if wall.side == "outside":
        return
    for axis, letter in enumerate("xyz"):
        for corner, sign in ((wall.lower, "-"), (wall.upper, "+")):
            if f"{sign}{letter}" not in wall.open:
                normal = np.zeros(3)
                normal[axis] = 1.0 if sign == "-" else -1.0
                yield np.asarray(corner), normal


def _mesh_sides(corners: FloatArray) -> tuple[float, float, float, FloatArray, float] | None:
    """Lowest z, perimeter, area, centre and inner radius of the upright triangles of a mesh (T, 3 corners, 3); none without any."""
    twice = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area = np.linalg.norm(twice, axis=1) / 2
    side = np.abs(twice[:, 2]) < UPRIGHT * 2 * area
    if not side.any():
        return None
    points = corners[side].reshape(-1, 3)
    low, high = points[:, 2].min(), points[:, 2].max()
    centre = (points[:, :2].min(axis=0) + points[:, :2].max(axis=0)) / 2
    normal = twice[side][:, :2] / np.linalg.norm(twice[side][:, :2], axis=1)[:, None]
    reach = np.abs(np.einsum("ij,ij->i", corners[side][:, 0, :2] - centre, normal))
    width = area[side] / (high - low)
    return float(low), float(width.sum()), float(width @ reach / 2), centre, float(reach.min())


def _polygon(faces: FloatArray, inside: FloatArray, scene: str) -> tuple[float, float, FloatArray, float]:
    """Perimeter, area, centre and inner radius of the polygon that half planes (n, 3) around the point ``inside`` leave."""
    from scipy.spatial import ConvexHull, HalfspaceIntersection

    facing = np.sort(np.arctan2(faces[:, 1], faces[:, 0]))
    gaps = np.diff(facing, append=facing[:1] + 2 * np.pi)
    if not len(faces) or gaps.max() > np.pi - 1e-9 or (faces[:, :2] @ inside + faces[:, 2] >= 0).any():
        raise InputError(
            f"scene {scene!r} has no side walls that close around its grains; wall pressures need an upright cylinder, box, mesh "
            "or ring of planes (granum run silo)."
        )
    corners = HalfspaceIntersection(faces, inside).intersections
    hull = ConvexHull(corners)
    centre = (corners.min(axis=0) + corners.max(axis=0)) / 2
    # SciPy's names are those of a body: of a plane figure, ``area`` is the length of its outline
    return float(hull.area), float(hull.volume), centre, float(-(faces[:, :2] @ centre + faces[:, 2]).max())


@dataclass(frozen=True)
class Loads:
    """Downward forces [N] of the grains on what holds them; at rest they add up to the weight."""

    weight: float
    floor: float
    side: float  # friction on upright walls
    ceiling: float  # negative: it pushes down
    held: float  # on grains that never move

    @property
    def carried(self) -> float:
        """All of them together [N]."""
        return self.floor + self.side + self.ceiling + self.held


def loads(snapshot: Snapshot) -> Loads:
    """Who carries the weight; down is the direction of gravity."""
    s, g = snapshot, snapshot.gravity_strength
    down = s.gravity / g if g > 0 else np.array([0.0, 0.0, -1.0])
    push = s.force @ down
    lean = s.normal @ down  # 1 at a floor
    wall = s.at_wall & ~s.static[s.a]
    other = np.where(s.at_wall, s.a, s.b)
    onto_static = ~s.at_wall & s.static[other] & ~s.static[s.a]
    from_static = ~s.at_wall & s.static[s.a] & ~s.static[other]
    return Loads(
        weight=float(s.mass[~s.static].sum() * g),
        floor=float(push[wall & (lean > UPRIGHT)].sum()),
        side=float(push[wall & (np.abs(lean) <= UPRIGHT)].sum()),
        ceiling=float(push[wall & (lean < -UPRIGHT)].sum()),
        held=float(push[onto_static].sum() - push[from_static].sum()),
    )


def check_upright(snapshot: Snapshot) -> None:
    """InputError if grains lean on slopes, as in a funnel: its cross-section changes with the height, and slopes push upwards."""
    s = snapshot
    lean = np.abs(s.normal[:, 2])
    push = np.where(s.at_wall & (lean < LEVEL), s.normal_force, 0.0)
    part = float(push[lean > PLUMB].sum() / push.sum()) if push.any() else 0.0
    if part > MOST_ON_SLOPES:
        raise InputError(
            f"walls of scene {s.scene.name!r} are not upright: {part:.0%} of the push on its side walls is on slopes, such as those of a "
            "funnel. Pressure over the height and Janssen's law are of upright walls; load and body-force tell what sloping walls carry."
        )


Look = Callable[[Snapshot, Container], tuple[FloatArray, FloatArray]]


@dataclass(frozen=True)
class WallPressure:
    """Pressure on the side walls in strips of equal height, mean over the frames."""

    z: FloatArray  # (S,) middle of each strip, above the floor [m]
    pressure: FloatArray  # (S,) normal force over area [Pa]
    shear: FloatArray  # (S,) downward force over area [Pa]
    contacts: FloatArray  # (S,) contacts in a strip, mean over the frames
    strip: float  # height of a strip [m]
    height: float  # of the filling above the floor [m]


def wall_pressure(snapshots: Iterable[Snapshot], strip: float | None = None) -> WallPressure:
    """Strips of about ``strip`` [m] from the floor to the surface of the first frame; none: 5 mean diameters, or a sixth of the height."""

    def look(s: Snapshot, _: Container) -> tuple[FloatArray, FloatArray]:
        check_upright(s)
        side = s.at_wall & (np.abs(s.normal[:, 2]) < UPRIGHT)
        return s.point[side, 2], np.stack([s.normal_force[side], -s.force[side, 2], np.ones(side.sum())])

    container, edges, (normal, down, count) = _by_height(snapshots, STRIP, strip, look)
    height = float(edges[1] - edges[0])
    area = container.perimeter * height
    return WallPressure(
        z=(edges[1:] + edges[:-1]) / 2, pressure=normal / area, shear=down / area, contacts=count, strip=height, height=float(edges[-1])
    )


def _by_height(
    snapshots: Iterable[Snapshot], diameters: float, strip: float | None, look: Look
) -> tuple[Container, FloatArray, FloatArray]:
    """Container, edges (S + 1,) of equal strips above its floor [m], and sums (K, S) of what ``look`` gives, mean over the frames.

    ``look`` gives z (n,) [m] and K numbers (K, n) for each thing to be summed. Strips are those of the first frame: about ``strip`` [m]
    high, none: so many mean diameters.
    """
    container, edges, sums = None, np.zeros(0), []
    for s in snapshots:
        if container is None:
            container = Container.of(s)
            edges = _strips(s, container.floor, diameters, strip)
        z, numbers = look(s, container)
        height = np.minimum(z - container.floor, edges[-1])  # what stands out of the surface belongs to the highest strip
        sums.append([np.histogram(height, edges, weights=row)[0] for row in numbers])
    if container is None:
        raise InputError("a profile over the height needs at least one frame (got none).")
    return container, edges, np.mean(sums, axis=0)


def _strips(s: Snapshot, floor: float, diameters: float, strip: float | None) -> FloatArray:
    height = surface_height(s, above=floor).level - floor
    if not height > 0:
        raise InputError(f"there are no grains in the container of scene {s.scene.name!r} at t = {s.time:g} s.")
    if strip is None:
        size = 2 * float(s.radius.mean())
        strip = min(diameters * size, max(height / FEWEST_STRIPS, size))
    return np.linspace(0.0, height, max(1, round(height / strip)) + 1)


@dataclass(frozen=True)
class VerticalPressure:
    """Load that the filling carries at each height over the area of the cross-section, mean over the frames."""

    z: FloatArray  # (S,) above the floor, which is the first [m]
    pressure: FloatArray  # (S,) weight above z less friction of the walls above z, over the area [Pa]
    height: float  # of the filling above the floor [m]


def vertical_pressure(snapshots: Iterable[Snapshot], strip: float | None = None) -> VerticalPressure:
    """Janssen's apparent mass, from the balance of forces on all above z; heights ``strip`` [m] apart, none: one mean diameter."""

    def look(s: Snapshot, _: Container) -> tuple[FloatArray, FloatArray]:
        check_upright(s)
        side = s.at_wall & (np.abs(s.normal[:, 2]) < UPRIGHT)
        weight = np.where(s.static, 0.0, s.mass) * s.gravity_strength
        return np.concatenate([s.position[:, 2], s.point[side, 2]]), np.concatenate([weight, s.force[side, 2]])[None]

    container, edges, (load,) = _by_height(snapshots, 1.0, strip, look)
    above = np.cumsum(load[::-1])[::-1]
    return VerticalPressure(z=edges[:-1], pressure=above / container.area, height=float(edges[-1]))


@dataclass(frozen=True)
class JanssenFit:
    """p(z) = saturation (1 - exp(-(height - z) / length)), with standard errors.

    Pressure that grows linearly with depth or faster does not saturate: saturation, length and their errors are infinite, and p(z) is
    the straight line gradient (height - z).
    """

    saturation: float  # p_inf [Pa]
    length: float  # lambda [m]
    saturation_error: float
    length_error: float
    gradient: float  # [Pa/m] at the surface: saturation / length
    r_squared: float  # of the law, or of the straight line
    height: float  # [m]

    @property
    def saturates(self) -> bool:
        """Whether there is a finite length."""
        return math.isfinite(self.length)

    def pressure(self, z: FloatArray) -> FloatArray:
        """[Pa] at the height z [m] above the floor."""
        depth = self.height - np.asarray(z)
        return self.saturation * -np.expm1(-depth / self.length) if self.saturates else self.gradient * depth


def janssen_fit(z: FloatArray, pressure: FloatArray, height: float, strip: float = 0.0) -> JanssenFit:
    """Least squares of Janssen's law to mean pressures [Pa] of strips around z [m], each ``strip`` [m] high.

    The law is averaged over each strip, and lambda is positive: a profile that does not bend towards saturation gets the straight line.
    All NaN with fewer than three values.
    """
    from scipy.optimize import OptimizeWarning, curve_fit

    z, pressure = np.asarray(z, float), np.asarray(pressure, float)
    nothing = JanssenFit(math.nan, math.nan, math.nan, math.nan, math.nan, math.nan, height)
    if len(z) < FEWEST_POINTS or not pressure.max() > 0:
        return nothing
    depth, half, unit = (height - z) / height, 0.5 * strip / height, float(pressure.max())

    # With k = height / lambda and the gradient at the surface as parameters the linear (hydrostatic) profile is regular: k = 0.
    def law(depth: FloatArray, gradient: float, k: float) -> FloatArray:
        if abs(k) < 1e-7:
            return gradient * depth
        x = abs(k) * half
        spread = x + math.log(-math.expm1(-2 * x) / (2 * x)) if x > 1e-4 else x * x / 6  # log(sinh(x) / x): the mean of a strip
        return -gradient * np.expm1(-k * depth + spread) / k

    try:
        with np.errstate(over="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", OptimizeWarning)  # a perfect fit has no errors to estimate
            (gradient, k), covariance = curve_fit(law, depth, pressure / unit, p0=(2.0, 2.0), maxfev=10_000)
    except RuntimeError:
        return nothing
    saturates = k > STRAIGHT
    if not saturates:
        gradient, k = float(depth @ pressure) / float(depth @ depth) / unit, 0.0
    left = pressure / unit - law(depth, gradient, k)
    variation = float(((pressure - pressure.mean()) ** 2).sum()) / unit**2
    r_squared = 1 - float(left @ left) / variation if variation > 0 else math.nan
    slope_at_surface = float(unit * gradient / height)
    if not saturates:
        return JanssenFit(math.inf, math.inf, math.inf, math.inf, slope_at_surface, r_squared, height)
    slope = np.array([1 / k, -gradient / k**2])  # of the saturation gradient / k
    return JanssenFit(
        saturation=float(unit * gradient / k),
        length=float(height / k),
        saturation_error=float(unit * math.sqrt(slope @ covariance @ slope)),
        length_error=float(height / k**2 * math.sqrt(covariance[1, 1])),
        gradient=slope_at_surface,
        r_squared=r_squared,
        height=height,
    )


@dataclass(frozen=True)
class AxisProfile:
    """Forces along the axis of a container, in slices of its core; mean over the frames (SN Fig. 4)."""

    z: FloatArray  # (S,) middle of each slice, above the floor [m]
    normal_force: FloatArray  # (S,) mean normal force of a contact [N]; NaN without contacts
    pressure: FloatArray  # (S,) sum of f_n |branch| over 3 volumes [Pa]
    contacts: FloatArray  # (S,) contacts in a slice, mean over the frames


def axis_profile(snapshots: Iterable[Snapshot], strip: float | None = None) -> AxisProfile:
    """Contacts closer to the axis than half the inner radius; slices of about ``strip`` [m], none: 2 mean diameters."""

    def look(s: Snapshot, container: Container) -> tuple[FloatArray, FloatArray]:
        near = np.hypot(*(s.point[:, :2] - container.centre).T) < CORE * container.radius
        a, b, force = s.a[near], s.b[near], s.normal_force[near]
        branch = s.radius[a] + np.where(b >= 0, s.radius[b], 0.0) - s.overlap[near]
        return s.point[near, 2], np.stack([force, force * branch, np.ones(len(force))])

    container, edges, (force, work, count) = _by_height(snapshots, AXIS_STRIP, strip, look)
    volume = math.pi * (CORE * container.radius) ** 2 * (edges[1] - edges[0])
    return AxisProfile(
        z=(edges[1:] + edges[:-1]) / 2,
        normal_force=np.divide(force, count, out=np.full(len(count), np.nan), where=count > 0),
        pressure=work / (3 * volume),
        contacts=count,
    )
