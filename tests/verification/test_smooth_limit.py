"""h -> 0 at fixed eps, gamma and tau: the nonsmooth step becomes the smooth Hertz contact, first order in h (physics 3)."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from granum.contact import HertzContact, LinearContact
from tests.reference.scenes import FREE, D, hertz_stiffness, make, mass

SPEED = 0.1  # [m/s]
SMOOTH = {"impact_velocity": 1e9, "damping_steps": 1e-9}  # no impact stage; tau = c / e_H


def smooth_history(stiffness, exponent, dissipation, m, times):
    """Force [N] of f = k (delta^p + c delta^(p - 1) delta'), p = 2 e_H - 1, of a mass m that hits at SPEED."""
    power = 2 * exponent - 1

    def force(delta, rate):
        delta = np.maximum(delta, 0.0)
        return np.maximum(stiffness * (delta**power + dissipation * delta ** (power - 1) * rate), 0.0)

    def pull(t, y):
        return [y[1], -force(y[0], y[1]) / m]

    path = solve_ivp(pull, (0, times[-1]), [0.0, SPEED], method="DOP853", rtol=1e-11, atol=1e-15, t_eval=times)
    return force(*path.y)


@pytest.mark.parametrize("law, exponent", [(HertzContact(dissipation=2e-4), 1.25), (LinearContact(stiffness=4e3, dissipation=2e-4), 1.0)])
def test_force_history_converges_to_the_smooth_law_at_first_order(law, exponent):
    """The error of the force history falls as h: slope of log error against log h between 0.8 and 1.3."""
    k = hertz_stiffness(D / 2) if exponent > 1 else 4e3
    duration = 2.5e-3  # most of the collision, loading and unloading
    errors, steps = [], np.array([40e-6, 20e-6, 10e-6, 5e-6, 2.5e-6])
    for h in steps:
        # a step that ends just touching: the first overlap is found one step later, at t = 0 of the smooth path
        sim = make((0, 0, D / 2), velocity=(0, 0, -SPEED), walls=True, h=h, law=law, friction=0.0, guards=FREE, stepper=SMOOTH)
        forces, times = [], []
        while sim.time < duration:
            sim.step()
            forces.append(sim.contacts.normal_force[0] if sim.contacts.contact_count else 0.0)
            times.append(sim.time - h / 2)  # an impulse over h is the force at its middle
        smooth = smooth_history(k, exponent, law.dissipation, mass(), np.array(times))
        # Mean, not largest: the force begins with a jump (linear) or as sqrt(t) (Hertz), where a step's mean differs by more
        # than O(h) for a few steps, that is by O(h) of the mean.
        errors.append(np.abs(forces - smooth).mean() / smooth.max())
    slopes = np.diff(np.log(errors)) / np.diff(np.log(steps))
    assert (slopes > 0.8).all()
    assert (slopes < 1.3).all()
    assert errors[-1] < 0.01
