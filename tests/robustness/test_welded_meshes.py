"""Welding keeps what grains touch: small triangles beside large ones stay, unused vertices do not count, and what is left out is told."""

from __future__ import annotations

import numpy as np
import pytest

from granum.checks import InputError
from granum.detection.mesh_table import build_mesh, dropped, weld
from granum.scene import Mesh
from tests.reference.scenes import D, G, make

PLATE = [[0, 0, 0], [0.2, 0, 0], [0, 0.2, 0]]
HUGE = [[0, 0, -1e6], [1e6, 0, -1e6], [0, 1e6, -1e6]]


def dropped_on(vertices, triangles, **given):
    """A grain that falls a little on a plate that is a part of a mesh."""
    wall = Mesh(material="m", vertices=vertices, triangles=triangles)
    return make((0.03, 0.03, 0.6 * D), walls=[wall], gravity=(0, 0, -G), h=1e-3, **given)


@pytest.mark.parametrize("name", ["nonsmooth", "smooth"])
@pytest.mark.parametrize("beside", ["triangle", "vertex"])
def test_a_small_plate_holds_a_grain_beside_something_huge(name, beside):
    more, triangles = (HUGE, [[0, 1, 2], [3, 4, 5]]) if beside == "triangle" else ([[1e6, 0, 0]], [[0, 1, 2]])
    step = {"stepper": {"name": name}, "time_step": 1e-3 if name == "nonsmooth" else 4e-5}
    sim = dropped_on(PLATE + more, triangles, settings=step)
    sim.run(0.1)
    assert sim.warnings == []
    assert sim.position[0, 2] == pytest.approx(D / 2, abs=0.01 * D)


@pytest.mark.parametrize("size", [1e-5, 1e-3, 0.1])
def test_triangles_of_all_sizes_stay_in_one_mesh(size):
    """A fan of triangles beside one of 1 km, sharing two of its corners."""
    angle = np.linspace(0, np.pi, 7)
    rim = size * np.column_stack([np.cos(angle), np.sin(angle), np.zeros(7)])
    vertices = np.vstack([[0, 0, 0], rim, [0, -1e3, 0]])
    triangles = np.array([[0, k, k + 1] for k in range(1, 7)] + [[0, 8, 1]])
    points, welded = weld(vertices, triangles)
    assert (len(points), len(welded)) == (9, 7)
    assert dropped(vertices, triangles) == (0, 0)


def test_unused_vertices_change_nothing():
    rng = np.random.default_rng(3)
    vertices, triangles = rng.random((12, 3)), rng.permutation(12).reshape(4, 3)
    for stray in ([[1e6, 0, 0]], [vertices[0] + 1e-9], [[np.pi, 0, 0], [-1e12, 1, 1]]):
        table, grid = build_mesh(np.vstack([vertices, stray]), triangles, 0.1)
        alone, its_grid = build_mesh(vertices, triangles, 0.1)
        assert all(np.array_equal(one, other) for one, other in zip(table, alone, strict=True))
        assert np.array_equal(grid.lower, its_grid.lower)


def test_triangles_that_are_left_out_are_told_with_number_and_reason():
    """A plate that is given twice, and a needle thinner than what is merged."""
    needle = [[1, 0, 0], [0, 1, 0], [0, 1 + 1e-8, 0]]
    with pytest.warns(RuntimeWarning, match="left out") as caught:
        sim = dropped_on(PLATE + needle, [[0, 1, 2], [1, 2, 0], [3, 4, 5]])
    assert [str(w.message) for w in caught] == sim.warnings
    (message,) = sim.warnings
    assert message == (
        "t = 0 s (step 0): 2 of the 3 triangles of wall 0 (a mesh) are left out: 1 collapse when near vertices are merged, "
        "1 repeat another one."
    )


def test_a_mesh_of_which_nothing_is_left_is_refused():
    dust = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]]) * 1e-14
    with pytest.raises(InputError, match="a mesh has no triangle left: all 2 are too small beside its extent"):
        build_mesh(np.vstack([dust, dust + np.array([1, 0, 0])]), np.arange(6).reshape(2, 3), 0.1)
