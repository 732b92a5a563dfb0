"""An elastic gas: frictionless grains without losses in a box keep their energy."""

from __future__ import annotations

import numpy as np
import pytest

from granum.scene import Box
from tests.reference.smooth import make


def gas(h, speed=0.05, diameter=0.01, **settings):
    """Eight grains in a box three diameters wide: two or three hundred collisions a second."""
    rng = np.random.default_rng(0)
    lattice = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    velocity = rng.standard_normal(lattice.shape)
    velocity *= speed / np.sqrt((velocity**2).sum(axis=1).mean())
    side = 1.5 * diameter
    return make(
        (0.7 * lattice + rng.uniform(-0.1, 0.1, lattice.shape)) * diameter,
        velocity=velocity,
        diameter=diameter,
        restitution=1.0,
        friction=0.0,
        h=h,
        walls=[Box(material="m", lower=(-side,) * 3, upper=(side,) * 3)],
        **settings,
    )


def energies(sim, steps):
    """(steps,) kinetic and elastic energy over its first value, less one; and the number of contacts."""
    still, energy, contacts = np.zeros(3), np.empty(steps), 0
    for k in range(steps):
        report = sim.stepper.step(k, k * sim.time_step, sim.time_step, still)
        energy[k] = report.kinetic_energy + report.elastic_energy
        contacts += report.contacts
    return energy / energy[0] - 1, contacts


STEP = 6.4e-5  # [s]: some 60 in a collision


@pytest.mark.parametrize("steps", [20_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_verlet_keeps_energy(steps):
    """At the automatic step, in contacts and between them; symplectic, so nothing piles up but the ends of contacts."""
    energy, contacts = energies(gas(None), steps)
    assert contacts > 0.2 * steps
    assert np.abs(energy).max() < 1e-4


@pytest.mark.parametrize("integrator, order", [("verlet", 2), ("euler", 1)])
def test_energy_error_falls_with_the_order_of_the_integrator(integrator, order):
    """Over the same 0.1 s of collisions: the root mean square of the error."""
    errors = [np.sqrt((energies(gas(STEP / n, integrator=integrator), 1500 * n)[0] ** 2).mean()) for n in (1, 2, 4)]
    slopes = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.abs(slopes - order).max() < 0.3
