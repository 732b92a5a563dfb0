"""The summary of a run: one object for ``run``, ``restart`` and ``info``."""

from __future__ import annotations

import math
from dataclasses import fields
from pathlib import Path
from typing import Any

from ..analysis import frame_results, mean_and_largest_overlap, scene_results, state_hash
from ..analysis.flow_rate import FlowRate
from ..analysis.snapshot import WALL_ARRAYS, static_grains
from ..extensions import extensions
from ..io import Frame, Recording, checkpoint_path
from ..simulation import Simulation
from ..simulation.counting import Counted
from ..simulation.escaped import escaped
from ..state.report import timers


def summarise(sim: Simulation, recording: Path, about: dict[str, Any]) -> dict[str, Any]:
    """Of a simulation at its end; ``about`` tells where its settings come from."""
    c = sim.contacts
    mean_overlap, max_overlap = mean_and_largest_overlap(c.overlap, c.a, c.b, sim.radius)
    began = max(0.0, sim.time - sim.time_step)  # the last step
    bodies = sim.bodies
    walls = {name: getattr(bodies, name)[: bodies.wall_body_count] for name in WALL_ARRAYS}
    results, missing = scene_results(
        sim.scene, sim.wrapped_position, sim.radius, sim.velocity, began, bodies.inverse_mass[bodies.grains] == 0, walls
    )
    return {
        "scene": sim.scene.name,
        "complete": sim.ended_by is None,
        "grains": sim.grain_count,
        "contacts": c.contact_count,
        "time": sim.time,
        "steps": sim.step_count,
        **method(sim.settings.model_dump(mode="json")),
        "threads": sim.threads,
        "time_step": sim.time_step,
        "residual": sim.report.residual,
        "residual_creep": max(0.0, sim.report.residual) / sim.scene.finest,
        **(sim.nonsmooth.tally.summary() if sim.settings.stepper.name == "nonsmooth" else {}),
        "mean_overlap": mean_overlap,
        "max_overlap": max_overlap,
        "kinetic_energy": sim.report.kinetic_energy,
        "energy_lost": sim.guard.lost(sim) if sim.guard.began is not None else None,
        "wall_seconds": sim.wall_seconds,
        "stage_seconds": {
            stage: sim.stage_seconds.get(stage, 0.0) for stage in timers(t for f in sim.settings.extensions for t in f.timers)
        },
        "energy": ledger_of(sim),
        "state_hash": state_hash(sim.wrapped_position, sim.orientation, sim.velocity, sim.spin),
        "recording": str(recording),
        "checkpoint": str(checkpoint_path(recording)),
        "results": results,
        "missing": missing,
        "emitters": emitted(sim),
        "taken_out": sim.taken_out,
        **tally(sim),
        "escaped": fallen_out(sim),
        "chosen": about["chosen"],
        "time_step_reason": about.get("time_step_reason"),
        "warnings": sim.warnings,
        "stopped": sim.stop_reason,
        **of_extensions(sim),
    }


def of_extensions(sim: Simulation) -> dict[str, Any]:
    """What the extensions of a run came to."""
    found: dict[str, Any] = {}
    for extension in sim.settings.extensions:
        found |= {scalar.name: sim.report.more[scalar.name] for scalar in extension.scalars} | extension.summary(sim)
    return found


def emitted(sim: Simulation) -> list[dict[str, Any]]:
    """Grains that each emitter has brought, and that were due by now."""
    began = max(0.0, sim.time - sim.time_step)  # the last step
    return [{"name": e.emitter.name, "grains": e.emitted, "due": e.emitter.due(began)} for e in sim.emissions]


def ledger_of(sim: Simulation) -> dict[str, float] | None:
    """Where the energy [J] of a run came from, what holds it now, and what was lost in contacts; none of a run whose start is not known."""
    if sim.guard.began is None:
        return None
    kinetic = sim.report.kinetic_energy
    return sim.ledger.balance(kinetic, sim.report.energy - kinetic, sim.report.elastic_energy, sim.guard.began)


def fallen_out(sim: Simulation) -> dict[str, Any] | None:
    """Grains that fell below all walls and sinks, with the corners [m] of the box around them now; none: all are held."""
    found = escaped(sim)
    return None if found is None else {"grains": found.grains, "lower": found.lower, "upper": found.upper, "words": found.words}


def tally(sim: Simulation) -> dict[str, list[dict[str, Any]]]:
    """Grains and mass [kg] that came into each sink, gone or not, and that passed each counter."""
    seen = sim.counters
    return {
        "sinks": [_tally_row("sinks", one.name, seen[one.name]) for one in sim.scene.sinks],
        "counters": [_tally_row("counters", one.name, seen[one.name]) for one in sim.scene.counters],
    }


