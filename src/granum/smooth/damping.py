"""From restitution to damping.

Contacts are damped by ``eta = alpha sqrt(m* K)``, with K the secant stiffness. Where the force is a power of the overlap, 2 e_H - 1,
and nothing attracts, such a collision has one restitution, whatever its speed, masses and stiffness are. With a linear spring and
beta = alpha / 2 it is over, its force down to zero, at the (scaled) time t with tan(w t) = 2 beta w / (2 beta^2 - 1), w^2 = 1 - beta^2, and
leaves e = exp(-beta t). Others obey the same law: in the variable xi = delta^e_H / sqrt(e_H) their equation is that of the linear spring
with alpha / sqrt(e_H), and the force vanishes at the same moment. A contact that attracts loses more.
"""

from __future__ import annotations

import math

import numpy as np

from ..arithmetic import arctan2, exp, log
from ..array_types import FloatArray
from ..scene.scene import Scene

LEAST = 0.1
"""The smallest restitution that is damped for: below it, damping would ask for ever smaller steps."""


def restitution(alpha: float, exponent: float) -> float:
    """e of a collision damped by ``alpha`` [-] that ends when the force has come down to zero; ``exponent`` is e_H."""
    beta = alpha / 2 / math.sqrt(exponent)
    if beta == 0.0:
        return 1.0
    if abs(beta - 1.0) < 1e-9:
        return exp(-2.0)
    if beta < 1.0:
        w = math.sqrt(1.0 - beta * beta)
        return exp(-beta / w * arctan2(2 * beta * w, 2 * beta * beta - 1.0))
    w = math.sqrt(beta * beta - 1.0)
    return exp(-beta / w * log((beta + w) / (beta - w)))


def damping_for(e: float, exponent: float) -> float:
    """alpha [-] that gives restitution ``e``; ``LEAST`` at least."""
    e = max(e, LEAST)
    low, high = 0.0, 1.0
    while restitution(high, exponent) > e:
        high *= 2
    for _ in range(60):  # halving: restitution falls with alpha
        middle = 0.5 * (low + high)
        low, high = (middle, high) if restitution(middle, exponent) > e else (low, middle)
    return 0.5 * (low + high) if e < 1.0 else 0.0


def damping_table(restitution: FloatArray, exponent: float) -> FloatArray:
    """alpha [-] of every pair of materials."""
    found = {e: damping_for(e, exponent) for e in set(restitution.ravel().tolist())}
    return np.array([[found[e] for e in row] for row in restitution.tolist()])


def least_used(scene: Scene) -> str | None:
    """In words, which restitution is below the least that is damped for; none: no pair that can touch."""
    table, names = scene.pair_table().restitution, [material.name for material in scene.materials]
    own = {scene.material_index[block.material] for block in (*scene.grains, *scene.emitters)}
    other = {scene.material_index[wall.material] for wall in scene.all_walls} - own
    touching = [(i, j) for i in own for j in own if i <= j] + [(i, j) for i in own for j in other]
    pairs = sorted((float(table[i, j]), i, j) for i, j in touching if table[i, j] < LEAST)
    if not pairs:
        return None
    e, i, j = pairs[0]
    more = f" (and that of {len(pairs) - 1} more pairs)" if len(pairs) > 1 else ""
    return (
        f"restitution {e:.3g} of {names[i]} with {names[j]}{more} is below {LEAST:g}, the least that the smooth stepper damps for: "
        f"{LEAST:g} is used; the nonsmooth stepper (--stepper nonsmooth) takes any"
    )
