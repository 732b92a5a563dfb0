"""The shadow of a run: the same grains, none merged, over the same steps; what differs is the approximation error.

Windows follow each other without a gap. Each begins from the state of the run. Contacts start with the impulses that the run found for
them; those that it left out, inside of merged bodies, with the ones that the shadow found in the window before.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from ..arithmetic import product
from ..array_types import IntArray, LongArray
from ..checks import RunError
from ..detection.detector import CARRIED
from ..scene.run_settings import Guards
from ..state.bodies import STATE, Bodies
from ..state.saved import CONTACTS, SavedPart
from .error import ApproximationNorms, approximation_error, merged_throughout
from .merged import Merged

Simulation = Any
"""This layer knows no simulation; it is given one, and makes others of its kind."""
UNWATCHED = Guards(on_overlap="off", on_lost="off", on_energy="off", on_coarse="off")


ERRORS = {
    "approximation_error": "rms",
    "largest_error": "largest",
    "perpendicular_error": "perpendicular",
    "parallel_error": "parallel",
}
"""Names in recordings of what is measured."""


class Shadow:
    """Steps beside a simulation; ``found`` is the error at the end of the last window, ``windows`` how many have ended.

    ``mean`` is over all of them. Callbacks push the simulation alone: the shadow does not follow them before the next window.
    """

    def __init__(self, merged: Merged, steps: int) -> None:
        """``merged`` is the state of what has merged in the simulation; windows last ``steps``."""
        self.merged, self.steps = merged, steps
        self.found: ApproximationNorms | None = None
        self.windows = 0
        self._sum, self._largest = np.zeros(3), 0.0
        self._full: Simulation | None = None
        self._merged = np.zeros(0, np.int32)  # what grains had merged into when the window began
        self._id = np.zeros(0, np.int64)  # of these grains
        self._inside: dict[str, np.ndarray] = {}  # contacts of the shadow at the end of the last window, by ids of grains

    @property
    def mean(self) -> ApproximationNorms | None:
        """Means over all windows, and the largest error in any."""
        if not self.windows:
            return None
        rms, perpendicular, parallel = (float(x) for x in self._sum / self.windows)
        return ApproximationNorms(rms, self._largest, perpendicular, parallel)

    def scalars(self) -> dict[str, float]:
        """Of the last window, in diameters; NaN before the first has ended."""
        return {name: getattr(self.found, norm, np.nan) for name, norm in ERRORS.items()}

    def summary(self) -> dict[str, Any]:
        """What was found, of the last window and of all."""
        last, mean = (asdict(norms) if norms is not None else None for norms in (self.found, self.mean))
        return {"steps": self.steps, "windows": self.windows, "last": last, "mean": mean}

    def before_step(self, sim: Simulation) -> None:
        """Begin a window if one is due."""
        if self._full is None and sim.step_count % self.steps == 0:
            self._merged, self._id = _merged(sim.bodies), sim.bodies.id.copy()
            self._full = self._copy(sim)

    def after_step(self, sim: Simulation) -> None:
        """Follow; at the end of a window, measure."""
        full = self._full
        if full is None:
            return
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the run itself tells
                full.step()
        except RunError as error:
            warnings.warn(f"the full-resolution shadow failed, so this window has no error: {error}", RuntimeWarning, stacklevel=3)
            self._full = None
            return
        if sim.step_count % self.steps == 0:
            self._measure(sim, full)
            self._inside = _by_id(_carried(full), full.bodies.id)
            self._full = None

    def _measure(self, sim: Simulation, full: Simulation) -> None:
        """Grains that came, or left through a sink, in the meantime are not compared."""
        there = np.intersect1d(np.intersect1d(self._id, sim.bodies.id, True), full.bodies.id, True)
        if not len(there):
            return
        first, own, other = (np.searchsorted(ids, there) for ids in (self._id, sim.bodies.id, full.bodies.id))  # ids are in order
        bodies = sim.bodies
        kind = merged_throughout(self._merged[first], _merged(bodies)[own], self.merged.carriers)
        found = approximation_error(full.position[other], sim.position[own], bodies.radius[own], bodies.mass[own], kind)
        self.found = found
        self.windows += 1
        self._sum += (found.rms, found.perpendicular, found.parallel)
        self._largest = max(self._largest, found.largest)

    def _copy(self, sim: Simulation) -> Simulation:
        """The simulation at full resolution, in the same state."""
        full = _unmerged(sim)
        full.emissions = copy.deepcopy(sim.emissions)
        full.removal.restore(sim.removal.checkpoint())
        full.guard.restore(sim.guard.checkpoint())
        full.step_count = sim.step_count
        saved = sim.stepper.checkpoint()
        inside = _by_row(self._inside, sim.bodies.id) if self._inside else {}
        detector = {
            "neighbours": self._neighbours(sim),
            **_joined(_carried(sim), inside, self._merged),
            "between_bodies": saved["detector"]["between_bodies"],
        }
        full.stepper.restore(saved | {"detector": detector})
        return full

    def _neighbours(self, sim: Simulation) -> dict[str, Any]:
        """The neighbour list, which the run keeps in the frame of its largest body, where that frame is now."""
        saved = sim.nonsmooth.detector.neighbours.checkpoint()
        turned, shift = self.merged.visits.since_listed()
        return saved | {"reference": product(saved["reference"], turned.T) + shift}

    def checkpoint(self) -> dict[str, Any]:
        """All that the rest of the run's errors depend on."""
        return {
            "found": asdict(self.found) if self.found is not None else None,
            "windows": self.windows,
            "sum": self._sum,
            "largest": self._largest,
            "merged": self._merged,
            "id": self._id,
            "inside": self._inside,
            "full": self._full.checkpoint() if self._full is not None else None,
        }

    @staticmethod
    def check_saved(part: SavedPart, check: Callable[[Mapping[str, Any]], None]) -> None:
        """Refuse a checkpoint that must not be trusted; ``check`` looks at that of the run at full resolution."""
        part.whole("windows", 0, 2**62)
        part.array("sum", np.float64, (3,))
        ids = part.array("id", np.int64, (None,))
        part.array("merged", np.int32, ids.shape)
        inside = part.part("inside")
        if inside.content:
            count = len(inside.array("a", np.int64, (None,)))
            for name, (dtype, width) in CONTACTS.items():
                inside.array(name, np.int64 if name in ("a", "b") else dtype, (count, *width))
        if part.content["full"] is not None:
            check(part.content["full"])

    def restore(self, saved: dict[str, Any], sim: Simulation) -> None:
        """Continue from a checkpoint, beside ``sim``."""
        self.found = ApproximationNorms(**saved["found"]) if saved["found"] is not None else None
        self.windows, self._sum, self._largest = saved["windows"], np.array(saved["sum"]), saved["largest"]
        self._merged, self._id, self._inside = saved["merged"], saved["id"], saved["inside"]
        if saved["full"] is not None:
            self._full = type(sim).restore(sim.scene, _full_resolution(sim.settings), saved["full"])


