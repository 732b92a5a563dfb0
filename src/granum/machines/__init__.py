"""Machines: dynamic bodies that joints link to each other, eliminated before the contacts are solved.

Joints are never swept. Once a step the rows G of a machine's joints give

    S = G M^-1 G^T + Sigma,    K = M^-1 - M^-1 G^T S^-1 G M^-1,    V = V_J + K (J^T p + G_m^T lam_m)

with the contact impulses p, and the impulses lam_m of bounded rows: motors and limits. ``V_J`` are the velocities with which all joints are
kept and nothing pushes. A contact on a link needs only its 6 x 6 part of the mobility K, and the parts that couple it with other links that
are touched. Bounded rows that are inside of their bounds are eliminated as well; which ones are is decided anew after every sweep.
"""

from .groups import Drives, JointTable, Links, NoLinks, Rows
from .machines import Machines, machines_of
from .reading import JointView

__all__ = ["Drives", "JointTable", "JointView", "Links", "Machines", "NoLinks", "Rows", "machines_of"]
