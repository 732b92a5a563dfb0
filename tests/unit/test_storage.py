"""How many bytes a recording takes, what a run says of it before it starts, and what others read of it."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from granum import InputError, Recording, Settings, Simulation, make_scene, run, run_jam
from granum.checks import OutputError
from granum.io import RecordingWriter
from granum.io.storage import Storage
from granum.runs import forecast
from granum.runs.forecast import recording_size, tell_of_size

SMALL = {"record": "position,velocity", "precision": "single", "compress": True}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """The same run in all ways, by name."""
    folder = tmp_path_factory.mktemp("storage")
    ways = {"plain": {}, "packed": {"compress": True}, "small": SMALL}
    return {
        name: run("column", duration=0.1, every=0.02, output=folder / f"{name}.h5", picture=False, progress=False, **way)
        for name, way in ways.items()
    }


def test_single_and_compressed_takes_less_than_40_bytes_of_a_grain_in_a_frame(tmp_path):
    """Even of numbers that cannot be compressed: 12 each of position and velocity, 4 each of radius, diameter and vertex."""
    n, frames, rng = 10_000, 6, np.random.default_rng(1)
    storage = Storage(record=("position", "velocity"), precision="single", compress=True)
    path = tmp_path / "large.h5"
    with RecordingWriter(path, {}, [], expected_points=n, storage=storage) as writer:
        walls = {"position": np.zeros((1, 3)), "orientation": np.eye(4)[:1], "velocity": np.zeros((1, 3)), "spin": np.zeros((1, 3))}
        for k in range(frames):
            grains = {"position": rng.random((n, 3)), "velocity": rng.standard_normal((n, 3)), "radius": rng.random(n)}
            grains |= {"id": np.arange(n), "material": np.zeros(n)}
            writer.append(step=k, time=float(k), grains=grains, contacts={}, walls=walls, scalars={})
    each = path.stat().st_size / (n * frames)
    assert 30 < each < 40
    assert storage.bytes_per_grain() == pytest.approx(each, rel=0.2)


def test_the_way_of_storing_changes_no_bit_of_the_run(recorded):
    assert len({done.summary["state_hash"] for done in recorded.values()}) == 1
    plain, packed = (recorded[name].recording for name in ("plain", "packed"))
    for i in range(len(plain)):
        one, other = plain.frame(i), packed.frame(i)
        for name in ("position", "velocity", "spin", "orientation", "radius", "id"):
            assert_array_equal(getattr(one, name), getattr(other, name))
        assert_array_equal(one.contacts.force, other.contacts.force)


def test_a_run_with_fewer_columns_is_continued_shown_and_measured(recorded, granum):
    path = recorded["small"].path
    frames = len(recorded["small"].recording)
    assert granum("restart", path, "--duration", "0.04").exit_code == 0
    with Recording(path) as recording:
        assert len(recording) == frames + 2
        assert_allclose(recording.frame(-1).radius, 0.0065, rtol=1e-7)
    assert granum("info", path).exit_code == 0
    refused = granum("analyse", path, "overlap")
    assert refused.exit_code == 2
    assert "holds no contacts" in refused.stderr
    assert "--record ...,contacts" in refused.stderr


def test_what_cannot_be_recorded_is_refused_in_words(granum):
    refused = granum("run", "column", "--record", "position,weight")
    assert refused.exit_code == 2
    assert "'velocity', 'spin', 'orientation' or 'contacts' (got 'weight')" in refused.stderr
    with pytest.raises(InputError, match="precision"):
        Settings(precision="half")


def test_a_large_recording_is_told_before_the_start(tmp_path, monkeypatch):
    """1000 grains, 101 frames, 136 bytes of a grain and 109 of a contact, of which a grain has 1.8."""
    sim = Simulation(make_scene("box", count=1000), Settings(duration=1.0, every=0.01))
    assert recording_size(sim.scene, sim.settings, sim.time_step, sim.grain_count) == pytest.approx(
        101 * 1000 * (136 + 1.8 * 109), rel=0.02
    )
    said = []
    tell_of_size(sim, tmp_path / "box.h5", said.append)
    assert said == []
    monkeypatch.setattr(forecast, "LARGE", 1e6)
    tell_of_size(sim, tmp_path / "box.h5", said.append)
    assert said[0].startswith("this run will write about 33.6 MB to ")
    assert "--record position,velocity --precision single --compress takes about 3.18 MB" in said[0]


def test_the_forecast_is_near_what_a_bed_takes(tmp_path):
    """With the contacts that its frames have; besides, the last chunk of each table is not full, and there are tables of frames."""
    done = run("box", duration=0.2, every=0.02, output=tmp_path / "box.h5", picture=False, progress=False)
    contacts = done.recording.scalars["contacts"].sum()
    storage = Storage()
    expected = 1000 * len(done.recording) * storage.bytes_per_grain() + contacts * storage.bytes_per_contact()
    chunks = 1024 * storage.bytes_per_grain() + 3072 * storage.bytes_per_contact()
    assert expected < done.path.stat().st_size < expected + chunks + 100_000


# Tables. ---------------------------------------------------------------------------------------------------------------


def test_tables_are_dicts_of_arrays(recorded):
    recording = recorded["plain"].recording
    table, frame = recording.table(), recording.frame(-1)
    assert isinstance(table, dict)
    assert_array_equal(table["time"], recording.times)
    assert_array_equal(table["kinetic_energy"], recording.scalars["kinetic_energy"])
    assert table.units["kinetic_energy"] == "J"
    assert table.units["time"] == "s"
    assert_array_equal(frame.grains["position"], frame.position)
    assert_array_equal(frame.grains["diameter"], 2 * frame.radius)
    assert frame.grains.units["velocity"] == "m/s"
    assert_array_equal(frame.contacts.table()["force"], frame.contacts.force)
    assert "spin" not in recorded["small"].recording.frame(-1).grains
    assert repr(frame.grains).startswith("DataTable(25 rows: id, material, radius, position")


def test_tables_as_pandas(recorded):
    pandas = pytest.importorskip("pandas")
    frame = recorded["plain"].recording.frame(-1)
    grains, contacts = frame.grains.to_pandas(), frame.contacts.to_pandas()
    assert isinstance(grains, pandas.DataFrame)
    assert_array_equal(grains["velocity_z"], frame.velocity[:, 2])
    assert_array_equal(grains["orientation_w"], frame.orientation[:, 0])
    assert_array_equal(contacts["normal_force"], frame.contacts.normal_force)
    assert contacts.attrs["units"]["force_z"] == "N"
    assert set(grains.attrs["units"]) <= set(grains.columns)
    assert len(recorded["plain"].recording.table().to_pandas()) == len(recorded["plain"].recording)


def test_without_pandas_a_table_says_what_to_install(recorded, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match=r"pip install 'granum\[tables\]'"):
        recorded["plain"].recording.table().to_pandas()


def test_tables_as_csv(recorded, tmp_path):
    import csv

    frame = recorded["plain"].recording.frame(-1)
    frame.grains.to_csv(tmp_path / "grains.csv")
    head, *rows = csv.reader((tmp_path / "grains.csv").read_text().splitlines())
    assert head[:5] == ["id", "material", "radius [m]", "position_x [m]", "position_y [m]"]
    assert float(rows[7][head.index("position_z [m]")]) == frame.position[7, 2]
    with pytest.raises(OutputError, match="cannot be written"):
        frame.grains.to_csv(tmp_path / "nowhere" / "grains.csv")
    frame.contacts.to_csv(tmp_path / "contacts.csv")
    assert "normal_force [N]" in (tmp_path / "contacts.csv").read_text().splitlines()[0]


def test_columns_that_are_not_there_are_refused_in_words(recorded):
    with pytest.raises(InputError, match=r"unknown column 'velocty'.*Did you mean 'velocity'"):
        recorded["plain"].recording.frame(-1).grains["velocty"]


def test_the_text_of_a_recording_counts_the_grains_of_its_last_frame(tmp_path):
    """Whether it has one frame or grains are still coming in, compressed (in whole chunks) or not."""
    for compress in (False, True):
        coming = run(
            "pile",
            duration=0.1,
            every=0.05,
            time_step=5e-4,
            compress=compress,
            output=tmp_path / f"{compress}.h5",
            picture=False,
            progress=False,
        )
        counts = coming.recording.grain_counts
        assert counts[-1] > counts[-2] > 0
        assert f", {counts[-1]} grains in the last" in repr(coming.recording)
    one = run_jam(particles=20, output=tmp_path / "jam.h5", picture=False, progress=False)
    assert ", 20 grains in the last" in repr(one.recording)


def test_recordings_without_velocities_have_pictures(tmp_path):
    """Coloured by height."""
    lean = run("column", duration=0.01, record="position", output=tmp_path / "lean.h5", picture=False, progress=False).recording
    assert "<img" in lean._repr_html_()
    assert "<img" in lean.frame(0)._repr_html_()
    assert [axes.get_ylabel() for axes in lean.plot("picture").axes][-1].startswith("height")
