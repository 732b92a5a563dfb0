"""What ParaView gets: recordings by its own reader, series of VTK files, and a state that makes spheres of grains."""

from __future__ import annotations

import errno
import os
import sys
from types import ModuleType

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from granum import Body, Box, Capsule, Cylinder, Grains, InputError, Material, Motion, Plane, Scene, export_vtk, run, run_jam, write_state
from granum.checks import OutputError

STUFF = Material(name="stuff", density=2500, youngs_modulus=1e8)


@pytest.fixture(scope="module")
def turned(tmp_path_factory):
    """A grain on another on a plane, in a box without a lid, beside a bar that turns by 90 degrees in a second."""
    scene = Scene(
        materials=[STUFF],
        walls=[Plane(material="stuff"), Box(material="stuff", lower=(-1, -1, -0.5), upper=(1, 1, 9), open=("+z",))],
        bodies=[
            Body(
                name="bar",
                kind="kinematic",
                position=(0.5, 0, 0.5),
                walls=[Box(material="stuff", lower=(-0.1, -0.01, -0.01), upper=(0.1, 0.01, 0.01), side="outside")],
                motion=Motion(spin=(0, 0, np.pi / 2)),
            )
        ],
        grains=[Grains(material="stuff", position=[[0, 0, 0.01], [0, 0, 0.03]], diameter=0.02)],
    )
    path = tmp_path_factory.mktemp("export") / "turned.vtkhdf"
    return run(scene, duration=1.0, time_step=0.01, every=0.25, output=path, picture=False, progress=False)


def read(path):
    """A .vtp file, by VTK."""
    xml = pytest.importorskip("vtkmodules.vtkIOXML")
    reader = xml.vtkXMLPolyDataReader()
    reader.SetFileName(str(path))
    reader.Update()
    assert reader.GetErrorCode() == 0
    return reader.GetOutput()


def array(data, name):
    from vtkmodules.util.numpy_support import vtk_to_numpy

    return vtk_to_numpy(data.GetArray(name))


def points(output):
    from vtkmodules.util.numpy_support import vtk_to_numpy

    return vtk_to_numpy(output.GetPoints().GetData())


def test_vtk_reads_grains_contacts_and_walls(turned, tmp_path):
    collections = export_vtk(turned.path, tmp_path / "out")
    assert [path.name for path in collections] == ["grains.pvd", "contacts.pvd", "walls.pvd"]
    frame = turned.recording.frame(-1)
    last = f"{len(turned.recording) - 1:06d}.vtp"
    grains = read(tmp_path / "out" / "grains" / f"grains-{last}")
    assert grains.GetNumberOfVerts() == 2
    assert_array_equal(points(grains), frame.position)
    assert_array_equal(array(grains.GetPointData(), "diameter"), [0.02, 0.02])
    assert_array_equal(array(grains.GetPointData(), "velocity"), frame.velocity)

    lines = read(tmp_path / "out" / "contacts" / f"contacts-{last}")
    assert lines.GetNumberOfLines() == len(frame.contacts) == 2
    ends = points(lines).reshape(-1, 2, 3)
    height = ends[:, 1, 2] - ends[:, 0, 2]
    pair = array(lines.GetCellData(), "b") >= 0
    assert_allclose(np.abs(height[pair]), 0.02, atol=1e-4)  # from centre to centre,
    assert_allclose(ends[~pair, 1, 2], 0.0, atol=1e-4)  # or from the centre to the plane
    weight = 9.81 * 2500 * np.pi / 6 * 0.02**3
    assert_allclose(np.sort(array(lines.GetCellData(), "normal_force")), [weight, 2 * weight], rtol=1e-3)
    assert_array_equal(array(lines.GetCellData(), "force"), frame.contacts.force)


