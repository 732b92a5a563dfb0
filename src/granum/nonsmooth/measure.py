"""What is measured at the end of a step, in one call: energies, the fastest grain, the box around all, and who touches."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import device, kernel
from ..arithmetic.sums import sum_of
from ..array_types import FloatArray
from ..contact.law import Parameters, pull_off, response
from ..kernel_groups import group
from ..parallel.barrier import share, wait
from ..parallel.crew import Crew
from ..state.bodies import BodyArrays, GrainArrays
from ..state.energy import fold_energies, grain_energies, parts_of
from ..state.rooms import with_spare
from .groups import Found, Met
from .kinds.every import CHUNK

PARTS, CLOSED, DEEPEST = 3, 1, 2


@group
class Measured(NamedTuple):
    """Around the grains, and room to work in."""

    gravity: FloatArray
    """(3,) [m/s^2]"""
    extent: FloatArray
    """(2, 3) receives the box around all grain centres [m]"""
    of_grains: FloatArray
    """parts of sums over grains, see ``grain_energies``"""
    of_contacts: FloatArray
    """of each chunk of contacts its energy [J], how many of them touch, push or have collided, and their largest overlap [m]; there may be
    room for more"""

    @classmethod
    def of(cls, grains: int, contacts: int, gravity: FloatArray, extent: FloatArray) -> Measured:
        """With room for so many grains and contacts."""
        return cls(gravity, extent, np.zeros(parts_of(grains)), np.zeros((contacts + CHUNK - 1) // CHUNK * PARTS))

    def with_room(self, grains: int, contacts: int) -> Measured:
        """Itself, if it has room for so many; else one that has, and for some contacts more."""
        if len(self.of_grains) == parts_of(grains) and len(self.of_contacts) * CHUNK >= contacts * PARTS:
            return self
        return Measured.of(grains, with_spare(contacts), self.gravity, self.extent)


@device
def measure_contacts(thread, threads, met, found, law, parts, chunks):
    """Energy [J] that the contact law stores in the overlaps of each chunk of contacts, less than 0 where it attracts (bodies do not); and
    of those of grains, how many touch, push or have collided, and their largest overlap [m]."""
    overlap, stiffness, radius_eff = met.overlap, found.stiffness, found.radius_eff
    low, high = share(chunks, thread, threads)
    for k in range(low, high):
        total, closed, deepest = 0.0, 0, 0.0
        for c in range(k * CHUNK, min((k + 1) * CHUNK, len(overlap))):
            delta = max(0.0, overlap[c])
            pull = 0.0
            if c < met.grain_contacts:
                pull = pull_off(law, radius_eff[c])
                closed += overlap[c] > 0.0 or met.impulse[c, 0] > 0.0 or met.rebound[c] > 0.0
                deepest = max(deepest, overlap[c])
            total += response(law, stiffness[c], 1.0, delta).energy - pull * delta
        parts[k * PARTS], parts[k * PARTS + CLOSED], parts[k * PARTS + DEEPEST] = total, closed, deepest


@kernel
def measure(
    crew: Crew, bodies: BodyArrays, grains: GrainArrays, met: Met, found: Found, law: Parameters, measured: Measured
) -> tuple[float, float, float, float, int, float]:
    """Kinetic and gravitational energy of the grains [J], their largest speed [m/s], the energy that the contact law stores in the
    overlaps [J], how many contacts of grains touch, push or have collided, and their largest overlap [m]."""
    thread, threads, barrier = crew
    chunks = (len(met.a) + CHUNK - 1) // CHUNK
    grain_energies(thread, threads, bodies, grains, measured.gravity, measured.of_grains)
    parts = measured.of_contacts
    measure_contacts(thread, threads, met, found, law, parts, chunks)
    wait(barrier, threads)
    if thread > 0:
        return 0.0, 0.0, 0.0, 0.0, 0, 0.0
    kinetic, potential, fastest = fold_energies(measured.of_grains, measured.extent)
    closed, deepest = 0.0, 0.0
    for k in range(chunks):
        closed += parts[k * PARTS + CLOSED]
        deepest = max(deepest, parts[k * PARTS + DEEPEST])
    return kinetic, potential, fastest, sum_of(parts, chunks, 0, PARTS), int(closed), deepest
