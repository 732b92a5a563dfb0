"""Impulses are brought to the nearest place that Coulomb's law allows, whatever they were, and stay where they are if they are there."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from granum.nonsmooth.local import into_friction_cone
from granum.nonsmooth.projections import into_box, into_cone
from tests.reference.scenes import FREE, D, make

numbers = st.floats(-1e6, 1e6, allow_subnormal=False)
coefficients = st.one_of(st.just(0.0), st.floats(1e-3, 10.0))
impulses = st.tuples(numbers, numbers, numbers).map(np.array)


@njit
def in_ball(x, y, z, bound):
    return into_cone(x, y, z, bound)


@njit
def in_box(x, y, z, nx, ny, nz, bound, with_normal):
    return into_box(x, y, z, nx, ny, nz, bound, with_normal)


@st.composite
def units(draw):
    """A unit vector, the poles included."""
    direction = draw(st.sampled_from([(0, 0, 1.0), (0, 0, -1.0), (1.0, 0, 0)]) | st.tuples(*[st.floats(-1, 1)] * 3))
    size = np.linalg.norm(direction)
    return np.array(direction) / size if size > 1e-6 else np.array([0.0, 1.0, 0.0])


@given(impulse=impulses, mu=coefficients)
def test_nearest_point_of_the_friction_cone(impulse, mu):
    """Moreau: a vector is the sum of its nearest points in the cone and in the cone polar to it, and these are orthogonal."""
    inside = into_friction_cone(impulse[None], np.array([mu]))[0]
    rest, size = impulse - inside, max(1.0, float(np.abs(impulse).max()))
    assert np.hypot(*inside[1:]) <= mu * inside[0] + 1e-12 * size
    assert mu * np.hypot(*rest[1:]) <= -rest[0] + 1e-11 * size * (1 + mu)  # polar: no vector of the cone has a part along it
    assert abs(inside @ rest) <= 1e-10 * size**2
    again = into_friction_cone(inside[None], np.array([mu]))[0]
    np.testing.assert_allclose(again, inside, atol=1e-12 * size)


@given(impulse=impulses, bound=st.floats(0.0, 1e6))
def test_nearest_point_of_the_ball(impulse, bound):
    """Friction at a given normal impulse: what is too long is shortened and keeps its direction, what is not keeps its bits."""
    found = np.array(in_ball(*impulse, bound))
    length = float(np.linalg.norm(impulse))
    if length <= bound * (1 - 1e-12):
        assert found.tolist() == impulse.tolist()
    else:
        np.testing.assert_allclose(found, impulse * (bound / length if length else 0.0), atol=1e-12 * max(1.0, bound))


@given(impulse=impulses, normal=units(), bound=st.floats(0.0, 1e6), other=impulses, with_normal=st.booleans())
def test_nearest_point_of_the_box(impulse, normal, bound, other, with_normal):
    """A projection onto a convex set: no point of the set is nearer, nothing gets further apart, and a second one changes nothing."""
    size = max(1.0, float(np.abs([impulse, other]).max()))
    found, of_other = (np.array(in_box(*x, *normal, bound, with_normal)) for x in (impulse, other))
    np.testing.assert_allclose(in_box(*found, *normal, bound, with_normal), found, atol=1e-12 * size)
    assert (impulse - found) @ (of_other - found) <= 1e-9 * size**2  # an obtuse angle to every other point of the set
    assert np.linalg.norm(found - of_other) <= np.linalg.norm(impulse - other) + 1e-9 * size
    assert np.linalg.norm(found) <= np.sqrt(3.0 if with_normal else 2.0) * bound + 1e-12 * size
    if not with_normal:
        assert abs(found @ normal) <= 1e-12 * size


@given(
    seed=st.integers(0, 2**32 - 1),
    mu=st.floats(0.0, 2.0),
    rolling=st.sampled_from([0.0, 0.1]),
    friction=st.sampled_from(["cone", "box"]),
    solver=st.sampled_from(["pgs", "multigrid"]),
    iterations=st.integers(1, 20),
)
def test_solved_impulses_obey_the_law_however_few_the_sweeps(seed, mu, rolling, friction, solver, iterations):
    """Grains pushed and thrown onto each other: contacts never pull, friction stays below mu p_n, rolling below mu_r R* p_n."""
    rng = np.random.default_rng(seed)
    lattice = np.array([(x, y, z) for x in range(3) for y in range(3) for z in range(2)], float)
    sim = make(
        0.97 * D * (lattice + np.array([0, 0, 0.5])) + 0.005 * D * rng.uniform(-1, 1, lattice.shape),
        velocity=0.3 * rng.standard_normal(lattice.shape),
        spin=30 * rng.standard_normal(lattice.shape),
        walls=True,
        gravity=(3.0, 0, -9.81),
        friction=mu,
        rolling_friction=rolling,
        guards=FREE,
        solver={"name": solver, "iterations": iterations},
        stepper={"friction": friction},
    )
    for step in range(3):
        sim.step()
        c = sim.contacts
        normal, tangential, turning = c.impulse[:, 0], c.impulse[:, 1:4], c.impulse[:, 4:7]
        rounding = 1e-12 * normal.max(initial=0.0)
        longest = 1.0 if friction == "cone" else np.sqrt(2.0)
        radius = np.where(c.b >= 0, D / 4, D / 2)  # R* of equal spheres, and of a sphere on a plane
        assert step > 0 or c.contact_count >= 9 + 9 + 24
        assert (normal >= 0).all()
        assert (np.linalg.norm(tangential, axis=1) <= longest * mu * normal + rounding).all()
        assert (np.abs((tangential * c.normal).sum(axis=1)) <= 1e-9 * normal + rounding).all()
        longest = 1.0 if friction == "cone" else np.sqrt(3.0)
        assert (np.linalg.norm(turning, axis=1) <= longest * rolling * radius * normal + rounding * D).all()
