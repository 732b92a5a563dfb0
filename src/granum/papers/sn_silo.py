"""Grains at rest in round containers: iterations that saturate with the filling, and Janssen's profile (SN 5.1, Fig. 3, 4 and 6)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..analysis import Snapshot, axis_profile, janssen_fit, surface_height, wall_pressure
from ..analysis.cost_model import ARCHING_WIDTH, required_iterations
from ..pool import Job
from .experiment import Outcome, Row, Runner, compared
from .figures.sn import draw_silo, draw_silo_networks
from .sn_systems import PAPER_REST, Rest, at_rest, container, exponent, iterations_for_overlap, mean_overlap

TITLE = "iterations for containers, Janssen's profile, collapse (SN 5.1, Fig. 3, 4 and 6)"
TOLERANCE = 0.05
PAPER_COUNT = 7500  # grains in the 9 d container of SN Fig. 3 and 4
PAPER_PRESSURE = 990.0  # [Pa] on its axis at zero height, 500 iterations
SATURATED = 2.5  # height over width from which on the law of SN has two thirds of its last value
LONGEST = 2.0  # [height] with a longer Janssen length pressure has not saturated
EVERY = 5  # steps between the frames of a profile
SLICE = 1.5  # [d] half thickness of the slice whose forces are drawn


@dataclass(frozen=True)
class SiloSize:
    """Sizes of the experiment."""

    fillings: tuple[tuple[float, tuple[int, ...]], ...]
    """Widths [d], and grains in containers of that width."""
    rest: Rest
    profile_count: int
    """Grains in the 9 d container whose profile is taken."""
    profile_iterations: tuple[int, ...]
    profile_seeds: int = 1
    """Fillings over which a profile is averaged: in a low one single chains of force show."""
    profile_width: float = 9.0
    most: int = 1000
    """Iterations that are tried."""


QUICK = SiloSize(
    ((3, (50, 100, 200, 400)), (6, (100, 200, 400, 800, 1600)), (9, (200, 400, 800, 1600, 3200)), (15, (500, 1000, 2000, 4000))),
    Rest(ramp=6.0, hold=1.0),
    profile_count=2500,
    profile_iterations=(10, 25, 50, 100, 200),
    profile_seeds=3,
)
FULL = SiloSize(
    (
        (3, (100, 200, 400, 800)),
        (6, (100, 200, 400, 800, 1600, 3200)),
        (9, (200, 400, 800, 1600, 3200, 7500)),
        (15, (500, 1000, 2000, 4000, 7500, 15_000, 30_000)),
    ),
    PAPER_REST,
    profile_count=PAPER_COUNT,
    profile_iterations=(10, 25, 50, 100, 150, 500),
)


def measure(size: SiloSize, run: Runner) -> Outcome:
    """Required iterations of all fillings, and the profiles."""
    which = [(width, count) for width, counts in size.fillings for count in counts]
    jobs = [search_job(width, count, size) for width, count in which]
    jobs += [Job(profile, (n, size), size.profile_seeds * _cost(size.profile_count, n)) for n in size.profile_iterations]
    results = run(jobs)
    found = dict(zip(which, results, strict=False))
    fillings = {}
    for width, counts in size.fillings:
        height, required = (np.array([found[width, n][name] for n in counts]) for name in ("height", "required"))
        fillings[f"{width:g} d"] = {
            "width": width,
            "count": np.array(counts),
            "height": height,
            "required": required,
            "law": required_iterations(width, height, 0.0, TOLERANCE),
            "runs": {str(n): found[width, n]["runs"] for n in counts},
        }
    profiles = {str(n): taken for n, taken in zip(size.profile_iterations, results[len(which) :], strict=True)}
    curves = {"tolerance": TOLERANCE, "fillings": fillings, "profiles": profiles, "profile_count": size.profile_count}
    return Outcome(_rows(size, curves), curves)


def draw(outcome: Outcome, folder: Path) -> list[Path]:
    """Two figures: iterations and profiles; and force networks."""
    return [draw_silo(outcome.curves, folder / "sn-silo.png"), draw_silo_networks(outcome.curves, folder / "sn-silo-forces.png")]


def _guess(width: float, count: int) -> float:
    return float(required_iterations(width, count / (math.pi / 4 * width**2), 0.0, TOLERANCE))


def _cost(count: int, iterations: float) -> float:
    """Of a step; the rest of it costs about as much as 20 sweeps."""
    return count * (20 + iterations) / 1e4


def search_job(width: float, count: int, size: SiloSize) -> Job:
    """The search for one filling; about four runs. It is known by nothing but the filling: the law of SN finds it again."""
    return Job(search, (width, count, size.rest, size.most), 4 * _cost(count, _guess(width, count)))


def search(width: float, count: int, rest: Rest, most: int) -> dict[str, Any]:
    """Iterations for <eps_c> = 5 %, height [d] of the filling in the run nearest to it, and all runs (R, 2)."""
    scene = container(count, width, rest)
    heights: dict[int, float] = {}

    def overlap_at(iterations: int) -> float:
        overlaps = []
        for sim in at_rest(scene, rest, iterations):
            overlaps.append(mean_overlap(sim))
        heights[iterations] = surface_height(Snapshot.of(sim)).level / scene.size_range[1]
        return float(np.mean(overlaps))

    (required,), runs = iterations_for_overlap(overlap_at, [TOLERANCE], _guess(width, count), most)
    nearest = min(heights, key=lambda n: abs(math.log(n / required))) if math.isfinite(required) else max(heights)
    return {"required": required, "height": heights[nearest], "runs": runs}


def profile(iterations: int, size: SiloSize) -> dict[str, Any]:
    """Pressure on the walls and along the axis, Janssen's law through the former, height, overlap; forces in a slice of the last one."""
    overlaps, snapshots = [], []
    for seed in range(size.profile_seeds):
        scene = container(size.profile_count, size.profile_width, size.rest, seed=seed)
        for k, sim in enumerate(at_rest(scene, size.rest, iterations)):
            overlaps.append(mean_overlap(sim))
            if k % EVERY == 0:
                snapshots.append(Snapshot.of(sim))
    d = scene.size_range[1]
    wall, axis = wall_pressure(snapshots), axis_profile(snapshots)
    fit = janssen_fit(wall.z, wall.pressure, wall.height, wall.strip)
    segments, force = _slice(snapshots[-1], d)
    return {
        "overlap": float(np.mean(overlaps)),
        "height": wall.height / d,
        "wall_z": wall.z / d,
        "wall_pressure": wall.pressure,
        "axis_z": axis.z / d,
        "axis_pressure": axis.pressure,
        "saturation": fit.saturation,
        "length": fit.length / d,
        "r_squared": fit.r_squared,
        "fit_pressure": fit.pressure(wall.z) if math.isfinite(fit.length) else np.full(len(wall.z), np.nan),
        "segments": segments,
        "force": force,
    }


