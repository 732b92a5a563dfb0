"""The experiments of MR: every curve and row is there at a size of seconds."""

from __future__ import annotations

import numpy as np
import pytest

from granum.papers import EXPERIMENTS, mr_collapse, mr_conveyor, mr_drum, mr_speedup
from granum.pool import run_jobs
from tests.figures import curve, grains, legend, panels, title

ASKED = ("angle", "angle_reference", "reduction_level", "speed_up")


def one_by_one(jobs):
    return run_jobs(jobs, 1)


@pytest.mark.slow
def test_conveyor_gives_every_curve(tmp_path, drawn):
    size = mr_conveyor.ConveyorSize(
        length=34.0,
        iterations=20,
        reference_iterations=30,
        fill_iterations=10,
        settle=0.1,
        window=0.3,
        rate=1250.0,
        speed=0.35,
    )
    outcome = mr_conveyor.measure(size, one_by_one)
    assert all(np.isfinite(outcome.curves[name]) for name in ASKED)
    assert set(outcome.curves["runs"]) == {"full-30", "full-20", "ref-20", "cs-20", "ctr4-20-f"}
    for found in outcome.curves["runs"].values():
        # 375 go in meanwhile; about as many fall off the end, in lumps.
        assert 50 < found["discharged"] < 750
        assert 0 < found["centre"][0] < 15
        assert abs(found["distribution"]["part"].sum() - 1) < 1e-9
    assert [path.name for path in mr_conveyor.draw(outcome, tmp_path)] == list(drawn) == ["mr-conveyor.png", "mr-conveyor-ridge.png"]
    discharge = panels(drawn["mr-conveyor.png"])
    assert [title(axes) for axes in discharge] == [f"{name}: {run['discharged']} grains" for name, run in outcome.curves["runs"].items()]


def test_collapse_gives_every_curve(tmp_path, drawn):
    size = mr_collapse.CollapseSize(count=500, width=8.0, iterations=20, reference_iterations=30, prepare_iterations=15, duration=0.4)
    outcome = mr_collapse.measure(size, one_by_one)
    assert all(np.isfinite(outcome.curves[name]) for name in ASKED)
    for found in outcome.curves["runs"].values():
        assert found["angle"][-1] > 5  # it has begun to slope
        assert len(found["angle"]) == len(found["angle_time"])
    assert [path.name for path in mr_collapse.draw(outcome, tmp_path)] == list(drawn) == ["mr-collapse.png", "mr-collapse-time.png"]
    runs = outcome.curves["runs"]
    heaps = panels(drawn["mr-collapse.png"])
    assert [title(axes) for axes in heaps] == [f"{name}: {run['angle'][-1]:.1f} degrees" for name, run in runs.items()]
    assert [grains(axes) for axes in heaps] == [500] * len(runs)
    angle, level = panels(drawn["mr-collapse-time.png"])
    assert legend(angle) == list(runs)
    assert (angle.get_ylabel(), level.get_ylabel()) == ("angle [degrees]", "reduction level [%]")
    for name, run in runs.items():
        np.testing.assert_allclose(curve(angle, name), (run["angle_time"], run["angle"]))


def test_drum_gives_every_curve(tmp_path, drawn):
    size = mr_drum.DrumSize(
        prepare=0.3,
        window=0.2,
        settle=0.1,
        prepare_iterations=10,
        iterations=20,
        reference_iterations=30,
        count=150,
        width=12.0,
        length=3.0,
    )
    outcome = mr_drum.measure(size, one_by_one)
    assert all(np.isfinite(outcome.curves[name]) for name in ASKED)
    for found in outcome.curves["runs"].values():
        assert -1 < found["towers"]["lift"] < 1
        assert len(found["section"]["speed"]) == 150
    assert [path.name for path in mr_drum.draw(outcome, tmp_path)] == list(drawn) == ["mr-drum.png", "mr-drum-time.png"]
    assert [grains(axes) for axes in panels(drawn["mr-drum.png"])] == [150, 150, 150]
    angle, level = panels(drawn["mr-drum-time.png"])
    assert legend(angle) == list(outcome.curves["runs"])
    assert level.get_ylim()[0] >= -5  # a level is from 0 to 100 %
    assert level.get_ylim()[1] <= 105


def test_speed_up_gives_every_point(tmp_path, drawn):
    size = mr_speedup.SpeedSize(
        beds=(60, 120),
        parts=(0.5, 0.0),
        lengths=(34.0,),
        iterations=20,
        fill_iterations=10,
        window=0.05,
        rate=500.0,
        speed=0.5,
    )
    outcome = mr_speedup.measure(size, one_by_one)
    assert len(outcome.curves["measured"]) == 3
    for points in outcome.curves["measured"].values():
        assert len(points["level"]) == len(points["speed_up"]) == 2
        assert np.isfinite(points["speed_up"]).all()
    half, none = outcome.curves["reduction_level"]
    assert 0.2 < half < 0.7  # a sensor keeps the upper half apart, and what it cuts through
    assert none > 0.95
    model = [row for row in outcome.rows if row.what.startswith("model: ")]
    assert len(model) == 2
    assert all(row.agrees for row in model)  # of the formula: it does not hang on the size
    assert [path.name for path in mr_speedup.draw(outcome, tmp_path)] == list(drawn) == ["mr-speedup.png"]
    fewer, same = panels(drawn["mr-speedup.png"])
    measured = outcome.curves["measured"]
    assert [name.split(",")[0] for name in legend(same)[-3:]] == [name.split(",")[0] for name in measured]
    for axes in (fewer, same):
        assert axes.get_yscale() == "log"
        for line, points in zip(axes.lines[-3:], measured.values(), strict=True):
            np.testing.assert_allclose(line.get_ydata(), points["speed_up"])
            np.testing.assert_allclose(line.get_xdata(), 100 * np.array(points["level"]))


@pytest.mark.slow
@pytest.mark.parametrize("name, least", [("mr-collapse", 6), ("mr-speedup", 2)])
def test_quick_experiments_agree_with_the_paper(name, least):
    """Angles against full resolution, and reduction levels; of speeds, which hang on who else uses the machine, only the model's."""
    rows = [
        row
        for row in EXPERIMENTS[name].measure(EXPERIMENTS[name].quick, one_by_one).rows
        if row.agrees is not None and (row.what.startswith("model: ") or "speed-up" not in row.what)
    ]
    assert len(rows) >= least
    assert [row.what for row in rows if not row.agrees] == []
