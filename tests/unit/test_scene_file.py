"""Scenes from names, TOML and Python files; every refusal names the field, the rule and the value."""

from __future__ import annotations

import pytest

from granum import PGS, Material, Nonsmooth, make_scene
from granum.checks import InputError
from granum.scene import Lattice, Mesh, Scene
from granum.scene.file import load_scene, read_value
from granum.simulation import Settings, Simulation, make_settings

TOML = """
name = "two"
materials = [{ name = "glass", density = 2500, friction = 0.4 }]

[run]
time_step = 0.002
duration = 0.1
stepper.solver.iterations = 20

[[grains]]
material = "glass"
position = [[0, 0, 0.01], [0, 0, 0.03]]
diameter = 0.02

[[walls]]
shape = "plane"
material = "glass"
"""


@pytest.fixture
def write(tmp_path):
    def write(text, name="two.toml"):
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return write


def build(spec, values=None, **more):
    scene = load_scene(spec, values or {}, **more)
    return Simulation(scene, make_settings(scene.run))


def refusal(*arguments, **more):
    with pytest.raises(InputError) as caught:
        build(*arguments, **more)
    return str(caught.value)


def test_toml_scene_with_run_table(write):
    scene = load_scene(write(TOML))
    assert scene.name == "two"
    settings = make_settings(scene.run)
    assert (settings.time_step, settings.stepper.solver.iterations, settings.stepper.warm_start.name) == (0.002, 20, "history")
    assert Simulation(scene, settings).grain_count == 2


def test_name_defaults_to_the_file(write):
    assert load_scene(write(TOML.replace('name = "two"\n', "", 1), "heap.toml")).name == "heap"


def test_library_parameters_are_read_as_their_type():
    scene = load_scene("column", {"count": "7", "diameter": "0.02"})
    assert (scene.parameters.count, scene.parameters.diameter) == (7, 0.02)


@pytest.mark.parametrize("spec", ["column", "toml"])
def test_dotted_values_reach_into_any_scene(write, spec):
    spec = write(TOML) if spec == "toml" else spec
    scene = load_scene(spec, {"materials.0.friction": "0.3", "run.time_step": "1e-3", "gravity.acceleration": "[0, 0, -1.6]"})
    assert scene.materials[0].friction == 0.3
    assert scene.run.time_step == 1e-3
    assert scene.gravity.acceleration == (0, 0, -1.6)


def test_list_entries_by_name(write):
    assert load_scene(write(TOML), {"materials.glass.density": "7000"}).materials[0].density == 7000


@pytest.mark.parametrize(
    "key, words",
    [
        ("materials.3.friction", "has 1 entries"),
        ("materials.steel.friction", "names ['glass']"),
        ("name.x", "not a table"),
        ("run.time_stepp", "time_stepp: is not a known key"),
        ("gravityy.ramp", "gravityy: is not a known key"),
    ],
)
def test_unknown_places_are_refused(write, key, words):
    assert words in refusal(write(TOML), {key: "1"})


def test_values_are_read_like_toml():
    assert [read_value(t) for t in ("1", "1e-3", "true", "[1, 2]", "glass", '"1"')] == [1, 1e-3, True, [1, 2], "glass", "1"]


def test_seed_reaches_lattices_and_emitters():
    box, pile = load_scene("box", {"count": "10"}, seed=5), load_scene("pile", {"count": "10"}, seed=5)
    assert isinstance(box.grains[0], Lattice)
    assert box.grains[0].seed == 5
    assert pile.emitters[0].seed == 5
    assert "seed must be 0 or more (got -1)" in refusal("column", seed=-1)


def test_python_file_with_a_scene_or_a_function(write):
    text = "import granum\ndef make_scene(count=3, seed=0):\n    return granum.make_scene('box', {'count': count, 'seed': seed})\n"
    path = write(text, "boxes.py")
    scene = load_scene(path, {"count": "4"}, seed=2)
    assert (scene.parameters.count, scene.grains[0].seed) == (4, 2)
    assert "unknown parameter of make_scene" in refusal(path, {"cuont": "4"})
    assert "Did you mean 'count'?" in refusal(path, {"cuont": "4"})
    path = write("from granum import make_scene as make\nscene = make('column')\n", "one.py")
    assert load_scene(path).name == "column"
    assert "no parameter 'count' to set" in refusal(path, {"count": "4"})


def test_python_file_that_fails_says_where(write):
    message = refusal(write("x = 1\ny = x / 0\n", "bad.py"))
    assert "line 2" in message
    assert "ZeroDivisionError" in message
    assert "must define `scene`" in refusal(write("x = 1\n", "none.py"))


