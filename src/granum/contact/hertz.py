"""Hertz' law of elastic spheres."""

from __future__ import annotations

import math
from typing import ClassVar, Literal, NamedTuple

from ..arithmetic.elementary import cube_root
from ..kernel_groups import group
from .law import ContactLaw, Response, contact_stiffness, overlap_under, response
from .material import Material


@group
class HertzParameters(NamedTuple):
    """For kernels."""

    exponent: float  # e_H = 5/4
    dissipation: float  # c [s]


class HertzContact(ContactLaw):
    r"""Hertz contact of elastic spheres, never attractive (physics 2, SN 2.2).

    .. math:: f_n = k_n (\delta^{3/2} + c\,\delta^{1/2} \dot\delta), \qquad k_n = \tfrac43 E^* \sqrt{R^*}
    """

    exponent: ClassVar[float] = 1.25
    name: Literal["hertz"] = "hertz"

    def pair_stiffness(self, a: Material, b: Material) -> float:
        """(4/3) E* [Pa]; times sqrt(R*) it is k_n [N m^(-3/2)]. R* of a sphere on a wall is its radius."""
        return 4 / 3 / (a.softness + b.softness)

    @property
    def parameters(self) -> HertzParameters:
        return HertzParameters(self.exponent, self.dissipation)


@response.of(HertzParameters)
def hertz_response(law, k, radius_eff, overlap):
    """f = k sqrt(R*) delta^(3/2), df/ddelta = 3/2 f / delta, E = 2/5 f delta."""
    root = math.sqrt(radius_eff * overlap)
    secant = k * root
    return Response(k * overlap * root, secant, 1.5 * secant, 0.4 * secant * overlap * overlap)


@contact_stiffness.of(HertzParameters)
def hertz_stiffness(law, k, radius_eff):
    """k sqrt(R*)."""
    return k * math.sqrt(radius_eff)


@overlap_under.of(HertzParameters)
def hertz_overlap(law, k, push):
    """(f / k)^(2/3)."""
    root = cube_root(push / k)
    return root * root
