"""``granum analyse``: numbers from a recording."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..checks import InputError, known_name
from ..units import in_si
from .console import in_words, print_json
from .csv_out import one_format, print_columns, print_rows
from .options import argument, json_option, option, with_parameters
from .quantities import quantity
from .reproduce import plain
from .tables import console, show_columns, show_list

if TYPE_CHECKING:
    from ..analysis.metrics import Metric, MetricResult
    from ..io import Recording

MOST_ROWS = 40  # of a table on the terminal


def register(app: typer.Typer) -> None:
    app.command("analyse")(in_words(analyse))


@with_parameters(
    argument("file", Path | None, "Recording of a run, finished or not.", default=None),
    argument("names", list[str] | None, "What to measure; see --list.", default=None, metavar="METRIC"),
    option("show_list", bool, "--list", help="List the metrics.", default=False),
    option("frames", str | None, "--frames", help="Frames A to B - 1, or one frame; negative: from the end.", metavar="A:B"),
    option("last", int | None, "--last", help="The last N frames.", metavar="N"),
    option("time", str | None, "--time", help="Frames from A to B [s]; either may be left out.", metavar="A:B"),
    *(
        option(what, list[str] | None, f"--{what}", help=f"Of {metric}: this {long}; may be given several times.", metavar="NAME")
        for what, metric, long in (
            ("body", "body-force", "body"),
            ("joint", "joint-force", "joint"),
            ("counter", "flow-rate", "sink or counter"),
        )
    ),
    option("window", float | None, "--window", help="Of flow-rate: length of the windows [s].", **quantity("s")),
    json_option(panel=None),
    option("as_csv", bool, "--csv", help="The table of one metric, as lines of comma-separated values.", default=False),
)
def analyse(**given: Any) -> None:
    """Measure a recording.

    Metrics are of the last frame unless frames are chosen (a series in time: of all frames); over several frames they are means.

    \b
    granum analyse --list
    granum analyse column.vtkhdf overlap contacts
    granum analyse drum.vtkhdf drum-angle plug flow --time 6:8 --json
    granum analyse silo.vtkhdf pressure janssen load --last 10
    granum analyse digger.vtkhdf body-force --body bucket --csv
    granum analyse hopper.vtkhdf flow-rate --window 0.1 --csv
    granum analyse triaxial.vtkhdf triaxial --csv > curve.csv
    """
    from ..analysis.metrics import METRICS, frames_of, measure_recording
    from ..io import Recording
    from ..io.packing import moment
    from ..runs.restart import recording_of

    file, names, window, as_json, as_csv = (given[key] for key in ("file", "names", "window", "as_json", "as_csv"))
    one_format(as_json, as_csv)
    if given["show_list"]:
        _show_list(METRICS, as_json, as_csv)
        return
    if file is None:
        raise InputError("which recording? Give FILE METRIC..., or --list for the metrics.")
    if not names:
        raise InputError(f"which metric of {file}? Choose some of: {', '.join(map(repr, METRICS))}.")
    for name in names:
        known_name("metric", name, METRICS)
    for what in ("body", "joint", "counter"):
        takers = [name for name, metric in METRICS.items() if metric.of == what]
        if given[what] and not set(takers) & set(names):
            raise InputError(f"--{what} chooses what {' and '.join(takers)} looks at: ask for that metric too.")
    takers = [name for name, metric in METRICS.items() if metric.windows]
    if window is not None and not set(takers) & set(names):
        raise InputError(f"--window is the length of the windows of {' and '.join(takers)}: ask for that metric too.")
    if as_csv and len(names) > 1:
        raise InputError("--csv gives the table of one metric: ask for one.")
    found: dict[str, Any] = {}
    with Recording(recording_of(file)) as recording:
        chosen = choose_frames(recording, given["frames"], given["last"], given["time"])
        for name in names:
            looked_at = frames_of(recording, name, chosen)
            first, last_one = (float(recording.times[looked_at[k]]) for k in (0, -1))
            span = {"frames": len(looked_at), "first_time": first, "last_time": last_one}
            result = measure_recording(recording, name, looked_at, given.get(METRICS[name].of), window if METRICS[name].windows else None)
            found[name] = (span, (moment(recording, first), moment(recording, last_one)), result)
    if as_json:
        results = {name: as_plain(METRICS[name], span, result) for name, (span, _, result) in found.items()}
        print_json({"recording": str(recording.path), "metrics": results})
        return
    if as_csv:
        _print_csv(METRICS[names[0]], result)
        return
    for name, (span, moments, result) in found.items():
        _show(name, METRICS[name], span, moments, result)


def choose_frames(recording: Recording, frames: str | None, last: int | None, time: str | None) -> list[int] | None:
    """Numbers of the frames that the options ask for; None without any option."""
    if sum(option is not None for option in (frames, last, time)) > 1:
        raise InputError("--frames, --last and --time exclude each other: give one of them.")
    count = len(recording)
    if (frames is None and last is None and time is None) or not count:
        return None
    if last is not None:
        if last < 1:
            raise InputError(f"--last must be 1 or more frames (got {last}).")
        return list(range(count))[-last:]
    if frames is not None:
        chosen = list(range(count))[_slice(frames)]
        holds = f"the recording holds frames 0 to {count - 1}"
    else:
        start, end = _span(str(time))
        slack = 1e-9 * max(abs(start), float(recording.times[-1]))  # times are rounded products
        chosen = [i for i, t in enumerate(recording.times) if start - slack <= t <= end + slack]
        holds = f"the recording holds t = {recording.times[0]:g} to {recording.times[-1]:g} s"
    if not chosen:
        raise InputError(f"no frames in {frames if frames is not None else time!r}: {holds}.")
    return chosen


def _slice(text: str) -> slice:
    start, colon, end = text.partition(":")
    try:
        if not colon:
            i = int(start)
            return slice(i, i + 1 if i != -1 else None)
        return slice(int(start) if start else None, int(end) if end else None)
    except ValueError:
        raise InputError(f"--frames must be A:B or one number, such as 10:20, -5: or -1 (got {text!r}).") from None


def _span(text: str) -> tuple[float, float]:
    start, colon, end = text.partition(":")
    try:
        span = in_si(start, "s") if start else float("-inf"), in_si(end, "s") if end else float("inf")
    except ValueError:
        span = (float("nan"), float("nan"))
    if not (colon and span[0] <= span[1]):
        raise InputError(f"--time must be A:B in seconds with A before B, such as 2:4, 2: or 20ms:1s (got {text!r}).")
    return span


def as_plain(metric: Metric, span: dict[str, Any], result: MetricResult) -> dict[str, Any]:
    """What a metric found, as JSON can hold it."""
    content = span | plain(result.values)
    if result.columns:
        content[metric.table] = plain(result.columns)
    return content | {"units": metric.units | result.units} | ({"note": result.note} if result.note else {})


def _show(name: str, metric: Metric, span: dict[str, Any], moments: tuple[str, str], result: MetricResult) -> None:
    from rich.markup import escape

    out, units = console(), metric.units | result.units
    when = moments[0] + (f" to {moments[1]}, {span['frames']} frames" if span["frames"] > 1 else "")
    out.print(f"[bold]{name}[/bold]  {escape(metric.about)}; {when}", soft_wrap=True)
    show_columns(
        ("<", "", "<"),
        ((f"[cyan]{key}[/cyan]", _number(v), f"[dim]{units.get(key, '')}[/dim]") for key, v in result.values.items()),
        headless=True,
    )
    columns = plain({key: list(column) for key, column in result.columns.items()})
    if columns:
        rows = list(zip(*columns.values(), strict=True))
        step = -(-len(rows) // MOST_ROWS)
        heads = [f"{key} \\[{unit}]" if (unit := units.get(key)) else key for key in columns]
        shown = rows[::-1][::step][::-1]  # the last one is always there
        fit = show_columns(heads, ([_number(value, 5) for value in row] for row in shown), title=metric.table, cut=True)
        if fit < len(heads):
            out.print(f"{fit} of {len(heads)} columns fit here; --csv gives all {len(heads)} columns: --csv > FILE keeps them", style="dim")
        if step > 1:
            out.print(f"one of {step} rows is shown, of {len(rows)}; --csv gives all", style="dim")
    if result.note:
        out.print(f"note: {result.note}", style="yellow", markup=False)


def _print_csv(metric: Metric, result: MetricResult) -> None:
    """Columns with their units in the first line; of a metric without columns its numbers."""
    columns = result.columns or {key: [value] for key, value in result.values.items()}
    print_columns(plain({key: list(column) for key, column in columns.items()}), metric.units | result.units)


def _number(value: Any, digits: int = 6) -> str:
    if isinstance(value, str):
        return value
    return "-" if value is None or value != value else f"{value:.{digits}g}"


def _show_list(metrics: dict[str, Metric], as_json: bool, as_csv: bool) -> None:
    if as_csv:
        print_rows({"metric": name, "about": m.about, "needs": m.needs} for name, m in metrics.items())
        return
    if as_json:
        print_json({"metrics": {name: {"about": m.about, "needs": m.needs, "units": m.units} for name, m in metrics.items()}})
        return
    show_list((name, m.about + (f"; needs {m.needs}" if m.needs != "any recording" else "")) for name, m in metrics.items())
