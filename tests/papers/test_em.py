"""EM in miniature: exponents near jamming, iterations of the minimisers, and shear that does not depend on its increments."""

from __future__ import annotations

import json

import numpy as np
import pytest

from granum.papers import EXPERIMENTS, em_fig2, em_iterations, em_scaling, em_shear, em_table1
from granum.papers.em_packings import slope
from granum.pool import run_jobs
from tests.command_line import granum
from tests.figures import is_sound, legend, panels

TINY = {
    "em-fig2": em_fig2.ResidualSize(count=128, limit=1000),
    "em-table1": em_table1.TableSize(count=256, phi=0.86, repeats=1, limit=3000),
    "em-scaling": em_scaling.ScalingSize(count=128, seeds=3, above=(1e-3, 2e-3, 5e-3, 1e-2), accuracy=1e-5),
    "em-iterations": em_iterations.IterationsSize(count=256, seeds=1, above=(1e-2, 1e-3, 1e-4), accuracy=5e-6, repeats=1),
    # The packing of seed 1 rearranges in its first increment of 4e-4, and nothing is said of those.
    "em-shear": em_shear.ShearSize(count=128, strain=4e-3, small=1e-3, phi=0.88, seed=2),
}


@pytest.fixture(scope="module")
def outcomes():
    done = {}

    def outcome(name):
        if name not in done:
            done[name] = EXPERIMENTS[name].measure(TINY[name], lambda jobs: run_jobs(jobs, workers=1))
        return done[name]

    return outcome


def test_pressure_and_contacts_follow_their_powers(outcomes):
    """p ~ (phi - phi_cr)^(alpha - 1) and z - z_0 ~ (phi - phi_cr)^(1/2). Three packings of 128 grains have some 10 contacts to spare at
    1e-3, which the mean knows to 10 %; over a decade that is 0.1 in the exponent of z, and far less in that of p. G of so few
    grains is too noisy for an exponent, but it should grow 3 and 10 times.
    """
    laws = outcomes("em-scaling").curves["laws"]
    assert laws["hooke"]["pressure"]["exponent"] == pytest.approx(1.0, abs=0.1)
    assert laws["hertz"]["pressure"]["exponent"] == pytest.approx(1.5, abs=0.15)
    for law in ("hooke", "hertz"):
        assert laws[law]["z"]["exponent"] == pytest.approx(0.5, abs=0.15)
        assert laws[law]["shear"]["mean"][-1] > laws[law]["shear"]["mean"][0] > 0


@pytest.mark.parametrize("case", em_table1.CASES)
def test_preconditioners_save_iterations(outcomes, case):
    """All converge to a minimum; the adjacency saves iterations, and the stiffness of the contacts needs a few dozen."""
    found = outcomes("em-table1").curves["cases"][case]
    for method in ("lbfgs", "lbfgs+adjacency", "cg", "fire", "lbfgs+contacts", "newton+contacts", "auto"):
        assert found[method]["converged"], method
    assert found["lbfgs+contacts"]["iterations"] < found["lbfgs"]["iterations"] / 3
    if case != "strong kick":  # which makes contacts anew
        assert found["lbfgs+adjacency"]["iterations"] < found["lbfgs"]["iterations"]
        assert found["lbfgs+contacts"]["iterations"] < 60


def test_iterations_stay_flat_towards_jamming(outcomes):
    """Plain methods need ever more iterations, those with the stiffness of the contacts do not."""
    median = outcomes("em-iterations").curves["median"]
    for method in ("lbfgs", "fire"):
        assert median[method]["iterations"][-1] > 1.5 * median[method]["iterations"][0]
    for method in ("lbfgs+contacts", "newton+contacts", "auto"):
        assert median[method]["iterations"].max() <= 60


def test_small_shear_does_not_depend_on_increments(outcomes):
    """Without rearrangements every increment leads to the same states, to the tolerance of the minimisations."""
    rows = [row for row in outcomes("em-shear").rows if row.agrees is not None]
    assert len(rows) == 8
    assert all(row.agrees for row in rows)
    finest = outcomes("em-shear").curves["runs"]["0.0001"]
    assert len(finest["strain"]) == 41
    assert finest["stress_along"][-1] > finest["stress_along"][0]  # the packing resists
    assert (np.abs(finest["stress_along"]) <= finest["stress_dev"] * (1 + 1e-12)).all()


def test_residuals_fall(outcomes):
    """From the same start, to the tolerance or as far as the limit allows."""
    methods = outcomes("em-fig2").curves["methods"]
    first = {one["residual"][0] for one in methods.values()}
    assert len(first) == 1
    for name in ("lbfgs", "lbfgs+adjacency", "fire", "auto"):
        assert methods[name]["residual"][-1] < 1e-3 * methods[name]["residual"][0]


LABELS = {
    "em-fig2": ["$\\max |g|$ [N], $k$ = 1 N/m, cell of 1 m", ""],  # the two share the axis
    "em-table1": ["iterations", "time [s]"],
    "em-scaling": ["pressure $p$ [N/m]", "shear modulus $G$ [N/m]", "$z - z_0$"],
    "em-iterations": ["iterations", "time [s]"],
    "em-shear": ["$\\sigma_{iso}$ [N/m]", "$\\sigma_{dev}$ [N/m]", "$F_{iso}$", "$F_{dev}$"],
}


@pytest.mark.parametrize("name", TINY)
def test_figures(outcomes, name, tmp_path, drawn):
    paths = EXPERIMENTS[name].draw(outcomes(name), tmp_path)
    assert [p.name for p in paths] == [f"{name}.png"]
    assert is_sound(drawn[f"{name}.png"])
    shown = panels(drawn[f"{name}.png"])
    assert [axes.get_ylabel() for axes in shown] == LABELS[name]
    assert len(legend(shown[0])) == len([line for line in shown[0].lines if not line.get_label().startswith("_")]) or name == "em-table1"


def test_slope_of_a_power_law():
    x = np.array([1.0, 2.0, 4.0, 8.0])
    value, error = slope(x, 3 * x**0.5)
    assert value == pytest.approx(0.5)
    assert error == pytest.approx(0, abs=1e-12)
    assert np.isnan(slope(x, -x)[0])


def test_benchmark_of_minimisers():
    done = granum("bench", "minimise", "--particles", "64", "--json")
    assert done.exit_code == 0
    result = json.loads(done.stdout)
    assert set(result["packings"]) == {"64", "256"}
    assert all(one["auto"]["converged"] for one in result["packings"].values())
    assert "auto" in result["growth"]["seconds"]


@pytest.mark.parametrize("bad", [["--particles", "10"], ["--dim", "4"], ["--sizes", "0"]])
def test_bad_benchmark_is_refused(bad):
    assert granum("bench", "minimise", *bad).exit_code == 2


@pytest.mark.slow
def test_exponents_of_large_packings():
    """EM's exponents within 0.05 (p), 0.1 (G) and 0.07 (z)."""
    outcome = em_scaling.measure(em_scaling.QUICK, run_jobs)
    assert all(row.agrees for row in outcome.rows if row.agrees is not None)


@pytest.mark.slow
def test_table_of_the_paper():
    """Adjacency: 1.5 x fewer iterations, of 4096 grains."""
    found = em_table1.measure(em_table1.QUICK, lambda jobs: run_jobs(jobs, workers=1)).curves["cases"]
    for case in ("growth", "shear", "kick"):
        assert found[case]["lbfgs"]["iterations"] > 1.5 * found[case]["lbfgs+adjacency"]["iterations"]
        assert found[case]["newton+contacts"]["iterations"] < 60
