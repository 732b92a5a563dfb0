"""The model of threads: work, span and times of graphs whose numbers are known."""

from __future__ import annotations

import numpy as np
import pytest

from granum.analysis.parallel_model import THREADS, ColourGraph, SweepCost, ZoneGraph, longest_chain, time_in_order
from granum.checks import InputError

FREE = SweepCost(block=1.0, contact=1.0, barrier=0.0)


def colours(*blocks, singles=(), left_over=0, few=4):
    return ColourGraph(np.array(blocks), np.array(singles, int), left_over, few)


def test_time_of_a_sweep_is_the_formula():
    graph = colours(10, 7, 3, 2, singles=(5,), left_over=2)
    cost = SweepCost(block=2.0, contact=0.5, barrier=0.25, bodies=8.0, sums=0.125)
    assert graph.work == 22
    assert graph.span == 1 + 1 + 3 + 2
    assert graph.barriers == 3 + 1 + 1  # none between the two small colours
    assert graph.seconds(cost, 1) == 22 * 2.0 + 7 * 0.5 + 8.0 + 0.125
    # p = 4: 3 + 2 rounds, 5 blocks alone, 2 rounds and 2 contacts one by one; a barrier costs 0.25 * 4 / 2, one more with momentum
    assert graph.seconds(cost, 4) == 10 * 2.0 + 4 * 0.5 + 8.0 / 4 + 6 * 0.5 + 0.125
    assert graph.speed_up(cost, 1) == 1.0


def test_speed_up_is_bounded_by_threads_and_by_work_over_span():
    graph = colours(1000, 900, 40, 5, 1)
    previous = 1.0
    for p in THREADS:
        s = graph.speed_up(FREE, p)
        assert previous <= s <= min(p, graph.limit(FREE))
        previous = s
    assert graph.speed_up(FREE, 1000) == graph.limit(FREE) == 1946 / 5
    # Barriers make the curve turn down: at 128 threads they cost 64 times as much as at 2.
    dear = SweepCost(block=1.0, contact=1.0, barrier=10.0)
    assert graph.speed_up(dear, 128) < graph.speed_up(dear, 8)


def test_contacts_fall_into_interior_faces_edges_and_corners():
    position = np.array([[0.2, 0.2, 0.2], [0.8, 0.2, 0.2], [1.2, 0.2, 0.2], [1.2, 1.2, 0.2], [0.8, 1.2, 1.2], [1.2, 0.8, 0.8]])
    a, b = np.array([0, 1, 2, 3, 4, 1, 5]), np.array([1, 2, 3, 4, 5, 3, -1])
    zones = ZoneGraph.of(position, a, b, 1.0)
    # 0-1 and the wall contact of 5 are interior; 1-2 is an x face, 2-3 a y face, 3-4 and 1-3 are edges, 4-5 a corner.
    assert zones.counts == {"interior": 2, "face": 2, "edge": 2, "corner": 1}
    assert zones.work == 7
    # In order: cell (0,0,0), cell (1,0,0), face x, face y, edge xy, edge xz, corner. The longest chain is all but the second cell.
    assert zones.span == 6


def test_zones_that_do_not_wait_for_each_other_share_no_body():
    rng = np.random.default_rng(3)
    position = rng.random((120, 3)) * 5
    a, b = rng.integers(0, 120, (2, 400))
    near = (np.linalg.norm(position[a] - position[b], axis=1) < 2) & (a != b)
    a, b = a[near], b[near]
    zones = ZoneGraph.of(position, a, b, 1.5)
    cell = np.floor(position / 1.5).astype(int)
    names = []
    for i, j in zip(cell[a], cell[b], strict=True):
        names.append((int((i != j).sum()), int((i != j) @ [1, 2, 4]), *np.minimum(i, j)))
    order = sorted(set(names))
    bodies = [{x for pair, name in zip(zip(a, b, strict=True), names, strict=True) if name == zone for x in pair} for zone in order]
    assert len(order) == len(zones.contacts)
    for z in range(len(order)):
        waits = set(zones.before[zones.first[z] : zones.first[z + 1]])
        assert waits == {y for y in range(z) if bodies[y] & bodies[z]}
    assert zones.work == len(a)


def test_tasks_in_order():
    nobody, none = np.zeros(7, np.int32), np.zeros(0, np.int32)
    cost = np.array([3.0, 1.0, 4.0, 1.0, 5.0, 2.0])
    in_a_row = np.arange(-1, 6, dtype=np.int32).clip(0), np.arange(5, dtype=np.int32)
    assert time_in_order(nobody, none, cost, 1) == longest_chain(*in_a_row, cost) == 16.0
    assert longest_chain(nobody, none, cost) == time_in_order(nobody, none, cost, 6) == 5.0
    # Two threads: the first does 3, 1 and 5 until 9, the other 1, 4 and 2 until 7.
    assert time_in_order(nobody, none, cost, 2) == 9.0


def test_zones_scale_up_to_work_over_span():
    rng = np.random.default_rng(4)
    position = rng.random((2000, 3)) * 12
    a, b = np.triu_indices(len(position), 1)
    near = np.linalg.norm(position[a] - position[b], axis=1) < 1
    zones = ZoneGraph.of(position, a[near], b[near], 3.0)
    for p in THREADS:
        assert zones.seconds(FREE, p) >= max(zones.span, zones.work / p)
    assert zones.seconds(FREE, 1) == zones.work
    assert zones.seconds(FREE, 4096) == zones.span
    # More zones than threads: each hand-over is paid for.
    handed = SweepCost(block=1.0, contact=1.0, barrier=1.0)
    assert zones.seconds(handed, 2) >= (zones.work + len(zones.contacts)) / 2


@pytest.mark.parametrize("threads", [0, -1])
def test_threads_below_one_are_refused(threads):
    with pytest.raises(InputError, match="threads"):
        colours(1).seconds(FREE, threads)
    with pytest.raises(InputError, match="threads"):
        ZoneGraph.of(np.zeros((2, 3)), np.array([0]), np.array([1]), 1.0).seconds(FREE, threads)


@pytest.mark.parametrize("width", [0.0, -1.0, np.nan, np.inf])
def test_cell_without_width_is_refused(width):
    with pytest.raises(InputError, match="width"):
        ZoneGraph.of(np.zeros((2, 3)), np.array([0]), np.array([1]), width)
