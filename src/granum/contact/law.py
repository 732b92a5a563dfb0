"""What a law of the normal force is made of, and the one place where laws are known.

A law is one file of this folder: the record that a user writes (a ``ContactLaw``), the numbers that kernels get of it (a NamedTuple with
``exponent`` and ``dissipation`` at least) and its compiled half, picked by the class of that NamedTuple when a kernel is compiled:

- ``response``: push, stiffness and energy of an elastic contact at rest;
- ``contact_stiffness``: the pair's stiffness times what the size of the two bodies does to it;
- ``overlap_under``: the overlap at which a contact carries a push;
- ``pull_off``: the attraction of a closed contact, for laws that have one.

Steppers, the automatic time step, damping and energies call these and ask nothing else about a law. The net force at rest is the push less
the attraction, and friction is bounded by the push (physics 2).
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, NamedTuple, Protocol

import numpy as np
from pydantic import BeforeValidator, SerializeAsAny

from .._jit import kernel, picked_by_type
from ..array_types import FloatArray
from ..checks import InputError, known_name
from ..records import NonNegative, Record
from .material import Material


class Parameters(Protocol):
    """What kernels know of any law; the rest of its NamedTuple is the law's own."""

    @property
    def exponent(self) -> float:
        """e_H [-]: the nonsmooth constraint is delta^e_H, and an elastic push grows as delta^(2 e_H - 1)."""

    @property
    def dissipation(self) -> float:
        """c [s]."""


class Response(NamedTuple):
    """An elastic contact at rest."""

    push: float  # f [N], >= 0
    secant: float  # f / delta [N/m]
    tangent: float  # df / ddelta [N/m]
    energy: float  # the work of the push from touch to the overlap [J]


LAWS: dict[str, type[ContactLaw]] = {}
"""All laws by the name that scene files have for them."""


class ContactLaw(Record):
    """The base of the records; a subclass gives ``name`` its value and is known by it from then on."""

    exponent: ClassVar[float]
    """e_H [-], see ``Parameters``."""
    pulls: ClassVar[bool] = False
    """Whether a closed contact attracts (``pull_off``)."""

    name: str
    dissipation: NonNegative = 0.0
    """c [s]."""

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:
        LAWS[cls.model_fields["name"].default] = cls

    def pair_stiffness(self, a: Material, b: Material) -> float:
        """k of two materials, before the size of the bodies counts (``contact_stiffness``)."""
        raise NotImplementedError

    @property
    def parameters(self) -> Parameters:
        """For kernels."""
        raise NotImplementedError


def _known(given: Any) -> Any:
    """A name, or a table of a scene file with it, as the record that it stands for."""
    if isinstance(given, str):
        given = {"name": given}
    if not isinstance(given, dict):
        return given
    if "name" not in given:
        raise ValueError(f"needs a name, one of: {', '.join(map(repr, sorted(LAWS)))}")
    try:
        return LAWS[known_name("law", given["name"], LAWS)].model_validate(given)
    except InputError as error:
        raise ValueError(str(error)) from None


Law = Annotated[SerializeAsAny[ContactLaw], BeforeValidator(_known)]
"""A law as a field of a record."""


@picked_by_type
def response(law, k, radius_eff, overlap):
    """The ``Response`` of a contact with pair stiffness ``k`` and R* = ``radius_eff`` [m] at an ``overlap`` >= 0 [m].

    All of it is proportional to k. Where k is a contact's own already (``contact_stiffness``), radius_eff is 1.
    """


@picked_by_type
def contact_stiffness(law, k, radius_eff):
    """The stiffness [N m^(1 - 2 e_H)] of a contact with R* = ``radius_eff`` [m] of two materials with pair stiffness ``k``."""


@picked_by_type
def overlap_under(law, k, push):
    """The overlap [m] at which a contact of stiffness ``k`` (its own) carries the ``push`` >= 0 [N]."""


@picked_by_type
def pull_off(law, radius_eff):
    """The attraction [N] of a closed contact with R* = ``radius_eff`` [m], the same at every overlap."""


@pull_off.default
def no_pull(law, radius_eff):
    """Most laws never attract."""
    return 0.0


@kernel
def contact_stiffnesses(law: Parameters, k: FloatArray, radius_eff: FloatArray) -> FloatArray:
    """``contact_stiffness`` of many contacts."""
    found = np.empty(len(k))
    for c in range(len(k)):
        found[c] = contact_stiffness(law, k[c], radius_eff[c])
    return found


@kernel
def pushes_at(law: Parameters, k: FloatArray, overlap: FloatArray) -> FloatArray:
    """Pushes [N] of many contacts, k their own, at overlaps >= 0 [m]."""
    found = np.empty(len(k))
    for c in range(len(k)):
        found[c] = response(law, k[c], 1.0, overlap[c]).push
    return found


@kernel
def overlaps_under(law: Parameters, k: FloatArray, push: FloatArray) -> FloatArray:
    """``overlap_under`` of many contacts."""
    found = np.empty(len(k))
    for c in range(len(k)):
        found[c] = overlap_under(law, k[c], push[c])
    return found
