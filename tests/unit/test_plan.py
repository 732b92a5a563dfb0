"""``granum plan``: keys, units, scenes, and refusals in words."""

from __future__ import annotations

import json

import numpy as np
import pytest

from granum.analysis.cost_model import SN_TABLE, estimate
from granum.analysis.run_plan import FEWER_SWEEPS, PARALLEL_PART
from granum.analysis.scene_size import size_of_scene
from granum.checks import InputError
from granum.contact import Material
from granum.nonsmooth.time_step import FREE_FALL
from granum.scene.file import load_scene
from granum.scene.grains import Grains, Lattice
from granum.scene.library import LIBRARY
from granum.scene.scene import Gravity, Scene
from granum.scene.shapes import Cylinder, Mesh, Plane
from granum.smooth import Smooth
from granum.smooth.time_step import automatic_step, check_step
from granum.talk import in_time
from granum.units import read_quantity, read_size
from tests.command_line import granum

KEYS = {
    "iterations",
    "time_step_nonsmooth",
    "time_step_smooth",
    "grains",
    "normal_velocity",
    "effort_nonsmooth",
    "effort_smooth",
    "ratio",
}
ROW_22 = ("--diameter", "10mm", "--young", "10GPa", "--width", "15", "--height", "100", "--inertial", "0.1", "--tolerance", "5%")
STEP_22 = (2 * FREE_FALL * 0.01 / 9.8) ** 0.5  # [s]: gravity decides, v_n = 2 cm/s does not


