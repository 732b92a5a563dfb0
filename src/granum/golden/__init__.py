"""Golden hashes: what short runs must compute to the bit, on every x86-64 CPU with AVX2 and FMA.

``scenes`` has the runs, ``hashes`` computes, keeps and compares. ``python -m granum.golden`` compares all, with ``--write`` it writes them
anew: for a change that moves bits on purpose.
"""

from .hashes import FILE, Golden, compute, expected, machine, mismatches, verdict, write
from .scenes import SCENES

__all__ = ["FILE", "SCENES", "Golden", "compute", "expected", "machine", "mismatches", "verdict", "write"]
