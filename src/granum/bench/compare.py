"""One bed, several programs: time of a step of granum beside those of Bullet, LIGGGHTS and LAMMPS, where these are installed."""

from __future__ import annotations

import copy
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from ..nonsmooth import PGS
from ..simulation import Simulation, make_settings
from .bed import Bed, Measured, PeerMissing, bed_of
from .bullet import bullet_steps
from .lammps import lammps_steps, liggghts_steps
from .settled import GUARDS_OFF, settled_box
from .timing import REPEATS, Talk

WARM, STEPS = 20, 40  # nonsmooth steps before those that are timed, and those
SMOOTH_STEP = 5e-5  # [s]
SMOOTH_WARM, SMOOTH_STEPS = 200, 100  # smooth steps before those that are timed; steps of each of REPEATS measurements
DEFAULT_ROLLING = 0.32  # of pellets

NONSMOOTH_PEERS: dict[str, Callable[[Bed, float, int, int, int], Measured]] = {"bullet": bullet_steps}
SMOOTH_PEERS: dict[str, Callable[[Bed, float, int, int, int], Measured]] = {"liggghts": liggghts_steps, "lammps": lammps_steps}
"""Others by name; each raises PeerMissing where its program is not installed."""


def measure_compare(count: int = 10_000, iterations: int = 50, talk: Talk = print) -> dict[str, Any]:
    """Milliseconds of a whole step of the same bed in granum and in other programs, and how far the bed sinks in each.

    All get the same equal spheres at the same positions in the same box, with the same friction, time step and one thread, and their time
    is that of whole steps, collision detection included: medians over steps. With rigid contacts all make the same number of ``iterations``
    (sweeps). Bullet has 3 rows per contact, without rolling resistance, so granum is measured with 3 rows, and with its default of 6
    besides; its sweeps have momentum, as in any run. With smooth contacts all have Hertz' law with tangential springs, the same modulus and
    the same restitution; their models of damping differ. The bed lies at rest when it is handed over: what it sinks then tells how well so
    many sweeps solve its contacts (smooth ones give a little while their springs form), and a step is worth its time only if the bed stays
    where it is.
    """
    sim = settled_box(count, 3, talk)
    bed, h = bed_of(sim), sim.time_step
    missing: dict[str, str] = {}
    result: dict[str, Any] = {
        "benchmark": "compare",
        "grains": sim.grain_count,
        "iterations": iterations,
        "time_step": h,
        "time_step_smooth": SMOOTH_STEP,
        "threads": 1,
    }

    def others(peers: dict[str, Callable[[Bed, float, int, int, int], Measured]], *how: Any) -> dict[str, Measured]:
        found = {}
        for name, measure in peers.items():
            talk(f"measuring {name}")
            try:
                found[name] = measure(bed, *how)
            except PeerMissing as reason:
                missing[name] = str(reason)
                talk(f"{name} is left out: {reason}")
        return found

    talk("measuring granum")
    rigid = {"granum": _nonsmooth(sim, 0.0, iterations), "granum-6-rows": _nonsmooth(sim, DEFAULT_ROLLING, iterations)}
    rigid |= others(NONSMOOTH_PEERS, h, iterations, WARM, STEPS)
    soft = {"granum": _smooth(sim)}
    soft |= others(SMOOTH_PEERS, SMOOTH_STEP, SMOOTH_WARM, SMOOTH_STEPS, REPEATS)
    return {**result, "nonsmooth": _side_by_side(rigid), "smooth": _side_by_side(soft), "missing": missing}


def _side_by_side(measured: dict[str, Measured]) -> dict[str, dict[str, Any]]:
    """Numbers of each, and how many times as long as granum's its step takes."""
    unit = measured["granum"].milliseconds
    return {name: {**found.row(), "over_granum": found.milliseconds / unit} for name, found in measured.items()}


def _nonsmooth(settled: Simulation, rolling_friction: float, iterations: int) -> Measured:
    """Of steps with the settings that a run has, but for the number of sweeps."""
    (material,) = settled.scene.materials
    scene = settled.scene.model_copy(update={"materials": (material.model_copy(update={"rolling_friction": rolling_friction}),)})
    settings = make_settings(
        scene.run, {"stepper": {"solver": PGS(iterations=iterations).model_dump()}, "threads": 1, "guards": GUARDS_OFF}
    )
    sim = Simulation(scene, settings, bodies=copy.deepcopy(settled.bodies))
    return _timed(sim, [1] * WARM, [1] * STEPS)


def _smooth(settled: Simulation) -> Measured:
    settings = make_settings({"stepper": {"name": "smooth"}, "time_step": SMOOTH_STEP, "threads": 1, "guards": GUARDS_OFF})
    sim = Simulation(settled.scene, settings, bodies=copy.deepcopy(settled.bodies))
    return _timed(sim, [SMOOTH_WARM], [SMOOTH_STEPS] * REPEATS)


def _timed(sim: Simulation, warm: list[int], runs: list[int]) -> Measured:
    """Seconds per step of each of ``runs``, so many steps each."""
    before, seconds = float(sim.position[:, 2].mean()), []
    for steps in (*warm, *runs):
        start = perf_counter()
        for _ in range(steps):
            sim.step()
        seconds.append((perf_counter() - start) / steps)
    sunk = (before - float(sim.position[:, 2].mean())) / (2 * float(sim.bodies.radius[0]))
    return Measured(np.array(seconds[len(warm) :]), sunk, sim.report.contacts)
