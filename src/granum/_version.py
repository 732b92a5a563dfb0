"""The version of granum, in one place."""

__version__ = "0.1.0"
