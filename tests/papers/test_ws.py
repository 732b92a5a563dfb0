"""The experiments of WS 4.1 and 4.2 in miniature: the paper's order of the methods, every curve there, one door to all of it."""

from __future__ import annotations

import dataclasses
import json
import math

import numpy as np
import pytest

from granum.papers import EXPERIMENTS, ws_column, ws_pile, ws_triaxial
from granum.papers.ws_column import ColumnSize, residual_of_solve, settle
from granum.papers.ws_pile import PileSize, iterations_for
from granum.papers.ws_triaxial import TriaxialSize
from granum.pool import Job, run_jobs
from tests.command_line import granum
from tests.figures import legend, panels, title

TINY_COLUMN = ColumnSize(counts=(5, 10), tolerances=(0.01, 0.05), most=64, solve_count=5, solve_sweeps=40)
TINY_PILE = PileSize(
    count=60,
    rate=250,
    rest=0.3,
    seeds=2,
    iterations=(2, 40),
    references=2,
    reference_step=0.0025,
    reference_iterations=60,
    tolerances=(0.1, 0.3),
    prepare_iterations=60,
    run_on=0.1,
    run_on_iterations=20,
)


def alone(jobs):
    return run_jobs(jobs, workers=1)


def numbers(curves):
    """All arrays and numbers of nested curves."""
    if isinstance(curves, dict):
        return [x for part in curves.values() for x in numbers(part)]
    return [np.asarray(curves, float)]


@pytest.fixture(scope="module")
def columns():
    return ws_column.measure(TINY_COLUMN, alone)


@pytest.fixture(scope="module")
def pile():
    return ws_pile.measure(TINY_PILE, alone)


def test_required_iterations_grow_with_the_column_and_shrink_with_history_and_momentum(columns):
    """WS Fig. 3 at 1 %: about linear in N_p for cold, history three times fewer; momentum fewer as well."""
    short, tall = (
        dict(zip(ws_column.COMPARED, n, strict=True))
        for n in np.transpose([columns.curves["required_iterations"][method]["1 %"] for method in ws_column.COMPARED])
    )
    assert 1.5 < tall["cold"] / short["cold"] < 2.5  # 1.9: N_p^0.9
    for needed in (short, tall):
        assert 2 < needed["cold"] / needed["history"] < 6
        assert needed["momentum"] < 0.75 * needed["cold"]


def test_a_column_that_keeps_bouncing_has_not_reached_its_height():
    """Unguarded history at 5 sweeps: the mean height of 10 grains is right to 1 %, but they bounce for ever."""
    assert not settle(10, "history, unguarded", 5)[1]
    error, rest = settle(10, "history", 20)
    assert rest
    assert 0 < error < 0.01


def test_residual_falls_during_a_solve_and_history_stays_ahead():
    """WS Fig. 4: the same rate, with a lead of about 1 / (1 - 0.85) = 6.7 at the start."""
    curve = {method: residual_of_solve(10, method, 60)["normal_residual"] for method in ("cold", "history")}
    for residual in curve.values():
        assert (np.diff(residual) <= 1e-3 * residual[0]).all()
        assert residual[-1] < 0.2 * residual[0]
    lead = curve["cold"] / curve["history"]
    assert 4 < lead[0] < 10
    assert (lead > 2).all()


def test_column_experiment_returns_every_curve(columns, tmp_path, drawn):
    assert all(np.isfinite(x).all() for x in numbers(columns.curves))
    for method in ws_column.COMPARED:
        loose, tight = (columns.curves["required_iterations"][method][label] for label in ("5 %", "1 %"))
        assert (loose <= tight).all()
    assert [path.name for path in ws_column.draw(columns, tmp_path)] == list(drawn) == ["ws-column.png"]
    tight, loose, solve = panels(drawn["ws-column.png"])
    assert legend(tight) == [*ws_column.COMPARED, "linear"]
    assert solve.get_ylabel() == "mean normal residual [m/s]"
    for axes, label in ((tight, "1 %"), (loose, "5 %")):
        assert axes.get_xlabel() == "grains $N_p$"
        assert label in title(axes).replace("\\%", "%")
        for line, method in zip(axes.lines, ws_column.COMPARED, strict=False):
            np.testing.assert_allclose(line.get_ydata(), columns.curves["required_iterations"][method][label])


