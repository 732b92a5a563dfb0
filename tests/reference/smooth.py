"""Smooth DEM for the tests: small scenes, and the law the slow, plain way (it stands in ``granum.smooth.lanes``)."""

from __future__ import annotations

from functools import cache

import numpy as np

from granum.contact import HertzContact, LinearContact, Material
from granum.scene import Body, Box, Cylinder, Emitter, Gravity, Mesh, Motion, Plane, Scene
from granum.scene.emitter import Disc
from granum.simulation import Simulation, make_settings
from granum.simulation.making import make_bodies
from granum.smooth.damping import damping_for
from tests.reference.scenes import FREE, D, G, spheres

damping_of = cache(damping_for)
LAWS = {"hertz": HertzContact(), "linear": LinearContact(stiffness=2e3)}


def make(
    position,
    *,
    velocity=None,
    spin=None,
    diameter=D,
    walls=(),
    bodies=(),
    gravity=(0.0, 0.0, 0.0),
    h=None,
    guards=FREE,
    law=None,
    integrator="verlet",
    damping="restitution",
    emitters=(),
    world=None,
    wall_material=None,
    run=None,
    **material,
):
    """A smooth simulation of spheres of material "m"; ``walls=True`` is the plane z = 0; ``h`` [s], none: automatic."""
    own = Material(**{"name": "m", "density": 3700.0, "youngs_modulus": 6e6, "restitution": 0.5, "friction": 0.5, **material})
    other = wall_material or own
    scene = Scene(
        materials=[own] if wall_material is None else [own, wall_material],
        grains=spheres(position, diameter, velocity, spin),
        bodies=bodies,
        emitters=emitters,
        world=world,
        law=law or HertzContact(),
        gravity=Gravity(acceleration=tuple(gravity)),
        walls=(Plane(material=other.name),) if walls is True else walls,
    )
    stepper = {"name": "smooth", "integrator": integrator, "damping": damping}
    return Simulation(scene, make_settings({"stepper": stepper, "guards": guards, **(run or {})}, {} if h is None else {"time_step": h}))


def platen(position, mass=0.05, velocity=(0, 0, 0), spin=(0, 0, 0)):
    """A free plate 100 x 100 x 10 mm about its centre."""
    box = Box(material="m", lower=(-0.05, -0.05, -0.005), upper=(0.05, 0.05, 0.005), side="outside")
    inertia = tuple(mass / 12 * np.array([0.1**2 + 0.01**2, 0.1**2 + 0.01**2, 0.1**2 + 0.1**2]))
    return Body(name="platen", kind="dynamic", position=position, mass=mass, inertia=inertia, velocity=velocity, spin=spin, walls=(box,))


def everything(length=0.1, **settings):
    """Every kind of wall, standing, driven, running and free, with grains raining on them; a tube of that ``length`` [m]."""
    lattice = np.array([(x, y, z) for x in range(-3, 4) for y in range(-3, 4) for z in range(2)], float) * 1.2 * D + (0, 0, 0.05)
    rng = np.random.default_rng(3)
    hill = Mesh(
        material="m",
        vertices=[(-0.03, -0.03, 0), (0.03, -0.03, 0), (0.03, 0.03, 0), (-0.03, 0.03, 0), (0, 0, 0.02)],
        triangles=[(0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)],
    )
    return make(
        lattice + 0.05 * D * rng.uniform(-1, 1, lattice.shape),
        velocity=0.3 * rng.standard_normal(lattice.shape),
        gravity=(0, 0, -G),
        diameter=D * rng.uniform(0.5, 1.0, len(lattice)),
        walls=[
            Cylinder(material="m", radius=0.08, length=length, caps=False),
            Plane(material="m", surface_velocity=(0.2, 0.1, 0)),
            Plane(material="m", point=(0.06, 0, 0), normal=(-1, 0, 0.2)),
        ],
        bodies=[
            Body(name="hill", kind="kinematic", motion=Motion(spin=(0, 0, 3)), walls=[hill]),
            Body(
                name="shaker",
                kind="kinematic",
                motion=Motion(amplitude=(0.01, 0, 0), frequency=5),
                walls=[Box(material="m", lower=(-0.07, -0.07, -1), upper=(0.07, 0.07, 1), open=("-z", "+z"))],
            ),
            Body(
                name="drum",
                kind="kinematic",
                position=(0, 0, 0.1),
                motion=Motion(spin=(0, 2, 0)),
                walls=[Cylinder(material="m", axis=(0, 1, 0), radius=0.1)],
            ),
            platen((0, 0, 0.1), mass=0.02),
        ],
        emitters=[
            Emitter(
                material="m",
                sizes={"distribution": "uniform", "lower": 0.5 * D, "upper": D},
                rate=300,
                count=20,
                seed=5,
                source=Disc(centre=(0, 0, 0.15), diameter=0.05),
                velocity=(0, 0, -0.5),
            )
        ],
        **{"rolling_friction": 0.1, **settings},
    )


