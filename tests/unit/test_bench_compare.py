"""granum beside other programs: who is missing is told, the rest is run, and what they answer is read rightly."""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from granum.bench import compare, figures_of, read_record
from granum.bench.bed import Bed, Measured, PeerMissing, bed_of
from granum.bench.bullet import bullet_steps
from granum.bench.lammps import grain_file, lammps_script, lammps_steps, liggghts_script, liggghts_steps
from granum.bench.settled import settled_box

COUNT = 60
ANSWER = """LAMMPS (29 Sep 2021 - Update 2)
height 0.5
Loop time of 9.0 on 1 procs for 10 steps with 60 atoms
Loop time of 0.4 on 1 procs for 4 steps with 60 atoms
Loop time of 0.8 on 1 procs for 4 steps with 60 atoms
height 0.474
"""
"""Of a program that was to make 10 steps, and twice 4."""


@pytest.fixture(scope="module")
def bed():
    return bed_of(settled_box(COUNT, 3, lambda line: None))


@pytest.fixture
def alone(monkeypatch, tmp_path):
    """No other program is installed."""
    monkeypatch.setitem(sys.modules, "pybullet", None)
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))


@pytest.fixture
def shorter(monkeypatch):
    for name in ("WARM", "STEPS", "SMOOTH_WARM", "SMOOTH_STEPS"):
        monkeypatch.setattr(compare, name, 3)


def fake(name, answer, tmp_path, monkeypatch):
    """A program of that name on the PATH that keeps what it is given and says ``answer``."""
    path = tmp_path / name
    path.write_text(f"#!/bin/sh\ncp in.bed {tmp_path}/kept.in\ncp bed.data {tmp_path}/kept.data\ncat <<'END'\n{answer}END\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")


def test_missing_programs_are_told_and_the_rest_is_run(granum, alone, shorter):
    done = granum("bench", "compare", "--particles", COUNT, "--iterations", 5)
    assert done.exit_code == 0, done.stderr
    for words in ("pip install pybullet", "apt install liggghts", "apt install lammps"):
        assert words in done.stdout
        assert words in done.stderr
    assert "60 grains at rest, 5 sweeps" in done.stdout
    lines = [line.split()[:2] for line in done.stdout.splitlines() if line.split()]
    assert ["nonsmooth", "granum"] in lines
    assert ["nonsmooth", "granum-6-rows"] in lines
    assert ["smooth", "granum"] in lines


def test_programs_stand_side_by_side(granum, alone, shorter, monkeypatch):
    """With their times over granum's, in the record, too."""
    twice = Measured(np.array([0.004, 0.002, 0.003]), 0.25, contacts=99, version="9.9")
    asked = []

    def other(bed, *how):
        asked.append((bed, how))
        return twice

    monkeypatch.setitem(compare.NONSMOOTH_PEERS, "bullet", other)
    done = granum("bench", "compare", "--particles", COUNT, "--iterations", 5, "--json", "--record", "records.csv")
    assert done.exit_code == 0, done.stderr
    result = json.loads(done.stdout)
    found, own = result["nonsmooth"]["bullet"], result["nonsmooth"]["granum"]
    assert found["milliseconds_per_step"] == pytest.approx(3.0)
    assert found["over_granum"] == pytest.approx(3.0 / own["milliseconds_per_step"])
    assert (found["sunk_diameters"], found["contacts"], found["version"]) == (0.25, 99, "9.9")
    assert set(result["missing"]) == {"liggghts", "lammps"}
    ((bed, how),) = asked
    assert isinstance(bed, Bed)
    assert how == (result["time_step"], 5, 3, 3)
    rows = read_record(Path("records.csv"))
    assert {row["figure"]: row["unit"] for row in rows}["nonsmooth.bullet.milliseconds_per_step"] == "ms"
    assert len(rows) == len(figures_of(result)) == 12
    line = granum("bench", "compare", "--particles", COUNT, "--iterations", 5, "--csv").stdout.splitlines()[0]
    assert "nonsmooth.bullet.over_granum" in line.split(",")


def test_bad_sizes_are_refused(granum):
    assert granum("bench", "compare", "--particles", 0).exit_code == 2
    assert granum("bench", "compare", "--rows", 3).exit_code == 2


def test_the_bed_is_that_of_the_settled_box(bed):
    assert bed.position.shape == (COUNT, 3)
    assert bed.diameter == pytest.approx(0.013)
    assert bed.gravity == pytest.approx(9.81)
    assert np.all(bed.position > np.array(bed.lower) + 0.49 * bed.diameter)  # contacts give a little
    assert np.all(bed.position[:, :2] < np.array(bed.upper)[:2] - 0.49 * bed.diameter)


def test_what_lammps_says_is_read(bed, tmp_path, monkeypatch):
    fake("lmp", ANSWER, tmp_path, monkeypatch)
    found = lammps_steps(bed, 5e-5, 10, 4, 2)
    np.testing.assert_allclose(found.seconds, [0.1, 0.2])
    assert found.milliseconds == pytest.approx(150.0)
    assert found.sunk == pytest.approx(0.026 / bed.diameter)
    assert found.version == "29 Sep 2021 - Update 2"
    given = (tmp_path / "kept.in").read_text().splitlines()
    assert [line for line in given if line.startswith("run ")] == ["run 10", "run 4", "run 4"]
    assert "timestep 5e-05" in given
    assert (tmp_path / "kept.data").read_text() == grain_file(bed)


def test_a_program_that_fails_is_told_in_its_own_words(bed, tmp_path, monkeypatch):
    fake("liggghts", "LIGGGHTS (Version LIGGGHTS-PUBLIC 3.8.0)\nERROR: Unknown pair style\nbye\n", tmp_path, monkeypatch)
    with pytest.raises(PeerMissing, match="liggghts failed: ERROR: Unknown pair style"):
        liggghts_steps(bed, 5e-5, 10, 4, 2)


def test_scripts_have_the_bed_and_its_material(bed):
    """Plain numbers, which other programs read."""
    for script in (liggghts_script(bed), lammps_script(bed)):
        text = "\n".join(script)
        assert "np." not in text
        assert text.count("plane") >= 5  # the box is open above
        for number in (bed.material.youngs_modulus, bed.material.restitution, bed.material.poisson_ratio, bed.material.friction):
            assert repr(number) in text
    atoms = grain_file(bed).partition("Atoms\n\n")[2].splitlines()
    assert len(atoms) == COUNT
    np.testing.assert_array_equal([[float(word) for word in line.split()[4:]] for line in atoms], bed.position)


@pytest.mark.skipif(importlib.util.find_spec("pybullet") is None, reason="pybullet is not installed")
def test_bullet_carries_the_bed(bed):
    """With enough sweeps it stays about where it lies; about as many grains touch."""
    found = bullet_steps(bed, 0.005, 500, 3, 5)
    assert found.seconds.shape == (5,)
    assert abs(found.sunk) < 0.05
    assert found.contacts > COUNT
    assert found.version


@pytest.mark.parametrize(("program", "steps"), [("liggghts", liggghts_steps), ("lmp", lammps_steps)])
def test_smooth_programs_carry_the_bed(bed, program, steps):
    """Their contacts are those of granum, so the bed gives by the same little."""
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    found = steps(bed, 5e-5, 20, 20, 2)
    assert found.seconds.shape == (2,)
    assert abs(found.sunk) < 0.01
    assert found.version
