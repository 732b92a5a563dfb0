"""``granum solve``: a contact problem out of its run, with one solver or several."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..checks import InputError
from ..talk import talk
from .console import in_words, print_json
from .csv_out import CsvFlag, one_format, print_rows
from .tables import show_columns

if TYPE_CHECKING:
    from ..bench.side_by_side import State, Subject, Trial
    from ..nonsmooth.local import LocalProblem

FORMATS = (".png", ".pdf", ".svg")


def register(app: typer.Typer) -> None:
    app.command("solve")(in_words(solve))


def solve(
    problem: Annotated[Path, typer.Argument(metavar="PROBLEM", help="Problem of `granum run --dump-problem`, or FCLIB file (local form).")],
    solver: Annotated[list[str] | None, typer.Option(help="Repeatable; default: all. pgs-plain is pgs without momentum.")] = None,
    iterations: Annotated[int | None, typer.Option(min=1, help="Most sweeps of each. Default: 500; of direct its own.")] = None,
    tolerance: Annotated[
        float | None, typer.Option(min=0, help="Stop below this residual [m/s]; 0: never. Default: 1e-10; of direct its own.")
    ] = None,
    momentum: Annotated[bool | None, typer.Option("--momentum/--no-momentum", help="Of solvers that can.")] = None,
    cold: Annotated[bool, typer.Option("--cold", help="Start from zero impulses instead of the run's warm start.")] = False,
    to_fclib: Annotated[
        Path | None, typer.Option("--to-fclib", metavar="FILE", help="Write it as FCLIB file, with the best solution if that converged.")
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Figure of all residuals (.png, .pdf or .svg).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object: residual against sweeps, work and time.")] = False,
    as_csv: CsvFlag = False,
) -> None:
    """Solve a contact problem again, compare solvers, and exchange problems with other programs.

    \b
    granum solve box.problem-0.5.h5
    granum solve box.problem-0.5.h5 --solver pgs --solver direct -o curves.png
    granum solve box.problem-0.5.h5 --to-fclib box.hdf5
    granum solve box.hdf5 --json
    """
    from .._jit import cache_is_warm
    from ..bench.side_by_side import choose_solvers, compare_solvers, open_subject

    one_format(as_json, as_csv)
    _check_outputs(output, to_fclib)
    subject = open_subject(problem, cold)
    solvers = choose_solvers(subject, solver or [], {"iterations": iterations, "tolerance": tolerance, "momentum": momentum})
    if to_fclib is not None and to_fclib.exists() and to_fclib.samefile(problem):
        raise InputError(f"--to-fclib {to_fclib} is the file that is read: its guesses and solution would be lost. Choose another name.")
    if subject.contact_count == 0:
        if output is not None or to_fclib is not None:
            raise InputError(f"{problem} has no contacts, so that nothing can be drawn or exported: leave --output and --to-fclib out.")
        _trivial(subject, problem, as_json)
        return
    local = subject.local() if to_fclib is not None else None  # refuses before the work
    if not cache_is_warm():
        talk("compiling kernels, once (under a minute; later runs start at once) ...")
    trials = compare_solvers(subject, solvers, talk)
    found = _found(subject, problem, trials)
    try:
        if local is not None and to_fclib is not None:
            _export(subject, local, trials, to_fclib)
            found["fclib"] = str(to_fclib)
        if output is not None:
            _draw(subject, trials, found["start"]["residual"], tolerance, output)
            found["picture"] = str(output)
    finally:  # what was found is not lost with a file that cannot be written
        if as_json:
            print_json(found)
        elif as_csv:
            print_rows({key: value for key, value in one.items() if key not in ("settings", "curve")} for one in found["solvers"])
        else:
            _show(subject, found)


def _check_outputs(output: Path | None, to_fclib: Path | None) -> None:
    """Places that cannot be written, refused before the work."""
    from ..io.fclib import is_fclib

    if output is not None and output.suffix.lower() not in FORMATS:
        raise InputError(f"output {output} must end in {', '.join(FORMATS)}.")
    for path in (output, to_fclib):
        if path is not None and (not path.parent.is_dir() or path.is_dir()):
            raise InputError(f"{path} cannot be written: {'it is a folder' if path.is_dir() else f'{path.parent} does not exist'}.")
    if to_fclib is not None and to_fclib.exists() and not is_fclib(to_fclib):
        raise InputError(f"{to_fclib} exists and is not a FCLIB file. Move it away or choose another name.")


def _trivial(subject: Subject, problem: Path, as_json: bool) -> None:
    talk(f"{problem} has no contacts: nothing is to be solved, all velocities stay as they are")
    if as_json:
        print_json({"file": str(problem), "problem": subject.about(), "solvers": [], "best": None})


def _found(subject: Subject, path: Path, trials: list[Trial]) -> dict[str, Any]:
    """Everything, as plain numbers."""
    from ..bench.side_by_side import best_of

    best = best_of(trials)
    solvers = [
        {
            "name": trial.name,
            "settings": trial.settings,
            "sweeps": trial.sweeps,
            "work": trial.work,
            "seconds": trial.seconds,
            **_numbers(trial.end, best.end),
            "converged": trial.converged,
            "message": trial.message,
            "curve": {name: getattr(trial.curve, name).tolist() for name in ("sweeps", "work", "seconds", "residual")},
        }
        for trial in trials
    ]
    problem: Any = subject.fresh()
    found: dict[str, Any] = {
        "file": str(path),
        "problem": subject.about(),
        "start": _numbers(subject.look(problem), best.end),
        "best": best.name,
        "solvers": solvers,
    }
    if subject.given is not None:
        found["given"] = _numbers(subject.look(problem.start_at(subject.given)), best.end)
    return found


def _numbers(state: State, best: State) -> dict[str, Any]:
    from ..bench.side_by_side import distances

    velocity, impulse = distances(state, best)
    kinds = dict(zip(("normal", "friction", "rolling"), state.residual_by_kind.tolist(), strict=True))
    return {
        "residual": state.residual,
        "residual_by_kind": kinds,
        "natural_map_error": state.natural_map,
        "velocity_distance": velocity,
        "impulse_distance": impulse,
    }


def _export(subject: Subject, local: LocalProblem, trials: list[Trial], path: Path) -> None:
    from ..bench.side_by_side import best_of
    from ..io.fclib import FclibProblem, write_fclib

    best = best_of(trials)
    write_fclib(
        path,
        FclibProblem(
            local,
            title=subject.title,
            description=subject.description,
            solution=best.end.impulse if best.converged else None,
            guesses=(local.impulse,) if local.impulse.any() else (),
        ),
    )
    talk(f"wrote {path}" + (f", with the solution of {best.name}" if best.converged else ", without a solution: none has converged"))


def _draw(subject: Subject, trials: list[Trial], start: float, tolerance: float | None, path: Path) -> None:
    from ..plot.solve_curves import draw_solves
    from ..plot.style import save

    curves = {t.name: {"work": t.curve.work, "seconds": t.curve.seconds, "residual": t.curve.residual} for t in trials}
    try:
        save(draw_solves(curves, subject.description, start, tolerance), path, subject.title)
    except OSError as error:
        raise InputError(f"output {path} cannot be written ({error.strerror or error}). Choose another place with -o.") from error


def _show(subject: Subject, found: dict[str, Any]) -> None:
    rolls = found["problem"]["rows"] == 6  # FCLIB's error is known without rolling rows alone
    blank = {"sweeps": None, "work": None, "seconds": None, "converged": None}
    states = [{"name": "(start)", **blank, **found["start"]}]
    if "given" in found:
        states.append({"name": "(in file)", **blank, **found["given"]})

    def row(state: dict[str, Any]) -> list[str]:
        errors = (state["residual"],) if rolls else (state["residual"], state["natural_map_error"])
        return [
            state["name"],
            *("" if x is None else f"{x:.0f}" for x in (state["sweeps"], state["work"])),
            _time(state["seconds"]),
            *(f"{x:.1e}" for x in (*errors, state["velocity_distance"], state["impulse_distance"])),
            "" if state["converged"] is None else "yes" if state["converged"] else "no",
        ]

    show_columns(
        ("<solver", "sweeps", "work", "time", "residual", *(() if rolls else ("natural",)), "dv", "dp", "<ok"),
        map(row, states + found["solvers"]),
        title=subject.description,
        caption=f"residuals in m/s; work in sweeps of plain PGS; dv, dp: difference of velocities and normal impulses from {found['best']}"
        + ("" if rolls else "; natural: the natural-map error of FCLIB"),
        plain=True,
        close=True,
    )
    for solved in found["solvers"]:
        if solved["message"]:
            talk(f"{solved['name']}: {solved['message']}", style="yellow")


def _time(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return f"{seconds:.3g} s" if seconds >= 1 else f"{1e3 * seconds:.3g} ms"
