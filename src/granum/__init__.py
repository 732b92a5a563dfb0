"""Granular matter with big and small time steps, or without time. Start with :class:`Scene` and :func:`run`, or with :func:`jam`.

Names are loaded when they are first used, so that ``granum --help`` does not wait for the compiler.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._version import __version__
from .checks import InputError, RunError

if TYPE_CHECKING:
    from .analysis import Snapshot
    from .contact import HertzContact, LinearContact, Material, MaterialPair
    from .contact.power import PowerLaw
    from .export import export_vtk, write_state
    from .io import Recording
    from .io.packing import PackingWriter, read_packing
    from .nonsmooth import PGS, ColdStart, Direct, HistoryStart, ModelStart, Multigrid, Nonsmooth
    from .observe import Checkpointer, Energy, Observer, Progress, Recorder, StopWhen, seconds, steps
    from .pool import Pool
    from .quasistatic.bridge import packing_scene
    from .quasistatic.jam import jam
    from .quasistatic.measure import measure
    from .quasistatic.minimise import minimise
    from .quasistatic.moduli import moduli
    from .quasistatic.pack import pack
    from .quasistatic.packing import Packing, random_packing
    from .quasistatic.shear import shear
    from .reduction import Reduction
    from .runs.jam import run_jam
    from .runs.many.calibrate import calibrate
    from .runs.many.calibration import Calibration
    from .runs.many.jam import jam_many
    from .runs.many.sweep import sweep
    from .runs.many.table import RunTable
    from .runs.minimise import run_minimise
    from .runs.restart import restart
    from .runs.result import Run
    from .runs.run import run
    from .runs.scene_files import check_scene, write_scene
    from .runs.shear import run_shear
    from .scene import (
        Ball,
        BallRegion,
        BallSensor,
        Body,
        Box,
        BoxRegion,
        BoxSensor,
        BoxSource,
        Capsule,
        Cell,
        Counter,
        Cylinder,
        CylinderRegion,
        CylinderSensor,
        Cylindrical,
        Disc,
        DiscRegion,
        Discrete,
        Distance,
        Emitter,
        Fixed,
        Grains,
        Gravity,
        Hinge,
        Lattice,
        Limits,
        LogNormal,
        Mesh,
        Mixture,
        Motion,
        Motor,
        Part,
        Plane,
        PlaneRegion,
        PoseFunction,
        PoseTable,
        Rectangle,
        RectangleRegion,
        Regulator,
        Scene,
        SieveCurve,
        Sink,
        SizeTable,
        Slider,
        Span,
        Uniform,
        Universal,
    )
    from .scene.file import load_scene
    from .scene.library import make_scene
    from .scene.urdf import read_urdf
    from .simulation import Guards, Settings, Simulation, simulate
    from .simulation.relax import relax_run
    from .smooth import Smooth

_MENU = {
    # what is simulated
    "scene": (
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
    ),
    "scene.library": ("make_scene",),
    "scene.file": ("load_scene",),
    "scene.urdf": ("read_urdf",),
    # how grains touch
    "contact": ("HertzContact", "LinearContact", "Material", "MaterialPair"),
    # how a step is solved
    "nonsmooth": ("PGS", "ColdStart", "Direct", "HistoryStart", "ModelStart", "Multigrid", "Nonsmooth"),
    "smooth": ("Smooth",),
    # fewer bodies
    "reduction": ("Reduction",),
    # go
    "runs.run": ("run",),
    "runs.restart": ("restart",),
    "runs.result": ("Run",),
    "runs.scene_files": ("check_scene", "write_scene"),
    "runs.jam": ("run_jam",),
    "runs.minimise": ("run_minimise",),
    "runs.shear": ("run_shear",),
    # many runs
    "runs.many.sweep": ("sweep",),
    "runs.many.table": ("RunTable",),
    "runs.many.calibrate": ("calibrate",),
    "runs.many.calibration": ("Calibration",),
    "runs.many.jam": ("jam_many",),
    "pool": ("Pool",),
    "simulation": ("Guards", "Settings", "Simulation", "simulate"),
    # without time
    "contact.power": ("PowerLaw",),
    "quasistatic.packing": ("Packing", "random_packing"),
    "quasistatic.jam": ("jam",),
    "quasistatic.minimise": ("minimise",),
    "quasistatic.measure": ("measure",),
    "quasistatic.moduli": ("moduli",),
    "quasistatic.shear": ("shear",),
    "quasistatic.pack": ("pack",),
    "quasistatic.bridge": ("packing_scene",),
    "simulation.relax": ("relax_run",),
    # watch
    "observe": ("Checkpointer", "Energy", "Observer", "Progress", "Recorder", "StopWhen", "seconds", "steps"),
    # read and measure
    "io": ("Recording",),
    "io.packing": ("PackingWriter", "read_packing"),
    "analysis": ("Snapshot",),
    "export": ("export_vtk", "write_state"),
}
_HOME = {name: module for module, names in _MENU.items() for name in names}

__all__ = [
    "PGS",
    "Ball",
    "BallRegion",
    "BallSensor",
    "Body",
    "Box",
    "BoxRegion",
    "BoxSensor",
    "BoxSource",
    "Calibration",
    "Capsule",
    "Cell",
    "Checkpointer",
    "ColdStart",
    "Counter",
    "Cylinder",
    "CylinderRegion",
    "CylinderSensor",
    "Cylindrical",
    "Direct",
    "Disc",
    "DiscRegion",
    "Discrete",
    "Distance",
    "Emitter",
    "Energy",
    "Fixed",
    "Grains",
    "Gravity",
    "Guards",
    "HertzContact",
    "Hinge",
    "HistoryStart",
    "InputError",
    "Lattice",
    "Limits",
    "LinearContact",
    "LogNormal",
    "Material",
    "MaterialPair",
    "Mesh",
    "Mixture",
    "ModelStart",
    "Motion",
    "Motor",
    "Multigrid",
    "Nonsmooth",
    "Observer",
    "Packing",
    "PackingWriter",
    "Part",
    "Plane",
    "PlaneRegion",
    "Pool",
    "PoseFunction",
    "PoseTable",
    "PowerLaw",
    "Progress",
    "Recorder",
    "Recording",
    "Rectangle",
    "RectangleRegion",
    "Reduction",
    "Regulator",
    "Run",
    "RunError",
    "RunTable",
    "Scene",
    "Settings",
    "SieveCurve",
    "Simulation",
    "Sink",
    "SizeTable",
    "Slider",
    "Smooth",
    "Snapshot",
    "Span",
    "StopWhen",
    "Uniform",
    "Universal",
    "__version__",
    "calibrate",
    "check_scene",
    "export_vtk",
    "jam",
    "jam_many",
    "load_scene",
    "make_scene",
    "measure",
    "minimise",
    "moduli",
    "pack",
    "packing_scene",
    "random_packing",
    "read_packing",
    "read_urdf",
    "relax_run",
    "restart",
    "run",
    "run_jam",
    "run_minimise",
    "run_shear",
    "seconds",
    "shear",
    "simulate",
    "steps",
    "sweep",
    "write_scene",
    "write_state",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'granum' has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
