"""The experiment with the balling circuit: its rows from made-up runs, its figure, and itself in miniature."""

from __future__ import annotations

import numpy as np
import pytest

from granum.papers import EXPERIMENTS, ws_circuit
from granum.papers.methods import iterations_within
from granum.papers.ws_circuit import COMPARED, QUICK, STAGES, CircuitSize
from tests.figures import legend, panels

TINY = CircuitSize(
    iterations=(2, 5),
    prepare=1.0,
    prepare_iterations=5,
    settle=0.1,
    window=0.2,
    scene={"drum_width": 8, "drum_length": 8, "speed": 3.0, "rate": 30, "belt_length": 6, "belt_speed": 0.2, "rollers": 4},
)
HALF = {"cold": {"drum": 24.0, "belt": 12.0, "sieve": 2.0}, "history": {"drum": 8.0, "belt": 6.0, "sieve": 2.0}}
HALF["momentum + history"] = dict.fromkeys(STAGES, 1.0)


def made_up(jobs):
    """Errors of exp(-N / half), and steps of 1 ms + 0.1 ms N."""
    found = []
    for job in jobs:
        if job.function is ws_circuit.prepare:
            found.append({})
            continue
        _, _, method, n = job.args
        values = {stage: 40 * (1 - np.exp(-n / HALF[method][stage])) for stage in STAGES}
        numbers = {f"{stage}_{what}": 1.0 for stage in STAGES for what in ("flow", "d50")} | {"evenness_along": 0.7, "evenness_across": 0.6}
        gaps = {"gap": np.array([0.01, 0.012]), "flow": np.array([0.1, 0.2, 0.05])}
        found.append({**values, "drum_scatter": 1.0, "belt_scatter": 1.0, "numbers": numbers, "gaps": gaps, "cpu": 1e-3 + 1e-4 * n})
    return found


def test_rows_stand_beside_what_the_paper_says(tmp_path, drawn):
    """Within 5 % where exp(-N / half) = 0.05: N is 3 half, and the most demanding part decides what the whole circuit costs."""
    outcome = ws_circuit.measure(QUICK, made_up)
    found = {row.what: row for row in outcome.rows}
    need = outcome.curves["need"]
    assert need["drum"]["history"] == pytest.approx(24, rel=0.15)  # of a line between 10 and 25
    assert found["drum: cold / history"].value == pytest.approx(3, rel=0.2)
    assert found["belt: cold / history"].value == pytest.approx(2, rel=0.2)
    assert found["drum: cold / history"].agrees
    assert found["sieve: iterations, cold or history"].value == pytest.approx(6, rel=0.2)
    assert found["whole circuit: iterations, cold / history"].value == found["drum: cold / history"].value
    ratio = (1e-3 + 1e-4 * need["drum"]["cold"]) / (1e-3 + 1e-4 * need["drum"]["history"])
    assert found["whole circuit: CPU time, cold / history"].value == pytest.approx(ratio)
    assert "ws-circuit" in EXPERIMENTS
    assert [path.name for path in ws_circuit.draw(outcome, tmp_path)] == ["ws-circuit.png"]
    assert legend(panels(drawn["ws-circuit.png"])[2]) == list(COMPARED)


def test_iterations_within_five_per_cent():
    sweeps = np.array([10, 100, 1000])
    assert iterations_within(sweeps, np.array([0.5, 0.99, 1.0]), 1.0) == pytest.approx(10 * 10 ** (0.45 / 0.49))
    assert iterations_within(sweeps, np.array([0.99, 0.99, 1.0]), 1.0) == 10
    assert np.isnan(iterations_within(sweeps, np.array([0.99, 0.99, 0.5]), 1.0))
    assert iterations_within(sweeps, np.array([np.nan, 0.99, 1.0]), 1.0) == 100


def test_a_circuit_in_miniature():
    outcome = ws_circuit.measure(TINY, lambda jobs: [job.function(*job.args) for job in jobs])
    curves = outcome.curves
    for method in COMPARED:
        assert ((curves["drum"][method] > 10) & (curves["drum"][method] < 80)).all()
        assert (curves["cpu"][method] > 0).all()
    assert curves["numbers"]["drum_mass"] > 0
