"""A linear spring."""

from __future__ import annotations

from typing import ClassVar, Literal, NamedTuple

from ..kernel_groups import group
from ..records import Positive
from .law import ContactLaw, Response, contact_stiffness, overlap_under, response
from .material import Material


@group
class LinearParameters(NamedTuple):
    """For kernels."""

    exponent: float  # e_H = 1
    dissipation: float  # c [s]


class LinearContact(ContactLaw):
    r"""A linear spring, the same for all pairs: :math:`f_n = k_n (\delta + c\,\dot\delta)`, never attractive."""

    exponent: ClassVar[float] = 1.0
    name: Literal["linear"] = "linear"
    stiffness: Positive = 1e5
    """k_n [N/m]."""

    def pair_stiffness(self, a: Material, b: Material) -> float:
        """k_n [N/m]."""
        return self.stiffness

    @property
    def parameters(self) -> LinearParameters:
        return LinearParameters(self.exponent, self.dissipation)


@response.of(LinearParameters)
def linear_response(law, k, radius_eff, overlap):
    """f = k delta, E = k delta^2 / 2."""
    return Response(k * overlap, k, k, 0.5 * k * overlap * overlap)


@contact_stiffness.of(LinearParameters)
def linear_stiffness(law, k, radius_eff):
    """The same at any size."""
    return k


@overlap_under.of(LinearParameters)
def linear_overlap(law, k, push):
    """f / k."""
    return push / k
