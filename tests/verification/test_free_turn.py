"""Free bodies turn by a splitting: angular momentum to rounding, energy that stays, second order, symmetric tops exactly."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from granum.scene import Body
from granum.state.free_turn import mean_spins, turn_free
from granum.state.rotation import matrices, matrix
from tests.reference.scenes import FREE, make

ONE = np.zeros(1, np.int32)
TUMBLING = np.array([0.01, 10.0, 0.01])  # [rad/s] about the middle axis, nearly: it turns over


def tumble(moments, spin, h, steps, orientation=(1.0, 0.0, 0.0, 0.0)):
    """Orientations (steps + 1, 4) and spins (steps + 1, 3) of a free body."""
    q, w, moments = np.array([orientation], float), np.array([spin], float), np.array([moments], float)
    q /= np.linalg.norm(q)
    found_q, found_w = [q[0].copy()], [w[0].copy()]
    for _ in range(steps):
        turn_free(q, w, moments, ONE, h)
        found_q.append(q[0].copy())
        found_w.append(w[0].copy())
    return np.array(found_q), np.array(found_w)


def energy_and_momentum(moments, q, w):
    """(n,) kinetic energy [J] and (n, 3) angular momentum [kg m^2/s]."""
    axes = matrices(q)
    own = np.einsum("nij,ni->nj", axes, w)
    return 0.5 * (moments * own * own).sum(axis=1), np.einsum("nij,nj->ni", axes, moments * own)


def test_energy_and_angular_momentum_of_a_tumbling_body():
    """I = (1, 2, 3) kg m^2 at 10 rad/s about the middle axis, 10 s at 5 ms: it turns over and over.

    The splitting keeps an energy that differs from the true one by O((w h)^2) = 2.5e-3 times a small factor (2e-5 found);
    keeping the angular momentum alone nearly doubled it. Each step rounds the angular momentum a few times.
    """
    moments = np.array([1.0, 2.0, 3.0])
    q, w = tumble(moments, TUMBLING, 5e-3, 2000, orientation=(1.0, 0.2, -0.3, 0.5))
    energy, momentum = energy_and_momentum(moments, q, w)
    assert w[:, 0].max() - w[:, 0].min() > 5  # it did tumble
    assert_allclose(energy, energy[0], rtol=1e-4)
    assert abs(energy[-200:].mean() / energy[:200].mean() - 1) < 1e-5
    assert_allclose(momentum, np.broadcast_to(momentum[0], momentum.shape), rtol=0, atol=2000 * 4e-16 * np.abs(momentum[0]).max())


def test_turning_is_of_second_order():
    """Half the step, a quarter of the error, of orientation and spin after 0.4 s."""
    moments, spin = np.array([1.0, 2.0, 3.0]), np.array([3.0, 8.0, -4.0])
    fine_q, fine_w = tumble(moments, spin, 0.4 / 40960, 40960)
    errors = []
    for steps in (40, 80, 160):
        q, w = tumble(moments, spin, 0.4 / steps, steps)
        errors.append((np.abs(q[-1] - fine_q[-1]).max(), np.abs(w[-1] - fine_w[-1]).max()))
    order = np.log2(np.array(errors)[:-1] / np.array(errors)[1:])
    assert_allclose(order, 2, atol=0.05)  # the next term is (w h)^2 = 1e-2 of the first


@pytest.mark.parametrize("moments", [(1.0, 1.0, 3.0), (2.0, 1.0, 2.0), (0.5, 3.0, 3.0), (2.0, 2.0, 2.0)])
def test_a_symmetric_top_turns_exactly(moments):
    """Its axis precesses about the angular momentum L at |L| / I1 while it spins at (1 / I3 - 1 / I1) L.u about it, in any step."""
    moments, spin, h, steps = np.array(moments), np.array([4.0, -2.0, 7.0]), 0.05, 40
    q, _ = tumble(moments, spin, h, steps)
    odd = next(k for k in range(3) if (moments == moments[k]).sum() != 2)
    across = moments[(odd + 1) % 3]
    momentum = moments * spin  # the body starts along the world's axes
    size = np.linalg.norm(momentum)
    own = (1 / moments[odd] - 1 / across) * momentum[odd] * h * steps
    whole = size / across * h * steps

    def turned(axis, angle):
        return np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * axis])

    expected = matrix(turned(momentum / size, whole)) @ matrix(turned(np.eye(3)[odd], own))
    assert_allclose(matrix(q[-1]), expected, atol=steps * 4e-15)


def test_the_steady_spin_of_a_step_turns_as_the_body_does():
    """Of inertia in world axes, along no axis of them: what aggregates move by."""
    rng = np.random.default_rng(4)
    q = rng.normal(size=(20, 4))
    q /= np.linalg.norm(q, axis=1)[:, None]
    spin, moments, h = rng.normal(scale=30, size=(20, 3)), rng.uniform(1, 2, (20, 3)), 5e-3
    moments[:5, 1] = moments[:5, 0]
    axes = matrices(q)
    inertia = np.einsum("nij,nj,nkj->nik", axes, moments, axes)
    mean, after = np.empty((20, 3)), q.copy()
    mean_spins(inertia, spin, h, mean)
    turn_free(after, spin.copy(), moments, np.arange(20, dtype=np.int32), h)
    for k in range(20):
        angle = np.linalg.norm(mean[k]) * h
        net = matrix(np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * mean[k] / np.linalg.norm(mean[k])]))
        assert_allclose(net @ axes[k], matrix(after[k]), atol=2e-14)


@pytest.mark.parametrize("stepper", ["nonsmooth", "smooth"])
def test_a_thrown_body_keeps_its_energy(stepper):
    """The whole step of a run, by both steppers, with a body that tumbles and touches nothing; one grain far away."""
    thrown = Body(name="thrown", kind="dynamic", mass=1.0, inertia=(1, 2, 3), spin=tuple(TUMBLING))
    h = 5e-3 if stepper == "nonsmooth" else 5e-5
    sim = make([(9, 0, 0)], bodies=[thrown], h=h, settings={"stepper": {"name": stepper}}, guards=FREE)
    energy = [sim.step().kinetic_energy for _ in range(400)]
    assert_allclose(energy, 0.5 * (np.array([1, 2, 3]) * TUMBLING**2).sum(), rtol=1e-3)
