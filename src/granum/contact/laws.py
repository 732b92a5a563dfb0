"""Laws of the normal force: Hertz and linear (physics 2).

Both are written in one form: the force at rest is ``k delta^(2 e_H - 1)``, the potential ``g = delta^e_H``, with e_H = 5/4
for Hertz and 1 for a linear spring. That exponent and the pair stiffness are all the compiled code needs.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ..records import NonNegative, Positive, Record
from .material import Material


class HertzContact(Record):
    r"""Hertz contact of elastic spheres, never attractive (physics 2, SN 2.2).

    .. math:: f_n = k_n (\delta^{3/2} + c\,\delta^{1/2} \dot\delta), \qquad k_n = \tfrac43 E^* \sqrt{R^*}
    """

    name: Literal["hertz"] = "hertz"
    exponent: ClassVar[float] = 1.25
    """e_H."""
    dissipation: NonNegative = 0.0
    """c [s]."""

    def pair_stiffness(self, a: Material, b: Material) -> float:
        """(4/3) E* [Pa]; times sqrt(R*) it is k_n [N m^(-3/2)]. R* of a sphere on a wall is its radius."""
        return 4 / 3 / (a.softness + b.softness)


class LinearContact(Record):
    r"""A linear spring, the same for all pairs: :math:`f_n = k_n (\delta + c\,\dot\delta)`."""

    name: Literal["linear"] = "linear"
    exponent: ClassVar[float] = 1.0
    stiffness: Positive = 1e5
    """k_n [N/m]."""
    dissipation: NonNegative = 0.0
    """c [s]."""

    def pair_stiffness(self, a: Material, b: Material) -> float:
        """k_n [N/m]."""
        return self.stiffness


Law = Annotated[HertzContact | LinearContact, Field(discriminator="name")]
