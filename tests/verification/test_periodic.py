"""Runs in a cell: the same dynamics wherever its faces are, and momentum, bits and recordings that do not know of them."""

from __future__ import annotations

import copy
import hashlib

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from granum.analysis import Snapshot
from granum.analysis.force_network import ForceNetwork
from granum.io import Recording, read_checkpoint, write_checkpoint
from granum.observe import Recorder, steps
from granum.parallel import team
from granum.quasistatic.bridge import packing_scene
from granum.quasistatic.measure import measure
from granum.scene import Box, Plane
from granum.simulation import Simulation, make_settings
from tests.command_line import granum
from tests.reference.packings import at_rest
from tests.reference.periodic import STEPPERS, all_images, in_cell
from tests.reference.scenes import D, G, mass

L = 0.1  # [m]
GUARDED: dict[str, str] = {}


def digest(sim):
    """Of all bits that a run leaves behind."""
    c, state = sim.contacts, hashlib.sha256()
    for array in (sim.position, sim.velocity, sim.spin, sim.orientation, c.a, c.b, c.normal, c.overlap, c.impulse):
        state.update(np.ascontiguousarray(array).tobytes())
    return state.hexdigest()


def go(sim, count):
    for _ in range(count):
        sim.step()
    return sim


def gas(stepper, shift=(0.0, 0.0, 0.0), dim=3, count=60, **scene):
    """Grains of two sizes on a loose lattice with random velocities, all moved by ``shift`` [m]."""
    rng = np.random.default_rng(7)
    side = np.arange(5) * L / 5 + 0.01
    x = np.stack(np.meshgrid(side, side, side, indexing="ij"), axis=-1).reshape(-1, 3)
    x = x[rng.permutation(len(x))[:count]] + rng.uniform(-1, 1, (count, 3)) * 0.1 * D
    diameter = np.where(np.arange(count) % 2, D, 0.8 * D)
    return in_cell(
        x + shift,
        (L,) * dim,
        stepper=stepper,
        diameter=diameter,
        velocity=0.5 * rng.standard_normal((count, 3)),
        spin=10 * rng.standard_normal((count, 3)),
        **scene,
    )


def bed(stepper="nonsmooth", **run):
    """60 grains that fall on a floor in a cell that repeats along x and y."""
    rng = np.random.default_rng(1)
    side = np.arange(4) * 1.1 * D
    x = np.stack(np.meshgrid(side, side, np.arange(4) * 1.1 * D + 0.6 * D, indexing="ij"), axis=-1).reshape(-1, 3)[:60]
    x[:, :2] += rng.uniform(-0.04, 0.04, (len(x), 2)) * D
    return in_cell(
        x,
        (4.4 * D, 4.4 * D),
        stepper=stepper,
        diameter=D,
        gravity=(0, 0, -G),
        walls=True,
        guards=GUARDED,
        rolling_friction=0.1,
        restitution=0.2,
        run=run,
    )


@pytest.mark.parametrize("stepper", STEPPERS)
@pytest.mark.parametrize("where", [(0.0, 0.0, 0.0), (0.05, 0.001, 0.0), (0.0995, 0.03, 0.0), (-0.3, 0.07, 0.05)])
def test_collision_through_a_face_is_that_in_the_middle(stepper, where):
    """Two spinning grains meet obliquely; b starts a period or more away from a. Rounding of a position over an overlap: 1e-12."""
    x = np.array([(-0.55 * D, 0, 0), (0.55 * D, 0.4 * D, 0.3 * D)])
    v, spin = np.array([(0.6, 0.1, 0), (-0.4, 0, 0.2)]), np.array([(0, 5, 20), (-30, 0, 8)])

    def run(position, lengths):
        sim = in_cell(position, lengths, stepper=stepper, velocity=v, spin=spin)
        pushed = np.zeros(3)
        for _ in range(30 if stepper == "nonsmooth" else 300):
            sim.step()
            c = sim.contacts
            pushed += (c.impulse[:, :1] * c.normal + c.impulse[:, 1:4]).sum(axis=0) * np.where(c.a[:1] == 0, 1, -1) if len(c.a) else 0.0
        return sim.velocity.copy(), sim.spin.copy(), pushed

    free = run(x + 0.05, None)
    apart = x + where
    apart[1, 0] += 2 * L
    for one, other in zip(free, run(apart, (L, L, L)), strict=True):
        assert_allclose(other, one, rtol=1e-9, atol=1e-10)
    assert np.linalg.norm(free[0] - v) > 0.1


@pytest.mark.parametrize("stepper", STEPPERS)
@pytest.mark.parametrize("dim", [1, 3])
def test_gas_moved_by_any_vector_moves_alike(stepper, dim):
    """Some collisions of every grain; each makes differences by rounding some times larger."""
    shift = np.array([0.0437, -0.0271, 0.5113])
    one, other = gas(stepper, dim=dim), gas(stepper, shift, dim=dim)
    met = 0
    for _ in range(40 if stepper == "nonsmooth" else 400):
        one.step()
        other.step()
        met += one.report.contacts
    assert met > 10
    assert_allclose(other.position - shift, one.position, rtol=0, atol=1e-7 * D)
    assert_allclose(other.velocity, one.velocity, rtol=0, atol=1e-7)
    assert_allclose(other.spin, one.spin, rtol=0, atol=1e-5)


