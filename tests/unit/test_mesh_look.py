"""Meshes at first sight: a line for each, and units that cannot be metres."""

from __future__ import annotations

from pathlib import Path

import pytest

from granum import Grains, InputError, Material, Mesh, Scene, Simulation
from granum.runs.scene_files import check_scene, write_scene
from granum.scene.file import load_scene
from granum.scene.mesh_look import looks, mesh_lines
from tests.command_line import granum

CORNERS = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
FACES = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]


def stl(path, triangles, size=1.0):
    """An ASCII file of triangles of the corners above."""
    facets = [
        "facet normal 0 0 0\n outer loop\n"
        + "".join("  vertex {} {} {}\n".format(*(size * x for x in CORNERS[k])) for k in face)
        + " endloop\nendfacet\n"
        for face in triangles
    ]
    path.write_text("solid s\n" + "".join(facets) + "endsolid s\n")
    return str(path)


def scene_with(mesh):
    material = Material(name="m")
    return Scene(materials=[material], walls=[mesh], grains=[Grains(material="m", position=[[-1, -1, 2]], diameter=0.01)])


def test_a_tetrahedron_is_closed_and_open_without_a_face():
    whole = Mesh(material="m", vertices=CORNERS, triangles=FACES)
    lid_off = Mesh(material="m", vertices=CORNERS, triangles=FACES[:3])
    assert mesh_lines(scene_with(whole)) == ["mesh of the body 'ground': 1 x 1 x 1 m, 4 triangles, closed"]
    assert mesh_lines(scene_with(lid_off)) == ["mesh of the body 'ground': 1 x 1 x 1 m, 3 triangles, open"]


def test_vertices_at_one_place_are_one():
    """As in an STL file, where every triangle has corners of its own."""
    corners = [CORNERS[k] for face in FACES for k in face]
    apart = Mesh(material="m", vertices=corners, triangles=[[3 * k, 3 * k + 1, 3 * k + 2] for k in range(4)])
    assert looks(scene_with(apart))[0].closed


def test_a_mesh_in_millimetres_is_refused_unless_its_scale_is_given(tmp_path):
    """140 m beside grains of 1 cm are 14 000 diameters."""
    file = stl(tmp_path / "funnel.stl", FACES, 140.0)
    with pytest.raises(InputError, match=r"mesh funnel.stl spans 140 x 140 x 140 m, 1.4e\+04 diameters.*scale = 0.001"):
        Simulation(scene_with(Mesh(material="m", file=file)))
    with pytest.warns(RuntimeWarning, match="drawn in millimetres"):
        Simulation(scene_with(Mesh(material="m", file=file, scale=1.0)))
    for scale, fits in ((None, False), (1.0, True)):  # a scene that went through a file, or to another process, says the same
        scene = scene_with(Mesh(material="m", file=file, scale=scale))
        assert looks(Scene.read(scene.model_dump_json(), "text"))[0].scaled is fits
        assert looks(load_scene(write_scene(scene, tmp_path / f"{fits}.toml")))[0].scaled is fits
    small = Simulation(scene_with(Mesh(material="m", file=file, scale=0.001)))
    assert looks(small.scene)[0].size == pytest.approx((0.14, 0.14, 0.14))
    assert small.warnings == []


def test_a_mesh_smaller_than_a_grain_is_told(tmp_path):
    file = stl(tmp_path / "cup.stl", FACES, 5.0)
    with pytest.warns(RuntimeWarning, match="less than the diameter of the smallest grain"):
        Simulation(scene_with(Mesh(material="m", file=file, scale=0.001)))


@pytest.mark.parametrize(
    "content, words",
    [
        (b"hello", "is not an STL file"),
        (bytes(range(256)) * 4, "is not an STL file"),
        (b"solid x\nendsolid x\n", "without facets"),
    ],
)
def test_what_is_no_stl_says_so(content, words, tmp_path):
    path = tmp_path / "bad.stl"
    path.write_bytes(content)
    with pytest.raises(InputError, match=words):
        Mesh(material="m", file=str(path))


def test_a_run_tells_its_meshes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    stl(tmp_path / "cup.stl", FACES[:3], 100.0)
    (tmp_path / "cup.toml").write_text(
        'materials = [{ name = "m" }]\nwalls = [{ shape = "mesh", material = "m", file = "cup.stl", scale = 0.001 }]\n'
        'grains = [{ material = "m", position = [[0.01, 0.01, 0.2]], diameter = "5 mm" }]\n'
    )
    told = granum("run", "cup.toml", "--duration", "5ms", "--no-picture")
    assert told.exit_code == 0
    assert "mesh cup.stl: 0.1 x 0.1 x 0.1 m, 3 triangles, open" in told.stderr


def test_a_check_says_of_meshes_what_a_run_does(tmp_path):
    """The line of each, and the refusal or the warning about its unit."""
    file = stl(tmp_path / "funnel.stl", FACES, 140.0)
    scene = scene_with(Mesh(material="m", file=file, scale=1.0))
    found = check_scene(scene)
    assert found["meshes"] == mesh_lines(scene)
    assert "drawn in millimetres" in found["warnings"][0]
    assert check_scene(scene_with(Mesh(material="m", file=file, scale=0.001)))["warnings"] == []
    path = tmp_path / "funnel.toml"
    path.write_text(
        f'materials = [{{ name = "m" }}]\nwalls = [{{ shape = "mesh", material = "m", file = "{Path(file).as_posix()}", scale = 1 }}]\n'
        'grains = [{ material = "m", position = [[-1, -1, 2]], diameter = 0.01 }]\n'
    )
    shown = granum("check", path, "--no-picture").stdout
    assert mesh_lines(scene)[0] in shown
    assert "scale = 0.001" in shown
    path.write_text(path.read_text().replace(", scale = 1", ""))
    refused = granum("check", path, "--no-picture")
    assert refused.exit_code == 2
    assert "if it is so large, set scale = 1" in refused.stderr
