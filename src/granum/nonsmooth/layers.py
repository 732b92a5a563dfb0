"""Layers across the load: where the amplitudes of the coarse problem (``coarse.py``) stand."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .._jit import kernel
from ..array_types import FloatArray, IntArray
from ..kernel_groups import group
from .blocks import ARM, BODY, INV_MASS, INV_RADIUS, LANES, NX, NY, NZ, PN, PX, at
from .groups import ContactBlocks, Found, Packed

SEED = 1e-6  # of the load on a contact: what its normal impulse begins with at least, in chains
CHAIN = 1.5  # contacts per body: with fewer it is chains of grains, in which equal impulses are in balance and each contact is needed


@group
class Layers(NamedTuple):
    """Which layers bodies and contacts are in."""

    base: IntArray
    """(yielding slots,) first layer that contacts of a body can be in"""
    layer: IntArray
    """(lanes in colours,) of each contact; -1: of none"""
    part: FloatArray
    """(lanes in colours,) place in the layer, 0 to 1"""


@kernel
def layers_along_load(
    packed: Packed,
    blocks: ContactBlocks,
    found: Found,
    wanted: int,
    height: FloatArray,  # (yielding slots,) room to work in
    layers: Layers,
) -> tuple[int, bool, bool]:
    """Lay layers across the load; returns their number, whether there were impulses before, and whether there are now.

    Found are the first layer that contacts of a body can be in, and the layer and place in it (0 to 1) of each contact lane.
    Lanes without a contact of spheres get layer -1. The load is the momentum that the bodies would have without contacts. Heights along
    it follow from contact to contact, each group of touching bodies starting at zero. ``wanted`` layers (0: one for every three diameters
    of the largest grain); none is thinner than that grain. In chains every contact gets a small impulse at least: something to scale.
    """
    slot_a, slot_b, place = found.slot_a, found.slot_b, found.place
    body, data, fields, serial_start = packed.body, blocks.data, blocks.fields, blocks.serial_start
    grains, yielding = packed.first_full, packed.yielding
    base, layer, part = layers
    load = np.zeros(3)
    for i in range(yielding):
        o = i * BODY
        if body[o + INV_MASS] > 0.0:
            for f in range(3):
                load[f] += body[o + f] / body[o + INV_MASS]
    contacts = len(slot_a)
    head = np.full(yielding, -1, np.int32)
    link = np.empty(2 * contacts, np.int32)
    seen = np.ones(yielding, np.bool_)  # nobody need look at bodies without contacts
    for c in range(contacts):
        p = np.int64(place[c])
        a, b = slot_a[c], slot_b[c]
        d = at(p, fields)
        if b >= yielding or body[b * BODY + INV_MASS] == 0.0 or body[a * BODY + INV_MASS] == 0.0:
            sign = 1.0 if b >= yielding or body[b * BODY + INV_MASS] == 0.0 else -1.0
            for f in range(3):
                load[f] += sign * (data[d + PN * LANES] * data[d + (NX + f) * LANES] + data[d + (PX + f) * LANES])
        seen[a] = False
        if b < yielding:
            seen[b] = False
        if p < serial_start and b < yielding:
            link[2 * c], head[a] = head[a], 2 * c
            link[2 * c + 1], head[b] = head[b], 2 * c + 1
    length = math.sqrt(load[0] ** 2 + load[1] ** 2 + load[2] ** 2)
    ex, ey, ez = (load[0] / length, load[1] / length, load[2] / length) if length > 0.0 else (0.0, 0.0, 1.0)

    queue = np.empty(yielding, np.int32)
    largest, top, touched = 0.0, 0.0, 0
    for start in range(grains):  # bodies with full inertia have no radius, and lie in no layer
        if seen[start]:
            continue
        seen[start], queue[0], height[start] = True, start, 0.0
        first, last, lowest, highest = 0, 1, np.inf, -np.inf
        while first < last:
            here = np.int64(queue[first])
            first += 1
            r = 1.0 / body[here * BODY + INV_RADIUS]
            largest, lowest, highest = max(largest, r), min(lowest, height[here] - r), max(highest, height[here] + r)
            end = np.int64(head[here])
            while end >= 0:
                contact = end // 2
                other = np.int64(slot_b[contact] if end % 2 == 0 else slot_a[contact])
                if not seen[other]:
                    p = np.int64(place[contact])
                    d = at(p, fields)
                    along = ex * data[d + NX * LANES] + ey * data[d + NY * LANES] + ez * data[d + NZ * LANES]
                    step = along * data[d + ARM * LANES] * (r + 1.0 / body[other * BODY + INV_RADIUS])
                    seen[other], queue[last], height[other] = True, other, height[here] + (step if end % 2 == 0 else -step)
                    last += 1
                end = np.int64(link[end])
        touched += last
        for q in range(last):
            height[queue[q]] -= lowest
        top = max(top, highest - lowest)

    thinnest = 2.0001 * largest
    count = 1
    if top > 0.0:
        count = max(1, min(wanted if wanted > 0 else math.ceil(top / (6.0 * largest)), int(top / thinnest)))
    width = max(top / count, thinnest)
    for i in range(grains):
        r = 1.0 / body[i * BODY + INV_RADIUS]
        base[i] = max(0, min(int((height[i] - 1.00001 * r) / width), count - 1))
    layer[:] = -1
    warm = False
    seed = SEED * length / max(1, contacts) if contacts <= CHAIN * touched else 0.0
    for c in range(contacts):
        p = np.int64(place[c])
        if p >= serial_start:
            continue
        a, b = np.int64(slot_a[c]), np.int64(slot_b[c])
        d = at(p, fields)
        along = ex * data[d + NX * LANES] + ey * data[d + NY * LANES] + ez * data[d + NZ * LANES]
        s = (height[a] + along * data[d + ARM * LANES] / body[a * BODY + INV_RADIUS]) / width
        k = max(0, min(int(s), count - 1))
        if 0 <= k - base[a] <= 1 and (b >= yielding or 0 <= k - base[b] <= 1):
            layer[p], part[p] = k, min(max(s - k, 0.0), 1.0)
            lack = seed - data[d + PN * LANES]
            if lack > 0.0:
                data[d + PN * LANES] = seed
                for f in range(3):
                    change = lack * data[d + (NX + f) * LANES]
                    body[a * BODY + f] -= body[a * BODY + INV_MASS] * change
                    body[b * BODY + f] += body[b * BODY + INV_MASS] * change
            elif data[d + PN * LANES] > seed:
                warm = True
    return count, warm, warm or seed > 0.0