def test_pile_experiment_returns_every_curve(pile, tmp_path):
    curves = pile.curves
    assert set(curves["required_iterations"]) == set(ws_pile.COMPARED)
    undefined = ("required_iterations", "angle")  # NaN: never reached, or no flank
    assert all(np.isfinite(x).all() for x in numbers({name: part for name, part in curves.items() if name not in undefined}))
    assert all(curves["height_in_d"][method].shape == (2, 2) for method in ws_pile.COMPARED)
    for method in ws_pile.LOOKED_INTO:
        for kind in ws_pile.KINDS:
            assert 0.3 < curves["histogram"][method][kind].sum() <= 1.0  # the rest is solved to rounding
    assert [figure.suffix for figure in ws_pile.draw(pile, tmp_path)] == [".png", ".png"]


def test_few_cold_iterations_melt_a_pile(pile):
    """WS 4.2: with few iterations a pile sinks, with history less so."""
    height = {method: pile.curves["height_in_d"][method].mean(axis=1) for method in ("cold", "history")}
    assert height["cold"][0] < 0.9 * height["cold"][1]
    assert height["history"][0] > height["cold"][0]


def test_history_starts_a_pile_s_solve_closer_to_its_end(pile):
    """WS Fig. 7 and 8: multipliers and residual lead from the first sweep on."""
    cold, history = pile.curves["solve"]["cold"], pile.curves["solve"]["history"]
    for what in ("multiplier_error", "residual"):
        assert cold[what][0] > 2 * history[what][0]
    assert history["residual"][-1] < cold["residual"][-1] < cold["residual"][0]


def test_iterations_between_those_tried():
    tried = np.array([10, 20, 40])
    assert iterations_for(tried, np.array([0.3, 0.1, 0.0]), 0.2) == pytest.approx(10 * math.sqrt(2))
    assert iterations_for(tried, np.array([0.1, 0.1, 0.0]), 0.2) == 10
    # Good at 10 by chance only: the later miss counts.
    assert iterations_for(tried, np.array([0.1, 0.3, 0.1]), 0.2) == pytest.approx(20 * math.sqrt(2))
    assert math.isnan(iterations_for(tried, np.array([0.5, 0.4, 0.3]), 0.2))


def test_any_number_of_workers_gives_the_same_results():
    jobs = [Job(settle, (4, method, 8), cost) for cost, method in enumerate(("cold", "history", "momentum"), start=1)]
    parts = []
    assert run_jobs(jobs, 2, parts.append) == run_jobs(jobs, 1)
    assert parts[-1] == pytest.approx(1.0)


def test_a_failing_job_ends_the_experiment_with_its_error():
    with pytest.raises(ValueError, match="count of scene 'column'"):
        run_jobs([Job(settle, (count, "cold", 1), 1.0) for count in (0, 2)], 2)


def test_reproduce_by_name(tmp_path, monkeypatch):
    tiny = dataclasses.replace(TINY_PILE, count=30, rest=0.1, seeds=1, references=1, reference_step=0.005)
    monkeypatch.setitem(EXPERIMENTS, "ws-pile", dataclasses.replace(EXPERIMENTS["ws-pile"], quick=tiny))
    run = granum("reproduce", "ws-pile", "--json", "--fresh", "--workers", "1", "-o", str(tmp_path / "figures"))
    assert run.exit_code == 0
    content = json.loads(run.stdout)
    assert content.keys() >= {"name", "size", "rows", "curves", "figures", "seconds"}
    assert (content["name"], content["size"]) == ("ws-pile", "quick")
    assert all(row["ours"] and row["paper"] for row in content["rows"])
    assert len(list((tmp_path / "figures").glob("*.png"))) == len(content["figures"]) == 2


