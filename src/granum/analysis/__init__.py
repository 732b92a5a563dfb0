"""Numbers from arrays and files; nothing here needs a simulation.

Everything starts from a :class:`Snapshot`: ``Snapshot.read(recording, -1)``, ``Snapshot.of(sim)`` or ``Snapshot.build(scene, ...)``.
"""

from .coarse_graining import Fields, Grid, coarse_grain
from .compare import Comparison, HistogramComparison, SeriesComparison, compare
from .contact_errors import ContactCounts, SlideErrors, Spread, contact_counts, contacts_per_grain, overlap_ratio, slide_errors
from .drum import Drum, DrumAngles, FlowProfile, drum_angles, flow_profile, plug_fraction, relative_speed
from .energy import EnergySeries, energy_series, kinetic_energy, scaled_kinetic_energy
from .force_network import ForceDistribution, ForceNetwork
from .reduction import MergedCounts, merged_counts
from .results import exact_column_height, mean_and_largest_overlap, scene_results, state_hash
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
from .surface import PileShape, SurfaceHeight, SurfaceLine, bulk_packing_fraction, heap_slope, pile_shape, surface_height

__all__ = [
    "AxisProfile",
    "Comparison",
    "ContactCounts",
    "Container",
    "Drum",
    "DrumAngles",
    "EnergySeries",
    "Fields",
    "FlowProfile",
    "ForceDistribution",
    "ForceNetwork",
    "Grid",
    "HistogramComparison",
    "JanssenFit",
    "Loads",
    "MergedCounts",
    "PileShape",
    "SeriesComparison",
    "SlideErrors",
    "Snapshot",
    "Spread",
    "SurfaceHeight",
    "SurfaceLine",
    "VerticalPressure",
    "WallPressure",
    "axis_profile",
    "bulk_packing_fraction",
    "coarse_grain",
    "compare",
    "contact_counts",
    "contacts_per_grain",
    "drum_angles",
    "energy_series",
    "exact_column_height",
    "flow_profile",
    "heap_slope",
    "janssen_fit",
    "kinetic_energy",
    "loads",
    "mean_and_largest_overlap",
    "merged_counts",
    "overlap_ratio",
    "pile_shape",
    "plug_fraction",
    "relative_speed",
    "scaled_kinetic_energy",
    "scene_results",
    "slide_errors",
    "snapshots",
    "state_hash",
    "surface_height",
    "vertical_pressure",
    "wall_pressure",
]
