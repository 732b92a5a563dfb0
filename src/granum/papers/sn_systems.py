"""The test systems of SN 4.2, swept cold and plain as in the paper, and the iterations that they need for a mean overlap."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..analysis import mean_and_largest_overlap
from ..analysis.results import exact_column_overlaps
from ..scene.library import make_scene
from ..scene.scene import Scene
from ..simulation import Simulation, make_settings
from .methods import GUARDS_OFF

TIME_STEP = 0.01  # [s]
NEAR = 0.1  # of a tolerance: a run that comes so near is not tried again


@dataclass(frozen=True)
class Rest:
    """How grains in a container come to rest."""

    ramp: float
    """Gravity grows during this time [s]."""
    hold: float
    """Then this time passes [s]; measured is over its second half."""


PAPER_REST = Rest(ramp=60.0, hold=5.0)


def container(count: int, width: float, rest: Rest, **parameters: float) -> Scene:
    """SN's container, ``width`` grain diameters wide; 1: a column without walls."""
    return make_scene(
        "silo", {"count": count, "width": width, "ramp": rest.ramp, "settle": rest.hold, "time_step": TIME_STEP, **parameters}
    )


def start_cold(scene: Scene, iterations: int, order: str = "colour") -> Simulation:
    """A simulation at its beginning: no warm start, no momentum, no guards."""
    stepper = {"warm_start": {"name": "none"}, "solver": {"iterations": iterations, "momentum": False, "order": order}}
    return Simulation(scene, make_settings(scene.run, {"stepper": stepper, "guards": GUARDS_OFF}))


def mean_overlap(sim: Simulation) -> float:
    """<eps_c>: mean overlap of all contacts now, in diameters (SN (40))."""
    return mean_and_largest_overlap(sim.contacts.overlap, sim.contacts.a, sim.contacts.b, sim.radius)[0]


def come_to_rest(scene: Scene, rest: Rest, iterations: int, order: str = "colour") -> tuple[Simulation, float]:
    """The container at the end, and the mean overlap [d] over the second half of the hold."""
    overlaps = []
    for sim in at_rest(scene, rest, iterations, order):
        overlaps.append(mean_overlap(sim))
    return sim, float(np.mean(overlaps))


def at_rest(scene: Scene, rest: Rest, iterations: int, order: str = "colour") -> Iterator[Simulation]:
    """The simulation in every step of the second half of the hold."""
    sim = start_cold(scene, iterations, order).run(rest.ramp + rest.hold / 2)
    for _ in range(max(1, round(rest.hold / 2 / sim.time_step))):
        sim.step()
        yield sim


def elastic_overlap(scene: Scene) -> float:
    """Mean overlap [d] of a column at rest that Hertz's law asks for: the part of <eps_c> that is no error."""
    return float(exact_column_overlaps(scene).mean() / scene.size_range[1])


def iterations_for_overlap(
    overlap_at: Callable[[int], float], tolerances: Iterable[float], first: float, most: int
) -> tuple[list[float], np.ndarray]:
    """Iterations N for each mean overlap, NaN: not reached with ``most``; and what was tried (R, 2): N, overlap.

    The overlap falls about as 1 / N. From ``first`` on, N is doubled or halved until the tolerance lies between two runs; a third run
    between them follows if they are not near, and the rest is interpolated on logarithmic axes. A tolerance that one iteration reaches
    needs 1.
    """
    tried: dict[int, float] = {}

    def overlap(n: int) -> float:
        if n not in tried:
            tried[n] = overlap_at(n)
        return tried[n]

    def search(tolerance: float) -> float:
        low = high = min(most, max(1, round(first)))
        while overlap(high) > tolerance:
            if high == most:
                return math.nan
            low, high = high, min(most, 2 * high)
        while overlap(low) <= tolerance:
            if low == 1:
                return 1.0
            low, high = max(1, low // 2), low
        between = round(_cross(low, overlap(low), high, overlap(high), tolerance))
        if low < between < high and min(abs(overlap(n) / tolerance - 1) for n in (low, high)) > NEAR:
            low, high = (between, high) if overlap(between) > tolerance else (low, between)
        return _cross(low, overlap(low), high, overlap(high), tolerance)

    found = [search(tolerance) for tolerance in tolerances]
    return found, np.array([(n, tried[n]) for n in sorted(tried)], float)


def _cross(low: int, above: float, high: int, below: float, tolerance: float) -> float:
    """Where a power law through two runs crosses the tolerance."""
    return float(low * (high / low) ** (math.log(above / tolerance) / math.log(above / below)))


def exponent(x: Any, y: Any) -> float:
    """Slope of log y over log x; NaN with fewer than two numbers."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    known = np.isfinite(y) & (y > 0)
    return float(np.polyfit(np.log(x[known]), np.log(y[known]), 1)[0]) if known.sum() >= 2 else math.nan


def geometric_mean(values: Any) -> float:
    """Of those that could be measured."""
    known = np.asarray(values, float)
    known = known[np.isfinite(known) & (known > 0)]
    return float(np.exp(np.log(known).mean())) if len(known) else math.nan
