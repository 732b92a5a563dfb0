"""Small scenes for the tests: a few spheres of one material, perhaps a plane, and the Hertz column in closed form."""

from __future__ import annotations

import numpy as np

from granum.contact import Material
from granum.scene import Grains, Gravity, Plane, Scene
from granum.simulation import Simulation, make_settings

D = 0.013  # [m]
G = 9.81  # [m/s^2]
H = 0.005  # [s]
FREE = {"on_overlap": "off", "on_lost": "off", "on_energy": "off", "on_coarse": "off"}


def spheres(position, diameter, velocity=None, spin=None):
    """Grains of material "m", as a scene takes them; none without positions."""
    position = np.atleast_2d(np.asarray(position, float)).reshape(-1, 3)
    moving = {name: np.atleast_2d(given) for name, given in (("velocity", velocity), ("spin", spin)) if given is not None}
    return [Grains(material="m", position=position, diameter=diameter, **moving)] if len(position) else []


def make(
    position,
    *,
    velocity=None,
    spin=None,
    diameter=D,
    walls=(),
    bodies=(),
    gravity=(0.0, 0.0, 0.0),
    h=H,
    guards=None,
    law=None,
    solver=None,
    stepper=None,
    settings=None,
    density=3700.0,
    youngs_modulus=6e6,
    restitution=0.18,
    friction=0.5,
    rolling_friction=0.0,
    emitters=(),
    world=None,
):
    """A simulation of spheres of material "m"; ``walls=True`` is the plane z = 0."""
    material = Material(
        name="m",
        density=density,
        youngs_modulus=youngs_modulus,
        restitution=restitution,
        friction=friction,
        rolling_friction=rolling_friction,
    )
    grains = spheres(position, diameter, velocity, spin)
    scene = Scene(
        materials=[material],
        grains=grains,
        bodies=bodies,
        emitters=emitters,
        world=world,
        walls=(Plane(material="m"),) if walls is True else walls,
        gravity=Gravity(acceleration=tuple(gravity)),
        **({} if law is None else {"law": law}),
    )
    run = {"time_step": h, "stepper": {**(stepper or {}), "solver": solver or {}}, "guards": guards or {}, **(settings or {})}
    return Simulation(scene, make_settings(run))


def write_scene(path, scene):
    """A Python file that makes the scene, for the command line."""
    lines = ("import json", "from granum.scene import Scene", f"scene = Scene.model_validate(json.loads(r'''{scene.model_dump_json()}'''))")
    path.write_text("\n".join(lines))
    return path


def mass(diameter=D, density=3700.0):
    """Of a sphere [kg]."""
    return density * np.pi / 6 * np.asarray(diameter) ** 3


def hertz_stiffness(r_a, r_b=np.inf, youngs_modulus=6e6, poisson_ratio=0.3):
    """k_n [N m^-1.5] of two spheres of one material; r_b infinite: a plane (physics 2)."""
    radius = 1 / (1 / np.asarray(r_a) + 1 / np.asarray(r_b))
    return 4 / 3 * youngs_modulus / (2 * (1 - poisson_ratio**2)) * np.sqrt(radius)


def column_overlaps(count, diameter=D, density=3700.0, **elastic):
    """(count,) Hertz overlaps [m] from the floor up: delta_j = (W_j / k_j)^(2/3), W_j the weight above contact j."""
    weight = mass(diameter, density) * G * np.arange(count, 0, -1)
    r = diameter / 2
    k = np.array([hertz_stiffness(r, **elastic)] + [hertz_stiffness(r, r, **elastic)] * (count - 1))
    return (weight / k) ** (2 / 3)


def column_heights(overlaps, diameter=D):
    """(n,) heights [m] of the centres of a column with the given overlaps, from the floor up."""
    return np.cumsum(diameter - overlaps) - diameter / 2


def by_height(sim):
    """Contacts of a column ordered from the floor up."""
    c = sim.contacts
    z = sim.position[:, 2]
    return np.argsort(np.where(c.b >= 0, (z[c.a] + z[np.maximum(c.b, 0)]) / 2, 0.0))
