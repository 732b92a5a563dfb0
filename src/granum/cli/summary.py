"""The summary of a run: one object for ``run``, ``restart`` and ``info``, as a table or as JSON."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..io import Recording, checkpoint_path
from .console import print_json

if TYPE_CHECKING:
    from ..simulation import Simulation


def summarise(sim: Simulation, recording: Path, about: dict[str, Any]) -> dict[str, Any]:
    """Of a simulation at its end; ``about`` tells where its settings come from."""
    from ..analysis import mean_and_largest_overlap, scene_results, state_hash
    from ..state.report import STAGES

    c = sim.contacts
    mean_overlap, max_overlap = mean_and_largest_overlap(c.overlap, c.a, c.b, sim.radius)
    return {
        "scene": sim.scene.name,
        "complete": sim.ended_by is None,
        "grains": sim.grain_count,
        "contacts": c.contact_count,
        "time": sim.time,
        "steps": sim.step_count,
        **method(sim.settings.model_dump(mode="json")),
        "time_step": sim.time_step,
        "residual": sim.report.residual,
        "residual_creep": max(0.0, sim.report.residual) / sim.scene.size_range[0],
        "mean_overlap": mean_overlap,
        "max_overlap": max_overlap,
        "kinetic_energy": sim.report.kinetic_energy,
        "energy_lost": sim.guard.lost(sim) if sim.guard.began is not None else None,
        "wall_seconds": sim.wall_seconds,
        "stage_seconds": {stage: sim.stage_seconds.get(stage, 0.0) for stage in STAGES},
        "state_hash": state_hash(sim.wrapped_position, sim.orientation, sim.velocity, sim.spin),
        "recording": str(recording),
        "checkpoint": str(checkpoint_path(recording)),
        "results": scene_results(sim.scene, sim.wrapped_position, sim.radius, sim.velocity, max(0.0, sim.time - sim.time_step)),
        "emitters": emitted(sim),
        "taken_out": sim.taken_out,
        "sinks": tally(sim),
        "chosen": about["chosen"],
        "time_step_reason": about.get("time_step_reason"),
        "warnings": sim.warnings,
        "stopped": sim.stop_reason,
        **_merged(sim),
    }


def _merged(sim: Simulation) -> dict[str, Any]:
    """What model reduction came to, if it is on."""
    from dataclasses import asdict

    if sim.settings.reduction is None:
        return {}
    free = sim.report.free_grains if sim.report.free_grains >= 0 else sim.grain_count
    found: dict[str, Any] = {"reduction_level": sim.report.reduction_level, "free_grains": free, "aggregates": sim.report.aggregates}
    if sim.shadow is not None:
        last, mean = sim.shadow.found, sim.shadow.mean
        found["approximation_error"] = {
            "steps": sim.shadow.steps,
            "windows": sim.shadow.windows,
            "last": asdict(last) if last is not None else None,
            "mean": asdict(mean) if mean is not None else None,
        }
    return found


def emitted(sim: Simulation) -> list[dict[str, Any]]:
    """Grains that each emitter has brought, and that were due by now."""
    began = max(0.0, sim.time - sim.time_step)  # the last step
    return [{"name": e.emitter.name, "grains": e.emitted, "due": e.emitter.due(began)} for e in sim.emissions]


def tally(sim: Simulation) -> list[dict[str, Any]]:
    """Grains and mass [kg] that each sink has taken out."""
    r = sim.removal
    return [{"name": sink.name, "grains": int(n), "mass": float(m)} for sink, n, m in zip(r.sinks, r.count, r.mass, strict=True)]


def method(settings: dict[str, Any]) -> dict[str, Any]:
    """How the steps were solved, from the settings of a run."""
    stepper = settings["stepper"]
    if stepper["name"] == "smooth":
        return {name: stepper[name] for name in ("integrator", "damping")} | {
            "time_step": settings["time_step"],
            "stepper": "smooth",
            "threads": settings["threads"],
        }
    solver, start = stepper["solver"], stepper["warm_start"]
    return {
        "time_step": settings["time_step"],
        "stepper": stepper["name"],
        "solver": solver["name"],
        "iterations": solver.get("iterations"),
        "tolerance": solver.get("tolerance"),
        "warm_start": start["name"],
        "beta": start.get("beta"),
        "momentum": solver["momentum"] and solver.get("order") != "symmetric" if "momentum" in solver else None,
        "friction": stepper.get("friction"),
        "order": solver.get("order"),
        "threads": settings["threads"],
        **({"reduction": stepper["reduction"]} if stepper.get("reduction") is not None else {}),
    }


def from_recording(path: Path) -> dict[str, Any]:
    """Of a recording: what the run reported, or what its last frame and description tell if it never came to its end."""
    with Recording(path) as recording:
        about = (recording.summary or _unfinished(recording)) | mean_level(recording)
        frames = len(recording)
    checkpoint = checkpoint_path(path)
    return about | {"recording": str(path), "checkpoint": str(checkpoint) if checkpoint.exists() else None, "frames": frames}


def mean_level(recording: Recording) -> dict[str, float]:
    """Reduction level over the frames after the first step; nothing if none was recorded."""
    level = recording.scalars.get("reduction_level")
    done = recording.steps > 0
    return {"mean_reduction_level": float(level[done].mean())} if level is not None and done.any() else {}


def _unfinished(recording: Recording) -> dict[str, Any]:
    from ..analysis import scene_results, state_hash
    from ..scene.scene import Scene
    from ..state.report import STAGES

    description = recording.description
    scene = Scene.model_validate(description["scene"])
    known: dict[str, Any] = {
        "scene": scene.name,
        "complete": False,
        **method(description["settings"]),
        "state_hash": None,
        "results": {},
        "emitters": [],
        "taken_out": 0,
        "sinks": [],
        "chosen": description.get("chosen", {}),
        "time_step_reason": description.get("time_step_reason"),
        "warnings": [],
        "stopped": None,
    }
    if not len(recording):
        return known
    frame = recording.frame(-1)
    last = {name: float(values[-1]) for name, values in recording.scalars.items()}
    smallest = 2 * float(frame.radius.min(initial=float("inf")))
    time_step = frame.time / frame.step if frame.step else 0.0
    stages = {stage: last[f"{stage}_seconds"] for stage in STAGES}
    return known | {
        "grains": len(frame.radius),
        "taken_out": int(last.get("taken_out", 0)),
        "contacts": len(frame.contacts),
        "time": frame.time,
        "steps": frame.step,
        "residual": last["residual"],
        "mean_overlap": last["mean_overlap"] / smallest,
        "max_overlap": last["max_overlap"] / smallest,
        "kinetic_energy": last["kinetic_energy"],
        "wall_seconds": sum(stages.values()),
        "stage_seconds": stages,
        "state_hash": state_hash(frame.position, frame.orientation, frame.velocity, frame.spin),
        **(
            {"reduction_level": last["reduction_level"], "free_grains": int(last["free_grains"]), "aggregates": int(last["aggregates"])}
            if "reduction_level" in last
            else {}
        ),
        "results": scene_results(scene, frame.position, frame.radius, frame.velocity, frame.time - time_step),
    }


def show(summary: dict[str, Any], as_json: bool) -> None:
    """On stdout."""
    if as_json:
        print_json(summary)
        return
    from rich.console import Console
    from rich.table import Table

    title = f"granum: {summary['scene']}" + ("" if summary["complete"] else " (not complete)")
    table = Table(title=title, show_header=False, title_justify="left")
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in _rows(summary):
        table.add_row(name, value)
    Console(highlight=False).print(table)


def _rows(s: dict[str, Any]) -> list[tuple[str, str]]:
    from rich.markup import escape

    def given(key: str) -> str:
        return f" [dim]({s['chosen'][key]})[/dim]" if key in s["chosen"] else ""

    def number(key: str, unit: str = "") -> str:
        value = s.get(key)
        return "unknown" if value is None else f"{value:.6g} {unit}".strip()

    units = {"height": "m", "exact_height": "m", "angle": "degrees"}
    rows = [
        ("grains", number("grains")),
        ("contacts", number("contacts") + (" (none inside of aggregates)" if s.get("reduction") else "")),
        ("time", f"{number('time', 's')} in {number('steps')} steps of {number('time_step', 's')}{_step_origin(s)}"),
        *_how(s, given),
        *_reduction_rows(s),
        ("threads", number("threads")),
        ("overlap", f"mean {number('mean_overlap')} d, largest {number('max_overlap')} d"),
        ("kinetic energy", number("kinetic_energy", "J")),
        ("energy lost", number("energy_lost", "J")),
    ]
    if s.get("taken_out") or s.get("sinks"):
        each = [f"{k['name']} {k['grains']} ({k['mass']:.6g} kg)" for k in s["sinks"]]
        rows.insert(1, ("taken out", ": ".join([f"{s['taken_out']} grains", *([", ".join(each)] if each else [])])))
    if s.get("emitters"):
        rows.insert(1, ("emitted", ", ".join(f"{e['name']} {e['grains']} of {e['due']} grains" for e in s["emitters"])))
    for name, value in s["results"].items():
        rows.append((name.replace("_", " "), "none" if value is None else f"{value:.6g} {units.get(name, '')}".strip()))
    if s.get("stage_seconds"):
        total = sum(s["stage_seconds"].values()) or 1.0
        shares = ", ".join(f"{stage} {seconds / total:.0%}" for stage, seconds in s["stage_seconds"].items())
        rows.append(("wall time", f"{s['wall_seconds']:.3g} s: {shares}"))
    rows.append(("state hash", f"{(s['state_hash'] or 'unknown')[:16]}"))
    rows += [("warning", f"[yellow]{escape(warning)}[/yellow]") for warning in s.get("warnings", ())]
    rows += [(name, s[name]) for name in ("recording", "checkpoint", "picture", "stopped") if s.get(name)]
    return rows


def _step_origin(s: dict[str, Any]) -> str:
    """Where the time step comes from, and why it is what it is if granum chose it."""
    parts = dict.fromkeys(part for part in (s["chosen"].get("time_step"), s.get("time_step_reason")) if part)
    return f" [dim]({': '.join(parts)})[/dim]" if parts else ""


def _how(s: dict[str, Any], given: Callable[[str], str]) -> list[tuple[str, str]]:
    """Rows about the stepper."""
    if s["stepper"] == "smooth":
        return [("stepper", f"smooth, {s['integrator']}, damping from {s['damping']}")]
    start = s["warm_start"] + (f", beta {s['beta']:g}" if s.get("beta") is not None else "")
    solver = [s["solver"]]
    if s.get("iterations") is not None:
        solver.append(f"{s['iterations']} iterations{given('iterations')}")
    elif s["solver"] == "pgs":
        solver.append("sweeps to an accuracy")
    if s.get("momentum") is not None:
        solver.append(f"momentum {'on' if s['momentum'] else 'off'}{given('momentum')}")
    solver += [f"{s[name]} {name}" for name in ("friction", "order") if s.get(name)]
    return [
        ("solver", ", ".join(solver)),
        ("warm start", start + given("warm_start")),
        ("residual", _residual(s)),
    ]


def _residual(s: dict[str, Any]) -> str:
    """What the last solve left over, and how fast grains at rest creep by it."""
    if s.get("residual") is None:
        return "unknown"
    creep = f", a creep of {s['residual_creep']:.1e} d/s" if s.get("residual_creep") else ""
    return f"{s['residual']:.6g} m/s{creep}"


def _reduction_rows(s: dict[str, Any]) -> list[tuple[str, str]]:
    """The policy, how far it got, and the error if it was measured."""
    policy = s.get("reduction")
    if policy is None:
        return []
    rows = [("reduction", _policy(policy))]
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


def _policy(policy: dict[str, Any]) -> str:
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
