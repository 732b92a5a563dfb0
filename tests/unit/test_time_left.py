"""The time that is left: from the later half of what has gone, and with grains that are still to come."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from granum import progress
from granum.observe.progress import STEP, work_ahead
from granum.scene.library import make_scene


def test_time_left_forgets_what_was_slow_at_first(monkeypatch):
    """A tenth of the work took 50 s, as it compiled; the next tenths take 1 s each. After 8 of them one is left: 1 s."""
    now, said = [0.0], []
    monkeypatch.setattr(progress, "monotonic", lambda: now[0])
    bar = progress.Bar("work", talk=said.append, every=0.5)
    bar.show(0.0)
    for time, part in [(50.0, 0.1), *((50.0 + 15 * k, 0.1 + 0.1 * k) for k in range(1, 9))]:
        now[0] = time
        bar.show(part)
    assert said[-1].endswith("about 15 s left")


def test_grains_to_come_count():
    """Of 100 steps to come with 10 grains now and 50 a second to come: 10 and the step itself, and 25 more in the mean over a second."""
    scene = make_scene("pile", count=1000, rate=50)
    sim = SimpleNamespace(last_step=200, step_count=100, time=1.0, time_step=0.01, grain_count=10, scene=scene)
    assert work_ahead(sim) == pytest.approx(100 * (STEP + 10 + 25), rel=0.02)  # whole grains
    late = SimpleNamespace(last_step=200, step_count=100, time=30.0, time_step=0.01, grain_count=10, scene=scene)
    assert work_ahead(late) == 100 * (STEP + 10)  # all are there
