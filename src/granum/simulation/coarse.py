"""Is the time step too large? Things that move far in a step, and overlaps that no load explains, with the step that would fit."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..array_types import FloatArray
from ..checks import InputError
from ..contact.law import contact_stiffness, overlaps_under, pull_off
from ..nonsmooth.time_step import REACH, as_typed
from ..scene.extent import reach_from_origin
from ..scene.scene import Scene
from ..scene.speeds import speeds_at_start
from ..smooth import Smooth
from ..state.contacts import overlap_in_diameters
from .settings import Guards

if TYPE_CHECKING:
    from .simulation import Simulation

FAR, DEEP = 0.2, 0.05
"""From here on a step is told to be coarse: a way in it, in diameters of the smallest grain, and an overlap, in those of the smaller."""
LOST = 0.01
"""From here on a loss of energy that no contact explains is told: a part of the largest kinetic energy plus m g d."""
WORSE = 1.1
"""What was told is told again, in the summary, when it has grown by this factor."""


class Coarse:
    """Looks at the steps of a run; what it finds comes as a kind and a sentence, and again when it has become worse."""

    def __init__(self, settings: Guards, scene: Scene) -> None:
        self.scene, self.off, self.smallest = scene, settings.on_coarse == "off", scene.finest
        self._worst: dict[str, float] = {}
        self._fits: float | None = None
        self._loses_nothing: bool | None = None
        self._reach = [max((reach_from_origin(wall) for wall in body.walls), default=0.0) for body in scene.all_bodies]

    def expected(self, sim: Simulation) -> Iterator[tuple[str, str]]:
        """Before the first step, from the speeds that the scene gives to grains, emitters and walls."""
        if self.off:
            return
        speeds = speeds_at_start(self.scene)
        for kind, wall in (("speed", False), ("wall speed", True)):
            fastest = next((speed for speed in speeds if speed.wall == wall), None)
            if fastest is not None and self._is_news(kind, fastest.value * sim.time_step / self.smallest, FAR):
                yield kind, f"time_step = {sim.time_step:.3g} s is large for {fastest.reason}: {self._way(sim, fastest.value)}"

    def may_have_news(self, sim: Simulation) -> bool:
        """A quick look after a step: whether there is anything to look at."""
        if self.off:
            return False
        slow = sim.stepper.fastest * sim.time_step / self.smallest < FAR
        return not (slow and sim.report.max_overlap <= DEEP * self.smallest) or len(sim.bodies.dynamic) > 0

    def found(self, sim: Simulation) -> Iterator[tuple[str, str]]:
        """After a step that may have news."""
        if self._is_news("speed", sim.stepper.fastest * sim.time_step / self.smallest, FAR):
            grain = int(np.argmax((sim.velocity**2).sum(axis=1)))
            yield "speed", f"grain {sim.bodies.id[grain]} moves at {sim.stepper.fastest:.3g} m/s, {self._way(sim, sim.stepper.fastest)}"
        for w in sim.bodies.dynamic.tolist():
            fast = math.hypot(*sim.bodies.velocity[w].tolist()) + self._reach[w] * math.hypot(*sim.bodies.spin[w].tolist())
            if self._is_news("wall speed", fast * sim.time_step / self.smallest, FAR):
                yield "wall speed", f"the body {self.scene.all_bodies[w].name!r} moves at {fast:.3g} m/s, {self._way(sim, fast)}"
        yield from self._overlap(sim)

    def loses_nothing(self, sim: Simulation) -> bool:
        """Whether no contact should lose energy, and a loss is to be told."""
        if self._loses_nothing is None:
            law = sim.stepper.pairs
            self._loses_nothing = bool(law.restitution.min() == 1 and law.friction.max() == 0 and law.rolling_friction.max() == 0)
        return not self.off and self._loses_nothing

    def losses(self, sim: Simulation, lost: float, scale: float) -> Iterator[tuple[str, str]]:
        """Energy ``lost`` [J] by contacts that should lose none, judged by a ``scale`` [J]."""
        if scale > 0 and self._is_news("loss", lost / scale, LOST):
            yield (
                "loss",
                (
                    f"contacts that should lose no energy (restitution 1, no friction) have lost {lost:.3g} J, {lost / scale:.2g} of the "
                    f"largest kinetic energy: a loss of the method, which falls with the step; for less than {LOST:.0%} try --time-step "
                    f"{as_typed(sim.time_step * 0.5 * LOST * scale / lost)}"
                    + ("" if isinstance(sim.settings.stepper, Smooth) else ", or --stepper smooth")
                ),
            )

    def smaller_step(self, sim: Simulation, overlap: float) -> str:
        """The step [s] in which an overlap [d] would have stayed small: half as deep as what is told, if it grows with the step."""
        fits = min(self._fit(sim, sim.stepper.fastest), sim.time_step * 0.5 * DEEP / overlap)
        return f"--time-step {as_typed(fits)}"

    def step_at(self, sim: Simulation, speed: float) -> str:
        """The step [s] that suits a speed [m/s]."""
        return f"--time-step {as_typed(self._fit(sim, speed))}"

    def checkpoint(self) -> dict[str, float]:
        return dict(self._worst)

    def restore(self, saved: dict[str, Any]) -> None:
        self._worst = dict(saved)

    def _overlap(self, sim: Simulation) -> Iterator[tuple[str, str]]:
        if sim.report.max_overlap <= max(DEEP, WORSE * self._worst.get("overlap", 0.0)) * self.smallest:
            return
        c = sim.contacts
        part = overlap_in_diameters(c.overlap, c.a, c.b, sim.radius)
        worst = int(part.argmax())
        if self._is_news("overlap", float(part[worst]), DEEP):
            soft = isinstance(sim.settings.stepper, Smooth) or pressed_overlap(sim, worst) > 0.5 * float(c.overlap[worst])
            way_out = (
                "the load presses them so deep, so stiffer grains help, not a smaller step"
                if soft
                else f"the step is too large for what happens in it: try {self.smaller_step(sim, float(part[worst]))}"
            )
            yield (
                "overlap",
                (
                    f"{two_of(sim, worst)} overlap by {part[worst]:.2g} d at {place(sim.position[c.a[worst]])} "
                    f"(coarse from {DEEP:g} d on); {way_out}"
                ),
            )

    def _is_news(self, kind: str, part: float, least: float) -> bool:
        """Beyond the limit for the first time, or much worse than before."""
        if part < least or part < WORSE * self._worst.get(kind, 0.0):
            return False
        self._worst[kind] = part
        return True

    def _way(self, sim: Simulation, speed: float) -> str:
        way = speed * sim.time_step / self.smallest
        return f"{way:.2g} d per step (coarse from {FAR:g} d on); try {self.step_at(sim, speed)}"

    def _fit(self, sim: Simulation, speed: float) -> float:
        """The step [s] that suits both this speed and what the scene lets expect."""
        if self._fits is None:
            try:
                self._fits = sim.settings.stepper.step_for(self.scene)
            except InputError:  # nothing moves in it by itself
                self._fits = math.inf
        return min(self._fits, REACH * self.smallest / speed if speed > 0 else math.inf)


def pressed_overlap(sim: Simulation, contact: int) -> float:
    """Overlap [m] at which the contact law alone carries the force of a contact."""
    c, table = sim.contacts, sim.stepper.pairs
    a, b = int(c.a[contact]), int(c.b[contact])
    other = sim.bodies.material[b] if b >= 0 else sim.stepper.walls.material[-1 - b]
    radius_eff = 1 / (1 / sim.radius[a] + (1 / sim.radius[b] if b >= 0 else 0.0))
    stiffness = contact_stiffness(table.law, float(table.stiffness[sim.bodies.material[a], other]), radius_eff)
    push = max(0.0, c.normal_force[contact] + pull_off(table.law, radius_eff))
    return float(overlaps_under(table.law, np.array([stiffness]), np.array([push]))[0])


def two_of(sim: Simulation, contact: int) -> str:
    """Who touches, in words."""
    b = int(sim.contacts.b[contact])
    return f"grain {sim.bodies.id[sim.contacts.a[contact]]} with {f'grain {sim.bodies.id[b]}' if b >= 0 else f'wall {-1 - b}'}"


def place(x: FloatArray) -> str:
    """A place [m] in words."""
    return f"({', '.join(f'{v:.4g}' for v in x)}) m"