def _tally_row(kind: str, name: str, seen: Any) -> dict[str, Any]:
    more = {"waiting": seen.waiting} if kind == "sinks" else {"grains_back": seen.count_back, "mass_back": seen.mass_back}
    return {"name": name, "grains": seen.count, "mass": seen.mass, **more}


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
        "accuracy": solver.get("accuracy"),
        "warm_start": start["name"],
        "beta": start.get("beta"),
        "momentum": solver["momentum"] and solver.get("order") != "symmetric" if "momentum" in solver else None,
        "friction": stepper.get("friction"),
        "order": solver.get("order"),
        "threads": settings["threads"],
        **{extension.name: stepper[extension.name] for extension in extensions() if stepper.get(extension.name) is not None},
    }


def from_recording(path: Path) -> dict[str, Any]:
    """Of a recording: what the run reported, or what its last frame and description tell if it never came to its end."""
    with Recording(path) as recording:
        about = of_frames(recording.summary or _unfinished(recording), recording)
        frames = len(recording)
    checkpoint = checkpoint_path(path)
    return about | {"recording": str(path), "checkpoint": str(checkpoint) if checkpoint.exists() else None, "frames": frames}


def of_frames(summary: dict[str, Any], recording: Recording) -> dict[str, Any]:
    """A summary with what all frames of a recording tell together."""
    found, lacks = frame_results(recording)
    return (
        summary
        | means(recording)
        | _rates(summary, recording)
        | {"results": summary.get("results", {}) | found}
        | ({"notes": lacks} if lacks else {})
    )


def _rates(summary: dict[str, Any], recording: Recording) -> dict[str, Any]:
    """What a summary says of sinks and counters, with their mean rates [kg/s] and errors."""
    rows = {kind: summary.get(kind, []) for kind in ("sinks", "counters")}
    if len(recording) < 2 or not recording.has_counters or not any(rows.values()):
        return {}
    flows = {name: FlowRate.of(recording, name).mean for name in recording.scene.counted}
    found = {name: {"rate": mean.value, "rate_error": mean.error if math.isfinite(mean.error) else None} for name, mean in flows.items()}
    return {kind: [row | found[row["name"]] for row in of_kind] for kind, of_kind in rows.items()}


def means(recording: Recording) -> dict[str, float]:
    """Of scalars of extensions, over the frames after the first step; nothing if none was recorded."""
    done = recording.steps > 0
    names = [scalar.name for extension in extensions() for scalar in extension.scalars if scalar.mean and scalar.name in recording.scalars]
    return {f"mean_{name}": float(recording.scalars[name][done].mean()) for name in names} if done.any() else {}


def _last_tally(recording: Recording) -> dict[str, Any]:
    """As :func:`tally`, of the last frame."""
    if not recording.has_counters:
        return {}
    scene, seen = recording.scene, recording.counters
    last = {name: Counted(**{part.name: getattr(one, part.name)[-1].item() for part in fields(Counted)}) for name, one in seen.items()}
    kinds: dict[str, tuple[Any, ...]] = {"sinks": scene.sinks, "counters": scene.counters}
    return {kind: [_tally_row(kind, one.name, last[one.name]) for one in ones] for kind, ones in kinds.items()}


def _unfinished(recording: Recording) -> dict[str, Any]:
    description = recording.description
    scene = recording.scene
    known: dict[str, Any] = {
        "scene": scene.name,
        "complete": False,
        **method(description["settings"]),
        "state_hash": None,
        "results": {},
        "missing": {},
        "emitters": [],
        "taken_out": 0,
        "sinks": [],
        "counters": [],
        "escaped": None,
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
    more = (stage for extension in extensions() for stage in extension.timers if f"{stage}_seconds" in last)
    stages = {stage: last[f"{stage}_seconds"] for stage in timers(more)}
    scalars = [scalar for extension in extensions() for scalar in extension.scalars if scalar.name in last]
    results, missing = scene_results(
        scene, frame.position, frame.radius, frame.velocity, frame.time - time_step, static_grains(scene, frame.id), vars(frame.walls)
    )
    return known | {
        "grains": len(frame.radius),
        "taken_out": int(last.get("taken_out", 0)),
        **_last_tally(recording),
        "contacts": int(last["contacts"]),
        "time": frame.time,
        "steps": frame.step,
        "residual": last["residual"],
        "mean_overlap": last["mean_overlap"] / smallest,
        "max_overlap": last["max_overlap"] / smallest,
        "kinetic_energy": last["kinetic_energy"],
        "wall_seconds": sum(stages.values()),
        "stage_seconds": stages,
        "state_hash": _hash_of(recording, frame),
        **{scalar.name: int(last[scalar.name]) if scalar.whole else last[scalar.name] for scalar in scalars},
        "results": results,
        "missing": missing,
    }


def _hash_of(recording: Recording, frame: Frame) -> str | None:
    """Of the state in a frame; none where the frame does not hold all of it, to the bit."""
    settings = recording.description["settings"]
    whole = {"velocity", "spin", "orientation"} <= set(recording.recorded) and settings.get("precision", "double") == "double"
    return state_hash(frame.position, frame.orientation, frame.velocity, frame.spin) if whole else None
