"""A linear spring with a constant attraction while the two touch."""

from __future__ import annotations

from typing import ClassVar, Literal, NamedTuple

from ..kernel_groups import group
from ..records import NonNegative, Positive
from .law import ContactLaw, Response, contact_stiffness, overlap_under, pull_off, response
from .material import Material


@group
class AdhesiveParameters(NamedTuple):
    """For kernels."""

    exponent: float  # e_H = 1
    dissipation: float  # c [s]
    pull: float  # A [N]


class AdhesiveContact(ContactLaw):
    r"""A linear spring and the same attraction at every overlap, for all pairs alike: cohesive powder, or damp grains.

    .. math:: f_n = k_n (\delta + c\,\dot\delta) - A, \qquad \delta > 0

    Two grains that nothing else presses rest at an overlap of A / k_n; more than A tears them apart (as in the law of Derjaguin, Muller and
    Toporov). Friction is bounded by the spring's push, so that grains without any load resist sliding. A collision loses nothing to the
    attraction, which takes on the way out what it gave on the way in.
    """

    exponent: ClassVar[float] = 1.0
    pulls: ClassVar[bool] = True
    name: Literal["adhesive"] = "adhesive"
    stiffness: Positive = 1e5
    """k_n [N/m]."""
    pull: NonNegative = 0.01
    """A [N]: the force that tears a contact apart."""

    def pair_stiffness(self, a: Material, b: Material) -> float:
        """k_n [N/m]."""
        return self.stiffness

    @property
    def parameters(self) -> AdhesiveParameters:
        return AdhesiveParameters(self.exponent, self.dissipation, self.pull)


@response.of(AdhesiveParameters)
def adhesive_response(law, k, radius_eff, overlap):
    """Of the spring alone: f = k delta, E = k delta^2 / 2."""
    return Response(k * overlap, k, k, 0.5 * k * overlap * overlap)


@contact_stiffness.of(AdhesiveParameters)
def adhesive_stiffness(law, k, radius_eff):
    """The same at any size."""
    return k


@overlap_under.of(AdhesiveParameters)
def adhesive_overlap(law, k, push):
    """f / k."""
    return push / k


@pull_off.of(AdhesiveParameters)
def adhesive_pull(law, radius_eff):
    """A, at any size."""
    return law.pull
