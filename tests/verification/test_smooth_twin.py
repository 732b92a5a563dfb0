"""The smooth stepper against its slow, plain twin: all of the law, two materials, a size ratio of ten, walls."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from granum.contact import HertzContact, LinearContact, Material
from granum.scene import Grains, Gravity, Plane, Scene
from granum.simulation import Simulation, make_settings
from granum.simulation.making import make_bodies
from tests.reference.scenes import FREE, G
from tests.reference.smooth import Plain

MATERIALS = (
    Material(name="hard", density=3700, youngs_modulus=6e6, poisson_ratio=0.2, restitution=0.8, friction=0.6, rolling_friction=0.2),
    Material(name="soft", density=1500, youngs_modulus=1e6, poisson_ratio=0.4, restitution=0.3, friction=0.3, rolling_friction=0.05),
)


def crowd(law, count=26, side=0.0185, seed=2):
    """Grains of 1 to 10 mm in a box, some already pressed by up to 3 % of the smaller one, moving and spinning."""
    rng = np.random.default_rng(seed)
    diameter = np.sort(np.geomspace(1e-3, 1e-2, count))[::-1]
    place = np.empty((0, 3))
    while len(place) < count:
        d = diameter[len(place)]
        x = rng.uniform(-1, 1, 3) * (side / 2 - 0.48 * d)
        other = diameter[: len(place)]
        gap = np.linalg.norm(place - x, axis=1) - (d + other) / 2
        # the small ones near others, so that there is much to do
        if (gap > -0.03 * d).all() and (len(place) < 8 or gap.min() < 0.2 * d):
            place = np.vstack([place, x])
    velocity, spin = -40 * place + 0.5 * rng.standard_normal((count, 3)), 50 * rng.standard_normal((count, 3))
    half = [np.arange(0, count, 2), np.arange(1, count, 2)]
    walls = [
        Plane(material=MATERIALS[k % 2].name, point=tuple(-side / 2 * n), normal=tuple(n))
        for k, n in enumerate(np.vstack([np.eye(3), -np.eye(3)]))
    ]
    return Scene(
        materials=MATERIALS,
        walls=walls,
        law=law,
        gravity=Gravity(acceleration=(1, 2, -G)),
        grains=[
            Grains(material=m.name, position=place[i], diameter=diameter[i], velocity=velocity[i], spin=spin[i])
            for m, i in zip(MATERIALS, half, strict=True)
        ],
    )


HERTZ, LINEAR = HertzContact(dissipation=2e-5), LinearContact(stiffness=150.0, dissipation=2e-5)


@pytest.mark.parametrize(
    "law, damping, integrator",
    [
        (HERTZ, "restitution", "verlet"),
        (HERTZ, "dissipation", "euler"),
        (LINEAR, "restitution", "euler"),
        (LINEAR, "dissipation", "verlet"),
    ],
    ids=lambda x: getattr(x, "name", x),
)
def test_stepper_equals_its_twin(law, damping, integrator):
    """Positions, velocities, spins and springs after 250 steps: to rounding, which collisions let grow.

    How much they do, the twin tells, with places shifted by 1e-12 r: rounding shifts them by the last bit of some 10 mm in each step, a
    random walk of 3e-17 m, 5e-14 r of the smallest grain.
    """
    scene = crowd(law)
    stepper = {"name": "smooth", "integrator": integrator, "damping": damping}
    sim = Simulation(scene, make_settings({"stepper": stepper, "guards": FREE, "time_step": 1e-5}), bodies=make_bodies(scene))
    twin, *nudged = (Plain(scene, sim.time_step, integrator, damping) for _ in range(3))
    for seed, other in enumerate(nudged):
        other.x += 1e-12 * other.r[:, None] * np.random.default_rng(seed).choice([-1, 1], other.x.shape)
    seen = set()
    for _ in range(250):
        sim.step()
        for one in (twin, *nudged):
            one.step()
        seen.update(twin.springs)
    ours, plain = (sim.position, sim.velocity, sim.spin), (twin.x, twin.v, twin.w)
    error = [np.abs(one - other).max() / np.abs(other).max() for one, other in zip(ours, plain, strict=True)]
    growth = [
        max(np.abs(one - other).max() / np.abs(other).max() for one in some)
        for some, other in zip(zip(*((n.x, n.v, n.w) for n in nudged), strict=True), plain, strict=True)
    ]
    assert len(seen) > 40
    assert (np.array(error) < 0.05 * np.array(growth)).all()
    assert max(growth) < 1e-9  # and that is little: no verdict hangs on chaos
    assert sum(b < 0 for _, b in seen) > 5
    # the same contacts, with the same overlaps and springs, whichever grain owns the pair
    spring = np.concatenate([sim.stepper.touching.spring, sim.stepper.at_walls.now.of("spring")])
    c = sim.contacts
    assert c.contact_count == len(twin.springs)
    size = max(np.abs(np.concatenate(v[1:])).max() for v in twin.springs.values())
    for n in range(c.contact_count):
        a, b = int(c.a[n]), int(c.b[n])
        sign = -1 if b >= 0 and b < a else 1
        key = (b, a) if sign < 0 else (a, b)
        assert_allclose(c.overlap[n], twin.overlaps[key], rtol=1e-9, atol=1e-14)
        secant, *springs = twin.springs[key]
        assert_allclose(spring[n, 0], secant, rtol=1e-9)
        assert_allclose(sign * spring[n, 1:], np.concatenate(springs), rtol=1e-9, atol=1e-9 * size)
