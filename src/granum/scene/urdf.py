"""Machines from URDF files: links become bodies, joints stay joints.

A URDF file describes a tree. What closes a loop (a hydraulic cylinder, a coupler) is given besides, as joints of the scene between bodies
of the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pydantic import Field

from ..arithmetic import length, product, times
from ..array_types import FloatArray
from ..checks import InputError, known_name
from ..records import Record, Vector
from ..state.free_turn import principal_axes
from ..state.rotation import matrix
from .bodies import Body
from .joints import Fixed, Hinge, Joint, Limits, Motor, Slider
from .shapes import Capsule, Cylinder, Mesh, Shape, read_mesh

KNOWN = "granum knows revolute, continuous, prismatic and fixed"
DIGITS = 12  # of angles that are read as text: what their sines have beyond differs from CPU to CPU
CORNERS = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
FACES = [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]


class Machine(NamedTuple):
    """Bodies and joints for a scene."""

    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]


class UrdfFile(Record):
    """A machine of a scene file: ``[[machines]]``."""

    file: str
    """URDF file, relative to the scene file."""
    material: str
    """Of its surfaces."""
    position: Vector = (0.0, 0.0, 0.0)
    """[m] of its root in the world."""
    orientation: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    """Unit quaternion, w first."""
    prefix: str = ""
    """Before the names of its bodies and joints, if a scene has it twice."""
    motors: dict[str, Motor] = Field(default_factory=dict)
    """Of joints, by their names in the file."""


def read_urdf(
    path: str | Path,
    material: str,
    *,
    position: Any = (0.0, 0.0, 0.0),
    orientation: Any = (1.0, 0.0, 0.0, 0.0),
    prefix: str = "",
    motors: Mapping[str, Motor] | None = None,
) -> Machine:
    """Bodies and joints of a URDF file (needs ``granum[machines]``), its root at ``position`` [m]; the root stands still.

    Collision shapes become walls of ``material``: boxes, cylinders, spheres and meshes. ``motors`` drive joints by name.

    ``machine = read_urdf("arm.urdf", "steel")``, then ``Scene(..., bodies=machine.bodies, joints=machine.joints)``.
    """
    path = Path(path)
    robot = _parsed(path)
    if not length(orientation) > 0:
        raise InputError(f"orientation of the machine of {str(path)!r} must not be zero (got {tuple(orientation)}).")
    turn = matrix(np.asarray(orientation, float) / length(orientation))
    where = _place_links(robot, path, turn, np.asarray(position, float))
    links = {link.name: link for link in robot.links}
    root = _root(robot, path)
    drives = dict(motors or {})
    for name in drives:
        known_name(f"joint of {str(path)!r}", name, [joint.name for joint in robot.joints])
    bodies, joints = [], []
    for name in where:
        with _told(path, f"link {name!r}"):
            bodies.append(_body(links[name], *where[name], material, prefix, path, name == root))
    for joint in robot.joints:
        with _told(path, f"joint {joint.name!r}"):
            joints.append(_joint(joint, *where[joint.child], prefix, drives.get(joint.name), path))
    return Machine(tuple(bodies), tuple(joints))


@contextmanager
def _told(path: Path, part: str) -> Iterator[None]:
    """What is wrong with a part of the file, with the names of both."""
    try:
        yield
    except InputError as error:
        if str(error).startswith(("URDF file", "mesh file")):
            raise
        raise InputError(f"URDF file {str(path)!r}, {part}: {error}") from None


def _parsed(path: Path) -> Any:
    try:
        from yourdfpy import URDF
    except ImportError:
        raise InputError(f"reading {str(path)!r} needs yourdfpy: install granum[machines].") from None
    if not path.is_file():
        raise InputError(f"URDF file {str(path)!r} does not exist.")
    try:
        return URDF.load(str(path), build_scene_graph=False, load_meshes=False).robot
    except Exception as error:  # the reader raises many kinds
        raise InputError(f"URDF file {str(path)!r} could not be read: {error}") from None


def _root(robot: Any, path: Path) -> str:
    children, links = [joint.child for joint in robot.joints], [link.name for link in robot.links]
    for joint in robot.joints:
        for end in (joint.parent, joint.child):
            if end not in links:
                raise InputError(f"URDF file {str(path)!r}: joint {joint.name!r} links {end!r}, which is no link of the file.")
    again = {name for name in links if links.count(name) > 1}
    if again:
        raise InputError(f"URDF file {str(path)!r}: names of links must differ, has {min(again)!r} twice.")
    twice = {name for name in children if children.count(name) > 1}
    if twice:
        raise InputError(
            f"URDF file {str(path)!r}: link {min(twice)!r} is the child of two joints. A loop is not a tree: leave one of them out, and "
            "give it as a joint of the scene."
        )
    roots = [link.name for link in robot.links if link.name not in children]
    if len(roots) != 1:
        raise InputError(f"URDF file {str(path)!r} must have one root, the link that is no joint's child (has {roots or 'none'}).")
    return roots[0]


def _pose(origin: Any) -> tuple[FloatArray, FloatArray]:
    """Rotation and place [m] of a URDF origin, with the same bits on every CPU."""
    if origin is None:
        return np.eye(3), np.zeros(3)
    rough = np.round(np.asarray(origin, float), DIGITS)
    x = rough[:3, 0] / length(rough[:3, 0])
    z = np.cross(x, rough[:3, 1])
    z = z / length(z)
    return np.stack([x, np.cross(z, x), z], axis=1), rough[:3, 3]


def _place_links(robot: Any, path: Path, turn: FloatArray, at: FloatArray) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Frames of all links in the world, parents first."""
    where = {_root(robot, path): (turn, at)}
    left = list(robot.joints)
    while left:
        reached = [joint for joint in left if joint.parent in where]
        if not reached:
            raise InputError(f"URDF file {str(path)!r}: the link {left[0].parent!r} is not linked to the root.")
        for joint in reached:
            own_turn, own_at = _pose(joint.origin)
            parent_turn, parent_at = where[joint.parent]
            where[joint.child] = product(parent_turn, own_turn), parent_at + times(parent_turn, own_at)
        left = [joint for joint in left if joint not in reached]
    return where


