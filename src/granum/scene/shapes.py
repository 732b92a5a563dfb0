"""Walls: planes, boxes, cylinders, capsules and triangle meshes, each owned by a body and given in that body's frame."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, PlainSerializer, PlainValidator, field_validator, model_validator

from ..arithmetic import dot, length
from ..array_types import FloatArray, IntArray
from ..checks import InputError
from ..records import Positive, Record, Vector
from .arrays import read_array


def _array(dtype: type, columns: int | None) -> Any:
    def read(value: Any) -> Any:
        array = read_array(value, dtype)
        if columns is not None and array.size == 0:
            array = array.reshape(0, columns)
        if columns is not None and (array.ndim != 2 or array.shape[1] != columns):
            raise ValueError(f"must have shape (n, {columns}), has {array.shape}")
        return array

    return read


Points = Annotated[FloatArray, PlainValidator(_array(float, 3)), PlainSerializer(lambda a: a.tolist())]
Numbers = Annotated[FloatArray, PlainValidator(_array(float, None)), PlainSerializer(lambda a: a.tolist())]
Triples = Annotated[IntArray, PlainValidator(_array(np.int32, 3)), PlainSerializer(lambda a: a.tolist())]


class Wall(Record):
    """What all walls share."""

    material: str
    """Name of the material."""
    surface_velocity: Vector = (0.0, 0.0, 0.0)
    """[m/s], in the body's frame: a belt that runs while its body stands. Only its tangential part drags grains."""


def unit(value: Vector) -> Vector:
    """The vector brought to length 1."""
    size = float(length(value))
    if not size > 0:
        raise ValueError("must not be a zero vector")
    if abs(size - 1) < 1e-15:  # a scene read back from its recording keeps its bits
        return value
    x, y, z = np.asarray(value) / size
    return float(x), float(y), float(z)


class Plane(Wall):
    """A half-space: grains live on the side that ``normal`` points to."""

    shape: Literal["plane"] = "plane"
    point: Vector = (0.0, 0.0, 0.0)
    """[m]"""
    normal: Vector = (0.0, 0.0, 1.0)
    """Points to the grains; any length."""

    _normal = field_validator("normal")(unit)


Face = Literal["-x", "+x", "-y", "+y", "-z", "+z"]


class Box(Wall):
    """A box with axes along those of its body: a container (``inside``) or an obstacle (``outside``).

    The sides of a container are infinite planes; ``open`` leaves some out.
    """

    shape: Literal["box"] = "box"
    lower: Vector
    """[m]"""
    upper: Vector
    """[m]"""
    side: Literal["inside", "outside"] = "inside"
    """Where the grains are."""
    open: tuple[Face, ...] = ()
    """Sides of a container that are left out."""

    @model_validator(mode="after")
    def _ordered(self) -> Box:
        if not all(lo < hi for lo, hi in zip(self.lower, self.upper, strict=True)):
            raise ValueError(f"lower must be below upper in every direction, has {self.lower} and {self.upper}")
        if self.open and self.side == "outside":
            raise ValueError("only a container (side = 'inside') can have open faces")
        return self


class Cylinder(Wall):
    """A round wall: a hollow cylinder with grains ``inside``, as a drum, or a solid one with flat ends and grains ``outside``, as a roller
    or a pipe; ``length`` none: endless."""

    shape: Literal["cylinder"] = "cylinder"
    centre: Vector = (0.0, 0.0, 0.0)
    """[m]"""
    axis: Vector = (0.0, 0.0, 1.0)
    """Any length."""
    radius: Positive
    """[m]"""
    length: Positive | None = None
    """[m]"""
    caps: bool = True
    """Close both ends of a hollow cylinder of finite length; those of a solid one always are."""
    side: Literal["inside", "outside"] = "inside"
    """Where the grains are."""

    _axis = field_validator("axis")(unit)

    @model_validator(mode="after")
    def _solid(self) -> Cylinder:
        if self.side == "outside" and not self.caps:
            raise ValueError(
                "caps = false is for hollow cylinders (side = 'inside'); a solid one, with grains outside, has flat ends always"
            )
        return self


