"""The excavator with model reduction in miniature: its rows, its figures, and the peak that it compares."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from granum.papers import EXPERIMENTS, mr_excavator
from granum.papers.experiment import Outcome
from granum.papers.mr_excavator import QUICK, peak
from granum.papers.ws_excavator import CYLINDERS
from tests.figures import legend, panels


def run_of(scale: float, cpu: float, level: float) -> dict[str, object]:
    """As ``dig`` returns it, made up: a force of 100 kN x scale in the drag, none elsewhere."""
    time = np.arange(3.0, 13.0, 0.01) + 0.01
    drag = (time >= 8) & (time <= 10)
    place = np.random.default_rng(0).random((50, 3)) * [2, 1, 1] + [5, -0.5, -1]
    return {
        "time": time,
        "level_time": time,
        "level": np.full(len(time), level),
        "level_mean": level,
        "level_spread": 0.0,
        "grains": 50,
        "force": {name: np.where(drag, -1e5 * scale, 0.0) for name in CYLINDERS},
        "load": time * 10,
        "deepest": np.full(len(time), 1e-3),
        "drag": np.array([8.0, 10.0]),
        "displaced": 0.1 * scale,
        "lifted_load": 100.0 * scale,
        "cpu_seconds": cpu,
        "bed": {"x": place[:, 0], "y": place[:, 1], "z": place[:, 2], "radius": np.full(50, 0.03), "state": np.arange(50) % 3},
        "trench": np.array([[5.0, -0.5, -1.0], [7.0, 0.5, 0.0]]),
        "drift": 1e-7,
    }


def made_up(jobs):
    if jobs[0].function is not mr_excavator.dig:
        return [{}]
    return [run_of(1.0, 6.0, 0.0), run_of(1.05, 1.0, 0.9)]


def test_rows_stand_beside_the_floors():
    outcome = mr_excavator.measure(QUICK, made_up)
    found = {row.what: row for row in outcome.rows}
    full, (reduced,) = outcome.curves["full"], outcome.curves["reduced"]
    assert peak(outcome.curves["runs"][full], "stick") == pytest.approx(1e5)
    assert outcome.curves["speed_up"] == pytest.approx(6.0)
    for what, value in (
        (f"reduction level, {reduced}", 90.0),
        (f"speed-up of 50 stones, {reduced}", 6.0),
        (f"peak force of the stick cylinder, {reduced} against {full}", 5.0),
    ):
        assert found[what].value == pytest.approx(value)
        assert found[what].agrees is not False
    assert "mr-excavator" in EXPERIMENTS


def test_figures_show_every_run(tmp_path, drawn):
    outcome = mr_excavator.measure(QUICK, made_up)
    paths = mr_excavator.draw(Outcome([], outcome.curves), tmp_path)
    assert [path.name for path in paths] == ["mr-excavator.png", "mr-excavator-bed.png"]
    assert legend(panels(drawn["mr-excavator.png"])[0]) == list(outcome.curves["runs"])
    assert legend(panels(drawn["mr-excavator.png"])[3]) == outcome.curves["reduced"]


@pytest.mark.slow
def test_a_bed_of_1000_stones_is_dug_with_the_forces_of_full_resolution():
    """Most of the bed stays merged, and the bucket goes into no stone deeper than at full resolution."""

    def one_by_one(jobs):
        return [job.function(*job.args) for job in jobs]

    outcome = mr_excavator.measure(dataclasses.replace(QUICK, count=1000), one_by_one)
    full, reduced = outcome.curves["runs"].values()
    assert outcome.curves["reduction_level"] > 0.3
    assert reduced["deepest"].max() < 1.5 * full["deepest"].max()
    assert reduced["drift"] < 1e-3
