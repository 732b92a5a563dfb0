"""The law of quasi-static packings: energy that grows as a power of the overlap (EM (4))."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ..arithmetic import power
from ..array_types import FloatArray
from ..records import Positive, Record


class PowerLaw(Record):
    r"""Grains that touch store energy, and push each other apart along the line of centres.

    .. math:: E = k\,\delta^\alpha / \alpha, \qquad f = k\,\delta^{\alpha - 1}
    """

    alpha: Annotated[float, Field(ge=2, allow_inf_nan=False)] = 2.0
    """[-], at least 2: 2 is Hooke's law, 5/2 that of Hertz. Below 2 the stiffness of a new contact has no bound.

    It is twice the ``exponent`` e_H of the contact laws that runs have.
    """
    stiffness: Positive = 1.0
    """k [N/m^(alpha - 1)], of every pair."""

    def force(self, overlap: FloatArray) -> FloatArray:
        """f [N] of overlaps >= 0 [m]."""
        return self.stiffness * power(overlap, self.alpha - 1)


HOOKE = PowerLaw(alpha=2.0)
HERTZ = PowerLaw(alpha=2.5)
POWER_LAWS = {"hooke": HOOKE, "hertz": HERTZ}
