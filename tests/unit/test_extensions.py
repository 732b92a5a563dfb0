"""Extensions of runs: found by their folders, named by nobody else, and asked by steps, files, summaries and progress for what they add."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import granum
from granum import Nonsmooth, Recording, Simulation, make_scene
from granum.analysis import Snapshot
from granum.analysis.metrics import METRICS
from granum.bench import BENCHMARKS
from granum.cli.extensions import PARAMETERS
from granum.extensions import extensions, folders, names_in
from granum.extensions.base import EXTENSIONS, Extension, Scalar
from granum.golden import SCENES
from granum.observe import Recorder, progress, steps
from granum.plot.figures import FIGURES
from granum.runs.summary import from_recording, method, summarise
from granum.runs.summary_rows import summary_rows
from granum.simulation import make_settings, simulation
from granum.state.columns import Column
from granum.state.report import StepReport
from granum.state.stages import Stage

ROOT = Path(granum.__file__).parent
WORDS = re.compile("reduc|aggregate", re.IGNORECASE)
MAY_SAY = (
    "reduction/*",  # the extension
    "*/reduction.py",  # what it brings to the layers above
    "papers/mr_*.py",  # the paper that it is from
    "papers/figures/mr.py",
    "nonsmooth/settings.py",  # the field of its settings
    "references.py",  # the title of that paper
    "__init__.py",  # the menu of the package
    "references.py",  # the title of the paper
)


def test_nobody_else_speaks_of_model_reduction():
    say = [str(path.relative_to(ROOT)) for path in sorted(ROOT.rglob("*.py")) if WORDS.search(path.read_text())]
    assert [name for name in say if not any(fnmatch(name, pattern) for pattern in MAY_SAY)] == []


def test_it_is_found_everywhere():
    assert folders() == ("reduction",)
    assert [extension.name for extension in extensions()] == ["reduction"]
    for layer in ("analysis", "plot", "bench", "golden", "cli"):
        assert names_in(layer) == ("reduction",)
    assert names_in("papers") == ()
    assert "reduction" in METRICS
    assert {"aggregates", "reduction"} <= set(FIGURES)
    assert "reduction" in BENCHMARKS
    assert "merged" in SCENES
    assert "reduce" in [getattr(parameter, "name", "") for parameter in PARAMETERS]


# An extension of this file's own -----------------------------------------------------------------------------------------------------


class Tally:
    """Counts steps, and remembers the fastest speed [m/s] ever."""

    def __init__(self, stepper, first: int) -> None:
        self.bodies, self.count, self.top = stepper.bodies, first, 0.0
        stepper.stages = [*stepper.stages, Stage("tally", self.look)]

    def look(self, now) -> None:
        self.count += 1
        self.top = max(self.top, float(np.abs(self.bodies.velocity[self.bodies.grains]).max()))
        now.more |= {"tally": self.count, "top_speed": self.top}

    def at_start(self) -> dict[str, float]:
        return {"tally": self.count, "top_speed": 0.0}

    def shadow(self) -> None:
        return None

    def keep(self, rows, new_row) -> None: ...

    def checkpoint(self) -> dict[str, Any]:
        return {"count": self.count, "top": self.top}

    def restore(self, saved: dict[str, Any]) -> None:
        self.count, self.top = saved["count"], saved["top"]


class Tallied(Extension):
    """How a run is counted."""

    name: ClassVar[str] = "tallied"
    saved_as: ClassVar[str] = "tally"
    scalars: ClassVar[tuple[Scalar, ...]] = (
        Scalar("tally", "1", "steps so far", whole=True, progress="tally {:d}"),
        Scalar("top_speed", "m/s", "of any grain so far", mean=True),
    )
    columns: ClassVar[tuple[Column, ...]] = (Column("stuff", np.int32, (), "1", "the material once more", attribute="material"),)
    timers: ClassVar[tuple[str, ...]] = ("tally",)
    of_contacts: ClassVar[str] = "all of them"

    first: int = 0

    def extend(self, stepper) -> Tally:
        return Tally(stepper, self.first)

    def summary(self, sim) -> dict[str, Any]:
        return {"tallied_to": sim.report.tally}

    @classmethod
    def rows(cls, summary) -> list[tuple[str, str]]:
        return [("tally", f"{summary['tally']} from {summary['tallied']['first']}")]


class WithTally(Nonsmooth):
    """The settings of the stepper with those of the extension."""

    tallied: Tallied | None = None


OWN = EXTENSIONS.pop("tallied")  # known from its definition on; nobody else shall meet it


@pytest.fixture
def sim(monkeypatch):
    """A small run with the extension."""
    monkeypatch.setitem(EXTENSIONS, "tallied", OWN)
    settings = make_settings({"time_step": 0.005}).model_copy(update={"stepper": WithTally(tallied=Tallied(first=7))})
    monkeypatch.setattr(simulation, "make_settings", lambda *layers: settings)
    return Simulation(make_scene("column", {"count": 3}))


def test_its_stage_runs_and_reports(sim):
    assert sim.report.tally == sim.report.more["tally"] == 7
    sim.step()
    assert sim.report.tally == 8
    assert sim.report.top_speed > 0
    assert sim.stage_seconds["tally"] >= 0
    assert "tally 8" in progress.facts(sim)
    with pytest.raises(AttributeError, match="no 'nonsense'"):
        _ = sim.report.nonsense


def test_it_goes_on_from_a_checkpoint(sim):
    sim.step()
    saved, report = sim.checkpoint(), sim.report.checkpoint()
    assert report["tally"] == 8  # beside the fields that every report has
    assert StepReport.restored(report) == sim.report
    again = Simulation.restore(sim.scene, sim.settings, saved)
    assert again.step().tally == sim.step().tally == 9


def test_files_snapshots_and_summaries_have_what_it_adds(sim, tmp_path):
    path = tmp_path / "run.h5"
    sim.observers.append(Recorder(path, steps(2)))
    sim.run_until(6)
    with Recording(path) as run:
        assert_array_equal(run.scalars["tally"], [7, 9, 11, 13])
        assert "tally_seconds" in run.scalars
        assert_array_equal(run.frame(-1).more["stuff"], sim.bodies.material)
        assert_array_equal(Snapshot.read(run).more["material"], Snapshot.of(sim).more["material"])
        fastest = run.scalars["top_speed"]
    settings = sim.settings.model_dump() | {"stepper": sim.settings.stepper.model_dump()}  # with the field of this file's own
    found = summarise(sim, path, {"chosen": {}}) | method(settings)
    assert (found["tally"], found["tallied_to"], found["tallied"]) == (13, 13, {"first": 7})
    assert list(found["stage_seconds"])[-2:] == ["tally", "output"]
    rows = dict(summary_rows(found))
    assert rows["tally"] == "13 from 7"
    assert rows["contacts"].endswith("(all of them)")
    told = from_recording(path)  # of its last frame, as nobody has written a summary
    assert told["tally"] == 13
    assert told["mean_top_speed"] == pytest.approx(fastest[1:].mean())
