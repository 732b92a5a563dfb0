"""What is simulated: materials, grains, walls, emitters and gravity."""

from .bodies import Body, Motion
from .cell import Cell
from .emitter import BoxSource, Disc, Emitter, Rectangle
from .grains import Grains, Lattice
from .scene import Gravity, Scene
from .shapes import Box, Cylinder, Mesh, Plane
from .sizes import Discrete, LogNormal, Uniform

__all__ = [
    "Body", "Box", "BoxSource", "Cell", "Cylinder", "Disc", "Discrete", "Emitter", "Grains", "Gravity", "Lattice", "LogNormal",
    "Mesh", "Motion", "Plane", "Rectangle", "Scene", "Uniform",
]  # fmt: skip
