"""Model reduction as stages of a step: follow the carriers, split, merge, and move what has merged (MR Algorithm 1)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arithmetic import dot, length, total
from ..array_types import FloatArray, IntArray
from ..extensions.base import ExtensibleStepper
from ..parallel import Team
from ..scene.scene import Scene
from ..state.saved import SavedPart
from ..state.stages import Stage
from .extension import Reduction
from .merged import Merged
from .merging import Merging
from .reach import WallsReach
from .shadow import Shadow
from .splitting import Splitting
from .trial import Trial


class Reducer:
    """The stages that a run with model reduction adds to those of its stepper."""

    def __init__(self, policy: Reduction, stepper: ExtensibleStepper) -> None:
        self.merged = merged = Merged(stepper.scene, stepper.bodies, stepper.walls, stepper.detector, policy)
        self.walls, self.splitting, self.merging = WallsReach(merged), Splitting(merged), Merging(merged, stepper.pairs.friction)
        self.trial = Trial(merged, self.merging.slow)
        self.team = stepper.team
        stepper.stages = self.among(stepper.stages)

    def among(self, stages: list[Stage]) -> list[Stage]:
        """Its stages between those of every step."""
        detect, *prepare, take, ahead, move, measure = stages
        return [
            Stage("follow", lambda now: now.ledger.add("drives", self.follow(now.h))),
            detect,
            Stage("split", lambda now: self.split(now.h, now.gravity)),
            *prepare,
            take,
            Stage("merge", self.merge),
            ahead,
            Stage("integrate", lambda now: now.ledger.add("drives", self.move(self.team, now.h, now.gravity))),
            move,
            measure,
            Stage("measure", lambda now: now.more.update(self.facts())),
        ]

    def follow(self, h: float) -> float:
        """Follow carriers that move otherwise than in the last step; returns the energy [J] that this brings to grains.

        If one leaps away under its grains, they are free and keep their motion: whether they follow is the solver's business.
        """
        m, b = self.merged, self.merged.bodies
        m.grow()
        changed = m.aggregates.drive()
        self.walls.follow(h, len(changed) > 0)
        if not len(changed):
            return 0.0
        held = m.members(changed)
        rows = b.first_grain + held
        yields = b.inverse_mass[rows] > 0
        before, old = self._kinetic(rows[yields]), (b.velocity[rows], b.spin[rows])
        m.aggregates.carry(held, np.zeros(0, np.int32))
        jump = length(b.velocity[rows] - old[0]) > m.policy.merge.tangential
        torn = np.isin(b.grain_body[held], b.grain_body[held[jump]]) & yields
        b.velocity[rows[torn]], b.spin[rows[torn]] = old[0][torn], old[1][torn]
        m.free(held[torn])
        m.questioned[held] = True
        return self._kinetic(rows[yields]) - before

    def _kinetic(self, rows: IntArray) -> float:
        b = self.merged.bodies
        v, w, r = b.velocity[rows], b.spin[rows], b.radius[rows - b.first_grain]
        square = dot(v, v) + 0.4 * r * r * dot(w, w)
        return 0.5 * total(square / b.inverse_mass[rows])

    def split(self, h: float, gravity: FloatArray) -> None:
        """Let come apart what sensors and contacts say, and what a trial looks at for this step (line 6)."""
        m, s = self.merged, self.splitting
        s.count = 0
        sensed = s.sensed()
        lost = s.off_belts()
        m.measure_motion()
        together = s.split(np.concatenate([sensed, s.hit()]))
        s.reconnect(together, lost)
        self.trial.open(together, h, gravity)
        if m.visits.stale:
            m.find_again()

    def merge(self, now: Any) -> None:
        """End the trial, and merge what moves as one (line 13)."""
        m, s = self.merged, self.splitting
        failed, work = self.trial.close(now.h, now.gravity)
        s.count += len(self.trial.failed)
        s.failed(failed)
        work += self.merging.merge(now.h)
        m.close()
        now.ledger.add("drives", work)
        if now.turned is not None and len(now.turned):
            now.turned[m.aggregates.bound] = 0.0  # they turn with what they are part of

    def move(self, team: Team, h: float, gravity: FloatArray) -> float:
        """Move what has merged over a step; returns the energy [J] that carriers brought to the grains they hold."""
        return self.merged.aggregates.move(team, h, gravity)

    def at_start(self) -> dict[str, float]:
        """Before the first step, in which static grains are held by the ground, nothing counts as merged."""
        return {"reduction_level": 0.0, "free_grains": self.merged.bodies.grain_count, "aggregates": 0}

    def facts(self) -> dict[str, float]:
        """How far the model is reduced, for the report of a step."""
        m = self.merged
        return {"reduction_level": m.level, "free_grains": m.free_grains, "aggregates": len(m.aggregates.alive)}

    def shadow(self) -> Shadow | None:
        """The run at full resolution that measures the error, if one is wanted."""
        steps = self.merged.policy.shadow
        return Shadow(self.merged, steps) if steps else None

    def keep(self, rows: IntArray, new_row: IntArray) -> None:
        """All grains but those in ``rows`` have left; ``new_row`` (N before,) is the new row of each, or -1."""
        self.trial.keep(new_row)
        self.merged.keep(rows, new_row)

    def checkpoint(self) -> dict[str, Any]:
        """All that the next step depends on besides the state of the bodies."""
        return {**self.merged.checkpoint(), "looked": self.splitting.looked, "trial": self.trial.checkpoint()}

    @staticmethod
    def check_saved(part: SavedPart, scene: Scene, grains: int, first: int) -> None:
        """Refuse a checkpoint that must not be trusted; ``first`` is the row of the first grain."""
        carriers = Merged.check_saved(part, scene, grains, first)
        part.whole("looked", 0, 2**62)
        Trial.check_saved(part.part("trial"), grains, carriers)

    def restore(self, saved: dict[str, Any]) -> None:
        """Continue from a checkpoint."""
        self.merged.restore(saved)
        self.trial.restore(saved["trial"])
        self.splitting.looked, self.walls.due = int(saved["looked"]), 0
