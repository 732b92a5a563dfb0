"""Serial against parallel sweeps: every curve and row is there at a size of seconds, and nothing differs but the order."""

from __future__ import annotations

import numpy as np
import pytest

from granum.analysis.compare import MEASURES
from granum.papers import pp_serial_parallel as pp
from granum.pool import run_jobs
from tests.figures import legend, panels, title


def small(scene, since=0.2, duration=0.4, starts=2, iterations=(5, 10), **parameters):
    return pp.Case(scene, {"time_step": pp.TIME_STEP, **parameters}, iterations, since, duration, starts)


@pytest.fixture(scope="module")
def outcome():
    drum = {"kind": "sawtooth", "width": 10.0, "speed": 0.6, "ramp": 0.1}
    size = pp.SolverSize(
        {
            "column": small("silo", count=5, width=1.0, ramp=0.1, starts=1),
            "silo": small("silo", count=40, width=4.0, ramp=0.1),
            "drum": small("drum", count=40, length=3.0, **drum),
            "long drum": small("drum", count=80, length=6.0, **drum),
        },
        checked_steps=3,
    )
    return pp.measure(size, lambda jobs: run_jobs(jobs, 1))


def test_every_number_of_the_tables_has_a_row(outcome):
    rows = [row for row in outcome.rows if row.agrees is not None]
    assert len(rows) == len(pp.PAPER) + 1
    assert all(row.value >= 0 for row in rows)
    paper = [row.paper.split(" of ")[0] for row in rows[:-1]]
    assert paper == ["6.5 %", "9.8 %", "2 %", "0.8 %", "1.3 %", "2 %", "1 %", "3.2 %", "1.8 %", "7.3 %", "1.5 %"]


def test_any_number_of_threads_gives_the_same_bits(outcome):
    assert outcome.rows[-1].agrees
    assert all(set(one) == {"1", "2", "4", "8"} and len(set(one.values())) == 1 for one in outcome.curves["bits"].values())


def test_every_curve_is_there(outcome, tmp_path, drawn):
    for name, system in outcome.curves["systems"].items():
        for runs in system["runs"].values():
            assert set(runs) == {"serial", "parallel", *([] if name == "column" else [pp.OTHER_START])}
            assert all(set(run) == {"time", *MEASURES} and len(run["time"]) == 4 for run in runs.values())
        for found in system["histograms"].values():
            width = np.diff(found["edges"])
            assert np.allclose([found["serial"] @ width, found["parallel"] @ width], 1)
    assert [path.name for path in pp.draw(outcome, tmp_path)] == list(drawn)
    series, histograms = (panels(figure) for figure in drawn.values())
    systems = outcome.curves["systems"]
    assert len(series) == len(systems) * len(MEASURES)
    assert {len(axes.lines) for axes in series} == {4}  # serial and parallel, with two numbers of iterations
    assert [title(axes).split(",")[0] for axes in series if title(axes)] == list(systems)
    assert len(histograms) == 2 * len(systems)
    assert all(legend(axes) == ["serial", "parallel"] for axes in histograms)


def test_orders_meet_where_the_solve_converges():
    """Serial and parallel sweeps of the same column end at the same overlaps: at rest both are the solution of the same problem."""
    case = small("silo", count=5, width=1.0, ramp=0.0, starts=1, since=1.5, duration=2.0)
    serial, parallel = (pp.watch(case, 300, order, 0, 0) for order in pp.ORDERS.values())
    # A sweep over 5 grains leaves 1 - sin^2(pi/12) or so of the error: 300 of them leave rounding, and 2 s are 100 damping times.
    np.testing.assert_allclose(serial["series"]["overlap"][-1], parallel["series"]["overlap"][-1], rtol=1e-6)
    np.testing.assert_allclose(serial["sums"][-5:], parallel["sums"][-5:], rtol=1e-6)
