"""``granum.run_shear``: strain a packing step by step and record it; what ``granum shear`` does."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from ..checks import InputError, OutputError, as_path, finite_positive
from ..io import Recording
from ..io.packing import PackingWriter, read_packing
from ..quasistatic.measure import Measured, measure
from ..quasistatic.packing import Packing
from ..quasistatic.shear import ShearStep, shear, strains
from ..records import Record, Whole
from ..talk import silent, talk
from .output import check_not_read, check_output, kept_apart
from .packings import Watch, describe, draw_beside, observables, packing_rows, unit_of_pressure, warm_up
from .result import Rows, Run, carry
from .run import Talk


class ShearSettings(Record):
    """How far a packing is sheared, and how."""

    strain: float = 0.02
    """Strain in all; a negative one goes the other way."""
    step: float = 1e-4
    """Strain of a step."""
    mode: Literal["simple", "pure"] = "simple"
    """Move x by strain times y (simple), or stretch x and shorten y (pure)."""
    frame: int = -1
    """Frame of the file; negative: from the end."""
    method: str = "auto"
    """Minimiser; see `granum minimise -h`."""
    preconditioner: str | None = None
    """Preconditioner of the method; none: none, auto chooses."""
    tolerance: float | None = None
    """Force left on a grain [N]; none: 1e-6 of the mean contact force."""
    frames: Whole = Field(default=51, ge=2)
    """Most frames in the recording, evenly spaced; curves have all steps."""


def run_shear(
    source: Packing | str | Path,
    settings: ShearSettings | None = None,
    *,
    output: str | Path | None = None,
    picture: bool = True,
    overwrite: bool = False,
    progress: bool = True,
    about: Mapping[str, Any] | None = None,
    **fields: Any,
) -> Run:
    """Shear a jammed packing, or that of a recording, quasi-statically; record it with its stress and fabric.

    >>> dense = run_minimise(packing="64,0.9", progress=False).found
    >>> sheared = run_shear(dense, strain=2e-3, step=1e-3, output="shear.vtkhdf", progress=False)
    >>> len(sheared.summary["curve"]["shear_stress"])
    3

    ``fields`` are those of :class:`ShearSettings`. ``output`` none: the name of the recording with ``-shear`` in it, or ``shear.vtkhdf``.
    A recording of that name is kept, and one with ``-2`` written, unless it may ``overwrite``.
    The time of a frame is its strain. A shear that is interrupted keeps what it has: the error carries it as ``error.run``.
    """
    say: Talk = talk if progress else silent
    s = ShearSettings.over(settings, fields)
    file = None if isinstance(source, Packing) else as_path("source", source)
    packing, seed = _packing(source, s.frame)
    how: dict[str, Any] = {"method": s.method, "preconditioner": s.preconditioner, "tolerance": s.tolerance}
    if s.tolerance is not None:
        finite_positive("--tolerance", s.tolerance, "N")
    shear(packing, s.strain, s.step, s.mode, **how)  # refuses what cannot be
    path = (
        as_path("output", output)
        if output is not None
        else file.with_name(f"{file.stem}-shear{file.suffix}")
        if file is not None
        else Path("shear.vtkhdf")
    )
    check_not_read(path, file)
    path = kept_apart(path, overwrite, say)
    check_output(path, picture, say)
    warm_up([(s.method, s.preconditioner)], packing.dim, packing.law, say)
    start = measure(packing)
    if not start.jammed:
        raise InputError(
            f"{file or 'the packing'} is not jammed (phi = {packing.phi:.6g}, pressure {start.pressure:.2g}): it has no stress to follow. "
            "Shear a denser packing, such as one of `granum jam`."
        )
    kept = {"source": str(file), **s.model_dump(exclude={"frames"})}
    results = {"kind": "shear", "source": str(file), "mode": s.mode, "step": s.step, "seed": seed, "complete": False}
    run = Run(f"granum shear: {s.mode}", results, shear_rows)
    course = _Shearing(run, packing, start)
    try:
        with PackingWriter(path, packing, describe(dict(about or {}), seed, kept), time_is="strain") as writer:
            course.follow(writer, s, how, progress)
        run.path, results["recording"] = path, str(path)
        if picture:
            results["picture"] = draw_beside(path, "shear", say)
    except BaseException as error:
        if "curve" in results:
            carry(error, run)
        raise
    return run


def _packing(source: Packing | str | Path, frame: int) -> tuple[Packing, int | None]:
    if isinstance(source, Packing):
        return source, None
    with Recording(Path(source)) as recording:
        return read_packing(recording, frame), recording.description.get("seed")


class _Shearing:
    """A shear on its way into a recording."""

    def __init__(self, run: Run, packing: Packing, start: Measured) -> None:
        self.run, self.packing, self.start = run, packing, start
        self.curve = Curve()
        self.curve.add(0.0, packing, start, 0)
        self.last: ShearStep | None = None
        self.written = 0.0
        self.began = time.perf_counter()

    def follow(self, writer: PackingWriter, s: ShearSettings, how: dict[str, Any], progress: bool) -> None:
        """All steps; one that is interrupted keeps what it has."""
        ends = strains(s.strain, s.step)
        every = -(-len(ends) // (s.frames - 1))
        writer.append(self.packing, measured=self.start)
        results = self.run.summary
        try:
            with Watch(f"shear {s.strain:g}", total=len(ends), shown=progress) as watch:
                for done, last in enumerate(shear(self.packing, s.strain, s.step, s.mode, **how, watch=watch), 1):
                    self.last = last
                    self.curve.add(last.strain, last.packing, last.measured, last.report.iterations, last.report.converged)
                    watch.done = done
                    if done % every == 0:
                        self._write(writer, last)
            results["complete"] = True
        finally:
            results |= self._numbers()
            with suppress(OutputError) if not results["complete"] else nullcontext():  # what went wrong first is told
                if self.last is not None and self.last.strain != self.written:  # shear can go on from where it was stopped
                    self._write(writer, self.last)
                writer.set_summary(results)

    def _write(self, writer: PackingWriter, last: ShearStep) -> None:
        writer.append(last.packing, iterations=last.report.iterations, strain=last.strain, measured=last.measured)
        self.written = last.strain

    def _numbers(self) -> dict[str, Any]:
        columns = self.curve.columns
        self.run.found, measured = (self.last.packing, self.last.measured) if self.last is not None else (self.packing, self.start)
        return {
            **observables(self.run.found, measured),
            "strain": float(columns["strain"][-1]),
            "steps": len(columns["strain"]) - 1,
            "unconverged": self.curve.unconverged,
            "iterations": int(sum(columns["iterations"])),
            "wall_seconds": time.perf_counter() - self.began,
            "curve": columns,
        }


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


def shear_rows(s: dict[str, Any]) -> Rows:
    """Of the table."""
    curve, unit = s["curve"], unit_of_pressure(s["dim"])

    def span(name: str, words: str = "") -> str:
        return f"{curve[name][0]:.5g} to {curve[name][-1]:.5g} {words}".strip()

    return [
        ("strain", f"{s['strain']:.6g} ({s['mode']}) in {s['steps']} steps of {s['step']:g}" + ("" if s["complete"] else ", not complete")),
        *packing_rows(s),
        ("shear stress", _shear_stress(s, unit)),
        ("deviatoric stress", span("deviatoric_stress", f"{unit}, largest {max(curve['deviatoric_stress']):.5g}")),
        ("fabric", f"deviatoric {span('deviatoric_fabric')}"),
        (
            "work",
            f"{s['iterations']} iterations, {s['wall_seconds']:.3g} s"
            + (f"; [yellow]{s['unconverged']} steps not converged[/yellow]" if s["unconverged"] else ""),
        ),
    ]


def _shear_stress(s: dict[str, Any], unit: str) -> str:
    """What the figure of a shear draws: the stress that resists it."""
    curve = s["curve"]
    pure = s["mode"] == "pure"
    values = (
        [(y - x) / 2 for x, y in zip(curve["stress_xx"], curve["stress_yy"], strict=True)] if pure else [-v for v in curve["stress_xy"]]
    )
    name = "(sigma_yy - sigma_xx) / 2" if pure else "-sigma_xy"
    return f"{values[0]:.5g} to {values[-1]:.5g} {unit}, largest {max(values):.5g} ({name}, as in the figure)"
