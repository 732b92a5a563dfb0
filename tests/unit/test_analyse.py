"""``granum analyse``: numbers of real runs, frames that can be chosen, and refusals in words."""

from __future__ import annotations

import json

import numpy as np
import pytest

from granum.analysis import Snapshot, loads
from granum.analysis.metrics import METRICS, measure_recording
from granum.contact import Material
from granum.io import Recording
from granum.observe.recorder import Recorder
from granum.observe.trigger import steps
from granum.scene.bodies import Body, Motion
from granum.scene.grains import Grains, Lattice
from granum.scene.scene import Scene
from granum.scene.shapes import Box, Cylinder, Plane
from granum.scene.sizes import Discrete
from granum.simulation import Simulation, make_settings

GLASS = Material(name="glass", density=2500, youngs_modulus=1e8, friction=0.5, restitution=0.2)


def record(path, scene: Scene, duration: float, every: int, **settings):
    sim = Simulation(scene, make_settings(scene.run, settings))
    sim.observers.append(Recorder(path, steps(every)))
    return sim.run(duration)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("recordings")


@pytest.fixture(scope="module")
def bin_run(folder, settled):
    return folder / "bin.vtkhdf"


@pytest.fixture(scope="module")
def settled(folder):
    """60 grains come to rest in a bin, 4 diameters wide, with a floor of held grains."""
    bed = np.stack(np.meshgrid(np.arange(4), np.arange(4), [0.0]), axis=-1).reshape(-1, 3) * 0.01 + 0.005
    scene = Scene(
        name="bin",
        materials=(GLASS,),
        gravity={"ramp": 0.5},
        grains=(
            Grains(material="glass", position=bed[:8], diameter=0.0099, static=True),
            Lattice(material="glass", lower=(0, 0, 0.01), upper=(0.04, 0.04, 0.3), count=60, sizes=Discrete(diameters=(0.01,))),
        ),
        bodies=(Body(name="bin", walls=(Box(material="glass", lower=(0, 0, 0), upper=(0.04, 0.04, 0.3), open=("+z",)),)),),
    )
    return record(folder / "bin.vtkhdf", scene, 1.5, 50, time_step=0.002, stepper={"solver": {"iterations": 400}})


@pytest.fixture(scope="module")
def drum_run(folder):
    """40 grains in a small drum."""
    scene = Scene(
        name="kiln",
        materials=(GLASS,),
        grains=(
            Lattice(material="glass", lower=(-0.03, 0, -0.04), upper=(0.03, 0.024, 0.03), count=40, sizes=Discrete(diameters=(0.01,))),
        ),
        bodies=(
            Body(
                name="drum",
                kind="kinematic",
                motion=Motion(spin=(0, 1.0, 0)),
                walls=(Cylinder(material="glass", centre=(0, 0.012, 0), axis=(0, 1, 0), radius=0.06, length=0.024),),
            ),
        ),
    )
    record(folder / "drum.vtkhdf", scene, 1.0, 50, time_step=0.002)
    return folder / "drum.vtkhdf"


def metrics(result) -> dict:
    assert result.exit_code == 0
    return json.loads(result.stdout)["metrics"]


def test_a_column_run_and_analysed(granum, tmp_path, monkeypatch):
    """Hertz overlaps of a column at rest: contact j carries the weight of j grains, so delta_j = delta_1 j^(2/3)."""
    monkeypatch.chdir(tmp_path)
    arguments = ("--set", "count=4", "--duration", "0.6", "--iterations", "50", "--no-picture", "--json")
    run = json.loads(granum("run", "column", *arguments).stdout)
    found = metrics(granum("analyse", "column.vtkhdf", "overlap", "contacts", "load", "energy", "height", "slide", "--json"))
    assert found["overlap"]["mean"] == pytest.approx(run["mean_overlap"], rel=1e-12)
    assert found["overlap"]["max"] == pytest.approx(run["max_overlap"], rel=1e-12)
    # R* at the plane is twice that between two grains: its overlap is smaller by 2^(1/3)
    expected = np.array([1, 2, 3, 4.0]) ** (2 / 3) / [1, 1, 1, 2 ** (1 / 3)]
    assert found["overlap"]["std"] / found["overlap"]["mean"] == pytest.approx(expected.std() / expected.mean(), rel=1e-6)
    assert sum(found["overlap"]["histogram"]["count"]) == 4
    assert found["contacts"]["coordination"] == pytest.approx((2 * 3 + 1) / 4)
    assert found["load"]["carried_part"] == pytest.approx(1, rel=1e-6)
    assert found["energy"]["series"]["time"][-1] == pytest.approx(0.6)
    assert found["energy"]["frames"] == len(found["energy"]["series"]["scaled"])
    assert found["energy"]["units"]["kinetic"] == "J"
    assert found["height"]["level"] == pytest.approx(run["results"]["height"])
    assert found["slide"]["size_mean"] is None
    assert found["slide"]["note"] == "no contact slides"


