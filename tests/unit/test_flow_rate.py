"""What is made of counts: rates in windows, tables, figures and words."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from granum import InputError, Recording, run
from granum.analysis.flow_rate import FlowRate, beverloo_rate
from granum.analysis.metrics import measure_recording
from granum.scene import Counter, PlaneRegion, RectangleRegion, Sink
from granum.scene.file import load_scene
from granum.scene.library import make_scene
from tests.command_line import granum
from tests.figures import legend, panels
from tests.reference.hopper import scene

FILE = """
results = [{ measure = "discharge", counter = "bin", outlet = 0.05 }]
materials = [{ name = "stone", density = 2500, youngs_modulus = 5e5 }]
[[emitters]]
material = "stone"
sizes = { distribution = "discrete", diameters = [0.005] }
rate = 500
velocity = [0, 0, -2]
source = { source = "rectangle", corner = [-0.2, -0.2, 0.1], edge_u = [0.4, 0, 0], edge_v = [0, 0.4, 0] }
[[sinks]]
name = "bin"
region = { shape = "box", lower = [-1, -1, -5], upper = [1, 1, 0] }
[[counters]]
region = { shape = "disc", centre = [0, 0, 0.05], normal = [0, 0, -1], radius = 0.1 }
[run]
duration = 0.65
time_step = 1e-3
every = 0.01
"""
MASS = 2500 * np.pi / 6 * 0.005**3


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """Rain of 500 grains a second into a bin, recorded by the command."""
    folder = tmp_path_factory.mktemp("rain")
    (folder / "rain.toml").write_text(FILE)
    done = granum("run", folder / "rain.toml", "--no-picture", "--json", "-o", folder / "rain.h5")
    assert done.exit_code == 0, done.stderr
    return folder / "rain.h5", json.loads(done.stdout)


def test_summary_has_a_line_for_each(file):
    path, summary = file
    (sink,), (counter,) = summary["sinks"], summary["counters"]
    assert (sink["name"], counter["name"]) == ("bin", "counter-1")
    assert sink["grains"] - sink["waiting"] == summary["taken_out"]
    assert sink["mass"] == pytest.approx(sink["grains"] * MASS, rel=1e-13)
    assert sink["rate"] == pytest.approx(500 * MASS, rel=0.02)  # a grain at each end of 0.5 s
    assert 0.1 < counter["grains"] / sink["grains"] < 0.3  # pi 0.1^2 / 0.4^2 = 0.196 of the source
    assert summary["results"]["discharge_rate"] == sink["rate"]
    assert summary["results"]["beverloo_rate"] == pytest.approx(0.58 * 0.58 * 2500 * 9.81**0.5 * 0.043**2.5, rel=1e-12)
    shown = granum("info", path).stdout
    for words in ("sink bin", "counter counter-1", f"{sink['grains']} grains", "mean 0.0", "disc, centre (0, 0, 0.05)"):
        assert words in shown


def test_python_and_files_use_the_same_words(file):
    path, summary = file
    with Recording(path) as recording:
        seen = recording.counters["bin"]
        assert seen.count[-1] == summary["sinks"][0]["grains"]
        assert seen.mass[-1] == summary["sinks"][0]["mass"]
        assert (np.diff(seen.count) >= 0).all()
        assert np.array_equal(seen.count - seen.waiting, recording.scalars["taken_out"])
        with pytest.raises(InputError, match=r"unknown sink or counter 'bim'; .* Did you mean 'bin'"):
            recording.counters["bim"]
        found = measure_recording(recording, "flow-rate", of=["bin"], window=0.1)
    assert set(found.columns["name"]) == {"bin"}
    assert found.values["bin.scatter"] < 0.04 * found.values["bin.rate"]  # 50 grains +- 1 in a window


def test_windows_of_a_tenth_of_a_second(file):
    """500 grains a second: every full window has its 50, to one at each end."""
    path, summary = file
    shown = granum("analyse", path, "flow-rate", "--counter", "bin", "--window", 0.1, "--csv")
    lines = list(csv.DictReader(io.StringIO(shown.stdout)))
    assert list(lines[0]) == ["name", "time [s]", "count", "mass [kg]", "rate [kg/s]", "rate_error [kg/s]"]
    assert [float(line["time [s]"]) for line in lines] == pytest.approx([*(0.1 * np.arange(7)), 0.65])
    assert float(lines[-1]["count"]) == summary["sinks"][0]["grains"]
    count, mass = (np.array([float(line[key]) for line in lines]) for key in ("count", "mass [kg]"))
    rate, error = (np.array([float(line[key]) for line in lines[1:]]) for key in ("rate [kg/s]", "rate_error [kg/s]"))
    assert np.abs(np.diff(count)[1:-1] - 50).max() <= 1
    long = np.diff([float(line["time [s]"]) for line in lines])
    assert rate == pytest.approx(np.diff(mass) / long)
    assert error[1:] == pytest.approx(MASS * np.sqrt(np.diff(count)[1:]) / long[1:])
    with_unit = granum("analyse", path, "flow-rate", "--counter", "bin", "--window", "100ms", "--csv")
    assert with_unit.stdout == shown.stdout
    some, same = (granum("analyse", path, "flow-rate", "--time", span, "--json").stdout for span in ("0.2:0.4", "200ms:0.4s"))
    assert json.loads(some)["metrics"]["flow-rate"]["frames"] == 21
    assert some == same


def test_frames_that_are_further_apart_than_windows_are_told(file):
    with Recording(file[0]) as recording:
        coarse = measure_recording(recording, "flow-rate", frames=range(0, 65, 20), window=0.05)
        flow = FlowRate.of(recording, "bin", frames=range(10, 61))
    assert "record more of them" in coarse.note
    assert flow.mean.value == pytest.approx(500 * MASS, rel=0.03)
    assert flow.steady[0] < flow.steady[1]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("flow-rate", "--counter", "bun"), "unknown sink or counter 'bun'"),
        (("flow-rate", "--window", "-1"), "window must be a finite number above 0 s"),
        (("flow-rate", "--window", "2"), "must not be longer than the frames that are looked at, 0.65 s"),
        (("overlap", "--window", "0.1"), "--window is the length of the windows of flow-rate"),
        (("overlap", "--counter", "bin"), "--counter chooses what flow-rate looks at"),
        (("flow-rate", "--window", "50kg"), "is a mass, not a time"),
        (("flow-rate", "--time", "50kg:"), "--time must be A:B in seconds"),
        (("flow-rate", "--last", "1"), "needs two frames or more"),
    ],
)
def test_what_cannot_be_measured_is_refused_in_words(file, options, words):
    result = granum("analyse", file[0], *options)
    assert result.exit_code == 2
    assert words in result.stderr


def test_figure_shows_mass_rate_and_law(file, tmp_path, drawn):
    assert granum("plot", file[0], "flow-rate", "--window", 0.05, "-o", tmp_path / "flow.png").exit_code == 0
    upper, lower = panels(drawn["flow.png"])
    assert upper.get_ylabel() == "mass passed [g]"
    assert lower.get_ylabel() == "rate in 0.05 s [g/s]"
    assert [text.partition(":")[0] for text in legend(upper)] == ["bin", "counter-1"]
    assert any("Beverloo" in text and "0.58" in text and "1.4" in text for text in legend(lower))
    assert granum("plot", file[0], "energy", "--window", 1).exit_code == 2


def test_beverloo_law():
    """A round number: D - 1.4 d = 0.04 m, to the power of 2.5 3.2e-4; nothing passes a narrow hole."""
    assert beverloo_rate(0.054, 0.01, 1000.0, 9.0) == pytest.approx(0.58 * 1000 * 3 * 3.2e-4)
    assert beverloo_rate(0.01, 0.01, 1000.0, 9.0) == 0.0


def test_a_silo_with_an_outlet_counts_what_leaves_it():
    silo = make_scene("silo", outlet=4)
    assert silo.counted == ("outlet",)
    assert silo.results[1].outlet == pytest.approx(0.04)
    assert make_scene("silo").counted == ()


def test_names_of_sinks_and_counters(tmp_path):
    plane = PlaneRegion(point=(0, 0, 0))
    region = scene().sinks[0].region
    made = scene(sinks=[Sink(region=region), Sink(name="a", region=region), Sink(region=region)], counters=[Counter(region=plane)])
    assert made.counted == ("sink-1", "a", "sink-3", "counter-1")
    assert type(made).read(made.model_dump_json(), "text") == made
    with pytest.raises(InputError, match="names of sinks and counters must differ"):
        scene(counters=[Counter(name="bin", region=plane)])
    with pytest.raises(InputError, match="unknown counter of the result 'discharge' 'tray'"):
        scene(results=[{"measure": "discharge", "counter": "tray", "outlet": 0.1}])
    with pytest.raises(InputError, match="must span a piece of a plane"):
        Counter(region=RectangleRegion(corner=(0, 0, 0), edge_u=(1, 0, 0), edge_v=(2, 0, 0)))
    with pytest.raises(InputError, match="must not be a zero vector"):
        Counter(region=PlaneRegion(point=(0, 0, 0), normal=(0, 0, 0)))


def test_a_recording_without_counts_says_so(tmp_path):
    done = run(make_scene("column", count=2), duration=0.01, output=tmp_path / "column.h5", progress=False, picture=False)
    with pytest.raises(InputError, match="there is no sink or counter 'bin': the scene has none"):
        done.recording.counters["bin"]
    with pytest.raises(InputError, match="without sinks and counters"):
        measure_recording(done.recording, "flow-rate")
    with pytest.raises(InputError, match="there is no flow to draw"):
        done.plot("flow-rate")


def test_a_run_that_was_killed_tells_its_counts(file, tmp_path):
    """A recording without a summary: the last frame has them."""
    import h5py

    path = tmp_path / "killed.h5"
    path.write_bytes(file[0].read_bytes())
    with h5py.File(path, "r+") as content:
        content["granum/summary"].resize((0,))
        assert json.loads(content["granum/counters"].attrs["names"]) == ["bin", "counter-1"]
    found = json.loads(granum("info", path, "--json").stdout)
    assert found["sinks"] == file[1]["sinks"]
    assert found["counters"] == file[1]["counters"]
    assert load_scene(file[0].with_suffix(".toml")).counted == ("bin", "counter-1")


def test_counts_are_the_same_however_little_is_recorded(file, tmp_path):
    """Of positions alone, in single precision and compressed; continued by a restart."""
    path, few = tmp_path / "few.vtkhdf", ("--record", "position", "--precision", "single", "--compress")
    assert granum("run", file[0].with_suffix(".toml"), "--no-picture", "-o", path, "--duration", 0.3, *few).exit_code == 0
    done = granum("restart", path, "--duration", 0.35, "--json")
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["sinks"], found["counters"]) == (file[1]["sinks"], file[1]["counters"])
    assert found["state_hash"] == file[1]["state_hash"]
    with Recording(path) as small, Recording(file[0]) as whole:
        for name in whole.scene.counted:
            assert_array_equal(small.counters[name].count, whole.counters[name].count)
            assert_array_equal(small.counters[name].mass, whole.counters[name].mass)
        assert_array_equal(small.grain_counts, [len(small.frame(k).radius) for k in range(len(small))])
