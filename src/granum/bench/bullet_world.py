"""Steps of a bed in Bullet: ``python -m granum.bench.bullet_world BED.npz FOUND.json``, which ``bullet.py`` calls.

Lengths are in diameters, as Bullet's tolerances are made for bodies of about 1. Sweeps are
never ended early; grains are rigid bodies without links, the faster of the two kinds. Restitution, damping and split impulses, which would
be further sweeps, are off.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

WALL = 1.0  # thickness [diameters]


def main(given: Path, found: Path) -> None:
    """Read a bed, take its steps and write down what came out."""
    import pybullet

    with np.load(given) as file:
        bed = {name: file[name] for name in file.files}
    iterations, warm, steps = map(int, bed["counts"])
    grains = build(pybullet, bed, iterations)
    seconds = []
    for _ in range(warm + steps):
        start = perf_counter()
        pybullet.stepSimulation()
        seconds.append(perf_counter() - start)
    touching = sum(point[8] <= 0 for point in pybullet.getContactPoints())
    heights = [pybullet.getBasePositionAndOrientation(grain)[0][2] for grain in grains]
    try:
        known = version("pybullet")
    except PackageNotFoundError:
        known = ""
    answer = {
        "seconds": seconds[warm:],
        "sunk": float(bed["position"][:, 2].mean() - np.mean(heights)),
        "contacts": touching,
        "version": known,
    }
    found.write_text(json.dumps(answer))


def build(world: Any, bed: dict[str, Any], iterations: int) -> tuple[int, ...]:
    """The box and the grains, at rest; returns the numbers of the grains."""
    world.connect(world.DIRECT)
    world.setGravity(0, 0, -float(bed["gravity"]))
    world.setPhysicsEngineParameter(
        fixedTimeStep=float(bed["time_step"]), numSolverIterations=iterations, numSubSteps=1, solverResidualThreshold=0, useSplitImpulse=0
    )
    half, middle = (bed["upper"] - bed["lower"]) / 2, (bed["upper"] + bed["lower"]) / 2
    walls = []
    for axis in range(3):
        for side in (-1, 1) if axis < 2 else (-1,):
            extents, at = half + 2 * WALL, middle.copy()
            extents[axis] = WALL
            at[axis] += side * (half[axis] + WALL)
            shape = world.createCollisionShape(world.GEOM_BOX, halfExtents=extents.tolist())
            walls.append(world.createMultiBody(0, shape, basePosition=at.tolist(), useMaximalCoordinates=1))
    sphere = world.createCollisionShape(world.GEOM_SPHERE, radius=0.5)
    grains: tuple[int, ...] = world.createMultiBody(1.0, sphere, batchPositions=bed["position"].tolist(), useMaximalCoordinates=1)
    friction = float(bed["friction"]) ** 0.5  # that of a contact is the product of both
    for body in (*walls, *grains):
        world.changeDynamics(body, -1, lateralFriction=friction, restitution=0, linearDamping=0, angularDamping=0)
    return grains


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
