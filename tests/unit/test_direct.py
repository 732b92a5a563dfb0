"""The sparse view of a contact problem, and the direct solver's manners: nothing to solve, no end in sight, and in a run."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from granum._jit import kernel
from granum.nonsmooth.blocks import ARM, LANES, NX
from granum.nonsmooth.rows import arms, listed, relative_velocity
from granum.nonsmooth.system import System
from tests.reference.problems import PROBLEMS, kept

KINDS = ["box", "box with rolling", "drum", "platen"]  # spheres and standing walls, 3 and 6 rows, driven walls, full inertia


@kernel
def row_velocities(body, lane_a, lane_b, data, fields, place, serial_start, lever, full):
    """(C, 6) relative velocity and spin of every contact in world axes, as the sweeps see them."""
    out = np.empty((len(place), 6))
    for c in range(len(place)):
        p = np.int64(place[c])
        d = p // LANES * fields * LANES + p % LANES
        a, b = np.int64(lane_a[p]), np.int64(lane_b[p])
        n = data[d + NX * LANES], data[d + (NX + 1) * LANES], data[d + (NX + 2) * LANES]
        q = listed(p, serial_start, full)
        ax, ay, az, bx, by, bz = arms(body, a, b, n[0], n[1], n[2], data[d + ARM * LANES], q, lever)
        out[c] = relative_velocity(body, a, b, ax, ay, az, bx, by, bz)
    return out


@pytest.mark.parametrize("kind", KINDS)
def test_system_sees_what_sweeps_see(kind):
    """G v + drift is the relative velocity of the rows, for random velocities of all bodies."""
    p = PROBLEMS[kind]()
    packed = p.body[: p.yielding * 8].reshape(-1, 8)
    packed[:, :6] = np.random.default_rng(1).standard_normal((p.yielding, 6))
    s = System.read(p)
    expected = row_velocities(p.body, p.lane_a, p.lane_b, p.data, p.fields, p.place, p.colour_blocks * LANES, p.lever, p.full)
    rows = np.einsum("cij,cj->ci", s.basis, expected[:, :3])
    if s.rows > 3:
        rows = np.hstack([rows, np.einsum("cij,cj->ci", s.basis[:, (1, 2, 0)], expected[:, 3:])])
    scale = np.abs(rows).max()
    assert_allclose(s.relative_velocity(s.velocity), rows.ravel(), atol=1e-13 * scale)
    assert_allclose(s.basis @ s.basis.transpose(0, 2, 1), np.broadcast_to(np.eye(3), s.basis.shape), atol=1e-14)


@pytest.mark.parametrize("kind", KINDS)
def test_system_goes_there_and_back(kind):
    """Reading a problem and writing it back changes velocities, impulses and residual by rounding only."""
    p = PROBLEMS[kind]()
    before, (body, data) = p.residual(), kept(p)
    s = System.read(p)
    s.write(p, s.impulse)
    assert_allclose(p.residual(), before, atol=1e-15)
    assert_allclose(p.body, body, atol=1e-15)
    assert_allclose(p.data, data, atol=1e-15 * np.abs(s.impulse).max())


@pytest.mark.parametrize("kind", KINDS)
def test_mass_and_delassus_matrix(kind):
    """A change of the impulses in the problem changes the relative velocities by G M^-1 G^T, and W adds the softness."""
    p = PROBLEMS[kind]()
    s = System.read(p)
    change = 1e-4 * np.random.default_rng(2).standard_normal(len(s.impulse))
    s.write(p, s.impulse + change)
    moved = System.read(p)
    assert_allclose(moved.impulse, s.impulse + change, atol=1e-18)
    assert_allclose(moved.free_velocity, s.free_velocity, atol=1e-15 * np.abs(moved.velocity).max())
    w = s.delassus()
    assert_allclose(w.toarray(), w.toarray().T, atol=1e-14 * np.abs(w).max())
    u = moved.relative_velocity(moved.velocity) + s.softness * moved.impulse - s.target
    assert_allclose(w @ moved.impulse + s.offset(), u, atol=1e-14 * np.abs(w).max() * np.abs(moved.impulse).max())