def test_scene_read_back_is_the_same():
    """A restart reads the scene from its own text: every bit must come back."""
    scene = Scene.model_validate(
        {
            "materials": [{"name": "m"}],
            "grains": [{"material": "m", "position": [[0.1, 0.2, 0.7]], "diameter": 0.1}],
            "walls": [
                {"shape": "plane", "material": "m", "normal": [0.1, 0.2, 0.7]},
                {"shape": "cylinder", "material": "m", "axis": [0.3, -0.2, 0.9], "radius": 3.0},
            ],
        }
    )
    text = scene.model_dump_json()
    assert Scene.model_validate_json(text).model_dump_json() == text


# Bad input. ------------------------------------------------------------------------------------------------


def test_unknown_scene_shows_the_names_and_the_nearest():
    message = refusal("piel")
    assert "unknown scene 'piel'" in message
    assert "'box', 'circuit', 'collapse', 'column', 'conveyor', 'drum', 'excavator', 'pile', 'shear-cell', 'silo', 'triaxial'" in message
    assert "Did you mean 'pile'?" in message


@pytest.mark.parametrize("spec", ["missing.toml", "missing.py"])
def test_missing_file(spec):
    assert f"scene file {spec!r} does not exist" in refusal(spec)


def test_broken_toml_says_where(write):
    assert "not valid TOML" in refusal(write("name = \n"))
    assert "line 1" in refusal(write("name = \n"))


@pytest.mark.parametrize(
    "old, new, words",
    [
        ("diameter = 0.02", "diameter = -0.02", ["grains.0", "diameter must be above 0", "-0.02"]),
        ("diameter = 0.02", "diameter = 0", ["diameter must be above 0"]),
        ("diameter = 0.02", "diameter = nan", ["diameter", "must be finite"]),
        ("diameter = 0.02", "diameter = inf", ["diameter", "must be finite"]),
        ("density = 2500", "density = 0", ["materials.0.density", "greater than 0", "got 0"]),
        ("density = 2500", "density = nan", ["materials.0.density", "finite", "got nan"]),
        ("density = 2500", "density = -1", ["materials.0.density", "greater than 0", "got -1"]),
        ("density = 2500", "restitution = 1.5", ["materials.0.restitution", "less than or equal to 1", "got 1.5"]),
        ("friction = 0.4", "friction = -0.4", ["materials.0.friction", "greater than or equal to 0", "got -0.4"]),
        ("time_step = 0.002", "time_step = -1", ["time_step", "greater than 0", "got -1"]),
        ("time_step = 0.002", "time_step = nan", ["time_step", "finite", "got nan"]),
        ("time_step = 0.002", "time_step = inf", ["time_step", "finite", "got inf"]),
        ("time_step = 0.002", "time_stepp = 0.002", ["time_stepp", "is not a known key"]),
        ("density = 2500", "densty = 2500", ["materials.0.densty", "is not a known key", "got 2500"]),
        ("stepper.solver.iterations", "stepper.solver.itterations", ["itterations", "is not a known key"]),
        ("iterations = 20", 'name = "gauss"', ["run.stepper.solver", "unknown solver 'gauss'", "'pgs'"]),
        ('material = "glass"\nposition', 'material = "glas"\nposition', ["unknown material 'glas'", "Did you mean 'glass'?"]),
        ('shape = "plane"', 'shape = "plan"', ["walls.0", "plan"]),
        ("[0, 0, 0.03]", "[0, 0, 0.02]", ["grain 0 with grain 1", "overlap", "relax"]),
        ("[0, 0, 0.01]", "[0, 0, -0.01]", ["wall 0", "overlap"]),
        ("position = [[0, 0, 0.01], [0, 0, 0.03]]", "position = []", ["no grains and no emitter"]),
    ],
)
def test_bad_values_are_named(write, old, new, words):
    assert old in TOML
    message = refusal(write(TOML.replace(old, new, 1)))
    for word in words:
        assert word in message


@pytest.mark.parametrize(
    "extra, words",
    [
        ('file = "no.stl"', "does not exist"),
        ("vertices = []\ntriangles = []", "is empty"),
        ("vertices = [[0,0,0],[1,0,0],[2,0,0]]\ntriangles = [[0,1,2]]", "degenerate"),
        ('file = "two.toml"', "could not be read"),
    ],
)
def test_bad_meshes_are_named(write, extra, words):
    if "file" in extra:
        pytest.importorskip("trimesh")
    assert words in refusal(write(TOML.replace('shape = "plane"', f'shape = "mesh"\n{extra}')))


def test_mesh_file_beside_the_scene(write, tmp_path):
    pytest.importorskip("trimesh")
    (tmp_path / "floor.obj").write_text("v -1 -1 0\nv 1 -1 0\nv 0 1 0\nf 1 2 3\n")
    wall = load_scene(write(TOML.replace('shape = "plane"', 'shape = "mesh"\nfile = "floor.obj"'))).walls[0]
    assert isinstance(wall, Mesh)
    assert len(wall.triangles) == 1


