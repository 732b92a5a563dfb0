"""Packings in recordings: the same bits come back, VTK reads them, and every reader takes them or refuses in words."""

from __future__ import annotations

import h5py
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from granum import InputError, PackingWriter, PowerLaw, Recording, Snapshot, measure, minimise, random_packing, read_packing, shear
from granum.analysis.force_network import ForceNetwork
from granum.analysis.metrics import METRICS, measure_recording
from granum.io.packing import is_packing, moment
from granum.plot.figures import FIGURES, PACKING_FIGURES, draw_figure
from granum.plot.look import Look
from granum.quasistatic.measure import network
from tests.unit.test_recording import vtk_frames

PLAIN = ("lbfgs", "none")
# need walls, mergers, or a scene of that name
OF_CONTAINERS = {"drum-angle", "plug", "flow", "pressure", "vertical", "janssen", "axis", "reduction", "towers", "ridge", "discharge"}
OF_CONTAINERS |= {"triaxial", "shear-cell", "circuit", "circuit-angles", "body-force", "joint-force", "flow-rate"}


def jammed(dim=2, count=60, law=PowerLaw(alpha=2.0, stiffness=3.0)):
    return minimise(random_packing(count, 0.88 if dim == 2 else 0.68, dim=dim, law=law, seed=2), *PLAIN).packing


@pytest.fixture(scope="module")
def sheared(tmp_path_factory):
    """A packing and its course under shear, with what was written."""
    path = tmp_path_factory.mktemp("packings") / "shear.h5"
    first = jammed()
    packings = [first]
    with PackingWriter(path, first, {"seed": 2, "settings": {"mode": "simple"}}, time_is="strain") as out:
        out.append(first)
        for step in shear(first, 0.3, 0.1, method=PLAIN[0], preconditioner=PLAIN[1]):
            out.append(step.packing, strain=step.strain, iterations=step.report.iterations)
            packings.append(step.packing)
    return path, packings


@pytest.mark.parametrize("dim", [2, 3])
def test_a_packing_comes_back_with_its_bits(tmp_path, dim):
    packing = jammed(dim, law=PowerLaw(alpha=2.3, stiffness=0.1))
    with PackingWriter(tmp_path / "one.h5", packing) as out:
        out.append(packing)
    found = read_packing(tmp_path / "one.h5")
    assert_array_equal(found.position, packing.position)
    assert_array_equal(found.radius, packing.radius)
    assert_array_equal(found.cell.vectors, packing.cell.vectors)
    assert found.law == packing.law


def test_every_frame_has_its_own_cell(sheared):
    path, packings = sheared
    with Recording(path) as recording:
        assert is_packing(recording)
        assert_allclose(recording.times, [0, 0.1, 0.2, 0.3], rtol=1e-15)
        assert moment(recording, 0.1) == "strain 0.1"
        for k, packing in enumerate(packings):
            found = read_packing(recording, k)
            assert_array_equal(found.cell.vectors, packing.cell.vectors)
            assert_array_equal(found.position, packing.position)
            known, scalars = measure(packing), {name: values[k] for name, values in recording.scalars.items()}
            assert scalars["phi"] == packing.phi
            assert scalars["z"] == known.coordination
            assert scalars["rattlers"] == known.rattler_count
            assert scalars["pressure"] == known.pressure
            assert scalars["stress_xy"] == known.stress[0, 1]
            assert scalars["fabric_yy"] == known.fabric[1, 1]
            assert scalars["cell_yx"] == packing.cell.vectors[1, 0]
        assert not packings[-1].cell.upright
    with h5py.File(path) as file:
        assert file["granum/scalars/residual"].attrs["unit"] == "N"
        assert file["granum/scalars/cell_xy"].attrs["unit"] == "m"
        assert file["granum/scalars/pressure"].attrs["unit"] == "N/m"


def test_contacts_are_those_of_the_packing_across_the_boundary(sheared):
    path, packings = sheared
    with Recording(path) as recording:
        contacts, frame = recording.frame(-1).contacts, recording.frame(-1)
    touching = network(packings[-1]).touching
    assert_array_equal(contacts.a, touching.a)
    assert_array_equal(contacts.normal_force, touching.force)
    assert_array_equal(contacts.force, np.column_stack([touching.force[:, None] * touching.normal, np.zeros(len(touching.a))]))
    depth = frame.radius[contacts.a] - np.linalg.norm(contacts.point - frame.position[contacts.a], axis=1)
    assert_allclose(depth, contacts.overlap / 2, atol=1e-15)
    # forces on every grain that is held are in balance
    net = np.zeros((60, 3))
    np.add.at(net, contacts.b, contacts.force)
    np.add.at(net, contacts.a, -contacts.force)
    assert np.abs(net).max() < 1e-5 * contacts.normal_force.mean()


