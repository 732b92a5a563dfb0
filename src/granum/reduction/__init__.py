"""Model reduction: grains that move as one become rigid bodies, and come apart when they must (paper MR)."""

from .error import ApproximationNorms
from .policy import ContactSplit, Merge, Reduction, TrialSplit

__all__ = ["ApproximationNorms", "ContactSplit", "Merge", "Reduction", "TrialSplit"]
