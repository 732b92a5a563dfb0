"""Friction is never lost by warm starting: the slope of a drum grows with the friction of its grains, however a step is started."""

from __future__ import annotations

import numpy as np
import pytest

from granum.analysis import Snapshot, drum_angles
from granum.scene.library import make_scene
from granum.simulation import Simulation, make_settings

FRICTION = (0.05, 0.3, 0.9)


@pytest.mark.parametrize("start", [{"name": "history"}, {"name": "model"}])
def test_slope_of_a_drum_grows_with_friction(start):
    angles = []
    for friction in FRICTION:
        scene = make_scene(
            "drum",
            {
                "kind": "smooth",
                "count": 250,
                "width": 16,
                "length": 4,
                "speed": 1.0,
                "friction": friction,
                "rolling_friction": 0.0,
            },
        )
        sim = Simulation(scene, make_settings(scene.run, {"stepper": {"warm_start": start}}))
        sim.run(scene.parameters.starts + 0.7)
        seen = []
        for _ in range(12):
            sim.run(0.05)
            seen.append(drum_angles(Snapshot.of(sim)).centre_of_mass)
        angles.append(np.mean(seen))
    # Without friction the grains stay at the bottom; with it the slope rises by several degrees, far above its scatter in time.
    assert 0 <= angles[0] < 10
    assert angles[1] > angles[0] + 5
    assert angles[2] > angles[1] + 3