class Plain:
    """All against all, one contact at a time: grains and standing planes, springs by pair."""

    def __init__(self, scene, h, integrator="verlet", damping="restitution"):
        bodies = make_bodies(scene)
        grains = bodies.grains
        self.scene, self.h, self.integrator, self.damped = scene, h, integrator, damping == "restitution"
        self.x, self.v, self.w = bodies.position[grains].copy(), bodies.velocity[grains].copy(), bodies.spin[grains].copy()
        self.r, self.m = bodies.radius.copy(), bodies.mass
        self.material = [scene.materials[i] for i in bodies.material]
        self.springs = {}  # (a, b): secant stiffness, displacement and turn of b against a; planes count -1, -2 ...
        self.overlaps = {}
        self.push(0.0)

    def step(self):
        first, last = (self.h / 2, self.h / 2) if self.integrator == "verlet" else (self.h, 0.0)
        self.kick(first)
        self.x += self.h * self.v
        self.push(self.h)
        self.kick(last)

    def kick(self, seconds):
        self.v += seconds * (np.array(self.scene.gravity.acceleration) + self.force / self.m[:, None])
        self.w += seconds * self.torque / (0.4 * self.m * self.r**2)[:, None]

    def push(self, h):
        """Forces and torques of all contacts; springs move on by ``h``, and those of contacts that ended are forgotten."""
        self.force, self.torque = np.zeros_like(self.x), np.zeros_like(self.x)
        old, self.springs, self.overlaps = self.springs, {}, {}
        for a in range(len(self.x)):
            apart = self.x - self.x[a]
            distance = np.sqrt((apart**2).sum(axis=1))
            for b in np.flatnonzero(distance < self.r[a] + self.r):
                if b > a:
                    self.touch(a, b, apart[b] / distance[b], self.r[a] + self.r[b] - distance[b], old, h)
            for k, plane in enumerate(self.scene.walls):
                depth = self.r[a] - (self.x[a] - plane.point) @ plane.normal
                if depth > 0:
                    self.touch(a, -1 - k, -np.array(plane.normal), depth, old, h)

    def touch(self, a, b, n, delta, old, h):
        """The contact of grain a with grain or plane b, with normal n from a to b and overlap delta."""
        ra, ma, one = self.r[a], self.m[a], self.material[a]
        if b >= 0:
            rb, mb, other = self.r[b], self.m[b], self.material[b]
            round_, inertia = ra * rb / (ra + rb), ma * mb / (ma + mb)
            arm_a, arm_b = ra * (1 - delta / (ra + rb)), rb * (1 - delta / (ra + rb))
            v = self.v[b] - self.v[a]
            u = v - cross(arm_a * self.w[a] + arm_b * self.w[b], n)
            w = self.w[b] - self.w[a]
            frame = cross(n, v) / (arm_a + arm_b) + 0.5 * ((self.w[a] + self.w[b]) @ n) * n
        else:
            other = self.scene.materials[self.scene.material_index[self.scene.walls[-1 - b].material]]
            round_, inertia, arm_a, arm_b = ra, ma, ra, 0.0
            u = -self.v[a] - cross(ra * self.w[a], n)
            w, frame = -self.w[a], np.zeros(3)
        mu, mu_r, e = (np.sqrt(getattr(one, name) * getattr(other, name)) for name in ("friction", "rolling_friction", "restitution"))
        law, (nu, no) = self.scene.law, (one.poisson_ratio, other.poisson_ratio)
        soft = (1 - nu**2) / one.youngs_modulus + (1 - no**2) / other.youngs_modulus
        sheared = 2 * (1 + nu) * (2 - nu) / one.youngs_modulus + 2 * (1 + no) * (2 - no) / other.youngs_modulus
        hertz = law.name == "hertz"
        secant = 4 / 3 / soft * np.sqrt(round_ * delta) if hertz else law.stiffness
        k_t = 8 / sheared * np.sqrt(round_ * delta) if hertz else law.stiffness * 4 * soft / sheared
        eta = damping_of(e, law.exponent) * np.sqrt(inertia * secant) if self.damped else law.dissipation * secant
        eta_t = np.sqrt(2 / 7 * k_t / secant) * eta

        f_n = max(0.0, secant * delta - eta * (u @ n))
        u = u - (u @ n) * n
        held, s, q = old.get((a, b), (0.0, np.zeros(3), np.zeros(3)))
        s, q = min(1.0, held / secant) * s, min(1.0, held / secant) * q
        s, q = turned(s, h * frame, n) + h * u, turned(q, h * frame) + h * w
        f_t, s = bounded(-k_t * s - eta_t * u, s, mu * f_n)
        torque, q = bounded(round_**2 * (-k_t * q - eta_t * w), q, mu_r * round_ * f_n)
        self.springs[a, b], self.overlaps[a, b] = (secant, s, q), delta
        force = f_n * n + f_t
        self.force[a] -= force
        self.torque[a] += cross(arm_a * n, -force) - torque
        if b >= 0:
            self.force[b] += force
            self.torque[b] += cross(-arm_b * n, force) + torque


def turned(spring, angle, n=None):
    """A spring that turns by a small angle [rad] and stays across n, with its length."""
    new = spring + cross(angle, spring)
    if n is not None:
        new = new - (new @ n) * n
    length = np.linalg.norm(new)
    return new * (np.linalg.norm(spring) / length) if length > 0 else new


def bounded(force, spring, bound):
    """Force and spring, scaled back alike if the force exceeds its bound."""
    size = np.linalg.norm(force)
    part = bound / size if size > bound else 1.0
    return part * force, part * spring


def cross(a, b):
    """Of two vectors; many times faster than that of arrays."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])
