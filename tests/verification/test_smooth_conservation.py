"""What smooth contacts keep: linear and angular momentum, energy that only shrinks; and bounds that no force leaves."""

from __future__ import annotations

import numpy as np
import pytest

from granum.scene import Body, Box
from granum.state.rotation import matrix
from tests.reference.scenes import D
from tests.reference.smooth import LAWS, make

MATERIALS = {
    "smooth": {"friction": 0.0},
    "friction": {"friction": 0.5},
    "rolling": {"friction": 0.5, "rolling_friction": 0.3},
}


def cloud(seed=1, count=40, plate=False, **settings):
    """Grains of three sizes, spinning, rushing into each other without gravity; perhaps with a free tumbling plate among them."""
    rng = np.random.default_rng(seed)
    diameter = rng.choice([0.6, 1.0, 1.4], count) * D
    position = np.empty((0, 3))
    while len(position) < count:
        x = rng.uniform(-0.5, 0.5, 3) * (6 if plate else 4.5) * D
        near = (diameter[: len(position)] + diameter[len(position)]) / 2
        if (np.linalg.norm(position - x, axis=1) > near * 1.02).all() and (not plate or abs(x[2]) > D):
            position = np.vstack([position, x])
    bodies = []
    if plate:
        half = np.array([1.5, 1.0, 0.2]) * D
        m = 3700 * 8 * half.prod()
        inertia = tuple(m / 3 * (half @ half - half**2))
        box = Box(material="m", lower=tuple(-half), upper=tuple(half), side="outside")
        bodies = [Body(name="plate", kind="dynamic", mass=m, inertia=inertia, velocity=(0.1, 0, 0), spin=(2, 8, 1), walls=[box])]
    return make(
        position,
        velocity=-10 * position + 0.3 * rng.standard_normal((count, 3)),
        spin=20 * rng.standard_normal((count, 3)),
        diameter=diameter,
        bodies=bodies,
        h=4e-5,
        **settings,
    )


def momenta(sim):
    """Linear momentum [N s] and angular momentum about the origin [N m s], spins and free walls included."""
    m, r, b = sim.bodies.mass, sim.radius, sim.bodies
    linear = m @ sim.velocity
    angular = (np.cross(sim.position, m[:, None] * sim.velocity) + (0.4 * m * r**2)[:, None] * sim.spin).sum(axis=0)
    for w in b.dynamic:
        turned, big = matrix(b.orientation[w]), 1 / b.inverse_mass[w]
        linear = linear + big * b.velocity[w]
        angular = angular + np.cross(b.position[w], big * b.velocity[w]) + turned @ (b.moments[w] * (turned.T @ b.spin[w]))
    return linear, angular


@pytest.mark.parametrize("integrator", ["verlet", "euler"])
@pytest.mark.parametrize("plate", [False, True], ids=["grains", "plate"])
@pytest.mark.parametrize("material", MATERIALS)
def test_momentum_and_angular_momentum(material, plate, integrator):
    """Every force acts on two bodies at one point, every torque on both: the sums keep their values to rounding."""
    sim = cloud(plate=plate, integrator=integrator, **MATERIALS[material])
    m, r = sim.bodies.mass, sim.radius
    speed = np.linalg.norm(sim.velocity, axis=1)
    scale = m @ speed, np.sum(m * speed * r + 0.4 * m * r**2 * np.linalg.norm(sim.spin, axis=1))
    before, met, hit = momenta(sim), 0, 0
    for _ in range(500):
        met += sim.step().contacts
        hit += sim.stepper.at_walls.now.count
    errors = [np.abs(now - then).max() / s for now, then, s in zip(momenta(sim), before, scale, strict=True)]
    assert met > 1000
    assert hit > 50 or not plate
    # 500 steps, each a sum of some hundred forces known to 1e-16 of the largest: some times the mean momentum
    assert errors[0] < 1e-14
    assert errors[1] < 1e-13


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("material", MATERIALS)
def test_losses_only_lose(material, law):
    """Kinetic and elastic energy together never grow, but for what Verlet swings by in a contact."""
    sim = cloud(restitution=0.5, law=LAWS[law], **MATERIALS[material])
    energy = [sim.step() for _ in range(500)]
    energy = np.array([r.kinetic_energy + r.elastic_energy for r in energy])
    rise = (energy - np.minimum.accumulate(energy)).max() / energy[0]
    assert rise < 1e-5
    assert energy[-1] < 0.9 * energy[0]


def test_forces_stay_inside_their_bounds():
    """At every step: f_n >= 0, |f_t| <= mu f_n, |T| <= mu_r R* f_n, f_t in the tangent plane; and the bounds are at work."""
    mu, mu_r, slides, rolls = 0.3, 0.1, 0, 0
    sim = cloud(friction=mu, rolling_friction=mu_r, plate=True)
    for _ in range(300):
        sim.step()
        c = sim.contacts
        f_n, f_t, torque = c.normal_force, np.linalg.norm(c.tangential_force, axis=1), np.linalg.norm(c.rolling_torque, axis=1)
        r_b = np.where(c.b >= 0, sim.radius[np.maximum(c.b, 0)], np.inf)
        reduced = 1 / (1 / sim.radius[c.a] + 1 / r_b)
        assert (f_n >= 0).all()
        assert (f_t <= mu * f_n * (1 + 1e-12) + 1e-12 * f_n.max(initial=0)).all()
        assert (torque <= mu_r * reduced * f_n * (1 + 1e-12) + 1e-300).all()
        assert (np.abs((c.tangential_force * c.normal).sum(axis=1)) <= 1e-12 * f_n.max(initial=0)).all()
        slides += np.count_nonzero(f_t > 0.999 * mu * f_n)
        rolls += np.count_nonzero(torque > 0.999 * mu_r * reduced * f_n)
    assert slides > 100
    assert rolls > 100
