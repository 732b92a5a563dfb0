"""What ``granum plan`` prints."""

from __future__ import annotations

from typing import Any

from ..talk import in_milliseconds, in_time, short_number
from .console import print_json
from .csv_out import print_rows
from .tables import console, show_columns

SN_COLUMNS = ("", "tN/tS", "tN/t", "tS/t", "h_N/ms", "h_S/ms", "N_it", "eps", "w/d", "l/d", "N_p", "I", "v_n/(mm/s)", "E/GPa", "d/mm")


def show_table(as_json: bool, as_csv: bool) -> None:
    """SN Table I, computed."""
    from ..analysis.run_plan import table_rows

    rows = table_rows()
    if as_csv:
        print_rows(rows)
        return
    if as_json:
        print_json({"table": "Servin et al., Table I, computed", "rows": rows})
        return

    def cells(row: dict[str, float]) -> list[str]:
        steps = (1e3 * row["time_step_nonsmooth"], 1e3 * row["time_step_smooth"])
        return [
            str(row["row"]),
            *map(short_number, (row["ratio"], row["effort_nonsmooth"], row["effort_smooth"], *steps)),
            f"{row['iterations']:.0f}",
            *(f"{row[name]:g}" for name in ("tolerance", "width", "height")),
            short_number(row["grains"]),
            f"{row['inertial']:g}",
            short_number(1e3 * row["normal_velocity"]),
            f"{row['young'] / 1e9:g}",
            f"{1e3 * row['diameter']:g}",
        ]

    title = "Table I of Servin et al., computed (K_N = K_S = 1e-6 s; nonsmooth: cold, plain sweeps; N_c = N_p)"
    show_columns(SN_COLUMNS, map(cells, rows), title=title, wide=True)


def show_plan(found: dict[str, Any], notes: list[str]) -> None:
    """The system, what is recommended, all estimates, and where the numbers come from."""
    out, costs, inputs = console(wide=True), found["costs"], found["inputs"]

    def say(line: str) -> None:
        out.print(line, soft_wrap=True)

    say(
        f"system: {found['grains']:.4g} grains of {1e3 * inputs['diameter']:g} mm, {inputs['width']:.3g} d wide, {inputs['height']:.3g} d "
        f"high, E = {inputs['young']:.3g} Pa, I = {inputs['inertial']:g}, error {100 * inputs['tolerance']:g} %"
    )
    for note in notes:
        say(f"  {note}")
    each = costs["contacts_per_grain"]
    hint = " (the count of Servin et al.; a settled packing has about 2: --contacts 2)" if each == 1 and inputs["width"] >= 5 else ""
    say(f"contacts: {found['contacts']:.4g}, {each:.2g} per grain{hint}")
    for line in _recommended(found["recommended"], found["scene"]):
        say(line)
    _show_ways(found["ways"])
    _show_errors(found)
    say(
        f"nonsmooth h: the step that granum takes ({found['time_step_reason']}); Servin et al. count with "
        f"{in_milliseconds(found['time_step_nonsmooth'])} for an error of {100 * inputs['tolerance']:g} %"
    )
    source = (
        "measured on this machine, with the rest of a step"
        if costs["measured"]
        else "as in Table I of Servin et al. (granum references); --machine measures"
    )
    say(f"K_N = {costs['nonsmooth']:.2g} s per contact and iteration, K_S = {costs['smooth']:.2g} s per grain and step: {source}")
    say(f"smooth h: the step that granum takes; Servin et al. count with sqrt(m/k) = {in_milliseconds(found['time_step_smooth'])}")
    gains = ", ".join(f"{name} {gain:g}" for name, gain in found["fewer_sweeps"].items())
    say(f"fewer sweeps than plain, cold ones, the least that was measured in columns and boxes: {gains}")
    if any(way["threads"] > 1 for way in found["ways"]):
        parts = " and ".join(f"{part:.0%} of a {stepper} step" for stepper, part in found["parallel_part"].items())
        say(f"threads: Amdahl's law with {parts} on all of them")


def _recommended(best: dict[str, Any], scene: str) -> list[str]:
    """What to take, and the command for it; ``scene`` as it is typed."""
    from ..nonsmooth.time_step import as_typed

    step, more = in_milliseconds(best["time_step"]), []
    if best["stepper"] == "nonsmooth":
        flags = f"--stepper nonsmooth --time-step {as_typed(best['time_step'])} --iterations {best['iterations']}"
        first = f"recommended: nonsmooth, h = {step}, {best['iterations']} iterations with momentum and history"
        more = ["  with --accuracy 1% in place of --iterations each step makes as many sweeps as its estimated error asks for"]
    else:
        flags, first = "--stepper smooth", f"recommended: smooth, h = {step} (a stable step is found by itself)"
    return [first, f"  {best['words']} on one thread; granum run {scene} {flags}", *more]


def _show_ways(ways: list[dict[str, Any]]) -> None:
    def cells(way: dict[str, Any]) -> list[str]:
        sweeps, number = way["solver"] or "-", "-" if way["iterations"] is None else str(way["iterations"])
        return [way["stepper"], sweeps, number, in_milliseconds(way["time_step"]), str(way["threads"]), in_time(way["effort"])]

    names = ("<stepper", "<sweeps", "iterations", "h", "threads", "time per simulated second")
    show_columns(names, map(cells, ways), title="estimates", wide=True)


def _show_errors(found: dict[str, Any]) -> None:
    def cells(row: dict[str, Any]) -> list[str]:
        return [in_milliseconds(row["time_step"]), *(f"{row[name]:.2g}" for name in ("way", "fall", "error")), row["which"]]

    title = f"error of a step, in diameters (the fastest moves at {found['fastest']:.3g} m/s)"
    show_columns(("h", "way of the fastest", "fall from rest", "error", "<"), map(cells, found["errors"]), title=title, wide=True)
