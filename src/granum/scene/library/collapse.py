"""A cube of grains whose front wall is lifted (MR section 4)."""

from __future__ import annotations

import math

import numpy as np

from ..._jit import FloatArray
from ...checks import InputError, finite_positive
from ...contact import LinearContact, MaterialPair
from ..bodies import Body, Motion
from ..grains import Grains
from ..scene import Gravity, Scene
from ..shapes import Box, Plane
from .column import GRAVITY
from .materials import changed, pellet
from .sites import LANDING, SPACING, gentle_ramp, shake

THICK = 3.0     # [d] of walls
PACKED = 0.58   # solid fraction at rest, to know how far the lattice falls


def collapse(
    count: int = 4000,
    width: float = 15.0,
    diameter: float = 0.013,
    size_ratio: float = 1.3,
    stiffness: float = 3e3,
    friction: float = 0.91,
    rolling_friction: float = 0.32,
    restitution: float = 0.18,
    settle: float = 1.0,
    lift: float | None = None,
    time_step: float = 0.005,
    duration: float | None = None,
    seed: int = 0,
) -> Scene:
    """``count`` grains at rest in a frictionless box, whose front wall is lifted at ``lift`` [s]: they run out to a half pile.

    The box is square, ``width`` mean grain diameters wide; half of the grains have ``diameter`` [m], half ``diameter`` / ``size_ratio``.
    4000 grains fill 15 d to a cube, as in MR. They start on a shaken lattice; gravity grows as slowly as its fall asks, then ``settle``
    [s] pass; ``lift`` none: after that. The front, at the side of +x, goes up faster than grains can fall. The floor has the friction of
    the grains, the walls have none. The contact law is linear with ``stiffness`` [N/m]. ``duration`` [s] none: 2 s after the lift.
    """
    for name, value, least in (("count", count, 1), ("width", width, 3.0), ("size_ratio", size_ratio, 1.0)):
        if not least <= value < math.inf:
            raise InputError(f"{name} of scene 'collapse' must be {least:g} or more (got {value}).")
    d = finite_positive("diameter", diameter, "m")
    finite_positive("time_step", time_step, "s")
    if not 0 <= settle < math.inf:
        raise InputError(f"settle of scene 'collapse' must be a finite number of seconds, 0 or more (got {settle}).")
    side = width * (d + d / size_ratio) / 2
    grain = pellet(friction=friction, rolling_friction=rolling_friction, restitution=restitution)
    across = math.floor(side / (SPACING * d) + 1e-9)
    if across < 1:
        raise InputError(f"width of scene 'collapse' must leave room for a grain of {d:g} m (got {width} mean diameters, {side:.3g} m).")
    rng, layer = np.random.default_rng(seed + 1), across**2
    index = np.arange(count)
    full = count - count % layer  # grains of the last layer, which is not full, are spread over it
    index[full:] = full + rng.permutation(layer)[: count - full]
    site: FloatArray = np.stack([index % across, index // across % across, index // layer], axis=1) + np.float64(0.5)
    sizes = np.where(np.arange(count) % 2 == 0, d, d / size_ratio)
    rng.shuffle(sizes)
    top = SPACING * d * (float(site[:, 2].max()) + 0.5)
    rest = float((math.pi / 6 * sizes**3).sum()) / (PACKED * side**2)  # height of the filling
    ramp = gentle_ramp(GRAVITY, top - rest, LANDING * d / time_step)
    lift = ramp + settle if lift is None else lift
    if not lift >= ramp:
        raise InputError(f"lift of scene 'collapse' must not be before the grains are down, at {ramp:.3g} s (got {lift}).")
    place = shake(site, d, seed) + np.array([0.5, 0.5, 0.0]) * (side - SPACING * d * across)
    place[:, 1] -= side / 2
    high, thick, half = top + d, THICK * d, side / 2
    speed = 2 * math.sqrt(2 * GRAVITY * high)
    front = Box(material="smooth", lower=(side, -half - thick, 0), upper=(side + thick, half + thick, high), side="outside")
    sides = tuple(
        Box(material="smooth", lower=(-thick, min(s * half, s * (half + thick)), 0), upper=(side, max(s * half, s * (half + thick)), high),
            side="outside")
        for s in (1, -1)
    )  # fmt: skip
    return Scene(
        name="collapse", materials=(grain, changed(grain, name="smooth", friction=0.0, rolling_friction=0.0)),
        pairs=(MaterialPair(materials=(grain.name, "smooth"), friction=0.0, rolling_friction=0.0),), law=LinearContact(stiffness=stiffness),
        gravity=Gravity(acceleration=(0, 0, -GRAVITY), ramp=ramp),
        grains=(Grains(material=grain.name, position=place, diameter=sizes),),
        walls=(Plane(material=grain.name), Plane(material="smooth", normal=(1, 0, 0)), *sides),
        bodies=(Body(
            name="front", kind="kinematic", walls=(front,), motion=Motion(velocity=(0, 0, speed), start=lift, stop=lift + 2 * high / speed),
        ),),
        run={"time_step": time_step, "duration": duration if duration is not None else lift + 2.0},
        parameters={
            "count": count, "diameter": d, "size_ratio": size_ratio, "width": side, "lift": lift, "view": [-78.0, 10.0],
        },
    )  # fmt: skip
