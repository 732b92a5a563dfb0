"""Runs: settings, simulation, emission and guards."""

from .settings import Guards, Settings, make_settings
from .simulate import simulate
from .simulation import Simulation

__all__ = ["Guards", "Settings", "Simulation", "make_settings", "simulate"]
