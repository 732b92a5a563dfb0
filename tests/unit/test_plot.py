"""Figures: every one of them is drawn from a real run, what cannot be drawn is refused in words, and walls are cut where they are."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from typer.testing import CliRunner

from granum.analysis import Snapshot
from granum.checks import InputError
from granum.cli import make_app
from granum.contact import Material
from granum.io import Recording
from granum.plot.fields import field_of
from granum.plot.figures import FIGURES, PACKING_FIGURES, draw_figure
from granum.plot.look import Look
from granum.plot.section import cut, make_section, outline, surface
from granum.scene import Body, Box, Cylinder, Mesh, Motion, Plane, Scene

D = 0.013


def granum(*arguments):
    result = CliRunner(env={"COLUMNS": "400"}).invoke(make_app(), [str(a) for a in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Recordings of a box, a turning drum and the start of a pile, some frames each."""
    folder = tmp_path_factory.mktemp("runs")
    kept = warnings.showwarning
    for name, *more in (
        ("box", "--set", "count=60", "--duration", "0.2", "--every", "0.02"),
        ("drum", "--set", "count=60", "--set", "width=8", "--set", "length=3", "--duration", "0.5", "--every", "0.05"),
        ("pile", "--set", "count=30", "--duration", "0.3", "--every", "0.05"),
    ):
        result = granum("run", name, *more, "--no-picture", "-o", folder / f"{name}.h5")
        assert result.exit_code == 0, result.stderr
    warnings.showwarning = kept
    return folder


REDUCED = {"aggregates", "reduction"}  # of runs with model reduction


@pytest.mark.parametrize("name", sorted(set(FIGURES) - {"profile"} - REDUCED))
def test_every_figure_of_a_box(runs, name, tmp_path):
    target = tmp_path / f"{name}.png"
    result = granum("plot", runs / "box.h5", name, "-o", target)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.strip() == str(target)
    assert target.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert b"granum" in target.read_bytes()[:1000]


@pytest.mark.parametrize("name", ["profile", "network", "velocity"])
def test_figures_of_a_drum(runs, name):
    with Recording(runs / "drum.h5") as recording:
        axes = draw_figure(recording, name, Look(average=3) if name != "network" else Look()).axes
    labels = axes[0].get_xlabel(), axes[0].get_ylabel()
    assert labels == ("across [mm]", "up [mm]") if name != "profile" else all("/ R" in label for label in labels)


def test_all_figures_are_listed(granum):
    listed = granum("plot", "--list").stdout
    for name, kind in (*FIGURES.items(), *PACKING_FIGURES.items()):
        assert f"  {name} " in listed
        assert kind.summary in listed
    assert "--list" in granum("plot").stderr


def test_axes_carry_units(runs):
    """Of all figures: a unit in brackets, a ratio, or a plain count."""
    counts = ("contacts", "contacts of a grain", "iterations", "probability density", "solid fraction", "inertial number $I$")
    with Recording(runs / "box.h5") as recording:
        for name in set(FIGURES) - {"profile", "picture"} - REDUCED:
            for axes in draw_figure(recording, name).axes:
                for label in (axes.get_xlabel(), axes.get_ylabel()):
                    assert label in ("", *counts) or "[" in label or "/" in label, (name, label)


def test_a_drawing_is_to_scale(runs):
    with Recording(runs / "box.h5") as recording:
        figure = draw_figure(recording, "network")
    axes = figure.axes[0]
    wide, tall = axes.get_position().size * figure.get_size_inches()
    assert wide / np.ptp(axes.get_xlim()) == pytest.approx(tall / np.ptp(axes.get_ylim()), rel=1e-9)


def test_drawn_fields_hold_the_mass_of_the_slab(runs):
    """What is drawn is what coarse graining gives: the grains whose centre lies in the slab, to rounding."""
    with Recording(runs / "box.h5") as recording:
        section, (s,), fields = field_of(recording, Look(slab=2.0))
    inside = section.holds(s.position[:, 2])
    assert 0 < inside.sum() < s.grain_count
    assert fields.density.sum() * fields.grid.cell_volume == pytest.approx(s.mass[inside].sum(), rel=1e-12)


def test_frames_by_number_and_time(runs):
    with Recording(runs / "box.h5") as recording:
        count, times = len(recording), recording.times
        assert Look().indices(recording) == [count - 1]
        assert Look(frame=2).indices(recording) == [2]
        assert Look(frame=-2).indices(recording) == [count - 2]
        assert Look(time=times[3] + 0.001).indices(recording) == [3]
        assert Look(frame=4, average=3).indices(recording) == [2, 3, 4]
        assert Look(frame=1, average=30).indices(recording) == [0, 1]
        with pytest.raises(InputError, match=f"holds {count} frames"):
            Look(frame=count).indices(recording)


