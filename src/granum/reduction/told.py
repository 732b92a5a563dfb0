"""What a summary tells of model reduction, as rows of a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def summary_rows(s: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The policy, how far it got, and the error if it was measured."""
    rows = [("reduction", _policy(s["reduction"]))]
    if s.get("reduction_level") is not None:
        mean = f" (mean {s['mean_reduction_level']:.1%})" if "mean_reduction_level" in s else ""
        bodies = f"{s['free_grains']} free grains, {s['aggregates']} aggregates"
        rows.append(("reduction level", f"{s['reduction_level']:.1%}{mean}: {bodies}"))
    error = s.get("approximation_error")
    if error is not None:
        windows = f"{error['windows']} windows of {error['steps']} steps"
        mean = error["mean"]
        found = windows
        if mean is not None:
            parts = f"across {mean['perpendicular']:.3g}, along {mean['parallel']:.3g}"
            found = f"{mean['rms']:.3g} d ({parts}), largest {mean['largest']:.3g} d, mean of {windows}"
        rows.append(("approximation error", found))
    return rows


def _policy(policy: Mapping[str, Any]) -> str:
    """In a line: what merges, and what splits."""
    merge, contact, trial = policy["merge"], policy["contact"], policy["trial"]
    ways = {
        "contact": f"contact (above {_limit(contact['approach'], 'm/s')}, depth {contact['depth']})",
        "trial": f"trial (force {_limit(trial['force'], '')}, {trial['iterations']} sweeps, "
        + ("whole aggregates)" if trial["depth"] is None else f"{trial['depth']} layers)"),
        "sensor": "sensor",
    }
    split = ", ".join(ways[kind] for kind in policy["split"])
    return f"merge below {merge['tangential']:g} m/s, {merge['rolling']:g} rad/s; split by {split}"


def _limit(value: float | None, unit: str) -> str:
    return "no limit" if value is None else f"{value:g} {unit}".strip()
