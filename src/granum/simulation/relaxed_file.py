"""The recording of a relaxed run: two frames, as the run had its grains and as they are at rest."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..io import Frame, RecordingWriter
from ..io.layout import CONTACTS, WALLS
from .relax import RelaxedRun

KIND = "relaxed"
SCALARS = ("energy", "elastic_energy", "kinetic_energy", "contacts", "residual", "iterations", "max_overlap", "mean_overlap")
UNITS = {"residual": "N"}
SAME = ("orientation", "radius", "id", "material")


def write_relaxed(path: Path, before: Frame, found: RelaxedRun, description: Mapping[str, Any], summary: Mapping[str, Any]) -> None:
    """Both frames have the time of ``before``; grains at rest have the number of one more step."""
    scene = found.start.model_dump(mode="json")
    walls = {name: getattr(found.bodies, name)[: found.bodies.wall_body_count] for name in (c.name for c in WALLS)}
    same = {name: getattr(before, name) for name in SAME}
    still = np.zeros_like(before.velocity)
    with RecordingWriter(
        path, {"kind": KIND, "scene": scene, **description}, SCALARS, expected_points=len(before.radius), units=UNITS
    ) as writer:
        writer.append(
            step=before.step,
            time=before.time,
            grains=same | {"position": before.position, "velocity": before.velocity, "spin": before.spin},
            contacts={c.name: getattr(before.contacts, c.name) for c in CONTACTS},
            walls=walls,
            scalars=_scalars(before.contacts.overlap),
        )
        report = found.report
        writer.append(
            step=before.step + 1,
            time=before.time,
            grains=same | {"position": found.wrapped_position, "velocity": still, "spin": still},
            contacts=_contacts(found),
            walls=walls,
            scalars=_scalars(found.contacts.overlap)
            | {
                "energy": report.energy,
                "kinetic_energy": 0.0,
                "residual": report.residual,
                "iterations": report.iterations,
                "elastic_energy": float((found.normal_force * found.contacts.overlap).sum()) / found.alpha,
            },
        )
        writer.set_summary(summary)


def _scalars(overlap: Any) -> dict[str, float]:
    """What can be told of any frame."""
    known = {
        "contacts": len(overlap),
        "max_overlap": float(overlap.max(initial=0.0)),
        "mean_overlap": float(overlap.mean()) if len(overlap) else 0.0,
    }
    return dict.fromkeys(SCALARS, np.nan) | known


def _contacts(found: RelaxedRun) -> dict[str, Any]:
    c, force = found.contacts, found.normal_force
    point = found.position[c.a] + (found.bodies.radius[c.a] - c.overlap / 2)[:, None] * c.normal
    cell = found.start.cell
    return {
        "a": found.id[c.a],
        "b": np.where(c.b >= 0, found.id[np.maximum(c.b, 0)], c.b),
        "feature": c.feature,
        "normal": c.normal,
        "overlap": c.overlap,
        "point": point if cell is None else cell.wrap(point),
        "force": force[:, None] * c.normal,
        "normal_force": force,
        "status": np.zeros(len(force), np.int8),
    }
