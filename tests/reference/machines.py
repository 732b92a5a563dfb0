"""Machines that tests hold against closed forms and against numbers of another program."""

from __future__ import annotations

from typing import Any

import numpy as np

from granum import Body, Distance, Hinge, Material, Motor, Scene

GRAVITY = 9.81


def machine_scene(bodies: list[Body], joints: list[Any], gravity: float = GRAVITY, **fields: Any) -> Scene:
    """A scene of bodies and joints alone, in a wide world."""
    return Scene(
        materials=[Material(name="steel", density=7800)],
        bodies=bodies,
        joints=joints,
        gravity={"acceleration": (0, 0, -gravity)},
        world=((-1e4,) * 3, (1e4,) * 3),
        **fields,
    )


def turned(axis: tuple[float, float, float], angle: float) -> tuple[float, float, float, float]:
    """Unit quaternion of a turn [rad] about an axis."""
    u = np.array(axis, float) / np.linalg.norm(axis)
    return float(np.cos(angle / 2)), *(float(s) for s in np.sin(angle / 2) * u)


def rod(name: str, start: np.ndarray, end: np.ndarray, mass: float) -> Body:
    """A thin rod in the plane of x and z."""
    along = end - start
    size = float(np.linalg.norm(along))
    moment = mass * size**2 / 12
    return Body(
        name=name,
        kind="dynamic",
        mass=mass,
        inertia=(moment / 100, moment, moment),
        position=tuple((start + end) / 2),
        orientation=turned((0, 1, 0), -np.arctan2(along[2], along[0])),
    )


def pin(name: str, a: str, b: str, at: Any, **fields: Any) -> Hinge:
    """A hinge about y."""
    return Hinge(name=name, bodies=(a, b), anchor=tuple(np.asarray(at, float)), axis=(0, 1, 0), **fields)


def excavator(load: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Scene:
    """Boom, stick and bucket with three hydraulic cylinders that hold their lengths; ``load`` [N] pulls at the bucket."""

    def e(angle: float) -> np.ndarray:
        return np.array([np.cos(np.radians(angle)), 0.0, np.sin(np.radians(angle))])

    p1, d1, d2 = np.array([0.5, 0, 2]), e(35), e(-75)
    n1, n2 = np.array([-d1[2], 0, d1[0]]), np.array([-d2[2], 0, d2[0]])
    p2 = p1 + 6 * d1
    p3 = p2 + 3.2 * d2
    bodies = [
        Body(name="boom", kind="dynamic", mass=5000, inertia=(1e3, 1.5e4, 1.5e4), position=tuple(p1 + 2.8 * d1)),
        Body(name="stick", kind="dynamic", mass=2500, inertia=(500, 2.5e3, 2.5e3), position=tuple(p2 + 1.3 * d2)),
        Body(name="bucket", kind="dynamic", mass=2000, inertia=(800, 800, 800), position=tuple(p3 + np.array([-0.2, 0, -0.7])), force=load),
    ]
    ends = {
        "boom": ("ground", np.array([1.3, 0, 1.5]), p1 + 2.6 * d1 - 0.3 * n1),
        "stick": ("boom", p1 + 2.8 * d1 + 0.6 * n1, p2 - 0.9 * d2 + 0.1 * n2),
        "bucket": ("stick", p2 + 0.6 * d2 + 0.45 * n2, p3 + np.array([0.45, 0, 0.1])),
    }
    cylinders = [
        Distance(
            name=f"{name} cylinder",
            bodies=(base, name),
            anchors=(tuple(a), tuple(b)),
            motor=Motor(position=float(np.linalg.norm(b - a)), force_limit=1e7),
        )
        for name, (base, a, b) in ends.items()
    ]
    joints = [pin("foot", "ground", "boom", p1), pin("tip", "boom", "stick", p2), pin("end", "stick", "bucket", p3), *cylinders]
    return machine_scene(bodies, joints)
