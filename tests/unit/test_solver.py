"""The fast solver against its slow twin, and against itself: orders, momentum, warm starts, row counts, box friction."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.reference.pgs import build
from tests.reference.scenes import FREE, D, G, H, hertz_stiffness, make

MU, MU_R = 0.4, 0.15
QUIET = {"impact_velocity": 1e9}  # no impact stage: the continuous stage alone is looked at
CONVERGED = 20000


def packing(rolling_friction=MU_R, seed=7, solver=None, **stepper):
    """Two layers of touching grains on a plane, 3 x 3 under 2 x 2, moving at random: 13 grains, some 38 contacts."""
    rng = np.random.default_rng(seed)
    d = 0.992 * D
    low = [(x * d, y * d, 0.493 * D) for x in range(3) for y in range(3)]
    high = [((x + 0.5) * d, (y + 0.5) * d, 0.493 * D + d / np.sqrt(2)) for x in range(2) for y in range(2)]
    position = np.array(low + high) + 0.002 * D * rng.uniform(-1, 1, (13, 3))
    diameter = D * (1 + 0.002 * rng.uniform(-1, 1, 13))
    return make(
        position, velocity=0.08 * rng.standard_normal((13, 3)), spin=8 * rng.standard_normal((13, 3)), diameter=diameter,
        walls=True, gravity=(0.3 * G, 0.1 * G, -G), friction=MU, rolling_friction=rolling_friction, guards=FREE,
        solver={"iterations": CONVERGED, "tolerance": 1e-15, **(solver or {})}, stepper={**QUIET, **stepper},
    )  # fmt: skip


def twin_of(sim, box=False):
    """The twin of the step that ``sim`` is about to take; taken on copies, then the step is done."""
    x, v, w = sim.position.copy(), sim.velocity.copy(), sim.spin.copy()
    sim.step()
    c = sim.contacts
    assert c.overlap.min() > 1e-4 * D  # below 1e-5 R* the engine keeps a little stiffness, which the twin knows nothing of
    b = np.where(c.b >= 0, c.b, -1)
    r = sim.radius
    stiffness = hertz_stiffness(r[c.a], np.where(b >= 0, r[b], np.inf))
    mu_r = sim.scene.materials[0].rolling_friction
    return build(
        x, v, w, r, sim.bodies.mass, (c.a.copy(), b.copy(), c.normal.copy(), c.overlap.copy()), stiffness, H, (0.3 * G, 0.1 * G, -G),
        MU, mu_r, box=box, basis=engine_tangent if box else None,
    )  # fmt: skip


def engine_tangent(n):
    """The first tangent that the engine's box friction uses: the box depends on the basis, the cone does not."""
    sign = 1.0 if n[2] >= 0 else -1.0
    f = -1.0 / (sign + n[2])
    return np.array([1 + sign * n[0] ** 2 * f, sign * n[0] * n[1] * f, -sign * n[0]])


def state(sim):
    return np.hstack([sim.velocity, sim.spin * D / 2])


def solve_twin(twin, sweeps=3000, small=1e-12):
    for k in range(sweeps):
        before = twin.velocity.copy()
        twin.sweep()
        if np.abs(twin.velocity - before).max() < small:
            return k
    return sweeps


@pytest.mark.parametrize("rolling_friction", [0.0, MU_R])
def test_sweep_agrees_with_the_twin(rolling_friction):
    """Converged velocities of the vectorised sweep in impulses and of the plain one in multipliers agree to 1e-9 m/s."""
    sim = packing(rolling_friction)
    twin = twin_of(sim)
    sweeps = solve_twin(twin)
    twin.velocity[:, 3:] *= D / 2
    print(sweeps, sim.report.iterations, sim.report.residual, np.abs(twin.velocity[:-1] - state(sim)).max(), len(twin.a))
    assert_allclose(state(sim), twin.velocity[:-1], atol=1e-9)
    assert_allclose(sim.contacts.impulse[:, 0], twin.scale * twin.multiplier[:, 0], atol=1e-9)
