"""Figures: every one of them is drawn from a real run, what cannot be drawn is refused in words, and walls are cut where they are."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from granum.analysis import GrainRows, Snapshot
from granum.checks import InputError
from granum.contact import Material
from granum.io import Recording
from granum.plot.fields import field_of
from granum.plot.figures import FIGURES, PACKING_FIGURES, draw_figure
from granum.plot.look import Look
from granum.plot.masking import crowded, side_of_walls
from granum.plot.picture import picture_camera
from granum.plot.repose import repose_figure
from granum.plot.section import cut, make_section, outline, surface
from granum.scene import Body, Box, Capsule, Cylinder, Mesh, Motion, Plane, Scene
from tests.command_line import granum
from tests.figures import grains, is_sound, legend, panels, segments

D = 0.013


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Recordings of a box, a turning drum and the start of a pile, some frames each."""
    folder = tmp_path_factory.mktemp("runs")
    for name, *more in (
        ("box", "--set", "count=60", "--duration", "0.2", "--every", "0.02"),
        ("drum", "--set", "count=60", "--set", "width=8", "--set", "length=3", "--duration", "0.5", "--every", "0.05"),
        ("pile", "--set", "count=30", "--duration", "0.3", "--every", "0.05"),
    ):
        result = granum("run", name, *more, "--no-picture", "-o", folder / f"{name}.h5")
        assert result.exit_code == 0, result.stderr
    return folder


REDUCED = {"aggregates", "reduction"}  # of runs with model reduction
LABORATORY = {"triaxial", "shear-cell", "circuit"}  # of scenes of these names
LOADS = {"body-force", "joint-force", "flow-rate"}  # of scenes with bodies and joints: see test_recorded_loads


PLANE = ("x [mm]", "z [mm]")
IN_TIME = "time [s]"
OVERLAP = "overlap $\\delta / d$ [%]"
SHOWN = {
    "network": ("Force network", [PLANE]),
    "velocity": ("Velocity field", [PLANE]),
    "density": ("Bulk density", [PLANE]),
    "packing": ("Solid fraction", [PLANE]),
    "pressure": ("Pressure field", [PLANE]),
    "shear": ("Shear rate", [PLANE]),
    "inertial": ("Inertial number", [PLANE]),
    "histogram": ("Overlap of contacts", [(OVERLAP, "contacts")]),
    "forces": ("Distribution of normal forces", [None]),
    "repose": ("Angle of repose", [("distance from the axis [mm]", "height above the ground [mm]")]),
    "janssen": ("Pressure in the silo", [("pressure [Pa]", "height above the floor [mm]")]),
    "energy": ("Energy", [("", "energy / $\\Sigma\\, m g d$"), (IN_TIME, "total, with potential [mJ]")]),
    "contacts": ("Contacts", [("", "contacts"), (IN_TIME, "contacts of a grain")]),
    "overlap": ("Overlap", [(IN_TIME, OVERLAP)]),
    "solver": ("Solver", [("", "residual [m/s]"), ("", "velocity error [%]"), (IN_TIME, "iterations")]),
    "picture": ("box", [("", "")]),
}
"""Title of each figure, and the names of the axes of its charts."""


@pytest.mark.parametrize("name", sorted(set(FIGURES) - {"profile"} - REDUCED - LABORATORY - LOADS))
def test_every_figure_of_a_box(runs, name, tmp_path, drawn):
    target = tmp_path / f"{name}.png"
    result = granum("plot", runs / "box.h5", name, "-o", target)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.strip() == str(target)
    assert b"granum" in target.read_bytes()[:1000]  # who made it
    figure = drawn[target.name]
    title, axes = SHOWN[name]
    assert figure.texts[0].get_text() == title
    assert "60 grains" in figure.texts[1].get_text()
    charts = panels(figure)[: len(axes)]
    for chart, names in zip(charts, axes, strict=True):
        assert names is None or (chart.get_xlabel(), chart.get_ylabel()) == names
    if PLANE in axes:
        assert is_sound(figure)