@pytest.mark.parametrize("stepper", STEPPERS)
def test_momentum_is_kept(stepper):
    """Nothing pushes but grains: the sum stays to the rounding of as many additions."""
    sim = gas(stepper)
    m = sim.bodies.mass[:, None]
    before, largest = (m * sim.velocity).sum(axis=0), np.abs(m * sim.velocity).sum()
    met = sum(sim.step().contacts for _ in range(100 if stepper == "nonsmooth" else 1000))
    assert met > 10
    assert_allclose((m * sim.velocity).sum(axis=0), before, rtol=0, atol=1e-13 * largest)


@pytest.mark.parametrize("stepper", STEPPERS)
def test_pressed_sheet_is_pushed_through_the_faces(stepper):
    """A hexagonal sheet under pressure in both directions of a cell goes on for twelve periods as it is: six neighbours at one distance."""
    a = 0.99 * D
    i, j = np.meshgrid(np.arange(6), np.arange(4), indexing="ij")
    lengths = np.array([6 * a, 4 * a * 3**0.5 / 2])
    x = np.stack([(i + 0.5 * (j % 2)) * a, j * a * 3**0.5 / 2, 0 * i], axis=-1).reshape(-1, 3)
    v = np.array([8.0, 3.0, 0.0])
    exact = {"stepper": {"solver": {"name": "direct"}}} if stepper == "nonsmooth" else {}
    sim = in_cell(x, lengths, stepper=stepper, velocity=np.broadcast_to(v, x.shape), run=exact)
    while sim.time < 12 * lengths[0] / v[0]:
        sim.step()
        assert sim.report.contacts == 3 * len(x)
    assert (sim.position[:, :2].mean(axis=0) - x[:, :2].mean(axis=0) > 3 * lengths).all()
    # The forces on a grain cancel to rounding, and the sheet is stable.
    assert_allclose(sim.velocity, np.broadcast_to(v, x.shape), rtol=0, atol=1e-9)
    assert_allclose(sim.contacts.overlap, D - a, rtol=1e-9)


@pytest.mark.parametrize("stepper", STEPPERS)
def test_grain_slides_on_the_floor_of_a_cell_as_on_an_endless_one(stepper):
    """A floor knows nothing of the faces: the same bits, and what gravity along the cell brings is no energy from nothing."""
    down = (G * np.sin(0.6), 0.0, -G * np.cos(0.6))
    runs = [
        in_cell((0.01, 0.02, D / 2), lengths, stepper=stepper, gravity=down, walls=True, guards=GUARDED, friction=0.2)
        for lengths in (None, (3 * D, 3 * D))
    ]
    for sim in runs:
        go(sim, 350 if stepper == "nonsmooth" else 3500)
    assert runs[0].position[0, 0] > 5 * 3 * D
    assert_array_equal(runs[1].position, runs[0].position)
    assert_array_equal(runs[1].velocity, runs[0].velocity)
    assert_array_equal(runs[1].spin, runs[0].spin)
    assert (runs[1].wrapped_position[0, :2] < 3 * D).all()


@pytest.mark.parametrize("stepper", STEPPERS)
def test_grain_meets_a_wall_that_it_comes_to_through_a_face(stepper):
    """It flies out at x = 0, in at x = L, and bounces off a box that stands there: at the same place as one that starts beyond it."""
    box = Box(material="m", lower=(0.02, 0, 0), upper=(0.06, 0.1, 0.1), side="outside")
    speed = -1.0
    runs = []
    for lengths, start in ((None, 0.1), ((L, L), 0.0)):
        sim = in_cell((start, 0.05, 0.05), lengths, stepper=stepper, velocity=(speed, 0, 0), walls=(box,), restitution=1.0)
        turned = None
        for _ in range(80 if stepper == "nonsmooth" else 800):
            sim.step()
            if turned is None and sim.velocity[0, 0] > 0:
                turned = sim.time
        runs.append((turned, sim.velocity[0, 0]))
    assert runs[0][0] is not None
    assert runs[0][0] == pytest.approx((0.1 - 0.06 - D / 2) / -speed, abs=0.005)
    assert_allclose(runs[1], runs[0], rtol=1e-9)