def test_relax_pushes_overlapping_grains_apart(write):
    path = write(TOML.replace("[0, 0, 0.03]", "[0, 0.001, 0.02]"))
    scene = load_scene(path, {"run.relax": "true"})
    assert Simulation(scene, make_settings(scene.run)).grain_count == 2


def test_one_grain_and_static_grains_run(write):
    one = TOML.replace("[[0, 0, 0.01], [0, 0, 0.03]]", "[[0, 0, 0.01]]")
    for text in (one, one.replace("diameter = 0.02", "diameter = 0.02\nstatic = true")):
        scene = load_scene(write(text))
        assert Simulation(scene, make_settings(scene.run)).run(0.02).grain_count == 1


# What is set where. ------------------------------------------------------------------------------------------


def test_what_the_caller_leaves_open_is_as_the_scene_asks(write):
    """Caller over scene over default, field by field."""
    scene = load_scene(write(TOML))
    sim = Simulation(scene, Settings(duration=3.0))
    assert (sim.time_step, sim.settings.duration, sim.settings.stepper.solver.iterations) == (0.002, 3.0, 20)
    assert Simulation(scene, time_step=1e-3).time_step == 1e-3
    assert Simulation(scene, Settings(time_step=1e-3), time_step=5e-4).time_step == 5e-4
    assert Simulation(scene, solver="direct").settings.stepper.solver.name == "direct"
    assert Simulation(scene, Settings(stepper=Nonsmooth(impact_velocity=1.0))).settings.stepper.solver.iterations == 20
    smooth = Simulation(scene, stepper="smooth")
    assert smooth.settings.stepper.name == "smooth"
    assert smooth.time_step < 1e-3  # the scene's step was meant for the other stepper


def test_settings_take_names_and_objects():
    assert Settings(solver=PGS(iterations=7)).stepper.solver.iterations == 7
    assert Settings(solver="multigrid").stepper.solver.name == "multigrid"
    assert Settings(stepper="smooth").stepper.name == "smooth"
    assert Settings(stepper={"solver": {"iterations": 7}}).stepper.solver == PGS(iterations=7)
    with pytest.raises(InputError, match="solver or stepper, not both"):
        Settings(solver="pgs", stepper="smooth")


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: Settings(time_stepp=1), "Settings is not valid:\n  time_stepp: is not a known key"),
        (lambda: Settings(time_step=-1), "time_step: must be greater than 0"),
        (lambda: Settings(solver="gauss"), "  solver: unknown solver 'gauss'; choose one of: 'direct', 'multigrid', 'pgs'"),
        (lambda: Material(name="x", youngs_module=3), "Material is not valid:\n  youngs_module: is not a known key"),
        (lambda: Material.model_validate({"name": "x", "density": -1}), "density: must be greater than 0"),
        (lambda: make_scene("box", cuont=3), "Did you mean 'count'?"),
        (lambda: make_scene("column").changed(run={"guards": {"overlap": 0}}), "run.guards.overlap: must be greater than 0"),
        (lambda: make_scene("column").changed(run={"stepper": {"damping": 1}}), "run.stepper.damping: is not a known key"),
        (lambda: make_scene("column").changed(results=["anlge"]), "results.0.measure: must be one of 'column', 'pile'"),
    ],
)
def test_python_is_refused_in_the_same_words(make, words):
    with pytest.raises(InputError) as told:
        make()
    assert words in str(told.value)


def test_library_scenes_take_keywords():
    assert make_scene("box", count=300).parameters.count == 300
    assert make_scene("box", {"count": "300"}, friction=0.5).materials[0].friction == 0.5


def test_a_scene_keeps_what_it_leaves_open(write):
    scene = load_scene(write(TOML))
    again = Scene.model_validate_json(scene.model_dump_json())
    assert again.run.given() == scene.run.given() == {"time_step": 0.002, "duration": 0.1, "stepper": {"solver": {"iterations": 20}}}
    drum = make_scene("drum", count=20, width=8, length=3)
    assert Scene.model_validate_json(drum.model_dump_json()).parameters == drum.parameters


def test_parameters_of_a_scene_that_is_not_known_here_are_kept():
    """A recording of somebody's own scene is read where that scene is not."""
    tree = make_scene("column", count=1).model_dump(mode="json") | {"parameters": {"scene": "mine", "teeth": 7}}
    scene = Scene.model_validate(tree)
    assert scene.parameters.teeth == 7
    assert Scene.model_validate_json(scene.model_dump_json()).parameters == scene.parameters
