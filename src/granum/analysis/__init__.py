"""Numbers from arrays and files; nothing here needs a simulation."""

from .coarse_graining import Fields, Grid, coarse_grain
from .force_network import ForceDistribution, ForceNetwork
from .results import exact_column_height, mean_and_largest_overlap, scene_results, state_hash
from .snapshot import Snapshot, snapshots
from .surface import PileShape, bulk_packing_fraction

__all__ = [
    "Fields",
    "ForceDistribution",
    "ForceNetwork",
    "Grid",
    "PileShape",
    "Snapshot",
    "bulk_packing_fraction",
    "coarse_grain",
    "exact_column_height",
    "mean_and_largest_overlap",
    "scene_results",
    "snapshots",
    "state_hash",
]
