"""Model reduction in recordings: what grains have merged into, level and error, as files, tables and figures show them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from granum.analysis import Snapshot, merged_counts
from granum.checks import InputError
from granum.io import Recording, RecordingWriter
from granum.plot.aggregates import FREE, HELD, grain_colours
from granum.scene.library import make_scene


def frame(k: int, count: int) -> dict:
    """Of frame ``k``: grains at rest without contacts, aggregates numbered from k on."""
    zero, one = np.zeros((count, 3)), np.tile([1.0, 0, 0, 0], (count, 1))
    none = {"a": (0,), "b": (0,), "feature": (0,), "point": (0, 3), "normal": (0, 3), "overlap": (0,), "force": (0, 3),
            "normal_force": (0,), "status": (0,)}  # fmt: skip
    return {
        "step": k, "time": 0.1 * k, "position": zero + k, "orientation": one, "velocity": zero, "spin": zero, "radius": np.ones(count),
        "id": np.arange(count), "body": 1 + np.arange(count), "material": np.zeros(count), "aggregate": k + np.arange(count),
        "contacts": {name: np.zeros(shape) for name, shape in none.items()},
        "walls": {"position": zero[:1], "orientation": one[:1], "velocity": zero[:1], "spin": zero[:1]},
        "scalars": {"reduction_level": k / 10},
    }  # fmt: skip


def write(path, counts, **options) -> None:
    with RecordingWriter(path, {}, ["reduction_level"], **options) as writer:
        for k, count in enumerate(counts):
            writer.append(**frame(k, count))


def test_aggregates_come_back_also_after_a_restart(tmp_path):
    path = tmp_path / "run.h5"
    write(path, (2, 3, 5), aggregates=True)
    with RecordingWriter.resume(path, keep_until=0.1) as writer:
        writer.append(**frame(7, 4))
    with Recording(path) as run:
        assert run.reduced
        assert [run.frame(k).aggregate.tolist() for k in range(3)] == [[0, 1], [1, 2, 3], [7, 8, 9, 10]]
        assert run.frame(0).aggregate.dtype == np.int32


def test_without_reduction_files_are_as_before(tmp_path):
    path = tmp_path / "run.h5"
    write(path, (2, 3))
    with Recording(path) as run:
        assert not run.reduced
        assert run.frame(-1).aggregate is None
        assert "aggregate" not in run._vtk["PointData"]


def test_every_frame_must_say_it(tmp_path):
    with RecordingWriter(tmp_path / "run.h5", {}, ["reduction_level"], aggregates=True) as writer:
        with pytest.raises(ValueError, match="aggregate"):
            writer.append(**frame(0, 3) | {"aggregate": np.zeros(2)})
        with pytest.raises(ValueError, match="aggregate"):
            writer.append(**{key: value for key, value in frame(0, 3).items() if key != "aggregate"})


def test_vtk_reads_them(tmp_path):
    module = pytest.importorskip("vtkmodules.vtkIOHDF")
    from vtkmodules.util.numpy_support import vtk_to_numpy

    path = tmp_path / "run.h5"
    write(path, (2, 3, 5), aggregates=True)
    reader = module.vtkHDFReader()
    reader.SetFileName(str(path))
    for k, count in enumerate((2, 3, 5)):
        reader.UpdateInformation()
        reader.UpdateTimeStep(0.1 * k)
        found = vtk_to_numpy(reader.GetOutputDataObject(0).GetPointData().GetArray("aggregate"))
        assert_array_equal(found, k + np.arange(count))


def snapshot(aggregate) -> Snapshot:
    """Of a column, whose only wall body is the ground."""
    scene = make_scene("column", {"count": 3})
    place = 0.01 * np.arange(len(aggregate))[:, None] * np.array([0, 0, 1.0])
    return Snapshot.build(scene, position=place, radius=0.005, aggregate=aggregate)


def test_counts_of_a_snapshot():
    """Two free grains, three held by the ground, aggregates of 4 and 1 grains: 4 bodies of 10 grains are left to solve."""
    found = merged_counts(snapshot([-1, 0, 0, 1, 1, 1, 1, 5, -1, 0]))
    assert (found.free, found.held, found.merged, found.aggregates, found.largest) == (2, 3, 5, 2, 4)
    assert found.level == pytest.approx(0.6)
    with pytest.raises(InputError, match="without model reduction"):
        merged_counts(snapshot([-1]).__class__.build(make_scene("column"), position=np.zeros((1, 3)), radius=0.01))


def test_colours_tell_them_apart():
    s = snapshot([-1, 0, *range(1, 13), 1])
    colour = grain_colours(s)
    assert tuple(colour[0]) == FREE
    assert tuple(colour[1]) == HELD
    assert_array_equal(colour[2], colour[-1])
    away = np.linalg.norm(colour[:-1, None] - colour[:-1], axis=2) + np.eye(len(colour) - 1)
    assert away.min() > 0.05
    assert_array_equal(grain_colours(snapshot([-1, 7])), colour[[0, 8]])  # the same in every frame
