"""Energy of the grains of a scene: what pairs and walls store under the scene's contact law, and their height in gravity.

The push of a contact at rest grows as delta^(2 e_H - 1) (physics 2), its energy with the power alpha = 2 e_H. A law that attracts has no
place here: where two grains part its force jumps, and an energy with such kinks has no gradient to go down by. Walls stand where they are.
There is no friction in an energy: a heap has its minimum as a level bed.
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel
from ..arithmetic import length, mean
from ..array_types import FloatArray, IntArray
from ..checks import InputError, RunError
from ..contact.law import Parameters, contact_stiffness, contact_stiffnesses, pushes_at, response
from ..detection.detector import Detector
from ..detection.images import period_of
from ..detection.wall_table import WallTable
from ..scene.grid import grid_origin
from ..scene.scene import Scene
from ..state.bodies import Bodies
from ..state.contacts import Contacts

EPS = 2.2e-16
LIGHTEST = 1e-8  # of a mean grain's weight: the default tolerance
AWAY = 100.0  # of the largest coordinate of the start: a grain so far away has nothing to land on


class SceneEnergy:
    """E(x) of the grains of ``scene`` at other places; ``bodies`` say where walls and grains are now, and are moved along.

    ``evaluations`` counts the calls of :meth:`evaluate`, ``lists`` the neighbour lists made; ``noise`` [J] is what rounding may have done
    to the last energy.
    """

    def __init__(self, scene: Scene, bodies: Bodies) -> None:
        if not bodies.grain_count:
            raise InputError("there are no grains to relax: choose a later frame.")
        if scene.law.pulls:
            raise InputError(
                f"the contact law {scene.law.name!r} attracts, so that its energy has a kink wherever two grains touch and cannot be "
                "minimised. Take a law that only pushes, or let the grains settle in a run in time."
            )
        self.scene, self.bodies = scene, bodies
        self.pairs, self.gravity = scene.pair_table(), np.asarray(scene.gravity.acceleration, float)
        walls = WallTable.build(scene.all_bodies, scene.material_index, float(bodies.radius.max()))
        self.detector = Detector(walls, period=period_of(scene.cell), origin=grid_origin(scene))
        self.evaluations = self.lists = 0
        self.noise = 0.0
        bodies.velocity[:] = bodies.spin[:] = 0.0  # a skin that fits grains at rest
        self._far = AWAY * (float(np.abs(self.start).max()) + self.diameter)

    @property
    def start(self) -> FloatArray:
        """(N, 3) [m] where the grains are."""
        return np.array(self.bodies.position[self.bodies.grains])

    @property
    def alpha(self) -> float:
        """[-] of the energy k delta^alpha / alpha of a contact."""
        return 2 * self.pairs.law.exponent

    @property
    def diameter(self) -> float:
        """Mean diameter [m]."""
        return 2 * mean(self.bodies.radius)

    @property
    def force_scale(self) -> float:
        """[N]: mean weight of the grains that move; without gravity what presses two mean grains of the first material into one."""
        mass = self.bodies.mass
        weight = float(length(self.gravity)) * mean(mass[np.isfinite(mass)]) if np.isfinite(mass).any() else 0.0
        if weight > 0:
            return weight
        law = self.pairs.law
        return float(response(law, contact_stiffness(law, float(self.pairs.stiffness[0, 0]), self.diameter / 4), 1.0, self.diameter).push)

    def evaluate(self, x: FloatArray, gradient: FloatArray) -> float:
        """E [J] at x (N, 3) [m]; ``gradient`` (N, 3) [N] is filled, with zeros for grains that never move."""
        self.evaluations += 1
        if not np.abs(x).max() <= self._far:
            raise RunError(
                f"a grain has gone {self._far:.3g} m away: nothing holds it, so the energy has no minimum. "
                "Choose an earlier frame, or a scene with a floor below all grains."
            )
        c, b = self._at(x), self.bodies
        value, pushes = _evaluate(
            x, self.gravity, b.inverse_mass[b.grains], c.a, c.b, c.normal, c.overlap, self.stiffness(c), self.pairs.law, gradient
        )
        self.noise = EPS * np.sqrt(len(x)) * float(np.abs(x).max()) * pushes
        return value

    def stiffness(self, c: Contacts) -> FloatArray:
        """(C,) k [N/m^(alpha - 1)] of each contact; R* at a wall is the radius."""
        pair, material, radius = c.b >= 0, self.bodies.material, self.bodies.radius
        other = np.where(pair, c.b, 0)
        kind = material[other]
        kind[~pair] = self.detector.walls.material[-1 - c.b[~pair]]
        near, far = radius[c.a], radius[other]
        radius_eff = np.where(pair, near * far / (near + far), near)
        return contact_stiffnesses(self.pairs.law, self.pairs.stiffness[material[c.a], kind], radius_eff)

    def touching(self, x: FloatArray) -> tuple[Contacts, FloatArray]:
        """The contacts at x, and their normal forces (C,) [N]."""
        c = self._at(x)
        return c, pushes_at(self.pairs.law, self.stiffness(c), c.overlap)

    def contact_forces(self, x: FloatArray) -> None:
        """None: there is no stiffness of these contacts for a preconditioner."""
        return None

    def _at(self, x: FloatArray) -> Contacts:
        self.bodies.position[self.bodies.grains] = x
        contacts = self.detector.detect(self.bodies, 0.0)
        self.lists = self.detector.neighbours.rebuilds
        return contacts


@kernel
def _evaluate(
    x: FloatArray,
    gravity: FloatArray,
    inverse_mass: FloatArray,
    a: IntArray,
    b: IntArray,
    normal: FloatArray,
    overlap: FloatArray,
    stiffness: FloatArray,
    law: Parameters,
    gradient: FloatArray,
) -> tuple[float, float]:
    """Energy [J], and sum of all forces and weights [N]."""
    total, pushes = 0.0, 0.0
    for i in range(len(x)):
        for k in range(3):
            weight = gravity[k] / inverse_mass[i] if inverse_mass[i] > 0.0 else 0.0
            gradient[i, k] = -weight
            total -= weight * x[i, k]
            pushes += abs(weight)
    stored = 0.0
    for c in range(len(a)):
        f, _, _, energy = response(law, stiffness[c], 1.0, overlap[c])
        stored += energy
        pushes += f
        i, j = a[c], b[c]
        for k in range(3):
            if inverse_mass[i] > 0.0:
                gradient[i, k] += f * normal[c, k]
            if j >= 0 and inverse_mass[j] > 0.0:
                gradient[j, k] -= f * normal[c, k]
    return total + stored, pushes
