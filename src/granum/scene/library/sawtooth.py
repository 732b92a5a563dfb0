"""A drum surface with teeth, as a triangle mesh (SN 4.2.2, PP Fig. 4.4).

The profile lies in the x, z plane and is named by the angle from x towards z, the way in which a drum of positive speed turns. From the
valley of a tooth, on the drum's radius, the profile rises slowly inwards to the tip, then falls by the steep face to the next valley. So
the steep face leads: it looks forward, in the direction of rotation, and lifts the grains in front of it.
"""

from __future__ import annotations

import math

import numpy as np

from ...arithmetic import arctan2, cos, sin
from ...array_types import FloatArray, IntArray
from ...checks import InputError


def sawtooth_profile(radius: float, teeth: int, height: float, attack: float) -> FloatArray:
    """(2 teeth, 2) x and z [m]: valley and tip of each tooth in turn.

    Valleys lie at ``radius``, tips ``height`` further in [m]; ``attack`` [degrees] is the angle between a steep face and the drum's tangent
    in the valley where it ends.
    """
    pitch, steep = 2 * math.pi / teeth, math.radians(attack)
    # A line from the valley at ``attack`` to the tangent meets the circle of the tips after ``side`` [m].
    across, inner = radius * cos(steep), radius - height
    side = radius * sin(steep) - math.sqrt(max(0.0, inner * inner - across * across))
    lead = arctan2(side * cos(steep), radius - side * sin(steep))  # angle from the tip to the next valley
    if not across < inner or not lead < 0.9 * pitch:
        raise InputError(
            f"{teeth} teeth of height {height:g} m and attack angle {attack:g} degrees do not fit a drum of radius {radius:g} m. "
            "Take fewer teeth or a wider drum."
        )
    valley = pitch * np.arange(teeth)
    angle = np.stack([valley, valley + pitch - lead], axis=1).ravel()
    out = np.tile([radius, inner], teeth)
    return np.stack([out * cos(angle), out * sin(angle)], axis=1)


def extrude(profile: FloatArray, length: float) -> tuple[FloatArray, IntArray]:
    """Vertices [m] and triangles of a closed profile (n, 2) drawn along y, from -length/2 to length/2; both ends are open.

    Triangles of a profile that runs from x towards z look inwards.
    """
    n = len(profile)
    x, z = profile.T
    vertices = np.concatenate([np.stack([x, np.full(n, end * length / 2), z], axis=1) for end in (-1, 1)])
    here = np.arange(n)
    after = (here + 1) % n
    triangles = np.concatenate([np.stack([here, after, here + n], axis=1), np.stack([after, after + n, here + n], axis=1)])
    return vertices, triangles.astype(np.int32)
