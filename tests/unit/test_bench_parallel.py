"""The benchmark of threads: stored rows give the result of recomputed ones, and the answer holds what scripts rely on."""

from __future__ import annotations

import json

import numpy as np
import pytest

from granum.analysis.parallel_model import THREADS
from granum.bench.parallel import colour_graph, measure_parallel
from granum.bench.settled import settled_box
from granum.nonsmooth import PGS
from granum.nonsmooth.blocks import BODY, LANES
from granum.papers.stored_rows import StoredRows
from granum.parallel import Team, team
from tests.command_line import granum
from tests.figures import curve, legend, panels, title

SWEEPS = 20


def bench(*arguments):
    return granum("bench", "parallel", *map(str, arguments))


@pytest.mark.parametrize("rows", [3, 6])
@pytest.mark.parametrize("threads", [1, 2])
def test_stored_rows_give_what_recomputed_ones_give(rows, threads, monkeypatch):
    monkeypatch.setattr(team, "LEAST", 1)  # every thread works
    sim = settled_box(300, rows, lambda line: None, tilt=15.0)
    sim.stepper.detector.detect(sim.bodies, sim.time_step)
    sim.stepper.prepare(sim.time_step, sim.scene.gravity.at(0.0))
    problem = sim.stepper.problem
    slots = problem.packed.yielding * BODY
    body, data = problem.packed.body.copy(), problem.blocks.data.copy()
    PGS(iterations=SWEEPS, momentum=False).solve(problem, measure=False)
    velocity, impulse = problem.packed.body[:slots].reshape(-1, BODY)[:, :6].copy(), np.zeros((problem.contact_count, 7))
    problem.read_impulses(impulse)
    assert np.abs(problem.packed.body - body).max() > 1e-3  # there was something to do [m/s]

    problem.packed.body[:], problem.blocks.data[:], problem.team = body, data, Team(threads)
    stored = StoredRows(problem)
    stored.sweep(SWEEPS)
    # The same operations in another basis. A sweep does some hundred roundings to a velocity, and does not make earlier ones larger.
    rounding = 100 * SWEEPS * np.finfo(float).eps
    found = problem.packed.body[:slots].reshape(-1, BODY)[:, :6]
    np.testing.assert_allclose(found, velocity, rtol=0, atol=rounding * np.abs(velocity).max())
    np.testing.assert_allclose(stored.normal_impulse, impulse[:, 0], rtol=0, atol=rounding * impulse[:, 0].max())


def test_graph_of_a_problem_holds_all_its_contacts():
    sim = settled_box(300, 6, lambda line: None)
    sim.step()
    problem = sim.stepper.problem
    graph = colour_graph(problem)
    lanes = problem.colour_blocks * LANES
    assert graph.work == problem.colour_blocks
    assert graph.left_over == 0
    assert len(graph.singles) == 0
    assert lanes - LANES * len(graph.blocks) < problem.contact_count <= lanes  # only the last block of a colour has empty lanes


def test_benchmark_answers_in_json(tmp_path, drawn):
    picture = tmp_path / "speed-up.png"
    done = bench("--particles", 300, "--drum", 500, "--iterations", 3, "--json", "-o", picture)
    assert done.exit_code == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["measured"]["same_bits"] is True
    assert set(result["rows_of_plain_sweeps"]) == {"recomputed", "cached"}
    assert set(result["predicted"]) == {"box", "drum"}
    assert result["predicted"]["drum"]["grains"] == 500
    for system in result["predicted"].values():
        for gain in (*system["speed_up"].values(), *(zones["speed_up"] for zones in system["zones"].values())):
            assert list(map(int, gain)) == list(THREADS)
            assert all(0 < s <= p for s, p in zip(gain.values(), THREADS, strict=True))
        assert all(zones["work"] == system["contacts"] for zones in system["zones"].values())
        assert system["work_blocks"] >= system["span_blocks"]
    assert "t_barrier" in result["formula"]
    box, drum = panels(drawn["speed-up.png"])
    assert title(box) == f"box, {result['grains']} grains, {result['predicted']['box']['contacts']} contacts"
    assert title(drum).startswith("drum, 500 grains")
    assert (box.get_xlabel(), box.get_ylabel()) == ("threads $p$", "speed-up of a sweep $S(p) = T_1 / T_p$")
    assert curve(box, "measured, with momentum")[1] == pytest.approx(result["measured"]["solve_speed_up"])
    assert "measured, with momentum" not in legend(drum)


def test_benchmark_answers_in_words():
    done = bench("--particles", 300, "--drum", 0, "--iterations", 3, "--jacobian", "recomputed")
    assert done.exit_code == 0, done.stderr
    for words in ("the same bits", "T_p = sum over", "left out: memory bandwidth", "zones of Sundberg, 8 d"):
        assert words in done.stdout
    assert "cached" not in done.stdout.split("Sundberg (granum references): ")[0]


@pytest.mark.parametrize("bad", ["--threads 0", "--threads -3", "--jacobian none", "--drum -1", "-o /nowhere/x.png", "-o x.pdf"])
def test_bad_input_is_refused(bad):
    done = bench("--particles", 300, *bad.split())
    assert done.exit_code == 2
    assert done.stdout == ""


def test_more_threads_than_cores_are_warned_of():
    with pytest.warns(UserWarning, match="threads on"):
        measure_parallel(count=300, iterations=2, threads=64, drum=0, jacobian="recomputed", talk=lambda line: None)