def _body(link: Any, turn: FloatArray, at: FloatArray, material: str, prefix: str, path: Path, root: bool) -> Body:
    name = prefix + link.name
    inertial = link.inertial
    if root:
        walls = _walls(link, np.eye(3), np.zeros(3), material, path)
        return Body(name=name, position=tuple(at), orientation=_quaternion(turn), walls=walls)
    if inertial is None or not (inertial.mass or 0.0) > 0.0 or inertial.inertia is None:
        raise InputError(f"URDF file {str(path)!r}: link {link.name!r} moves, and needs an inertial with a mass above 0 and an inertia.")
    own_turn, centre = _pose(inertial.origin)
    tensor = product(product(own_turn, np.asarray(inertial.inertia, float)), own_turn.T)
    moments, axes = np.empty(3), np.empty((3, 3))
    principal_axes(np.ascontiguousarray(tensor), moments, axes)
    if not moments.min() > 0.0:
        raise InputError(f"URDF file {str(path)!r}: the inertia of link {link.name!r} must have moments above 0 (has {moments.tolist()}).")
    axes[:, 2] = np.cross(axes[:, 0], axes[:, 1])
    return Body(
        name=name,
        kind="dynamic",
        mass=float(inertial.mass),
        inertia=tuple(moments.tolist()),
        position=tuple(at + times(turn, centre)),
        orientation=_quaternion(product(turn, axes)),
        walls=_walls(link, axes, centre, material, path),
    )


