"""The experiments with drums: every curve and row is there at a size of seconds, and the searches find known numbers."""

from __future__ import annotations

import math

import numpy as np

from granum.papers import run_jobs, sn_drum, ws_drum


def test_slow_drum_gives_every_curve(tmp_path):
    size = ws_drum.DrumSize((5, 20), prepare=0.3, prepare_iterations=10, settle=0.1, window=0.2, count=60, width=10.0, length=3.0)
    outcome = ws_drum.measure(size, lambda jobs: run_jobs(jobs, 1))
    for name in ("plug", "angle", "surface_angle", "overlap"):
        assert {method: len(curve) for method, curve in outcome.curves[name].items()} == dict.fromkeys(ws_drum.COMPARED, 2)
    assert all(0 <= part <= 1 for curve in outcome.curves["plug"].values() for part in curve)
    assert all(path.stat().st_size > 10_000 for path in ws_drum.draw(outcome, tmp_path))


def test_sawtooth_drum_gives_every_curve(tmp_path):
    size = sn_drum.DrumSize(
        width=12,
        counts=(20, 40),
        speeds=(0.0, 0.3, 0.6, 3.0),
        iterations=(3, 10),
        settle=0.05,
        longest=0.1,
        prepare=0.2,
        prepare_iterations=10,
        window=0.1,
        length=3.0,
    )
    outcome = sn_drum.measure(size, lambda jobs: run_jobs(jobs, 1))
    assert all(overlap.shape == (2, 2) for overlap in outcome.curves["overlap"].values())
    for chains, section in zip(outcome.curves["forces"].values(), outcome.curves["sections"].values(), strict=True):
        # Forces and grains are seen from the same side: the middle of both lies on the side that rises.
        assert chains["ends"].shape[1:] == (2, 2)
        assert abs(chains["ends"][..., 0].mean() - section["across"].mean()) < 0.3
    assert all(path.stat().st_size > 10_000 for path in sn_drum.draw(outcome, tmp_path))


def test_iterations_are_found_on_logarithmic_axes():
    n = (10, 20, 40, 80)
    assert math.isclose(sn_drum.iterations_at(n, 1.6 / np.array(n)), 32.0)  # 1.6 / n = 0.05
    assert sn_drum.iterations_at(n, np.full(4, 0.01)) == 0.0
    assert math.isnan(sn_drum.iterations_at(n, np.full(4, 0.1)))
