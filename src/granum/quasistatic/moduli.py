"""Elastic moduli of a jammed packing: by linear response, or by small strains (EM (12), (13)).

All are derivatives of the stress of EM (10) while the grains stay in balance, with a deformation gradient I + A of cell and grains:

    dsigma_ij = -C_ijkl A_kl    for symmetric A; a rotation A turns the stress, dsigma = A sigma - sigma A.

A contact with branch r = l n adds f l n n to V sigma. With dr = A r + du_b - du_a, and the stiffness k' = df/d delta, it changes by

    -(k' l + f) (n dr) n n + f (dr n + n dr),

and V by V tr A. The motion du of the grains besides A follows from balance: H du = -sum of K A r, with the Hessian H, pressure included.
So pressure acts in all moduli, not only in H, and they are what a strain test measures as the strain goes to zero.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement
from typing import Any

import numpy as np

from ..array_types import FloatArray
from ..checks import InputError, expect, finite_positive
from .measure import ContactNetwork, is_jammed, measure, network
from .minimise import AUTO, minimise
from .packing import Packing
from .rigidity import Stiffness, add_up

AT_REST = 1e-4  # of the energy: what balance would still release of a packing that can be linearised
UNBALANCED = 1e-8  # of the forces that a strain makes: what may be left of them in balance
SOLVED = 1e-6  # relative residual of the linear systems; above, an eigenvalue is lost in rounding
REFINEMENTS = 5


class MarginalError(InputError):
    """The packing is at the edge of stability, or beyond it: it has no linear response."""


@dataclass(frozen=True, repr=False)
class Moduli:
    """Of a packing [N/m^(d-1)]. Pairs of axes are xy in 2D, and xy, xz, yz in 3D."""

    stiffness: FloatArray  # C (d, d, d, d): -dsigma_ij / dA_kl
    bulk: float  # B = phi dp/dphi = -V dp/dV where the cell shrinks
    bulk_grown: float  # phi dp/dphi where the radii grow in a fixed cell: B + (alpha - d)/d p
    shear: float  # G, the mean over all directions
    shear_simple: FloatArray  # (pairs,) -dsigma_12/dgamma with x moved by gamma y (EM (13))
    shear_pure: FloatArray  # (pairs,) -d(sigma_11 - sigma_22)/dgamma / 4 with x stretched, y shortened by gamma
    shear_affine: float  # G if all grains moved with the strain [N/m^(d-1)]
    bulk_affine: float
    pressure: float
    residual: float  # relative, of the linear systems; 0 where strains were measured

    def __repr__(self) -> str:
        return f"Moduli(bulk = {self.bulk:.6g}, shear = {self.shear:.6g}, pressure = {self.pressure:.4g}, residual {self.residual:.1g})"

    def numbers(self) -> dict[str, Any]:
        """For a JSON file."""
        return {
            name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in vars(self).items() if name != "stiffness"
        }


def moduli(packing: Packing) -> Moduli:
    """By linear response: one factorisation of the Hessian of the backbone, and a solve for each of the d (d + 1)/2 strains.

    Refused are packings that are unjammed or not at rest, and, as :class:`MarginalError`, those that are not at a stable minimum.
    """
    net = checked(packing)
    contacts, dim, volume = net.backbone, packing.dim, packing.cell.volume
    normal, length, force = contacts.normal, contacts.distance, contacts.force
    along = (packing.law.alpha - 1) * force / contacts.overlap
    both = normal[:, :, None] * normal[:, None, :]
    blocks = (along + force / length)[:, None, None] * both - (force / length)[:, None, None] * np.eye(dim)
    backbone = ~net.rattlers
    number = (np.cumsum(backbone) - 1).astype(np.int32)
    a, b = number[contacts.a], number[contacts.b]
    system = Stiffness(a, b, blocks, packing.cell.wrap(packing.position)[backbone])
    factor = system.factorise() if net.excess > 0 else None
    if factor is None:
        raise MarginalError(
            f"the packing is not at a stable minimum (phi = {packing.phi:.8g}): a motion of its grains costs no energy, so it has no "
            "linear response. Minimise it to a smaller tolerance; if that does not help, move its grains a little at random first."
        )
    net_force = np.zeros((net.grains, dim))
    add_up(a, b, force[:, None] * normal, net_force)
    release = float(np.sum(net_force * factor.solve(net_force))) / 2 / float(np.sum(force * contacts.overlap) / packing.law.alpha)
    if not release < AT_REST:
        raise InputError(
            f"the packing is not at rest: balance would release {release:.1e} of its energy, and must be below {AT_REST:g}. "
            "Minimise it first."
        )
    stress = (normal * (force * length)[:, None]).T @ normal / volume

    def change(dr: FloatArray) -> FloatArray:
        """V dsigma of relative motions dr (C, d)."""
        closing = np.einsum("ci,ci->c", normal, dr)
        turned = (dr * force[:, None]).T @ normal
        return turned + turned.T - (normal * ((along * length + force) * closing)[:, None]).T @ normal

    stiffness, affine = np.zeros((dim,) * 4), np.zeros((dim,) * 4)
    worst = 0.0
    for k, m, A in _strains(dim):
        moved = length[:, None] * normal @ A
        push = np.einsum("cij,cj->ci", blocks, moved)
        rhs = np.zeros((net.grains, dim))
        add_up(b, a, push, rhs)
        du = factor.solve(rhs)
        for _ in range(REFINEMENTS):
            left = rhs - system.apply(du)
            relative = float(np.linalg.norm(left) / max(np.linalg.norm(rhs), 1e-9 * np.linalg.norm(push)))
            if relative < 1e-12:
                break
            du = du + factor.solve(left)
        worst = max(worst, relative)
        fixed = change(moved) - volume * stress * np.trace(A)
        affine[:, :, k, m] = affine[:, :, m, k] = -fixed / volume
        stiffness[:, :, k, m] = stiffness[:, :, m, k] = -(fixed + change(du[b] - du[a])) / volume
    if not worst < SOLVED:
        raise MarginalError(
            f"the packing is marginal (phi = {packing.phi:.8g}): an eigenvalue of its Hessian is zero to rounding (residual {worst:.1e}), "
            "so its linear response has no bound. Change phi or the strain a little and minimise again."
        )
    return _moduli(stiffness, affine, stress, packing, worst)


def moduli_by_strain(packing: Packing, strain: float = 1e-6, *, method: str = AUTO, preconditioner: str | None = None) -> Moduli:
    """By strains of +- ``strain`` of cell and grains, each with a minimisation; tends to :func:`moduli` as the strain goes to zero.

    Strains far below the mean overlap over the diameter change no contacts; far below 1e-9 they drown in rounding. Affine moduli are
    those of :func:`moduli` and are not measured: NaN.
    """
    net = checked(packing)
    if not 0 < finite_positive("strain", strain) < 0.1:
        raise InputError(f"strain must be a small number, below 0.1 (got {strain:g}).")
    dim = packing.dim
    known = measure(packing, net)
    tolerance = known.tolerance(UNBALANCED * strain / known.mean_overlap_in_diameters)  # of the forces that the strain makes
    stiffness = np.zeros((dim,) * 4)
    for k, m, A in _strains(dim):
        ends = []
        for sign in (1, -1):
            relaxed = minimise(packing.deformed(np.eye(dim) + sign * strain * A), method, preconditioner, tolerance=tolerance)
            ends.append(measure(relaxed.packing).stress)
        stiffness[:, :, k, m] = stiffness[:, :, m, k] = (ends[1] - ends[0]) / (2 * strain)
    return _moduli(stiffness, np.full((dim,) * 4, np.nan), known.stress, packing, 0.0)


def checked(packing: Packing) -> ContactNetwork:
    """The network of a jammed packing, else a refusal."""
    expect("packing", packing, Packing)
    net = network(packing)
    if not is_jammed(packing, net):
        known = measure(packing, net)
        raise InputError(
            f"the packing is unjammed (phi = {packing.phi:.8g}, pressure {known.pressure:.3g} N/m^{packing.dim - 1}, "
            f"{known.rattler_count} of {packing.count} grains rattle): it resists no strain and has no moduli. "
            f"Give it a larger phi (random packings jam near {0.84 if packing.dim == 2 else 0.64}) and minimise."
        )
    return net


def _strains(dim: int) -> Iterator[tuple[int, int, FloatArray]]:
    """Symmetric unit strains: k, m, and A (dim, dim) with A_km = A_mk, their sum 1."""
    for k, m in combinations_with_replacement(range(dim), 2):
        A = np.zeros((dim, dim))
        A[k, m] += 0.5
        A[m, k] += 0.5
        yield k, m, A


def _moduli(stiffness: FloatArray, affine: FloatArray, stress: FloatArray, packing: Packing, residual: float) -> Moduli:
    dim, pressure = packing.dim, float(np.trace(stress)) / packing.dim
    pairs = list(combinations(range(dim), 2))
    bulk, shear = _isotropic(stiffness)
    bulk_affine, shear_affine = _isotropic(affine)
    # Simple shear is a strain of gamma/2 and a turn by gamma/2, which brings stress of one axis to the other.
    simple = [stiffness[i, j, i, j] + (stress[i, i] - stress[j, j]) / 2 for i, j in pairs]
    pure = [(stiffness[i, i, i, i] - stiffness[i, i, j, j] - stiffness[j, j, i, i] + stiffness[j, j, j, j]) / 4 for i, j in pairs]
    return Moduli(
        stiffness=stiffness,
        bulk=bulk,
        bulk_grown=bulk + (packing.law.alpha - dim) / dim * pressure,
        shear=shear,
        shear_simple=np.array(simple),
        shear_pure=np.array(pure),
        shear_affine=shear_affine,
        bulk_affine=bulk_affine,
        pressure=pressure,
        residual=residual,
    )


def _isotropic(stiffness: FloatArray) -> tuple[float, float]:
    """B and G of the isotropic material nearest to C: B = C_iijj/d^2, G = (C_ijij - C_iijj/d) / ((d - 1)(d + 2))."""
    dim = len(stiffness)
    trace, double = np.einsum("iijj->", stiffness), np.einsum("ijij->", stiffness)
    return float(trace) / dim**2, float(double - trace / dim) / ((dim - 1) * (dim + 2))
