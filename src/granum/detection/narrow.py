"""Narrow phase of grain pairs: overlap and normal of those candidates that touch."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .._jit import device, kernel
from ..array_types import FloatArray, IntArray
from ..kernel_groups import group
from ..parallel.barrier import add_up, share, wait
from ..parallel.crew import Crew
from ..state.bodies import BodyArrays, GrainArrays
from .images import nearest
from .prediction import closes, margin

ROUNDING = 1e-12  # grains that touch but for rounding are in contact


@device
def fill_sphere(sphere, k, bodies, grains, i, time, fall):
    """Row k: 0:3 centre, 3 radius [m], 4:7 velocity [m/s], 7 how far beyond the surface partners are looked for [m], of grain i."""
    position, velocity, body, r = bodies.position, bodies.velocity, grains.first + i, grains.radius[i]
    vx, vy, vz = velocity[body, 0], velocity[body, 1], velocity[body, 2]
    sphere[k, 0], sphere[k, 1], sphere[k, 2], sphere[k, 3] = position[body, 0], position[body, 1], position[body, 2], r
    sphere[k, 4], sphere[k, 5], sphere[k, 6] = vx, vy, vz
    sphere[k, 7] = margin(vx, vy, vz, r, time, fall) if time > 0.0 else 0.0


@group
class Candidates(NamedTuple):
    """The neighbour list, for kernels: candidates of rank k are ``candidate[candidate_first[k] : candidate_first[k + 1]]``, as ranks."""

    order: IntArray  # (R,) grain of each rank, -1: none
    candidate_first: IntArray  # (R + 1,)
    candidate: IntArray
    sphere: FloatArray  # (R, 8) centre, radius, velocity and look-out of each rank


@group
class Skins(NamedTuple):
    """How far grains may go before the neighbour list must know them anew."""

    reference: FloatArray  # (N, 3) where each was when it was listed [m]
    skin: FloatArray  # (N,) how far it may be from there [m]


@device
def gather(crew, near, bodies, grains, reference, skin, time, fall, own, left):
    """Fill ``near.sphere`` by rank; returns how many grains leave their skin within ``time`` [s], named in ``left``.

    It names no more than there is room for in ``left``, and in ``own``, which is each thread's. An empty rank is put out of everybody's
    reach.
    """
    thread, threads, barrier = crew
    order, sphere = near.order, near.sphere
    low, high = share(len(order), thread, threads)
    gone = 0
    for k in range(low, high):
        i = order[k]
        if i < 0:
            sphere[k, 0], sphere[k, 1], sphere[k, 2], sphere[k, 3] = np.inf, np.inf, np.inf, 0.0
            continue
        fill_sphere(sphere, k, bodies, grains, i, time, fall)
        dx, dy, dz = sphere[k, 0] - reference[i, 0], sphere[k, 1] - reference[i, 1], sphere[k, 2] - reference[i, 2]
        ex, ey, ez = dx + time * sphere[k, 4], dy + time * sphere[k, 5], dz + time * sphere[k, 6]
        furthest = max(dx * dx + dy * dy + dz * dz, ex * ex + ey * ey + ez * ez)
        if not furthest <= (skin[i] - 0.5 * fall) ** 2:  # a NaN is not inside
            if gone < len(own):
                own[gone] = i
            gone += 1
    before, total = add_up(barrier, thread, threads, gone)
    for k in range(min(gone, len(left) - before)):
        left[before + k] = own[k]
    wait(barrier, threads)
    return total


@kernel
def gather_sorted(
    crew: Crew,
    bodies: BodyArrays,
    grains: GrainArrays,
    near: Candidates,
    skins: Skins,
    time: float,
    fall: float,
    left: IntArray,
) -> int:
    """Fill the spheres of the neighbour list; returns how many grains leave their skin, named in ``left`` (see ``gather``)."""
    own = np.empty(len(left), np.int32)
    return gather(crew, near, bodies, grains, skins.reference, skins.skin, time, fall, own, left)


@kernel
def left_skin(
    bodies: BodyArrays,
    grains: GrainArrays,
    order: IntArray,
    skins: Skins,
    time: float,
    fall: float,
    resting: int,
    turned: FloatArray,
    shift: FloatArray,
    left: IntArray,
) -> int:
    """How many grains leave their skin within ``time`` [s], named in ``left``; the frame has ``turned`` (3, 3) and ``shift``-ed [m] since.

    Those that the body ``resting`` moves move with the frame.
    """
    position, velocity, first, reference, skin = bodies.position, bodies.velocity, grains.first, skins.reference, skins.skin
    gone = 0
    for k in range(len(order)):
        i = order[k]
        if i < 0 or grains.body[i] == resting:
            continue
        square, later = 0.0, 0.0
        for f in range(3):
            at = turned[f, 0] * reference[i, 0] + turned[f, 1] * reference[i, 1] + turned[f, 2] * reference[i, 2] + shift[f]
            square += (position[first + i, f] - at) ** 2
            later += (position[first + i, f] + time * velocity[first + i, f] - at) ** 2
        if not max(square, later) <= (skin[i] - 0.5 * fall) ** 2:  # a NaN is not inside
            if gone < len(left):
                left[gone] = i
            gone += 1
    return gone


@kernel
def fill_spheres(visit: IntArray, bodies: BodyArrays, grains: GrainArrays, near: Candidates, time: float, fall: float) -> None:
    """Spheres of the ranks that are visited."""
    for n in range(len(visit)):
        fill_sphere(near.sphere, visit[n], bodies, grains, near.order[visit[n]], time, fall)


@device
def may_push(bodies, grains, i, j):
    """Whether two grains can push each other: they are not parts of one body, and one of the bodies yields or holds merged grains."""
    own, other = grains.body[i], grains.body[j]
    if own == other:
        return False
    merged = own < grains.first or other < grains.first
    return merged or bodies.inverse_mass[own] + bodies.inverse_mass[other] > 0.0


@device
def find_pairs(crew, near, bodies, grains, visit, period, ahead, hit, out, spans):
    """Contacts of grain pairs, in Morton order of their owner a; returns how many, written only as far as there is room in ``out``.

    With ``ahead`` pairs that close their gap in the step are contacts too (see ``closes``), with minus their gap as overlap.

    ``hit`` has room for all candidates and keeps those that touch, until each thread knows where its contacts begin. With ``visit`` only
    these ranks are looked at. ``spans`` receives where the contacts of each owner stand.
    """
    thread, threads, barrier = crew
    order, candidate_first, candidate, sphere = near
    first_of, count_of = spans
    low, high = share(len(order) if visit is None else len(visit), thread, threads)
    start = candidate_first[low]
    if visit is not None:
        start = candidate_first[visit[low]] if low < high else candidate_first[0]
    found = start
    for n in range(low, high):
        k = n
        if visit is not None:
            k = visit[n]
        i = order[k]
        if i < 0:
            continue
        xk, yk, zk, rk, mk = sphere[k, 0], sphere[k, 1], sphere[k, 2], sphere[k, 3], sphere[k, 7]
        known = found
        for c in range(candidate_first[k], candidate_first[k + 1]):
            m = candidate[c]
            dx, dy, dz = sphere[m, 0] - xk, sphere[m, 1] - yk, sphere[m, 2] - zk
            if period is not None:
                dx, dy, dz = nearest(dx, period, 0), nearest(dy, period, 1), nearest(dz, period, 2)
            reach = rk + sphere[m, 3]
            far = reach + mk + sphere[m, 7]
            square = dx * dx + dy * dy + dz * dz
            if square < far * far * (1.0 + ROUNDING):
                if not square < reach * reach * (1.0 + ROUNDING):
                    ux, uy, uz = sphere[m, 4] - sphere[k, 4], sphere[m, 5] - sphere[k, 5], sphere[m, 6] - sphere[k, 6]
                    if not closes((dx, dy, dz), math.sqrt(square), reach, (ux, uy, uz), ahead)[0]:
                        continue
                if may_push(bodies, grains, i, order[m]):
                    hit[found] = m
                    found += 1
        count_of[i] = found - known
    place, total = add_up(barrier, thread, threads, np.int64(found - start))
    next_hit = start
    for n in range(low, high):
        k = n
        if visit is not None:
            k = visit[n]
        i = order[k]
        if i < 0:
            continue
        xk, yk, zk, rk = sphere[k, 0], sphere[k, 1], sphere[k, 2], sphere[k, 3]
        first_of[i] = place
        for _ in range(count_of[i]):
            m = hit[next_hit]
            next_hit += 1
            if place < len(out.a):
                dx, dy, dz = sphere[m, 0] - xk, sphere[m, 1] - yk, sphere[m, 2] - zk
                if period is not None:
                    dx, dy, dz = nearest(dx, period, 0), nearest(dy, period, 1), nearest(dz, period, 2)
                distance = math.sqrt(dx * dx + dy * dy + dz * dz)
                reach = rk + sphere[m, 3]
                out.a[place], out.b[place], out.feature[place] = i, order[m], 0
                out.overlap[place] = max(0.0, reach - distance)
                if not distance * distance < reach * reach * (1.0 + ROUNDING):
                    ux, uy, uz = sphere[m, 4] - sphere[k, 4], sphere[m, 5] - sphere[k, 5], sphere[m, 6] - sphere[k, 6]
                    _, nx, ny, nz, gap = closes((dx, dy, dz), distance, reach, (ux, uy, uz), ahead)
                    out.normal[place, 0], out.normal[place, 1], out.normal[place, 2], out.overlap[place] = nx, ny, nz, gap
                elif distance > 0.0:
                    f = 1.0 / distance
                    out.normal[place, 0], out.normal[place, 1], out.normal[place, 2] = dx * f, dy * f, dz * f
                else:  # concentric: any direction will do, but always the same
                    out.normal[place, 0], out.normal[place, 1], out.normal[place, 2] = 0.0, 0.0, 1.0
            place += 1
    wait(barrier, threads)
    return total
