"""What is simulated: materials, grains, walls, emitters and gravity."""

from .bodies import Body
from .cell import Cell
from .counter import Counter, DiscRegion, PlaneRegion, RectangleRegion
from .emitter import BoxSource, Disc, Emitter, Rectangle
from .grains import Grains, Lattice
from .joints import Ball, Cylindrical, Distance, Fixed, Hinge, Limits, Motor, Slider, Universal
from .mixture import Mixture, Part
from .motion import Motion, PoseFunction, PoseTable
from .regions import BallRegion, BoxRegion, CylinderRegion
from .regulators import Regulator, Span
from .scene import Gravity, Scene
from .sensor import BallSensor, BoxSensor, CylinderSensor
from .shapes import Box, Capsule, Cylinder, Mesh, Plane
from .sink import Sink
from .sizes import Discrete, LogNormal, SieveCurve, SizeTable, Uniform

__all__ = [
    "Ball",
    "BallRegion",
    "BallSensor",
    "Body",
    "Box",
    "BoxRegion",
    "BoxSensor",
    "BoxSource",
    "Capsule",
    "Cell",
    "Counter",
    "Cylinder",
    "CylinderRegion",
    "CylinderSensor",
    "Cylindrical",
    "Disc",
    "DiscRegion",
    "Discrete",
    "Distance",
    "Emitter",
    "Fixed",
    "Grains",
    "Gravity",
    "Hinge",
    "Lattice",
    "Limits",
    "LogNormal",
    "Mesh",
    "Mixture",
    "Motion",
    "Motor",
    "Part",
    "Plane",
    "PlaneRegion",
    "PoseFunction",
    "PoseTable",
    "Rectangle",
    "RectangleRegion",
    "Regulator",
    "Scene",
    "SieveCurve",
    "Sink",
    "SizeTable",
    "Slider",
    "Span",
    "Uniform",
    "Universal",
]
