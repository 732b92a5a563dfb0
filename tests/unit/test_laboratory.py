"""Laboratory scenes through the command line: results, metrics, CSV, figures, restarts."""

from __future__ import annotations

import csv
import io
import json
import math

import numpy as np
import pytest

from granum.checks import InputError
from granum.scene.library import make_scene
from tests.command_line import granum
from tests.figures import panels

SMALL = ("--set", "count=60", "--set", "settle=1.0", "--set", "largest_strain=0.12", "--set", "time_step=0.005")


@pytest.fixture(scope="module")
def test_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("triaxial") / "t.h5"
    result = granum("run", "triaxial", *SMALL, "-o", path, "--no-picture", "--json")
    assert result.exit_code == 0, result.stderr
    return path, json.loads(result.stdout)


def test_a_triaxial_test_tells_its_results(test_file):
    path, summary = test_file
    results = summary["results"]
    assert {"packing_fraction", "axial_strain", "volumetric_strain", "peak_deviator", "critical_stress_ratio"} <= set(results)
    assert {"critical_friction_angle", "critical_packing_fraction", "critical_lateral_stress"} <= set(results)
    assert 0.3 < results["packing_fraction"] < 0.7
    assert results["axial_strain"] > 0
    assert json.loads(granum("info", path, "--json").stdout)["results"] == results


def test_its_curve_is_a_table(test_file):
    path, summary = test_file
    rows = list(csv.reader(io.StringIO(granum("analyse", path, "triaxial", "--csv").stdout)))
    assert rows[0][:3] == ["time [s]", "axial_strain", "volumetric_strain"]
    curve = np.array(rows[1:], float)
    assert curve[0, 1] == 0
    assert curve[-1, 1] == summary["results"]["axial_strain"]
    assert granum("analyse", path, "triaxial", "contacts", "--csv").exit_code == 2


def test_its_figure_has_stress_friction_and_volume(test_file, drawn):
    path, _ = test_file
    assert granum("plot", path, "triaxial", "-o", path.with_suffix(".png")).exit_code == 0
    assert len(panels(drawn["t.png"])) == 3


def test_a_triaxial_test_that_ends_early_says_so(tmp_path, drawn):
    """In the summary of the run, of the file, in the metric and in the figure; numbers are left empty."""
    path = tmp_path / "early.h5"
    result = granum("run", "triaxial", *SMALL, "--duration", "1.1", "-o", path, "--no-picture")
    assert result.exit_code == 0, result.stderr
    assert "│ note " in result.stdout
    about = json.loads(granum("info", path, "--json").stdout)
    assert about["results"]["critical_deviator"] is None
    (words,) = about["notes"]
    assert words.startswith("no critical state: the axial strain is ")
    assert "(duration)" in words
    assert json.loads(granum("analyse", path, "triaxial", "--json").stdout)["metrics"]["triaxial"]["note"] == words
    assert granum("plot", path, "triaxial", "-o", path.with_suffix(".png")).exit_code == 0
    shown = " ".join(text.get_text().replace("\n", " ") for text in panels(drawn["early.png"])[1].texts)
    assert words in shown


def test_shear_cell_tells_its_means_with_errors(tmp_path, drawn):
    path = tmp_path / "s.h5"
    asked = [f"--set={k}={v}" for k, v in {"count": 60, "length": 4, "depth": 4, "transient": 1, "strain": 2, "run.every": 0.01}.items()]
    result = granum("run", "shear-cell", *asked, "-o", path, "--no-picture")
    assert result.exit_code == 0, result.stderr
    assert "±" in next(line for line in result.stdout.splitlines() if " mu " in line)
    found = json.loads(granum("analyse", path, "shear-cell", "--json").stdout)["metrics"]["shear-cell"]
    assert 0.1 < found["mu"] < 1.0
    assert found["mu_error"] > 0
    assert len(found["profile"]["height"]) == 20
    assert granum("plot", path, "shear-cell").exit_code == 0
    assert len(panels(drawn["s-shear-cell.png"])) == 2


def test_metrics_of_other_scenes_are_refused_in_words(test_file):
    path, _ = test_file
    result = granum("analyse", path, "shear-cell")
    assert result.exit_code == 2
    assert "not made as 'shear-cell'" in result.stderr


def test_steps_of_a_triaxial_test_follow_from_its_stress():
    """0.03 of the time in which the stress moves a grain by its size, unless it is given."""
    steps = [make_scene("triaxial", count=8, stress=stress).run.time_step for stress in (100.0, 10_000.0)]
    assert steps == pytest.approx([0.03 * 0.013 * math.sqrt(3700 / stress) for stress in (100.0, 10_000.0)])
    assert make_scene("triaxial", count=8, time_step=0.002).run.time_step == 0.002


@pytest.mark.parametrize(
    "scene, values, words",
    [
        ("triaxial", {"count": 4}, "must be 8 or more"),
        ("triaxial", {"largest_strain": 1.0}, "largest_strain"),
        ("triaxial", {"control": "both"}, "control"),
        ("triaxial", {"time_step": 0.0}, "time_step"),
        ("shear-cell", {"length": 2.0}, "length"),
        ("shear-cell", {"spread": 0.7}, "spread"),
    ],
)
def test_bad_parameters_are_refused_in_words(scene, values, words):
    with pytest.raises(InputError, match=words):
        make_scene(scene, values)
