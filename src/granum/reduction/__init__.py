"""Model reduction: grains that move as one become rigid bodies, and come apart when they must (paper MR)."""

from .policy import ContactSplit, Merge, Reduction, TrialSplit

__all__ = ["ContactSplit", "Merge", "Reduction", "TrialSplit"]
