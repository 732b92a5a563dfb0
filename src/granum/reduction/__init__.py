"""Model reduction: grains that move as one become rigid bodies, and come apart when they must (paper MR)."""

from .error import ApproximationNorms
from .extension import Reduction
from .policy import ContactSplit, Merge, TrialSplit

__all__ = ["ApproximationNorms", "ContactSplit", "Merge", "Reduction", "TrialSplit"]
