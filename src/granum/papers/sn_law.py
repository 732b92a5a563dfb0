"""The iteration law: c0, c1 and c2 fitted to containers at rest and to drums that turn (SN 5.3, (41), Fig. 10 and 11)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import curve_fit

from ..analysis import Drum, FieldGrid, Snapshot, coarse_grain
from ..analysis.cost_model import ARCHING_WIDTH, SN_CONSTANTS, LawConstants, required_iterations
from ..pool import Job
from ..scene.library import make_scene
from ..scene.library.drum import DrumParameters
from ..scene.parameters import parameters_of
from . import sn_silo
from .drum_flow import continue_with, drum_cost, prepare
from .experiment import Outcome, Row, Runner, compared
from .figures.sn import draw_law
from .sn_silo import TOLERANCE, SiloSize
from .sn_systems import TIME_STEP, exponent, iterations_for_overlap, mean_overlap

TITLE = "c0, c1 and c2 of the iteration law from containers and drums (SN 5.3, Fig. 11)"
PAPER_ERRORS = LawConstants(0.005, 1.1, 0.02)  # standard errors of SN's constants
SECTOR = 1.5  # [d] along the rim, of the sectors in which the thickness of the material is measured
FRAME_EVERY = 3  # steps between the frames of which fields are taken


@dataclass(frozen=True)
class DrumSize:
    """SN's sawtooth drum, 8 d long."""

    width: float
    """[d]"""
    counts: tuple[int, ...]
    """Grains."""
    speeds: tuple[float, ...]
    """[rad/s]"""
    prepare_iterations: int
    """With momentum and history,"""
    prepare: float
    """for this time [s] after the drum began to turn."""
    turn: float
    """Part of a revolution by which it then turns with each number of cold, plain iterations,"""
    more: float
    """and this time [s]; the next ``frames`` steps are measured."""
    frames: int = 10
    most: int = 500
    """Iterations that are tried."""


@dataclass(frozen=True)
class LawSize:
    """Sizes of the experiment; the containers are those of sn-silo, and runs of it are found again."""

    silo: SiloSize
    drum: DrumSize


QUICK = LawSize(  # a drum half as wide, at the paper's Froude numbers
    sn_silo.QUICK,
    DrumSize(
        40,
        (400, 800, 1600),
        tuple(round(w * math.sqrt(2), 3) for w in (0.0, 0.13, 0.34, 0.63)),
        prepare_iterations=100,
        prepare=1.0,
        turn=0.05,
        more=1.5,
    ),
)
FULL = LawSize(
    sn_silo.FULL,
    DrumSize(80, (1000, 2500, 5000, 7500), (0.0, 0.13, 0.34, 0.63), prepare_iterations=500, prepare=2.0, turn=1 / 3, more=3.5),
)


def measure(size: LawSize, run: Runner) -> Outcome:
    """Required iterations of all containers and drums, and the law through them."""
    containers = [(width, count) for width, counts in size.silo.fillings for count in counts]
    drums = [(speed, count) for speed in size.drum.speeds for count in size.drum.counts]
    jobs = [sn_silo.search_job(*one, size.silo) for one in containers]
    jobs += [Job(search_drum, (*one, size.drum), _drum_cost(*one, size.drum)) for one in drums]
    results = run(jobs)
    systems: dict[str, Any] = {
        "name": [f"{width:g} d container" for width, _ in containers] + [f"drum, {speed:g} rad/s" for speed, _ in drums],
        "count": np.array([count for _, count in containers + drums]),
        "width": np.array([width for width, _ in containers] + [found["width"] for found in results[len(containers) :]]),
        "height": np.array([found["height"] for found in results]),
        "inertial": np.array([0.0] * len(containers) + [found["inertial"] for found in results[len(containers) :]]),
        "required": np.array([found["required"] for found in results]),
    }
    constants, errors, r_squared, rms = fit_law(systems)
    systems["law"] = required_iterations(systems["width"], systems["height"], systems["inertial"], TOLERANCE)
    systems["fit"] = required_iterations(systems["width"], systems["height"], systems["inertial"], TOLERANCE, constants)
    curves = {
        "tolerance": TOLERANCE,
        "systems": systems,
        "constants": np.array(constants),
        "standard_errors": np.array(errors),
        "r_squared": r_squared,
        "rms_residual": rms,
    }
    return Outcome(_rows(curves), curves)


def draw(outcome: Outcome, folder: Path) -> list[Path]:
    """One figure: iterations against height and against the shape of containers, with both laws."""
    return [draw_law(outcome.curves, folder / "sn-law.png")]


def fit_law(systems: dict[str, Any]) -> tuple[LawConstants, LawConstants, float, float]:
    """Constants, standard errors, R2 and root mean square residual of plain least squares through all systems wide enough for arches."""
    used = np.isfinite(systems["required"]) & (systems["width"] >= ARCHING_WIDTH)
    known = np.stack([systems[name][used] for name in ("width", "height", "inertial")])

    def law(known: np.ndarray, c0: float, c1: float, c2: float) -> np.ndarray:
        width, height, inertial = known
        return np.asarray(required_iterations(width, height, inertial, TOLERANCE, LawConstants(c0, c1, c2)))

    required = systems["required"][used]
    found, covariance = curve_fit(law, known, required, p0=SN_CONSTANTS, maxfev=10_000)
    left = required - law(known, *found)
    r_squared = 1 - float(left @ left) / float(((required - required.mean()) ** 2).sum())
    errors = np.sqrt(np.diag(covariance))
    return LawConstants(*found.tolist()), LawConstants(*errors.tolist()), r_squared, float(np.sqrt(np.mean(left**2)))


