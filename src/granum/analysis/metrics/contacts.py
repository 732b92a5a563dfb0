"""Metrics of contacts and the forces in them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict

import numpy as np

from ..contact_errors import Spread, contact_counts, overlap_ratio, slide_errors
from ..force_network import ForceNetwork
from ..metric import Metric, MetricResult, means
from ..snapshot import Snapshot

HISTOGRAM_BINS = 20


def _overlap(shots: Iterable[Snapshot]) -> MetricResult:
    found = np.concatenate([overlap_ratio(s) for s in shots])
    if not len(found):
        return MetricResult({"mean": 0.0, "std": 0.0, "max": 0.0, "contacts": 0}, note="no contacts")
    spread = Spread.of(found)
    count, edges = np.histogram(found, HISTOGRAM_BINS, range=(0.0, spread.largest))
    return MetricResult(
        {"mean": spread.mean, "std": spread.std, "max": spread.largest, "contacts": spread.count},
        {"from": edges[:-1], "to": edges[1:], "count": count},
    )


def _slide(shots: Iterable[Snapshot]) -> MetricResult:
    found = [slide_errors(s) for s in shots]
    size, direction = Spread.of(np.concatenate([f.size for f in found])), Spread.of(np.concatenate([f.direction for f in found]))
    return MetricResult(
        {
            "contacts": size.count,
            "size_mean": size.mean,
            "size_std": size.std,
            "size_worst": size.largest,
            "direction_mean": direction.mean,
            "direction_std": direction.std,
            "direction_worst": direction.largest,
        },
        note=None if size.count else "no contact slides",
    )


def _contacts(shots: Iterable[Snapshot]) -> MetricResult:
    return means([asdict(contact_counts(s)) for s in shots])


def _network(shots: Iterable[Snapshot]) -> MetricResult:
    rows, last = [], None
    for s in shots:
        if (s.normal_force > 0).any():
            last = ForceNetwork.of(s)
            rows.append(_of_network(last))
    if last is None:
        return MetricResult({"contacts": 0}, note="no contact carries force")
    found = last.distribution(HISTOGRAM_BINS)
    columns = {"from": found.edges[:-1], "to": found.edges[1:], "count": found.count, "density": found.density}
    return MetricResult(means(rows).values, columns, "fewer than ten strong contacts: no tail" if math.isnan(found.tail_rate) else None)


def _of_network(net: ForceNetwork) -> dict[str, float]:
    lengths = net.chain_lengths
    return {
        "contacts": net.edge_count,
        "mean_force": net.mean_force,
        "largest_force": float(net.normal_force.max()),
        "strong_part": float(net.strong.mean()),
        "tail_rate": net.distribution().tail_rate,
        "coordination": net.coordination,
        "backbone_coordination": net.backbone_coordination,
        "rattlers": int(net.rattlers.sum()),
        "anisotropy": net.anisotropy,
        "force_anisotropy": net.force_anisotropy,
        "chains": len(lengths),
        "longest_chain": int(lengths.max(initial=0)),
        "chain_part": float((net.chain >= 0).mean()),
    }


METRICS: dict[str, Metric] = {
    "overlap": Metric(
        _overlap,
        "overlaps over the diameter of the smaller grain: mean, standard deviation, largest, histogram",
        {},
        table="histogram",
    ),
    "slide": Metric(
        _slide,
        "friction of sliding contacts, 0 is right: size |f_t| / (mu f_n) - 1, direction theta / pi - 1",
        {},
    ),
    "contacts": Metric(_contacts, "contacts that are continuous, impacting (rebounding) and sliding; coordination", {}),
    "network": Metric(
        _network,
        "force network: mean and strong forces, exponential tail, coordination, fabric anisotropy, chains; f / <f>; "
        "rattlers: under gravity grains without a contact that pushes, else those with fewer than 4 (with friction 2), one after the other",
        {"mean_force": "N", "largest_force": "N"},
        table="histogram",
    ),
}
