"""PP 5.3 in miniature: multigrid stands as high as the direct solver where sweeps sink, and every curve is there."""

from __future__ import annotations

import numpy as np
import pytest

from granum.papers import EXPERIMENTS, pp_multigrid
from granum.papers.pp_multigrid import MultigridSize, column
from granum.pool import run_jobs
from tests.figures import curve, is_sound, legend, panels, title

TINY = MultigridSize(
    columns=((10, 3, 0.984, 0.937), (20, 3, 0.98, 0.851)),
    duration=0.5,
    counts=(10, 20),
    width=5.0,
    silo_count=60,
    most=200,
    reference_sweeps=1500,
    run_on=0.1,
    run_on_iterations=(5, 10),
)


@pytest.fixture(scope="module")
def outcome():
    return pp_multigrid.measure(TINY, lambda jobs: run_jobs(jobs, workers=1))


@pytest.mark.parametrize(("count", "partitions"), [(20, 3), (40, 6), (100, 6)])
def test_heights_are_those_of_the_direct_solver(count, partitions):
    """Table 5.4 (heights above 0.99): E = 5e11 Pa, 100 iterations, cold. The direct column is compressed by 1e-5 of its height at rest."""
    height = column(count, partitions, "multigrid", 1.0)["height"]
    assert abs(height[-1] - 1) < 1e-3
    plain = column(count, partitions, "pgs", 1.0)["height"]
    assert plain[-1] < 0.99


def test_rows_and_curves(outcome):
    rows = {row.what: row for row in outcome.rows}
    assert rows["10 grains, 3 partitions: height, multigrid / direct"].agrees
    assert rows["20 grains, 3 partitions: height, multigrid / direct"].value == pytest.approx(1, abs=1e-3)
    work = outcome.curves["solves"]["multigrid"]["work"]
    assert (work < outcome.curves["solves"]["momentum"]["work"]).all()
    silo = outcome.curves["silo"]
    assert silo["multigrid"]["friction"] == pytest.approx(silo["converged"]["friction"], rel=0.1)
    for start in ("none", "history"):
        for solve in silo["solves"][start].values():
            assert (np.diff(solve["work"]) > 0).all()
            assert solve["error"][-1] < solve["error"][0]


def test_figures(outcome, tmp_path, drawn):
    paths = EXPERIMENTS["pp-multigrid"].draw(outcome, tmp_path)
    assert [p.name for p in paths] == ["pp-multigrid.png", "pp-multigrid-silo.png"]
    *heights, overlap, histogram, work = panels(drawn["pp-multigrid.png"])
    assert [title(axes) for axes in heights] == ["10 grains, 3 partitions", "20 grains, 3 partitions"]
    assert legend(heights[0]) == ["direct", "pgs", "momentum", "multigrid"]
    assert [axes.get_ylabel() for axes in (overlap, histogram, work)] == [
        "mean overlap $\\bar\\varepsilon_c$ [d]",
        "contacts",
        "work [plain sweeps]",
    ]
    for method in ("pgs", "momentum", "multigrid"):
        np.testing.assert_allclose(curve(work, method)[1], outcome.curves["solves"][method]["work"])
    silo = panels(drawn["pp-multigrid-silo.png"])
    assert len(silo) == 6
    assert is_sound(drawn["pp-multigrid-silo.png"])


@pytest.mark.slow
@pytest.mark.parametrize("start", ["none", "history"])
def test_silo_needs_a_tenth_of_the_work(silo_of_2000, start):
    """15 d, 2000 grains, 1 % of the stress profile: a tenth of the work of plain sweeps from the same start, less than momentum."""
    work = {method: pp_multigrid.work_needed(curve) for method, curve in silo_of_2000["solves"][start].items()}
    assert work["multigrid"] < work["pgs"] / 10
    assert work["multigrid"] < work["momentum"]


@pytest.fixture(scope="module")
def silo_of_2000():
    size = MultigridSize(width=15.0, silo_count=2000, most=1500, reference_sweeps=12_000, run_on=0.01, run_on_iterations=())
    return pp_multigrid.silo(size)
