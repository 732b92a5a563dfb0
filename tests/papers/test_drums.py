"""The experiments with drums: every curve and row is there at a size of seconds, and the searches find known numbers."""

from __future__ import annotations

import math

import numpy as np

from granum.papers import sn_drum, ws_drum
from granum.pool import run_jobs
from tests.figures import curve, grains, legend, panels, segments, title


def test_slow_drum_gives_every_curve(tmp_path, drawn):
    size = ws_drum.DrumSize((5, 20), prepare=0.3, prepare_iterations=10, settle=0.1, window=0.2, count=60, width=10.0, length=3.0)
    outcome = ws_drum.measure(size, lambda jobs: run_jobs(jobs, 1))
    for name in ("plug", "angle", "surface_angle", "overlap"):
        assert {method: len(curve) for method, curve in outcome.curves[name].items()} == dict.fromkeys(ws_drum.COMPARED, 2)
    assert all(0 <= part <= 1 for curve in outcome.curves["plug"].values() for part in curve)
    assert [path.name for path in ws_drum.draw(outcome, tmp_path)] == list(drawn) == ["ws-drum.png", "ws-drum-flow.png"]
    plug, angle = panels(drawn["ws-drum.png"])
    assert (plug.get_xlabel(), plug.get_ylabel()) == ("iterations $N_{it}$", "grains in the plug zone [%]")
    assert legend(plug) == list(ws_drum.COMPARED)
    assert legend(angle) == [*(f"{method}, centre of mass" for method in ws_drum.COMPARED), "surface"]
    for method in ws_drum.COMPARED:
        x, y = curve(angle, f"{method}, centre of mass")
        assert x.tolist() == [5, 20]
        np.testing.assert_allclose(y, outcome.curves["angle"][method])
    flows = panels(drawn["ws-drum-flow.png"])
    assert [title(axes) for axes in flows] == ["cold, 5 iterations", "cold, 20 iterations", "history, 5 iterations"]
    assert [grains(axes) for axes in flows] == [60, 60, 60]


def test_sawtooth_drum_gives_every_curve(tmp_path, drawn):
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
    assert [path.name for path in sn_drum.draw(outcome, tmp_path)] == list(drawn) == ["sn-drum-flow.png", "sn-drum.png"]
    *networks, slow, fast, profile = panels(drawn["sn-drum-flow.png"])
    assert [segments(axes) for axes in networks] == [len(chains["ends"]) for chains in outcome.curves["forces"].values()]
    assert [grains(axes) for axes in (slow, fast)] == [40, 40]
    assert legend(profile) == ["3 iterations", "10 iterations", "rigid rotation"]
    needed, overlap = panels(drawn["sn-drum.png"])
    assert legend(needed) == [f"$\\omega$ = {speed:g} rad/s" for speed in (0.0, 0.3, 0.6, 3.0)]
    assert (overlap.get_xscale(), overlap.get_yscale()) == ("log", "log")


def test_iterations_are_found_on_logarithmic_axes():
    n = (10, 20, 40, 80)
    assert math.isclose(sn_drum.iterations_at(n, 1.6 / np.array(n)), 32.0)  # 1.6 / n = 0.05
    assert sn_drum.iterations_at(n, np.full(4, 0.01)) == 0.0
    assert math.isnan(sn_drum.iterations_at(n, np.full(4, 0.1)))