def search_drum(speed: float, count: int, size: DrumSize) -> dict[str, Any]:
    """Iterations for <eps_c> = 5 % in a drum; width [d], thickness [d] and inertial number of the run nearest to it; all runs (R, 2)."""
    parameters = {"kind": "sawtooth", "count": count, "width": size.width, "speed": speed, "time_step": TIME_STEP}
    scene, prepared = make_scene("drum", parameters), prepare(parameters, size.prepare_iterations, size.prepare)
    duration = _duration(speed, size)
    states: dict[int, tuple[float, float]] = {}

    def overlap_at(iterations: int) -> float:
        sim = continue_with(scene, prepared, "cold", iterations, duration)
        overlaps, frames = [], []
        for k in range(size.frames):
            sim.step()
            overlaps.append(mean_overlap(sim))
            if k % FRAME_EVERY == 0:
                frames.append(Snapshot.of(sim))
        states[iterations] = thickness(frames[-1]), mean_inertial_number(frames)
        return float(np.mean(overlaps))

    (required,), runs = iterations_for_overlap(overlap_at, [TOLERANCE], _guess(count, size), size.most)
    nearest = min(states, key=lambda n: abs(math.log(n / required))) if math.isfinite(required) else max(states)
    drum = parameters_of(scene, DrumParameters)
    return {
        "required": required,
        "width": 2 * drum.drum_radius / drum.diameter,
        "height": states[nearest][0],
        "inertial": states[nearest][1],
        "runs": runs,
    }


def _duration(speed: float, size: DrumSize) -> float:
    return size.more + (size.turn * 2 * math.pi / speed if speed > 0 else 0.0)


def _guess(count: int, size: DrumSize) -> float:
    """Iterations of a drum whose grains lie over half its width."""
    return float(required_iterations(size.width, 2 * count / (8 * size.width), 0.1, TOLERANCE))


def _drum_cost(speed: float, count: int, size: DrumSize) -> float:
    """In the unit of the containers' cost, which have some 300 steps; about four runs, and the preparation."""
    runs = drum_cost(count, 4 * _duration(speed, size), TIME_STEP, round(_guess(count, size)))
    return (runs + drum_cost(count, 5.0, TIME_STEP, size.prepare_iterations)) / 300 / 1e4


def thickness(snapshot: Snapshot) -> float:
    """Mean radial thickness [d] of the material in a drum: from the wall to the innermost grain, over the sectors that hold grains."""
    drum, d = Drum.of(snapshot), 2 * float(snapshot.radius.mean())
    x, _, z = drum.project(snapshot.position - drum.centre)
    sector = np.floor(np.arctan2(z, x) * drum.radius / (SECTOR * d)).astype(int)
    sector -= sector.min()
    innermost = np.full(sector.max() + 1, np.inf)
    np.minimum.at(innermost, sector, np.hypot(x, z) - snapshot.radius)
    return float((drum.radius - innermost[np.isfinite(innermost)]).mean() / d)


def mean_inertial_number(frames: list[Snapshot]) -> float:
    """I = d gammadot sqrt(rho / p) of the mean shear rate and the mean pressure over the mass: grains in flight have no pressure."""
    d = 2 * float(frames[0].radius.mean())
    fields = coarse_grain(frames, FieldGrid.around(frames, d, "xz"), width=d)
    mass = fields.density
    there = np.isfinite(fields.shear_rate) & np.isfinite(fields.pressure) & (mass > 0)
    shear, pressure = (float(np.average(field[there], weights=mass[there])) for field in (fields.shear_rate, fields.pressure))
    density = float(frames[0].mass.sum() / (4 / 3 * np.pi * (frames[0].radius ** 3).sum()))
    return d * shear * math.sqrt(density / pressure) if pressure > 0 else math.nan


def _rows(curves: dict[str, Any]) -> list[Row]:
    systems = curves["systems"]
    names = systems["name"]
    rows = []
    for name in dict.fromkeys(names):
        which = np.array([other == name for other in names])
        required, law = (", ".join("none" if np.isnan(n) else f"{n:.0f}" for n in systems[key][which]) for key in ("required", "law"))
        about = f"l = {', '.join(f'{x:.3g}' for x in systems['height'][which])} d"
        if name.startswith("drum"):
            about += f", I = {', '.join(f'{x:.2g}' for x in systems['inertial'][which])}"
            slope = exponent(systems["count"][which], systems["required"][which])
            required += f"  (N_p^{slope:.2f})"
        rows.append(Row(f"{name}: iterations for <eps_c> = 5 %, {about}", required, f"SN (41): {law}"))
    for k, name in enumerate(LawConstants._fields):
        ours, error, paper, paper_error = curves["constants"][k], curves["standard_errors"][k], SN_CONSTANTS[k], PAPER_ERRORS[k]
        reach = max(0.25 * paper, 2 * math.hypot(error, paper_error))
        rows.append(compared(name, ours, f"{paper:g} ({paper_error:g})", paper - reach, paper + reach, f"{{:.3g}} ({error:.2g})"))
    rows.append(
        Row(
            "R2 of the fit",
            f"{curves['r_squared']:.3f}, residual {curves['rms_residual']:.2g} iterations (rms)",
            "r2 = 1.25 (as printed)",
            curves["r_squared"],
        )
    )
    wide = np.isfinite(systems["required"]) & (systems["width"] >= ARCHING_WIDTH)
    ratio = systems["required"][wide] / systems["law"][wide]
    rows.append(
        compared(
            "N_it / SN (41), median over all wide systems",
            float(np.median(ratio)),
            "1",
            0.7,
            1.4,
            f"{{:.2f}}  ({ratio.min():.2f} to {ratio.max():.2f})",
        )
    )
    return rows
