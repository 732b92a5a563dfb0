"""The experiments of SN in miniature: the search for iterations, columns, containers, Hertz's law and the fit of the iteration law."""

from __future__ import annotations

import math

import numpy as np
import pytest

from granum.analysis import GrainRows, Snapshot
from granum.analysis.cost_model import LawConstants, required_iterations
from granum.papers import EXPERIMENTS, sn_column, sn_hertz, sn_law, sn_order, sn_silo, sn_table1
from granum.papers.sn_systems import Rest, container, elastic_overlap, exponent, iterations_for_overlap
from granum.pool import run_jobs
from granum.scene.library import make_scene

REST = Rest(ramp=2.0, hold=0.4)


def alone(jobs):
    return run_jobs(jobs, workers=1)


def finite(curves):
    """All numbers of nested curves are."""
    if isinstance(curves, dict):
        return all(finite(part) for part in curves.values())
    return isinstance(curves, list) or bool(np.isfinite(np.asarray(curves, float)).all())


def row(outcome, start):
    return next(row for row in outcome.rows if row.what.startswith(start))


@pytest.mark.parametrize("first", [1, 7, 100, 5000])
def test_search_finds_where_a_power_law_crosses(first):
    """overlap = 3 / N: exact on logarithmic axes, wherever the search begins."""
    found, runs = iterations_for_overlap(lambda n: 3 / n, [0.1, 0.03, 5.0], first, 5000)
    assert found[:2] == [pytest.approx(30), pytest.approx(100)]
    assert found[2] == 1  # one iteration is enough
    assert (np.diff(runs[:, 0]) > 0).all()


def test_search_says_what_is_not_reached():
    found, runs = iterations_for_overlap(lambda n: 0.2 + 1 / n, [0.1, 0.3], 4, 64)
    assert math.isnan(found[0])
    assert found[1] == pytest.approx(10, rel=0.05)
    assert runs[:, 0].max() == 64


def test_exponent_of_a_power_law():
    assert exponent([1, 2, 4, 8], [3, 6, np.nan, 24]) == pytest.approx(1)
    assert math.isnan(exponent([1, 2], [3, np.nan]))


def test_elastic_overlap_is_hertz_s():
    """One grain on a plane: delta = (m g / k_n)^(2/3), k_n = 4/3 E / (2 (1 - nu^2)) sqrt(r)."""
    stiffness = 4 / 3 * 5e6 / (2 * 0.91) * math.sqrt(0.005)
    weight = 2500 * math.pi / 6 * 1e-6 * 9.82
    assert elastic_overlap(container(1, 1.0, REST)) == pytest.approx((weight / stiffness) ** (2 / 3) / 0.01, rel=1e-12)


def test_column_needs_iterations_for_its_height_over_the_error(tmp_path):
    """SN Fig. 5: N_it ~ N_p / eps, near c0 c2 l / eps."""
    size = sn_column.ColumnSize((10, 20), Rest(ramp=3.0, hold=0.5), tolerances=(0.1, 0.05))
    outcome = sn_column.measure(size, alone)
    assert finite(outcome.curves)
    required = outcome.curves["required"]
    assert 1.7 < required["5 %"][1] / required["5 %"][0] < 2.6
    assert 1.6 < required["5 %"][1] / required["10 %"][1] < 2.4
    assert row(outcome, "N_it / (c0 c2 l / eps)").agrees
    assert (outcome.curves["required_beyond_elastic"]["5 %"] < required["5 %"]).all()
    assert [figure.name for figure in sn_column.draw(outcome, tmp_path)] == ["sn-column.png"]


def test_overlaps_of_soft_and_stiff_columns_are_hertz_s(tmp_path):
    """SN 5.4: mean error below 0.001 d with 500 iterations; 5 grains are solved far better."""
    size = sn_hertz.HertzSize((1e5, 1e9), REST, count=5, iterations=200)
    outcome = sn_hertz.measure(size, alone)
    assert outcome.rows[-1].agrees
    np.testing.assert_allclose(outcome.curves["overlap"][0], outcome.curves["exact"][0], rtol=1e-3)  # still settling
    assert outcome.curves["exact"][0, 1] / outcome.curves["exact"][1, 1] == pytest.approx(1e4 ** (2 / 3))
    assert len(sn_hertz.draw(outcome, tmp_path)) == 1


def test_order_experiment_compares_all_orders(tmp_path):
    outcome = sn_order.measure(sn_order.OrderSize(((1, 10), (6, 60)), REST), alone)
    assert set(outcome.curves["required"]) == set(sn_order.ORDERS)
    assert finite(outcome.curves)
    assert 0.5 < row(outcome, "random / sequential, containers").value < 2
    assert len(sn_order.draw(outcome, tmp_path)) == 1


def test_every_row_of_the_table_agrees(tmp_path):
    outcome = sn_table1.measure(sn_table1.QUICK, alone)
    assert len(outcome.rows) == 34
    assert all(row.agrees for row in outcome.rows)
    assert len(sn_table1.draw(outcome, tmp_path)) == 1


