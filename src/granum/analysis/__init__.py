"""Numbers from arrays and files; nothing here needs a simulation."""

from .results import exact_column_height, mean_and_largest_overlap, scene_results, state_hash
from .snapshot import Snapshot, snapshots
from .surface import PileShape, bulk_packing_fraction

__all__ = [
    "PileShape",
    "Snapshot",
    "bulk_packing_fraction",
    "exact_column_height",
    "mean_and_largest_overlap",
    "scene_results",
    "snapshots",
    "state_hash",
]
