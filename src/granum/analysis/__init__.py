"""Numbers from arrays and files; nothing here needs a simulation.

Everything starts from a :class:`Snapshot`: ``Snapshot.read(recording, -1)``, ``Snapshot.of(sim)`` or ``Snapshot.build(scene, grains)``.
"""

from .coarse_graining import Fields, coarse_grain
from .compare import Comparison, HistogramComparison, SeriesComparison, compare
from .contact_errors import ContactCounts, SlideDeviations, Spread, contact_counts, contacts_per_grain, overlap_ratio, slide_errors
from .conveyor import Discharge, RidgeAngle, conveyor_discharge, conveyor_ridge, discharge_points, ridge_angle
from .drum import Drum, DrumAngles, FlowProfile, Towers, drum_angles, flow_profile, plug_fraction, relative_speed, towers
from .energy import EnergySeries, energy_series, kinetic_energy, scaled_kinetic_energy
from .force_network import ForceDistribution, ForceNetwork
from .grid import FieldGrid
from .pile import PileShape, pile_shape
from .results import exact_column_height, frame_results, mean_and_largest_overlap, scene_results, state_hash
from .silo import (
    AxisProfile,
    Container,
    JanssenFit,
    Loads,
    VerticalPressure,
    WallPressure,
    axis_profile,
    janssen_fit,
    loads,
    vertical_pressure,
    wall_pressure,
)
from .snapshot import Snapshot, snapshots
from .snapshot_rows import ContactRows, GrainRows
from .surface import (
    SurfaceHeight,
    SurfaceLine,
    bulk_packing_fraction,
    collapse_slope,
    heap_slope,
    main_heap,
    surface_height,
)

__all__ = [
    "AxisProfile",
    "Comparison",
    "ContactCounts",
    "ContactRows",
    "Container",
    "Discharge",
    "Drum",
    "DrumAngles",
    "EnergySeries",
    "FieldGrid",
    "Fields",
    "FlowProfile",
    "ForceDistribution",
    "ForceNetwork",
    "GrainRows",
    "HistogramComparison",
    "JanssenFit",
    "Loads",
    "PileShape",
    "RidgeAngle",
    "SeriesComparison",
    "SlideDeviations",
    "Snapshot",
    "Spread",
    "SurfaceHeight",
    "SurfaceLine",
    "Towers",
    "VerticalPressure",
    "WallPressure",
    "axis_profile",
    "bulk_packing_fraction",
    "coarse_grain",
    "collapse_slope",
    "compare",
    "contact_counts",
    "contacts_per_grain",
    "conveyor_discharge",
    "conveyor_ridge",
    "discharge_points",
    "drum_angles",
    "energy_series",
    "exact_column_height",
    "flow_profile",
    "frame_results",
    "heap_slope",
    "janssen_fit",
    "kinetic_energy",
    "loads",
    "main_heap",
    "mean_and_largest_overlap",
    "overlap_ratio",
    "pile_shape",
    "plug_fraction",
    "relative_speed",
    "ridge_angle",
    "scaled_kinetic_energy",
    "scene_results",
    "slide_errors",
    "snapshots",
    "state_hash",
    "surface_height",
    "towers",
    "vertical_pressure",
    "wall_pressure",
]