def test_weight_is_carried_by_floor_walls_and_held_grains():
    """Three grains at rest, each with a support of its own that carries m g: a floor, four held grains, friction between two plates."""
    d = 0.01
    cup = [(-0.1 + 0.5 * d * i, 0.5 * d * j, 0.5 * d) for i in (-1, 1) for j in (-1, 1)]
    plates = tuple(  # with a slot that is narrower than the grain by 2 %
        Box(material="glass", lower=(x, -0.02, 0.03), upper=(x + d, 0.02, 0.09), side="outside") for x in (0.1 - 1.49 * d, 0.1 + 0.49 * d)
    )
    scene = Scene(
        materials=(GLASS,),
        walls=(Plane(material="glass"), *plates),
        grains=(
            Grains(material="glass", position=cup, diameter=d, static=True),
            Grains(material="glass", position=[(0, 0, 0.5 * d), (-0.1, 0, (0.5 + 0.5**0.5) * d), (0.1, 0, 0.06)], diameter=d),
        ),
    )
    sim = Simulation(scene, make_settings({"time_step": 0.002, "stepper": {"solver": {"iterations": 200}}})).run(0.1)
    found = loads(Snapshot.of(sim))
    # 200 sweeps leave a residual of 1e-8 m/s, and what it changes in a step is a force of 1e-8 / (g h) = 5e-7 of the weight.
    for part in (found.floor, found.held, found.side):
        assert part == pytest.approx(found.weight / 3, rel=1e-6)


def test_forces_on_walls_and_held_grains_balance_weight_and_momentum(bin_run, settled):
    """Weight minus carried forces is the change of momentum of one step, to rounding; at rest it is small."""
    with Recording(bin_run) as recording:
        found = measure_recording(recording, "load").values
    assert found["carried_part"] == pytest.approx(1, abs=0.01)
    assert found["side"] + found["held"] + found["floor"] == pytest.approx(found["carried_part"] * found["weight"], rel=1e-12)
    momentum = []
    for _ in range(2):
        settled.step()
        now = Snapshot.of(settled)
        momentum.append(float(now.mass[~now.static] @ now.velocity[~now.static, 2]))
    assert not now.status[now.status == 1].any()  # impulses of impacts are not part of the forces
    change = (momentum[1] - momentum[0]) / settled.time_step
    assert loads(now).carried - loads(now).weight == pytest.approx(change, abs=1e-11 * loads(now).weight)


def test_every_metric_comes_as_table_and_as_json(granum, bin_run, drum_run):
    bins = [
        name
        for name, metric in METRICS.items()
        if not any(word in metric.needs for word in ("belt", "drum", "packings", "reduction", "joints", "sinks", "the scene"))
    ]
    for file, names in ((bin_run, bins), (drum_run, ["drum-angle", "plug", "flow", "slide", "overlap"])):
        found = metrics(granum("analyse", file, *names, "--last", 3, "--json"))
        assert list(found) == names
        text = granum("analyse", file, *names, "--last", 3).stdout
        for name, result in found.items():
            assert name in text
            assert result["frames"] == 3
            columns = result.get(METRICS[name].table, {})
            assert isinstance(columns, dict)
            assert len({len(column) for column in columns.values()}) <= 1
            assert set(result["units"]) <= set(result) | set(columns) | {"time"}


def test_no_number_has_the_name_of_a_table(bin_run, drum_run):
    """Nor of what else a result of --json holds: one would overwrite the other."""
    own = {"frames", "first_time", "last_time", "units", "note"}
    for name, metric in METRICS.items():
        if any(word in metric.needs for word in ("belt", "packings", "reduction", "joints", "sinks", "the scene")):
            continue  # see test_conveyor, test_packing_files, test_reduction_files, test_recorded_loads, test_flow_rate
        with Recording(drum_run if "drum" in metric.needs else bin_run) as recording:
            found = measure_recording(recording, name, range(len(recording))[-3:])
        assert not (own | {metric.table}) & set(found.values), name
        assert metric.table not in own


def test_wall_pressure_in_a_bin(granum, bin_run):
    """The pressure on the side walls times their area is the sum of the normal forces, whatever the strips."""
    found = metrics(granum("analyse", bin_run, "pressure", "--json"))["pressure"]
    with Recording(bin_run) as recording:
        frame = recording.frame(-1)
    c = frame.contacts
    side = (c.b < 0) & (np.abs(c.normal[:, 2]) < 0.5)
    total = sum(found["profile"]["pressure"]) * 4 * 0.04 * found["strip"]
    assert total == pytest.approx(c.normal_force[side].sum())
    assert found["strip"] * len(found["profile"]["z"]) == pytest.approx(found["height"])


def test_frames_are_chosen_by_number_and_time(granum, bin_run):
    look = lambda *options: metrics(granum("analyse", bin_run, "height", "--json", *options))["height"]  # noqa: E731
    times = lambda *options: look(*options).get("series", {}).get("time")  # noqa: E731
    assert look()["first_time"] == look()["last_time"] == pytest.approx(1.5)
    assert times("--frames", "2:5") == pytest.approx([0.2, 0.3, 0.4])
    assert times("--frames", "-2:") == times("--last", 2) == pytest.approx([1.4, 1.5])
    assert times("--time", "0.2:0.4") == pytest.approx([0.2, 0.3, 0.4])
    assert len(times("--time", ":")) == len(times("--frames", ":")) == 16
    for options in (("--frames", "3"), ("--time", "0.3:0.31")):
        assert look(*options)["frames"] == 1
        assert look(*options)["first_time"] == pytest.approx(0.3)
    assert look("--frames", "-1") == look()
    series = look("--last", 5)
    assert series["level"] == pytest.approx(np.mean(series["series"]["level"]))


