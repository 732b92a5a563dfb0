"""Machines from URDF files: links become bodies, joints stay joints.

A URDF file describes a tree. What closes a loop (a hydraulic cylinder, a coupler) is given besides, as joints of the scene between bodies
of the file. Links without mass that fixed joints tie to others (tool frames, sensors) become frames of these: their shapes belong to the
body, and joints that begin at them begin at the body.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
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
from .bodies import Body, Frame
from .joints import Fixed, Hinge, Joint, Limits, Motor, Slider
from .shapes import Capsule, Cylinder, Mesh, Shape, read_mesh

KNOWN = "granum knows revolute, continuous, prismatic and fixed"
DIGITS = 12  # of angles that are read as text: what their sines have beyond differs from CPU to CPU
CORNERS = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
FACES = [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]


class _Pose(NamedTuple):
    """Where a frame is in another."""

    turn: FloatArray  # (3, 3)
    at: FloatArray  # (3,) [m]

    def then(self, inner: _Pose) -> _Pose:
        """A pose that is given in this frame, where this frame is given."""
        return _Pose(product(self.turn, inner.turn), self.at + times(self.turn, inner.at))

    def seen_from(self, frame: _Pose) -> _Pose:
        """This pose in ``frame``, both given in the same."""
        return _Pose(product(frame.turn.T, self.turn), times(frame.turn.T, self.at - frame.at))


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

    Collision shapes become walls of ``material``: boxes, cylinders, spheres and meshes. ``motors`` drive joints by name. Bodies have the
    frames of their links, ``sim.body("lower").frame("lower")``, and of links without mass that fixed joints tie to them,
    ``sim.body("lower").frame("tool")``.

    ``machine = read_urdf("arm.urdf", "steel")``, then ``Scene(..., bodies=machine.bodies, joints=machine.joints)``.
    """
    path = Path(path)
    robot = _parsed(path)
    if not length(orientation) > 0:
        raise InputError(f"orientation of the machine of {str(path)!r} must not be zero (got {tuple(orientation)}).")
    turn = matrix(np.asarray(orientation, float) / length(orientation))
    root = _root(robot, path)
    where = _place_links(robot, path, root, _Pose(turn, np.asarray(position, float)))
    links = {link.name: link for link in robot.links}
    holders = {joint.child: joint for joint in robot.joints}
    drives = dict(motors or {})
    for name in drives:
        known_name(f"joint of {str(path)!r}", name, [joint.name for joint in robot.joints])
    owner, inside = _owners(links, where, holders)
    bodies: dict[str, Body] = {}
    centres: dict[str, _Pose] = {}
    for name, own in owner.items():
        with _told(path, f"link {name!r}"):
            if own == name:
                bodies[name], centres[name] = _body(links[name], where[name], prefix, path, holders.get(name))
            walls = _walls(links[name], centres[own].seen_from(inside[name]), material, path)
            turn, at = inside[name].seen_from(centres[own])
            frame = Frame(name=prefix + name, position=tuple(at), orientation=_quaternion(turn))
            body = bodies[own]
            bodies[own] = body.model_copy(update={"walls": body.walls + walls, "frames": (*body.frames, frame)})
    joints = []
    for joint in robot.joints:
        with _told(path, f"joint {joint.name!r}"):
            ends = prefix + owner[joint.parent], prefix + owner[joint.child]
            made = _joint(joint, ends, where[joint.child], prefix, drives.get(joint.name), path)
            if made is not None:
                joints.append(made)
    return Machine(tuple(bodies.values()), tuple(joints))


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


def _pose(origin: Any) -> _Pose:
    """A URDF origin, with the same bits on every CPU."""
    if origin is None:
        return _Pose(np.eye(3), np.zeros(3))
    rough = np.round(np.asarray(origin, float), DIGITS)
    x = rough[:3, 0] / length(rough[:3, 0])
    z = np.cross(x, rough[:3, 1])
    z = z / length(z)
    return _Pose(np.stack([x, np.cross(z, x), z], axis=1), rough[:3, 3])


def _place_links(robot: Any, path: Path, root: str, at: _Pose) -> dict[str, _Pose]:
    """Frames of all links in the world, parents first."""
    where = {root: at}
    left = list(robot.joints)
    while left:
        reached = [joint for joint in left if joint.parent in where]
        if not reached:
            raise InputError(f"URDF file {str(path)!r}: the link {left[0].parent!r} is not linked to the root.")
        for joint in reached:
            where[joint.child] = where[joint.parent].then(_pose(joint.origin))
        left = [joint for joint in left if joint not in reached]
    return where