def test_walls_move_with_their_bodies(turned, tmp_path):
    """The bar lies along x at first and along y after a quarter turn; the box has a floor and four sides."""
    export_vtk(turned.path, tmp_path, parts=["walls"])
    for name, long_axis in (("000000", 0), (f"{len(turned.recording) - 1:06d}", 1)):
        walls = read(tmp_path / "walls" / f"walls-{name}.vtp")
        of_wall = array(walls.GetCellData(), "wall")
        assert np.bincount(of_wall).tolist() == [2, 10, 12]  # triangles of plane, open box and bar
        corners = points(walls).reshape(-1, 3, 3)
        bar = corners[of_wall == 2].reshape(-1, 3) - (0.5, 0, 0.5)
        size = np.full(3, 0.01)
        size[long_axis] = 0.1
        assert_allclose(np.abs(bar).max(axis=0), size, atol=1e-9)
        assert_allclose(corners[of_wall == 0][..., 2], 0.0, atol=1e-12)
        assert_array_equal(array(walls.GetCellData(), "body")[of_wall == 2], 1)


def test_lines_of_contacts_end_at_an_image_of_the_other_grain(tmp_path):
    """In a periodic cell: whole vectors of the cell away from where that grain is recorded; some lines go across the boundary."""
    done = run_jam(particles=32, output=tmp_path / "jam.h5", picture=False, progress=False)
    export_vtk(done.path, tmp_path, parts=["contacts"])
    lines, frame = read(next((tmp_path / "contacts").iterdir())), done.recording.frame(-1)
    ends = points(lines).reshape(-1, 2, 3)
    assert_array_equal(ends[:, 0], frame.position[frame.contacts.a])
    away = ends[:, 1] - frame.position[frame.contacts.b]
    cells = away[:, :2] @ np.linalg.inv(done.found.packing.cell.vectors)
    assert_allclose(cells, np.round(cells), atol=1e-9)
    assert np.abs(cells).max() > 0.5
    assert np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1).max() <= 2 * frame.radius.max()


def test_round_walls_and_endless_ones_are_cut_near_the_grains(tmp_path):
    from granum.export.surfaces import wall_triangles

    here = (np.zeros(3), np.eye(3), np.array([0.0, 0.0, 1.0]), 0.5)  # the body, and a ball of 0.5 m around the grains
    pipe = wall_triangles(Cylinder(material="stuff", radius=0.3, axis=(0, 0, 1)), *here)
    assert pipe[..., 2].min() == pytest.approx(0.5)
    assert pipe[..., 2].max() == pytest.approx(1.5)
    assert_allclose(np.linalg.norm(pipe[..., :2], axis=-1), 0.3)
    rod = wall_triangles(Capsule(material="stuff", centre=(0, 0, 0), axis=(1, 0, 0), radius=0.1, length=1.0), *here)
    assert rod[..., 0].max() == pytest.approx(0.6)
    area = np.linalg.norm(np.cross(pipe[:, 1] - pipe[:, 0], pipe[:, 2] - pipe[:, 0]), axis=1).sum() / 2
    assert area == pytest.approx(2 * np.pi * 0.3 * 1.0, rel=2e-3)  # 90 sides


def test_pyvista_reads_series_and_recording(turned, tmp_path):
    pyvista = pytest.importorskip("pyvista")
    export_vtk(turned.path, tmp_path / "out")
    reader = pyvista.get_reader(tmp_path / "out" / "contacts.pvd")
    assert_allclose(reader.time_values, turned.recording.times)
    reader.set_active_time_value(reader.time_values[-1])
    assert reader.read()[0].n_lines == 2
    grains = pyvista.get_reader(turned.path).read()  # of the first frame; the reader is chosen by the ending
    assert_array_equal(grains.points, turned.recording.frame(0).position)
    assert_array_equal(grains["diameter"], [0.02, 0.02])


class Noted:
    """Stands for whatever ``paraview.simple`` gives, and keeps what is set."""

    def __getattr__(self, name):
        made = Noted()
        object.__setattr__(self, name, made)
        return made

    def __call__(self, *args, **given):
        return Noted()


