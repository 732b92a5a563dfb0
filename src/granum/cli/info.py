"""``granum info``: what made a file, and what is in it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .console import in_words, print_json
from .csv_out import CsvFlag, one_format, print_rows
from .machine_tables import describe_bodies, describe_counters, describe_joints, show_counters, show_machines
from .tables import show_rows

if TYPE_CHECKING:
    from ..runs.result import Run


def register(app: typer.Typer) -> None:
    app.command("info")(in_words(info))


def info(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="Recording (or its checkpoint, for the recording beside it), scene file, or library scene."),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object: the summary of the run, and what made it.")] = False,
    as_csv: CsvFlag = False,
) -> None:
    """Show what a recording holds and how it was made; of a scene its bodies, joints, sinks and counters."""
    from ..io import Recording
    from ..runs.restart import recording_of
    from ..runs.result import Run
    from ..runs.summary import from_recording
    from ..runs.summary_rows import summary_rows
    from .show import show

    one_format(as_json, as_csv)
    if is_scene(file):
        _show_scene(file, as_json, as_csv)
        return
    path = recording_of(file)
    with Recording(path) as recording:
        made_by = origin(recording)
        run = _found(recording) if "kind" in recording.description else None
    if run is None:
        summary = from_recording(path)
        run = Run(f"granum: {summary['scene']}", summary, summary_rows, path)
    if as_json or as_csv:
        run.summary["origin"] = made_by
    else:
        _show_origin(made_by)
        if len(made_by["bodies"]) > 1:
            show_machines(made_by["bodies"], made_by["joints"])
        show_counters(made_by["counters"])
    show(run, as_json, as_csv)


def is_scene(file: Path) -> bool:
    """Whether ``file`` is a scene: by its ending, or by a name that is no file."""
    from ..scene.library import LIBRARY

    return file.suffix in (".toml", ".py") or (str(file) in LIBRARY and not file.exists())


def _show_scene(file: Path, as_json: bool, as_csv: bool) -> None:
    from ..scene.file import load_scene

    scene = load_scene(file)
    bodies, joints, counters = describe_bodies(scene), describe_joints(scene), describe_counters(scene)
    if as_csv:
        parts = (("body", bodies), ("joint", joints), ("counter", counters))
        print_rows({"part": part, **one, "walls": " ".join(one.get("walls", ()))} for part, rows in parts for one in rows)
    elif as_json:
        print_json({"scene": scene.name, "bodies": bodies, "joints": joints, "counters": counters})
    else:
        show_rows([("scene", scene.name), ("materials", ", ".join(material.name for material in scene.materials))])
        show_machines(bodies, joints)
        show_counters(counters)


def _found(recording: Any) -> Run:
    """Of packings, and of relaxed runs: what the command that wrote them reported."""
    from ..runs.jam import jam_rows
    from ..runs.minimise import minimise_rows
    from ..runs.packings import last_packing, packing_rows
    from ..runs.relax import relax_rows
    from ..runs.result import Run
    from ..runs.shear import shear_rows

    found = recording.summary or last_packing(recording)
    kind = found["kind"]
    tables = {"jam": jam_rows, "shear": shear_rows, "relaxed": relax_rows, "minimise": minimise_rows}
    content = found | {"recording": str(recording.path), "frames": len(recording)}
    return Run(f"granum {kind}", content, tables.get(kind, packing_rows), recording.path)


def origin(recording: Any) -> dict[str, Any]:
    """Command, versions, seed and frames of a recording."""
    from ..io.packing import moment
    from ..scene.motion import in_words

    description, times = recording.description, recording.times
    return {
        "command": description.get("command"),
        "seed": description.get("seed"),
        "versions": description.get("versions", {}),
        "frames": len(recording),
        "first_time": float(times[0]) if len(times) else None,
        "last_time": float(times[-1]) if len(times) else None,
        "first": moment(recording, times[0]) if len(times) else None,
        "last": moment(recording, times[-1]) if len(times) else None,
        "driven": {body.name: in_words(body.motion) for body in _bodies(recording) if body.is_driven},
        "bodies": [] if "kind" in description else describe_bodies(recording.scene),
        "joints": [] if "kind" in description else describe_joints(recording.scene),
        "counters": [] if "kind" in description else describe_counters(recording.scene),
        "cell": (description.get("scene", {}).get("cell") or {}).get("vectors"),
    }


def _bodies(recording: Any) -> tuple[Any, ...]:
    """Of the scene of a run in time; packings have none."""
    return () if "kind" in recording.description else recording.scene.bodies


def _show_origin(made_by: dict[str, Any]) -> None:
    span = f", {made_by['first']} to {made_by['last']}" if made_by["frames"] else ""
    rows = [
        ("command", str(made_by["command"])),
        ("versions", ", ".join(f"{name} {version}" for name, version in made_by["versions"].items())),
        *([("seed", str(made_by["seed"]))] if made_by["seed"] is not None else []),
        *([("cell", _cell_in_words(made_by["cell"]))] if made_by["cell"] is not None else []),
        *([("driven", "; ".join(f"{name} by {how}" for name, how in made_by["driven"].items()))] if made_by["driven"] else []),
        ("frames", f"{made_by['frames']}{span}"),
    ]
    show_rows(rows, "made by")


def _cell_in_words(vectors: list[list[float]]) -> str:
    """Lengths of an upright cell, else its vectors, and the axes that repeat."""
    dim = len(vectors)
    leans = any(vectors[k][f] for k in range(dim) for f in range(dim) if k != f)
    size = ", ".join(str(tuple(v)) for v in vectors) if leans else " x ".join(f"{vectors[k][k]:g}" for k in range(dim))
    axes = ("x", "x and y", "x, y and z")[dim - 1]
    return f"{size} m, repeats along {axes}"
