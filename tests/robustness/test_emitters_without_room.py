"""Emitters that find no room are told with numbers and the reason; a run in which not a single grain was emitted ends with an error."""

from __future__ import annotations

import json
import warnings

import pytest

from granum.scene import BoxSource, Disc, Emitter
from granum.simulation import Simulation
from tests.reference.scenes import D, G, make, write_scene

BELOW = BoxSource(lower=(0, 0, -1), upper=(1, 1, -0.5))  # the floor z = 0 is above it
ABOVE = BoxSource(lower=(0, 0, 1), upper=(1, 1, 2))
NARROW = Disc(centre=(0, 0, 0.5), diameter=D)  # room for one grain
AT_REST = Disc(centre=(0, 0, D / 2 + 1e-4), diameter=1e-6)  # on the floor: the first grain stays in the way


def poured(*sources, h=1e-3, **given):
    """Grains from sources onto the plane z = 0."""
    emitters = [Emitter(name=f"e{k}", material="m", sizes=D, source=source, **given) for k, source in enumerate(sources)]
    return make([], walls=True, gravity=(0, 0, -G), emitters=emitters, h=h, guards={"on_coarse": "off"})


def told(sim, duration):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sim.run(duration)
    return [str(w.message) for w in caught]


def test_an_emitter_inside_of_a_wall_is_told_while_the_run_goes_on():
    sim = poured(BELOW, count=10)
    assert told(sim, 0.099) == sim.warnings  # at the end of a short run
    again = poured(BELOW, count=10)
    (message,) = told(again, 0.5)
    assert message.startswith("t = 0.1 s (step 100): the emitter 'e0' emitted 0 of the 10 grains that were due")
    assert "all of the last 1200 places tried touch walls" in message
    (last,) = again.warnings
    assert last.startswith("t = 0.5 s")


def test_a_source_that_its_own_grains_fill_is_told_with_numbers():
    sim = poured(AT_REST, count=10)
    (message,) = told(sim, 0.05)
    assert "the emitter 'e0' emitted 1 of 10 grains: the others found no room yet" in message
    assert "places tried touch grains" in message


def test_a_rate_that_the_source_does_not_give_is_told():
    """A grain leaves the source after a fall of d, 51 ms, or earlier to the side; 200 a second are asked for."""
    sim = poured(NARROW, rate=200.0, count=20)
    (message,) = told(sim, 0.3)
    assert "of the 20 grains that were due: it was up to" in message
    emitted = sim.emissions[0].emitted
    assert 4 <= emitted <= 15
    assert f"emitted {emitted} of the 20" in message
    assert sim.emissions[0].most_waiting >= 20 - emitted


def test_a_rate_that_is_caught_up_later_is_told_too():
    sim = poured(NARROW, rate=200.0, count=4)
    (message,) = told(sim, 0.5)
    assert "emitted 4 of the 4 grains that were due: it was up to 3 grains behind its rate" in message


@pytest.mark.parametrize("given", [{"rate": 500.0, "count": 40}, {"count": 40}, {"rate": 500.0}, {"count": 3, "start": 9.0}])
def test_nothing_is_told_where_all_found_room(given):
    sim = poured(ABOVE, **given)
    assert told(sim, 0.1) == sim.warnings == []


def test_what_is_emitted_in_the_end_is_told_no_more():
    sim = poured(NARROW, count=3)
    assert len(told(sim, 0.02)) == len(sim.warnings) == 1
    again = Simulation.restore(sim.scene, sim.settings, sim.checkpoint())
    assert again.emissions[0].tried == sim.emissions[0].tried > 0
    for run in (sim, again):
        assert told(run, 0.4) == run.warnings == []
        assert run.emissions[0].emitted == 3


def test_the_command_fails_when_nothing_was_emitted_at_all(granum, tmp_path):
    """Exit code 1, after the recording, the checkpoint and the summary were written; a longer run of it fails again."""
    file = write_scene(tmp_path / "scene.py", poured(BELOW, BELOW, count=10).scene)
    recording = tmp_path / "out.h5"
    result = granum("run", file, "--time-step", "1e-3", "--duration", "0.01", "--no-picture", "-o", recording, "--json")
    assert result.exit_code == 1
    assert "error: no grain was emitted in the whole run: the emitter 'e0' emitted 0 of the 10 grains" in result.stderr
    summary = json.loads(result.stdout)
    assert summary["emitters"] == [{"name": f"e{k}", "grains": 0, "due": 10} for k in range(2)]
    assert len(summary["warnings"]) == 2
    assert json.loads(granum("info", recording, "--json").stdout)["warnings"] == summary["warnings"]
    longer = granum("restart", recording, "--duration", "0.01")
    assert longer.exit_code == 1
    assert "no grain was emitted" in longer.stderr


def test_one_emitter_of_two_is_a_warning(granum, tmp_path):
    file = write_scene(tmp_path / "scene.py", poured(BELOW, ABOVE, count=10).scene)
    result = granum("run", file, "--time-step", "1e-3", "--duration", "0.01", "--no-picture", "-o", tmp_path / "out.h5")
    assert result.exit_code == 0
    assert "e0 0 of 10 grains, e1 10 of 10 grains" in result.stdout
    assert "warning: t = 0.01 s (step 10): the emitter 'e0' emitted 0 of the 10 grains that were due" in result.stderr
