"""Turning bodies: exact for a steady spin, to rounding, by small angles and large."""

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose

from granum.state.motion import turn_bodies
from granum.state.rotation import matrix


@pytest.mark.parametrize("angle", [1e-9, 1e-3, 0.1, 0.632, 0.6325, 1.0, 3.0, 40.0, 1e4])
def test_a_turn_by_any_angle(angle):
    """From no turn: (cos a/2, n sin a/2). At a/2 = sqrt(0.1) the series ends and the functions begin."""
    axis, h = np.array([2.0, -3.0, 6.0]) / 7, 0.25
    q = np.array([[1.0, 0.0, 0.0, 0.0]])
    turn_bodies(q, np.zeros(1, np.int32), (angle / h * axis)[None], h)
    half = mpmath.mpf(angle) / 2
    assert_allclose(q[0], [float(mpmath.cos(half)), *(float(mpmath.sin(half)) * axis)], rtol=0, atol=4e-16 + 2e-16 * angle)


def test_many_turns_add_up_and_keep_the_length():
    """1000 turns of 0.7 rad about one axis; each leaves a rounding or two."""
    axis = np.array([2.0, -3.0, 6.0]) / 7
    q = np.array([[1.0, 0.0, 0.0, 0.0]])
    for _ in range(1000):
        turn_bodies(q, np.zeros(1, np.int32), (0.7 * axis)[None], 1.0)
    half = mpmath.mpf(0.7) * 500
    assert_allclose(q[0], [float(mpmath.cos(half)), *(float(mpmath.sin(half)) * axis)], rtol=0, atol=1000 * 4e-16)
    assert_allclose(np.linalg.norm(q[0]), 1, rtol=1e-15)
    assert_allclose(matrix(q[0]) @ axis, axis, rtol=0, atol=1e-12)
