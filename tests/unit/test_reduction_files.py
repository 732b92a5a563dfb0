"""Model reduction in recordings: what grains have merged into, level and error, as files, tables and figures show them."""

from __future__ import annotations

import json

import h5py
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from granum.analysis import GrainRows, Snapshot, snapshots
from granum.analysis.reduction import merged_counts
from granum.checks import InputError
from granum.contact import Material
from granum.io import Recording, RecordingWriter
from granum.observe import Recorder, steps
from granum.plot.figures import draw_figure
from granum.plot.reduction import FREE, HELD, grain_colours
from granum.scene import Grains, Plane, Scene
from granum.scene.library import make_scene
from granum.simulation import Simulation, make_settings


def frame(k: int, count: int) -> dict:
    """Of frame ``k``: grains at rest without contacts, aggregates numbered from k on."""
    zero, one = np.zeros((count, 3)), np.tile([1.0, 0, 0, 0], (count, 1))
    none = {
        "a": (0,),
        "b": (0,),
        "feature": (0,),
        "point": (0, 3),
        "normal": (0, 3),
        "overlap": (0,),
        "force": (0, 3),
        "normal_force": (0,),
        "status": (0,),
    }
    return {
        "step": k,
        "time": 0.1 * k,
        "grains": {
            "position": zero + k,
            "orientation": one,
            "velocity": zero,
            "spin": zero,
            "radius": np.ones(count),
            "id": np.arange(count),
            "material": np.zeros(count),
            "aggregate": k + np.arange(count),
        },
        "contacts": {name: np.zeros(shape) for name, shape in none.items()},
        "walls": {"position": zero[:1], "orientation": one[:1], "velocity": zero[:1], "spin": zero[:1]},
        "scalars": {"reduction_level": k / 10},
    }


def write(path, counts, **options) -> None:
    with RecordingWriter(path, {}, ["reduction_level"], **options) as writer:
        for k, count in enumerate(counts):
            writer.append(**frame(k, count))


def test_aggregates_come_back_also_after_a_restart(tmp_path):
    path = tmp_path / "run.vtkhdf"
    write(path, (2, 3, 5), columns=["aggregate"])
    with RecordingWriter.resume(path, keep_until=0.1) as writer:
        writer.append(**frame(7, 4))
    with Recording(path) as run:
        assert [column.name for column in run.columns] == ["aggregate"]
        assert [run.frame(k).more["aggregate"].tolist() for k in range(3)] == [[0, 1], [1, 2, 3], [7, 8, 9, 10]]
        assert run.frame(0).more["aggregate"].dtype == np.int32


def test_without_reduction_files_are_as_before(tmp_path):
    path = tmp_path / "run.vtkhdf"
    write(path, (2, 3))
    with Recording(path) as run:
        assert run.columns == ()
        assert run.frame(-1).more == {}
    with h5py.File(path) as file:
        assert "aggregate" not in file["VTKHDF/PointData"]


def test_every_frame_must_say_it(tmp_path):
    with RecordingWriter(tmp_path / "run.vtkhdf", {}, ["reduction_level"], columns=["aggregate"]) as writer:
        with pytest.raises(ValueError, match="aggregate"):
            writer.append(**frame(0, 3) | {"grains": frame(0, 3)["grains"] | {"aggregate": np.zeros(2)}})
        with pytest.raises(ValueError, match="aggregate"):
            writer.append(**frame(0, 3) | {"grains": {k: v for k, v in frame(0, 3)["grains"].items() if k != "aggregate"}})


def test_a_column_that_nobody_records_is_refused(tmp_path):
    with pytest.raises(InputError, match="no extension records a column 'colour'"):
        write(tmp_path / "run.vtkhdf", (2, 3), columns=["colour"])


def test_vtk_reads_them(tmp_path):
    module = pytest.importorskip("vtkmodules.vtkIOHDF")
    from vtkmodules.util.numpy_support import vtk_to_numpy

    path = tmp_path / "run.vtkhdf"
    write(path, (2, 3, 5), columns=["aggregate"])
    reader = module.vtkHDFReader()
    reader.SetFileName(str(path))
    for k, count in enumerate((2, 3, 5)):
        reader.UpdateInformation()
        reader.UpdateTimeStep(0.1 * k)
        found = vtk_to_numpy(reader.GetOutputDataObject(0).GetPointData().GetArray("aggregate"))
        assert_array_equal(found, k + np.arange(count))


