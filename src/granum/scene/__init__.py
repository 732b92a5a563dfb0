"""What is simulated: materials, grains, walls, emitters and gravity."""

from .bodies import Body, Motion
from .cell import Cell
from .emitter import BoxSource, Disc, Emitter, Rectangle
from .grains import Grains, Lattice
from .scene import Gravity, Scene
from .sensor import BallSensor, BoxSensor, CylinderSensor
from .shapes import Box, Cylinder, Mesh, Plane
from .sizes import Discrete, LogNormal, Uniform

__all__ = [
    "BallSensor", "Body", "Box", "BoxSensor", "BoxSource", "Cell", "Cylinder", "CylinderSensor", "Disc", "Discrete", "Emitter", "Grains",
    "Gravity", "Lattice", "LogNormal", "Mesh", "Motion", "Plane", "Rectangle", "Scene", "Uniform",
]  # fmt: skip
