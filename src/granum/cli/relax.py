"""The end of a run at rest: ``granum minimise`` of the recording of a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .console import talk
from .minimise import FIGURES, draw_residuals, plain, report_rows, show_methods
from .packings import Watch, about, draw_beside, show

if TYPE_CHECKING:
    from ..io import Recording


def relax(
    recording: Recording, frame: int, methods: list[str], options: dict[str, Any], output: Path | None, picture: bool, as_json: bool
) -> None:
    """Relax a frame of a run and tell of it."""
    from .._jit import cache_is_warm
    from ..analysis import state_hash
    from ..scene.file import load_scene
    from ..simulation.relax import relax_run
    from ..simulation.relaxed_file import write_relaxed

    if not cache_is_warm():
        talk("compiling kernels, once (a minute or two; later runs start at once) ...")
    trials, short = [], load_scene("column", {"count": "3"})
    for name in methods:
        relax_run(short, method=name)  # compiles or loads the kernels: wall times are of the work alone
        with Watch(name, total=1) as watch:
            trials.append(relax_run(recording, frame=frame, method=name, watch=watch, **options))
    talk("friction is left out: what it held up has come down")
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
    try:
        if output is not None and output.suffix.lower() in FIGURES:
            subtitle = f"{recording.path}: {first.start.name}, {found['grains']} grains at t = {before.time:.4g} s"
            found["picture"] = draw_residuals([t.report for t in trials], output, subtitle)
        elif output is not None:
            settings = {"source": str(recording.path), "method": first.report.method, **options}
            write_relaxed(output, before, first, about(recording.description.get("seed"), settings), found)
            found["recording"] = str(output)
            if picture:
                found["picture"] = draw_beside(output, "picture")
    finally:  # what was found is not lost with a file that cannot be written
        if len(trials) > 1 and not as_json:
            show_methods(found["methods"])
        show(found, rows(found), f"granum minimise: {first.start.name}", as_json)


def rows(s: dict[str, Any]) -> list[tuple[str, str]]:
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