@pytest.mark.parametrize(
    "run, arguments, words",
    [
        ("box", ["netwrok"], ["unknown figure 'netwrok'", "'velocity'", "Did you mean 'network'?"]),
        ("box", ["network", "--frame", "0"], ["no contact carries force", "Choose a later frame"]),
        ("box", ["pressure", "--frame", "0"], ["no contact carries force"]),
        ("box", ["histogram", "--frame", "0"], ["there are no contacts at t = 0 s"]),
        ("box", ["energy", "--frame", "1"], ["'energy' does not take frame: it shows the whole run"]),
        ("box", ["forces", "--slab", "2"], ["'forces' does not take slab: it takes frame, time"]),
        ("box", ["network", "--time", "99"], ["time 99 s is not in", "goes from 0 to"]),
        ("box", ["network", "--time", "0.1", "--frame", "1"], ["a frame or a time, not both"]),
        ("box", ["network", "--view", "w"], ["unknown view 'w'"]),
        ("box", ["velocity", "--width", "-1"], ["width must be a finite number above 0"]),
        ("box", ["velocity", "--average", "0"], ["average must be 1 or more"]),
        ("box", ["profile"], ["has no drum"]),
        ("box", ["network", "-o", "x.h5"], ["must end in .png, .pdf, .svg"]),
        ("box", ["network", "-o", "nowhere/x.png"], ["cannot be written"]),
        ("pile", ["janssen"], ["no side walls"]),
        ("pile", ["network", "--frame", "0"], ["there are no grains at t = 0 s"]),
        ("missing", ["network"], ["does not exist"]),
    ],
)
def test_refusals(runs, run, arguments, words, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    result = granum("plot", runs / f"{run}.h5", *arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    for word in words:
        assert word in result.stderr
    assert not list(tmp_path.iterdir())


def test_sections_of_walls():
    """A box: a rectangle. A cylinder across its axis: nearly a circle; along it: a rectangle. A plane may touch a corner."""

    def length(pieces):
        return np.linalg.norm(pieces[:, 1] - pieces[:, 0], axis=1).sum()

    corners, triangles = surface(Box(material="m", lower=(0, 0, 0), upper=(1, 2, 3)))
    assert length(cut(corners, triangles, 0.7)) == pytest.approx(6)
    assert length(cut(corners, triangles, 5.0)) == 0
    open_box = surface(Box(material="m", lower=(0, 0, 0), upper=(1, 2, 3), open=("+x",)))
    assert length(cut(*open_box, 0.7)) == pytest.approx(4)
    corners, triangles = surface(Cylinder(material="m", radius=0.5, length=2.0))
    assert length(cut(corners, triangles, 0.3)) == pytest.approx(np.pi, rel=1e-3)  # a polygon of 96 sides: 1 - (pi / 96)^2 / 6
    assert length(cut(corners[:, [2, 0, 1]], triangles, 0.0)) == pytest.approx(2 * (1 + 2), rel=1e-3)
    tent = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    pieces = cut(tent, np.array([[0, 1, 3], [1, 2, 3], [2, 0, 3]]), 1.0)  # the plane touches the top
    assert length(pieces) == pytest.approx(0, abs=1e-12)


def test_planes_hide_each_other():
    """A room between four planes is drawn as its square; one plane as a line across the drawing."""
    room = np.array([[1.0, 0, -1], [-1, 0, -1], [0, 1, -1], [0, -1, -1], [1, 0, -3]])  # the last one lies behind the first
    pieces = outline(room, (-4, 4, -4, 4))
    assert len(pieces) == 4
    assert_allclose(np.abs(pieces), 1)
    (ground,) = outline(np.array([[0.0, 2.0, 0.0]]), (-4, 4, -1, 7))
    assert_allclose(ground[:, 1], 0, atol=1e-12)
    assert abs(ground[:, 0]).min() > 4


def test_a_drum_is_seen_along_its_axis():
    """Whatever the axis: the drawing is upright, and grains roll down to the right."""
    ring = np.array([[np.cos(a), 0, np.sin(a)] for a in np.arange(8)]) * 0.1
    walls = (Mesh(material="m", vertices=np.r_[ring, [[0, 0.1, 0]]], triangles=[[k, k + 1, 8] for k in range(7)]),)
    scene = Scene(
        materials=[Material(name="m")],
        walls=[Plane(material="m", point=(0, 0, -1))],
        bodies=[Body(name="drum", kind="kinematic", motion=Motion(spin=(0, 2.0, 0)), walls=walls)],
    )
    s = Snapshot.build(scene, position=np.array([[0.0, 0, 0], [0, 0.05, 0]]), radius=D / 2, velocity=(1.0, 2.0, 3.0))
    section = make_section(s, None, None, 1.0, whole_drum=True)
    assert_allclose(section.camera.up, [0, 0, 1])
    assert_allclose(section.camera.right, [1, 0, 0])
    assert section.depth == pytest.approx((-0.05 - D / 2, D / 2))
    assert_allclose(section.seen(s).velocity[0], [1, 3, -2])
    assert make_section(s, "z", 1.0, 9.0).names == ("x", "y")
