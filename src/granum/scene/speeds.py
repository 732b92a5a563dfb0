"""How fast a scene will move: the speeds that it starts with, and those of the falls that it contains, each with its reason in words.

Speeds that a flow reaches by itself (a chute, an avalanche) are not foreseen; a run tells when it meets them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..arithmetic import dot, length
from ..array_types import FloatArray
from ..state.rotation import matrix
from .bodies import Body
from .extent import away_from_axis, endless, reach_from_axis, reach_from_origin
from .falls import fall_of_body, fall_of_emitter, falls_of_grains
from .floors import Frame
from .motion import Motion
from .placed import Placed, source_points
from .scene import Gravity, Scene

HALVINGS = 60  # of a time, until nothing of it is left to rounding


@dataclass(frozen=True)
class Speed:
    """What moves, and how fast."""

    value: float
    """[m/s]"""
    reason: str
    """In words: "a fall of 0.26 m"."""
    wall: bool = False
    """Of a wall, not of a grain."""


def speeds_at_start(scene: Scene) -> list[Speed]:
    """Of placed grains, emitters, belts and bodies, as the scene gives them, the fastest first. What is at rest is left out."""
    placed = Placed.of(scene)
    found = [*_of_grains(placed), *(Speed(float(length(e.velocity)), _emitted(e.name, float(length(e.velocity)))) for e in scene.emitters)]
    found += [speed for body in scene.all_bodies for speed in _of_body(scene, placed, body)]
    return _ordered(found)


def expected_speeds(scene: Scene) -> list[Speed]:
    """Speeds at the start, and of all that falls inside of the scene, the fastest first."""
    frame, placed = Frame.of(scene), Placed.of(scene)
    found = speeds_at_start(scene)
    if frame is None:
        return found
    found += _of_falls(scene, frame, placed)
    for emitter in scene.emitters:
        own, height = float(length(emitter.velocity)), fall_of_emitter(scene, frame, placed, emitter)
        fast = math.sqrt(own * own + 2 * _strength(scene.gravity) * height)
        found.append(Speed(fast, f"a fall of {height:.3g} m from " + _emitted(emitter.name, own)))
    for body in scene.bodies:
        if body.kind == "dynamic" and (body.walls or any(block.body == body.name for block in scene.grains)):
            own, height = float(length(body.velocity)), fall_of_body(scene, frame, placed, body)
            fast = math.sqrt(own * own + 2 * _pull(scene.gravity, body) * height)
            found.append(Speed(fast, f"a fall of {height:.3g} m of the body {body.name!r}", wall=True))
    return _ordered(found)


def speed_after_fall(gravity: Gravity, height: FloatArray) -> FloatArray:
    """(n,) [m/s] after falls (n,) [m] that begin at rest when the run does, while gravity may still grow."""
    late, fall = _strength(gravity), np.asarray(height, float)
    if gravity.ramp == 0:
        return np.sqrt(2 * late * fall)
    ramp, early = gravity.ramp, float(length(gravity.initial))
    late = float(length(gravity.acceleration))
    rise = (late - early) / ramp

    def way(t: FloatArray | float) -> FloatArray | float:
        return t * t * (0.5 * early + rise * t / 6)

    def speed(t: FloatArray | float) -> FloatArray | float:
        return t * (early + 0.5 * rise * t)

    low, high = np.zeros_like(fall), np.full_like(fall, ramp)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        short = way(middle) < fall
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    last = float(speed(ramp))
    after = last * last + 2 * late * np.maximum(fall - way(ramp), 0.0)
    return np.where(fall < way(ramp), speed(high), np.sqrt(after))


def reach_of_body(scene: Scene, body: Body, spin: FloatArray, around: FloatArray) -> float:
    """Largest distance [m] of a body's walls from its axis of ``spin``; of walls without end, where ``around`` (n, 3) [m] is.

    ``around`` is what the walls can meet: grains and sources.
    """
    axis = spin / length(spin)
    turn = matrix(np.asarray(body.orientation))
    own = np.array([float(dot(turn[:, k], axis)) for k in range(3)])
    reaches = [reach_from_axis(wall, own) for wall in body.walls]
    furthest = max([reach_of_grains(scene, body, axis), *(r for r in reaches if math.isfinite(r))])
    if any(not math.isfinite(r) for r in reaches) and len(around):
        furthest = max(furthest, float(away_from_axis(around - np.asarray(body.position), axis).max()))
    return furthest


def reach_of_grains(scene: Scene, body: Body, axis: FloatArray | None = None) -> float:
    """Largest distance [m] of the grains fixed to a body from an axis through its position, or from its position; 0 without any."""
    reach = 0.0
    for block in scene.grains:
        if block.body == body.name:
            position, diameter, _, _ = block.place()
            away = position - np.asarray(body.position)
            far = length(away) if axis is None else away_from_axis(away, axis)
            reach = max(reach, float((far + 0.5 * diameter).max(initial=0.0)))
    return reach


def things_to_meet(scene: Scene, placed: Placed) -> FloatArray:
    """(n, 3) [m] of grains and sources."""
    return np.concatenate([placed.position, *(source_points(e) for e in scene.emitters)])


def _of_grains(placed: Placed) -> list[Speed]:
    if not len(placed.radius):
        return []
    fast, rim = float(length(placed.velocity).max()), float((placed.radius * length(placed.spin)).max())
    return [
        Speed(fast, f"a grain placed at {fast:.3g} m/s"),
        Speed(rim, f"a grain placed with a spin that moves its surface at {rim:.3g} m/s"),
    ]


def _of_falls(scene: Scene, frame: Frame, placed: Placed) -> list[Speed]:
    """The fastest of the placed grains when it lands."""
    height, own = falls_of_grains(scene, frame, placed), length(placed.velocity)
    if not len(height):
        return []
    gained = speed_after_fall(scene.gravity, height)
    fast = np.sqrt(own * own + gained * gained)
    best = int(fast.argmax())
    start, down = f"a grain placed at {own[best]:.3g} m/s", f"{height[best]:.3g} m"
    return [Speed(float(fast[best]), f"{start} that falls {down}" if own[best] > 0 else f"a fall of {down}")]


def _of_body(scene: Scene, placed: Placed, body: Body) -> list[Speed]:
    """A wall body at its fastest, and its belts."""
    later, around = "", things_to_meet(scene, placed)
    if body.kind == "kinematic" and not isinstance(body.motion, Motion):
        velocity = _on_path(scene, body, around)
    else:
        if body.kind == "kinematic":
            assert isinstance(body.motion, Motion)
            motion = body.motion
            over = motion.stop is not None and (motion.stop <= 0 or motion.stop <= motion.start)
            velocity = motion.top_speed(np.asarray(body.position))
            velocity, spin = (0.0, np.zeros(3)) if over else (velocity, np.asarray(motion.spin, float))
            later = f" from {motion.start:.3g} s on" if motion.start > 0 else ""
        else:
            velocity, spin = float(length(body.velocity)), np.asarray(body.spin, float)
        if spin.any():
            velocity += float(length(spin)) * reach_of_body(scene, body, spin, around)
    found = [Speed(velocity, f"the wall body {body.name!r} at {velocity:.3g} m/s{later}", wall=True)]
    belt = max((float(length(wall.surface_velocity)) for wall in body.walls), default=0.0)
    if belt > 0:
        found.append(Speed(velocity + belt, f"the belt of {body.name!r} at {velocity + belt:.3g} m/s", wall=True))
    return found


def _on_path(scene: Scene, body: Body, around: FloatArray) -> float:
    """Largest speed [m/s] of a body that follows a path, its rim included, or a little more."""
    speeds, spins = body.fastest
    fast, rate = float(speeds.max()), length(spins)
    if not rate.any():
        return fast
    axis = spins[int(rate.argmax())]
    if length(np.cross(spins, axis)).max() <= 1e-9 * float(dot(axis, axis)):  # it turns about one axis, so its reach stays
        return fast + float(rate.max()) * reach_of_body(scene, body, axis, around)
    reach = max([reach_of_grains(scene, body), *(reach_from_origin(wall) for wall in body.walls)])
    if any(endless(wall) for wall in body.walls) and len(around):
        reach = max(reach, float(length(around - np.asarray(body.position)).max()))
    return fast + float(rate.max()) * reach


def _emitted(name: str, speed: float) -> str:
    return f"the emitter {name!r}" + (f" at {speed:.3g} m/s" if speed > 0 else "")


def _strength(gravity: Gravity) -> float:
    return max(float(length(gravity.acceleration)), float(length(gravity.initial)) if gravity.ramp > 0 else 0.0)


def _pull(gravity: Gravity, body: Body) -> float:
    """Acceleration [m/s^2] of a body that is free."""
    assert body.mass is not None
    free = ~body.locked_axes[:3]
    return float(length([(g + f / body.mass) * go for g, f, go in zip(gravity.acceleration, body.force, free, strict=True)]))


def _ordered(found: list[Speed]) -> list[Speed]:
    return sorted((speed for speed in found if speed.value > 0), key=lambda speed: -speed.value)
