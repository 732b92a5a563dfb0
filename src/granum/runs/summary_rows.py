"""The summary of a run as rows of a table."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..extensions import extensions
from .result import Rows

RESULT_UNITS = {
    **dict.fromkeys(("height", "exact_height"), "m"),
    **dict.fromkeys(("angle", "surface_angle", "centre_of_mass_angle", "critical_friction_angle"), "degrees"),
    **dict.fromkeys(("peak_deviator", "critical_deviator", "critical_lateral_stress", "pressure"), "Pa"),
    **dict.fromkeys(("discharge_rate", "beverloo_rate"), "kg/s"),
    "outside_volume": "m³",
    **{f"{part}_{what}": unit for part in ("drum", "belt", "sieve") for what, unit in (("flow", "kg/s"), ("mass", "kg"), ("d50", "m"))},
}
"""Of results; the others are ratios."""
DEVIATION = "height_error"  # of a column from its exact height, no standard error
SUMMARY_UNITS = {
    **dict.fromkeys(("time", "time_step", "wall_seconds"), "s"),
    **dict.fromkeys(("kinetic_energy", "energy_lost"), "J"),
    **dict.fromkeys(("mean_overlap", "max_overlap"), "d"),
    **{"residual": "m/s", "residual_creep": "d/s"},
}
"""Of the other numbers of a summary; d are diameters."""


def summary_rows(s: dict[str, Any]) -> Rows:
    """Of the table of a run's summary."""
    from rich.markup import escape

    def given(key: str) -> str:
        return f" [dim]({s['chosen'][key]})[/dim]" if key in s["chosen"] else ""

    def number(key: str, unit: str = "", digits: int = 6) -> str:
        value = s.get(key)
        return "unknown" if value is None else f"{value:.{digits}g} {unit}".strip()

    used = [extension for extension in extensions() if s.get(extension.name) is not None]
    rows = [
        ("grains", number("grains")),
        ("contacts", number("contacts") + "".join(f" ({extension.of_contacts})" for extension in used if extension.of_contacts)),
        ("time", f"{number('time', 's')} in {number('steps')} steps of {number('time_step', 's')}{_step_origin(s)}"),
        *_how(s, given),
        *(row for extension in used for row in extension.rows(s)),
        ("threads", str(s.get("threads", "unknown"))),
        ("overlap", f"mean {number('mean_overlap', digits=3)} d, largest {number('max_overlap', digits=3)} d"),
        ("kinetic energy", number("kinetic_energy", "J", 4)),
        ("energy lost", number("energy_lost", "J", 4)),
        *_energy_rows(s),
    ]
    rows[1:1] = [(escape(f"{kind} {one['name']}"), _flow(one)) for kind in ("sink", "counter") for one in s.get(f"{kind}s", ())]
    if s.get("taken_out") or s.get("sinks"):
        rows.insert(1, ("taken out", f"{s['taken_out']} grains"))
    if s.get("escaped"):
        rows.insert(1, ("fell out", f"[yellow]{s['escaped']['words']}[/yellow]"))
    if s.get("emitters"):
        rows.insert(1, ("emitted", ", ".join(f"{e['name']} {e['grains']} of {e['due']} grains" for e in s["emitters"])))
    rows += _result_rows(s["results"], {name: escape(why) for name, why in s.get("missing", {}).items()})
    rows += [("note", f"[yellow]{escape(note)}[/yellow]") for note in s.get("notes", ())]
    if s.get("stage_seconds"):
        total = sum(s["stage_seconds"].values()) or 1.0
        shares = ", ".join(f"{stage} {seconds / total:.0%}" for stage, seconds in s["stage_seconds"].items())
        rows.append(("wall time", f"{s['wall_seconds']:.3g} s: {shares}"))
    rows.append(("state hash", f"{(s['state_hash'] or 'unknown')[:16]}"))
    rows += [("warning", f"[yellow]{escape(warning)}[/yellow]") for warning in s.get("warnings", ())]
    return rows