def snapshot(merged_into) -> Snapshot:
    """Of a column, whose only wall body is the ground."""
    scene = make_scene("column", {"count": 3})
    place = 0.01 * np.arange(len(merged_into))[:, None] * np.array([0, 0, 1.0])
    return Snapshot.build(scene, GrainRows(position=place, radius=0.005, more={"merged_into": merged_into}))


def test_counts_of_a_snapshot():
    """Two free grains, three held by the ground, aggregates of 4 and 1 grains: 4 bodies of 10 grains are left to solve."""
    found = merged_counts(snapshot([-1, 0, 0, 1, 1, 1, 1, 5, -1, 0]))
    assert (found.free, found.held, found.merged, found.aggregates, found.largest) == (2, 3, 5, 2, 4)
    assert found.level == pytest.approx(0.6)
    with pytest.raises(InputError, match="without model reduction"):
        merged_counts(Snapshot.build(make_scene("column"), GrainRows(position=np.zeros((1, 3)), radius=0.01)))


def test_colours_tell_them_apart():
    s = snapshot([-1, 0, *range(1, 13), 1])
    colour = grain_colours(s)
    assert tuple(colour[0]) == FREE
    assert tuple(colour[1]) == HELD
    assert_array_equal(colour[2], colour[-1])
    away = np.linalg.norm(colour[:-1, None] - colour[:-1], axis=2) + np.eye(len(colour) - 1)
    assert away.min() > 0.05
    assert_array_equal(grain_colours(snapshot([-1, 7])), colour[[0, 8]])  # the same in every frame


RUN = ("run", "box", "--set", "count=60", "--reduce", "contact,trial", "--shadow", "4", "--every", "0.02", "--no-picture", "--json")


@pytest.fixture
def heap(granum):
    """Summary of a small box, and the name of its recording."""
    result = granum(*RUN, "--duration", "0.4", "-o", "heap.vtkhdf")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_summary_recording_and_metric_tell_the_same(granum, heap):
    assert heap["reduction"]["split"] == ["contact", "trial"]
    assert heap["approximation_error"]["windows"] == heap["steps"] // 4
    with Recording("heap.vtkhdf") as run:
        assert run.frame(0).step == 0
        counts = [merged_counts(s) for s in snapshots(run)]
        level, free, bodies = (run.scalars[name] for name in ("reduction_level", "free_grains", "aggregates"))
        errors = {name: run.scalars[name] for name in ("approximation_error", "largest_error", "perpendicular_error", "parallel_error")}
        early = run.steps < 4
    assert_allclose(level, [c.level for c in counts], atol=1e-15)
    assert_array_equal(free, [c.free for c in counts])
    assert_array_equal(bodies, [c.aggregates for c in counts])
    assert level[0] == 0
    assert level[-1] > 0.5
    assert (heap["reduction_level"], heap["free_grains"], heap["aggregates"]) == (level[-1], free[-1], bodies[-1])
    assert heap["mean_reduction_level"] == pytest.approx(level[1:].mean())
    for values in errors.values():
        assert_array_equal(np.isnan(values), early)
    last = heap["approximation_error"]["last"]
    assert [last[name] for name in ("rms", "largest", "perpendicular", "parallel")] == [values[-1] for values in errors.values()]
    found = json.loads(granum("analyse", "heap.vtkhdf", "reduction", "--json").stdout)["metrics"]["reduction"]
    assert_allclose(found["series"]["level"], level, atol=1e-15)
    info = json.loads(granum("info", "heap.vtkhdf", "--json").stdout)
    keys = ("reduction", "reduction_level", "mean_reduction_level", "free_grains", "aggregates", "approximation_error", "state_hash")
    assert {key: info[key] for key in keys} == {key: heap[key] for key in keys}
    text = granum("info", "heap.vtkhdf").stdout
    assert "approximation error" in text
    assert "split by contact (above 0.15 m/s, depth 2), trial" in text


