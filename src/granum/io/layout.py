"""The layout of granum's files: every name, type, unit and format version stands here, once.

A recording is one HDF5 file of two halves::

    /VTKHDF                      PolyData of the VTKHDF format (version 2.0): what ParaView shows
        Points, PointData/*      grains of all frames, one frame after the other
        Steps  NSteps = F        number of complete frames; raised last, so rows beyond F frames do not count
        Steps/PointOffsets       (F,) first row of each frame;  NumberOfPoints (F,) its grains
    /granum                      attrs: format, version, created_by, record (what was chosen of velocity, spin, orientation, contacts)
        description              the whole run description, JSON text
        summary                  what the run reports at its end, UTF-8 JSON as bytes; empty while it goes on
        frames/step, frames/time (F,)
        scalars/<name>           (F,) one number of each frame
        contacts/first           (F + 1,) contacts of frame i are rows first[i] : first[i + 1], or, where they are compressed,
        contacts/rows            (F,) first[i] : first[i] + rows[i], as frames begin with a new chunk then
        contacts/*               contacts of all frames, one frame after the other
        walls/first              (F + 1,) wall bodies of frame i are rows first[i] : first[i + 1]
        walls/*                  wall bodies of all frames, in the order of the description (the ground first)
        joints/first, joints/*   the same for joints, in the order of the description
        counters/first, counters/*  the same for sinks and then counters, in the order of the description; attrs: names

What grains do to bodies (``walls/force`` and so on) is there in runs of scenes that have bodies besides the ground, ``joints`` in those of
scenes that have any. These are means over the steps since the last frame, NaN where there was none. ``counters`` is there in runs of scenes
with sinks or counters: counts and masses since the start of the run.

Columns and scalars of extensions (``granum.extensions``) are there in runs that have them only.

A recording of packings (``kind`` of its description, see ``packing.py``) has the same layout; what ``time`` counts in it, the description
says.

Floats of grains and contacts have single precision where the run asks for it, and their tables may be compressed (``storage.py``).

Tables of VTKHDF that are equal by nature (all the offsets of point data, all the zero counts of lines and polygons) are one
dataset under several names.

A checkpoint is one HDF5 file: ``tree`` (the nested content as JSON text, arrays replaced by their path), the arrays under
``arrays``, and a digest of both.

A problem is one HDF5 file: the contact problem of one step as its solver met it, body by body and contact by contact::

    /                            attrs: format, version, created_by, sha256
        description              where it comes from and what it has (scene, step, time, counts, softness), JSON text
        bodies/*                 (S,) body slots: grains, bodies with full inertia, then one for each contact with another wall
        inertia/inverse          (F, 3, 3) of the bodies with full inertia
        contacts/*               (C,) in the order in which the solver colours them
        levers/*                 (L,) lever arms of the contacts of bodies with full inertia

A FCLIB file is another project's format (see ``fclib.py``).
"""

from __future__ import annotations

from collections.abc import Container, Mapping

import numpy as np

from .._version import __version__
from ..extensions import extensions
from ..state.columns import Column

RECORDING_FORMAT = "granum-recording"
RECORDING_VERSION = 2  # 1: all columns, none compressed, no diameter
RECORDING_ENDING = ".vtkhdf"  # by which ParaView and PyVista choose their reader; any other works, too
CHECKPOINT_FORMAT = "granum-checkpoint"
CHECKPOINT_VERSION = 1
PROBLEM_FORMAT = "granum-problem"
PROBLEM_VERSION = 1
CREATED_BY = f"granum {__version__}"

VTK = "VTKHDF"
VTK_VERSION = (2, 0)
VTK_TOPOLOGIES = ("Vertices", "Lines", "Polygons", "Strips")  # in the order of the columns of CellOffsets
OWN = "granum"


