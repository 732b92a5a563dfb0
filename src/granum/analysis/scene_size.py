"""How wide and how high the material of a scene will lie, and what it is made of: what the cost model asks for."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ..array_types import FloatArray
from ..checks import InputError
from ..contact import Material
from ..scene.emitter import Emitter
from ..scene.scene import Scene
from .cost_model import PlannedSystem
from .silo import Container
from .snapshot import Snapshot
from .snapshot_rows import GrainRows

PACKING = 0.6  # solid fraction of settled grains
REPOSE = 30.0  # [degrees] of a heap that no wall holds
SAMPLE = 2000  # emitted grains that stand for all when their volume is summed


@dataclass(frozen=True)
class SceneSize:
    """A scene as a system of the cost model, and where each number comes from."""

    system: PlannedSystem
    grains: int
    turning: tuple[str, ...]
    """Bodies that turn, so that the grains will not be at rest."""
    notes: tuple[str, ...]


def size_of_scene(scene: Scene, duration: float | None = None) -> SceneSize | None:
    """Size and material of a scene; None without grains. Emitters without a total count emit for ``duration`` [s]."""
    d = scene.size_range[0]
    loose = [block for block in scene.grains if not block.held]
    placed = [block.place()[:2] for block in loose]
    emitted = [_emitted(e, duration) for e in scene.emitters]
    count = sum(len(position) for position, _ in placed) + sum(emitted)
    if not count or not math.isfinite(d):
        return None
    volume = sum(_volume(size, len(size)) for _, size in placed)
    rng = np.random.default_rng(0)
    sources = [(e.source.points(rng, SAMPLE), e.sizes.sample(rng, SAMPLE)) for e in scene.emitters]
    volume += sum(_volume(size, number) for (_, size), number in zip(sources, emitted, strict=True))
    position, size = (np.concatenate(parts) for parts in zip(*placed, *sources, strict=True))
    material = _quickest(scene, {block.material for block in (*loose, *scene.emitters)})
    turning = tuple(body.name for body in scene.bodies if body.is_driven and body.fastest[1].any())
    width, height, how = _extent(scene, position, size, volume, poured=any(emitted), turning=bool(turning))
    notes = (
        f"diameter {_short(d)} m: the smallest",
        f"young {_short(material.youngs_modulus)} Pa, density {_short(material.density)} kg/m3, poisson {material.poisson_ratio:g}: "
        f"of the grains of {material.name!r}",
        f"width {_short(width / d)} d, height {_short(height / d)} d: {how}",
        f"grains {count}" + (", emitters included" if emitted else ""),
    )
    g = float(np.linalg.norm(scene.gravity.acceleration))
    system = PlannedSystem(
        width=max(1.0, width / d),
        height=max(1.0, height / d),
        diameter=d,
        youngs_modulus=material.youngs_modulus,
        density=material.density,
        poisson_ratio=material.poisson_ratio,
    )
    if g > 0:
        system = replace(system, gravity=g)
    return SceneSize(system, count, turning, notes)


def _extent(scene: Scene, position: FloatArray, size: FloatArray, volume: float, poured: bool, turning: bool) -> tuple[float, float, str]:
    """Width and height [m] of the settled material, and how they were found.

    ``position`` and ``size`` [m] of the grains at the start, and of some that will be emitted. What turns, as a drum, is no container.
    """
    seen = _upright(Snapshot.build(scene, GrainRows(position=position, radius=size / 2)))
    container = None if turning else _container(seen)
    if container is not None:
        height = volume / PACKING / container.area
        how = f"4 area / perimeter of the walls, and the height that the grains fill between them (packed to {PACKING:g})"
        return 4 * container.area / container.perimeter, height, how
    if not poured:
        low, high = (seen.position + sign * seen.radius[:, None] for sign in (-1, 1))
        across, along, height = (float(length) for length in high.max(axis=0) - low.min(axis=0))
        if turning:
            return max(across, along), volume / PACKING / (across * along), f"the extent of the placed grains (packed to {PACKING:g})"
        return max(across, along), height, "the extent of the placed grains"
    slope = math.tan(math.radians(REPOSE))
    radius = (3 * volume / PACKING / math.pi / slope) ** (1 / 3)
    return 2 * radius, radius * slope, f"a heap at {REPOSE:g} degrees (packed to {PACKING:g})"


def _container(snapshot: Snapshot) -> Container | None:
    try:
        found = Container.of(snapshot)
    except InputError:  # no side walls
        return None
    return found if found.radius > 0 else None


def _upright(snapshot: Snapshot) -> Snapshot:
    """The grains and walls, turned so that the axis nearest to gravity points down along z."""
    from scipy.spatial.transform import Rotation

    g = np.asarray(snapshot.scene.gravity.acceleration)
    axis = int(np.argmax(np.abs(g))) if g.any() else 2
    turn = Rotation.align_vectors([[0.0, 0.0, 1.0]], [np.eye(3)[axis] * (-1.0 if g[axis] > 0 else 1.0)])[0]
    bodies = Rotation.from_quat(np.roll(snapshot.wall_orientation, -1, axis=1))  # SciPy has w last
    return replace(
        snapshot,
        position=turn.apply(snapshot.position),
        wall_position=turn.apply(snapshot.wall_position),
        wall_orientation=np.roll((turn * bodies).as_quat(), 1, axis=1),
    )


def _quickest(scene: Scene, names: set[str]) -> Material:
    """The material of grains that asks for the smallest smooth step."""
    return min((m for m in scene.materials if m.name in names), key=lambda m: m.density * (1 - m.poisson_ratio**2) / m.youngs_modulus)


def _volume(diameter: FloatArray, number: int) -> float:
    """Solid volume [m^3] of a number of grains with such diameters [m]."""
    return float(number * np.pi / 6 * (diameter**3).mean()) if number else 0.0


def _emitted(emitter: Emitter, duration: float | None) -> int:
    if emitter.count is not None:
        return emitter.count
    return emitter.due(duration) if duration is not None else 0


def _short(value: float) -> str:
    return f"{value:.4g}"
