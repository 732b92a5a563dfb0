"""The contact law of a scene and its numbers for every pair of materials, as the kernels take them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..array_types import FloatArray
from ..contact import Material
from ..contact.law import Parameters, response
from ..scene.scene import Scene
from .damping import damping_table
from .groups import Laws


def laws_of(scene: Scene, damped: bool) -> Laws:
    """``damped``: dashpots follow from the restitution of each pair of materials, else from the law's dissipation c."""
    pairs, law = scene.pair_table(), scene.law
    if damped:
        law = law.model_copy(update={"dissipation": 0.0})
        alpha = damping_table(pairs.restitution, law.exponent)
    else:
        alpha = np.zeros_like(pairs.restitution)
    shear = shear_ratio(scene.materials, pairs.law)
    columns = (pairs.stiffness, alpha, pairs.friction, pairs.rolling_friction, shear, np.sqrt(shear * (2.0 / 7.0)))
    return Laws(law.parameters, np.stack([column.ravel() for column in columns], axis=1), len(scene.materials))


def shear_ratio(materials: Sequence[Material], law: Parameters) -> FloatArray:
    """(M, M) k_t / K: Mindlin's 8 G* / (2 E*) of the two materials, from the law's secant stiffness K to its tangent (Hertz: 3/2)."""
    at = response(law, 1.0, 1.0, 1.0)

    def pair(a: Material, b: Material) -> float:
        shear = [(2 - m.poisson_ratio) * 2 * (1 + m.poisson_ratio) / m.youngs_modulus for m in (a, b)]
        return at.tangent / at.secant * 4 * (a.softness + b.softness) / (shear[0] + shear[1])

    return np.array([[pair(a, b) for b in materials] for a in materials])