def test_floor_carries_the_weight_of_a_bed():
    """At rest the forces on the floor are the weight of all grains, whatever goes through the faces, and the pairs are all there."""
    sim = go(bed(), 900)
    c = sim.contacts
    weight = len(sim.radius) * mass() * G
    assert np.abs(sim.velocity).max() < 1e-3
    # one step changes the momentum by h times what is left over
    assert c.normal_force[c.b < 0].sum() == pytest.approx(weight, rel=1e-2)
    found = {(min(p), max(p)) for p in zip(c.a[c.b >= 0].tolist(), c.b[c.b >= 0].tolist(), strict=True)}
    x = sim.position - sim.time_step * sim.velocity  # where the contacts were found
    expected = all_images(x, sim.radius, np.array([4.4 * D, 4.4 * D]))
    assert {pair for pair, (depth, _) in expected.items() if depth > 1e-6 * D} <= found
    across = np.abs(x[c.b[c.b >= 0]] - x[c.a[c.b >= 0]])[:, :2].max(axis=1) > 2 * D
    assert across.sum() > 10


def test_same_bits_for_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(team, "LEAST", 1)
    runs = [digest(go(bed(threads=threads), 150)) for threads in (1, 2, 3)]
    assert runs[0] == runs[1] == runs[2]


@pytest.mark.parametrize("stepper", STEPPERS)
def test_restart_goes_on_with_the_same_bits(stepper, tmp_path):
    sim = go(bed(stepper), 120 if stepper == "nonsmooth" else 1100)
    write_checkpoint(tmp_path / "run.checkpoint.h5", copy.deepcopy(sim.checkpoint()))
    twin = Simulation.restore(sim.scene, sim.settings, read_checkpoint(tmp_path / "run.checkpoint.h5"))
    for one in (sim, twin):
        go(one, 60 if stepper == "nonsmooth" else 400)
    assert digest(twin) == digest(sim)
    assert sim.contacts.contact_count > 50


@pytest.mark.parametrize("stepper", STEPPERS)
def test_recording_shows_the_cell(stepper, tmp_path):
    """Frames lie in the cell, and lines from grain to grain are as long as two radii, also through a face."""
    x = np.array([(0.2 * D, 0.05, 0.05), (-0.79 * D, 0.05 + 3 * L, 0.05), (0.03, 0.07, 0.05)])
    sim = in_cell(x, (L, L), stepper=stepper, velocity=np.tile((-0.1, 0.0, 0.0), (3, 1)), run={"time_step": 1e-4})
    sim.observers.append(Recorder(tmp_path / "run.h5", steps(5)))
    sim.run_until(10)
    with Recording(tmp_path / "run.h5") as recording:
        assert recording.scene.cell is not None
        s = Snapshot.read(recording)
    assert_allclose(s.position, sim.wrapped_position)
    assert ((s.position[:, :2] >= 0) & (s.position[:, :2] <= L)).all()
    assert ((s.point[:, :2] >= 0) & (s.point[:, :2] <= L)).all()
    assert_array_equal(Snapshot.of(sim).position, s.position)
    assert_allclose(Snapshot.of(sim).point, s.point, atol=1e-15)
    network = ForceNetwork.of(s)
    assert len(network.a) == 1
    assert_allclose(np.linalg.norm(network.branch, axis=1), D, rtol=0.02)
    assert np.abs(s.position[s.b[0], 0] - s.position[s.a[0], 0]) > L / 2
    shown = granum("info", str(tmp_path / "run.h5"))
    assert "0.1 x 0.1 m, repeats along x and y" in shown.stdout


def test_plane_normal_along_an_open_axis_of_a_column_cell():
    """A cell that repeats along x alone between two walls across y: the grain bounces between them."""
    walls = (Plane(material="m", normal=(0, 1, 0)), Plane(material="m", point=(0, 4 * D, 0), normal=(0, -1, 0)))
    sim = go(in_cell((0.01, 2 * D, 0), (L,), velocity=(2.0, 0.4, 0.0), walls=walls, restitution=1.0, friction=0.0), 400)
    assert sim.position[0, 0] == pytest.approx(0.01 + 2.0 * sim.time, rel=1e-12)
    assert 0.4 * D < sim.position[0, 1] < 3.6 * D
    assert abs(sim.velocity[0, 1]) == pytest.approx(0.4, rel=1e-6)


@pytest.mark.parametrize("count, phi, dim", [(100, 0.67, 3), (100, 0.86, 2)])
def test_packing_at_rest_stays_at_rest_in_time(count, phi, dim):
    """Both steppers take over a minimum of the energy: forces in balance to 1e-12, the same pressure (force times branch over d V)."""
    packing = at_rest(count, phi, dim, 2.0)
    scene = packing_scene(packing)
    for run in ({"stepper": {"name": "smooth"}}, {"stepper": {"solver": {"name": "direct"}}}):
        sim = Simulation(scene, make_settings(scene.run, run))
        start = sim.position.copy()
        go(sim, 30)
        c = sim.contacts
        pressure = (c.normal_force * (sim.radius[c.a] + sim.radius[c.b] - c.overlap)).sum() / dim / packing.cell.volume
        assert pressure == pytest.approx(measure(packing).pressure, rel=1e-9)
        assert_allclose(sim.position, start, rtol=0, atol=1e-9 * packing.diameter)