def _result_rows(results: dict[str, float | None], missing: dict[str, str]) -> Rows:
    """What the run is judged by: numbers with their errors and units, and why one is missing."""
    rows = []
    for name, value in results.items():
        if name.endswith("_error") and name != DEVIATION and name.removesuffix("_error") in results:
            continue  # told with its number
        error = results.get(f"{name}_error") if f"{name}_error" != DEVIATION else None
        digits = 6 if "exact_height" in results else 3 if RESULT_UNITS.get(name) == "degrees" else 4
        if value is None:
            told = f"none ({missing[name]})" if name in missing else "none"
        else:
            told = f"{with_error(value, error) if error is not None else f'{value:.{digits}g}'} {RESULT_UNITS.get(name, '')}".strip()
        rows.append((name.replace("_", " "), told))
    return rows


def with_error(value: float, error: float) -> str:
    """A number and its standard error, which is known to two digits at most."""
    if not 1e-6 < error < 1e6:
        return f"{value:.4g} ± {error:.1g}"
    places = max(0, (1 if error < 1 else 0) - math.floor(math.log10(error)))
    return f"{value:.{places}f} ± {error:.{places}f}"


def _flow(one: dict[str, Any]) -> str:
    """What a sink or counter has seen."""
    words = [f"{one['grains']} grain{'' if one['grains'] == 1 else 's'}, {one['mass']:.6g} kg"]
    if one.get("waiting"):
        words.append(f"{one['waiting']} of them still there, as they leave some together")
    if one.get("grains_back"):
        words.append(f"{one['grains_back']} went back ({one['mass_back']:.6g} kg)")
    if one.get("rate") is not None:
        error = f" ± {one['rate_error']:.2g}" if one.get("rate_error") is not None else ""
        words.append(f"mean {one['rate']:.4g}{error} kg/s")
    return "; ".join(words)


def _energy_rows(s: dict[str, Any]) -> Rows:
    """Where the energy came from and went, as far as it did."""
    entries = {name: joules for name, joules in (s.get("energy") or {}).items() if joules}
    return [("energy [J]", ", ".join(f"{name.replace('_', ' ')} {joules:.4g}" for name, joules in entries.items()))] if entries else []


def _step_origin(s: dict[str, Any]) -> str:
    """Where the time step comes from, and why it is what it is if granum chose it."""
    parts = dict.fromkeys(part for part in (s["chosen"].get("time_step"), s.get("time_step_reason")) if part)
    return f" [dim]({': '.join(parts)})[/dim]" if parts else ""


def _how(s: dict[str, Any], given: Callable[[str], str]) -> Rows:
    """Rows about the stepper."""
    if s["stepper"] == "smooth":
        return [("stepper", f"smooth, {s['integrator']}, damping from {s['damping']}")]
    start = s["warm_start"] + (f", beta {s['beta']:g}" if s.get("beta") is not None else "")
    solver = [s["solver"]]
    if s.get("accuracy") is not None:
        most = f", {s['iterations']} sweeps at most" if s.get("iterations") is not None else ""
        solver.append(f"sweeps to an estimated error of {s['accuracy']:.2g}{most}{given('accuracy')}")
    elif s.get("iterations") is not None:
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
        *([("solves", _solves(s))] if s.get("sweeps_per_step") is not None else []),
    ]


def _solves(s: dict[str, Any]) -> str:
    """How many sweeps steps took, what error they have left in the velocities, and whether all came to the accuracy that was asked for."""
    words = [f"{s['sweeps_per_step']:.3g} sweeps a step"]
    if s.get("velocity_error") is not None:
        words.append(
            f"velocities off by {s['velocity_error']:.1%} of what a step changes (estimated; largest {s['largest_velocity_error']:.1%})"
        )
    if s.get("steps_short_of_accuracy"):
        words.append(f"[yellow]{s['steps_short_of_accuracy']} steps ended at the most sweeps, short of the accuracy[/yellow]")
    return ", ".join(words)


def _residual(s: dict[str, Any]) -> str:
    """What the last solve left over, and how fast grains at rest creep by it."""
    if s.get("residual") is None:
        return "unknown"
    creep = f", a creep of {s['residual_creep']:.1e} d/s" if s.get("residual_creep") else ""
    return f"{s['residual']:.6g} m/s{creep}"
