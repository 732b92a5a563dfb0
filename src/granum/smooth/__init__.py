"""Small explicit steps: contacts as springs and dashpots."""

from .stepper import Smooth, SmoothStepper

__all__ = ["Smooth", "SmoothStepper"]
