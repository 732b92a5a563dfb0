"""Predicted contacts: pairs and walls whose gap the next step can close are contacts before they touch (physics 13).

A gap can be closed by the speed at which the two approach, and by what gravity adds in one step. Two grains that pass each other fast are
followed along their straight way: their contact has the normal of the moment at which they meet, and a gap along that normal, such that the
gap over the approach speed is the time of the meeting.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .._jit import device
from ..kernel_groups import group

FAST = 0.25  # of the sum of two radii: pairs whose way in a step is longer are followed along it
TOWARDS = 0.01  # of its speed: a grain that comes nearer at less than this slides along
NOT_NOW = 1e6  # of the radius: the gap of a contact that this step does not close, since its grain meets another before
LEAST = 1e-4  # of the sum of two radii: a gap that is always looked at, as contact forces accelerate grains where nothing falls


@group
class Ahead(NamedTuple):
    """What the contacts of the next step may do before it ends."""

    step: float
    """[s] the step: a collision that it does not bring about is no contact."""
    time: float
    """[s] over which slow approaches are followed: the step, or a multiple of it."""
    fall: float
    """[m] by which gravity can close a gap in that time, from rest."""
    impact: float
    """[m/s] approaches that are faster are collisions."""

    @classmethod
    def of(cls, h: float, prediction: float, pull: float, impact: float) -> Ahead:
        """In a step of ``h`` [s] that looks ``prediction`` steps ahead, under a gravity of ``pull`` [m/s^2]."""
        time = prediction * h
        return cls(h, time, pull * time * h, impact) if time > 0.0 else NOTHING_AHEAD


NOTHING_AHEAD = Ahead(0.0, 0.0, 0.0, 0.0)
"""Contacts exist only while grains overlap."""


@device
def closes(d, distance, near, u, ahead):
    """Whether two spheres that are apart meet in the step: (yes or no, normal, minus the gap along it [m]).

    They are ``distance`` apart along d and touch at ``near``; u is the velocity of the second against the first.
    """
    dx, dy, dz = d
    ux, uy, uz = u
    step, time, fall, impact = ahead
    gap = distance - near
    rate = (dx * ux + dy * uy + dz * uz) / distance
    square = ux * ux + uy * uy + uz * uz
    if -rate > impact or square * step * step > FAST * FAST * near * near:
        along = rate * distance
        under = along * along - square * (distance * distance - near * near)
        if along < 0.0 and under > 0.0:
            meeting = (distance * distance - near * near) / (math.sqrt(under) - along)
            if meeting <= step:
                nx, ny, nz = (dx + meeting * ux) / near, (dy + meeting * uy) / near, (dz + meeting * uz) / near
                speed = ux * nx + uy * ny + uz * nz
                if -speed > impact:
                    return True, nx, ny, nz, speed * meeting
        rate = 0.0  # they pass each other, or touch in passing
    reach = max(fall, LEAST * near)
    return gap < reach - min(0.0, rate) * time, dx / distance, dy / distance, dz / distance, -gap


@device
def margin(vx, vy, vz, r, time, fall):
    """How far beyond its surface a grain looks for partners [m]."""
    return math.sqrt(vx * vx + vy * vy + vz * vz) * time + max(0.5 * fall, LEAST * r)


@device
def approach(bodies, wall_body, body):
    """Velocity of a wall against a grain, at the grain's centre [m/s]."""
    position, velocity, spin = bodies.position, bodies.velocity, bodies.spin
    dx, dy = position[body, 0] - position[wall_body, 0], position[body, 1] - position[wall_body, 1]
    dz = position[body, 2] - position[wall_body, 2]
    wx, wy, wz = spin[wall_body, 0], spin[wall_body, 1], spin[wall_body, 2]
    return (
        velocity[wall_body, 0] + wy * dz - wz * dy - velocity[body, 0],
        velocity[wall_body, 1] + wz * dx - wx * dz - velocity[body, 1],
        velocity[wall_body, 2] + wx * dy - wy * dx - velocity[body, 2],
    )


@device
def meeting_time(c, contacts, bodies, grains, frame, ahead):
    """When a fast pair meets [s], 0 if it touches; infinite for those that are slow or do not come nearer."""
    a, b, normal, overlap, velocity = contacts.a, contacts.b, contacts.normal, contacts.overlap, bodies.velocity
    i, reach = grains.first + a[c], grains.radius[a[c]]
    if b[c] >= 0:
        j = grains.first + b[c]
        ux, uy, uz = velocity[j, 0] - velocity[i, 0], velocity[j, 1] - velocity[i, 1], velocity[j, 2] - velocity[i, 2]
        reach += grains.radius[b[c]]
    else:
        ux, uy, uz = approach(bodies, frame[-1 - b[c]], i)
    rate = ux * normal[c, 0] + uy * normal[c, 1] + uz * normal[c, 2]
    square = ux * ux + uy * uy + uz * uz
    if square * ahead.step * ahead.step < (FAST * reach) ** 2 or not (rate < 0.0 and rate * rate > TOWARDS * TOWARDS * square):
        return np.inf
    return max(0.0, overlap[c] / rate)


@device
def time_meetings(low, high, contacts, bodies, grains, frame, ahead):
    """When each of the contacts from ``low`` to ``high`` meets, if its pair is fast, into ``rebound``, whose own numbers come later.

    Returns how many do.
    """
    count = 0
    for c in range(low, high):
        contacts.rebound[c] = meeting_time(c, contacts, bodies, grains, frame, ahead)
        count += contacts.rebound[c] < np.inf
    return count


@device
def keep_first_meetings(total, contacts, radius, soonest):
    """Of all that a fast grain would meet on its way in this step only the first counts: after it the way is another.

    ``rebound`` of the first ``total`` contacts holds when they meet [s]; ``soonest`` (N,), infinite, is room to work in.
    """
    a, b, overlap, time = contacts.a, contacts.b, contacts.overlap, contacts.rebound
    for c in range(total):
        if time[c] < np.inf:
            soonest[a[c]] = min(soonest[a[c]], time[c])
            if b[c] >= 0:
                soonest[b[c]] = min(soonest[b[c]], time[c])
    for c in range(total):
        if time[c] < np.inf:
            before = soonest[a[c]] if b[c] < 0 else min(soonest[a[c]], soonest[b[c]])
            if time[c] > before * (1.0 + 1e-9):
                overlap[c] = -NOT_NOW * radius[a[c]]
