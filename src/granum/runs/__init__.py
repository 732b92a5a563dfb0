"""Runs as library calls: what a command of the same name does, with its files, its talk and its end."""

from .jam import JamSettings, run_jam
from .minimise import MinimiseSettings, run_minimise
from .restart import restart
from .result import Run
from .run import run
from .scene_files import check_scene, write_scene
from .shear import ShearSettings, run_shear

__all__ = [
    "JamSettings",
    "MinimiseSettings",
    "Run",
    "ShearSettings",
    "check_scene",
    "restart",
    "run",
    "run_jam",
    "run_minimise",
    "run_shear",
    "write_scene",
]
