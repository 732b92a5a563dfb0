"""A triaxial test: the stress at which a bed shears, against iterations and by warm start (WS 4.4, Fig. 15 and 16).

WS says 1 +- 0.2 kPa at 100 Pa, eleven times the stress on the sides: an angle of friction of 56 degrees, which no slow bed of spheres
has. Between smooth platens, where stresses are those of the bed alone, it is 0.3 kPa, 35 degrees, with WS's friction and rolling
friction; both steppers find that within the scatter of single beds, 2 degrees. Softer grains, smaller time steps and a lower speed do not
bring more, and grains with ten times the rolling friction reach 42 degrees. Platens of 100 kg make it fluctuate, but around 1000 grains
the means stay (around 300 they fly off). Gravity is unlikely: a bed of 10 cm weighs 2 kPa, more than platens at 100 Pa can hold.

WS does not say whether its platens are smooth. Ones with the friction of the grains hold the grains at the ends while the middle is pushed
aside, and cells of 300 grains carry about 1 kPa, with scatter between beds (one of 1000 grains: 0.6 kPa). That is our reading of the
paper's number, not its word; it was chosen because it comes near. Curves are those of rough platens, and smooth ones stand beside.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..analysis.snapshot import Snapshot
from ..analysis.triaxial import CRITICAL, TriaxialCurve, TriaxialState
from ..pool import Job
from ..scene.library import make_scene
from ..scene.library.triaxial import TriaxialParameters
from ..scene.parameters import parameters_of
from ..simulation import Simulation
from .experiment import Outcome, Row, Runner, compared
from .figures.ws import draw_triaxial
from .methods import settings_for, start

TITLE = "stress at which a bed shears in a triaxial test by warm start (WS 4.4, Fig. 15-16)"
COMPARED = ("cold", "history", "momentum + history")
PREPARED_WITH = "momentum + history"
TIME_STEP = 0.005  # [s]
LOOK_EVERY = 4  # [steps]
OF_MEDIAN = 1.86  # standard error of a median of n normal numbers, over half of the way between their quartiles, times sqrt(n)
SHOWN = (100, 1000)  # iterations of the curves of WS Fig. 16
LEVEL = 0.2  # a curve has levelled out where it stays within this part of its end: that of WS's +- 0.2 kPa


@dataclass(frozen=True)
class TriaxialSize:
    """Sizes of the experiment. The paper does not tell its number of grains, nor whether its platens are rough."""

    count: int
    """Grains."""
    platen_mass: float | None
    """[kg]; none: as the scene has it."""
    seeds: int
    """Beds: their medians count, since now and then one of few grains jams between rough platens and carries several kPa."""
    iterations: tuple[int, ...]
    prepare_iterations: int
    strain: float = 0.26
    """Axial strain that all tests go to."""
    stress: float = 100.0
    """Confining [Pa]."""
    speed: float = 0.01
    """Of top and bottom [m/s]."""
    friction: float = 0.91
    """Of the platens, where they are rough."""


SWEEPS = (10, 25, 50, 100, 200, 1000)
QUICK = TriaxialSize(count=300, platen_mass=None, seeds=8, iterations=SWEEPS, prepare_iterations=100)
FULL = TriaxialSize(count=8000, platen_mass=100.0, seeds=1, iterations=SWEEPS, prepare_iterations=300)


def measure(size: TriaxialSize, run: Runner) -> Outcome:
    """The same confined beds, sheared between rough platens with all methods and numbers of sweeps; with one also between smooth ones."""
    seeds = range(size.seeds)
    beds = run([Job(confine, (size, seed), size.count * size.prepare_iterations) for seed in seeds])
    which = [(method, n, size.friction, seed) for method in COMPARED for n in size.iterations for seed in seeds]
    which += [(PREPARED_WITH, size.prepare_iterations, 0.0, seed) for seed in seeds]
    results = run([Job(load, (size, beds[seed], m, n, friction, seed), size.count * (20.0 + n)) for m, n, friction, seed in which])
    found = dict(zip(which, results, strict=True))
    tests = {m: {n: [found[m, n, size.friction, seed] for seed in seeds] for n in size.iterations} for m in COMPARED}
    smooth = [found[PREPARED_WITH, size.prepare_iterations, 0.0, seed] for seed in seeds]
    curves: dict[str, Any] = {"iterations": np.array(size.iterations)}
    for name in ("critical", "nominal", "peak", "fluctuation"):
        curves[name] = {m: np.array([_median(tests[m][n], name) for n in size.iterations]) for m in COMPARED}
    curves["scatter"] = {m: np.array([_scatter(tests[m][n]) for n in size.iterations]) for m in COMPARED}
    curves["right"] = _median([one for m in COMPARED for one in tests[m][size.iterations[-1]]], "critical")  # all solve the same
    curves["smooth"] = {name: _median(smooth, name) for name in ("critical", "peak", "angle")}
    curves["smooth"]["scatter"] = _scatter(smooth)
    curves["tests"] = {f"{m}, {n} iterations": tests[m][n][0]["curve"] for m in COMPARED for n in SHOWN if n in size.iterations}
    curves["tests"]["smooth platens"] = smooth[0]["curve"]
    return Outcome(_rows(size, curves) + _stalled(which, results), curves)


def _median(tests: list[dict[str, Any]], name: str) -> float:
    """Of the tests that have such a number: one that stalls has no critical state. NaN: none has."""
    values = [one[name] for one in tests if np.isfinite(one[name])]
    return float(np.median(values)) if values else np.nan


def _scatter(tests: list[dict[str, Any]]) -> float:
    """Half of the way between the quartiles of the critical deviators [Pa]."""
    values = [one["critical"] for one in tests if np.isfinite(one["critical"])]
    low, high = np.quantile(values, (0.25, 0.75)) if values else (np.nan, np.nan)
    return float(high - low) / 2


def _stalled(which: list[tuple[str, int, float, int]], results: list[dict[str, Any]]) -> list[Row]:
    """Tests that came to no critical state and are in no median, with the words about the first of them; no row, if there are none."""
    some = [k for k, one in enumerate(results) if one["lack"] is not None]
    if not some:
        return []
    method, sweeps, friction, seed = which[some[0]]
    first = f"{method}, {sweeps} iterations, bed {seed}{'' if friction else ', smooth platens'}: {results[some[0]]['lack']}"
    return [Row("tests that came to no critical state, and are not in the medians", f"{len(some)} of {len(which)} ({first})")]


def draw(outcome: Outcome, folder: Path) -> list[Path]:
    """One figure: critical deviator against iterations, and deviators over the strain."""
    return [draw_triaxial(outcome.curves, folder / "ws-triaxial.png")]


def _parameters(size: TriaxialSize, seed: int, friction: float = 0.0) -> dict[str, Any]:
    return {
        "count": size.count,
        "platen_mass": size.platen_mass,
        "stress": size.stress,
        "speed": size.speed,
        "wall_friction": friction,
        "time_step": TIME_STEP,
        "seed": seed,
    }


def confine(size: TriaxialSize, seed: int) -> dict[str, Any]:
    """A checkpoint of a bed between smooth platens, under the same stress from all sides."""
    scene = make_scene("triaxial", _parameters(size, seed))
    starts = parameters_of(scene, TriaxialParameters).starts
    return start(scene, PREPARED_WITH, size.prepare_iterations).run_until(int(starts / TIME_STEP)).checkpoint()


def load(size: TriaxialSize, bed: dict[str, Any], method: str, iterations: int, friction: float, seed: int) -> dict[str, Any]:
    """A confined bed, loaded along the axis between platens of some ``friction``.

    Critical deviator [Pa], the same with the axial force over the area at the beginning of the load (nominal), angle of friction
    [degrees], fluctuation in time [Pa], peak [Pa], and the curve: strain, volumetric strain, deviator and lateral stress [Pa].
    """
    scene = make_scene("triaxial", _parameters(size, seed, friction))
    sim = Simulation.restore(scene, settings_for(scene, method, iterations), copy.deepcopy(bed))
    states = [TriaxialState.of(Snapshot.of(sim))]
    steps = int(2 * size.strain * states[0].width[2] / (2 * size.speed * TIME_STEP))  # twice as many as it should take, at most
    for step in range(1, steps + 1):
        sim.step()
        if step % LOOK_EVERY == 0:
            states.append(TriaxialState.of(Snapshot.of(sim)))
            if states[-1].width[2] < (1 - size.strain) * states[0].width[2]:
                break
    curve = TriaxialCurve.of(states, parameters_of(scene, TriaxialParameters).starts)
    some = (curve.axial_strain >= CRITICAL[0]) & (curve.axial_strain <= CRITICAL[1])
    nominal = curve.axial_stress * (1 + curve.volumetric_strain) / (1 - curve.axial_strain)
    return {
        "critical": curve.critical["deviator"],
        "nominal": float((nominal - curve.lateral_stress)[some].mean()) if some.any() else np.nan,
        "angle": curve.critical["friction_angle"],
        "fluctuation": float(curve.deviator[some].std()) if some.any() else np.nan,
        "peak": float(curve.deviator.max()),
        "lack": curve.lack,
        "curve": {
            "strain": curve.axial_strain,
            "volume": curve.volumetric_strain,
            "deviator": curve.deviator,
            "lateral": curve.lateral_stress,
        },
    }


def levels_out(iterations: np.ndarray, values: np.ndarray, right: float, error: np.ndarray | float = 0.0) -> float:
    """Fewest iterations from which on the values stay near the right one, or within two standard errors, of those tried; NaN: none."""
    bad = np.flatnonzero(~(np.abs(values - right) <= np.maximum(LEVEL * right, 2 * error)))
    first = bad[-1] + 1 if len(bad) else 0
    return float(iterations[first]) if first < len(iterations) else np.nan


def _rows(size: TriaxialSize, curves: dict[str, Any]) -> list[Row]:
    most, smooth = size.iterations[-1], curves["smooth"]
    rows = [_critical(f"{method}, {most} iterations", curves["critical"][method][-1], curves["scatter"][method][-1]) for method in COMPARED]
    nominal = " / ".join(f"{curves['nominal'][method][-1]:.0f}" for method in COMPARED)
    rows.append(Row("the same, axial force over the area at the beginning", f"{nominal} Pa"))
    rows.append(_critical(f"smooth platens, {PREPARED_WITH}", smooth["critical"], smooth["scatter"]))
    rows.append(Row("angle of friction of the bed, smooth platens", f"{smooth['angle']:.0f} degrees"))
    rows.append(Row("peak deviator, rough / smooth platens", f"{curves['peak'][PREPARED_WITH][-1]:.0f} / {smooth['peak']:.0f} Pa"))
    need = {
        m: levels_out(curves["iterations"], curves["critical"][m], curves["right"], OF_MEDIAN * curves["scatter"][m] / np.sqrt(size.seeds))
        for m in COMPARED
    }
    for method, paper, low, high in (("cold", "1000", 500, 1000), ("history", "200", 100, 200)):
        rows.append(
            compared(f"iterations until it stays within {LEVEL:.0%} or its error, {method}", need[method], paper, low, high, "{:.0f}")
        )
    best = need[PREPARED_WITH]
    rows.append(
        Row(f"iterations until it stays within {LEVEL:.0%} or its error, {PREPARED_WITH}", f"{best:.0f}" if np.isfinite(best) else "none")
    )
    shown = [n for n in SHOWN if n in size.iterations]
    if shown:
        k = size.iterations.index(shown[-1])
        ratio = curves["fluctuation"]["history"][k] / curves["fluctuation"]["cold"][k]
        rows.append(compared(f"fluctuation at {shown[-1]} iterations, history / cold", ratio, "higher with warm start", 1.0, np.inf))
    return rows


def _critical(what: str, value: float, scatter: float) -> Row:
    return compared(f"critical deviator, {what}", value, "1 +- 0.2 kPa", 800, 1200, f"{{:.0f}} Pa +- {scatter:.0f} between beds")
