"""Coarse-grained fields: what must be conserved is, and flows and stresses that are known are found."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import erf

from granum.analysis import ContactRows, FieldGrid, GrainRows, Snapshot, coarse_grain
from granum.checks import InputError
from granum.contact import Material
from granum.scene import Plane, Scene

D, RHO, G = 0.01, 2500.0, 9.81
SCENE = Scene(materials=[Material(name="m", density=RHO)], walls=[Plane(material="m")])
KERNELS = ["gaussian", "lucy"]
rng = np.random.default_rng(3)


def gas(count=200, contacts=150, speed=1.0):
    """Grains of many sizes anywhere, with contacts and forces anywhere, the last third of them with the plane."""
    a = rng.integers(0, count, contacts)
    b = (a + rng.integers(1, count, contacts)) % count
    b[2 * contacts // 3 :] = -1
    normal = rng.normal(size=(contacts, 3))
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    return Snapshot.build(
        SCENE,
        GrainRows(
            position=rng.uniform(0, 20 * D, (count, 3)),
            radius=rng.uniform(0.2, 0.6, count) * D,
            velocity=speed * rng.normal(size=(count, 3)),
        ),
        ContactRows(a=a, b=b, normal=normal, normal_force=rng.exponential(size=contacts), tangential_force=rng.normal(size=(contacts, 3))),
    )


def lattice(n, velocity=lambda x: np.zeros_like(x)):
    x = (np.stack(np.meshgrid(*[np.arange(n)] * 3, indexing="ij"), axis=-1).reshape(-1, 3) + 0.5) * D
    return Snapshot.build(SCENE, GrainRows(position=x, radius=D / 2, velocity=velocity(x)))


def inside(fields, width):
    """Cells more than ``width`` away from the edges, along the axes that are not integrated over."""
    g = fields.grid
    return np.ix_(
        *[
            (c > low + width) & (c < high - width) if n > 1 else [True]
            for c, low, high, n in zip(g.centres, g.lower, g.upper, g.counts, strict=True)
        ]
    )


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("axes", ["xyz", "xz", "y"])
def test_mass_momentum_and_virial_integrate_exactly(kernel, axes):
    """To rounding: the weights of everything that is spread have the sum 1."""
    s = gas()
    fields = coarse_grain(s, FieldGrid.around(s, 0.7 * D, axes), width=D, kernel=kernel)
    volume = fields.grid.cell_volume
    assert_allclose(fields.density.sum() * volume, s.mass.sum(), rtol=1e-12)
    momentum = s.mass[:, None] * s.velocity
    assert_allclose(fields.momentum.sum(axis=(0, 1, 2)) * volume, momentum.sum(axis=0), atol=1e-12 * np.abs(momentum).sum())
    assert_allclose(fields.solid_fraction.sum() * volume, (4 / 3 * np.pi * s.radius**3).sum(), rtol=1e-12)
    end = np.where(s.b[:, None] >= 0, s.position[np.maximum(s.b, 0)], s.point)
    virial = np.einsum("ci,cj->ij", s.force, end - s.position[s.a])
    assert_allclose(fields.contact_stress.sum(axis=(0, 1, 2)) * volume, virial, atol=1e-12 * np.abs(virial).max())


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("axes", ["xyz", "xz", "y"])
def test_width_is_the_standard_deviation(kernel, axes):
    """Of the density of one grain, along each axis. The Gaussian lacks what it has beyond 4 w: 1.1e-3 of its variance."""
    s = Snapshot.build(SCENE, GrainRows(position=[[0.03, 0.02, 0.01]], radius=D / 2))
    half = 6 * D * np.ones(3)
    counts = tuple(60 if axis in axes else 1 for axis in "xyz")
    fields = coarse_grain(s, FieldGrid(s.position[0] - half, s.position[0] + half, counts), width=D, kernel=kernel)
    share = fields.density * fields.grid.cell_volume / s.mass.sum()
    for k, name in enumerate("xyz"):
        if name in axes:
            along = share.sum(axis=tuple({0, 1, 2} - {k}))
            x = fields.grid.centres[k] - s.position[0, k]
            assert_allclose((along * x**2).sum(), D**2, rtol=2e-3)


@pytest.mark.parametrize("kernel", KERNELS)
def test_uniform_flow(kernel):
    """Every average of equal velocities is that velocity, also at the edges; nothing shears and nothing fluctuates."""
    flow = np.array([0.3, -2.0, 0.7])
    s = lattice(6, lambda x: flow + 0 * x)
    fields = coarse_grain(s, FieldGrid.around(s, D), width=D, kernel=kernel)
    assert_allclose(fields.velocity, np.broadcast_to(flow, fields.velocity.shape), rtol=1e-13)
    assert_allclose(fields.velocity_gradient, 0, atol=1e-12 / D)
    assert_allclose(fields.kinetic_stress, 0, atol=1e-12 * RHO)


@pytest.mark.parametrize("kernel, axes, width", [("gaussian", "xyz", D), ("gaussian", "xz", D), ("lucy", "xyz", 1.5 * D)])
def test_linear_flow_has_its_strain_rate(kernel, axes, width):
    """v = L x on a lattice. What is left: the Gaussian's cut, 4 exp(-8) = 1e-3, and what Lucy's kernel sees of the lattice.

    Its third derivative jumps where it ends, so that falls fast with w / d: 1 % at w = d, below 1e-3 from 1.5 d on.
    """
    gradient = np.array([[1.0, 0.0, 5.0], [0.0, -1.0, 0.0], [0.0, 0.0, 0.0]])
    s = lattice(14, lambda x: x @ gradient.T)
    fields = coarse_grain(s, FieldGrid.around(s, D, axes, margin=6 * D), width=width, kernel=kernel)
    seen = gradient * [axis in axes for axis in "xyz"]
    here = inside(fields, (6 + 5.2) * D)
    found = fields.velocity_gradient[here]
    assert found.size >= 2 * 2 * 9
    assert_allclose(found, np.broadcast_to(seen, found.shape), atol=3e-3 * 5)
    strain = (seen + seen.T) / 2
    assert_allclose(fields.strain_rate[here], np.broadcast_to(strain, found.shape), atol=3e-3 * 5)
    assert_allclose(fields.shear_rate[here], np.sqrt((strain**2).sum()), rtol=3e-3)


@pytest.mark.parametrize("kernel", KERNELS)
def test_gradient_is_that_of_the_velocity_field(kernel):
    """Against central differences of the field itself, which are off by its third derivative times cell^2 / 6."""
    s = gas(400)
    error = []
    for n in (64, 128):
        fields = coarse_grain(s, FieldGrid(np.zeros(3), np.full(3, 20 * D), (n, 1, n)), width=2 * D, kernel=kernel)
        cell = fields.grid.cell
        differences = np.stack(np.gradient(fields.velocity[:, 0], cell[0], cell[2], axis=(0, 1)), axis=-1)
        here = inside(fields, 2 * D)
        found = fields.velocity_gradient[:, 0][..., [0, 2]]
        part = np.ix_(here[0].ravel(), here[2].ravel())
        error.append(np.abs(differences - found)[part].mean() / np.abs(found)[part].mean())
    assert error[1] < 0.02
    if kernel == "lucy":  # no jump where it ends
        assert error[0] / error[1] > 2.5


def test_stress_of_a_column_is_the_weight_above():
    """The balance of momentum of the fields is exact: sigma_zz(z) = (g / A) sum m_i Phi((z_i - z) / w), to the cut of the kernel.

    Force and branch are upright here; the floor takes its part below the first centre, where the branch to the wall ends.
    """
    n, width = 12, 1.5 * D
    mass = RHO * np.pi / 6 * D**3
    z = (np.arange(n) + 0.5) * D
    s = Snapshot.build(
        SCENE,
        GrainRows(position=np.column_stack([np.zeros(n), np.zeros(n), z]), radius=D / 2),
        ContactRows(a=np.arange(n), b=np.arange(n) - 1, normal=(0, 0, -1), normal_force=mass * G * np.arange(n, 0, -1)),
    )
    grid = FieldGrid(np.array([-D, -D, -10 * D]), np.array([D, D, 25 * D]), (1, 1, 140))
    z_cell = grid.centres[2]
    above = 0.5 * (1 + erf((z[None, :] - z_cell[:, None]) / (np.sqrt(2) * width))).sum(axis=1) * mass * G / (4 * D**2)
    free = z_cell > 4 * width  # of the force of the floor at z = 0
    found = coarse_grain(s, grid, width=width).stress[0, 0, :, 2, 2]
    assert_allclose(found[free], above[free], atol=1e-4 * above.max())

    lucy = coarse_grain(s, grid, width=width, kernel="lucy")
    cell = grid.cell[2]
    above = np.cumsum(lucy.density[0, 0, ::-1])[::-1] * cell * G - lucy.density[0, 0] * cell * G / 2
    found = lucy.stress[0, 0, :, 2, 2]
    assert_allclose(found[free], above[free], atol=(cell / width) ** 2 / 12 * above.max())


def test_line_integral_of_a_contact():
    """One contact, force F n, branch L n: closed form by error functions along the branch, Gaussian across."""
    n = np.array([1.0, 2.0, 2.0]) / 3
    x = np.array([[0.0, 0.0, 0.0], D * n])
    s = Snapshot.build(SCENE, GrainRows(position=x, radius=D / 2), ContactRows(a=[0], b=[1], normal=[n], normal_force=2.0))
    width = 0.6 * D
    grid = FieldGrid(np.full(3, -5 * D), np.full(3, 6 * D), (22, 22, 22))
    found = coarse_grain(s, grid, width=width).contact_stress
    at = np.stack(np.meshgrid(*grid.centres, indexing="ij"), axis=-1)
    along = at @ n
    across = (at**2).sum(axis=-1) - along**2
    phi = np.exp(-across / (2 * width**2)) / (2 * np.pi * width**2)
    scale = np.sqrt(2) * width
    line = phi * (erf(along / scale) - erf((along - D) / scale)) / (2 * D)
    # Cells of 0.83 w: their sum is the integral to exp(-2 pi^2 (w / cell)^2) = 7e-13; the rest is the cut at 4 w.
    assert_allclose(found, line[..., None, None] * 2.0 * D * np.outer(n, n), atol=2e-4 * 2.0 * D * line.max())


@pytest.mark.parametrize("kernel", KERNELS)
def test_kinetic_stress_is_galilean_invariant(kernel):
    """A common velocity of 100 times the fluctuations costs digits only."""
    s = gas()
    boosted = Snapshot.build(SCENE, GrainRows(position=s.position, radius=s.radius, velocity=s.velocity + np.array([100.0, -50.0, 20.0])))
    grid = FieldGrid.around(s, D, "xz")
    still, moving = (coarse_grain(t, grid, width=D, kernel=kernel).kinetic_stress for t in (s, boosted))
    assert_allclose(moving, still, atol=1e-11 * still.max())
    assert np.linalg.eigvalsh(still).min() > -1e-12 * still.max()
    whole = coarse_grain(s, FieldGrid(np.zeros(3), np.full(3, 20 * D), (1, 1, 1)), kernel=kernel)
    mean = s.mass @ s.velocity / s.mass.sum()
    expected = np.einsum("n,ni,nj->ij", s.mass, s.velocity - mean, s.velocity - mean) / (20 * D) ** 3
    assert_allclose(whole.kinetic_stress[0, 0, 0], expected, rtol=1e-12)


def test_pressure_and_inertial_number():
    """A lattice sheared at rate g under a pressure p that its contacts make: I = d (g / sqrt 2) sqrt(rho_p / p)."""
    rate, n, push = 3.0, 12, 0.5
    s = lattice(n, lambda x: np.column_stack([rate * x[:, 2], 0 * x[:, 0], 0 * x[:, 0]]))
    number = np.arange(n**3).reshape(n, n, n)
    a = np.concatenate([np.moveaxis(number, k, 0)[:-1].ravel() for k in range(3)])
    b = np.concatenate([np.moveaxis(number, k, 0)[1:].ravel() for k in range(3)])
    normal = np.repeat(np.eye(3), n * n * (n - 1), axis=0)
    s = Snapshot.build(
        SCENE, GrainRows(position=s.position, radius=D / 2, velocity=s.velocity), ContactRows(a=a, b=b, normal=normal, normal_force=push)
    )
    fields = coarse_grain(s, FieldGrid.around(s, D), width=D)
    here = inside(fields, 5 * D)
    assert_allclose(fields.contact_stress[here][..., 0, 0], push / D**2, rtol=1e-3)
    kinetic = fields.kinetic_stress[here]  # of the shear within a kernel: rho rate^2 w^2
    assert_allclose(kinetic[..., 0, 0], RHO * np.pi / 6 * (rate * D) ** 2, rtol=5e-3)
    p = (3 * push / D**2 + RHO * np.pi / 6 * (rate * D) ** 2) / 3
    assert_allclose(fields.pressure[here], p, rtol=1e-3)
    assert_allclose(fields.inertial_number[here], D * rate / np.sqrt(2) * np.sqrt(RHO / p), rtol=5e-3)
    assert_allclose(fields.solid_fraction[here], np.pi / 6, rtol=1e-3)


def test_average_of_snapshots():
    """Density and momentum are means; the velocity is their ratio; fluctuations are those about it."""
    s, t = gas(), gas()
    grid = FieldGrid(np.zeros(3), np.full(3, 20 * D), (20, 1, 20))
    one, two, both = coarse_grain(s, grid), coarse_grain(t, grid), coarse_grain([s, t], grid)
    assert both.count == 2
    assert_allclose(both.density, (one.density + two.density) / 2, rtol=1e-12)
    assert_allclose(both.contact_stress, (one.contact_stress + two.contact_stress) / 2, atol=1e-12 * np.abs(one.contact_stress).max())
    assert_allclose(both.velocity, (one.momentum + two.momentum) / (one.density + two.density)[..., None], rtol=1e-12)
    assert np.array_equal(both.density, coarse_grain([s, t], grid).density)


def test_what_is_outside_is_not_counted_and_empty_cells_have_no_velocity():
    s = Snapshot.build(SCENE, GrainRows(position=[[0, 0, 0], [1.0, 0, 0]], radius=D / 2))
    fields = coarse_grain(s, FieldGrid(np.full(3, -D), np.array([0.5, D, D]), (100, 2, 2)), width=D)
    assert fields.density.sum() * fields.grid.cell_volume == pytest.approx(s.mass[0], rel=1e-12)
    assert np.isnan(fields.velocity[-1]).all()
    assert fields.density[-1].max() == 0


@pytest.mark.parametrize(
    "wrong, words",
    [
        (lambda s: coarse_grain(s, width=-1.0), "width must be a finite number above 0"),
        (lambda s: coarse_grain(s, kernel="box"), "unknown kernel 'box'; choose one of: 'gaussian', 'lucy'"),
        (lambda s: coarse_grain(s, FieldGrid.around(s, 2 * D), width=D), "wider than the kernel"),
        (lambda s: coarse_grain(s, FieldGrid.around(s, D), width=np.nan), "width must be a finite number above 0"),
        (lambda s: FieldGrid.around(s, D, "xw"), "axes of a grid"),
        (lambda s: FieldGrid(np.zeros(3), np.ones(3), (0, 1, 1)), "counts of a grid"),
        (lambda s: FieldGrid(np.ones(3), np.zeros(3), (1, 1, 1)), "lower corner"),
        (lambda s: coarse_grain([]), "needs grains"),
    ],
)
def test_refusals(wrong, words):
    with pytest.raises(InputError, match=words):
        wrong(lattice(3))
