"""The slow twin of the solver: physics.md 3-4 as written, in multipliers, with explicit Jacobians and a tangent basis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass
class Twin:
    """One contact problem of spheres and standing walls; body -1 is the wall. Everything per contact, plain NumPy."""

    a: np.ndarray
    b: np.ndarray
    jacobian: list  # (6, 12) each: normal (with s), two tangents, two rolling, twisting
    inverse_mass: list  # (12,) each: of the six freedoms of a and b
    softness: np.ndarray  # (C, 6) Sigma
    target: np.ndarray  # (C, 6) q
    scale: np.ndarray  # (C,) s
    friction: float
    rolling: np.ndarray  # (C,) mu_r R*
    velocity: np.ndarray  # (N + 1, 6), the last row is the wall's
    multiplier: np.ndarray  # (C, 6)
    box: bool = False

    def row_velocity(self, c):
        return self.jacobian[c] @ np.concatenate([self.velocity[self.a[c]], self.velocity[self.b[c]]])

    def change(self, c, rows, new):
        impulse = self.jacobian[c][rows].T @ (new - self.multiplier[c, rows]) * self.inverse_mass[c]
        self.velocity[self.a[c]] += impulse[:6]
        self.velocity[self.b[c]] += impulse[6:]
        self.multiplier[c, rows] = new

    def wanted(self, c, rows):
        """What a projected update of some rows gives: lam + (q - G v - Sigma lam) / D, inside its bound; and D."""
        g, soft, lam = self.jacobian[c][rows], self.softness[c, rows], self.multiplier[c, rows]
        diagonal = np.sum(g * g * self.inverse_mass[c], axis=1) + soft
        new = lam + (self.target[c, rows] - self.row_velocity(c)[rows] - soft * lam) / diagonal
        if rows == NORMAL:
            return np.maximum(new, 0.0), diagonal
        force = self.scale[c] * self.multiplier[c, 0]
        bound = force * (self.friction if rows == TANGENTS else self.rolling[c])
        if self.box:
            return np.clip(new, -bound, bound), diagonal
        return new * min(1.0, bound / max(np.linalg.norm(new), 1e-300)), diagonal

    def sweep(self):
        """Normal row, then tangents, then rolling of each contact, each with the newest velocities."""
        for c in range(len(self.a)):
            for rows in (NORMAL, TANGENTS, ROLLING):
                self.change(c, rows, self.wanted(c, rows)[0])

    def residual(self):
        """(C, 3) [m/s]: what the bounds leave of q - G v - Sigma lam, D times the change a projected update would make.

        The normal row in physical units (divided by s), rolling rows times R* (done by the caller).
        """
        out = np.empty((len(self.a), 3))
        for c in range(len(self.a)):
            for k, rows in enumerate((NORMAL, TANGENTS, ROLLING)):
                new, diagonal = self.wanted(c, rows)
                out[c, k] = np.linalg.norm(diagonal * (new - self.multiplier[c, rows]))
            out[c, 0] /= self.scale[c]
        return out


NORMAL, TANGENTS, ROLLING = slice(0, 1), slice(1, 3), slice(3, 6)


def build(
    position,
    velocity,
    spin,
    radius,
    mass,
    contacts,
    stiffness,
    h,
    gravity,
    friction,
    rolling_friction,
    exponent=1.25,
    damping_steps=2.0,
    gamma=1e-6,
    box=False,
    basis=None,
):
    """The continuous stage of one step (physics 2-3). ``contacts``: a, b (-1: standing wall), normal, overlap; ``stiffness`` (C,) k_n."""
    a, b, normal, overlap = contacts
    count = len(a)
    upsilon = 1 / (1 + 4 * damping_steps)  # tau = n_s h
    state = np.zeros((len(radius) + 1, 6))
    state[:-1] = np.hstack([velocity, spin])
    free = np.zeros((len(radius) + 1, 6))
    free[:-1] = np.hstack([np.repeat(1 / mass[:, None], 3, axis=1), np.repeat(1 / (0.4 * mass * radius**2)[:, None], 3, axis=1)])
    scale = exponent * overlap ** (exponent - 1)
    jacobian, target, rolling = [], np.zeros((count, 6)), np.zeros(count)
    for c in range(count):
        n = normal[c]
        t1 = np.cross(n, np.eye(3)[np.argmin(np.abs(n))]) if basis is None else basis(n)
        t1 /= np.linalg.norm(t1)
        t2 = np.cross(n, t1)
        ra = radius[a[c]]
        rb = radius[b[c]] if b[c] >= 0 else np.inf
        # the contact point divides the distance of the centres as the radii do; on a wall it is at the grain's surface
        da = n * (ra if b[c] < 0 else ra * (1 - overlap[c] / (ra + rb)))
        db = np.zeros(3) if b[c] < 0 else -n * rb * (1 - overlap[c] / (ra + rb))
        rows = [np.concatenate([-u, -np.cross(da, u), u, np.cross(db, u)]) for u in (n, t1, t2)]
        rows += [np.concatenate([np.zeros(3), -w, np.zeros(3), w]) for w in (t1, t2, n)]
        g = np.array(rows)
        g[0] *= scale[c]
        jacobian.append(g)
        target[c, 0] = upsilon * (4 / h * overlap[c] ** exponent + g[0] @ np.concatenate([state[a[c]], state[b[c]]]))
        rolling[c] = rolling_friction * (ra if b[c] < 0 else ra * rb / (ra + rb))
    softness = np.empty((count, 6))
    softness[:, 0] = 4 / h**2 * upsilon * exponent / stiffness
    softness[:, 1:] = gamma / h
    state[:-1, :3] += h * np.asarray(gravity)
    inverse = [np.concatenate([free[a[c]], free[b[c]]]) for c in range(count)]
    return Twin(a, b, jacobian, inverse, softness, target, scale, friction, rolling, state, np.zeros((count, 6)), box)