def _owners(links: Mapping[str, Any], names: Iterable[str], holders: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, _Pose]]:
    """The link whose body each link belongs to, parents first, and where it is in that link's frame: each to itself, but for frames without
    mass at fixed joints."""
    owner: dict[str, str] = {}
    inside: dict[str, _Pose] = {}
    for name in names:
        holder = holders.get(name)
        if holder is not None and holder.type == "fixed" and not _mass(links[name]) > 0.0:
            owner[name], inside[name] = owner[holder.parent], inside[holder.parent].then(_pose(holder.origin))
        else:
            owner[name], inside[name] = name, _Pose(np.eye(3), np.zeros(3))
    return owner, inside


def _mass(link: Any) -> float:
    return float(link.inertial.mass or 0.0) if link.inertial is not None else 0.0


def _body(link: Any, where: _Pose, prefix: str, path: Path, holder: Any) -> tuple[Body, _Pose]:
    """The body of a link, still without walls, and its frame in the link's; ``holder`` is the joint that it hangs on, none at the root."""
    name = prefix + link.name
    if holder is None:
        return Body(name=name, position=tuple(where.at), orientation=_quaternion(where.turn)), _Pose(np.eye(3), np.zeros(3))
    inertial = link.inertial
    if not _mass(link) > 0.0 or inertial.inertia is None:
        raise InputError(
            f"URDF file {str(path)!r}: link {link.name!r} moves, and needs an inertial with a mass above 0 and an inertia. Only a frame "
            f"that a fixed joint ties to its parent has none, and {holder.name!r} is {holder.type}: give the link what it weighs, or, if "
            f"it only carries another one by a fixed joint, let {holder.name!r} lead to that one."
        )
    own_turn, centre = _pose(inertial.origin)
    tensor = product(product(own_turn, np.asarray(inertial.inertia, float)), own_turn.T)
    moments, axes = np.empty(3), np.empty((3, 3))
    principal_axes(np.ascontiguousarray(tensor), moments, axes)
    if not moments.min() > 0.0:
        raise InputError(f"URDF file {str(path)!r}: the inertia of link {link.name!r} must have moments above 0 (has {moments.tolist()}).")
    axes[:, 2] = np.cross(axes[:, 0], axes[:, 1])
    own = _Pose(axes, centre)
    place = where.then(own)
    body = Body(
        name=name,
        kind="dynamic",
        mass=_mass(link),
        inertia=tuple(moments.tolist()),
        position=tuple(place.at),
        orientation=_quaternion(place.turn),
    )
    return body, own


def _walls(link: Any, frame: _Pose, material: str, path: Path) -> tuple[Shape, ...]:
    """Collision shapes of a link in the ``frame`` of its body, which is given in the link's."""
    walls: list[Shape] = []
    for collision in link.collisions or ():
        turn, at = _pose(collision.origin).seen_from(frame)
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


def _joint(joint: Any, bodies: tuple[str, str], where: _Pose, prefix: str, motor: Motor | None, path: Path) -> Joint | None:
    """None: it ties a frame to the body that the frame belongs to."""
    name, at = prefix + joint.name, where.at
    if joint.mimic is not None:
        raise InputError(f"URDF file {str(path)!r}: joint {joint.name!r} mimics {joint.mimic.joint!r}, which granum does not know.")
    own_axis = np.asarray(joint.axis if joint.axis is not None else (1.0, 0.0, 0.0), float)
    if own_axis.shape != (3,):
        raise InputError(f"the axis must be three numbers, has {len(own_axis)}.")
    axis = tuple(map(float, times(where.turn, own_axis)))
    limits = None
    if joint.type in ("revolute", "prismatic") and joint.limit is not None:
        ends = joint.limit.lower, joint.limit.upper
        if ends != (None, None):  # what is left out is 0
            limits = Limits(lower=ends[0] or 0.0, upper=ends[1] or 0.0)
    if joint.type == "fixed":
        if motor is not None:
            raise InputError(f"URDF file {str(path)!r}: joint {joint.name!r} is fixed, and cannot have a motor.")
        return Fixed(name=name, bodies=bodies, anchor=tuple(at)) if bodies[0] != bodies[1] else None
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
