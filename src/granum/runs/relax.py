"""The end of a run at rest: a minimisation of the recording of a run."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._jit import cache_is_warm
from ..analysis import state_hash
from ..io import Recording
from ..plot.style import FORMATS
from ..scene.library import make_scene
from ..simulation.relax import relax_run
from ..simulation.relaxed_file import write_relaxed
from .packings import Watch, describe, draw_beside
from .reports import Known, draw_residuals, plain, report_rows
from .result import Rows, Run, carry


def relax(recording: Recording, frame: int, methods: list[str], options: dict[str, Any], known: Known) -> Run:
    """Relax a frame of a run, with several methods beside each other."""
    if not cache_is_warm():
        known.say("compiling kernels, once (a minute or two; later runs start at once) ...")
    trials, short = [], make_scene("column", count=3)
    for name in methods:
        relax_run(short, method=name)  # compiles or loads the kernels: wall times are of the work alone
        with Watch(name, total=1, shown=known.progress) as watch:
            trials.append(relax_run(recording, frame=frame, method=name, watch=watch, **options))
    known.say("friction is left out: what it held up has come down")
    first, before = trials[0], recording.frame(frame)
    found: dict[str, Any] = {
        "kind": "relaxed",
        "scene": first.start.name,
        "source": str(recording.path),
        "time": before.time,
        "grains": len(first.position),
        "contacts": first.contacts.contact_count,
        "height": _top(first.position, first.bodies.radius),
        "height_before": _top(before.position, before.radius),
        "largest_move": first.moved,
        **plain(first.report),
        "max_overlap": float(first.contacts.overlap.max(initial=0.0)),
        "methods": [plain(t.report) for t in trials],
        "state_hash": state_hash(first.position, first.bodies.radius),
    }
    run, output = Run(f"granum minimise: {first.start.name}", found, relax_rows, found=first), known.output
    try:
        if output is not None and output.suffix.lower() in FORMATS:
            subtitle = f"{recording.path}: {first.start.name}, {found['grains']} grains at t = {before.time:.4g} s"
            found["picture"] = draw_residuals([t.report for t in trials], output, subtitle)
        elif output is not None:
            kept = {"source": str(recording.path), "method": first.report.method, **options}
            write_relaxed(output, before, first, describe(known.about, recording.description.get("seed"), kept), found)
            run.path, found["recording"] = output, str(output)
            if known.picture:
                found["picture"] = draw_beside(output, "picture", known.say)
    except BaseException as error:
        carry(error, run)
        raise
    return run


def relax_rows(s: dict[str, Any]) -> Rows:
    """Of the table."""
    return [
        ("grains", f"{s['grains']}, {s['contacts']} contacts"),
        ("top", f"{s['height']:.6g} m, before {s['height_before']:.6g} m"),
        ("largest move", f"{s['largest_move']:.4g} m"),
        ("energy", f"{s['energy']:.8g} J, with height"),
        ("overlap", f"largest {s['max_overlap']:.4g} m"),
        *report_rows(s),
    ]


def _top(position: np.ndarray, radius: np.ndarray) -> float:
    return float((position[:, 2] + radius).max())