def test_a_network_has_a_line_for_every_contact_and_a_disc_for_every_grain(runs):
    with Recording(runs / "box.h5") as recording:
        s = Snapshot.read(recording)
        whole, slab = (panels(draw_figure(recording, "network", Look(slab=slab)))[0] for slab in (100.0, 2.0))
    pushing = int((s.normal_force > 0).sum())
    (forces,) = (c for c in whole.collections if c.get_array() is not None and c.get_array().size == pushing)
    assert forces.get_array().max() == pytest.approx(s.normal_force.max() / s.normal_force[s.normal_force > 0].mean())
    assert segments(whole) - pushing == segments(slab) - (segments(slab) - 6) == 6  # the outline of the box
    assert grains(whole) == s.grain_count
    assert 0 < grains(slab) < s.grain_count
    low, high = (s.position - s.radius[:, None]).min(axis=0), (s.position + s.radius[:, None]).max(axis=0)
    for k, limits in ((0, whole.get_xlim()), (2, whole.get_ylim())):
        assert limits[0] < low[k]
        assert high[k] < limits[1]


def test_curves_are_those_of_the_recording(runs):
    with Recording(runs / "box.h5") as recording:
        scalars, times = recording.scalars, recording.times
        energy, overlap, solver = (panels(draw_figure(recording, name)) for name in ("energy", "overlap", "solver"))
    assert legend(energy[0]) == ["kinetic", "elastic"]
    kinetic, elastic = (line.get_ydata() for line in energy[0].lines)
    assert_allclose(kinetic / elastic, scalars["kinetic_energy"] / scalars["elastic_energy"])
    assert legend(overlap[0]) == ["largest", "mean"]
    assert_allclose(solver[1].lines[0].get_ydata()[1:], 100 * scalars["velocity_error"][1:])
    assert_allclose(solver[2].lines[0].get_ydata()[1:], scalars["iterations"][1:])
    for chart in (*energy, *overlap, *solver):
        assert_allclose(chart.lines[0].get_xdata(), times)


def test_a_picture_shows_all_grains_and_the_box(runs):
    with Recording(runs / "box.h5") as recording:
        figure = draw_figure(recording, "picture")
    image, bar = figure.axes
    (pixels,) = (i.get_array() for i in image.images)
    assert np.ptp(np.asarray(pixels), axis=(0, 1)).max() > 0.3  # grains before a ground
    assert bar.get_ylabel() == "height [mm]"
    assert len(image.lines) == 12 + 1  # edges of the box, and the scale bar
    assert figure.texts[1].get_text().startswith("60 grains, t = 0.2")


@pytest.mark.parametrize("name", ["profile", "network", "velocity"])
def test_figures_of_a_drum(runs, name):
    with Recording(runs / "drum.h5") as recording:
        axes = draw_figure(recording, name, Look(average=3) if name != "network" else Look()).axes
    labels = axes[0].get_xlabel(), axes[0].get_ylabel()
    assert labels == PLANE if name != "profile" else all("/ R" in label for label in labels)


@pytest.mark.parametrize("spin", [(0, 1, 0), (0, -1, 0), (1, 0, 0), (-1, 0, 0)])
def test_sections_are_seen_from_the_side_of_pictures(spin):
    """Whichever way a drum turns, and along whichever axis; the names of the axes say where they point."""
    wall = Cylinder(material="glass", axis=tuple(map(abs, spin)), radius=0.1, length=0.1)
    body = Body(name="drum", kind="kinematic", motion=Motion(spin=spin), walls=(wall,))
    glass = Material(name="glass", density=2500, youngs_modulus=1e8)
    for view, sign in (((-62.0, 20.0), ""), ((118.0, 20.0), "-")):
        scene = Scene(materials=(glass,), bodies=(body,), view=view)
        s = Snapshot.build(scene, GrainRows(position=[(0, 0, 0), (0.01, 0.01, 0.01)], radius=0.01))
        for axis in (None, "x", "y"):
            section = make_section(s, axis, None, 1.0)
            assert section.camera.towards @ picture_camera(scene).towards > 0
            level = {"x": "y", "y": "x"}[axis or ("y" if spin[1] else "x")]
            assert section.names == (sign + level, "z")


