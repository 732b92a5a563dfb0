"""The slow twins of the contact search: all pairs, and a dictionary that carries impulses over."""

from __future__ import annotations

import numpy as np


def all_pairs(position, radius):
    """{(i, j): (overlap, normal from i to j)} of all touching pairs i < j, by looking at every pair."""
    found = {}
    for i in range(len(radius)):
        branch = position[i + 1 :] - position[i]
        distance = np.sqrt((branch**2).sum(axis=1))
        depth = radius[i] + radius[i + 1 :] - distance
        for k in np.flatnonzero(depth > 0):
            found[i, i + 1 + int(k)] = depth[k], branch[k] / distance[k]
    return found


def carried(kept, a, b, feature, normal):
    """(7,) impulse on b of a contact known by its two bodies; ``kept`` maps (a, b, feature) to (impulse, rebound) of the last step."""
    if (a, b, feature) in kept:
        impulse, rebound = kept[a, b, feature]
        impulse = impulse.copy()
    elif (b, a, feature) in kept:  # the pair changed its owner: forces turn around, the normal force stays a push
        impulse, rebound = kept[b, a, feature]
        impulse = np.concatenate([impulse[:1], -impulse[1:]])
    else:
        return np.zeros(7), 0.0
    impulse[1:4] -= (impulse[1:4] @ normal) * normal
    return impulse, rebound
