"""Bounded rows of machines: which motors and limits are inside of their bounds, and what their impulses are.

The impulses lam of the rows of a machine solve a small linear problem with bounds: W lam = c for those inside, W lam - c >= 0 for those at
their lower bound, <= 0 at the upper one, with c what the row velocities lack. The set of those inside is followed by exchanging the row
that is most wrong until none is; it starts from the last one, which is right as a rule.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import device
from .groups import AT_HIGH, AT_LOW, INSIDE

EXCHANGES = 8  # for each row: more are a cycle, and what is found then is near enough
CLOSE = 1e-12  # of the scale of a row: rounding that is no reason to exchange


@device
def solve_inside(drives, m, lack, status, impulse):
    """Impulses of the rows of machine m for a given status: bounds for those at one, W lam = lack for the others."""
    first, count = drives.first[m], drives.first[m + 1] - drives.first[m]
    work, weight = drives.work, drives.weight
    for i in range(count):
        k = first + i
        if status[k] == AT_LOW:
            impulse[k] = drives.bounds[k, 0]
        elif status[k] == AT_HIGH:
            impulse[k] = drives.bounds[k, 1]
    for i in range(count):
        if status[first + i] != INSIDE:
            continue
        value = lack[first + i]
        for j in range(count):
            if status[first + j] != INSIDE:
                value -= weight[first + i, j] * impulse[first + j]
        work[0, i] = value
    factorise_inside(drives, m, status)
    solve_factored(drives, m, status)
    for i in range(count):
        if status[first + i] == INSIDE:
            impulse[first + i] = work[0, i]


@device
def factorise_inside(drives, m, status):
    """Cholesky factor of the part of W whose rows are inside, into rows 4 on of the room to work in."""
    first, count = drives.first[m], drives.first[m + 1] - drives.first[m]
    work, weight = drives.work, drives.weight
    for i in range(count):
        if status[first + i] != INSIDE:
            continue
        for j in range(i + 1):
            if status[first + j] != INSIDE:
                continue
            value = weight[first + i, j]
            for k in range(j):
                if status[first + k] == INSIDE:
                    value -= work[4 + i, k] * work[4 + j, k]
            work[4 + i, j] = math.sqrt(value) if i == j else value / work[4 + j, j]


@device
def solve_factored(drives, m, status):
    """Solve for the right side in row 0 of the room to work in, in place."""
    first, count = drives.first[m], drives.first[m + 1] - drives.first[m]
    work = drives.work
    for i in range(count):
        if status[first + i] == INSIDE:
            for k in range(i):
                if status[first + k] == INSIDE:
                    work[0, i] -= work[4 + i, k] * work[0, k]
            work[0, i] /= work[4 + i, i]
    for i in range(count - 1, -1, -1):
        if status[first + i] == INSIDE:
            for k in range(i + 1, count):
                if status[first + k] == INSIDE:
                    work[0, i] -= work[4 + k, i] * work[0, k]
            work[0, i] /= work[4 + i, i]


@device
def settle(drives, m, lack, status, impulse):
    """The status and the impulses of the rows of machine m that solve the problem; ``lack`` (B,) is what the row velocities lack."""
    first, count = drives.first[m], drives.first[m + 1] - drives.first[m]
    weight, bounds = drives.weight, drives.bounds
    for _ in range(EXCHANGES * count + 1):
        solve_inside(drives, m, lack, status, impulse)
        worst, which, becomes = 0.0, -1, 0
        for i in range(count):
            k = first + i
            if bounds[k, 0] == bounds[k, 1]:  # a given force
                continue
            if status[k] == INSIDE:
                below, above = bounds[k, 0] - impulse[k], impulse[k] - bounds[k, 1]
                beyond = max(below, above) * weight[k, i]
                new = AT_LOW if below > above else AT_HIGH
                scale = abs(impulse[k]) * weight[k, i]
            else:
                beyond, scale = -lack[k], abs(lack[k])
                for j in range(count):
                    beyond += weight[k, j] * impulse[first + j]
                    scale = max(scale, abs(weight[k, j] * impulse[first + j]))
                if status[k] == AT_LOW:
                    beyond = -beyond
                new = INSIDE
            if beyond > worst and beyond > CLOSE * scale:
                worst, which, becomes = beyond, k, new
        if which < 0:
            return
        status[which] = np.int32(becomes)
