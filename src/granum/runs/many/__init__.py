"""Many runs as library calls: all combinations of parameters, a parameter that fits a measurement, and ensembles of packings."""

from .calibrate import calibrate
from .calibration import Calibration
from .jam import jam_many
from .sweep import sweep
from .table import RunTable

__all__ = ["Calibration", "RunTable", "calibrate", "jam_many", "sweep"]
