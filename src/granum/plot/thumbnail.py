"""Small pictures of what a notebook shows: scenes, recordings, frames, simulations and packings."""

from __future__ import annotations

import io
from functools import singledispatch
from typing import Any

import numpy as np

from ..analysis.snapshot import Snapshot
from ..array_types import FloatArray
from ..io import Frame, Recording
from ..io.packing import is_packing, read_packing
from ..quasistatic.jam import Jammed
from ..quasistatic.minimise import Relaxed
from ..quasistatic.pack import Packed
from ..quasistatic.packing import Packing
from ..quasistatic.shear import ShearStep
from ..scene.scene import Scene
from ..simulation import Simulation
from ..simulation.making import make_bodies
from ..simulation.relax import RelaxedRun
from .outline import Frames
from .packing import packing_picture
from .picture import scene_picture

DPI = 52  # [1/inch]: some 400 pixels across
FINER = 0.8  # pixels of the image for one of the usual picture, each way: twice those of the small one
MOST = 300_000  # grains: more take seconds


def thumbnail(shown: Any) -> bytes:
    """A PNG image. ValueError if there is nothing to draw, or more than a moment allows."""
    image = io.BytesIO()
    figure_of(shown).savefig(image, format="png", dpi=DPI)
    return image.getvalue()


@singledispatch
def figure_of(shown: Any) -> Any:
    """The figure of an object, made quickly."""
    raise ValueError(f"there is no picture of a {type(shown).__name__}")


@figure_of.register
def _(shown: Scene) -> Any:
    bodies = make_bodies(shown)
    _check(bodies.grain_count)
    grains = bodies.grains
    return scene_picture(shown, bodies.position[grains], bodies.radius, bodies.velocity[grains], colour="height", finer=FINER)


@figure_of.register
def _(shown: Snapshot) -> Any:
    walls = list(zip(shown.wall_position, shown.wall_orientation, strict=True))
    return _state(shown.scene, shown.position, shown.radius, shown.velocity, shown.time, walls)


@figure_of.register
def _(shown: Simulation) -> Any:
    b = shown.bodies
    walls = [(b.position[w], b.orientation[w]) for w in range(b.wall_body_count)]
    return _state(shown.scene, shown.wrapped_position, shown.radius, shown.velocity, shown.time, walls)


@figure_of.register
def _(shown: Recording) -> Any:
    with Recording(shown.path) as recording:  # its frames by now, also if the one that is shown was closed
        return figure_of(read_packing(recording) if is_packing(recording) else recording.frame(-1))


@figure_of.register
def _(shown: Frame) -> Any:
    if shown.path is None:
        raise ValueError("a frame without a recording has no scene")
    with Recording(shown.path) as recording:
        index = int(np.searchsorted(recording.steps, shown.step))
        if is_packing(recording):
            return figure_of(read_packing(recording, index))
        scene = recording.scene_at(index)
    walls = list(zip(shown.walls.position, shown.walls.orientation, strict=True))
    return _state(scene, shown.position, shown.radius, shown.velocity, shown.time, walls)


@figure_of.register
def _(shown: Packing) -> Any:
    _check(shown.count)
    return packing_picture(shown, FINER)


@figure_of.register(Jammed)
@figure_of.register(Packed)
@figure_of.register(Relaxed)
@figure_of.register(ShearStep)
def _(shown: Any) -> Any:
    return figure_of(shown.packing)


@figure_of.register
def _(shown: RelaxedRun) -> Any:
    return figure_of(shown.scene)


def _state(scene: Scene, position: FloatArray, radius: FloatArray, velocity: FloatArray, time: float, walls: Frames) -> Any:
    _check(len(position))
    return scene_picture(scene, position, radius, velocity, time=time, bodies=walls, finer=FINER)


def _check(grains: int) -> None:
    if not 0 < grains <= MOST:
        raise ValueError(f"{grains} grains are not drawn in a moment")
