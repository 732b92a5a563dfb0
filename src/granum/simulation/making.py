"""The bodies that a run begins with, from its scene."""

from __future__ import annotations

import math

import numpy as np

from ..arithmetic import length
from ..scene.scene import Scene
from ..state.bodies import DYNAMIC, KINEMATIC, STATIC, Bodies
from ..state.fixed import FixedGrains

KINDS = {"static": STATIC, "kinematic": KINEMATIC, "dynamic": DYNAMIC}


def make_bodies(scene: Scene, with_grains: bool = True) -> Bodies:
    """Wall bodies and initial grains of a scene."""
    owners = scene.all_bodies
    bodies = Bodies(np.array([KINDS[o.kind] for o in owners]), np.array([o.inertia if o.inertia else (1.0, 1.0, 1.0) for o in owners]))
    for w, owner in enumerate(owners):
        bodies.position[w] = owner.position
        bodies.orientation[w] = np.asarray(owner.orientation) / length(owner.orientation)
        if owner.kind == "dynamic" and owner.mass is not None:
            bodies.velocity[w], bodies.spin[w] = owner.velocity, owner.spin
            bodies.inverse_mass[w], bodies.locked[w] = 1 / owner.mass, owner.locked_axes
    for block in scene.grains if with_grains else ():
        position, diameter, velocity, spin = block.place()
        material = scene.material_index[block.material]
        radius = np.asarray(diameter) / 2
        mass = scene.materials[material].density * 4 / 3 * math.pi * radius * radius * radius
        inverse = np.zeros(len(position)) if block.held else 1 / mass
        bodies.append_grains(position, radius, np.full(len(position), material), inverse, velocity, spin)
    return bodies


def fix_grains(scene: Scene, bodies: Bodies) -> None:
    """Fix the grains of blocks that have a body to it; where they are on it follows from the scene alone."""
    names = {owner.name: w for w, owner in enumerate(scene.all_bodies)}
    placed, first = [], 0
    for block in scene.grains:
        position = block.place()[0]
        if block.body is not None:
            placed.append((first + np.arange(len(position)), np.full(len(position), names[block.body], np.int32), position))
        first += len(position)
    if placed:
        ids, body, position = (np.concatenate([part[k] for part in placed]) for k in range(3))
        frames = tuple(np.array([getattr(owner, name) for owner in scene.all_bodies], float) for name in ("position", "orientation"))
        FixedGrains.at(ids, body, position, (frames[0], frames[1])).attach(bodies)
