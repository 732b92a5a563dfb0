"""Two limits: smooth and nonsmooth steps of one law meet as h -> 0; nonsmooth contacts become hard as eps -> 0, as the law says."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from granum.contact import HertzContact, LinearContact
from tests.reference import smooth
from tests.reference.scenes import FREE, D, G, by_height, make, mass

COUNT = 3
SEMI = {"impact_velocity": 1e9, "damping_steps": 1e-9}  # no impact stage; tau = c / e_H: the nonsmooth step is of the smooth law
MATERIAL = {"youngs_modulus": 6e6, "friction": 0.0, "restitution": 0.5, "density": 3700.0}


def stack(make, law, h, **settings):
    """Three grains on each other that press by 1 % of D and are let go, to swing and leap under gravity."""
    height = (np.arange(COUNT) + 0.5) * 0.99 * D - 0.005 * D
    return make(np.outer(height, (0, 0, 1)), walls=True, gravity=(0, 0, -G), law=law, h=h, guards=FREE, **MATERIAL, **settings)


def path(sim, times):
    """Heights [m] (len(times), COUNT) at those times [s], whole steps."""
    heights = []
    for t in times:
        while sim.time < t - sim.time_step / 2:
            sim.step()
        heights.append(sim.position[:, 2].copy())
    return np.array(heights)


@pytest.mark.parametrize("law", [HertzContact(dissipation=2e-4), LinearContact(stiffness=4e3, dissipation=2e-4)], ids=lambda law: law.name)
def test_both_steppers_meet_at_first_order(law):
    """The same stack, pressed, released and falling back, by both steppers: they differ by O(h).

    Smooth steps are of second order (first, with dashpots) and ten times finer: what is seen is the nonsmooth step.
    """
    times = np.linspace(1e-3, 6e-3, 6)
    exact = path(stack(smooth.make, law, 1e-6, damping="dissipation"), times)
    start = stack(make, law, 1e-5, stepper=SEMI).position[:, 2]
    swing = np.abs(exact - start).max()
    steps = np.array([40e-6, 20e-6, 10e-6])
    errors = [np.abs(path(stack(make, law, h, stepper=SEMI, solver={"iterations": 100}), times) - exact).max() / swing for h in steps]
    slopes = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (slopes > 0.8).all()
    assert (slopes < 1.3).all()
    assert errors[-1] < 0.01


@pytest.mark.parametrize("law", [HertzContact(dissipation=2e-4), LinearContact(stiffness=4e3, dissipation=2e-4)], ids=lambda law: law.name)
def test_smooth_steps_converge(law):
    """With dashpots at first order or better: velocities of half a step are taken for those of its end."""
    times = np.linspace(1e-3, 6e-3, 6)
    exact = path(stack(smooth.make, law, 5e-7, damping="dissipation"), times)
    steps = np.array([20e-6, 10e-6, 5e-6])
    errors = [np.abs(path(stack(smooth.make, law, h, damping="dissipation"), times) - exact).max() for h in steps]
    slopes = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (slopes > 0.8).all()


@pytest.mark.parametrize("hertz", [True, False])
def test_nonsmooth_contacts_become_hard(hertz):
    """eps -> 0 at a fixed big step: overlaps of a column vanish as (W / k)^(2/3), k ~ E, or W / k; forces stay the weights."""
    weight = mass() * G * np.arange(COUNT, 0, -1)
    moduli, overlaps = 10.0 ** np.array([6, 8, 10, 12]), []
    for modulus in moduli:
        law = HertzContact() if hertz else LinearContact(stiffness=modulus * D)
        height = (np.arange(COUNT) + 0.5) * D
        sim = make(np.outer(height, (0, 0, 1)), walls=True, gravity=(0, 0, -G), law=law, youngs_modulus=modulus, solver={"iterations": 200})
        sim.run(1.0)
        order = by_height(sim)
        assert_allclose(sim.contacts.normal_force[order], weight, rtol=1e-6)
        overlaps.append(sim.contacts.overlap[order])
        radius = np.array([D / 2] + [D / 4] * (COUNT - 1))
        k = 4 / 3 * modulus / (2 * (1 - 0.3**2)) * np.sqrt(radius) if hertz else modulus * D
        assert_allclose(overlaps[-1], (weight / k) ** (2 / 3 if hertz else 1), rtol=1e-4)
    slopes = np.diff(np.log(overlaps), axis=0) / np.diff(np.log(moduli))[:, None]
    assert_allclose(slopes, -2 / 3 if hertz else -1, rtol=1e-4)
