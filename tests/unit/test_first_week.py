"""What people do in their first week, typed as they type it: small here, in real sizes where it is slow."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from granum import Recording

SIEVE = '{ distribution = "sieve", sizes = [0.004, 0.006, 0.008], passing = [0, 0.4, 1] }'
HOPPER = """
materials = [{ name = "bead", density = 2500, youngs_modulus = "10 MPa", restitution = 0.3, friction = 0.3 }]
walls = [{ shape = "mesh", material = "bead", file = "funnel.stl", scale = 0.001 }]

[[emitters]]
material = "bead"
sizes = "8 mm"
rate = "400 1/s"
count = 120
velocity = [0, 0, -0.5]
source = { source = "rectangle", corner = [-0.04, -0.04, 0.2], edge_u = [0.08, 0, 0], edge_v = [0, 0.08, 0] }

[[sinks]]
name = "bin"
region = { shape = "box", lower = [-1, -1, -1], upper = [1, 1, -0.05] }

[run]
duration = "0.9 s"
every = "20 ms"
"""


def typed(granum, *words):
    """What a command prints; it must end well."""
    done = granum(*words)
    assert done.exit_code == 0, done.stdout + done.stderr
    return done.stdout


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def write_funnel(path, sides=16):
    """A funnel in millimetres as an STL file: 140 mm wide above, 60 mm below, 120 mm high."""
    turn = 2 * np.pi * np.arange(sides + 1) / sides
    low, high = ([(r * math.cos(a), r * math.sin(a), z) for a in turn] for r, z in ((30.0, 0.0), (70.0, 120.0)))
    facets = [f for k in range(sides) for f in ((low[k], low[k + 1], high[k + 1]), (low[k], high[k + 1], high[k]))]
    lines = ["solid funnel"]
    for corners in facets:
        lines += ["facet normal 0 0 0", "outer loop", *(f"vertex {x} {y} {z}" for x, y, z in corners), "endloop", "endfacet"]
    path.write_text("\n".join([*lines, "endsolid funnel", ""]))


def test_a_drum_with_a_sieve_curve_of_ones_own(granum):
    typed(granum, "init", "drum", "--set", "count=300", "--set", f"sizes={SIEVE}", "-o", "mine.toml")
    assert "300" in typed(granum, "check", "mine.toml", "--no-picture")
    typed(granum, "run", "mine.toml", "--duration", "30ms", "--every", "10ms", "--no-picture")
    with Recording("drum.vtkhdf") as recording:
        grains = recording.frame(-1).grains
    d = grains["diameter"]
    assert (d.min() >= 0.004, d.max() <= 0.008) == (True, True)
    weight = d**3 / (d**3).sum()
    passed = weight[d < 0.006].sum()
    spread = math.sqrt((weight**2 * ((d < 0.006) - passed) ** 2).sum())  # of a share by mass, from so many grains
    assert_allclose(passed, 0.4, atol=4 * spread)


def test_a_hopper_from_an_stl_file_with_its_mass_flow(granum):
    write_funnel(Path("funnel.stl"))
    Path("hopper.toml").write_text(HOPPER)
    summary = json.loads(typed(granum, "run", "hopper.toml", "--json", "--no-picture"))
    (bin_,) = summary["sinks"]
    assert bin_["grains"] - bin_["waiting"] == summary["taken_out"]
    flow = rows_of(typed(granum, "analyse", "hopper.vtkhdf", "flow-rate", "--window", "0.1", "--csv"))
    assert sum(float(row["rate [kg/s]"] or 0) > 0 for row in flow) >= 3
    assert int(flow[-1]["count"]) == bin_["grains"] > 60
    assert_allclose(float(flow[-1]["mass [kg]"]), bin_["mass"], rtol=1e-12)
    Path("big.toml").write_text(HOPPER.replace(", scale = 0.001", ""))
    refused = granum("run", "big.toml")
    assert refused.exit_code == 2
    assert "scale = 0.001" in refused.stderr


def test_many_packings_in_one_table(granum):
    typed(granum, "jam", "--particles", 32, "--accuracy", 1e-3, "--seeds", "0:4", "-j", 1, "-o", "jam.csv")
    found = rows_of(Path("jam.csv").read_text())
    assert [row["seed"] for row in found] == ["0", "1", "2", "3"]
    assert all(0.7 < float(row["phi_cr"]) < 0.9 for row in found)


def test_a_sweep_in_one_table(granum):
    varied = ("--vary", "count=4:8:2", "--vary", "diameter=10mm,20mm")
    typed(granum, "sweep", "column", *varied, "--measure", "height", "--duration", "50ms", "-j", 1, "-o", "sweep.csv")
    found = rows_of(Path("sweep.csv").read_text())
    for row in found:
        height = next(float(value) for name, value in row.items() if name.startswith("height"))
        size = next(float(value) for name, value in row.items() if name.startswith("diameter"))
        assert_allclose(height, float(row["count"]) * size * 1e-3, rtol=1e-2)
    assert len(found) == 4


def test_a_recording_for_paraview(granum):
    vtk = pytest.importorskip("vtkmodules.vtkIOXML")
    typed(granum, "run", "column", "--set", "count=5", "--duration", "30ms", "--every", "10ms", "--no-picture")
    typed(granum, "export", "column.vtkhdf", "--vtk", "vtk", "--paraview", "state.py")
    compile(Path("state.py").read_text(), "state.py", "exec")
    series = sorted(Path("vtk").rglob("*.vtp"))
    reader = vtk.vtkXMLPolyDataReader()
    reader.SetFileName(str(next(path for path in reversed(series) if "contacts" in path.name)))
    reader.Update()
    assert reader.GetOutput().GetNumberOfLines() == 5  # four pairs and the ground
    assert reader.GetOutput().GetCellData().HasArray("force") or reader.GetOutput().GetPointData().HasArray("force")


@pytest.mark.slow
def test_friction_is_calibrated_to_an_angle_of_repose(granum):
    """The friction that is found gives the angle again, with seeds that the search has not seen."""
    pile = ("pile", "--set", "count=1500", "--set", "rate=600", "-j", 2)
    found = json.loads(typed(granum, "calibrate", *pile, "--fit", "friction=0.05:1", "--target", "repose=28+-1", "-o", "fit.csv", "--json"))
    best = found["best"]["friction"]
    low, high = found["interval"]["friction"]
    assert 0.05 < low <= best <= high < 1
    again = ("--vary", f"friction={best}", "--vary", "seed=10:14", "--measure", "repose", "-o", "again.csv")
    typed(granum, "sweep", *pile, *again)
    angle = np.array([float(next(v for k, v in row.items() if k.startswith("repose"))) for row in rows_of(Path("again.csv").read_text())])
    assert_allclose(angle.mean(), 28, atol=1 + 2 * angle.std(ddof=1) / 2)


@pytest.mark.slow
def test_two_hundred_packings(granum):
    typed(granum, "jam", "--particles", 128, "--seeds", "0:200", "-j", 2, "-o", "jam.csv")
    phi = np.array([float(row["phi_cr"]) for row in rows_of(Path("jam.csv").read_text())])
    assert len(phi) == 200
    assert_allclose(phi.mean(), 0.8402, atol=4 * 0.0035 / math.sqrt(20))  # of twenty others: 0.8402, which scatter by 0.0035


@pytest.mark.slow
def test_a_notebook(granum):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    cells = [
        "import granum",
        'done = granum.run("column", duration="0.1 s", output="column.vtkhdf"); done',
        "done.recording.table()['time'][-1]",
        'done.recording.plot("energy");',
    ]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells])
    nbclient.NotebookClient(book, timeout=300).execute()
    assert "text/html" in book.cells[1].outputs[-1].data
    assert_allclose(float(book.cells[2].outputs[-1].data["text/plain"].removeprefix("np.float64(").rstrip(")")), 0.1)
