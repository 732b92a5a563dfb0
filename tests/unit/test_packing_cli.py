"""``granum jam``, ``minimise`` and ``shear``: results, files, and refusals in words."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from granum import PackingWriter, Recording, minimise, pack, random_packing, read_packing
from granum.quasistatic.spellings import read_law, read_sizes
from granum.scene import Discrete, LogNormal, Uniform
from tests.figures import grains, panels

PLAIN = ("--method", "lbfgs", "--preconditioner", "none")


@pytest.fixture(scope="module")
def jammed():
    """40 grains above jamming, at rest."""
    return minimise(random_packing(40, 0.88, seed=1), "lbfgs", "none").packing


@pytest.fixture
def file(jammed, granum):
    """The same in a file in the current folder."""
    with PackingWriter("packing.vtkhdf", jammed, {"seed": 1}) as out:
        out.append(jammed)
    return "packing.vtkhdf"


def refused(result, *words):
    assert result.exit_code == 2, result.stderr
    assert "Traceback" not in result.stderr
    for word in words:
        assert word in result.stderr
    return True


# jam -----------------------------------------------------------------------------------------------------------------------------


def test_jam_finds_a_packing_at_the_edge(granum, drawn):
    result = granum("jam", "--particles", 64, "--accuracy", 1e-4, "--seed", 3, "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert {"phi_cr", "z", "rattlers", "pressure", "energy", "iterations", "wall_seconds", "steps", "recording", "picture"} <= set(found)
    assert 0.78 < found["phi_cr"] < 0.88
    assert found["pressure"] > 0
    packing = read_packing("jam.vtkhdf")
    assert abs(packing.phi - found["phi_cr"]) < 1e-2
    assert grains(panels(drawn["jam.png"])[0]) >= 64  # those on the rim of the cell are drawn on both sides
    shown = granum("info", "jam.vtkhdf")
    assert shown.exit_code == 0
    assert "phi_cr" in shown.stdout
    assert json.loads(granum("info", "jam.vtkhdf", "--json").stdout)["phi_cr"] == found["phi_cr"]
    assert granum("plot", "jam.vtkhdf", "search").exit_code == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--particles", 2), ("--particles must be greater than or equal to 3", "got 2")),
        (("--dim", 4), ("--dim must be 2 or 3",)),
        (("--alpha", 1.5), ("alpha", "greater than or equal to 2")),
        (("--alpha", 2.2, "--law", "hertz"), ("--law or --alpha",)),
        (("--law", "herz"), ("unknown law 'herz'", "Did you mean 'hertz'")),
        (("--accuracy", 1e-15), ("accuracy must be from", "below rounding")),
        (("--accuracy", 0.5), ("accuracy must be from", "to 0.1")),
        (("--accuracy", "nan"), ("accuracy must be",)),
        (("--accuracy", -1), ("accuracy must be",)),
        (("--method", "newtn"), ("unknown method", "newton")),
        (("--sizes", "1;2"), ("--sizes '1;2' cannot be read", "1,1.4")),
        (("--sizes", "0,1"), ("greater than 0",)),
        (("--sizes", "1:2:3"), ("--sizes '1:2:3' cannot be read",)),
        (("--sizes", "lognormal:100"), ("within a factor of 1000",)),
        (("--sizes", "uniform:2,1"), ("lower must not exceed upper",)),
        (("--route", "sideways"), ("--route must be 'decompress' or 'compress'",)),
        (("-o", "nowhere/jam.vtkhdf"), ("nowhere does not exist",)),
        (("-o", "jam.png"), ("must be the name of a recording",)),
    ],
)
def test_jam_refuses_in_words(granum, options, words):
    assert refused(granum("jam", *options), *words)
    assert not list(Path().iterdir())


def test_sizes_and_laws_as_they_are_written():
    assert read_sizes("1,1.4") == Discrete(diameters=(1, 1.4), fractions=(1, 1))
    assert read_sizes("1:0.7,2:0.3") == Discrete(diameters=(1, 2), fractions=(0.7, 0.3))
    assert read_sizes("uniform:0.8,1.2") == Uniform(lower=0.8, upper=1.2)
    wide = read_sizes("lognormal:0.2")
    assert isinstance(wide, LogNormal)
    assert_allclose(wide.upper, np.exp(0.6))
    assert read_law(None, None).alpha == 2
    assert read_law("hertz", None).alpha == 2.5
    assert read_law(None, 3.0).alpha == 3


# minimise ------------------------------------------------------------------------------------------------------------------------


def test_methods_side_by_side_with_fire_as_baseline(granum):
    """All reach a minimum; FIRE is there without being named, the figure is written, and the table has every method."""
    arguments = ("minimise", "--packing", "40,0.88,1", "--method", "lbfgs", "--method", "cg", "-o", "res.png")
    result = granum(*arguments, "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert [m["method"] for m in found["methods"]] == ["lbfgs", "cg", "fire"]
    for m in found["methods"]:
        assert m["converged"]
        assert m["residual"] <= m["tolerance"]
        assert len(m["residuals"]) == m["iterations"] + 1
    assert found["picture"] == "res.png"
    assert Path("res.png").exists()
    table = granum(*arguments)
    assert all(word in table.stdout for word in ("lbfgs", "cg", "fire", "factors"))


def test_minimise_keeps_start_and_end(granum):
    result = granum("minimise", "--packing", "40,0.88,1", "--method", "lbfgs", "-o", "two.vtkhdf", "--json")
    found = json.loads(result.stdout)
    start, end = (read_packing("two.vtkhdf", k) for k in (0, 1))
    assert_array_equal(start.position, random_packing(40, 0.88, seed=1).position)
    assert_array_equal(end.position, minimise(random_packing(40, 0.88, seed=1), "lbfgs").packing.position)
    assert found["jammed"]
    assert Path("two.png").exists()
    again = granum("minimise", "two.vtkhdf", *PLAIN, "--frame", 0, "--json")
    assert json.loads(again.stdout)["state_hash"] == found["state_hash"]
    at_rest = granum("minimise", "two.vtkhdf", *PLAIN, "--json")
    assert json.loads(at_rest.stdout)["iterations"] == 0


def test_an_end_that_is_not_reached_is_said(granum):
    result = granum("minimise", "--packing", "40,0.88", "--method", "lbfgs", "--limit", 3)
    assert result.exit_code == 0
    assert "not converged" in result.stdout


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), ("give the recording FILE", "--packing")),
        (("--packing", "40"), ("must be N,PHI",)),
        (("--packing", "40,0.8,1,2"), ("must be N,PHI",)),
        (("--packing", "2,0.8"), ("at least 3",)),
        (("--packing", "40,1.3"), ("phi must be above 0 and at most 0.9091",)),
        (("--packing", "40,0.95", "--sizes", "1"), ("phi must be above 0 and at most 0.9069",)),
        (("--packing", "40,nan"), ("phi must be",)),
        (("--packing", "40,0.8", "--method", "newtn"), ("unknown method",)),
        (("--packing", "40,0.8", "--method", "lbfgs+magic"), ("unknown preconditioner 'magic'",)),
        (("--packing", "40,0.8", "--preconditioner", "magic", "--method", "fire"), ("unknown preconditioner",)),
        (("--packing", "40,0.8", "--tolerance", -1), ("--tolerance must be",)),
        (("--packing", "40,0.8", "-o", "nowhere/x.png"), ("does not exist",)),
        (("none.vtkhdf",), ("does not exist",)),
    ],
)
def test_minimise_refuses_in_words(granum, options, words):
    assert refused(granum("minimise", *options), *words)


def test_files_are_not_written_over_themselves(granum, file):
    assert refused(granum("minimise", file, "-o", file), "is the file that is read")
    assert refused(granum("shear", file, "-o", file), "is the file that is read")
    assert refused(granum("minimise", file, "--law", "hertz"), "a recording has its own")
    Path("text.vtkhdf").write_text("not a recording")
    assert refused(granum("minimise", "text.vtkhdf"), "not an HDF5 file")
    assert refused(granum("minimise", file, "-o", "text.vtkhdf"), "would be lost")
    whole = Path(file).read_bytes()
    Path("cut.vtkhdf").write_bytes(whole[: len(whole) // 2])
    assert refused(granum("shear", "cut.vtkhdf"), "damaged")


def test_the_end_of_a_run_is_relaxed_and_recorded(granum):
    """A frictionless column: at rest its top is at the closed form, and the recording of it can be shown, measured and drawn."""
    assert granum("run", "column", "--set", "count=5", "--duration", 0.05, "--no-picture").exit_code == 0
    result = granum("minimise", "column.vtkhdf", "-o", "relaxed.vtkhdf", "--json")
    assert result.exit_code == 0, result.stderr
    assert "friction is left out" in result.stderr
    found = json.loads(result.stdout)
    from granum import make_scene
    from granum.analysis.results import exact_column_height

    assert_allclose(found["height"], exact_column_height(make_scene("column", {"count": 5})), rtol=1e-9)
    with Recording("relaxed.vtkhdf") as recording:
        assert len(recording) == 2
        assert_allclose(recording.frame(1).position[:, 2].max() + recording.frame(1).radius[0], found["height"], rtol=1e-12)
        assert_array_equal(np.sort(recording.frame(1).contacts.b)[:1], [-1])
    assert granum("info", "relaxed.vtkhdf").exit_code == 0
    assert granum("analyse", "relaxed.vtkhdf", "overlap", "load", "height").exit_code == 0
    assert granum("plot", "relaxed.vtkhdf", "network").exit_code == 0
    assert refused(granum("minimise", "column.vtkhdf", "--preconditioner", "adjacency"), "packings in a periodic cell")
    assert refused(granum("shear", "column.vtkhdf"), "is the recording of a run")
    assert refused(granum("minimise", "column.vtkhdf", "--frame", 999), "frame 999 does not exist")


# shear ---------------------------------------------------------------------------------------------------------------------------


def test_shear_records_stress_against_strain(granum, file, jammed):
    result = granum("shear", file, "--strain", 0.01, "--step", 0.002, "--frames", 3, *PLAIN, "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert_allclose(found["curve"]["strain"], [0, 0.002, 0.004, 0.006, 0.008, 0.01], rtol=1e-12)
    assert found["complete"]
    assert found["unconverged"] == 0
    assert found["recording"] == "packing-shear.vtkhdf"
    with Recording("packing-shear.vtkhdf") as recording:
        assert_allclose(recording.times, [0, 0.006, 0.01], rtol=1e-12)
        assert_allclose(recording.scalars["stress_xy"], np.array(found["curve"]["stress_xy"])[[0, 3, 5]], rtol=1e-12)
    assert_array_equal(read_packing("packing-shear.vtkhdf", 0).position, jammed.position)
    for name in ("shear", "packing", "network", "forces"):
        assert granum("plot", "packing-shear.vtkhdf", name).exit_code == 0
    shown = " ".join(granum("info", "packing-shear.vtkhdf").stdout.split())
    assert "strain 0 to strain 0.01" in shown
    sheared, deviatoric = -np.array(found["curve"]["stress_xy"]), found["curve"]["deviatoric_stress"]
    assert f"shear stress │ {sheared[0]:.5g} to {sheared[-1]:.5g}" in shown  # what the figure draws
    assert f"deviatoric stress │ {deviatoric[0]:.5g} to {deviatoric[-1]:.5g}" in shown
    measured = json.loads(granum("analyse", "packing-shear.vtkhdf", "packing", "--frames", "0:3", "--json").stdout)
    assert_allclose(measured["metrics"]["packing"]["series"]["shear_stress"][-1], found["curve"]["shear_stress"][-1], rtol=1e-12)


def test_pure_shear_keeps_the_cell_upright(granum, file):
    result = granum("shear", file, "--pure", "--strain", 0.004, "--step", 0.002, *PLAIN, "--json")
    cell = json.loads(result.stdout)["cell"]
    assert_allclose(cell, [[1.004, 0], [0, 1 / 1.004]], rtol=1e-12)


def test_shear_refuses_in_words(granum, file, jammed):
    assert refused(granum("shear", file, "--step", 0.0), "step must be")
    assert refused(granum("shear", file, "--strain", 1e-5), "strain must be")
    assert refused(granum("shear", file, "--method", "newtn"), "unknown method")
    assert refused(granum("shear", file, "--tolerance", 0), "--tolerance must be")
    assert refused(granum("shear", file, "--strain", 1, "--step", 1e-13), "step must be at least 1e-06")
    assert refused(granum("shear", file, "--frame", 5), "frame 5 does not exist")
    with PackingWriter("loose.vtkhdf", jammed) as out:
        out.append(jammed.at(0.6))
    assert refused(granum("shear", "loose.vtkhdf"), "not jammed", "granum jam")
    assert not Path("loose-shear.vtkhdf").exists()


def test_a_refused_shear_leaves_an_older_one_alone(granum, file):
    small = ("--strain", 2e-4, "--step", 1e-4, "-o", "old.vtkhdf", "--no-picture")
    assert granum("shear", file, *small).exit_code == 0
    before = Path("old.vtkhdf").read_bytes()
    assert refused(granum("shear", file, *small, "--preconditioner", "magic"), "unknown preconditioner")
    assert refused(granum("shear", file, *small, "--preconditioner", "contacts"), "auto chooses its preconditioner")
    assert Path("old.vtkhdf").read_bytes() == before


# what goes wrong on the way ------------------------------------------------------------------------------------------------------


def test_a_picture_that_cannot_be_drawn_loses_nothing(granum, monkeypatch, file):
    import granum.plot.figures as figures

    def broken(*_):
        raise RuntimeError("no ink")

    monkeypatch.setattr(figures, "draw_figure", broken)
    result = granum("minimise", file, *PLAIN, "-o", "end.vtkhdf", "--json")
    assert result.exit_code == 0
    assert "no picture" in result.stderr
    assert json.loads(result.stdout)["picture"] is None
    assert read_packing("end.vtkhdf").count == 40


def test_a_full_disk_loses_no_result(granum, file):
    """Files cannot grow beyond 8 and 500 kB: what was found is shown all the same, with exit code 2."""
    resource = pytest.importorskip("resource")
    kept = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (8192, kept[1]))
        result = granum("minimise", file, *PLAIN, "-o", "end.vtkhdf", "--no-picture", "--json")
        resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, kept[1]))
        sheared = granum("shear", file, *PLAIN, "--strain", 0.05, "--step", 0.001, "--no-picture", "--json")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, kept)
        signal.signal(signal.SIGXFSZ, handler)
    assert result.exit_code == 2
    assert json.loads(result.stdout)["jammed"]
    assert refused(sheared, "Make room")
    found = json.loads(sheared.stdout)
    assert not found["complete"]
    assert 3 < len(found["curve"]["strain"]) < 51
    with Recording("packing-shear.vtkhdf") as recording:
        assert len(recording) == len(found["curve"]["strain"]) - 1  # all but the one that met the end of the disk


@pytest.mark.parametrize("frames, kept", [(51, [0, 0.001, 0.002]), (3, [0, 0.002])])
def test_an_interrupted_shear_keeps_its_steps(granum, monkeypatch, file, frames, kept):
    """And the packing of the last one, also where not every step has a frame."""
    import granum.runs.shear as runs

    real = runs.shear

    def stopped(*args, **kwargs):
        for number, step in enumerate(real(*args, **kwargs)):
            if number == 2:
                raise KeyboardInterrupt
            yield step

    monkeypatch.setattr(runs, "shear", stopped)
    result = granum("shear", file, "--strain", 0.01, "--step", 0.001, "--frames", frames, *PLAIN)
    assert result.exit_code == 130
    with Recording("packing-shear.vtkhdf") as recording:
        assert_allclose(recording.times, kept, rtol=1e-12)
        assert not recording.summary["complete"]
        assert len(recording.summary["curve"]["strain"]) == 3


def test_progress_tells_phi_energy_pressure_and_what_is_left(monkeypatch, jammed):
    """On a pipe as lines: the part that is done is that of the steps, or of the decades of a single residual."""
    import io

    from rich.console import Console

    from granum import progress
    from granum.quasistatic.course import Course
    from granum.quasistatic.energy import PackingEnergy
    from granum.runs import packings

    lines = io.StringIO()
    monkeypatch.setattr(progress, "stderr", lambda: Console(file=lines, width=200))
    monkeypatch.setattr(progress, "QUIET", -1.0)
    monkeypatch.setattr(progress, "LINE_EVERY", -1.0)
    course = Course(PackingEnergy(jammed.at(0.9)), "lbfgs", 1e-12, 10)
    with packings.Watch("alone", total=1) as watch:
        watch(course)
        course.move(course.x, course.E, 1e-3 * course.g)
        watch(course)
    with packings.Watch("many", total=4) as watch:
        watch.done = 3
        watch(course)
    with packings.Watch("open") as watch:
        watch(course)
    first, second, third, fourth = lines.getvalue().splitlines()
    course.move(course.x, 0.0, 0.0 * course.g)  # nothing touches any more
    with packings.Watch("loose", total=1) as watch:
        watch(course)
    assert "loose: 100%" in lines.getvalue()
    assert first.startswith("alone: 0%, phi 0.90000, p ")
    decades = 3 / (np.log10(course.first_residual / 1e-12))
    assert second.startswith(f"alone: {decades:.0%}")
    assert "left" in second
    assert third.startswith("many: 75%")
    assert fourth.startswith("open: phi")
    assert "E " in fourth
    assert "residual" in fourth


def test_help_has_examples_and_defaults(granum):
    for command in ("jam", "minimise", "shear"):
        text = granum(command, "--help").stdout
        assert f"granum {command} " in text
        assert "default" in text.lower()


def test_pack_is_on_the_menu():
    assert not pack((0.01, 0.014), 0.4, count=20).jammed


def test_earlier_packings_are_kept(granum, tmp_path, monkeypatch):
    """As those of runs: the next ones have a number in their names, unless they may replace them."""
    monkeypatch.chdir(tmp_path)
    jam = ("jam", "--particles", 20, "--no-picture")
    assert granum(*jam).exit_code == 0
    first = Path("jam.vtkhdf").read_bytes()
    again = granum(*jam, "--seed", 1)
    assert "jam.vtkhdf is the recording of an earlier run and is kept: this run writes jam-2.vtkhdf" in again.stderr
    assert Path("jam.vtkhdf").read_bytes() == first
    for _ in range(2):
        assert granum("shear", "jam.vtkhdf", "--strain", 1e-3, "--step", 1e-3, "--no-picture").exit_code == 0
        assert granum("minimise", "jam.vtkhdf", "-o", "dense.vtkhdf", "--no-picture").exit_code == 0
    assert Path("jam-shear-2.vtkhdf").is_file()
    assert Path("dense-2.vtkhdf").is_file()
    assert granum(*jam, "--seed", 1, "--overwrite").exit_code == 0
    assert Path("jam.vtkhdf").read_bytes() != first
    assert not Path("jam-3.vtkhdf").exists()
    refused = granum("jam", "--seeds", "0:2", "--overwrite")
    assert refused.exit_code == 2
    assert "--fresh" in refused.stderr
