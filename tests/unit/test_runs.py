"""Runs as library calls: what the commands do, with files, summary and figures, and nothing said where nothing should be."""

from __future__ import annotations

import json

import pytest

from granum import (
    InputError,
    PackingWriter,
    Run,
    RunError,
    Settings,
    StopWhen,
    jam,
    make_scene,
    random_packing,
    restart,
    run,
    run_jam,
    run_minimise,
    run_shear,
)
from granum.io import Recording, checkpoint_path
from granum.quasistatic.minimise import AUTO, LIMIT
from granum.runs.jam import JamSettings
from granum.runs.minimise import MinimiseSettings
from granum.runs.shear import ShearSettings

QUIET = {"progress": False, "picture": False}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_a_run_is_what_the_command_does(granum, tmp_path):
    """The same summary, key by key, and the same bits."""
    told = json.loads(granum("run", "column", "--set", "count=3", "--duration", "0.05", "--no-picture", "--json", "-o", "a.h5").stdout)
    found = run(make_scene("column", count=3), duration=0.05, output="b.h5", **QUIET)
    assert isinstance(found, Run)
    assert list(found.summary) == list(told)
    assert found.summary["state_hash"] == told["state_hash"]
    assert found.summary["chosen"] == told["chosen"]
    assert (found.summary["time_step"], found.summary["steps"]) == (told["time_step"], told["steps"])
    assert checkpoint_path(tmp_path / "b.h5").exists()
    with Recording("b.h5") as recording:
        assert recording.summary == found.summary


def test_scenes_by_name_by_file_and_as_objects(tmp_path):
    (tmp_path / "one.toml").write_text(
        '[run]\ntime_step = 0.002\nduration = 0.01\n[[materials]]\nname = "m"\n'
        '[[grains]]\nmaterial = "m"\ndiameter = 0.02\nposition = [[0, 0, 0.05]]\n'
    )
    for scene in ("one.toml", tmp_path / "one.toml"):
        found = run(scene, overwrite=True, **QUIET)
        assert (found.summary["scene"], found.summary["time_step"], found.summary["steps"]) == ("one", 0.002, 5)
        assert found.path is not None
        assert found.path.name == "one.vtkhdf"
    named = run("column", Settings(duration=0.02, time_step=1e-3), duration=0.01, output="c.h5", **QUIET)
    assert (named.summary["steps"], named.summary["chosen"]["time_step"]) == (10, "given")
    with pytest.raises(InputError, match="Did you mean 'column'"):
        run("colum")
    with pytest.raises(InputError, match="durration: is not a known key"):
        run("column", durration=1, **QUIET)


def test_what_a_run_offers(tmp_path):
    found = run(make_scene("box", count=100), solver="pgs", duration=0.02, output="box.h5", **QUIET)
    assert repr(found) == f"Run(box, 100 grains, t = {found.summary['time']:.6g} s, box.h5)"
    page = found._repr_html_()
    assert page.count("<tr>") == len(found.rows)
    assert "[dim]" not in page
    assert len(found.recording) >= 2
    assert found.recording is found.recording
    assert found.found.grain_count == 100
    figure = found.plot(path="picture.png")
    assert "100 grains" in " ".join(text.get_text() for text in figure.texts)
    assert (tmp_path / "picture.png").exists()
    assert "energy" in found.plot("energy").axes[0].get_ylabel()
    with pytest.raises(InputError, match="unknown figure"):
        found.plot("enrgy")
    with pytest.raises(InputError, match="unknown setting of a figure 'tme'"):
        found.plot("picture", tme=1)
    with pytest.raises(InputError, match="must end in"):
        found.plot("energy", "energy.txt")


def test_a_picture_of_the_end_stands_beside_the_recording(tmp_path):
    found = run("column", duration=0.02, output="c.h5", progress=False)
    assert found.summary["picture"] == "c.png"
    assert (tmp_path / "c.png").exists()