def _full_resolution(settings: Any) -> Any:
    """The same settings without extensions."""
    stepper = settings.stepper.model_copy(update={extension.name: None for extension in settings.extensions})
    return settings.model_copy(update={"stepper": stepper, "guards": UNWATCHED})


def _unmerged(sim: Simulation) -> Simulation:
    own = sim.bodies
    scene = slice(0, own.wall_body_count)
    bodies, grains = Bodies(own.kind[scene], own.moments[scene]), own.grains
    bodies.append_grains(own.position[grains], own.radius, own.material, own.inverse_mass[grains])
    for name in STATE:
        for new, old in ((scene, scene), (bodies.grains, grains)):
            getattr(bodies, name)[new] = getattr(own, name)[old]
    bodies.id[:], bodies.next_id = own.id, own.next_id
    settings = _full_resolution(sim.settings).model_copy(update={"time_step": sim.time_step})
    return type(sim)(sim.scene, settings, bodies=bodies)


def _merged(bodies: Bodies) -> IntArray:
    """(N,) row of the body that each grain has merged with, -1: none."""
    return np.where(bodies.merged, bodies.grain_body, -1).astype(np.int32)


def _carried(sim: Simulation) -> dict[str, np.ndarray]:
    """Copies of all that contacts carry into the next step."""
    return {name: np.array(getattr(sim.nonsmooth.detector.contacts, name)) for name in CARRIED}


def _by_id(contacts: dict[str, np.ndarray], ids: LongArray) -> dict[str, np.ndarray]:
    """Contacts with ids of grains in place of their rows."""
    return contacts | {"a": ids[contacts["a"]], "b": contacts["partner"]}


def _by_row(contacts: dict[str, np.ndarray], ids: LongArray) -> dict[str, np.ndarray]:
    """Contacts with rows of grains in place of their ids; those of grains that have left are left out."""
    a, b = contacts["a"], contacts["b"]
    there = np.isin(a, ids) & ((b < 0) | np.isin(b, ids))
    row = [np.searchsorted(ids, side).astype(np.int32) for side in (a, b)]
    found = contacts | {"a": row[0], "b": np.where(b < 0, b, row[1]).astype(np.int32)}
    return {name: values[there] for name, values in found.items()}


def _joined(first: dict[str, np.ndarray], more: dict[str, np.ndarray], merged: IntArray) -> dict[str, Any]:
    """Contacts of ``first``, and those of ``more`` between merged grains that are not among them, as a detector restores them."""
    grains = len(merged)
    if more:
        a, b = more["a"], more["b"]
        inside = (merged[a] >= 0) & ((b < 0) | (merged[b] >= 0))
        number = np.unique(np.concatenate([_key(first), _key(more)]), axis=0, return_inverse=True)[1].ravel()
        new = inside & ~np.isin(number[len(first["a"]) :], number[: len(first["a"])])
        first = {name: np.concatenate([first[name], more[name][new]]) for name in CARRIED}
    side = (first["b"] < 0).astype(np.int64)  # pairs, then walls, each in the order of their owner
    order = np.lexsort((first["a"], side))
    contacts = {name: values[order] for name, values in first.items()}
    count = np.stack([np.bincount(first["a"][side == k], minlength=grains) for k in (0, 1)])
    start = np.cumsum(count.ravel()).reshape(count.shape) - count
    where = np.stack([start, count]).astype(np.int32)
    return {**contacts, "where": where, "pairs": int(count[0].sum())}


def _key(contacts: dict[str, np.ndarray]) -> np.ndarray:
    """(C, 3) that tells contacts apart, whoever owns them."""
    a, b, feature = contacts["a"], contacts["b"], contacts["feature"]
    pair = b >= 0
    return np.stack([np.where(pair, np.minimum(a, b), a), np.where(pair, np.maximum(a, b), b), feature], axis=1)
