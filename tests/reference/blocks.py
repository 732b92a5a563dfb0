"""Boxes that touch each other and planes, for the tests."""

from __future__ import annotations

import numpy as np

from granum.contact import Material
from granum.scene import Body, Box, Gravity, Mesh, Plane, Scene
from granum.simulation import Simulation
from granum.state.rotation import matrix
from tests.reference.scenes import G

DENSITY = 2500.0
FLOOR = (Plane(material="m"),)
QUIET = {"on_coarse": "off"}


def solid_box(size):
    """A box about its centre, with grains outside."""
    half = np.broadcast_to(size, 3) / 2
    return Box(material="m", lower=tuple(-half), upper=tuple(half), side="outside")


def cube_mesh(size, side="front"):
    """The surface of a cube about its centre, in twelve triangles."""
    ends = (-size / 2, size / 2)
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    triangles = [corner for a, b, c, d in faces for corner in ((a, b, c), (a, c, d))]
    return Mesh(material="m", side=side, vertices=[(x, y, z) for x in ends for y in ends for z in ends], triangles=triangles)


def block(size, position, name="block", wall=None, **given):
    """A dynamic body with the mass and inertia of a box of that size [m], and its walls unless others are given."""
    sides = np.broadcast_to(np.asarray(size, float), 3)
    mass = DENSITY * sides[0] * sides[1] * sides[2]
    inertia = tuple(mass / 12 * ((sides**2).sum() - sides**2))
    return Body(
        name=name, kind="dynamic", mass=mass, inertia=inertia, position=position, walls=[solid_box(size) if wall is None else wall], **given
    )


def turned(axis, angle):
    """The quaternion of a turn about an axis by an angle [rad]."""
    axis = np.asarray(axis, float) / np.linalg.norm(axis)
    return (np.cos(angle / 2), *(np.sin(angle / 2) * axis))


def blocks(
    bodies, *, h=1e-3, walls=FLOOR, gravity=(0, 0, -G), youngs_modulus=1e9, restitution=0.0, friction=0.5, grains=(), sinks=(), **settings
):
    """A simulation of these bodies on a plane."""
    material = Material(name="m", density=DENSITY, youngs_modulus=youngs_modulus, restitution=restitution, friction=friction)
    pull = Gravity(acceleration=tuple(gravity))
    scene = Scene(materials=[material], bodies=bodies, walls=walls, grains=grains, sinks=sinks, gravity=pull)
    return Simulation(scene, time_step=h, **{"guards": QUIET, **settings})


def run(sim, steps):
    for _ in range(steps):
        sim.step()
    return sim


def motion(sim):
    """Linear and angular momentum about the origin, and kinetic energy, of all dynamic bodies and grains."""
    b = sim.bodies
    linear, angular, kinetic = np.zeros(3), np.zeros(3), 0.0
    for w in b.dynamic:
        axes, mass = matrix(b.orientation[w]), 1 / b.inverse_mass[w]
        own = axes @ (b.moments[w] * (axes.T @ b.spin[w]))
        linear += mass * b.velocity[w]
        angular += mass * np.cross(b.position[w], b.velocity[w]) + own
        kinetic += 0.5 * mass * b.velocity[w] @ b.velocity[w] + 0.5 * b.spin[w] @ own
    m, r = b.mass, sim.radius
    linear += (m[:, None] * sim.velocity).sum(axis=0)
    angular += (np.cross(sim.position, m[:, None] * sim.velocity) + (0.4 * m * r**2)[:, None] * sim.spin).sum(axis=0)
    return linear, angular, kinetic
