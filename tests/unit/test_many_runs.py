"""Many runs: ranges are read as written, tables hold what single runs give, searches find known values, bad input is refused."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest

from granum import InputError, calibrate, jam, jam_many, sweep
from granum.analysis.repeats import Repeats, group_by
from granum.pool import Pool, cluster
from granum.runs.many.calibrate import read_target
from granum.runs.many.search import Curve, places
from granum.runs.many.vary import combinations, read_seeds, read_varied
from tests.figures import is_sound, panels

TINY = ("--duration", "0.05", "-j", "1")
HEIGHTS = ("sweep", "column", "--vary", "count=4:8:2", "--vary", "seed=0:2", "--measure", "height_error", *TINY, "-o", "heights.csv")


def rows_of(path: str) -> list[dict[str, str]]:
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def values_of(text: str, whole: bool | None = None) -> tuple:
    (one,) = read_varied([text], {text.partition("=")[0]: whole} if whole is not None else None)
    return one.values


# What is varied. ---------------------------------------------------------------------------------------------


def test_ranges_and_lists_are_read_as_written():
    assert values_of("friction=0.2:0.8:4") == (0.2, 0.4, 0.6, 0.8)  # both ends, without the dust of rounding
    assert values_of("seed=0:3") == (0, 1, 2)  # the end is not included,
    assert read_seeds("0:200") == list(range(200))  # in neither of them
    assert values_of("count=10:40:4", whole=True) == (10, 20, 30, 40)
    assert values_of("law=hooke,hertz") == ("hooke", "hertz")
    assert values_of("friction=0.3,0.5") == (0.3, 0.5)
    assert values_of("centre=[0,1],[2,3]") == ("[0,1]", "[2,3]")
    (one,) = read_varied(["diameter=5mm:15mm:3"])
    assert (one.values, one.shown, one.unit) == (("5.0mm", "10.0mm", "15.0mm"), (5.0, 10.0, 15.0), "mm")
    (one,) = read_varied({"seed": range(3)})
    assert one.values == (0, 1, 2)


def test_all_combinations_come_in_order():
    found = [point for point, _ in combinations(read_varied(["a=1,2", "b=x,y"]))]
    assert found == [{"a": 1, "b": "x"}, {"a": 1, "b": "y"}, {"a": 2, "b": "x"}, {"a": 2, "b": "y"}]


@pytest.mark.parametrize(
    "text, words",
    [
        ("friction=0.8:0.2:4", "lower end first: friction=0.2:0.8"),
        ("friction=0.2:0.8:1", "2 or more"),
        ("friction=0.2:0.8:x", "2 or more"),
        ("friction=0:1:2:3", "cannot be read"),
        ("friction=0.2:", "not a number"),
        ("friction=0.2:0.8", "number of values"),
        ("friction=0:1", "single value"),
        ("friction=1,1.0,1", "twice"),
        ("friction=1,,2", "empty"),
        ("friction", "NAME=VALUES"),
        ("diameter=5mm:1cm:3", "same unit"),
        ("seed=0:1000000000", "the most is"),
    ],
)
def test_ranges_that_make_no_sense_are_refused(text, words):
    with pytest.raises(InputError, match=words):
        read_varied([text])


def test_whole_numbers_stay_whole():
    with pytest.raises(InputError, match="count is a whole number"):
        values_of("count=1:2:3", whole=True)
    with pytest.raises(InputError, match="number of values"):
        values_of("friction=0:2", whole=False)
    for seeds in ("0.5,1", "", [1, 1], [-1]):
        with pytest.raises(InputError):
            read_seeds(seeds)


# Means and curves. -------------------------------------------------------------------------------------------


def test_mean_deviation_and_standard_error_of_known_numbers():
    one = Repeats.of([2.0, 4.0, None, 6.0, math.nan])
    assert (one.runs, one.mean, one.std) == (3, 4.0, 2.0)
    assert one.error == pytest.approx(2 / math.sqrt(3))
    assert math.isnan(Repeats.of([1.0]).std)
    groups = group_by({"a": [1, 2, 1], "b": ["x", "x", "y"]}, ["a"])
    assert [(group.point, group.rows) for group in groups] == [((1,), (0, 2)), ((2,), (1,))]


def test_a_curve_through_a_line_is_the_line():
    """The trend is linear with a wide prior: three exact points of a line give the line everywhere, and hardly any error."""
    x = np.array([[0.0], [0.5], [1.0]])
    mean, error = Curve.through(x, 3 - 2 * x[:, 0], np.zeros(3)).at(places(1))
    assert mean == pytest.approx(3 - 2 * places(1)[:, 0], abs=1e-3)
    assert error.max() < 0.1


def test_a_curve_through_noise_has_its_error():
    """Of n points on a level with noise s the mean is known to about s / sqrt(n), and no curve follows single points."""
    x = np.linspace(0, 1, 20)[:, None]
    y = 5 + 0.1 * (-1.0) ** np.arange(20)
    mean, error = Curve.through(x, y, np.full(20, 0.1**2)).at(np.array([[0.5]]))
    assert mean[0] == pytest.approx(5, abs=0.05)
    assert 0.01 < error[0] < 0.1


# Sweeps. -----------------------------------------------------------------------------------------------------


def test_a_sweep_gives_the_runs_their_means_and_a_picture(granum, drawn):
    """A row of the table is the run that ``granum run`` makes, to the bit; what is there is not run again."""
    done = granum(*HEIGHTS, "--fresh")
    assert done.exit_code == 0
    rows = rows_of("heights.csv")
    assert [(row["count"], row["seed"]) for row in rows] == [("4", "0"), ("4", "1"), ("8", "0"), ("8", "1")]
    alone = json.loads(granum("run", "column", "--set", "count=8", "--seed", "1", "--duration", "0.05", "--no-picture", "--json").stdout)
    assert rows[3]["state_hash"] == alone["state_hash"]
    assert float(rows[3]["height_error"]) == alone["results"]["height_error"]
    assert rows[3]["steps"] == str(alone["steps"])
    assert is_sound(drawn["heights.png"])
    assert panels(drawn["heights.png"])[0].get_xlabel() == "count"

    again = granum(*HEIGHTS, "--json")
    assert "4 of 4 runs are there from before" in again.stderr
    told = json.loads(again.stdout)
    assert rows_of("heights.csv") == rows  # wall times included
    assert told["means"][0] == {
        **{"count": 4, "measure": "height_error", "unit": "", "runs": 2},
        **{"mean": pytest.approx(float(rows[0]["height_error"])), "std": 0.0, "standard_error": 0.0},
    }


def test_metrics_units_files_and_python(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("one.toml").write_text(
        'materials = [{ name = "a", density = 1000, youngs_modulus = 1e6 }]\nwalls = [{ shape = "plane", material = "a" }]\n'
        'grains = [{ material = "a", position = [[0, 0, 0.05]], diameter = 0.1 }]\n'
        "run = { duration = 0.01, time_step = 0.001, threads = 2 }\n"
    )
    found = sweep("one.toml", {"grains.0.diameter": [0.08, 0.1]}, ["height.top", "time", "load"], workers=1, progress=False)
    table = found.table()
    assert table["height.top"] == pytest.approx([0.09, 0.1], abs=1e-3)
    assert found.units["height.top"] == "m"
    assert table["time"] == pytest.approx([0.01, 0.01])
    assert found.units["time"] == "s"
    weight = math.pi / 6 * 0.1**3 * 1000 * 9.81
    assert table["load.weight"][1] == pytest.approx(weight, rel=1e-3)
    assert not list(Path().glob("*.csv"))


def test_a_run_that_fails_does_not_stop_the_others(granum):
    """A time step of a tenth of a second lets a falling grain through: that run says why, the other has its number."""
    done = granum(
        "sweep", "pile", "--set", "count=5", "--set", "rate=100", "--vary", "run.time_step=0.002,0.2", "--duration", "0.6", "-j", "1"
    )
    rows = rows_of("pile-sweep.csv")
    assert [bool(row["failed"]) for row in rows] == [False, True]
    assert rows[0]["height [m]"]
    assert rows[1]["height [m]"] == ""
    assert done.exit_code == 1
    assert "1 of 2 runs failed" in done.stderr
    assert "try --time-step" in rows[1]["failed"]
    assert "warning: " not in done.stderr  # that a step is large is not told by every run


@pytest.mark.parametrize(
    "arguments, words",
    [
        (("--vary", "frction=0.1,0.2"), "unknown parameter of scene 'column' 'frction'"),
        (("--vary", "count=2,3", "--measure", "reposed"), "unknown measure 'reposed'"),
        (("--vary", "count=2,3", "--measure", "reposed.angle"), "unknown metric 'reposed'"),
        (("--vary", "count=2,3", "--measure", "height.tip"), "unknown number of the metric 'height' 'tip'"),
        (("--vary", "count=3:2:2"), "lower end first"),
        (("--vary", "count=2,3", "-j", "0"), "must be 1 or more"),
        (("--vary", "count=0,3"), "count of scene 'column'"),
        (("--vary", "count=2:x:3"), "count=2:x:3: 'x' is not a number"),  # with its colons
        ((), "something to vary"),
        (("--vary", "count=2,3", "-o", "x.txt"), "must end in .csv"),
        (("--vary", "count=2,3", "-o", "nowhere/x.csv"), "does not exist"),
    ],
)
def test_bad_sweeps_are_refused_before_the_first_run(granum, arguments, words):
    done = granum("sweep", "column", *arguments)
    assert done.exit_code == 2
    assert words in done.stderr
    assert not list(Path().iterdir())


def test_a_table_of_other_runs_is_not_lost(granum):
    Path("heights.csv").write_text("count,seed\n99,0\n")
    done = granum(*HEIGHTS)
    assert done.exit_code == 2
    assert "would be lost" in done.stderr
    assert Path("heights.csv").read_text() == "count,seed\n99,0\n"


# Calibrations and ensembles. ---------------------------------------------------------------------------------

COLUMN = ("calibrate", "column", "--set", "count=5", "--fit", "diameter=0.005:0.02", "--seeds", "0:1", *TINY)


def test_a_calibration_finds_the_diameter_of_a_column_of_known_height(granum, drawn):
    """Five grains of d = h / 5, but for overlaps of a few per mille; the interval is the tolerance over five."""
    done = granum(*COLUMN, "--target", "height.top=0.05+-0.001", "--json")
    assert done.exit_code == 0
    found = json.loads(done.stdout)
    assert found["best"]["diameter"] == pytest.approx(0.01, rel=0.01)
    low, high = found["interval"]["diameter"]
    assert high - low == pytest.approx(2 * 0.001 / 5, rel=0.2)
    assert len(rows_of("column-calibrate.csv")) == len(found["tries"]) <= 6
    assert is_sound(drawn["column-calibrate.png"])


def test_a_target_that_nothing_reaches_says_what_is_reached_and_loses_nothing(granum):
    done = granum(*COLUMN, "--target", "height.top=5+-0.001")
    assert done.exit_code == 2
    assert "no value reaches the target" in done.stderr
    assert "0.02494 to 0.09943" in done.stderr
    assert len(rows_of("column-calibrate.csv")) == 3
    for bad, words in (
        ("height.top=28", "tolerance"),
        ("height.top=5+-0", "tolerance"),
        ("tallness=5+-1", "unknown measure"),
        ("height.top=5+-1 kg", "is a mass, not a length"),
    ):
        done = granum(*COLUMN, "--target", bad)
        assert done.exit_code == 2
        assert words in done.stderr


@pytest.mark.parametrize(
    "text, unit, value, tolerance",
    [
        ("28+-1", "degrees", 28.0, 1.0),
        ("28 deg +- 1deg", "degrees", 28.0, 1.0),
        ("500 +- 10 g/s", "kg/s", 0.5, 0.01),  # a unit at the end holds for both
        ("0.5 kg/s +- 10 g/s", "kg/s", 0.5, 0.01),
        ("50mm±1", "m", 0.05, 1.0),  # a bare number is in the unit of the measure
    ],
)
def test_targets_have_units(text, unit, value, tolerance):
    target = read_target("measure", text).in_unit(unit)
    assert (target.value, target.tolerance, target.unit) == (pytest.approx(value), pytest.approx(tolerance), unit)


def test_targets_of_plain_numbers_have_none():
    with pytest.raises(InputError, match="is a plain number: give it without a unit"):
        read_target("contacts", "5 m +- 1 m").in_unit("")


def test_a_calibration_without_any_number_says_why(granum):
    """Three grains make no heap; a number that the metric has not is refused as soon as a run can tell."""
    heap = ("calibrate", "pile", "--set", "count=3", "--fit", "friction=0.1:1", "--seeds", "0:1", "--duration", "0.2", "-j", "1")
    done = granum(*heap, "--target", "repose=28+-1")
    assert done.exit_code == 1
    assert "no try has a number for repose.angle" in done.stderr
    assert "too small to tell" in done.stderr
    done = granum(*heap, "--target", "repose.angel=28+-1")
    assert done.exit_code == 2
    assert "unknown number of the metric 'repose' 'angel'" in done.stderr
    assert "Did you mean 'angle'?" in done.stderr


def test_tables_of_many_runs_have_units(granum):
    done = granum("sweep", "column", "--vary", "diameter=5mm:9mm:2", "--measure", "height_error", *TINY, "-o", "units.csv")
    assert "diameter [mm]" in done.stdout
    done = granum(*COLUMN, "--target", "height.top=0.05+-0.01")
    assert "mean height.top [m]" in done.stdout


def test_two_parameters_are_fitted_at_once(tmp_path):
    """Height = count x diameter: any pair on the hyperbola will do."""
    fit = {"count": "2:10", "diameter": "0.005:0.02"}
    found = calibrate("column", fit, {"height.top": (0.06, 0.004)}, seeds=[0], duration=0.02, workers=1, progress=False)
    assert isinstance(found.best["count"], int)
    assert found.best["count"] * found.best["diameter"] == pytest.approx(0.06, abs=0.008)
    assert is_sound(found.plot())
    assert len(found.table()["mean"]) == len(found.tries)


def test_packings_of_an_ensemble_are_those_of_single_seeds(granum, drawn):
    done = granum("jam", "--particles", "16", "--accuracy", "1e-3", "--seeds", "1:3", "-j", "1", "-o", "few.csv", "--fresh", "--csv")
    assert done.exit_code == 0
    rows = rows_of("few.csv")
    assert list(csv.DictReader(done.stdout.splitlines())) == rows  # --csv prints the table
    assert [row["seed"] for row in rows] == ["1", "2"]
    assert [float(row["phi_cr"]) for row in rows] == [jam(16, seed=seed, accuracy=1e-3).phi_cr for seed in (1, 2)]
    assert len(panels(drawn["few.png"])) >= 3
    for more in (("--seeds", "3:1"), ("--seeds", "0:2", "--seed", "1"), ("-o", "x.csv"), ("-j", "2"), ("--seeds", "0:2", "-o", "x.vtkhdf")):
        assert granum("jam", "--particles", "16", *more).exit_code == 2
    found = jam_many([1, 2], particles=16, accuracy=1e-3, workers=1, progress=False)
    assert found.table()["phi_cr"].tolist() == [float(row["phi_cr"]) for row in rows]


def test_what_a_run_would_not_record_is_measured(tmp_path):
    """Recordings of a sweep are not kept: what settings say of theirs does not matter."""
    how = {"vary": {"count": [3]}, "measure": "overlap.mean", "duration": 0.02, "workers": 1, "progress": False, "fresh": True}
    few, all_of_it = sweep("column", **how, record="position", precision="single"), sweep("column", **how)
    assert few.table()["overlap.mean"] == all_of_it.table()["overlap.mean"]
    assert few.failed == 0


# Other places. -----------------------------------------------------------------------------------------------


def test_a_scheduler_that_does_not_answer_is_told_in_words(granum, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(cluster, "PATIENCE", 1)
    done = granum("sweep", "column", "--vary", "count=2,3", "--scheduler", "tcp://127.0.0.1:9")
    assert done.exit_code == 2
    assert "no Dask scheduler answers at 'tcp://127.0.0.1:9'" in done.stderr
    assert not list(Path().iterdir())
    with pytest.raises(InputError, match="not both"):
        Pool(2, "tcp://127.0.0.1:9")


def same_everywhere(tmp_path, **cluster_of):
    distributed = pytest.importorskip("distributed")
    how = {"vary": {"count": [3, 5]}, "measure": "height_error", "duration": 0.02, "progress": False, "fresh": True}
    here = sweep("column", workers=1, **how)
    with distributed.LocalCluster(dashboard_address=None, local_directory=tmp_path, **cluster_of) as started:
        there = sweep("column", scheduler=started.scheduler_address, **how)
    assert [row["state_hash"] for row in here.rows] == [row["state_hash"] for row in there.rows]
    assert here.table()["height_error"].tolist() == there.table()["height_error"].tolist()


def test_a_cluster_gives_the_same_bits(tmp_path):
    same_everywhere(tmp_path, processes=False, n_workers=1, threads_per_worker=1)


@pytest.mark.slow
def test_processes_of_a_cluster_and_of_a_pool_give_the_same_bits(tmp_path):
    same_everywhere(tmp_path, processes=True, n_workers=2, threads_per_worker=2)
    how = {"vary": {"count": [3, 5], "seed": "0:2"}, "measure": "height_error", "duration": 0.02, "progress": False, "fresh": True}
    two, one = (sweep("column", workers=workers, **how) for workers in (2, 1))
    assert [row["state_hash"] for row in two.rows] == [row["state_hash"] for row in one.rows]