def test_the_first_frame_has_no_contacts_and_says_so(granum, bin_run):
    names = ("overlap", "slide", "contacts", "load", "pressure", "janssen", "axis")
    found = metrics(granum("analyse", bin_run, *names, "--frames", 0, "--json"))
    assert (found["overlap"]["mean"], found["overlap"]["max"], found["overlap"]["note"]) == (0, 0, "no contacts")
    assert found["contacts"]["total"] == 0
    assert found["load"]["carried"] == 0
    assert found["pressure"]["note"] == "no contacts with side walls"
    assert found["janssen"]["saturation"] is None
    assert "a fit needs 3 strips" in found["janssen"]["note"]
    assert found["axis"]["note"] == "no contacts near the axis"


def test_means_have_their_spread_and_one_frame_has_none(granum, drum_run):
    found = metrics(granum("analyse", drum_run, "energy", "drum-angle", "--last", 5, "--json"))
    for name, key in (("energy", "kinetic"), ("energy", "scaled"), ("drum-angle", "surface")):
        values = found[name]["series"][key]
        assert len(values) == 5
        assert found[name][key] == pytest.approx(np.mean(values))
        assert found[name][f"{key}_std"] == pytest.approx(np.std(values))
    alone = metrics(granum("analyse", drum_run, "drum-angle", "--json"))["drum-angle"]
    assert alone["surface"] is not None
    assert alone["surface_std"] is None
    assert "note" not in alone


def test_repose_of_what_is_no_pile_is_words(granum, bin_run):
    found = metrics(granum("analyse", bin_run, "repose", "--json"))["repose"]
    assert found["angle"] is found["angle_error"] is None
    assert found["note"].startswith("the heap has no flank: fewer than 3 rings between 1.5 and ")
    assert f"note: {found['note']}" in " ".join(granum("analyse", bin_run, "repose").stdout.split())


def refused(result, *words):
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    for word in words:
        assert word in result.stderr


def test_refusals(granum, bin_run, drum_run, tmp_path):
    refused(granum("analyse"), "which recording?", "--list")
    refused(granum("analyse", bin_run), "which metric of", "'overlap'")
    refused(granum("analyse", bin_run, "overlap", "janson"), "unknown metric 'janson'", "Did you mean 'janssen'?")
    refused(granum("analyse", tmp_path / "no.vtkhdf", "overlap"), "does not exist")
    refused(granum("analyse", bin_run, "plug"), "scene 'bin' has no drum", "round about a level axis")
    refused(granum("analyse", drum_run, "janssen"), "scene 'kiln' has no side walls that close around its grains")
    refused(granum("analyse", bin_run, "overlap", "--last", 2, "--time", "0:1"), "exclude each other")
    refused(granum("analyse", bin_run, "overlap", "--last", 0), "--last must be 1 or more frames (got 0)")
    for text in ("x", "1:y", "1:2:3", ""):
        refused(granum("analyse", bin_run, "overlap", "--frames", text), "--frames must be A:B", f"got {text!r}")
    for text in ("x", "1", "3:2", "nan:1"):
        refused(granum("analyse", bin_run, "overlap", "--time", text), "--time must be A:B in seconds", f"got {text!r}")
    refused(granum("analyse", bin_run, "overlap", "--frames", "70:"), "no frames in '70:'", "holds frames 0 to 15")
    refused(granum("analyse", bin_run, "overlap", "--time", "7:8"), "no frames in '7:8'", "holds t = 0 to 1.5 s")
    (tmp_path / "text.vtkhdf").write_text("no recording")
    refused(granum("analyse", tmp_path / "text.vtkhdf", "overlap"), "not an HDF5 file")


def test_a_file_without_frames_is_refused(granum, bin_run, tmp_path):
    path = tmp_path / "empty.vtkhdf"
    path.write_bytes(bin_run.read_bytes())
    from granum.io import RecordingWriter

    RecordingWriter.resume(path, keep_until=-1.0).close()
    for options in ((), ("--last", 2), ("--frames", "0:1"), ("--time", "0:1")):
        refused(granum("analyse", path, "overlap", *options), "empty.vtkhdf holds no frames")


def test_the_list_of_metrics(granum):
    text = granum("analyse", "--list").stdout
    listed = json.loads(granum("analyse", "--list", "--json").stdout)["metrics"]
    assert set(listed) == set(METRICS)
    for name, metric in METRICS.items():
        assert name in text
        assert listed[name]["about"] == metric.about
    assert "granum analyse drum.vtkhdf drum-angle plug flow" in granum("analyse", "--help").stdout
