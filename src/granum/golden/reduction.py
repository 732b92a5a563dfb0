"""The golden run with model reduction."""

from __future__ import annotations

import numpy as np

from ..contact import LinearContact
from ..scene import Box, Grains, Scene
from .outcome import STONE, D, Outcome, run_steps


def merged(threads: int) -> Outcome:
    """A bed that merges with its box, a rod that merges in flight and lands on it; split by contacts and by trial."""
    x, y, z = (a.ravel() for a in np.meshgrid(np.arange(5.0), np.arange(5.0), np.arange(3.0), indexing="ij"))
    bed = np.stack([x - 2, y - 2, z + 0.5], axis=1) * D
    rod = np.stack([np.arange(5.0) - 2, np.zeros(5), np.zeros(5)], axis=1) * D
    spin = np.array([5.0, 0.0, 3.0])
    scene = Scene(
        materials=(STONE,),
        law=LinearContact(stiffness=2e4),
        walls=(Box(material="stone", lower=(-2.6 * D, -2.6 * D, 0), upper=(2.7 * D, 2.7 * D, 1), open=("+z",)),),
        grains=(
            Grains(material="stone", position=bed, diameter=D),
            Grains(
                material="stone",
                position=rod + np.array([0.0003, 0.0005, 0.09]),
                diameter=D,
                velocity=np.cross(spin, rod),
                spin=np.tile(spin, (5, 1)),
            ),
        ),
    )
    reduction = {"split": ("contact", "trial"), "merge": {"smallest": 3}}
    return run_steps(scene, 160, threads, stepper={"reduction": reduction}, time_step=0.002)


SCENES = {"merged": (merged, ("merged", "aggregates"))}
