"""Threads that run one kernel together, with the same bits for any number of them."""

from .team import LIGHT, ONE, Team, cores

__all__ = ["LIGHT", "ONE", "Team", "cores"]
