"""Small explicit steps: contacts as springs and dashpots."""

from .settings import Smooth
from .stepper import SmoothStepper

__all__ = ["Smooth", "SmoothStepper"]
