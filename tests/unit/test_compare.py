"""Two runs side by side: PP (5.1) by hand, a run against itself, windows in time, refusals."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from granum.analysis import ContactRows, GrainRows, SeriesComparison, Snapshot, compare
from granum.analysis.compare import mean_overlap_in_diameters, overlap_sums, range_error, top_height
from granum.checks import InputError
from granum.contact import Material
from granum.io import Recording
from granum.scene import Plane, Scene
from tests.command_line import granum
from tests.figures import curve, panels

D = 0.01
SCENE = Scene(materials=[Material(name="m")], walls=[Plane(material="m")])


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two columns of different stiffness, 1 s each, and the start of one."""
    folder = tmp_path_factory.mktemp("runs")
    for name, stiffness, duration, every in (("hard", 6e6, 1.0, 0.05), ("soft", 3e6, 1.0, 0.05), ("short", 6e6, 0.005, 0.005)):
        result = granum(
            "run",
            "column",
            "--set",
            "count=4",
            "--set",
            f"youngs_modulus={stiffness}",
            "--duration",
            duration,
            "--every",
            every,
            "--iterations",
            50,
            "--no-picture",
            "-o",
            folder / f"{name}.h5",
        )
        assert result.exit_code == 0, result.stderr
    return folder


def test_error_by_hand():
    """Means 2 and 3, values between 1 and 5: |2 - 3| / (5 - 1)."""
    a, b = np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 5.0])
    assert range_error(a, b) == pytest.approx(1 / 4)
    assert range_error(np.ones(3), np.ones(2)) == 0
    found = SeriesComparison("k", "", np.arange(3.0), a, np.arange(3.0), b)
    assert (found.mean_a, found.mean_b, found.error, found.mean_difference) == pytest.approx((2.0, 3.0, 1 / 4, 1 / 2))
    # The halves of a have the means 1 and 2.5 over the range 2, those of b 1 and 4 over 4.
    assert found.drift == pytest.approx(3 / 4)


def test_measures_of_a_snapshot():
    x = np.column_stack([np.zeros((30, 2)), D * np.arange(30)])
    s = Snapshot.build(
        SCENE, GrainRows(position=x, radius=D / 2), ContactRows(a=[0, 1, 0], b=[1, 2, -1], normal=(0, 0, 1), overlap=[1e-4, 2e-4, 3e-4])
    )
    assert mean_overlap_in_diameters(s) == pytest.approx(2e-4 / D)
    assert top_height(s) == pytest.approx(D * np.arange(10, 30).mean())
    assert_allclose(overlap_sums(s)[:4], np.array([4e-4, 3e-4, 2e-4, 0]) / D)
    nothing = Snapshot.build(SCENE, GrainRows(position=np.zeros((0, 3)), radius=np.zeros(0)))
    assert mean_overlap_in_diameters(nothing) == 0
    assert math.isnan(top_height(nothing))


def test_a_run_against_itself(runs):
    with Recording(runs / "hard.h5") as recording:
        found = compare(recording, runs / "hard.h5")
        assert len(recording.frame(-1).radius) == 4  # still open
    assert (found.since, found.until) == (pytest.approx(0.5), pytest.approx(1.0))
    assert len(found["overlap"].a) == 11
    for row in found.table():
        assert (row["error"], row["mean_difference"]) == (0, 0)
    assert found.overlap_sums.mean_difference == 0
    assert_allclose(found.overlap_sums.density_a, found.overlap_sums.density_b)
    assert (found.overlap_sums.density_a * np.diff(found.overlap_sums.edges)).sum() == pytest.approx(1)


def test_a_softer_column_overlaps_more(runs):
    """By Hertz 2^(2/3) times at rest, where these columns are after 0.8 s, to the rounding of the solver's sweeps."""
    found = compare(runs / "hard.h5", runs / "soft.h5", since=0.8)
    overlap = found["overlap"]
    assert overlap.mean_b / overlap.mean_a == pytest.approx(2 ** (2 / 3), rel=1e-6)
    assert 0 < overlap.error <= 1
    assert overlap.time_a.min() == pytest.approx(0.8)
    assert found["contacts"].mean_a == 4
    assert found["surface_height"].mean_a > found["surface_height"].mean_b


def test_command(runs):
    result = granum("compare", runs / "hard.h5", runs / "soft.h5", "--since", "0.8", "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert [row["measure"] for row in found["rows"]] == ["overlap", "kinetic_energy", "contacts", "surface_height"]
    sums = found["overlap_sum"]
    assert set(sums) == {"mean", "median", "std", "mean_difference", "edges", "density_a", "density_b"}
    assert_allclose([np.diff(sums["edges"]) @ sums[density] for density in ("density_a", "density_b")], 1)
    table = granum("compare", runs / "hard.h5", runs / "soft.h5")
    assert table.exit_code == 0
    assert "surface height" in table.stdout
    by_checkpoint = granum("compare", runs / "hard.checkpoint.h5", runs / "soft.h5", "--since", "0.8", "--json")
    assert json.loads(by_checkpoint.stdout) == found


def test_picture_of_both(runs, tmp_path, drawn):
    picture = tmp_path / "both.png"
    assert granum("compare", runs / "hard.h5", runs / "soft.h5", "-o", picture).exit_code == 0
    *series, sums = panels(drawn["both.png"])
    assert [axes.get_ylabel() for axes in series] == ["mean overlap [d]", "$E_{kin} / N m g d$", "contacts", "surface height [m]"]
    assert {axes.get_xlabel() for axes in series} == {"time [s]"}
    assert curve(series[2], "A  hard.h5")[1][-1] == 4
    soft, hard = (curve(series[3], name)[1][-1] for name in ("B  soft.h5", "A  hard.h5"))
    assert soft < hard
    assert sums.get_xlabel() == "sum of a grain's overlaps [d]"
    refused = granum("compare", runs / "hard.h5", runs / "soft.h5", "-o", tmp_path / "nowhere" / "both.png")
    assert refused.exit_code == 2
    assert "cannot be written" in refused.stderr


def test_the_table_fits_into_80_columns_whole(runs):
    wide, narrow = (granum("compare", runs / "hard.h5", runs / "soft.h5", width=width).stdout for width in (400, 80))
    numbers = [row for row in wide.splitlines() if "%" in row]
    assert len(numbers) == 7
    assert [row.split() for row in narrow.splitlines() if "%" in row] == [row.split() for row in numbers]
    assert "…" not in narrow
    assert max(map(len, narrow.splitlines())) <= 80


@pytest.mark.parametrize(
    "more, words",
    [
        (["short.h5"], "a comparison needs 2 or more"),
        (["soft.h5", "--since", "5"], "choose another time"),
        (["soft.h5", "--since", "0.5", "--until", "0.1"], "since must lie before until (got since 0.5 s, until 0.1 s)"),
        (["none.h5"], "does not exist"),
    ],
)
def test_refusals(runs, more, words):
    result = granum("compare", runs / "hard.h5", runs / more[0], *more[1:])
    assert result.exit_code == 2
    assert words in result.stderr
    assert result.stdout == ""


def test_window_without_frames(runs):
    with pytest.raises(InputError, match=r"0 frames from 0\.51 to 0\.52 s"):
        compare(runs / "hard.h5", runs / "soft.h5", since=0.51, until=0.52)