def test_vtk_reads_packings(sheared):
    path, packings = sheared
    frames = vtk_frames(path)
    assert_allclose([t for t, _ in frames], [0, 0.1, 0.2, 0.3], rtol=1e-15)
    for (_, arrays), packing in zip(frames, packings, strict=True):
        assert_array_equal(arrays["position"][:, :2], packing.position)
        assert not arrays["position"][:, 2].any()
        assert_array_equal(arrays["radius"], packing.radius)


def test_a_snapshot_has_the_cell_of_its_frame_and_the_right_rattlers(sheared):
    path, packings = sheared
    with Recording(path) as recording:
        s = Snapshot.read(recording, 2)
    assert_array_equal(s.scene.cell.vectors, packings[2].cell.vectors)
    net = ForceNetwork.of(s)
    touching = network(packings[2]).touching
    branch = touching.distance[:, None] * touching.normal
    assert_allclose(net.branch[:, :2], branch, atol=1e-12)  # no branch runs across the whole cell
    assert net.least_contacts == 3


@pytest.mark.parametrize("name", list(METRICS))
def test_every_metric_measures_packings_or_refuses_in_words(sheared, name):
    with Recording(sheared[0]) as recording:
        if name not in OF_CONTAINERS:
            assert measure_recording(recording, name, range(len(recording))).values
            return
        with pytest.raises(InputError):
            measure_recording(recording, name, range(len(recording)))


def test_metrics_of_packings_are_those_of_the_packing(sheared):
    path, packings = sheared
    with Recording(path) as recording:
        alone, series = measure_recording(recording, "packing").values, measure_recording(recording, "packing", range(4)).columns
    assert not {"frames", "first_time", "last_time", "units", "note", "series"} & set(alone)
    assert alone["coordination"] == measure(packings[-1]).coordination
    assert_allclose(series["pressure"], [measure(packing).pressure for packing in packings], rtol=1e-15)


def test_packings_are_not_compared_as_runs(sheared):
    from granum.analysis.compare import compare

    with pytest.raises(InputError, match="no time"):
        compare(sheared[0], sheared[0])


def test_metrics_of_packings_refuse_runs(tmp_path):
    from granum import Recorder, make_scene, simulate, steps

    simulate(make_scene("column", {"count": 3}), duration=0.02, observers=(Recorder(tmp_path / "run.h5", steps(1)),))
    with Recording(tmp_path / "run.h5") as recording:
        with pytest.raises(InputError, match="does not hold packings"):
            measure_recording(recording, "packing")
        with pytest.raises(InputError, match="a recording of a run"):
            draw_figure(recording, "search")
        with pytest.raises(InputError, match="is the recording of a run"):
            read_packing(recording)


@pytest.mark.parametrize("name", [*PACKING_FIGURES, *(name for name in FIGURES if name not in PACKING_FIGURES)])
def test_every_figure_draws_packings_or_refuses_in_words(sheared, name):
    with Recording(sheared[0]) as recording:
        if name in PACKING_FIGURES and name != "search":
            figure = draw_figure(recording, name)
            assert len(figure.axes) >= 1
        else:
            with pytest.raises(InputError, match=r"does not hold the search|a recording of packings"):
                draw_figure(recording, name)


def test_figures_of_a_packing_in_space_and_of_one_without_contacts(tmp_path):
    packing = jammed(3)
    with PackingWriter(tmp_path / "three.h5", packing) as out:
        out.append(packing)
        out.append(packing.grown(0.8))
    with Recording(tmp_path / "three.h5") as recording:
        assert len(draw_figure(recording, "packing", Look(frame=0)).axes) == 2
        assert len(draw_figure(recording, "network", Look(frame=0, slab=3.0)).axes) == 2
        assert len(draw_figure(recording, "network").axes) == 1  # nothing pushes: no colour bar
        with pytest.raises(InputError, match="unjammed"):
            draw_figure(recording, "forces")
        with pytest.raises(InputError, match="not sheared"):
            draw_figure(recording, "shear")


def test_branches_across_the_boundary_are_clipped_at_the_cell(sheared):
    """No line of the network is longer than two diameters, so that none runs across the picture."""
    from matplotlib.collections import LineCollection

    with Recording(sheared[0]) as recording:
        axes = draw_figure(recording, "network").axes[0]
    lines = next(c for c in axes.collections if isinstance(c, LineCollection))
    ends = np.array(lines.get_segments())
    assert np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1).max() <= 2 * sheared[1][-1].radius.max()
    assert lines.get_clip_path() is not None


def test_damaged_descriptions_are_refused(tmp_path):
    packing = jammed()
    for change in ({"law": {"alpha": 1.0}}, {"law": None}, {"dim": 3}):
        with PackingWriter(tmp_path / "bad.h5", packing, change) as out:
            out.append(packing)
        with pytest.raises(InputError, match="damaged"):
            read_packing(tmp_path / "bad.h5")
    with pytest.raises(InputError, match="does not exist"):
        read_packing(tmp_path / "none.h5")
    with PackingWriter(tmp_path / "good.h5", packing) as out:
        out.append(packing)
    with pytest.raises(InputError, match="frame 7 does not exist"):
        read_packing(tmp_path / "good.h5", 7)