def test_a_field_ends_at_walls_and_needs_some_grains():
    """Two places on either side of an upright wall, one of them behind its end; a patch of 5 grains and one of 6."""
    wall = np.array([[[0.0, -1.0], [0.0, 1.0]]])
    place, grain = np.array([[-0.5, 0.0], [0.5, 0.0], [0.3, 1.4]]), np.array([[-1.0, 0.0], [-0.5, 2.0]])
    assert_allclose(side_of_walls(place, grain, wall, 0.01), [0.5, -0.5, 0.5], atol=2e-3)
    assert np.isinf(side_of_walls(place, grain, wall[:0], 0.01)).all()
    filled = np.zeros((9, 4), bool)
    filled[:3] = filled[5:8] = True
    cell = np.array([[1, 1]] * 5 + [[6, 2]] * 6 + [[4, 1]] * 9 + [[-1, 0], [9, 0]])
    assert crowded(filled, cell).tolist() == (filled & (np.arange(9) > 4)[:, None]).tolist()


def test_the_figure_of_a_pile_shows_its_flank_its_fit_and_its_strays(tmp_path):
    """Tops that fall by 0.5 from 8 d, and two grains apart."""
    d = 0.01
    away, angle = np.meshgrid((np.arange(12)[:, None] + [0.1, 0.6]).ravel() * d, 2 * np.pi * np.arange(320) / 320, indexing="ij")
    heap = np.stack([away * np.cos(angle), away * np.sin(angle), 7.5 * d - 0.5 * away], axis=-1).reshape(-1, 3)
    x = np.concatenate([heap, [[0.2, 0, d / 2], [0, 0.25, d / 2]]])
    glass = Material(name="glass", density=2500, youngs_modulus=1e8)
    figure = repose_figure(Snapshot.build(Scene(materials=(glass,)), GrainRows(position=x, radius=d / 2)), "a pile")
    (axes,) = panels(figure)
    assert set(legend(axes)) == {"top of a grain of the heap", "stray", "fit", "surface of a ring", "ring of the flank"}
    (fit,) = (line for line in axes.lines if line.get_label() == "fit")
    across, up = fit.get_data()
    assert np.diff(up) / np.diff(across) == pytest.approx(-0.5)
    assert any("26.6° ± 0.0°" in text.get_text() for text in axes.texts)
    assert len(axes.collections[1].get_offsets()) == 2  # the strays


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
        for name in set(FIGURES) - {"profile", "picture"} - REDUCED - LOADS - LABORATORY:
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


def test_fields_on_slopes_end_softly(runs):
    """A bed that lies low in a drum leans on slopes: no straight side cuts its field, which fades out before the grid ends."""
    with Recording(runs / "drum.h5") as recording:
        _, _, fields = field_of(recording, Look())
    solid = fields.solid_fraction[:, :, 0]
    assert solid.max() > 0.3
    assert max(solid[0].max(), solid[-1].max(), solid[:, -1].max()) < 0.01 * solid.max()


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
    corners, triangles = surface(Capsule(material="m", radius=0.5, length=2.0))
    assert length(cut(corners, triangles, 0.3)) == pytest.approx(np.pi, rel=1e-3)
    assert length(cut(corners, triangles, 1.3)) == pytest.approx(2 * np.pi * 0.4, rel=1e-2)  # through an end
    assert length(cut(corners[:, [2, 0, 1]], triangles, 0.0)) == pytest.approx(np.pi + 2 * 2, rel=1e-3)
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
    s = Snapshot.build(scene, GrainRows(position=np.array([[0.0, 0, 0], [0, 0.05, 0]]), radius=D / 2, velocity=(1.0, 2.0, 3.0)))
    section = make_section(s, None, None, 1.0, whole_drum=True)
    assert_allclose(section.camera.up, [0, 0, 1])
    assert_allclose(section.camera.right, [1, 0, 0])
    assert section.depth == pytest.approx((-0.05 - D / 2, D / 2))
    assert_allclose(section.seen(s).velocity[0], [1, 3, -2])
    assert make_section(s, "z", 1.0, 9.0).names == ("x", "y")
