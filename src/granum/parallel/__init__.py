"""Threads that run one kernel together, with the same bits for any number of them."""

from .barrier import cores
from .crew import Crew
from .team import LIGHT, ONE, Team

__all__ = ["LIGHT", "ONE", "Crew", "Team", "cores"]