def test_restart_gives_the_same_levels_and_errors(granum, heap):
    """Stopped in the middle of a window: the shadow goes on too."""
    half = granum(*RUN, "--duration", "0.19", "-o", "half.vtkhdf")
    assert json.loads(half.stdout)["steps"] % 4
    on = granum("restart", "half.vtkhdf", "--duration", 0.4 - 0.19, "--json")
    assert on.exit_code == 0, on.stderr
    again = json.loads(on.stdout)
    for key in ("steps", "state_hash", "reduction_level", "approximation_error"):
        assert again[key] == heap[key], key
    with Recording("heap.vtkhdf") as whole, Recording("half.vtkhdf") as parts:
        kept = np.isin(parts.steps, whole.steps)
        for name in ("reduction_level", "aggregates", "approximation_error", "perpendicular_error"):
            assert_array_equal(parts.scalars[name][kept], whole.scalars[name])
        assert_array_equal(parts.frame(-1).more["aggregate"], whole.frame(-1).more["aggregate"])


@pytest.mark.parametrize("scene", ["pile", "drum", "conveyor"])
def test_a_reduced_run_goes_on_whatever_carries_its_grains(granum, scene):
    """The ground alone; a drum that turns; belts."""
    run = ("run", scene, "--time-step", 0.001, "--reduce", "contact,trial", "--no-picture", "--json")
    whole = json.loads(granum(*run, "--duration", 0.02, "-o", "whole.vtkhdf").stdout)
    assert granum(*run, "--duration", 0.01, "-o", "half.vtkhdf").exit_code == 0
    on = granum("restart", "half.vtkhdf", "--duration", 0.01, "--json")
    assert on.exit_code == 0, on.stderr
    assert json.loads(on.stdout)["state_hash"] == whole["state_hash"]


def test_figures(granum, heap):
    for words in (("aggregates", "--slab", "4", "--frame", "5"), ("aggregates", "--view", "z"), ("reduction",)):
        result = granum("plot", "heap.vtkhdf", *words, "-o", "drawn.png")
        assert result.exit_code == 0, result.stderr
    with Recording("heap.vtkhdf") as run:
        axes = draw_figure(run, "reduction").axes
        assert [a.get_ylabel() for a in axes] == ["reduction level [%]", "bodies", "error / $d$"]
        assert_allclose(axes[0].lines[0].get_ydata()[1:], 100 * run.scalars["reduction_level"][1:])


def test_figures_of_other_runs_are_refused(granum):
    granum("run", "column", "--set", "count=3", "--duration", "0.05", "--no-picture")
    for words in (
        ("plot", "column.vtkhdf", "aggregates"),
        ("plot", "column.vtkhdf", "reduction"),
        ("analyse", "column.vtkhdf", "reduction"),
    ):
        result = granum(*words)
        assert result.exit_code == 2
        assert "without model reduction" in result.stderr


def test_a_belt_is_its_body():
    """Files name what holds a grain: a body of the scene, also where its belt does, or else the id of an aggregate, which is new."""
    scene = Scene(
        materials=(Material(name="stone"),),
        walls=(Plane(material="stone"), Plane(material="stone", point=(0, 0, -1), surface_velocity=(1, 0, 0))),
        grains=(Grains(material="stone", position=[[0.02 * k, 0, 0.5] for k in range(6)], diameter=0.01),),
    )
    merged = Simulation(scene, make_settings(scene.run, {"stepper": {"reduction": {}}})).stepper.parts["reduced"].merged
    ground, belt = merged.walls.body
    assert (ground, belt) == (0, 1)
    merged.aggregates.hold(np.array([1, 2], np.int32), np.array([ground, belt], np.int32))
    none = np.zeros(0, np.int32)
    for n, grains in enumerate([[3, 4], [0, 5]]):
        merged.aggregates.form(np.array(grains, np.int32), np.zeros(2, np.int32), 1, none, none)
        assert_array_equal(merged.bodies.merged_into[grains], merged.bodies.wall_body_count + n)
    assert_array_equal(merged.bodies.merged_into[1:3], [0, 0])


def test_snapshots_of_run_and_recording_agree(tmp_path):
    scene = make_scene("box", {"count": 40})
    sim = Simulation(scene, make_settings(scene.run, {"stepper": {"reduction": {"split": ["contact"]}}}))
    sim.observers.append(Recorder(tmp_path / "run.vtkhdf", steps(50)))
    sim.run_until(100)
    with Recording(tmp_path / "run.vtkhdf") as run:
        read = Snapshot.read(run)
    assert_array_equal(read.merged_into, Snapshot.of(sim).merged_into)
    assert (read.merged_into >= 0).any()
    assert merged_counts(read).level == pytest.approx(sim.report.reduction_level, abs=1e-15)
