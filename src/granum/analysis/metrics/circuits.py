"""Metrics of a balling circuit: drum, belt and roller sieve."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..circuit import SHARES, STAGES, circuit_flow, circuit_numbers, circuit_passes, drum_bed_angle, heap_angle
from ..metric import Metric, MetricResult, series
from ..snapshot import Snapshot


def _circuit(shots: Iterable[Snapshot]) -> MetricResult:
    found = circuit_flow(circuit_passes(shots))
    sizes = {f"{name}_d{100 * share:.0f}": found.sizes[name].at(share) for name in STAGES for share in SHARES}
    return MetricResult(
        circuit_numbers(found) | sizes | {"from": found.window[0], "to": found.window[1]},
        {
            "gap": np.append(found.gap, np.inf),
            "place": found.place,
            "mass_flow": found.gap_flow,
            "d50": [one.at(0.5) for one in found.gap_sizes],
            "largest": [one.at(1.0) for one in found.gap_sizes],
        },
        note=f"{found.unseen} pellets left between two frames: their gap is where they were seen last" if found.unseen else None,
    )


def _angles(shots: Iterable[Snapshot]) -> MetricResult:
    return series(shots, lambda s: {"drum": drum_bed_angle(s), "belt": heap_angle(s)}, "nothing in the drum or on the belt", spread=True)


METRICS: dict[str, Metric] = {
    "circuit": Metric(
        _circuit,
        "mass flow, mass and sizes (by mass) of drum, belt and sieve after the start, and mass flow and sizes through each gap (the last "
        "row: oversize); evenness: 1 if all places take the same, 1 / n if one of n takes all",
        {
            **{f"{name}_flow": "kg/s" for name in STAGES},
            **{f"{name}_mass": "kg" for name in STAGES},
            **{f"{name}_d{100 * share:.0f}": "m" for name in STAGES for share in SHARES},
            **dict.fromkeys(("gap", "place", "d50", "largest"), "m"),
            "mass_flow": "kg/s",
            "from": "s",
            "to": "s",
        },
        needs="the scene circuit",
        table="gaps",
        all_frames=True,
    ),
    "circuit-angles": Metric(
        _angles,
        "angles of repose in drum and belt of a circuit, both from centres of mass",
        {"time": "s", **dict.fromkeys(("drum", "belt", "drum_std", "belt_std"), "degrees")},
        needs="the scene circuit",
    ),
}
