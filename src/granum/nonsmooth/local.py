"""The local form of a frictional contact problem: u = W r + q between the velocities and impulses of the contacts alone.

Components stand contact by contact: normal, then tangents. A contact pushes or is open (r_n >= 0, u_n >= 0, r_n u_n = 0), and friction
r_t stays inside mu r_n and opposes the sliding u_t at that bound. Bodies, masses and softness are hidden in W and q, so this is
the form in which other programs exchange problems (FCLIB).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ..array_types import FloatArray
from ..checks import InputError
from .system import System


@dataclass(frozen=True)
class LocalProblem:
    """C contacts with d components each, R = C d rows in all; ``impulse`` is the start of a solve, and then its result."""

    matrix: sparse.sparray
    """(R, R) W [1/kg]"""
    offset: FloatArray
    """(R,) q, velocities without impulses [m/s]"""
    friction: FloatArray
    """(C,) mu"""
    impulse: FloatArray
    """(R,) r [N s]"""
    dimension: int = 3
    """d: 3, or 2 with one tangent."""

    @property
    def contact_count(self) -> int:
        return len(self.friction)

    @property
    def velocity(self) -> FloatArray:
        """(R,) u = W r + q [m/s]."""
        return self.matrix @ self.impulse + self.offset

    def start_at(self, impulse: FloatArray) -> LocalProblem:
        """The same problem with impulses of its own."""
        return LocalProblem(self.matrix, self.offset, self.friction, impulse.copy(), self.dimension)

    def in_space(self) -> LocalProblem:
        """With two tangents; in a plane the second one is alone with itself, and at rest."""
        if self.dimension == 3:
            return self
        count = self.contact_count
        kept = np.repeat(np.arange(count) * 3, 2) + np.tile([0, 1], count)
        spread = sparse.csr_array((np.ones(2 * count), (kept, np.arange(2 * count))), shape=(3 * count, 2 * count))
        alone = np.zeros(3 * count)
        alone[2::3] = 1.0
        matrix = spread @ sparse.csr_array(self.matrix) @ spread.T + sparse.diags_array(alone)
        return LocalProblem(sparse.csr_array(matrix), spread @ self.offset, self.friction, spread @ self.impulse)

    def natural_map_error(self) -> float:
        """How far the impulses are from a solution, as FCLIB measures it: see :func:`natural_map_error`."""
        space = self.in_space()
        return natural_map_error(space.velocity, space.impulse, space.friction, self.offset)


def local_form(system: System) -> LocalProblem:
    """Of a problem with bodies; targets go into q and the softness onto the diagonal of W, so that both have the same solutions."""
    if system.rows > 3:
        raise InputError(
            "a problem with rolling friction has no local form (FCLIB knows normal and friction rows alone). "
            "Dump it from the scene without rolling friction: --set rolling_friction=0."
        )
    return LocalProblem(system.delassus(), system.offset(), system.friction, system.impulse.copy())


def natural_map_error(velocity: FloatArray, impulse: FloatArray, friction: FloatArray, offset: FloatArray) -> float:
    """FCLIB's merit function number 1 for the rows (R,) of contacts in space; 0 at a solution.

    Coulomb's law says that the velocity of de Saxce, u + mu |u_t| n, lies in the cone dual to that of the impulses and is orthogonal to
    them. So r = P(r - u - mu |u_t| n) at a solution, P being the nearest point of the friction cone. The error is the Euclidean norm of
    what that misses by, over all contacts, divided by 1 + sqrt(|q|): FCLIB's code takes the root of the norm of q, and so does this.
    """
    u, r = velocity.reshape(-1, 3), impulse.reshape(-1, 3)
    moved = r - u
    moved[:, 0] -= friction * np.hypot(u[:, 1], u[:, 2])
    missed = np.linalg.norm(r - into_friction_cone(moved, friction))
    return float(missed / (1.0 + np.sqrt(np.linalg.norm(offset))))


def into_friction_cone(impulse: FloatArray, friction: FloatArray) -> FloatArray:
    """(C, 3) nearest points of the cones |r_t| <= mu r_n."""
    normal, tangential = impulse[:, 0], np.hypot(impulse[:, 1], impulse[:, 2])
    polar = friction * tangential <= -normal
    inside = ~polar & (tangential <= friction * normal)
    onto = np.where(polar, 0.0, np.where(inside, normal, (friction * tangential + normal) / (1.0 + friction * friction)))
    kept = np.where(polar, 0.0, 1.0)
    np.divide(friction * onto, tangential, out=kept, where=~polar & ~inside)
    return np.column_stack([onto, kept[:, None] * impulse[:, 1:]])