@pytest.fixture(scope="module")
def silo():
    size = sn_silo.SiloSize(((6, (60, 120)),), REST, profile_count=300, profile_iterations=(4, 60), profile_width=5.0, profile_seeds=3)
    return sn_silo.measure(size, alone)


def test_container_experiment_returns_every_curve(silo, tmp_path):
    filling = silo.curves["fillings"]["6 d"]
    assert finite({name: part for name, part in filling.items() if name != "width"})
    assert filling["required"][1] > filling["required"][0]
    assert filling["height"][1] > 1.6 * filling["height"][0]
    assert [figure.suffix for figure in sn_silo.draw(silo, tmp_path)] == [".png", ".png"]


def test_few_cold_iterations_let_a_container_collapse(silo):
    """SN Fig. 3: and the pressure grows with depth instead of saturating. The lower half of the axis against the upper half: in one bin
    single chains of force show."""
    few, many = (silo.curves["profiles"][n] for n in ("4", "60"))
    assert few["height"] < 0.75 * many["height"]
    assert few["overlap"] > 5 * many["overlap"]
    growth = [p[: len(p) // 2].mean() / p[-(len(p) // 2) :].mean() for p in (few["axis_pressure"], many["axis_pressure"])]
    assert growth[0] > 2 * growth[1]
    assert many["segments"].shape == (len(many["force"]), 2, 2)


def test_fit_gives_back_the_constants_of_a_law():
    constants = LawConstants(0.25, 1.5, 0.5)
    width, height = (grid.ravel() for grid in np.meshgrid([3.0, 6.0, 15.0, 80.0], [3.0, 10.0, 40.0]))
    inertial = np.where(width == 80, 0.2, 0.0)
    systems = {
        "width": width,
        "height": height,
        "inertial": inertial,
        "required": required_iterations(width, height, inertial, 0.05, constants),
    }
    systems["required"][width < 5] = 1000.0  # too narrow for arches: not in the fit
    systems["required"][1] = np.nan  # not reached
    found, errors, r_squared, rms = sn_law.fit_law(systems)
    assert found == pytest.approx(constants, rel=1e-5)
    assert max(errors) < 1e-4
    assert r_squared == pytest.approx(1)
    assert rms < 1e-3


def test_thickness_of_a_ring_in_a_drum():
    """Two layers of touching grains along a quarter of the wall are 2 d thick; one layer along another quarter makes it 1.5 d."""
    scene = make_scene("drum", {"kind": "smooth", "width": 40, "diameter": 0.01, "size_ratio": 1, "count": 10})
    angle = np.linspace(-math.pi, -math.pi / 2, 64, endpoint=False) + 0.01
    rings = [(0.195, angle), (0.185, angle), (0.195, angle + math.pi / 2)]
    place = np.concatenate([np.stack([r * np.cos(a), np.zeros(len(a)), r * np.sin(a)], axis=1) for r, a in rings])
    snapshot = Snapshot.build(scene, GrainRows(position=place, radius=0.005), time=10.0)
    assert sn_law.thickness(snapshot) == pytest.approx(1.5, abs=0.05)


def test_law_experiment_searches_containers_and_drums(tmp_path):
    size = sn_law.LawSize(
        sn_silo.SiloSize(((6, (60, 120)),), REST, profile_count=10, profile_iterations=(5,)),
        sn_law.DrumSize(20, (100, 200), (0.0, 1.0), prepare_iterations=20, prepare=0.2, turn=0.0, more=0.3),
    )
    outcome = sn_law.measure(size, alone)
    systems = outcome.curves["systems"]
    assert finite(systems)
    assert list(systems["width"]) == [6, 6, 20, 20, 20, 20]
    assert (systems["inertial"][:2] == 0).all()
    assert systems["inertial"][2:4].max() < systems["inertial"][4:].min()  # at rest, and turning
    assert (systems["required"][[1, 3, 5]] > systems["required"][[0, 2, 4]]).all()
    assert len(sn_law.draw(outcome, tmp_path)) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, shown",
    [
        ("sn-column", ("N_it ~ N_p^x, mean x", "N_it(2.5 %)", "N_it / (c0 c2 l / eps)")),
        ("sn-hertz", ("largest mean error",)),
        ("sn-order", ("random / sequential, containers",)),
        ("sn-silo", ("6 d: N_it ~ N_p^x", "9 d: N_it ~ N_p^x", "15 d: N_it / SN (41)", "9 d, 2500 grains: height / length")),
        ("sn-law", ("c0", "c1", "c2", "N_it / SN (41), median")),
    ],
)
def test_quick_experiments_agree_with_the_paper(name, shown):
    """Where they are known to; in columns a random order needs 1.3 times the iterations of a sequential one."""
    outcome = EXPERIMENTS[name].measure(EXPERIMENTS[name].quick, run_jobs)
    for start in shown:
        assert row(outcome, start).agrees
