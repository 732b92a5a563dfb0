"""The pair table: what every two materials do to each other, as arrays that kernels index by material.

Restitution, friction and rolling friction of an unlisted pair are the geometric mean of the two materials', so that a
frictionless wall is frictionless for every grain.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..array_types import FloatArray
from ..checks import InputError, known_name
from ..kernel_groups import group_with
from .law import ContactLaw, Parameters
from .material import Material, MaterialPair


@group_with("law")
class PairTable(NamedTuple):
    """(M, M) arrays, symmetric."""

    stiffness: FloatArray  # of the law, before the size of the bodies counts: (4/3) E* [Pa] (Hertz) or k_n [N/m] (linear)
    restitution: FloatArray  # e [-]
    friction: FloatArray  # mu [-]
    rolling_friction: FloatArray  # mu_r [-]
    law: Parameters  # for kernels

    @classmethod
    def build(cls, materials: Sequence[Material], pairs: Sequence[MaterialPair], law: ContactLaw) -> PairTable:
        index = {m.name: i for i, m in enumerate(materials)}
        if len(index) < len(materials):
            raise InputError(f"material names must differ (got {[m.name for m in materials]}).")
        stiffness = np.array([[law.pair_stiffness(a, b) for b in materials] for a in materials])
        mixed = {
            field: np.sqrt([[getattr(a, field) * getattr(b, field) for b in materials] for a in materials])
            for field in ("restitution", "friction", "rolling_friction")
        }
        for pair in pairs:
            i, j = (index[known_name("material", name, index)] for name in pair.materials)
            for field, table in mixed.items():
                value = getattr(pair, field)
                if value is not None:
                    table[i, j] = table[j, i] = value
        return cls(stiffness, **mixed, law=law.parameters)
