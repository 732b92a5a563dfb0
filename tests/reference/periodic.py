"""Scenes in a cell for the tests, and the slow twin of the search across its faces."""

from __future__ import annotations

import numpy as np

from granum.contact import Material
from granum.scene import Cell, Gravity, Plane, Scene
from granum.simulation import Simulation, make_settings
from tests.reference.scenes import FREE, D, spheres

STEPPERS = {
    "nonsmooth": {"stepper": {"solver": {"iterations": 50}}, "time_step": 1e-3},
    "smooth": {"stepper": {"name": "smooth"}, "time_step": 1e-4},
}


def in_cell(
    position,
    lengths,
    *,
    stepper="nonsmooth",
    velocity=None,
    spin=None,
    diameter=D,
    gravity=(0.0, 0.0, 0.0),
    walls=(),
    bodies=(),
    emitters=(),
    guards=FREE,
    run=None,
    vectors=None,
    restitution=0.5,
    friction=0.5,
    rolling_friction=0.0,
):
    """A simulation of spheres of material "m" in a cell of those lengths [m] (none: open); ``walls=True`` is the plane z = 0."""
    cell = Cell(vectors=lengths if vectors is None else vectors) if lengths is not None or vectors is not None else None
    material = Material(
        name="m", density=3700.0, youngs_modulus=6e6, restitution=restitution, friction=friction, rolling_friction=rolling_friction
    )
    scene = Scene(
        materials=[material],
        grains=spheres(position, diameter, velocity, spin),
        bodies=bodies,
        emitters=emitters,
        cell=cell,
        walls=(Plane(material="m"),) if walls is True else walls,
        gravity=Gravity(acceleration=gravity),
    )
    return Simulation(scene, make_settings(STEPPERS[stepper], {"guards": guards}, run or {}))


def all_images(position, radius, lengths):
    """{(i, j): (overlap, normal from i to j)} of all touching pairs i < j, by looking at every pair in 3^d images."""
    steps = np.stack(np.meshgrid(*[(-1, 0, 1)] * len(lengths), indexing="ij"), axis=-1).reshape(-1, len(lengths))
    place = position.copy()
    place[:, : len(lengths)] %= lengths
    shift = np.zeros((len(steps), 3))
    shift[:, : len(lengths)] = steps * lengths
    found = {}
    for i in range(len(radius)):
        branch = place[None, i + 1 :] + shift[:, None] - place[i]
        distance = np.sqrt((branch**2).sum(axis=2))
        depth = radius[i] + radius[i + 1 :] - distance
        for s, k in zip(*np.nonzero(depth > 0), strict=True):
            pair = i, i + 1 + int(k)
            assert pair not in found  # in one image only
            found[pair] = depth[s, k], branch[s, k] / distance[s, k]
    return found