POSITION = Column("Points", np.float64, (3,), "m", "centre of the grain")
POINT_DATA = (
    Column("radius", np.float64, (), "m"),
    Column("diameter", np.float64, (), "m", "twice the radius, for programs that scale spheres by it"),
    Column("velocity", np.float64, (3,), "m/s", "of the centre"),
    Column("spin", np.float64, (3,), "rad/s", "angular velocity in world axes"),
    Column("orientation", np.float64, (4,), "1", "unit quaternion, w first"),
    Column("id", np.int64, (), "1", "of the grain, kept for its whole life"),
    Column("material", np.int32, (), "1", "place in the description's list of materials"),
)
CHOSEN = ("velocity", "spin", "orientation", "contacts")
"""What a run may be told not to record; all else is always there."""
CONTACTS = (
    Column("a", np.int64, (), "1", "id of the owning grain"),
    Column("b", np.int64, (), "1", "id of the other grain, or -1 - wall for a wall"),
    Column("feature", np.int32, (), "1", "part of the wall touched"),
    Column("point", np.float64, (3,), "m"),
    Column("normal", np.float64, (3,), "1", "unit vector from a towards b"),
    Column("overlap", np.float64, (), "m", "> 0, at the start of the step that found the force"),
    Column("force", np.float64, (3,), "N", "on b, whole"),
    Column("normal_force", np.float64, (), "N", "> 0: push; < 0: pull"),
    Column("status", np.int8, (), "1", "0 continuous, 1 rebounding from an impact, 2 sliding"),
)
WALLS = (
    Column("position", np.float64, (3,), "m", "of the body's frame"),
    Column("orientation", np.float64, (4,), "1", "unit quaternion, w first, from the body's frame to the world"),
    Column("velocity", np.float64, (3,), "m/s", "in the step that led to the frame"),
    Column("spin", np.float64, (3,), "rad/s", "angular velocity in world axes, in the step that led to the frame"),
)
LOADS = (
    Column("force", np.float64, (3,), "N", "of all that touches the body, mean since the last frame"),
    Column("torque", np.float64, (3,), "N m", "the same about the body's position"),
    Column("power", np.float64, (), "W", "force . velocity + torque . spin, mean since the last frame"),
)
"""What wall bodies have besides, if forces on them are recorded."""
JOINTS = (
    Column("coordinate", np.float64, (), "m, rad", "NaN: the joint has none"),
    Column("speed", np.float64, (), "m/s, rad/s", "of the coordinate"),
    Column("force", np.float64, (3,), "N", "with which the joint holds its second body, mean since the last frame"),
    Column("torque", np.float64, (3,), "N m", "the same about the centre of mass of that body"),
    Column("motor_force", np.float64, (), "N, N m", "> 0 pushes the second body away, mean since the last frame"),
    Column("limit_force", np.float64, (), "N, N m", "> 0 pushes the second body away, mean since the last frame"),
)
COUNTERS = (
    Column("count", np.int64, (), "1", "grains that came into a sink, or passed a counter along its normal less those that went back"),
    Column("mass", np.float64, (), "kg", "of them"),
    Column("count_back", np.int64, (), "1", "grains that passed a counter against its normal"),
    Column("mass_back", np.float64, (), "kg", "of them"),
    Column("waiting", np.int64, (), "1", "grains that a sink has counted and that are still in the frame"),
)
"""Of sinks and counters, since the start of the run."""
PROBLEM_BODIES = (
    Column("velocity", np.float64, (3,), "m/s"),
    Column("surface_spin", np.float64, (3,), "m/s", "radius times angular velocity; all but grains have the radius 1 m"),
    Column("inverse_mass", np.float64, (), "1/kg", "0: does not yield"),
    Column("inverse_radius", np.float64, (), "1/m"),
    Column("position", np.float64, (3,), "m", "centre; of a wall: where it is touched"),
)
PROBLEM_INERTIA = (Column("inverse", np.float64, (3, 3), "1/(kg m^2)", "in world axes"),)
PROBLEM_CONTACTS = (
    Column("a", np.int32, (), "1", "body slot"),
    Column("b", np.int32, (), "1", "body slot"),
    Column("normal", np.float64, (3,), "1", "unit vector from a towards b"),
    Column("arm", np.float64, (), "1", "lever arms over radii"),
    Column("target", np.float64, (), "m/s", "separation speed asked for"),
    Column("softness", np.float64, (), "1/kg", "of the normal row"),
    Column("inverse_diagonal", np.float64, (3,), "kg, kg, kg m^2", "of the normal, friction and rolling rows"),
    Column("friction", np.float64, (), "1"),
    Column("rolling_radius", np.float64, (), "m", "rolling friction coefficient times effective radius"),
    Column("impulse", np.float64, (7,), "N s, N m s", "on b, where the solve starts: normal, tangential, rolling"),
    Column("stiffness", np.float64, (), "N/m^(2 e - 1)", "of the contact law with exponent e"),
    Column("radius_eff", np.float64, (), "m"),
    Column("weight", np.float64, (), "1/kg", "diagonal of the normal row without softness"),
    Column("gap_rate", np.float64, (), "m/s", "separation speed before the step"),
)
PROBLEM_LEVERS = (
    Column("lever_contact", np.int32, (), "1", "number of the contact"),
    Column("lever_body", np.int32, (2,), "1", "bodies with full inertia that are a and b; -1: a grain"),
    Column("lever", np.float64, (6,), "m", "from the centres of a and b to the contact"),
)
TIME = Column("time", np.float64, (), "s")
STEP = Column("step", np.int64, (), "1", "number of time steps done")
SCALAR_UNITS = {
    "energy": "J",
    "kinetic_energy": "J",
    "elastic_energy": "J",
    "max_overlap": "m",
    "mean_overlap": "m",
    "residual": "m/s",
}
"""Of scalars; those whose names end in ``_seconds`` are times [s], and all others counts and ratios."""

TABLE_CHUNK = 256
"""Rows in a chunk of the per-frame tables: 2 KiB each, so that short runs stay small."""


def point_columns(there: Container[str]) -> tuple[Column, ...]:
    """Of every grain, besides its position: those of all runs, and the ones of extensions whose names are ``there``."""
    return (*POINT_DATA, *extension_columns(there))


def extension_columns(there: Container[str]) -> tuple[Column, ...]:
    """Columns of grains that extensions record and whose names are ``there``."""
    return tuple(column for extension in extensions() for column in extension.columns if column.name in there)


def wall_columns(there: Container[str]) -> tuple[Column, ...]:
    """Of every wall body, with what grains do to it if that is ``there``."""
    return (*WALLS, *LOADS) if LOADS[0].name in there else WALLS


def scalar_column(name: str, units: Mapping[str, str]) -> Column:
    """The column of a scalar that every frame carries; ``units`` of what is not as in a run."""
    usual = "s" if name.endswith("_seconds") else "1"
    return Column(name, np.float64, (), units.get(name, SCALAR_UNITS.get(name, usual)))


def chunk_rows(expected: int) -> int:
    """Rows in a chunk of a table that gets about ``expected`` rows with every frame.

    About one frame: a frame is read without its neighbours and written without rewriting them. From 512 rows on whole file
    pages of 4096 bytes are filled, whatever the column.
    """
    if expected <= 256:
        return 128
    return min(-(-expected // 512) * 512, 65536)
