"""The energy of a scene's grains: closed forms of columns, finite differences, and the ends of runs."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from granum import Box, Cell, Cylinder, Grains, InputError, LinearContact, Material, Plane, RunError, Scene, make_scene, simulate
from granum.analysis.results import exact_column_overlaps
from granum.quasistatic.scene_energy import SceneEnergy
from granum.simulation.making import make_bodies
from granum.simulation.relax import relax_run
from granum.simulation.simulation import Simulation

SOFT = Material(name="soft", density=1000, youngs_modulus=1e6, friction=0.0)


@pytest.mark.parametrize("method", ["lbfgs", "fire"])
@pytest.mark.parametrize("law", ["hertz", "linear"])
def test_contacts_of_a_column_carry_the_weight_above(law, method):
    """At rest the overlap of contact j is that at which the law pushes with the weight of all grains above it."""
    scene = make_scene("column", {"count": 8})
    if law == "linear":
        scene = scene.changed(law=LinearContact(stiffness=2e4))
    found = relax_run(scene, method=method)
    assert found.report.converged
    order = np.argsort(found.position[found.contacts.a, 2] + found.bodies.radius[0] * found.contacts.normal[:, 2])  # from the plane up
    # What is left of the forces is 1e-8 of a grain's weight on each of 8 grains; overlaps follow with an exponent of 1 or 2/3.
    assert_allclose(found.contacts.overlap[order], exact_column_overlaps(scene), rtol=1e-7)
    weight = found.bodies.mass[0] * 9.81
    assert_allclose(found.normal_force[order] / weight, np.arange(8, 0, -1), atol=1e-7)


@pytest.mark.parametrize("law", ["hertz", "linear"])
def test_gradient_is_the_derivative_of_the_energy(law):
    """Central differences, of pairs of two materials, planes, a box, a cylinder and gravity; grains that never move have no gradient."""
    rng = np.random.default_rng(4)
    hard = Material(name="hard", density=3000, youngs_modulus=4e6)
    scene = Scene(
        materials=[SOFT, hard],
        law=LinearContact(stiffness=300.0) if law == "linear" else make_scene("column").law,
        walls=[
            Box(material="hard", lower=(-0.05, -0.05, 0.0), upper=(0.05, 0.05, 0.2), open=("+z",)),
            Cylinder(material="soft", centre=(0, 0, 0.1), axis=(0, 0, 1), radius=0.06, length=0.3),
            Plane(material="hard", point=(0, 0, 0.01), normal=(0.0, 0.6, 0.8)),
        ],
        grains=[
            Grains(
                material="soft", position=rng.uniform((-0.05, -0.05, 0), (0.05, 0.05, 0.09), (40, 3)), diameter=rng.uniform(0.015, 0.03, 40)
            ),
            Grains(material="hard", position=[[0, 0, 0.03]], diameter=0.03, static=True),
        ],
    )
    energy = SceneEnergy(scene, make_bodies(scene))
    x = energy.start
    g = np.empty_like(x)
    energy.evaluate(x, g)
    assert not g[40].any()
    assert len(energy.touching(x)[0].a) > 60
    small = 1e-7
    for _ in range(5):
        way = rng.standard_normal(x.shape)
        way[40] = 0.0
        rise = (energy.evaluate(x + small * way, np.empty_like(x)) - energy.evaluate(x - small * way, np.empty_like(x))) / (2 * small)
        # Contacts open and close within the step: second order fails for a few of them, by some (1e-7 / overlap)^2.
        assert_allclose(rise, float((g * way).sum()), rtol=1e-5)


def test_a_settled_box_without_friction_is_already_at_rest():
    """The nonsmooth run ends in the minimum that the energy has there: nothing moves by more than its last motion."""
    run = simulate(make_scene("box", {"count": 120, "friction": 0.0, "rolling_friction": 0.0}), duration=2.0)
    found = relax_run(run)
    assert found.report.converged
    assert found.moved < 0.05 * run.radius[0]
    # The top settles by overlaps of 1e-3 d that the unfinished solve leaves wrong by per cents.
    assert_allclose(found.position[:, 2].mean(), run.position[:, 2].mean(), rtol=1e-3)
    assert (found.normal_force >= 0).all()
    weight = float(found.bodies.mass.sum()) * 9.81
    floor = (found.contacts.b < 0) & (found.contacts.normal[:, 2] < -0.9)
    assert_allclose(float(found.normal_force[floor].sum()), weight, rtol=1e-6)  # frictionless walls carry nothing


def test_what_is_relaxed_stays_at_rest_in_a_run():
    """A relaxed scene is in balance in both steppers: grains keep their places to what the solver leaves."""
    start = simulate(make_scene("box", {"count": 30, "friction": 0.0, "rolling_friction": 0.0}), duration=1.0)
    scene = relax_run(start).scene
    for stepper in ("nonsmooth", "smooth"):
        run = Simulation(scene, start.settings) if stepper == "nonsmooth" else simulate(scene, stepper="smooth", duration=0.002)
        if stepper == "nonsmooth":
            run.run(0.05)
        before = np.concatenate([block.position for block in scene.grains])
        assert np.abs(run.position - before).max() < 1e-4 * 2 * run.radius[0]


def test_grains_in_a_cell_meet_across_its_faces():
    """Two grains pressed against each other through both faces of a cell share the room, and a floor carries them."""
    scene = Scene(
        materials=[SOFT],
        law=LinearContact(stiffness=1e3),
        cell=Cell(vectors=(0.0399, 0.2)),
        walls=[Plane(material="soft")],
        grains=[Grains(material="soft", position=[[0.001, 0.1, 0.01], [0.0185, 0.1, 0.01]], diameter=0.02)],
    )
    with pytest.raises(InputError, match=r"2\.5 of the largest diameter"):
        relax_run(scene)
    three = Grains(material="soft", position=[[0.001, 0.1, 0.01], [0.0195, 0.1, 0.01], [0.039, 0.1, 0.01]], diameter=0.02)
    scene = scene.changed(cell=Cell(vectors=(0.0596, 0.2)), grains=(three,))
    found = relax_run(scene)
    pairs = found.contacts.overlap[found.contacts.b >= 0]
    assert_allclose(pairs, [4e-4 / 3] * 3, rtol=1e-6)
    assert (found.wrapped_position[:, 0] >= 0).all()
    assert (found.wrapped_position[:, 0] < 0.0596).all()


def test_recording_and_simulation_relax_to_the_same_bits(tmp_path):
    from granum import Recorder, steps

    run = simulate(make_scene("box", {"count": 20}), duration=0.6, observers=(Recorder(tmp_path / "box.h5", steps(50)),))
    live, read = relax_run(run), relax_run(tmp_path / "box.h5")
    assert np.array_equal(live.position, read.position)
    assert live.report.iterations == read.report.iterations


def test_refusals_in_words():
    with pytest.raises(InputError, match="no grains"):
        relax_run(make_scene("pile"))
    with pytest.raises(InputError, match="unknown method"):
        relax_run(make_scene("column", {"count": 3}), method="newtonish")
    with pytest.raises(InputError, match="relax_run needs"):
        relax_run(3)


@pytest.mark.parametrize("method", ["lbfgs", "cg", "fire"])
def test_grains_in_the_air_come_down(method):
    """One grain, which spans no length of its own, and two that touch nothing at the start: floor and gravity find them."""
    floor = Plane(material="soft", point=(0, 0, 0), normal=(0, 0, 1))
    for position in ([[0.0, 0.0, 0.0]], [[0.0, 0.0, 0.05], [0.0, 0.0, 0.03]]):
        grains = Grains(material="soft", position=np.add(position, (0.0, 0.0, 0.01)), diameter=0.02)
        found = relax_run(Scene(materials=[SOFT], walls=[floor], grains=[grains]), method=method)
        assert found.report.converged
        weight = found.bodies.mass[0] * 9.81
        assert_allclose(np.sort(found.normal_force) / weight, np.arange(1, len(position) + 1), atol=1e-7)


def test_grains_that_fall_for_ever_are_told():
    with pytest.raises(RunError, match="nothing holds it"):
        relax_run(Scene(materials=[SOFT], grains=[Grains(material="soft", position=[[0.0, 0.0, 0.3]], diameter=0.02)]))
