"""Smooth DEM for the tests: small scenes, and the law the slow, plain way (it stands in ``granum.smooth.lanes``)."""

from __future__ import annotations

import numpy as np

from granum.contact import HertzContact, LinearContact, Material
from granum.scene import Grains, Gravity, Plane, Scene
from granum.simulation import Simulation, make_settings
from tests.reference.scenes import FREE, D

LAWS = {"hertz": HertzContact(), "linear": LinearContact(stiffness=2e3)}


def make(
    position, *, velocity=None, spin=None, diameter=D, walls=(), bodies=(), gravity=(0.0, 0.0, 0.0), h=None, guards=FREE,
    law=None, integrator="verlet", damping="restitution", emitters=(), world=None, wall_material=None, run=None, **material,
):  # fmt: skip
    """A smooth simulation of spheres of material "m"; ``walls=True`` is the plane z = 0; ``h`` [s], none: automatic."""
    own = Material(**{"name": "m", "density": 3700.0, "youngs_modulus": 6e6, "restitution": 0.5, "friction": 0.5, **material})
    position = np.atleast_2d(np.asarray(position, float)).reshape(-1, 3)
    block = {"material": "m", "position": position, "diameter": diameter}
    if velocity is not None:
        block["velocity"] = np.atleast_2d(velocity)
    if spin is not None:
        block["spin"] = np.atleast_2d(spin)
    other = wall_material or own
    scene = Scene(
        materials=[own] if wall_material is None else [own, wall_material], grains=[Grains(**block)] if len(position) else [],
        bodies=bodies, emitters=emitters, world=world, law=law or HertzContact(), gravity=Gravity(acceleration=tuple(gravity)),
        walls=(Plane(material=other.name),) if walls is True else walls,
    )  # fmt: skip
    stepper = {"name": "smooth", "integrator": integrator, "damping": damping}
    return Simulation(scene, make_settings({"stepper": stepper, "guards": guards, **(run or {})}, {} if h is None else {"time_step": h}))
