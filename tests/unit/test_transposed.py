"""Packed bodies into lanes and back: the columns of their rows, and nothing else."""

from __future__ import annotations

import numpy as np

from granum._jit import kernel
from granum.nonsmooth.blocks import BODY, LANES
from granum.nonsmooth.kinds.spheres import SCRATCH, load_bodies, store_bodies


@kernel
def load(body, lane_a, lane_b, first, scratch):
    load_bodies(body, lane_a, lane_b, np.uint64(first), scratch)


@kernel
def store(body, lane_a, lane_b, first, scratch):
    store_bodies(body, lane_a, lane_b, np.uint64(first), scratch)


def problem(seed):
    """Bodies, and lanes of two blocks in which no body stands twice."""
    rng = np.random.default_rng(seed)
    bodies, lanes = rng.standard_normal((200, BODY)), rng.permutation(200)[: 4 * LANES].astype(np.int32)
    return bodies, lanes[: 2 * LANES].copy(), lanes[2 * LANES :].copy(), np.full(SCRATCH, np.nan)


def test_numbers_of_a_block_are_loaded_field_by_field():
    bodies, lane_a, lane_b, scratch = problem(1)
    load(bodies.ravel(), lane_a, lane_b, LANES, scratch)
    fields = scratch.reshape(-1, LANES)
    np.testing.assert_array_equal(fields[:BODY], bodies[lane_a[LANES:]].T)
    np.testing.assert_array_equal(fields[BODY : 2 * BODY], bodies[lane_b[LANES:]].T)
    assert np.isnan(fields[2 * BODY :]).all()


def test_what_is_stored_is_what_was_loaded_and_changed():
    bodies, lane_a, lane_b, scratch = problem(2)
    flat = bodies.ravel().copy()
    load(flat, lane_a, lane_b, 0, scratch)
    scratch[: 2 * BODY * LANES] += 1.0
    store(flat, lane_a, lane_b, 0, scratch)
    expected = bodies.copy()
    expected[lane_a[:LANES]] += 1.0
    expected[lane_b[:LANES]] += 1.0
    np.testing.assert_array_equal(flat.reshape(-1, BODY), expected)
