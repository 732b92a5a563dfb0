"""The experiment with the excavator in miniature: its rows, its figures, and the force that it compares."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from granum.papers import EXPERIMENTS, ws_excavator
from granum.papers.experiment import Outcome
from granum.papers.ws_excavator import ACCURATE, COMPARED, QUICK, in_drag
from tests.figures import legend, panels


def run_of(scale: float, height: float) -> dict[str, object]:
    """As ``dig`` returns it, made up: a force of 100 kN x scale in the drag, none elsewhere."""
    time = np.arange(0.0, 13.0, 0.01) + 0.01
    drag = (time >= 8) & (time <= 10)
    rng = np.random.default_rng(0)
    place = rng.random((50, 3)) * [2, 1, 1] + [5, -0.5, -1]
    return {
        "time": time,
        "force": {name: np.where(drag, -1e5 * scale, 0.0) for name in ws_excavator.CYLINDERS},
        "load_time": time[::10],
        "load": time[::10] * 10,
        "drag": np.array([8.0, 10.0]),
        "height": height,
        "settled_height": height,
        "displaced": 0.1 * scale,
        "lifted_load": 100.0 * scale,
        "energy": {"motors": 1e4, "left_over": -10.0},
        "drift": 1e-7,
        "wall_seconds": 2.0,
        "cpu_seconds": 1.0,
        "bed": {"x": place[:, 0], "y": place[:, 1], "z": place[:, 2], "radius": np.full(50, 0.03)},
        "trench": np.array([[5.0, -0.5, -1.0], [7.0, 0.5, 0.0]]),
    }


RUNS = {"cold": run_of(1.0, 0.8), "history": run_of(1.5, 0.88), ACCURATE: run_of(1.6, 0.9)}


def made_up(jobs):
    return [RUNS[job.args[1]] for job in jobs]


def test_rows_stand_beside_what_the_paper_says():
    outcome = ws_excavator.measure(QUICK, made_up)
    found = {row.what: row for row in outcome.rows}
    assert in_drag(RUNS["cold"]) == pytest.approx(1e5)
    for what, value in (
        ("undisturbed height, history / cold - 1", 10.0),
        ("displaced volume, history / cold - 1", 50.0),
        ("stick cylinder force in the drag, history / cold", 1.5),
    ):
        assert found[what].value == pytest.approx(value)
        assert found[what].agrees
    assert "stick force -38 %" in found["cold against solves to accuracy"].ours
    assert "ws-excavator" in EXPERIMENTS


def test_figures_show_every_run(tmp_path, drawn):
    paths = ws_excavator.draw(Outcome([], {"runs": RUNS}), tmp_path)
    assert [path.name for path in paths] == ["ws-excavator.png", "ws-excavator-bed.png"]
    assert legend(panels(drawn["ws-excavator.png"])[0]) == [*COMPARED, ACCURATE]


@pytest.mark.slow
def test_an_excavator_of_2000_stones_digs_with_every_method():
    size = dataclasses.replace(QUICK, count=2000)
    runs = {job.args[1]: job.function(*job.args) for job in _jobs(size)}
    for one in runs.values():
        assert one["lifted_load"] > 20
        assert one["drift"] < 1e-3
        assert one["energy"]["left_over"] < 0.02 * one["energy"]["motors"]  # steps and dashpots take, and bring nothing


def _jobs(size):
    collected = []

    def collect(jobs):
        collected.extend(jobs)
        return [RUNS[job.args[1]] for job in jobs]

    ws_excavator.measure(size, collect)
    return collected