def _walls(link: Any, axes: FloatArray, centre: FloatArray, material: str, path: Path) -> tuple[Shape, ...]:
    """Collision shapes of a link in the frame of its body, whose ``axes`` and ``centre`` are given in the link's."""
    walls: list[Shape] = []
    for collision in link.collisions or ():
        own_turn, own_at = _pose(collision.origin)
        turn, at = product(axes.T, own_turn), times(axes.T, own_at - centre)
        shape = collision.geometry
        if shape.cylinder is not None:
            axis, size = tuple(turn[:, 2]), shape.cylinder
            walls.append(Cylinder(material=material, centre=tuple(at), axis=axis, radius=size.radius, length=size.length, side="outside"))
        elif shape.sphere is not None:
            radius = float(shape.sphere.radius)
            walls.append(Capsule(material=material, centre=tuple(at), radius=radius, length=1e-6 * radius))
        elif shape.box is not None:
            vertices = times(turn, CORNERS * np.asarray(shape.box.size, float)) + at
            walls.append(Mesh(material=material, vertices=vertices, triangles=FACES))
        elif shape.mesh is not None:
            file = path.parent / str(shape.mesh.filename).removeprefix("package://").removeprefix("file://")
            vertices, triangles = read_mesh(file)
            scale = np.asarray(shape.mesh.scale if shape.mesh.scale is not None else 1.0, float)
            walls.append(Mesh(material=material, vertices=times(turn, vertices * scale) + at, triangles=triangles))
    return tuple(walls)


def _joint(joint: Any, turn: FloatArray, at: FloatArray, prefix: str, motor: Motor | None, path: Path) -> Joint:
    name, bodies = prefix + joint.name, (prefix + joint.parent, prefix + joint.child)
    if joint.mimic is not None:
        raise InputError(f"URDF file {str(path)!r}: joint {joint.name!r} mimics {joint.mimic.joint!r}, which granum does not know.")
    own_axis = np.asarray(joint.axis if joint.axis is not None else (1.0, 0.0, 0.0), float)
    if own_axis.shape != (3,):
        raise InputError(f"the axis must be three numbers, has {len(own_axis)}.")
    axis = tuple(map(float, times(turn, own_axis)))
    limits = None
    if joint.type in ("revolute", "prismatic") and joint.limit is not None:
        ends = joint.limit.lower, joint.limit.upper
        if ends != (None, None):  # what is left out is 0
            limits = Limits(lower=ends[0] or 0.0, upper=ends[1] or 0.0)
    if joint.type == "fixed":
        if motor is not None:
            raise InputError(f"URDF file {str(path)!r}: joint {joint.name!r} is fixed, and cannot have a motor.")
        return Fixed(name=name, bodies=bodies, anchor=tuple(at))
    if joint.type in ("revolute", "continuous"):
        return Hinge(name=name, bodies=bodies, anchor=tuple(at), axis=axis, limits=limits, motor=motor)
    if joint.type == "prismatic":
        return Slider(name=name, bodies=bodies, anchor=tuple(at), axis=axis, limits=limits, motor=motor)
    raise InputError(
        f"URDF file {str(path)!r}: joint {joint.name!r} is {joint.type}; granum knows revolute, continuous, prismatic and fixed."
    )


def _quaternion(turn: FloatArray) -> tuple[float, float, float, float]:
    """Unit quaternion, w first, of a rotation (3, 3)."""
    m = turn
    squares = np.array(
        [
            1 + m[0, 0] + m[1, 1] + m[2, 2],
            1 + m[0, 0] - m[1, 1] - m[2, 2],
            1 - m[0, 0] + m[1, 1] - m[2, 2],
            1 - m[0, 0] - m[1, 1] + m[2, 2],
        ]
    )
    k = int(squares.argmax())
    off = {
        0: (squares[0], m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]),
        1: (m[2, 1] - m[1, 2], squares[1], m[0, 1] + m[1, 0], m[0, 2] + m[2, 0]),
        2: (m[0, 2] - m[2, 0], m[0, 1] + m[1, 0], squares[2], m[1, 2] + m[2, 1]),
        3: (m[1, 0] - m[0, 1], m[0, 2] + m[2, 0], m[1, 2] + m[2, 1], squares[3]),
    }[k]
    w, x, y, z = np.asarray(off, float) / length(off)
    return float(w), float(x), float(y), float(z)