def _slice(snapshot: Snapshot, d: float) -> tuple[np.ndarray, np.ndarray]:
    """Contacts of grains in a slice around the axis: ends (C, 2, 2) x and z [d] of the lines between centres, and normal forces [m g]."""
    s = snapshot
    inside = (np.abs(s.position[s.a, 1]) < SLICE * d) & (s.normal_force > 0)
    a, b = s.a[inside], s.b[inside]
    end = np.where((b >= 0)[:, None], s.position[np.maximum(b, 0)], s.point[inside])
    segments = np.stack([s.position[a][:, [0, 2]], end[:, [0, 2]]], axis=1) / d
    return segments, s.normal_force[inside] / (s.mass.mean() * s.gravity_strength)


def _rows(size: SiloSize, curves: dict[str, Any]) -> list[Row]:
    rows = []
    for label, filling in curves["fillings"].items():
        count, required = filling["count"], filling["required"]
        numbers = ", ".join("none" if math.isnan(n) else f"{n:.0f}" for n in required)
        law = ", ".join(f"{n:.0f}" for n in filling["law"])
        rows.append(Row(f"{label}: iterations for <eps_c> = 5 %, N_p = {', '.join(map(str, count))}", numbers, f"SN (41): {law}"))
    for label, filling in curves["fillings"].items():
        count, required, law = filling["count"], filling["required"], filling["law"]
        first, last = exponent(count[:2], required[:2]), exponent(count[-2:], required[-2:])
        if filling["height"][-1] >= SATURATED * filling["width"]:
            by_law = exponent(count[-2:], law[-2:])
            rows.append(
                compared(
                    f"{label}: N_it ~ N_p^x, x between the two highest fillings",
                    last,
                    f"saturates; SN (41): {by_law:.2f}",
                    -0.5,
                    0.5,
                    f"{{:.2f}}  (between the two lowest {first:.2f})",
                )
            )
        if filling["width"] >= ARCHING_WIDTH:
            rows.append(compared(f"{label}: N_it / SN (41) at the highest filling", required[-1] / law[-1], "1", 0.7, 1.4))
    return rows + _profile_rows(size, curves["profiles"])


