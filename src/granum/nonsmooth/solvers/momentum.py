"""Momentum: how far a sweep is extrapolated, and when the extrapolation starts anew (Nesterov's, with restarts).

The state is a handful of numbers in an array, so that every thread keeps its own and comes to the same decisions.
"""

from __future__ import annotations

import math

import numpy as np

from ..._jit import device

LARGEST_MOMENTUM = 0.95  # without a cap the extrapolation diverges late in a solve
GROWTH_RESTART = 1.5  # restart when the squared step grows by this
WINDOW = 20  # sweeps: without headway from one window to the next, plain sweeps follow, longer each time

THETA, LAST_SQUARE, IN_WINDOW, LAST_WINDOW, REST, PLAIN_UNTIL = range(6)
STATE = 6


@device
def begin(state):
    """Before the first sweep."""
    state[THETA], state[LAST_SQUARE], state[IN_WINDOW], state[LAST_WINDOW] = 1.0, np.inf, 0.0, np.inf
    state[REST], state[PLAIN_UNTIL] = WINDOW, 0.0


@device
def next_momentum(state, sweep):
    """Part of the last change by which this sweep is extrapolated."""
    theta = state[THETA]
    new = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * theta * theta))
    if sweep < state[PLAIN_UNTIL]:
        state[THETA] = 1.0
        return 0.0
    state[THETA] = new
    return min((theta - 1.0) / new, LARGEST_MOMENTUM)


@device
def judge_step(state, sweep, ahead, square):
    """After a sweep from y to x: ``ahead`` is (x - y) D (x - x_before), ``square`` (x - y) D (x - y)."""
    if ahead < 0.0 or square > GROWTH_RESTART * state[LAST_SQUARE]:
        state[THETA] = 1.0
    state[LAST_SQUARE] = square
    state[IN_WINDOW] += square
    if (sweep + 1) % WINDOW == 0:
        if state[IN_WINDOW] >= state[LAST_WINDOW] and sweep >= state[PLAIN_UNTIL]:  # no headway: it circles around the solution
            state[PLAIN_UNTIL] = sweep + 1 + state[REST]
            state[REST] *= 2
        state[LAST_WINDOW] = state[IN_WINDOW]
        state[IN_WINDOW] = 0.0
