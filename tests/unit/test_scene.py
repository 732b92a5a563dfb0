"""Bad input at the Python API meets words at the door, and runs that go wrong stop with words or warn."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from granum.checks import InputError, RunError
from granum.contact import HertzContact, LinearContact, Material, MaterialPair
from granum.scene import Body, Box, Cylinder, Discrete, Emitter, Grains, Gravity, Lattice, LogNormal, Mesh, Plane, Scene, Uniform
from granum.scene.emitter import BoxSource, Disc
from granum.scene.library import make_scene
from granum.simulation import Simulation, make_settings, simulate
from tests.reference.scenes import FREE, D, G, make

NAN, INF = float("nan"), float("inf")
BAD_POSITIVE = [-1.0, 0.0, NAN, INF, -INF]


def refused(build, *words):
    """The call is refused with a ValueError (InputError and pydantic's are) whose message has all the words."""
    with pytest.raises(ValueError) as caught:
        build()
    for word in words:
        assert str(word) in str(caught.value), f"{word!r} not in: {caught.value}"
    return str(caught.value)


@pytest.mark.parametrize("value", BAD_POSITIVE)
@pytest.mark.parametrize("field", ["density", "youngs_modulus"])
def test_material_numbers_must_be_positive(field, value):
    refused(lambda: Material(name="m", **{field: value}), field)


@pytest.mark.parametrize(
    "field, value",
    [
        ("restitution", -0.1),
        ("restitution", 1.1),
        ("restitution", NAN),
        ("friction", -0.1),
        ("friction", NAN),
        ("friction", INF),
        ("rolling_friction", -1),
        ("poisson_ratio", 0.5),
        ("poisson_ratio", -0.1),
        ("poisson_ratio", NAN),
    ],
)
def test_material_numbers_out_of_range(field, value):
    refused(lambda: Material(name="m", **{field: value}), field)
    if field in ("restitution", "friction", "rolling_friction"):
        refused(lambda: MaterialPair(materials=("m", "m"), **{field: value}), field)


def test_unknown_keys_are_named():
    refused(lambda: Material(name="m", densty=3), "densty")
    refused(lambda: make_settings({"time_stepp": 0.1}), "time_stepp", "not a known key")
    refused(lambda: make_settings({"stepper": {"solver": {"iteration": 5}}}), "iteration")
    refused(lambda: make_settings({"stepper": {"solver": {"name": "gauss"}}}), "gauss")
    refused(lambda: make_settings({"stepper": {"warm_start": {"name": "hot"}}}), "hot")
    refused(lambda: make_scene("colum"), "colum", "column")
    refused(lambda: make_scene("column", {"cout": 3}), "cout", "count")


@pytest.mark.parametrize("value", BAD_POSITIVE)
def test_sizes_must_be_positive(value):
    refused(lambda: Grains(material="m", position=[[0, 0, 0]], diameter=value), "diameter")
    refused(lambda: Grains(material="m", position=[[0, 0, 0], [1, 0, 0]], diameter=[D, value]), "diameter")
    refused(lambda: Discrete(diameters=(D, value)), "diameters")
    refused(lambda: Uniform(lower=value, upper=D), "lower")
    refused(lambda: LogNormal(median=value, sigma=0.1, lower=D / 2, upper=D), "median")
    refused(lambda: Cylinder(material="m", radius=value), "radius")
    refused(lambda: LinearContact(stiffness=value), "stiffness")
    refused(lambda: make_scene("column", {"diameter": value}), "diameter")
    refused(lambda: make_scene("box", {"diameter": value}), "diameter")


@pytest.mark.parametrize("value", [*BAD_POSITIVE, "fast"])
def test_time_step_must_be_positive(value):
    refused(lambda: make_settings({"time_step": value}), "time_step", repr(value).strip("'"))
    refused(lambda: make_settings({"duration": value}), "duration")
    refused(lambda: simulate("column", duration=0.01, time_step=value), "time_step")


@pytest.mark.parametrize("value", [NAN, INF, 0.0, -1.0])
def test_run_needs_a_duration(value):
    sim = make((0, 0, 1))
    refused(lambda: sim.run(value), "duration")


def test_positions_must_be_finite_and_of_one_shape():
    refused(lambda: Grains(material="m", position=[[0, 0, NAN]], diameter=D), "position", "finite")
    refused(lambda: Grains(material="m", position=[[0, 0]], diameter=D), "position", "shape")
    refused(lambda: Grains(material="m", position=[[0, 0, 0]], diameter=[D, D]), "diameter")
    refused(lambda: Grains(material="m", position=[[0, 0, 0]], diameter=D, velocity=[[0, 0, 0], [1, 0, 0]]), "velocity")
    refused(lambda: HertzContact(dissipation=-1), "dissipation")
    refused(lambda: Plane(material="m", normal=(0, 0, 0)), "normal")
    refused(lambda: Plane(material="m", normal=(NAN, 0, 1)), "normal")
    refused(lambda: Box(material="m", lower=(0, 0, 0), upper=(1, 1, 0)), "lower", "upper")
    refused(lambda: Uniform(lower=2.0, upper=1.0), "lower", "upper")
    refused(lambda: Discrete(diameters=()), "diameters")
    refused(lambda: Discrete(diameters=(1.0, 2.0), fractions=(1.0,)), "fractions")
    refused(lambda: Body(name="b", kind="dynamic"), "mass", "inertia")
    refused(lambda: Body(name="b", kind="dynamic", mass=-1, inertia=(1, 1, 1)), "mass")
    refused(lambda: Emitter(material="m", sizes=D, source=Disc(centre=(0, 0, 0), diameter=1)), "rate", "count")


def test_unknown_materials_are_named():
    grains = [Grains(material="glas", position=[[0, 0, 0]], diameter=D)]
    glass = [Material(name="glass")]
    refused(lambda: Scene(materials=glass, grains=grains), "glas", "glass")
    refused(lambda: Scene(materials=glass, walls=[Plane(material="steel")]), "steel", "glass")
    refused(lambda: Scene(materials=glass, pairs=[MaterialPair(materials=("glass", "ice"))]), "ice")
    refused(lambda: Scene(materials=[*glass, *glass]), "differ")
    refused(lambda: Scene(materials=[]), "materials")


def test_overlapping_grains_name_the_worst_pair():
    position = [(0, 0, D), (0.9 * D, 0, D), (0.9 * D, 0.6 * D, D), (3 * D, 0, D)]
    text = refused(lambda: make(position), "2 contact(s)", "relax")
    assert "grain 1 with grain 2" in text or "grain 2 with grain 1" in text
    assert "40%" in text
    refused(lambda: make((0, 0, 0.3 * D), walls=True), "grain 0 with wall 0", "20%")


def test_relax_pushes_grains_apart():
    position = [(0, 0, D), (0.9 * D, 0, D), (0.9 * D, 0.6 * D, D), (3 * D, 0, D)]
    sim = make(position, settings={"relax": True})
    gap = np.linalg.norm(sim.position[:, None] - sim.position, axis=2)[np.triu_indices(4, 1)]
    assert gap.min() > 0.98 * D
    np.testing.assert_allclose(sim.position[3], position[3], atol=1e-9 * D)  # who did not overlap stays
    middle = np.mean(position[:3], axis=0)
    np.testing.assert_allclose(sim.position[:3].mean(axis=0), middle, atol=1e-9 * D)  # equal masses: it stays


def test_relax_says_so_when_there_is_no_room():
    cage = [Box(material="m", lower=(0, 0, 0), upper=(D, D, D))]
    refused(lambda: make([(D / 2, D / 2, 0.4 * D), (D / 2, D / 2, 0.6 * D)], walls=cage, settings={"relax": True}), "more room")


def test_lattice_that_does_not_fit():
    block = Lattice(material="m", lower=(0, 0, 0), upper=(0.1, 0.1, 0.1), count=10**6, sizes=D)
    refused(lambda: Simulation(Scene(materials=[Material(name="m")], grains=[block])), "does not fit", "1000000")


def test_no_grains_one_grain_all_static():
    refused(lambda: make(np.zeros((0, 3))), "no grains")
    sim = make((0, 0, D), walls=True, gravity=(0, 0, -G))
    sim.run(0.5)
    assert sim.contacts.contact_count == 1
    still = Scene(
        materials=[Material(name="m")],
        grains=[Grains(material="m", position=[[0, 0, 0], [0.9 * D, 0, 0]], diameter=D, static=True)],
        walls=[Plane(material="m")],
    )
    sim = Simulation(still, make_settings({"time_step": 0.005}))
    before = sim.position.copy()
    sim.run(0.1)
    np.testing.assert_array_equal(sim.position, before)
    assert sim.contacts.contact_count == 0
    assert sim.report.kinetic_energy == 0


def test_time_step_cannot_be_derived_without_gravity():
    refused(lambda: make((0, 0, 1), h=None), "time_step")


TETRAHEDRON = {"vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]], "triangles": [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]]}


def test_meshes(tmp_path):
    Mesh(material="m", **TETRAHEDRON)
    refused(lambda: Mesh(material="m"), "empty")
    refused(lambda: Mesh(material="m", vertices=TETRAHEDRON["vertices"], triangles=np.zeros((0, 3), int)), "empty")
    refused(lambda: Mesh(material="m", vertices=TETRAHEDRON["vertices"], triangles=[[0, 1, 7]]), "vertex 7")
    refused(lambda: Mesh(material="m", vertices=TETRAHEDRON["vertices"], triangles=[[0, 1, 1]]), "degenerate")
    refused(lambda: Mesh(material="m", vertices=[[0, 0, 0], [1, 0, 0], [2, 0, 0]], triangles=[[0, 1, 2]]), "degenerate")
    refused(lambda: Mesh(material="m", vertices=[[0, 0, NAN], [1, 0, 0], [0, 1, 0]], triangles=[[0, 1, 2]]), "finite")
    refused(lambda: Mesh(material="m", file=str(tmp_path / "none.stl")), "none.stl", "does not exist")
    broken = tmp_path / "broken.obj"
    broken.write_text("this is no mesh\n")
    refused(lambda: Mesh(material="m", file=str(broken)), "broken.obj")


# guards: each stops a run with the grain and the time, or warns once


def falling(**guards):
    """Ten grains apart from each other above a plane."""
    position = [(2 * D * k, 0, 3 * D + 2 * D * (k % 3)) for k in range(10)]
    return make(position, walls=True, gravity=(0, 0, -G), guards=guards, friction=0.3)


@pytest.mark.parametrize("value", [NAN, INF])
def test_state_that_is_not_finite_stops(value):
    sim = falling()
    sim.run(0.02)
    sim.velocity[7, 1] = value
    with pytest.raises(RunError, match=r"t = 0\.025 s.*grain 7") as caught:
        sim.run(0.1)
    assert "checkpoint" in str(caught.value)


def test_grain_that_leaves_the_world_stops():
    sim = falling()
    sim.step()
    sim.position[4] = (0, 500.0, 0.1)
    with pytest.raises(RunError, match=r"t = 0\.01 s.*grain 4 left the world"):
        sim.step()
    sim = make((0, 0, 0.1), world=((-1, -1, 0), (1, 1, 1)), velocity=(0, 0, -5))
    with pytest.raises(RunError, match=r"grain 0 left the world"):
        sim.run(1.0)


def test_overlap_beyond_the_limit_stops():
    sim = falling(overlap=0.3, on_energy="off")
    sim.step()
    sim.position[3] = sim.position[6] + (0.4 * D, 0, 0)
    with pytest.raises(RunError, match=r"t = 0\.01 s.*grain (3 with grain 6|6 with grain 3).*0\.60 d"):
        sim.step()


def test_grain_that_goes_through_a_wall_stops():
    mesh = Mesh(material="m", vertices=[[-1, -1, 0], [1, -1, 0], [0, 2, 0.0]], triangles=[[0, 1, 2]])
    sim = make((0, 0, 0.4 * D + 1e-3), walls=[mesh], guards={"on_overlap": "off", "on_energy": "off"})
    sim.step()
    assert sim.contacts.contact_count == 1
    sim.position[0, 2] = -0.3 * D
    with pytest.raises(RunError, match=r"grain 0 went through wall 0"):
        sim.step()


def test_energy_from_nothing_stops():
    sim = falling()
    sim.run(0.06)
    sim.velocity[:] *= 3
    with pytest.raises(RunError, match=r"t = 0\.065 s.*energy came from nothing"):
        sim.run(0.1)


def test_sound_runs_do_not_alarm():
    """A settling box and a bouncing grain of e = 1 create no energy."""
    simulate(make_scene("box", {"count": 60}), duration=0.6)
    make((0, 0, 5 * D), walls=True, gravity=(0, 0, -G), restitution=1.0, h=0.001).run(1.0)


SPOILERS = {
    "on_lost": lambda sim: sim.position.__setitem__(4, (0, 500.0, 0.1)),
    "on_overlap": lambda sim: sim.position.__setitem__(3, sim.position[6] + (0.4 * D, 0, 0)),
    "on_energy": lambda sim: sim.velocity.__imul__(3),
}


@pytest.mark.parametrize("guard", SPOILERS)
def test_guards_may_warn_or_be_off(guard):
    sound = {**FREE, "overlap": 0.3}
    sim = falling(**{**sound, guard: "warn"})
    sim.run(0.06)
    SPOILERS[guard](sim)
    with pytest.warns(RuntimeWarning, match=r"t = 0\.065 s") as caught:
        sim.run(0.02)
    assert len([w for w in caught if issubclass(w.category, RuntimeWarning)]) == 1  # said once
    sim = falling(**sound)
    sim.run(0.06)
    SPOILERS[guard](sim)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim.run(0.02)


def test_bad_emitter_source_is_refused():
    refused(lambda: Emitter(material="m", sizes=D, rate=0.0, source=BoxSource(lower=(0, 0, 0), upper=(1, 1, 1))), "rate")
    refused(lambda: Emitter(material="m", sizes=D, count=0, source=BoxSource(lower=(0, 0, 0), upper=(1, 1, 1))), "count")
    refused(lambda: BoxSource(lower=(0, 0, 0), upper=(-1, 1, 1)), "lower")


def test_refusals_from_settings_are_input_errors():
    """The command line turns InputError into exit code 2."""
    with pytest.raises(InputError):
        make_settings({"time_step": -1})
    with pytest.raises(InputError):
        make_scene("nothing")


def test_a_changed_copy_works_out_anew_what_follows_from_its_fields():
    gravity = Gravity(acceleration=(0, 0, -9.81))
    assert gravity.at(0.0)[2] == -9.81
    assert gravity.model_copy(update={"acceleration": (1.0, 0.0, 0.0)}).at(0.0).tolist() == [1.0, 0.0, 0.0]