def _profile_rows(size: SiloSize, profiles: dict[str, Any]) -> list[Row]:
    fewest, most = profiles[str(size.profile_iterations[0])], profiles[str(size.profile_iterations[-1])]
    what, paper_sized = f"9 d, {size.profile_count} grains", size.profile_count == PAPER_COUNT
    height = fewest["height"] / most["height"]
    heights = ", ".join(f"{profile['height']:.1f} d at {n}" for n, profile in profiles.items())
    ours = f"{{:.2f}}  ({heights})"
    name = f"{what}: height at {size.profile_iterations[0]} / at {size.profile_iterations[-1]} iterations"
    rows = [
        compared(name, height, "less than 0.4", 0.0, 0.4, ours)
        if paper_sized
        else Row(name, ours.format(height), f"less than 0.4 with {PAPER_COUNT} grains", height)
    ]
    # A straight line is well fitted too: the pressure saturates only if the law's length is finite and within reach of the height.
    saturated = bool(most["length"] < LONGEST * most["height"])
    rows.append(
        Row(
            f"{what}: R2 of Janssen's law, {size.profile_iterations[-1]} iterations",
            f"{most['r_squared']:.3f}, "
            + (f"saturated at {most['saturation']:.0f} Pa over {most['length']:.1f} d" if saturated else "linear"),
            "pressure saturates",
            most["r_squared"],
            agrees=saturated and bool(most["r_squared"] >= 0.97) if paper_sized else None,
        )
    )
    lowest = {n: float(profile["axis_pressure"][:2].mean()) for n, profile in profiles.items()}
    each = ", ".join(f"{p:.0f} at {n}" for n, p in lowest.items())
    rows.append(
        compared(
            f"{what}: pressure on the axis at zero height, {size.profile_iterations[-1]} iterations",
            lowest[str(size.profile_iterations[-1])],
            f"{PAPER_PRESSURE:.0f} Pa ({PAPER_COUNT} grains, 500 iterations)",
            0.7 * PAPER_PRESSURE,
            1.4 * PAPER_PRESSURE,
            f"{{:.0f}} Pa  ({each})",
        )
    )
    # Hydrostatic: the pressure at the floor is that of the height; saturated: it is that of the fit's length.
    bend = {n: profile["height"] / profile["length"] for n, profile in profiles.items()}
    rows.append(
        Row(
            f"{what}: height / length of Janssen's law",
            ", ".join(f"{x:.2g} at {n}" for n, x in bend.items()),
            "linear with too few iterations (0), saturated at 50 and more",
            agrees=bool(bend[str(size.profile_iterations[0])] < 0.5 and all(x > 0.9 for n, x in bend.items() if int(n) >= 50)),
        )
    )
    return rows
