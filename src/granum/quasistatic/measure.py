"""What can be measured of a packing at rest: stress, fabric, coordination, forces, and whether it is jammed (EM 2.3, physics 10).

Signs: compression is positive. Stress and pressure are forces per length in 2D [N/m], per area in 3D [N/m^2].
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from .._jit import kernel
from ..arithmetic import length, mean, total
from ..array_types import BoolArray, FloatArray, IntArray
from ..checks import InputError, expect
from .energy import PackingEnergy, Touching
from .packing import Packing, ball_volume
from .rigidity import add_up, holds

EPS = float(np.finfo(float).eps)
LEAST = 4.0  # roundings of a position: a smaller overlap may be none
FAINT = 1e-3  # of the mean contact force: a grain with nothing stronger may be a rattler that is still pushed aside,
UNBALANCED = 0.5  # which it is if more than this part of its largest contact force is left over
BALANCED = 1e-6  # |net forces| / |contact forces|: below, no further look is needed
VAGUE = 100.0  # roundings of a position: a packing with a smaller mean overlap may be unjammed as well
TOLERANCE = 1e-6  # of the mean contact force: see `Measured.tolerance`


class ContactNetwork(NamedTuple):
    """The contacts of a packing, and the part of it that holds: the backbone."""

    touching: Touching
    net: FloatArray  # (N, d) force on each grain [N], zero in balance
    rattlers: BoolArray  # (N,) grains that nothing holds
    in_backbone: BoolArray  # (C,) contacts of two grains of the backbone

    @property
    def backbone(self) -> Touching:
        """The contacts that count: those without rattlers."""
        c, kept = self.touching, self.in_backbone
        return Touching(c.a[kept], c.b[kept], c.normal[kept], c.overlap[kept], c.distance[kept], c.force[kept])

    @property
    def grains(self) -> int:
        """N_3: grains of the backbone."""
        return int(np.count_nonzero(~self.rattlers))

    @property
    def excess(self) -> int:
        """Contacts of the backbone beyond the d (N_3 - 1) that hold its grains: above 0 if they can carry forces in balance."""
        return int(np.count_nonzero(self.in_backbone)) - self.net.shape[1] * (self.grains - 1) if self.grains else 0

    @property
    def unbalance(self) -> float:
        """|net forces| / |contact forces| [-]: 0 in balance, of the order of 1 where grains are on the move."""
        size = total(self.touching.force * self.touching.force)
        return math.sqrt(total(self.net * self.net) / size) if size > 0 else 0.0


@dataclass(frozen=True, repr=False)
class Measured:
    """Observables of a packing. Contacts of rattlers, which at rest have none that push, are left out of all but ``touching``."""

    phi: float  # packing fraction [-]
    energy: float  # [J]
    pressure: float  # trace of the stress over d [N/m^(d-1)]
    stress: FloatArray  # (d, d) [N/m^(d-1)], positive where it is compressed (EM (10))
    fabric: FloatArray  # (d, d) [-], volumes of both grains of every contact (EM (2))
    coordination: float  # z [-]: contacts of a grain of the backbone; 0 without one
    contacts: int  # |C_3|
    touching: int  # contacts with those of rattlers
    rattlers: BoolArray  # (N,) fewer than d + 1 contacts, not counting those with rattlers
    forces: FloatArray  # (|C_3|,) [N]
    overlap: float  # largest [m]
    mean_overlap_in_diameters: float  # of the mean diameter [-]
    residual: float  # largest component of a net force on a grain [N]
    rounding: float  # [N] that 8 roundings of a position make at the stiffest contact: forces are not known better
    jammed: bool  # see `is_jammed`

    def __repr__(self) -> str:
        state = f"z = {self.coordination:.4g}, {self.rattler_count} rattlers" if self.jammed else "not jammed"
        return f"Measured(phi = {self.phi:.6g}, {state}, {self.contacts} contacts, pressure {self.pressure:.4g})"

    @property
    def rattler_count(self) -> int:
        return int(np.count_nonzero(self.rattlers))

    @property
    def mean_force(self) -> float:
        """[N]; 0 without contacts."""
        return mean(self.forces) if len(self.forces) else 0.0

    def tolerance(self, part: float = TOLERANCE) -> float | None:
        """[N] at which a minimisation from here may stop: ``part`` of the mean contact force, not below rounding; None if unjammed.

        Soft motions answer a force far more than stiff ones do, 1 / (phi - phi_cr) times near jamming. With 1e-6 stress and moduli are
        right to some 1e-4 or better down to phi - phi_cr = 1e-4.
        """
        return max(part * self.mean_force, self.rounding) if self.jammed else None

    @property
    def shear_stress(self) -> float:
        """-sigma_xy [N/m^(d-1)]: grows when the packing is sheared forwards (EM (13))."""
        return -float(self.stress[0, 1])

    @property
    def stress_parts(self) -> Parts:
        return parts(self.stress)

    @property
    def fabric_parts(self) -> Parts:
        return parts(self.fabric)

    def numbers(self) -> dict[str, Any]:
        """What can be written in a line or a JSON file: no arrays of grains or contacts."""
        known = {field.name: getattr(self, field.name) for field in fields(self) if field.name not in ("rattlers", "forces")}
        known |= {"stress": self.stress.tolist(), "fabric": self.fabric.tolist(), "rattlers": self.rattler_count}
        return known | {"mean_force": self.mean_force}


class Parts(NamedTuple):
    """Of a symmetric tensor with eigenvalues l: the mean, and half the difference of the largest and the smallest (EM Fig. 8)."""

    isotropic: float
    deviatoric: float


class ForceHistogram(NamedTuple):
    """P(f / <f>): how the contact forces are spread."""

    edges: FloatArray  # (bins + 1,) f / <f>
    density: FloatArray  # (bins,) integrates to the part of the contacts inside of the edges
    counts: IntArray  # (bins,)


def parts(tensor: FloatArray) -> Parts:
    """Isotropic and deviatoric part; in 3D the deviatoric one is the largest shear on any plane, as in 2D."""
    values = np.linalg.eigvalsh((tensor + tensor.T) / 2)
    return Parts(float(values.mean()), float(values[-1] - values[0]) / 2)


def measure(packing: Packing, known: ContactNetwork | None = None) -> Measured:
    """All observables, from the network of the packing if it is ``known``.

    Of a packing that is not at rest they say what they are, but rattlers and coordination mean little.
    """
    expect("packing", packing, Packing)
    net = known or network(packing)
    contacts, volume = net.backbone, packing.cell.volume
    stress = _tensor(net.touching, net.touching.force * net.touching.distance) / volume
    size = ball_volume(packing.dim, packing.radius)
    overlap = contacts.overlap
    return Measured(
        phi=packing.phi,
        energy=total(net.touching.force * net.touching.overlap) / packing.law.alpha,
        pressure=total(np.diagonal(stress)) / packing.dim,
        stress=stress,
        fabric=_tensor(contacts, size[contacts.a] + size[contacts.b]) / volume,
        coordination=2 * len(overlap) / net.grains if net.grains else 0.0,
        contacts=len(overlap),
        touching=len(net.in_backbone),
        rattlers=net.rattlers,
        forces=contacts.force,
        overlap=float(overlap.max(initial=0.0)),
        mean_overlap_in_diameters=mean(overlap) / packing.diameter if len(overlap) else 0.0,
        residual=float(np.abs(net.net).max()),
        rounding=8 * EPS * extent(packing) * (packing.law.alpha - 1) * float((contacts.force / overlap).max(initial=0.0)),
        jammed=is_jammed(packing, net),
    )


def network(packing: Packing) -> ContactNetwork:
    """Contacts, net forces and rattlers.

    A rattler has fewer than d + 1 contacts. Rattlers are removed with their contacts until none is left. One that has been pushed aside
    until the tolerance was met may keep more contacts, all from one side; so grains whose contacts are all below 1e-3 of the mean force,
    and which are not in balance, are rattlers too.
    """
    energy = PackingEnergy(packing)
    touching = energy.touching(energy.start)
    force = touching.force[:, None] * touching.normal
    net = np.zeros_like(energy.start)
    add_up(touching.a, touching.b, force, net)
    largest = np.zeros(packing.count)
    np.maximum.at(largest, touching.a, touching.force)
    np.maximum.at(largest, touching.b, touching.force)
    firm = touching.overlap > LEAST * EPS * extent(packing)
    faint = largest < FAINT * (mean(touching.force) if len(touching.force) else 0.0)
    rattlers = faint & (length(net) > UNBALANCED * largest)
    _remove(touching.a, touching.b, firm, packing.dim + 1, rattlers)
    return ContactNetwork(touching, net, rattlers, firm & ~rattlers[touching.a] & ~rattlers[touching.b])


def is_jammed(packing: Packing, known: ContactNetwork | None = None) -> bool:
    """Whether the packing resists compression: its contacts carry forces in balance.

    A threshold of the pressure cannot tell: a minimiser that has stopped at 1e-10 of the force scale leaves grains of an unjammed
    packing with more force than all have at phi - phi_cr = 1e-9. So forces are compared with what is left to relax:

    - overlaps below 100 roundings of a position on average (2e-14 of the cell) are none: unjammed;
    - net forces below 1e-6 of the contact forces: jammed if N_3 grains have at least d (N_3 - 1) + 1 contacts, one more than they
      need to be held;
    - else the packing is jammed if overlaps remain after all small motions (:func:`~granum.quasistatic.rigidity.holds`), which
      costs some factorisations. Of grains far from rest, such as those of a random start, this says little.
    """
    net = known or network(packing)
    overlap = net.touching.overlap
    if len(overlap) == 0 or not mean(overlap) > VAGUE * EPS * extent(packing):
        return False
    return net.excess > 0 if net.unbalance < BALANCED else holds(packing)


def extent(packing: Packing) -> float:
    """[m] of the largest coordinates: roundings of positions are parts of it."""
    return float(max(np.abs(packing.position).max(), np.abs(packing.cell.vectors).max()))


def force_tolerance(packing: Packing, part: float = TOLERANCE, known: ContactNetwork | None = None) -> float | None:
    """:meth:`Measured.tolerance` of a packing."""
    return measure(packing, known).tolerance(part)


def force_histogram(forces: FloatArray, bins: int = 50, upper: float = 5.0) -> ForceHistogram:
    """Of forces (C,) in units of their mean, from 0 to ``upper``."""
    if len(forces) == 0 or not forces.mean() > 0:
        raise InputError("there are no contact forces: the packing is unjammed. Compress it: give it a larger phi, and minimise.")
    counts, edges = np.histogram(forces / forces.mean(), bins=bins, range=(0, upper))
    return ForceHistogram(edges, counts / (len(forces) * np.diff(edges)), counts.astype(np.int32))


def _tensor(contacts: Touching, weight: FloatArray) -> FloatArray:
    """(d, d) sum of weight n n."""
    n = contacts.normal.T
    return np.array([[total(weight * a * b) for b in n] for a in n])


@kernel
def _remove(a: IntArray, b: IntArray, firm: BoolArray, least: int, gone: BoolArray) -> None:
    """Mark grains with fewer than ``least`` contacts with unmarked ones, until no more are found. A grain that meets its own image
    has two contacts by it.
    """
    count = len(gone)
    first = np.zeros(count + 1, np.int64)
    for c in range(len(a)):
        if firm[c]:
            first[a[c] + 1] += 1
            first[b[c] + 1] += 1
    for i in range(count):
        first[i + 1] += first[i]
    other, place = np.empty(first[count], np.int32), first[:count].copy()
    for c in range(len(a)):
        if firm[c]:
            i, j = a[c], b[c]
            other[place[i]] = j
            place[i] += 1
            other[place[j]] = i
            place[j] += 1
    left = np.empty(count, np.int64)
    queue, waiting = np.empty(count, np.int32), 0
    for i in range(count):
        left[i] = first[i + 1] - first[i]
        if gone[i] or left[i] < least:
            gone[i] = True
            queue[waiting] = i
            waiting += 1
    while waiting > 0:
        waiting -= 1
        i = queue[waiting]
        for p in range(first[i], first[i + 1]):
            j = other[p]
            left[j] -= 1
            if not gone[j] and left[j] < least:
                gone[j] = True
                queue[waiting] = j
                waiting += 1