def test_reproduce_lists_what_it_knows_and_refuses_the_rest(tmp_path):
    listed = granum("reproduce", "--list")
    assert listed.exit_code == 0
    assert [line.split()[0] for line in listed.stdout.splitlines()] == list(EXPERIMENTS)
    for arguments in (["ws-pyle"], []):
        refused = granum("reproduce", *arguments)
        assert refused.exit_code == 2
        assert "'ws-column'" in refused.stderr
        assert "'ws-pile'" in refused.stderr
    (tmp_path / "file").write_text("")
    assert granum("reproduce", "ws-pile", "-o", str(tmp_path / "file" / "in")).exit_code == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, shown",
    [
        ("ws-column", ("cold: N_it", "history: N_it", "cold / history", "cold / model", "model / cold", "normal residual")),
        ("ws-pile", ("iterations, cold / history (", "iterations, cold / history, normals", "multiplier error", "residual in")),
    ],
)
def test_quick_experiments_agree_with_the_paper(name, shown):
    """Where they are known to; unguarded history at 5 % and the order of the row kinds are not as printed."""
    rows = EXPERIMENTS[name].measure(EXPERIMENTS[name].quick, run_jobs).rows
    for start in shown:
        row = next(row for row in rows if row.what.startswith(start))
        assert row.agrees


def test_triaxial_in_miniature(tmp_path, drawn):
    """Every curve is there, few cold sweeps carry less than many, and the paper's numbers stand beside ours."""
    size = TriaxialSize(count=60, platen_mass=None, seeds=1, iterations=(5, 50), prepare_iterations=40, strain=0.11, friction=0.0)
    outcome = ws_triaxial.measure(size, alone)
    critical = outcome.curves["critical"]
    assert set(critical) == set(ws_triaxial.COMPARED)
    assert critical["cold"][0] < critical["cold"][1]
    for name in ("critical", "peak", "fluctuation", "scatter", "nominal", "smooth"):
        assert all(np.isfinite(x).all() for x in numbers(outcome.curves[name]))
    assert sum("1 +- 0.2 kPa" in row.paper for row in outcome.rows) == 4
    assert [path.name for path in ws_triaxial.draw(outcome, tmp_path)] == list(drawn) == ["ws-triaxial.png"]
    assert legend(panels(drawn["ws-triaxial.png"])[0]) == ["smooth platens", *ws_triaxial.COMPARED]


def test_a_triaxial_experiment_names_tests_that_stall(monkeypatch):
    """Medians are those of the others."""
    size = TriaxialSize(count=60, platen_mass=None, seeds=3, iterations=(5, 50), prepare_iterations=40)

    def made_up(size, bed, method, iterations, friction, seed):
        lack = "no critical state: it stalled." if (method, iterations, seed, friction > 0) == ("history", 50, 2, True) else None
        number = np.nan if lack else 900.0 + 10 * seed
        names = ("critical", "nominal", "angle", "fluctuation", "peak")
        return dict.fromkeys(names, number) | {"lack": lack, "curve": {}}

    monkeypatch.setattr(ws_triaxial, "load", made_up)
    monkeypatch.setattr(ws_triaxial, "confine", lambda size, seed: {})
    outcome = ws_triaxial.measure(size, alone)
    assert outcome.curves["critical"]["history"].tolist() == [910, 905]
    assert outcome.rows[-1].what.startswith("tests that came to no critical state")
    assert outcome.rows[-1].ours == "1 of 21 (history, 50 iterations, bed 2: no critical state: it stalled.)"


def test_a_curve_levels_out_where_it_stays_near_its_end():
    sweeps = np.array([10, 20, 50, 100])
    assert ws_triaxial.levels_out(sweeps, np.array([10.0, 95.0, 50.0, 101.0]), 100.0) == 100
    assert ws_triaxial.levels_out(sweeps, np.array([99.0, 95.0, 98.0, 101.0]), 100.0) == 10
    assert math.isnan(ws_triaxial.levels_out(sweeps, np.array([10.0, 95.0, 50.0, 60.0]), 100.0))
    assert ws_triaxial.levels_out(sweeps, np.array([10.0, 95.0, 50.0, 60.0]), 100.0, np.array([0.0, 0.0, 30.0, 20.0])) == 20
