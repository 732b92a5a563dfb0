"""Recordings for other programs: series of VTK files, and a state that ParaView opens."""

from .paraview import write_state
from .series import PARTS, export_vtk

__all__ = ["PARTS", "export_vtk", "write_state"]
