"""Energy of a packing, its gradient, and the stiffness of its contacts (EM (4)-(9), physics 10)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .._jit import kernel
from ..arithmetic import length, mean, total
from ..arithmetic.elementary import power
from ..array_types import FloatArray, IntArray
from ..checks import InputError
from .course import Course
from .neighbours import Pairs, farthest, find_pairs
from .packing import Packing

WIDE, NARROW = 0.3, 0.02  # skins of the pair list, in mean radii: of grains that move, and of grains near rest
EPS = 2.2e-16
CALM = 30  # evaluations with one wide list, after which a narrow one is tried


class Touching(NamedTuple):
    """C contacts of a packing: grain a meets the image of grain b."""

    a: IntArray  # (C,)
    b: IntArray  # (C,)
    normal: FloatArray  # (C, d) unit, from a towards b
    overlap: FloatArray  # (C,) [m]
    distance: FloatArray  # (C,) of the centres [m]
    force: FloatArray  # (C,) [N], repulsive


class PackingEnergy:
    """E(x) of the grains of a packing at other places, with a pair list that follows them.

    ``evaluations`` counts the calls of :meth:`evaluate`, ``lists`` the pair lists made. ``noise`` [J] is what rounding may have done to
    the last energy: places are known to some 1e-16 of the cell, and a contact turns that into energy by its force.
    """

    def __init__(self, packing: Packing) -> None:
        self.packing = packing
        self.radius, self.law = np.ascontiguousarray(packing.radius), packing.law
        self.evaluations = self.lists = 0
        self.noise = 0.0
        self._grain_of_space = EPS * total(np.abs(packing.cell.vectors))
        self._mean_radius = mean(self.radius)
        self._skin = WIDE * self._mean_radius
        self._list(np.ascontiguousarray(packing.position))
        coincident(self)

    @property
    def start(self) -> FloatArray:
        """(N, d) [m] where the packing has its grains."""
        return np.array(self.packing.position)

    def evaluate(self, x: FloatArray, gradient: FloatArray) -> float:
        """E [J] at x (N, d) [m]; ``gradient`` (N, d) [N] is filled."""
        self._follow(x)
        self.evaluations += 1
        value, pushes = _evaluate(
            x, self.radius, self.pairs.a, self.pairs.b, self.pairs.image, self._shift, self.law.stiffness, self.law.alpha, gradient
        )
        self.noise = self._grain_of_space * pushes
        return value

    def stiffness(self, x: FloatArray, motion: FloatArray | None = None, least: float = 0.0) -> tuple[Pairs, FloatArray]:
        """The listed pairs and their stiffness K (P, d, d) [N/m]: d2E/dx_a dx_a = K, d2E/dx_a dx_b = -K.

        With a ``motion`` (N, d) [m] the normal part is the mean over overlaps from delta - w to delta + w, where w is how far the motion
        parts or presses the pair, ``least`` [m] at least: contacts that will close or open count in part.
        """
        self._follow(x)
        a, b = self.pairs.a, self.pairs.b
        width = np.full(len(a), least)
        if motion is not None:
            width = np.maximum(width, length(motion[a] - motion[b]))
        blocks = np.zeros((len(a), x.shape[1], x.shape[1]))
        _stiffness(x, self.radius, a, b, self.pairs.image, self._shift, self.law.stiffness, self.law.alpha, width, blocks)
        return self.pairs, blocks

    def touching(self, x: FloatArray) -> Touching:
        """The contacts at x."""
        self._follow(x)
        a, b = self.pairs.a, self.pairs.b
        branch = x[b] + self._shift[self.pairs.image] - x[a]
        distance = length(branch)
        overlap = self.radius[a] + self.radius[b] - distance
        hit = overlap > 0
        overlap, distance = overlap[hit], distance[hit]
        return Touching(a[hit], b[hit], branch[hit] / np.maximum(distance, 1e-300)[:, None], overlap, distance, self.law.force(overlap))

    def contact_forces(self, x: FloatArray) -> FloatArray:
        """(C,) [N] of the contacts at x."""
        return self.touching(x).force

    def _follow(self, x: FloatArray) -> None:
        """Make the pair list hold at x."""
        self._used += 1
        if not farthest(x, self._reference) <= self._skin / 2 * self._skin / 2:
            self._skin = WIDE * self._mean_radius
            self._list(x)
        elif self._used == CALM and self._skin > NARROW * self._mean_radius:
            moved = math.sqrt(farthest(x, self._reference))
            narrow = max(NARROW * self._mean_radius, 4 * moved)
            if narrow < self._skin / 2:
                self._skin = narrow
                self._list(x)

    def _list(self, x: FloatArray) -> None:
        self.pairs = find_pairs(self.packing.cell, x, self.radius + self._skin / 2)
        self._shift = self.pairs.shift(self.packing.cell)
        self._reference, self._used = x.copy(), 0
        self.lists += 1


def of_packing(course: Course) -> PackingEnergy:
    """The energy of ``course`` with its contact network, which an energy of anything but a packing does not have."""
    if not isinstance(course.energy, PackingEnergy):
        raise InputError(f"{course.method} needs the contact network of a packing. Use a method without it, such as fire or lbfgs.")
    return course.energy


def coincident(energy: PackingEnergy) -> None:
    """Refuse grains in one point: no force knows where to push them."""
    contacts = energy.touching(energy.start)
    worst = float(contacts.distance.min(initial=np.inf))
    if worst < 1e-12 * energy.packing.diameter:
        n = int(contacts.distance.argmin())
        raise InputError(
            f"grains {contacts.a[n]} and {contacts.b[n]} are in one point, so that no force can part them. "
            "Start from places that differ, such as those of another seed."
        )


@kernel
def _evaluate(
    x: FloatArray,
    radius: FloatArray,
    a: IntArray,
    b: IntArray,
    image: IntArray,
    shift: FloatArray,
    k: float,
    alpha: float,
    gradient: FloatArray,
) -> tuple[float, float]:
    """Energy [J] and sum of all forces [N]."""
    gradient[:] = 0.0
    stored, pushes, three = 0.0, 0.0, x.shape[1] == 3
    for p in range(len(a)):
        i, j, m = a[p], b[p], image[p]
        dx, dy = x[i, 0] - x[j, 0] - shift[m, 0], x[i, 1] - x[j, 1] - shift[m, 1]
        dz = x[i, 2] - x[j, 2] - shift[m, 2] if three else 0.0
        square, near = dx * dx + dy * dy + dz * dz, radius[i] + radius[j]
        if square < near * near:
            distance = math.sqrt(square)
            delta = near - distance
            if alpha == 2.0:
                f = k * delta
            elif alpha == 2.5:
                f = k * delta * math.sqrt(delta)
            else:
                f = k * power(delta, alpha - 1.0)
            stored += f * delta
            pushes += f
            f = f / distance if distance > 0.0 else 0.0
            gradient[i, 0] -= f * dx
            gradient[i, 1] -= f * dy
            gradient[j, 0] += f * dx
            gradient[j, 1] += f * dy
            if three:
                gradient[i, 2] -= f * dz
                gradient[j, 2] += f * dz
    return stored / alpha, pushes


@kernel
def _stiffness(
    x: FloatArray,
    radius: FloatArray,
    a: IntArray,
    b: IntArray,
    image: IntArray,
    shift: FloatArray,
    k: float,
    alpha: float,
    width: FloatArray,
    blocks: FloatArray,
) -> None:
    three, rise = x.shape[1] == 3, alpha - 1.0
    for p in range(len(a)):
        i, j, m = a[p], b[p], image[p]
        dx, dy = x[i, 0] - x[j, 0] - shift[m, 0], x[i, 1] - x[j, 1] - shift[m, 1]
        dz = x[i, 2] - x[j, 2] - shift[m, 2] if three else 0.0
        square, near = dx * dx + dy * dy + dz * dz, radius[i] + radius[j] + width[p]
        if square < near * near and square > 0.0 and i != j:
            distance = math.sqrt(square)
            w = width[p]
            delta = near - w - distance
            if w > 0.0:
                stiff = k * (power(max(delta + w, 0.0), rise) - power(max(delta - w, 0.0), rise)) / (2.0 * w)
            else:
                stiff = k * rise * power(max(delta, 0.0), alpha - 2.0)
            across = k * power(max(delta, 0.0), rise) / distance  # prestress: a push along the line softens what lies across it
            along = (stiff + across) / square
            blocks[p, 0, 0] = along * dx * dx - across
            blocks[p, 0, 1] = along * dx * dy
            blocks[p, 1, 0] = along * dy * dx
            blocks[p, 1, 1] = along * dy * dy - across
            if three:
                blocks[p, 0, 2] = along * dx * dz
                blocks[p, 1, 2] = along * dy * dz
                blocks[p, 2, 0] = along * dz * dx
                blocks[p, 2, 1] = along * dz * dy
                blocks[p, 2, 2] = along * dz * dz - across
