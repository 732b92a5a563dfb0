"""Assembly: materials, overlaps and velocities into the numbers of the contact problem (physics 2-3).

In physical impulses (p_n = s lambda_n) the factor s of the law disappears from all rows but for the softness C_n = Sigma_n / s^2:
the target is b = (4/h) Ups delta / e_H + Ups n.u, and a contact at rest carries p_n = h k delta^(2 e_H - 1), whatever h is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import device
from ..contact.law import contact_stiffness, overlap_under, response
from ..kernel_groups import group
from ..parallel.barrier import add_up, share, wait
from .blocks import (
    ARM,
    BODY,
    INV_DN,
    INV_DR,
    INV_DT,
    INV_MASS,
    INV_RADIUS,
    LANES,
    MU,
    MU_R,
    NX,
    RX,
    SOFTNESS,
    TARGET,
    at,
    clear_lanes,
    fetch_next,
)
from .kinds.contact import listed, separation_speed
from .kinds.full import lever_weights, softnesses
from .place import place_bodies, place_levers, place_walls
from .slots import pack_bodies

TOUCH = 1e-5  # of R*: the overlap at which a contact counts as closed
SETTLED = 0.001  # of the speed of an impact: the stabilisation's push that its restitution can bear


@device
def collides(gap_rate, met, c, step):
    """Whether contact c approaches faster than v_imp and closes in this step; one that carried a load in the last step must be faster by
    ``step.left_over`` [m/s]."""
    threshold = step.impact_velocity + step.left_over if met.impulse[c, 0] > 0.0 else step.impact_velocity
    return gap_rate < -threshold and met.overlap[c] - gap_rate * step.h > 0.0


@device
def assemble_share(low, high, problem, met, bodies, walls, pairs, step):
    """The rows of some contacts; returns how many impact. By itself, as next to barriers it is compiled to code of half the speed."""
    packed, blocks, levers, found = problem
    impacts = 0
    body, data, fields, soft = packed.body, blocks.data, blocks.fields, blocks.soft_t
    rolling = fields > RX
    for c in range(low, high):
        p, o = np.int64(found.slot_a[c]), np.int64(found.slot_b[c])
        d = at(found.place[c], fields)
        fetch_next(blocks, found.place[c], 0, fields)
        a, b, overlap = met.a[c], met.b[c], met.overlap[c]
        n = met.normal[c, 0], met.normal[c, 1], met.normal[c, 2]
        ima, imb = body[p * BODY + INV_MASS], body[o * BODY + INV_MASS]
        ira, irb = body[p * BODY + INV_RADIUS], body[o * BODY + INV_RADIUS]
        kind_a = bodies.material[a]
        q = listed(blocks, levers, found.place[c])
        if q >= 0:  # slots of bodies with full inertia know nothing of the grain that is touched
            ira = 1.0 / bodies.radius[a]
            irb = 1.0 / bodies.radius[b] if b >= 0 else 1.0
        gap_rate = separation_speed(packed, levers, p, o, n, q)
        found.gap_rate[c] = gap_rate
        hits = collides(gap_rate, met, c, step)
        if b >= 0:
            kind_b = bodies.material[b]
            radius_eff = 1.0 / (ira + irb)
            # Both lever arms meet in one point, over a gap too; who collides will touch by then.
            kappa = 1.0 if hits and overlap < 0.0 else min(2.0, 1.0 - overlap * ira * irb * radius_eff)
        else:
            kind_b = walls.material[-1 - b]
            radius_eff, kappa = 1.0 / ira, 1.0
        k = contact_stiffness(pairs.law, pairs.stiffness[kind_a, kind_b], radius_eff)
        wn = ima + imb
        wt, wr = wn * (1.0 + 2.5 * kappa * kappa), 2.5 * (ima * ira * ira + imb * irb * irb)
        soft_t, soft_r = soft, soft
        if q >= 0:
            wn, wt, wr = lever_weights(packed, levers, q, p, o, n, kappa)
            soft_t, soft_r = softnesses(packed, soft, p, o, wr, radius_eff)
        data[d + NX * LANES], data[d + (NX + 1) * LANES], data[d + (NX + 2) * LANES] = n
        data[d + ARM * LANES] = kappa
        data[d + INV_DT * LANES] = 1.0 / (wt + soft_t)
        data[d + MU * LANES] = pairs.friction[kind_a, kind_b]
        if rolling:
            data[d + INV_DR * LANES] = 1.0 / (wr + soft_r)
            data[d + MU_R * LANES] = pairs.rolling_friction[kind_a, kind_b] * radius_eff
        found.stiffness[c], found.radius_eff[c], found.weight[c] = k, radius_eff, wn
        impacts += hits
    return impacts


@device
def assemble_bodies(low, high, problem, met, walls, pairs, step):
    """The rows of some contacts between bodies; returns how many impact. Nothing but their shape resists rolling."""
    packed, blocks, levers, found = problem
    impacts = 0
    data, fields, soft = blocks.data, blocks.fields, blocks.soft_t
    for c in range(low, high):
        p, o = np.int64(found.slot_a[c]), np.int64(found.slot_b[c])
        d, q = at(found.place[c], fields), listed(blocks, levers, found.place[c])
        n = met.normal[c, 0], met.normal[c, 1], met.normal[c, 2]
        a, b = -1 - met.a[c], -1 - met.b[c]
        gap_rate = separation_speed(packed, levers, p, o, n, q)
        radius_eff = 1.0 / (walls.inverse_radius[a] + walls.inverse_radius[b])
        wn, wt, wr = lever_weights(packed, levers, q, p, o, n, 1.0)
        data[d + NX * LANES], data[d + (NX + 1) * LANES], data[d + (NX + 2) * LANES] = n
        data[d + ARM * LANES] = 1.0
        soft_t, soft_r = softnesses(packed, soft, p, o, wr, radius_eff)
        data[d + INV_DT * LANES] = 1.0 / (wt + soft_t)
        data[d + MU * LANES] = pairs.friction[walls.material[a], walls.material[b]]
        if fields > RX:
            data[d + INV_DR * LANES] = 1.0 / (wr + soft_r)
            data[d + MU_R * LANES] = 0.0
        found.stiffness[c] = contact_stiffness(pairs.law, pairs.stiffness[walls.material[a], walls.material[b]], radius_eff)
        found.radius_eff[c], found.weight[c], found.gap_rate[c] = radius_eff, wn, gap_rate
        impacts += collides(gap_rate, met, c, step)
    return impacts


@device
def assemble_rows(crew, problem, met, bodies, walls, pairs, step):
    """Bodies in their slots, motion of walls, lever arms, and everything of the rows that velocities do not change; returns how many
    contacts impact."""
    thread, threads, barrier = crew
    packed, levers = problem.packed, problem.levers
    if step.clear and thread == 0:
        clear_lanes(problem.blocks)
    if not step.packed:
        pack_bodies(thread, threads, packed, bodies)
        wait(barrier, threads)
    low, high = share(met.grain_contacts - met.pair_count, thread, threads)
    place_walls(met.pair_count + low, met.pair_count + high, problem, met, bodies, walls, step)
    first, last = share(len(met.a) - met.grain_contacts, thread, threads)
    behind, end = met.grain_contacts + first, met.grain_contacts + last
    place_bodies(behind, end, problem, met, bodies, walls, step)
    wait(barrier, threads)
    if len(levers.centre) > 0:
        low, high = share(len(levers.arm), thread, threads)
        place_levers(low, high, problem, met, bodies)
        wait(barrier, threads)
    low, high = share(met.grain_contacts, thread, threads)
    impacts = assemble_share(low, high, problem, met, bodies, walls, pairs, step)
    impacts += assemble_bodies(behind, end, problem, met, walls, pairs, step)
    return add_up(barrier, thread, threads, impacts)[1]


@group
class Aim(NamedTuple):
    """What the continuous stage is to reach."""

    damping_steps: float
    """n_s: overlaps relax over at least this many steps."""
    h: float
    """[s]"""
    late: float
    """Speed [m/s] beyond which contacts that have no past are taken to be met late; infinite: none is."""
    remeasure: bool
    """Velocities have changed since the assembly."""
    pulls: bool
    """The contact law attracts."""


@device
def aim_at_rest(low, high, problem, met, pairs, aim):
    """Targets of the continuous stage: the SPOOK constraint with the contact law's own softness.

    The softness is that of an overlap of ``TOUCH`` R* at least, as some laws have no stiffness at zero overlap, and the target such that
    the force at rest is the law's all the same. A contact that still rebounds from an impact presses as at the overlap of its last force:
    the stabilisation would push its excess overlap out with a speed that spoils the restitution. So does one that carried nothing in the
    last step and is deeper than ``aim.late`` [m/s] goes in one: it was met late. A contact with a gap may close it in this step and no
    more: nothing pushes while it stays open.
    """
    packed, blocks, levers, found = problem
    law, h, data = pairs.law, aim.h, blocks.data
    exponent = law.exponent
    overlap, rebound, impulse = met.overlap, met.rebound, met.impulse
    stiffness, radius_eff, gap_rate = found.stiffness, found.radius_eff, found.gap_rate
    tau = max(aim.damping_steps * h, law.dissipation / exponent)
    upsilon = 1.0 / (1.0 + 4.0 * tau / h)
    for c in range(low, high):
        if aim.remeasure:
            q = listed(blocks, levers, found.place[c])
            n = met.normal[c, 0], met.normal[c, 1], met.normal[c, 2]
            gap_rate[c] = separation_speed(packed, levers, np.int64(found.slot_a[c]), np.int64(found.slot_b[c]), n, q)
        delta = max(0.0, overlap[c])
        if impulse[c, 0] == 0.0 and rebound[c] == 0.0 and delta > aim.late * h:
            rebound[c] = aim.late
        if rebound[c] > 0.0 and delta > 0.0:
            at_rest = overlap_under(law, h * stiffness[c], impulse[c, 0])
            delta = min(delta, at_rest + SETTLED * rebound[c] * h * exponent / (4.0 * upsilon))
        at_rest = response(law, h * stiffness[c], 1.0, delta).push  # the law's impulse
        closed = response(law, stiffness[c], 1.0, max(delta, TOUCH * radius_eff[c])).secant
        softness = 4.0 * upsilon / (h * h * exponent * closed)
        d = at(found.place[c], blocks.fields)
        fetch_next(blocks, found.place[c], TARGET, INV_DT)
        data[d + TARGET * LANES] = softness * at_rest + upsilon * gap_rate[c] if overlap[c] >= 0.0 else overlap[c] / h
        data[d + SOFTNESS * LANES] = softness
        data[d + INV_DN * LANES] = 1.0 / (found.weight[c] + softness)


@device
def mean_square(values):
    """Mean of the squares, in a fixed order."""
    total = 0.0
    for k in range(len(values)):
        total += values[k] * values[k]
    return total / max(1, len(values))
