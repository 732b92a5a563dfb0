"""Recordings for other programs: series of VTK files, and a state that ParaView opens."""

from .paraview import check_state, write_state
from .series import PARTS, export_vtk

__all__ = ["PARTS", "check_state", "export_vtk", "write_state"]