class Capsule(Wall):
    """A solid rod with round ends and grains outside: all points within ``radius`` of a piece of line."""

    shape: Literal["capsule"] = "capsule"
    centre: Vector = (0.0, 0.0, 0.0)
    """[m]"""
    axis: Vector = (0.0, 0.0, 1.0)
    """Any length."""
    radius: Positive
    """[m]"""
    length: Positive
    """[m] of the piece of line: between the centres of the two ends. From tip to tip it is longer by two radii."""

    _axis = field_validator("axis")(unit)


class Mesh(Wall):
    """A triangle mesh, from a file (STL, OBJ; needs granum[mesh]) or from arrays."""

    shape: Literal["mesh"] = "mesh"
    vertices: Points = Field(default_factory=lambda: np.zeros((0, 3)))
    """(n, 3) [m]"""
    triangles: Triples = Field(default_factory=lambda: np.zeros((0, 3), np.int32))
    """(n, 3) rows of the vertices of each triangle."""
    file: str | None = None
    """STL or OBJ file, in place of vertices and triangles; a scene file names it relative to itself."""
    scale: Positive | None = None
    """Multiplies the coordinates of the file [-]: 0.001 for millimetres; none: 1, for metres."""
    side: Literal["both", "front"] = "both"
    """Where the grains are. ``front``: only where the corners of a triangle are seen counter-clockwise; what lies behind is solid, and a
    grain whose centre was pushed behind the surface is brought back by the shortest way instead of being let out."""

    @model_validator(mode="before")
    @classmethod
    def _read_file(cls, data: Any) -> Any:
        if isinstance(data, dict) and isinstance(data.get("file"), str) and "vertices" not in data:
            scale = data.get("scale")
            if scale is None or isinstance(scale, (int, float)):
                vertices, triangles = read_mesh(Path(data["file"]))
                data = {**data, "vertices": vertices * (1.0 if scale is None else scale), "triangles": triangles}
        return data

    @model_validator(mode="after")
    def _sound(self) -> Mesh:
        check_mesh(self.vertices, self.triangles, self.file or "mesh")
        return self


def read_mesh(path: Path) -> tuple[FloatArray, IntArray]:
    """Vertices [m] and triangles of an STL or OBJ file."""
    try:
        import trimesh
    except ImportError:
        raise InputError(f"reading {path} needs trimesh: install granum[mesh], or give vertices and triangles.") from None
    if not path.is_file():
        raise InputError(f"mesh file {str(path)!r} does not exist.")
    try:
        mesh = trimesh.load_mesh(path)
        vertices = np.asarray(mesh.vertices, float).reshape(-1, 3)
        triangles = np.asarray(mesh.faces, np.int32).reshape(-1, 3)
    except InputError:
        raise
    except Exception as error:  # the reader raises many kinds
        raise InputError(f"mesh file {str(path)!r} could not be read as STL or OBJ: {error}") from None
    if len(triangles) == 0 and path.suffix.lower() == ".stl":
        _refuse_stl(path)
    return vertices, triangles


def _refuse_stl(path: Path) -> None:
    """Say why an STL file has no triangles."""
    content = path.read_bytes()
    if content.lstrip()[:5].lower() == b"solid":
        raise InputError(f"mesh file {str(path)!r} has no triangles: it is an STL file without facets.")
    raise InputError(
        f"mesh file {str(path)!r} is not an STL file: it neither begins with 'solid' and lists facets, nor has the length that a binary "
        f"one says it has ({len(content)} bytes). Export it again as STL or OBJ."
    )


def check_mesh(vertices: FloatArray, triangles: IntArray, name: str) -> None:
    """Refuse a mesh that is empty, points outside its vertices, or has triangles without area."""
    if len(triangles) == 0:
        raise ValueError(f"{name} is empty: it has {len(vertices)} vertices and no triangles")
    if triangles.min() < 0 or triangles.max() >= len(vertices):
        raise ValueError(f"{name} names vertex {int(triangles.max())} but has {len(vertices)} vertices (numbered from 0)")
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    twice_area = length(np.cross(b - a, c - a))
    longest = np.maximum(np.maximum(dot(b - a, b - a), dot(c - b, c - b)), dot(a - c, a - c))
    flat = np.flatnonzero(twice_area <= 1e-12 * longest)
    if len(flat):
        raise ValueError(f"{name} has {len(flat)} degenerate triangle(s) without area, the first is number {flat[0]}")


Shape = Annotated[Plane | Box | Cylinder | Capsule | Mesh, Field(discriminator="shape")]
