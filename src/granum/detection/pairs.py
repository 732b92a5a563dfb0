"""Pairs: the grains that may touch before the neighbour list is made anew."""

from __future__ import annotations

import numpy as np

from .._jit import kernel
from ..array_types import BoolArray, FloatArray, IntArray
from ..parallel.barrier import add_up, largest_of, share, wait
from ..parallel.crew import Crew
from .cells import Cells, cell_index, spread
from .images import IMAGES, image_step, nearest, reaches_in


def who_searches(cells: Cells) -> BoolArray:
    """(L, L): grains of level l look for partners in the cells of level m. Of two levels the one with less work looks."""
    levels = len(cells.width)
    looks = np.eye(levels, dtype=bool)
    for fine in range(levels):
        for coarse in range(fine + 1, levels):
            from_fine = cells.members[fine] * 27.0
            across = (cells.reach[fine] + cells.reach[coarse]) * 2 / cells.width[fine] + 1
            from_coarse = cells.members[coarse] * across * across * across
            looks[(fine, coarse) if from_fine < from_coarse else (coarse, fine)] = True
    return looks


@kernel
def find_candidates(
    crew: Crew,
    position: FloatArray,
    reach: FloatArray,
    cells: Cells,
    looks: BoolArray,
    period: FloatArray | None,
    x: FloatArray,
    found_here: IntArray,
    candidate_first: IntArray,
    candidate: IntArray,
) -> int:
    """Candidates of rank k are ``candidate[candidate_first[k] : candidate_first[k + 1]]``, as ranks; every pair once.

    Returns how many there must be room for in ``candidate``: if that is more than there is, the list is not whole. ``x`` (N, 4) and
    ``found_here``, as long as ``candidate``, are room to work in: each thread fills its part of it, and then moves it to its place.
    In a cell (``period``) positions lie inside it, and two reaches together are no longer than half of it: so a pair meets in one image.
    """
    thread, threads, barrier = crew
    order, level, width, level_reach = cells.order, cells.level, cells.width, cells.reach
    table, start, filed, code, origin = cells.table, cells.start, cells.filed, cells.code, cells.origin
    count, levels = len(order), len(width)
    low, high = share(count, thread, threads)
    begin, end = share(len(candidate), thread, threads)
    for k in range(low, high):  # in Morton order: neighbours in space are neighbours in memory
        g = order[k]
        x[k, 0], x[k, 1], x[k, 2] = position[g, 0], position[g, 1], position[g, 2]
        x[k, 3] = reach[g]
    wait(barrier, threads)
    ox, oy, oz = origin[0], origin[1], origin[2]
    found, images = np.int64(0), 1
    if period is not None:
        images = IMAGES
        furthest = level_reach.max()
    for n in range((high - low) * images):
        k, image = low + n // images, n % images
        if image == 0:
            candidate_first[k] = found
        xk, yk, zk, rk, lk = x[k, 0], x[k, 1], x[k, 2], x[k, 3], level[k]
        if period is not None:
            sx, sy, sz = image_step(image, 0), image_step(image, 1), image_step(image, 2)
            far = rk + furthest
            if not (
                reaches_in(xk, far, sx, period[0, 0]) and reaches_in(yk, far, sy, period[0, 1]) and reaches_in(zk, far, sz, period[0, 2])
            ):
                continue
            xk, yk, zk = xk + sx * period[0, 0], yk + sy * period[0, 1], zk + sz * period[0, 2]
        for m in range(levels):
            # Of two images of a pair on one level the one ahead is looked for.
            if not looks[lk, m] or (m == lk and image > IMAGES // 2):
                continue
            same = m == lk and image == 0
            far = rk + level_reach[m]
            scale = 1.0 / width[m]
            base, mask = table[m, 0], table[m, 1]
            x0, x1 = cell_index(xk - far, ox, scale), cell_index(xk + far, ox, scale)
            y0, y1 = cell_index(yk - far, oy, scale), cell_index(yk + far, oy, scale)
            z0, z1 = cell_index(zk - far, oz, scale), cell_index(zk + far, oz, scale)
            cx, cy, cz = cell_index(xk, ox, scale), cell_index(yk, oy, scale), cell_index(zk, oz, scale)
            # On its own level a grain looks ahead only: of two neighbouring cells one is ahead of the other.
            for iz in range(cz if same else z0, z1 + 1):
                code_z = spread(iz) << 2
                in_z = same and iz == cz
                for iy in range(cy if in_z else y0, y1 + 1):
                    code_yz = code_z | spread(iy) << 1
                    in_yz = in_z and iy == cy
                    for ix in range(cx if in_yz else x0, x1 + 1):
                        c = code_yz | spread(ix)
                        e = base + (c & mask)
                        own = in_yz and ix == cx
                        for p in range(start[e], start[e + 1]):
                            j = filed[p]
                            if code[p] != c or (own and j <= k):
                                continue
                            dx, dy, dz = x[j, 0] - xk, x[j, 1] - yk, x[j, 2] - zk
                            near = rk + x[j, 3]
                            if dx * dx + dy * dy + dz * dz < near * near:
                                if begin + found < end:
                                    found_here[begin + found] = j
                                found += 1
    before, total = add_up(barrier, thread, threads, found)
    most = largest_of(barrier, thread, threads, found)
    if most > len(candidate) // threads:
        return max(total, most * threads)
    for k in range(low, high):
        candidate_first[k] += before
    if thread == 0:
        candidate_first[count] = total
    for p in range(found):
        candidate[before + p] = found_here[begin + p]
    wait(barrier, threads)
    return total


@kernel
def append_near(
    position: FloatArray,
    reach: FloatArray,
    order: IntArray,
    known: int,
    cells: Cells,
    candidate_first: IntArray,
    candidate: IntArray,
) -> int:
    """As `append_candidates`, in the same order, looking for the ranks of the last whole list in its cells only."""
    width, level_reach, table, origin = cells.width, cells.reach, cells.table, cells.origin
    start, filed, code = cells.start, cells.filed, cells.code
    found, room, listed = candidate_first[known], len(candidate), len(filed)
    near, later, late = np.empty(listed, np.int32), np.empty(len(order) - listed, np.int32), 0
    for k in range(listed, known):
        if order[k] >= 0:
            later[late] = k
            late += 1
    for k in range(known, len(order)):
        candidate_first[k] = found
        i = order[k]
        x, y, z = position[i, 0], position[i, 1], position[i, 2]
        count = 0
        for m in range(len(width)):
            far, scale = reach[i] + level_reach[m], 1.0 / width[m]
            x0, x1 = cell_index(x - far, origin[0], scale), cell_index(x + far, origin[0], scale)
            y0, y1 = cell_index(y - far, origin[1], scale), cell_index(y + far, origin[1], scale)
            z0, z1 = cell_index(z - far, origin[2], scale), cell_index(z + far, origin[2], scale)
            if float(x1 - x0 + 1) * float(y1 - y0 + 1) * float(z1 - z0 + 1) > listed:  # more cells than grains; too many for an integer
                count = -1
                break
            for iz in range(z0, z1 + 1):
                for iy in range(y0, y1 + 1):
                    for ix in range(x0, x1 + 1):
                        c = spread(iz) << 2 | spread(iy) << 1 | spread(ix)
                        e = table[m, 0] + (c & table[m, 1])
                        for p in range(start[e], start[e + 1]):
                            if code[p] == c:
                                near[count] = filed[p]
                                count += 1
        some = np.sort(near[:count]) if count >= 0 else np.arange(listed).astype(np.int32)
        for n in range(len(some) + late):
            rank = np.int64(some[n]) if n < len(some) else np.int64(later[n - len(some)])
            j = order[rank]
            if j < 0:
                continue
            dx, dy, dz = position[j, 0] - x, position[j, 1] - y, position[j, 2] - z
            both = reach[i] + reach[j]
            if dx * dx + dy * dy + dz * dz < both * both:
                if found < room:
                    candidate[found] = rank
                found += 1
        later[late] = k
        late += 1
    candidate_first[len(order)] = found
    return found


@kernel
def append_candidates(
    position: FloatArray,
    reach: FloatArray,
    order: IntArray,
    known: int,
    period: FloatArray | None,
    candidate_first: IntArray,
    candidate: IntArray,
) -> int:
    """Candidates of the ranks from ``known`` on, each among all ranks before it; returns how many there are in all."""
    found, room = candidate_first[known], len(candidate)
    for k in range(known, len(order)):
        candidate_first[k] = found
        i = order[k]
        for m in range(k):
            j = order[m]
            if j < 0:
                continue
            dx, dy, dz = position[j, 0] - position[i, 0], position[j, 1] - position[i, 1], position[j, 2] - position[i, 2]
            if period is not None:
                dx, dy, dz = nearest(dx, period, 0), nearest(dy, period, 1), nearest(dz, period, 2)
            near = reach[i] + reach[j]
            if dx * dx + dy * dy + dz * dz < near * near:
                if found < room:
                    candidate[found] = m
                found += 1
    candidate_first[len(order)] = found
    return found