def test_the_state_makes_spheres_of_the_right_size(turned, tmp_path, monkeypatch):
    """There is no ParaView here: what the state asks of it is looked at. Its sphere has the diameter 1, scaled by that of the grain."""
    collections = export_vtk(turned.path, tmp_path / "out")
    state = write_state(turned.path, tmp_path / "state.py", collections)
    made, calls = Noted(), []

    def called(name):
        def call(*args, **given):
            calls.append((name, args, given))
            return made if name == "Glyph" else Noted()

        return call

    simple = ModuleType("paraview.simple")
    names = ("GetActiveViewOrCreate", "VTKHDFReader", "PVDReader", "GetAnimationScene", "Glyph", "Show", "Hide", "ColorBy")
    names += ("GetScalarBar", "GetColorTransferFunction", "Render")
    for name in names:
        setattr(simple, name, called(name))
    monkeypatch.setitem(sys.modules, "paraview", ModuleType("paraview"))
    monkeypatch.setitem(sys.modules, "paraview.simple", simple)
    exec(compile(state.read_text(), str(state), "exec"), {})
    assert made.ScaleArray == ["POINTS", "diameter"]
    assert 2 * made.GlyphType.Radius * made.ScaleFactor == 1.0
    assert made.GlyphMode == "All Points"
    given = {name: args or more for name, args, more in calls}
    assert given["VTKHDFReader"]["FileName"] == [str(turned.path.resolve())]
    coloured = [args[1] for name, args, _ in calls if name == "ColorBy"]
    assert coloured == [("POINTS", "velocity", "Magnitude"), None, ("CELLS", "normal_force")]


def test_the_command_writes_both_and_says_how_they_are_opened(turned, granum, tmp_path):
    done = granum("export", turned.path, "--vtk", tmp_path / "out", "--paraview", tmp_path / "state.py", "--last", 2)
    assert done.exit_code == 0, done.stderr
    assert "walls.pvd: open it in ParaView" in done.stdout
    assert "paraview --state=" in done.stdout
    assert len(list((tmp_path / "out" / "grains").iterdir())) == 2


def test_what_cannot_be_exported_is_refused_in_words(turned, granum, tmp_path):
    lean = run("column", duration=0.01, record="position", output=tmp_path / "lean.h5", picture=False, progress=False)
    refused = granum("export", lean.path, "--vtk", tmp_path / "out")
    assert refused.exit_code == 2
    assert "holds no contacts to export" in refused.stderr
    assert "--parts grains,walls" in refused.stderr
    assert not (tmp_path / "out").exists()
    assert granum("export", lean.path, "--vtk", tmp_path / "out", "--parts", "grains,walls").exit_code == 0
    for arguments, words in (
        ((), "what is to be written"),
        (("--vtk", tmp_path / "out", "--parts", "grain"), "Did you mean 'grains'"),
        (("--paraview", tmp_path / "state.txt"), "must end in .py"),
        (("--paraview", tmp_path / "state.py", "--last", 2), "leave --last out, or give --vtk FOLDER"),
        (("--paraview", tmp_path / "nowhere" / "state.py"), "does not exist"),
        (("--vtk", tmp_path / "out", "--parts", " , "), "there is no part to export"),
        (("--vtk", lean.path, "--parts", "walls"), "cannot be written"),
    ):
        refused = granum("export", lean.path, *arguments)
        assert refused.exit_code == 2, refused.stderr
        assert words in refused.stderr
    own = tmp_path / "own.py"
    own.write_text("print(1)\n")
    with pytest.raises(InputError, match="not a state that granum wrote"):
        write_state(lean.path, own)
    assert own.read_text() == "print(1)\n"


def test_a_state_that_cannot_be_written_is_refused_before_the_other_files(turned, granum, tmp_path):
    refused = granum("export", turned.path, "--vtk", tmp_path / "out", "--paraview", tmp_path / "state.txt")
    assert refused.exit_code == 2
    assert not (tmp_path / "out").exists()


def test_a_state_is_written_whole_or_not_at_all(turned, tmp_path, monkeypatch):
    """A full disk keeps the last one; no piece of a new one is left, which the next export would refuse as somebody else's."""
    state = write_state(turned.path, tmp_path / "state.py")
    kept = state.read_bytes()

    def full(handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    for path in (state, tmp_path / "other.py"):
        with pytest.raises(OutputError, match="No space left"):
            write_state(turned.path, path)
    assert {file.name for file in tmp_path.iterdir()} == {"state.py"}
    assert state.read_bytes() == kept


def test_names_of_files_are_utf8_wherever_they_are_written(tmp_path):
    done = run("column", duration=0.01, output=tmp_path / "m\u00fchle.h5", picture=False, progress=False)
    assert "m\u00fchle.h5" in write_state(done.path, tmp_path / "m\u00fchle.py").read_bytes().decode("utf-8")
