"""Sweeps that each method needs for a given error of the contact forces, in a box that has just been tilted."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..nonsmooth import PGS
from ..nonsmooth.warm_start import ColdStart, HistoryStart
from ..simulation import Simulation
from .settled import settled_box
from .timing import Talk, about

ERROR = 0.05
TILT = 15.0  # degrees
REFERENCE_SWEEPS = 6000
LADDER = np.unique(np.round(np.geomspace(4, 4096, 61)).astype(int))


def measure_convergence(count: int = 10_000, rows: int = 6, talk: Talk = print) -> dict[str, Any]:
    """Sweeps to 5 % error of the normal forces (relative, root mean square) in the first step after the box is tilted by 15 degrees."""
    sim = settled_box(count, rows, talk, tilt=TILT)
    sim.nonsmooth.detector.detect(sim.bodies, sim.time_step)
    talk(f"reference: {REFERENCE_SWEEPS} sweeps with momentum")
    reference = _forces(sim, HistoryStart(), PGS(iterations=REFERENCE_SWEEPS))
    needed = {}
    for start in (ColdStart(), HistoryStart()):
        for momentum in (False, True):
            name = f"{'momentum' if momentum else 'pgs'} {'cold' if start.name == 'none' else 'history'}"
            needed[name] = _sweeps_to(sim, start, momentum, reference)
            talk(f"  {name}: {needed[name] or f'more than {LADDER[-1]}'} sweeps")
    cold, best = needed["pgs cold"], needed["momentum history"]
    return {
        "benchmark": "convergence",
        "error": ERROR,
        "tilt": TILT,
        "sweeps": needed,
        "fewer_sweeps": (cold or LADDER[-1]) / best if best else None,
        **about(sim, rows),
    }


def _forces(sim: Simulation, start: ColdStart | HistoryStart, solver: PGS) -> np.ndarray:
    """Normal impulses of the step that the simulation is about to take, without taking it."""
    stepper, contacts = sim.nonsmooth, sim.nonsmooth.detector.contacts
    impulse, rebound = contacts.impulse.copy(), contacts.rebound.copy()
    stepper.settings = stepper.settings.model_copy(update={"warm_start": start})
    stepper.prepare(sim.time_step, sim.scene.gravity.at(0.0))
    solver.solve(stepper.problem, measure=False)
    out = np.zeros((contacts.contact_count, 7))
    stepper.problem.read_impulses(out)
    contacts.impulse[:], contacts.rebound[:] = impulse, rebound
    return out[:, 0]


def _sweeps_to(sim: Simulation, start: ColdStart | HistoryStart, momentum: bool, reference: np.ndarray) -> int | None:
    """The first rung of the ladder of sweeps whose forces are near enough."""
    low, high = 0, len(LADDER)
    while low < high:  # the error falls with the sweeps
        middle = (low + high) // 2
        forces = _forces(sim, start, PGS(iterations=int(LADDER[middle]), momentum=momentum))
        near = np.linalg.norm(forces - reference) <= ERROR * np.linalg.norm(reference)
        low, high = (low, middle) if near else (middle + 1, high)
    return int(LADDER[low]) if low < len(LADDER) else None
