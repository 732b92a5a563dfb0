"""The quick look at what could go far in a step: against every grain and every wall that turns."""

from __future__ import annotations

import numpy as np
import pytest

from granum.detection.ways import FAST, LATE, SLOWER, may_be_fast
from granum.parallel import ONE
from granum.state.bodies import BodyArrays, GrainArrays


def expected(position, velocity, spin, radius, walls, h):
    """Anything that goes a part of the smallest radius, or a grain that a turning body passes faster than a part of its own."""
    if (np.linalg.norm(velocity, axis=1) * h > LATE * radius.min()).any():
        return True
    for k in range(walls):
        at = velocity[k] + np.cross(spin[k], position[walls:] - position[k]) - velocity[walls:]
        if spin[k].any() and (np.linalg.norm(at, axis=1) * h > SLOWER * FAST * radius).any():
            return True
    return False


@pytest.mark.parametrize("seed", range(5))
def test_the_quick_look_misses_nothing(seed):
    """Spins around those at which the first grain is passed too fast; half of the answers are yes."""
    rng = np.random.default_rng(seed)
    answers = []
    for _ in range(60):
        walls, grains = int(rng.integers(1, 5)), int(rng.integers(1, 40))
        radius, h = rng.uniform(0.01, 0.03, grains), 1e-3
        position = rng.uniform(-1, 1, (walls + grains, 3)) * rng.uniform(0.2, 1.0)
        velocity, spin = np.zeros_like(position), np.zeros_like(position)
        velocity[:] = rng.uniform(-1, 1, velocity.shape) * 0.5 * LATE * radius.min() / h
        spin[:walls] = rng.normal(size=(walls, 3)) * rng.choice([0.0, 1.0, 3.0, 6.0])
        rows = np.arange(grains, dtype=np.int32)
        upright = np.tile([1.0, 0.0, 0.0, 0.0], (walls + grains, 1))
        bodies = BodyArrays(position, upright, velocity, spin, np.ones(walls + grains))
        found = ONE.run(may_be_fast, 0, bodies, GrainArrays(walls, walls + rows, radius, rows), walls, False, h)
        answers.append(expected(position, velocity, spin, radius, walls, h))
        assert found == answers[-1]
    assert 10 < sum(answers) < 50
