"""Twelve short runs that together touch all that leads to a state: walls, sources, sinks, cells, steppers, solvers, extensions, restarts.

Those of extensions stand in their own modules.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from ..arithmetic import cos, normal, sin
from ..checks import RunError
from ..contact.power import HERTZ
from ..extensions import modules
from ..observe import Checkpointer
from ..quasistatic.jam import jam
from ..scene import (
    Body,
    Box,
    Cell,
    CylinderRegion,
    Disc,
    Emitter,
    Grains,
    Gravity,
    Lattice,
    LogNormal,
    Mesh,
    Motion,
    Plane,
    Scene,
    Sink,
    Uniform,
)
from ..scene.library import make_scene
from ..simulation.saved import load_run
from .outcome import STONE, D, Outcome, outcome_of, run_steps, start


def column(threads: int) -> Outcome:
    """Grains on a plane; sweeps without momentum, started from the contact law."""
    stepper = {"solver": {"momentum": False, "iterations": 30}, "warm_start": {"name": "model"}}
    return run_steps(make_scene("column", {"count": 12}), 60, threads, stepper=stepper)


def box(threads: int) -> Outcome:
    """Grains of many sizes in a tilted box; sweeps with momentum."""
    return run_steps(make_scene("box", {"count": 150, "size_ratio": 2.5, "tilt": 12.0}), 160, threads)


def hopper(threads: int) -> Outcome:
    """A funnel of thin triangles below a round source of log-normal sizes; what gets through leaves."""
    angle = 2 * np.pi / 10 * np.arange(10.0)
    ring = np.stack([cos(angle), sin(angle)], axis=1)
    vertices = np.concatenate([np.column_stack([r * D * ring, np.full(10, z * D)]) for r, z in ((1.3, 0.0), (4.0, 2.0))])
    here, after = np.arange(10), (np.arange(10) + 1) % 10
    triangles = np.concatenate([np.stack([here, after, here + 10], axis=1), np.stack([after, after + 10, here + 10], axis=1)])
    source = Emitter(
        material="stone",
        sizes=LogNormal(median=0.8 * D, sigma=0.2, lower=0.6 * D, upper=D),
        rate=800,
        count=150,
        velocity=(0, 0, -0.8),
        source=Disc(centre=(0, 0, 5 * D), normal=(0.1, 0.0, 1.0), diameter=5 * D),
        seed=3,
    )
    scene = Scene(
        materials=(STONE,),
        emitters=(source,),
        walls=(Mesh(material="stone", vertices=vertices, triangles=triangles),),
        sinks=(Sink(name="below", region=CylinderRegion(centre=(0, 0, -8 * D), radius=20 * D, length=8 * D)),),
    )
    return run_steps(scene, 200, threads, time_step=0.001)


def drum(threads: int) -> Outcome:
    """A toothed drum, a mesh with a front before a cylinder, that turns."""
    parameters = {
        "kind": "sawtooth",
        "count": 60,
        "width": 10.0,
        "length": 3.0,
        "teeth": 8,
        "speed": 3.0,
        "ramp": 0.2,
        "rolling_friction": 0.1,
    }
    return run_steps(make_scene("drum", parameters), 160, threads, time_step=0.0025)


def shaker(threads: int) -> Outcome:
    """A box that shakes and turns, with a brick among the grains that is pushed."""
    grains = Lattice(
        material="stone", lower=(-0.03, -0.03, 0.0), upper=(0.03, 0.03, 0.08), count=70, sizes=Uniform(lower=0.8 * D, upper=D), seed=1
    )
    tray = Body(
        name="tray",
        kind="kinematic",
        motion=Motion(spin=(0.3, 0, 0.9), amplitude=(0.002, 0.0, 0.001), frequency=17.0),
        walls=(Box(material="stone", lower=(-0.03, -0.03, 0), upper=(0.03, 0.03, 0.2), open=("+z",)),),
    )
    brick = Body(
        name="brick",
        kind="dynamic",
        position=(0.0, 0.0, 0.1),
        mass=0.02,
        inertia=(2e-6, 3e-6, 4e-6),
        spin=(2.0, 1.0, 0.5),
        force=(0.02, 0, 0),
        touches="grains",
        walls=(Box(material="stone", lower=(-0.012, -0.01, -0.008), upper=(0.012, 0.01, 0.008), side="outside"),),
    )
    scene = Scene(materials=(STONE,), grains=(grains,), bodies=(tray, brick))
    return run_steps(scene, 200, threads, time_step=0.002)


def belt(threads: int) -> Outcome:
    """A belt that carries grains from a source over its edge, where they leave."""
    parameters = {"length": 40.0, "speed": 1.5, "rate": 800.0, "drop": 0.04}
    return run_steps(make_scene("conveyor", parameters), 220, threads, time_step=0.003)


def chute(threads: int) -> Outcome:
    """A flow down a rough floor in a periodic cell."""
    side, down = 6 * D, 0.42  # [rad]
    x, y = (a.ravel() for a in np.meshgrid(np.arange(6.0), np.arange(6.0), indexing="ij"))
    floor = Grains(material="stone", position=np.stack([(x + 0.5) * D, (y + 0.5) * D, 0 * x], axis=1), diameter=0.9 * D, static=True)
    grains = Lattice(
        material="stone", lower=(0, 0, D), upper=(side, side, 8 * D), count=100, sizes=Uniform(lower=0.8 * D, upper=0.95 * D), seed=2
    )
    scene = Scene(
        materials=(STONE,),
        grains=(floor, grains),
        walls=(Plane(material="stone", point=(0, 0, -D)),),
        cell=Cell(vectors=(side, side)),
        gravity=Gravity(acceleration=(9.81 * sin(down), 0.0, -9.81 * cos(down))),
    )
    return run_steps(scene, 200, threads, time_step=0.001)


def smooth(threads: int) -> Outcome:
    """Springs and dashpots: grains that are shot into a periodic layer on a plane."""
    side, soft = 5 * D, STONE.model_copy(update={"youngs_modulus": 1e6, "restitution": 0.1})
    placed = Lattice(
        material="stone", lower=(0, 0, 0), upper=(side, side, 5 * D), count=60, sizes=Uniform(lower=0.8 * D, upper=0.9 * D), jitter=0.05
    ).place()
    speed = 0.2 * normal(np.random.default_rng(5), (60, 3)) + np.array([0.3, 0.0, -1.0])
    scene = Scene(
        materials=(soft,),
        walls=(Plane(material="stone"),),
        cell=Cell(vectors=(side, side)),
        grains=(Grains(material="stone", position=placed[0], diameter=placed[1], velocity=speed),),
    )
    return run_steps(scene, 600, threads, stepper={"name": "smooth"}, time_step=5e-5)


def silo(threads: int) -> Outcome:
    """Grains that settle between many planes; multigrid."""
    scene = make_scene("silo", {"count": 120, "width": 4.0, "ramp": 0.2, "rolling_friction": 0.1})
    return run_steps(scene, 160, threads, stepper={"solver": {"name": "multigrid"}}, time_step=0.004)


def restart(threads: int, stop: bool = True) -> Outcome:
    """Grains that rain into a box of walls whose front is lifted; the run is stopped on the way and goes on from its checkpoint."""
    sim = start(make_scene("collapse", {"count": 90, "width": 4.0, "settle": 0.1}), threads)
    sim.run(70 * sim.time_step)
    if stop:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "run.checkpoint.h5"
            Checkpointer(path).save(sim)
            sim = load_run(path, threads).simulation
    sim.run(110 * sim.time_step)
    return outcome_of(sim)


def jammed(threads: int) -> Outcome:
    """Discs at the packing fraction at which they jam: minimisations, sparse factors, the test for rigidity."""
    found = jam(64, dim=2, law=HERTZ, sizes=LogNormal(median=1.0, sigma=0.2, lower=0.7, upper=1.5), accuracy=1e-4)
    packing = found.packing
    arrays = (packing.cell.vectors, packing.position, packing.radius, np.array([found.phi_cr]), found.measured.forces)
    return Outcome(arrays, {"grains": packing.count, "contacts": found.measured.contacts})


SCENES: dict[str, tuple[Callable[[int], Outcome], tuple[str, ...]]] = {
    "column": (column, ("at walls",)),
    "box": (box, ("at walls",)),
    "hopper": (hopper, ("at walls", "emitted", "left")),
    "drum": (drum, ("at walls",)),
    "shaker": (shaker, ("at walls",)),
    "belt": (belt, ("at walls", "emitted", "left")),
    "chute": (chute, ()),
    "smooth": (smooth, ("at walls",)),
    "silo": (silo, ("at walls",)),
    "restart": (restart, ("emitted",)),
    "jammed": (jammed, ()),
    **{name: scene for module in modules("golden") for name, scene in module.SCENES.items()},
}
"""By name: the run, with its number of threads, and which of its facts must not be 0 for it to show what it is for."""


def run(name: str, threads: int = 1) -> Outcome:
    """The outcome of a scene; RunError if nothing happened in it."""
    compute, needs = SCENES[name]
    outcome = compute(threads)
    idle = [fact for fact in ("contacts", *needs) if not outcome.facts[fact]]
    if idle:
        raise RunError(f"golden scene {name!r} shows nothing: it has no {' and no '.join(idle)}. Change it in granum/golden/.")
    return outcome