def test_ctrl_c_while_the_picture_is_drawn_loses_nothing_else(monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("granum.plot.scene_picture", interrupted)
    with pytest.raises(KeyboardInterrupt) as told:
        run("column", duration=0.02, output="c.h5", progress=False)
    assert told.value.run.summary["complete"]


def test_observers_come_along_and_may_end_it(capsys):
    found = run("column", duration=1.0, output="c.h5", observers=[StopWhen(kinetic_energy_below=1e9)], **QUIET)
    assert found.summary["steps"] == 100
    assert "is below" in found.summary["stopped"]
    assert capsys.readouterr() == ("", "")


def test_runs_go_on(capsys):
    first = run("column", duration=0.05, output="c.h5", **QUIET)
    longer = restart("c.h5", duration=0.05, progress=False)
    whole = run("column", duration=0.1, output="d.h5", **QUIET)
    assert longer.summary["steps"] == 2 * first.summary["steps"]
    assert longer.summary["state_hash"] == whole.summary["state_hash"]
    assert capsys.readouterr() == ("", "")


def test_a_run_that_has_to_stop_says_how_to_go_on():
    with pytest.raises(RunError, match=r"continue with: granum restart c\.h5|Last checkpoint"):
        run("column", guards={"overlap": 1e-9}, duration=1.0, output="c.h5", **QUIET)


def test_packings_are_runs_too(tmp_path, granum, capsys):
    """jam, minimise and shear, one after the other, as the commands do it."""
    told = json.loads(granum("jam", "--particles", 24, "--no-picture", "--json", "-o", "a.h5").stdout)
    found = run_jam(particles=24, output="jam.h5", **QUIET)
    assert list(found.summary) == list(told)
    assert found.summary["phi_cr"] == told["phi_cr"] == jam(24).phi_cr
    assert "phi = " in repr(found)
    dense = run_minimise("jam.h5", phi=0.9, output="dense.h5", **QUIET)
    assert dense.summary["phi"] == pytest.approx(0.9)
    sheared = run_shear("dense.h5", strain=2e-3, step=1e-3, **QUIET)
    assert sheared.path is not None
    assert sheared.path.name == "dense-shear.h5"
    assert len(sheared.recording) == 3
    assert sheared.plot("shear").axes
    again = run_shear(dense.found, strain=2e-3, step=1e-3, output="again.h5", **QUIET)
    assert again.summary["state_hash"] == sheared.summary["state_hash"]
    assert capsys.readouterr() == ("", "")


def test_defaults_are_those_of_the_functions():
    assert JamSettings().method == ShearSettings().method == AUTO
    assert MinimiseSettings().limit == LIMIT


def test_nothing_is_written_without_an_output(tmp_path):
    found = run_minimise(random_packing(24, 0.9), **QUIET)
    assert found.summary["converged"]
    assert not list(tmp_path.iterdir())
    with pytest.raises(InputError, match="no recording"):
        _ = found.recording


def test_the_end_of_a_run_is_relaxed():
    run("column", duration=0.05, output="c.h5", **QUIET)
    found = run_minimise("c.h5", output="relaxed.h5", **QUIET)
    assert found.summary["kind"] == "relaxed"
    assert found.found.report.converged


def test_what_was_found_is_not_lost_with_a_file_that_cannot_be_written(monkeypatch):
    def full(*_, **__):
        raise RunError("the disk is full")

    monkeypatch.setattr(PackingWriter, "append", full)
    with pytest.raises(RunError) as told:
        run_jam(particles=24, **QUIET)
    assert told.value.run.summary["phi_cr"] > 0.7


def test_looking_on_does_not_move_a_bit(monkeypatch):
    """Progress of a search asks for the pressure in every iteration here, and else several times a second."""
    from granum.quasistatic import course
    from granum.runs.packings import facts

    monkeypatch.setattr(course, "WATCH_EVERY", -1.0)
    said = []
    watched = jam(24, watch=lambda course, steps: said.append(facts(course)))
    assert len(said) > 1000
    assert watched.phi_cr == jam(24).phi_cr
    assert (watched.packing.position == jam(24).packing.position).all()
