"""Arithmetic with the same bits on every CPU.

Additions, products, quotients and square roots are rounded correctly everywhere. Sines, exponentials and powers of NumPy or of the C
library are not, and libraries for linear algebra add up in any order: both differ between CPUs and versions. So all that leads to the
state of a run takes them from here. ``elementary`` has functions for kernels, ``functions`` the same for numbers and arrays, ``vectors``
products of small matrices, ``sums`` long sums in a fixed order, ``chance`` random numbers that are not evenly spread.
"""

from .chance import normal, uniform
from .functions import arctan2, cos, exp, log, octave, power, sin
from .sums import mean, total, totals
from .vectors import determinant, dot, inverse, length, product, solve, times

__all__ = [
    "arctan2",
    "cos",
    "determinant",
    "dot",
    "exp",
    "inverse",
    "length",
    "log",
    "mean",
    "normal",
    "octave",
    "power",
    "product",
    "sin",
    "solve",
    "times",
    "total",
    "totals",
    "uniform",
]
