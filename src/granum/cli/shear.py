"""``granum shear``: strain a packing step by step, in balance after each."""

from __future__ import annotations

import time
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..checks import InputError, OutputError, finite_positive
from .console import in_words
from .packings import Watch, about, draw_beside, observables, packing_rows, show, unit_of_pressure, warm_up
from .reduction import Refused, refuse_reduction

if TYPE_CHECKING:
    from ..quasistatic.measure import Measured
    from ..quasistatic.packing import Packing
    from ..quasistatic.shear import ShearStep


def register(app: typer.Typer) -> None:
    app.command("shear")(in_words(shear))


def shear(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Recording of a jammed packing.")],
    strain: Annotated[float, typer.Option(help="In all; negative: the other way.")] = 0.02,
    step: Annotated[float, typer.Option(help="Strain of a step.")] = 1e-4,
    pure: Annotated[bool, typer.Option("--pure/--simple", help="Stretch x and shorten y, or move x by strain y.")] = False,
    frame: Annotated[int, typer.Option(help="Of FILE; negative: from the end.")] = -1,
    method: Annotated[str, typer.Option(help="Minimiser, see `granum minimise -h`.")] = "auto",
    preconditioner: Annotated[str | None, typer.Option(help="Of the method. Default: none; auto chooses.")] = None,
    tolerance: Annotated[float | None, typer.Option(help="[N] left on a grain. Default: 1e-6 of the mean contact force.")] = None,
    frames: Annotated[int, typer.Option(min=2, help="Most frames in the recording, evenly spaced; curves have all steps.")] = 51,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Recording. Default: FILE with -shear in its name.")] = None,
    no_picture: Annotated[bool, typer.Option("--no-picture", help="Do not draw the curves beside it.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, with the curves.")] = False,
    reduce: Refused = None,
) -> None:
    """Shear a packing quasi-statically, and record stress and fabric.

    The cell is strained by a step, the grains follow and their energy is minimised, and so on. In the recording the time of a
    frame is its strain.

    \b
    granum minimise jam.h5 --phi 0.86 -o dense.h5
    granum shear dense.h5 --strain 0.02 --step 1e-4
    granum shear dense.h5 --pure --strain 0.01 --step 2e-4 -o pure.h5
    granum plot dense-shear.h5 shear
    """
    from ..io import Recording
    from ..io.packing import PackingWriter, read_packing
    from ..quasistatic.measure import measure
    from ..quasistatic.shear import shear as shear_packing
    from ..quasistatic.shear import strains
    from .execute import check_output

    refuse_reduction(reduce)
    with Recording(file) as recording:
        packing, seed = read_packing(recording, frame), recording.description.get("seed")
    mode = "pure" if pure else "simple"
    if tolerance is not None:
        finite_positive("--tolerance", tolerance, "N")
    steps = shear_packing(packing, strain, step, mode, method=method, preconditioner=preconditioner, tolerance=tolerance, watch=None)
    output = output if output is not None else file.with_name(f"{file.stem}-shear.h5")
    if output.exists() and output.samefile(file):
        raise InputError(f"output {output} is the file that is read: it would be lost. Choose another name with -o.")
    check_output(output, not no_picture)
    warm_up([(method, preconditioner)], packing.dim, packing.law)
    start = measure(packing)
    if not start.jammed:
        raise InputError(
            f"{file} is not jammed (phi = {packing.phi:.6g}, pressure {start.pressure:.2g}): it has no stress to follow. Shear a denser "
            "packing, such as one of `granum jam`."
        )
    ends = strains(strain, step)
    every = -(-len(ends) // (frames - 1))
    course = Curve()
    course.add(0.0, packing, start, 0)
    settings = {
        "source": str(file),
        "frame": frame,
        "strain": strain,
        "step": step,
        "mode": mode,
        "method": method,
        "preconditioner": preconditioner,
        "tolerance": tolerance,
    }
    results: dict[str, Any] = {"kind": "shear", "source": str(file), "mode": mode, "step": step, "seed": seed, "complete": False}
    began = time.perf_counter()
    try:
        with PackingWriter(output, packing, about(seed, settings), time_is="strain") as writer:
            writer.append(packing, measured=start)
            last: ShearStep | None = None
            written = 0.0
            try:
                with Watch(f"shear {strain:g}", total=len(ends)) as watch:
                    steps = shear_packing(
                        packing, strain, step, mode, method=method, preconditioner=preconditioner, tolerance=tolerance, watch=watch
                    )
                    for done, last in enumerate(steps, 1):
                        course.add(last.strain, last.packing, last.measured, last.report.iterations, last.report.converged)
                        watch.done = done
                        if done % every == 0:
                            writer.append(last.packing, iterations=last.report.iterations, strain=last.strain, measured=last.measured)
                            written = last.strain
                results["complete"] = True
            finally:  # an interrupted shear keeps what it has
                end, found = (last.packing, last.measured) if last is not None else (packing, start)
                results |= {
                    **observables(end, found),
                    "strain": float(course.columns["strain"][-1]),
                    "steps": len(course.columns["strain"]) - 1,
                    "unconverged": course.unconverged,
                    "iterations": int(sum(course.columns["iterations"])),
                    "wall_seconds": time.perf_counter() - began,
                    "curve": course.columns,
                }
                with suppress(OutputError) if not results["complete"] else nullcontext():  # what went wrong first is told
                    if last is not None and last.strain != written:  # shear can go on from where it was stopped
                        writer.append(last.packing, iterations=last.report.iterations, strain=last.strain, measured=last.measured)
                    writer.set_summary(results)
        results["recording"] = str(output)
        if not no_picture:
            results["picture"] = draw_beside(output, "shear")
    finally:  # what was found is not lost with a file that cannot be written
        if "curve" in results:
            show(results, rows(results), f"granum shear: {mode}", as_json)


class Curve:
    """Columns that belong together, one row for each step."""

    def __init__(self) -> None:
        self.columns: dict[str, list[float]] = {}
        self.unconverged = 0

    def add(self, strain: float, packing: Packing, found: Measured, iterations: int, converged: bool = True) -> None:
        """One more row."""
        self.unconverged += not converged
        row = {
            "strain": strain,
            "pressure": found.pressure,
            "shear_stress": found.shear_stress,
            "deviatoric_stress": found.stress_parts.deviatoric,
            "deviatoric_fabric": found.fabric_parts.deviatoric,
            "isotropic_fabric": found.fabric_parts.isotropic,
            "z": found.coordination,
            "energy": found.energy,
            "iterations": iterations,
        }
        axes = "xyz"[: packing.dim]
        for name, tensor in (("stress", found.stress), ("fabric", found.fabric)):
            row |= {f"{name}_{p}{q}": float(tensor[i, j]) for i, p in enumerate(axes) for j, q in enumerate(axes) if j >= i}
        for name, value in row.items():
            self.columns.setdefault(name, []).append(value)


def rows(s: dict[str, Any]) -> list[tuple[str, str]]:
    """Of the table."""
    curve, unit = s["curve"], unit_of_pressure(s["dim"])

    def span(name: str, words: str = "") -> str:
        return f"{curve[name][0]:.5g} to {curve[name][-1]:.5g} {words}".strip()

    return [
        ("strain", f"{s['strain']:.6g} ({s['mode']}) in {s['steps']} steps of {s['step']:g}" + ("" if s["complete"] else ", not complete")),
        *packing_rows(s),
        ("shear stress", span("deviatoric_stress", f"{unit}, largest {max(curve['deviatoric_stress']):.5g}")),
        ("fabric", f"deviatoric {span('deviatoric_fabric')}"),
        (
            "work",
            f"{s['iterations']} iterations, {s['wall_seconds']:.3g} s"
            + (f"; [yellow]{s['unconverged']} steps not converged[/yellow]" if s["unconverged"] else ""),
        ),
    ]