def plan(*arguments):
    result = granum("plan", *arguments)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def planned(*arguments):
    result = plan(*arguments, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


@pytest.mark.parametrize(
    "text, unit, value",
    [
        ("10mm", "m", 0.01),
        ("10 mm", "m", 0.01),
        ("0.01", "m", 0.01),
        ("1e-2m", "m", 0.01),
        ("3 µm", "m", 3e-6),
        ("10GPa", "Pa", 1e10),
        ("5e6", "Pa", 5e6),
        ("5e-5 s", "s", 5e-5),
        ("2500 kg/m3", "kg/m3", 2500),
        ("1 t/m³", "kg/m3", 1000),
        ("2.5 g/cm^3", "kg/m3", 2500),
        ("9.81 m/s2", "m/s2", 9.81),
        (".5 MPa", "Pa", 5e5),
    ],
)
def test_quantities_come_in_as_si(text, unit, value):
    assert read_quantity("x", text, unit) == pytest.approx(value, rel=1e-14)


def test_sizes_are_in_diameters_and_fractions_plain_or_in_per_cent():
    assert read_size("width", "15", 0.01) == read_size("width", "15 d", 0.01) == 15
    assert read_size("width", "15 cm", 0.01) == pytest.approx(15)
    assert read_quantity("tolerance", "5%", "-") == read_quantity("tolerance", "0.05", "-") == 0.05


@pytest.mark.parametrize("text", ["10 bananas", "10 kg", "mm", "", "nan", "inf", "1e400", "10 mm mm", "ten mm", "1,5 mm"])
def test_nonsense_lengths_are_refused_with_what_is_accepted(text):
    with pytest.raises(InputError, match="mm") as error:
        read_quantity("diameter", text, "m")
    assert "diameter" in str(error.value)
    assert repr(text) in str(error.value)


def test_a_unit_of_another_kind_is_named():
    with pytest.raises(InputError, match="is a mass, not a length"):
        read_quantity("diameter", "10 kg", "m")
    with pytest.raises(InputError, match="unknown unit 'bananas'"):
        read_size("width", "10 bananas", 0.01)


def test_table_has_33_rows_with_the_agreed_keys():
    rows = planned("--table")["rows"]
    assert len(rows) == 33
    for row, system in zip(rows, SN_TABLE, strict=True):
        assert set(row) >= KEYS | {"width", "height", "inertial", "tolerance", "young", "diameter"}
        assert row["iterations"] == estimate(system).iterations
    assert len(plan("--table").stdout.splitlines()) >= 36


def test_a_system_is_planned_as_in_the_table():
    found = planned(*ROW_22)
    row = planned("--table")["rows"][21]
    assert {key: found[key] for key in KEYS} == pytest.approx({key: row[key] for key in KEYS})
    best = found["recommended"]
    assert best["stepper"] == "nonsmooth"
    assert best["time_step"] == found["time_step"] == pytest.approx(STEP_22)  # granum's own; SN's, clamped for stiff grains, is 4 ms
    assert best["iterations"] == int(np.ceil(found["iterations"] / FEWER_SWEEPS["momentum + history"]))
    assert "per simulated second" in best["words"]
    assert "recommended: nonsmooth" in plan(*ROW_22).stdout


def test_soft_tall_and_exact_asks_for_smooth():
    """Row 13 of the table: smooth is 150 times faster."""
    row_13 = ("--diameter", "10mm", "--young", "10MPa", "--width", "1", "--height", "1000", "--tolerance", "1%")
    found = planned(*row_13)
    grain = Material(name="grain", youngs_modulus=1e7, density=2500, poisson_ratio=0.3)
    h = automatic_step(Scene(materials=(grain,), grains=(Grains(material="grain", position=[[0, 0, 0]], diameter=0.01),)), True)
    assert found["recommended"] == {
        "stepper": "smooth",
        "solver": "",
        "time_step": pytest.approx(h),
        "iterations": None,
        "threads": 1,
        "effort": pytest.approx(1e-6 * 1000 / h),
        "words": f"{in_time(1e-3 / h)} per simulated second",
    }
    assert found["time_step_smooth"] == pytest.approx(5.03e-5, rel=1e-3)  # the table keeps SN's step
    assert any("restitution 0.5" in note for note in found["notes"])
    shown = plan(*row_13).stdout
    assert "--stepper smooth" in shown
    assert "--time-step" not in shown


@pytest.mark.parametrize("name, values", [*((name, {}) for name in LIBRARY), ("drum", {"kind": "sawtooth"}), ("silo", {"outlet": 3})])
def test_the_smooth_stepper_takes_the_step_of_every_library_scene(name, values):
    ways = planned("--scene", name, *(part for key, value in values.items() for part in ("--set", f"{key}={value}")))["ways"]
    step = next(way["time_step"] for way in ways if way["stepper"] == "smooth")
    scene = load_scene(name, values)
    check_step(scene, True, step)
    assert step == Smooth().step_for(scene)


def test_a_material_of_its_own_gives_the_smooth_step_of_its_own():
    """h goes with d sqrt(rho / E); the scene's restitution and walls do not count then."""
    steps = [planned("--scene", "silo", "--young", young)["ways"][-1]["time_step"] for young in ("1MPa", "4MPa")]
    assert steps[0] == pytest.approx(2 * steps[1])


def test_ways_name_warm_start_momentum_and_threads():
    ways = planned(*ROW_22, "--threads", "4")["ways"]
    by_name = {(way["stepper"], way["solver"], way["threads"]): way["effort"] for way in ways}
    assert {("nonsmooth", name, 1) for name in ("plain", *FEWER_SWEEPS)} | {("smooth", "", 1)} <= set(by_name)
    assert by_name["nonsmooth", "momentum + history", 1] < by_name["nonsmooth", "history", 1] < by_name["nonsmooth", "plain", 1]
    for stepper, solver in (("nonsmooth", "momentum + history"), ("smooth", "")):
        part = PARALLEL_PART[stepper]
        assert by_name[stepper, solver, 1] / by_name[stepper, solver, 4] == pytest.approx(1 / (1 - part + part / 4))
    twice = planned(*ROW_22, "--contacts", "2")
    assert twice["effort_nonsmooth"] == pytest.approx(2 * planned(*ROW_22)["effort_nonsmooth"])
    assert twice["contacts"] == pytest.approx(2 * twice["grains"])


def test_machine_takes_what_is_measured(monkeypatch):
    from granum import bench

    about = {"grains": 10, "contacts": 20}
    fake = {
        "pgs": {"ns_per_contact_iteration": 20.0, "ns_per_contact_iteration_momentum": 25.0, **about},
        "step": {"milliseconds_per_step": 1e-2, "stage_share": {"solve": 0.6}, **about},
        "smooth": {"ns_per_grain_step": 200.0},
    }
    for name, result in fake.items():
        monkeypatch.setitem(bench.BENCHMARKS, name, lambda result=result, **kwargs: result)
    found = planned(*ROW_22, "--machine")
    paper = planned(*ROW_22)
    assert found["effort_smooth"] / paper["effort_smooth"] == pytest.approx(0.2)
    assert found["effort_nonsmooth"] / paper["effort_nonsmooth"] == pytest.approx(0.02 * 2)
    plain = found["ways"][0]  # ... and 4 us / 20 contacts = 200 ns for the rest of each step
    assert plain["effort"] == pytest.approx((20e-9 * plain["iterations"] + 200e-9) * found["contacts"] / STEP_22)
    assert found["costs"]["contacts_per_grain"] == 2
    column = planned(*ROW_22, "--width", "4.9", "--machine")  # ... which has one contact per grain, unlike a packing
    assert column["contacts"] == column["grains"]
    assert planned(*ROW_22, "--width", "4.9", "--machine", "--contacts", "3")["contacts"] == 3 * column["grains"]


def test_a_scene_gives_its_size_and_material(tmp_path):
    found = planned("--scene", "column", "--set", "count=40")
    assert (found["inputs"]["width"], found["inputs"]["height"], found["grains"]) == (1, pytest.approx(40), 40)
    assert (found["inputs"]["diameter"], found["inputs"]["young"], found["inputs"]["density"]) == (0.013, 6e6, 3700)
    assert any("extent" in note for note in found["notes"])
    box = planned("--scene", "box", "--young", "1GPa", "--height", "2 m")
    assert (box["inputs"]["young"], box["inputs"]["height"]) == (1e9, pytest.approx(2 / 0.013))
    (tmp_path / "empty.toml").write_text('materials = [{ name = "a" }]\n')
    nothing = plan("--scene", str(tmp_path / "empty.toml"))
    assert nothing.exit_code == 2
    assert "no grains" in nothing.stderr


@pytest.mark.parametrize("lying", [False, True])
def test_walls_bound_the_width_whichever_way_gravity_points(lying):
    """1000 grains of 10 mm between walls 0.2 m apart fill 1000 pi/6 d^3 / 0.6 = 873 d^3: 2.18 d over (20 d)^2, 2.78 d over a circle."""
    up = np.array([1.0, 0.0, 0.0] if lying else [0.0, 0.0, 1.0])
    side = np.array([0.0, 0.0, 1.0] if lying else [1.0, 0.0, 0.0])
    across = np.cross(up, side)
    steel, glass = Material(name="steel", youngs_modulus=2e11, density=7800), Material(name="glass", youngs_modulus=5e7)
    planes = [Plane(material="steel", point=tuple(-0.1 * n), normal=tuple(n)) for n in (side, -side, across, -across)]
    ring = [x * side + y * across for x, y in ((-0.1, -0.1), (0.1, -0.1), (0.1, 0.1), (-0.1, 0.1))]
    strip = [corners for k in range(4) for corners in ((k, (k + 1) % 4, k + 4), ((k + 1) % 4, (k + 1) % 4 + 4, k + 4))]
    mesh = Mesh(material="steel", vertices=[tuple(at + z * up) for z in (-1, 1) for at in ring], triangles=strip)
    cylinder = Cylinder(material="steel", axis=tuple(up), radius=0.1)
    grains = Lattice(material="glass", lower=(-0.1, -0.1, -0.1), upper=(0.1, 0.1, 0.1), count=1000, sizes=0.01)
    for walls, area in ((planes, 400), ([mesh], 400), ([cylinder], 100 * np.pi)):
        scene = Scene(materials=(steel, glass), gravity=Gravity(acceleration=tuple(-10 * up)), grains=(grains,), walls=tuple(walls))
        size = size_of_scene(scene)
        assert size.system.width == pytest.approx(20)
        assert size.system.height == pytest.approx(1000 * np.pi / 6 / 0.6 / area)
        assert (size.system.youngs_modulus, size.system.gravity, size.grains) == (5e7, 10, 1000)


@pytest.mark.parametrize("values", [{}, {"width": 5.2}, {"outlet": 3.0}])
def test_a_silo_is_as_wide_as_it_says(values):
    """20 sides around a circle of w d have an area of 20 tan(pi/20) w^2 d^2 / 4; the tray below the outlet is no container."""
    w = values.get("width", 6.0)
    size = size_of_scene(load_scene("silo", values)).system
    assert size.width == pytest.approx(w)
    assert size.height == pytest.approx(500 * np.pi / 6 / 0.6 / (5 * np.tan(np.pi / 20) * w**2))


def test_walls_stay_a_container_when_gravity_leans():
    upright, leaning = (size_of_scene(load_scene("box", {"tilt": tilt})).system for tilt in (0, 25))
    assert (leaning.width, leaning.height) == pytest.approx((upright.width, upright.height))


@pytest.mark.parametrize("kind", ["smooth", "sawtooth"])
def test_a_drum_is_said_to_turn(kind):
    told = "'drum' turns, so the grains flow: give --inertial (0.1 in dense flow)"
    drum = ("--scene", "drum", "--set", f"kind={kind}", "--set", "width=20", "--set", "count=300")
    assert told in planned(*drum)["notes"]
    assert told not in planned(*drum, "--inertial", "0.1")["notes"]
    assert planned(*drum)["inputs"]["width"] < 20 * 1.3 + 1  # of the smallest grains, 10 mm and 13 mm in a smooth one


def test_an_endless_emitter_is_counted_to_the_end_of_the_run():
    scene = load_scene("pile")
    endless = scene.emitters[0].model_copy(update={"count": None, "rate": 100.0})
    assert size_of_scene(scene.model_copy(update={"emitters": (endless,)}), 2.0).grains == 201
    static = Grains(material="pellet", position=[[0, 0, 0]], diameter=0.01, static=True)
    assert size_of_scene(scene.model_copy(update={"emitters": (), "grains": (static,)})) is None


@pytest.mark.parametrize(
    "arguments, words",
    [
        ((), ("--diameter", "--scene")),
        (("--diameter", "10mm", "--young", "10GPa", "--width", "15"), ("--height",)),
        (("--diameter", "10 bananas", *ROW_22[2:]), ("bananas", "mm")),
        ((*ROW_22, "--density", "10 kg"), ("density", "mass", "kg/m3")),
        ((*ROW_22, "--tolerance", "0"), ("tolerance", "above 0")),
        ((*ROW_22, "--tolerance", "120%"), ("tolerance", "below 1")),
        ((*ROW_22, "--inertial", "-1"), ("inertial", "0 or more")),
        ((*ROW_22, "--poisson", "0.5"), ("poisson", "0.5")),
        ((*ROW_22, "--poisson", "-0.1"), ("poisson", "0 or more")),
        ((*ROW_22, "--height", "1mm"), ("height", "1 diameter")),
        ((*ROW_22, "--contacts", "0"), ("contacts", "above 0")),
        ((*ROW_22, "--set", "count=3"), ("--scene",)),
        (("--table", "--diameter", "1mm"), ("--table", "--diameter")),
        (("--table", "--machine", "--contacts", "2"), ("--table", "--machine, --contacts")),
        (("--table", "--threads", "1", "--set", "count=3"), ("--table", "--set, --threads")),
        (("--scene", "colum"), ("'column'",)),
    ],
)
def test_bad_input_is_refused_in_words(arguments, words):
    result = plan(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    for word in words:
        assert word in result.stderr


def test_times_are_said_in_words():
    assert [in_time(t) for t in (8280, 0.5, 2.0, 100, 1e6, 1e10)] == ["2.3 h", "500 ms", "2 s", "1.7 min", "12 days", "317 years"]


def test_the_command_names_the_scene_as_it_was_typed():
    said = plan("--scene", "column", "--set", "count=7").stdout
    assert "granum run column --set count=7 --stepper" in said
    assert "granum run SCENE" in plan(*ROW_22).stdout
