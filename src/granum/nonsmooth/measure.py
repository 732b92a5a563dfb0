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
from ..state.contacts import count_closed
from ..state.energy import fold_energies, grain_energies, parts_of
from .groups import Found, Met
from .kinds.every import CHUNK


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
    """parts of sums over contacts, one of each chunk; there may be room for more"""

    @classmethod
    def of(cls, grains: int, contacts: int, gravity: FloatArray, extent: FloatArray) -> Measured:
        """With room for so many grains and contacts."""
        return cls(gravity, extent, np.zeros(parts_of(grains)), np.zeros((contacts + CHUNK - 1) // CHUNK))

    def with_room(self, grains: int, contacts: int) -> Measured:
        """Itself, if it has room for so many; else one that has, and for some contacts more."""
        if len(self.of_grains) == parts_of(grains) and len(self.of_contacts) * CHUNK >= contacts:
            return self
        return Measured.of(grains, contacts * 17 // 16, self.gravity, self.extent)


@device
def elastic_energies(thread, threads, met, found, law, parts, chunks):
    """Energy [J] that the contact law stores in the overlaps of each chunk of contacts; less than 0 where it attracts. Bodies do not."""
    overlap, stiffness, radius_eff = met.overlap, found.stiffness, found.radius_eff
    low, high = share(chunks, thread, threads)
    for k in range(low, high):
        total = 0.0
        for c in range(k * CHUNK, min((k + 1) * CHUNK, len(overlap))):
            delta = max(0.0, overlap[c])
            pull = pull_off(law, radius_eff[c]) if c < met.grain_contacts else 0.0
            total += response(law, stiffness[c], 1.0, delta).energy - pull * delta
        parts[k] = total


@kernel
def measure(
    crew: Crew, bodies: BodyArrays, grains: GrainArrays, met: Met, found: Found, law: Parameters, measured: Measured
) -> tuple[float, float, float, float, int, float]:
    """Kinetic and gravitational energy of the grains [J], their largest speed [m/s], the energy that the contact law stores in the
    overlaps [J], how many contacts of grains touch, push or have collided, and their largest overlap [m]."""
    thread, threads, barrier = crew
    chunks = (len(met.a) + CHUNK - 1) // CHUNK
    grain_energies(thread, threads, bodies, grains, measured.gravity, measured.of_grains)
    elastic_energies(thread, threads, met, found, law, measured.of_contacts, chunks)
    wait(barrier, threads)
    if thread > 0:
        return 0.0, 0.0, 0.0, 0.0, 0, 0.0
    kinetic, potential, fastest = fold_energies(measured.of_grains, measured.extent)
    elastic = sum_of(measured.of_contacts, chunks, 0, 1)
    closed, deepest = count_closed(met.grain_contacts, met.overlap, met.impulse, met.rebound)
    return kinetic, potential, fastest, elastic, closed, deepest
