"""From a packing to a scene that the steppers run: the same grains at rest, in the same cell."""

from __future__ import annotations

import math

import numpy as np

from ..array_types import FloatArray
from ..checks import InputError, expect, finite_positive
from ..contact import HertzContact, Law, LinearContact, Material
from ..contact.law import response
from ..scene.cell import Cell
from ..scene.grains import Grains
from ..scene.parameters import PackingParameters
from ..scene.scene import Gravity, Scene
from ..scene.shapes import Plane
from .packing import Packing

GRAIN = Material(name="grain", friction=0.0)
PRESSED = 0.01  # [d] overlap at which the stiffness sets the time step of a scene without gravity


def packing_scene(
    packing: Packing, material: Material = GRAIN, *, law: Law | None = None, gravity: float | None = None, name: str = "packing"
) -> Scene:
    """The grains of a packing as spheres of ``material`` at rest; those of a 2D packing lie in the plane z = 0.

    Without a ``law`` a packing with Hooke's law keeps it (equal springs for all pairs), so that its forces stay in balance; others take
    Hertz' law of the material. With another law than its own a jammed packing starts out of balance: ``relax_run(scene).scene`` mends it.

    The cell repeats as that of the packing. With ``gravity`` [m/s^2], which points down its last axis, it no longer repeats along that one:
    there the grains lie on a floor of the same material.
    """
    expect("packing", packing, Packing)
    expect("material", material, Material)
    if not packing.cell.upright:
        raise InputError(
            f"the cell of the packing must be upright for a run in time (got {packing.cell.vectors.tolist()} m, which lean): take the "
            "packing before it was sheared, or one after pure shear."
        )
    still = still_scene(packing, material, law, name)
    if gravity is None:
        return still.changed(run={"time_step": _time_step(packing, material, still.law)})
    dim, strength = packing.dim, finite_positive("gravity", gravity, "m/s^2")
    up = np.eye(3)[dim - 1]
    lowest = float((still.grains[0].place()[0][:, dim - 1] - packing.radius).min())
    floor = Plane(material=material.name, point=_vector(lowest * up), normal=_vector(up))
    return still.changed(
        gravity=Gravity(acceleration=_vector(-strength * up)),
        walls=(floor,),
        cell=Cell(vectors=packing.cell.vectors[: dim - 1, : dim - 1]),
    )


def still_scene(packing: Packing, material: Material = GRAIN, law: Law | None = None, name: str = "packing") -> Scene:
    """The scene without anything that makes it move; its cell may lean."""
    if law is None:
        law = LinearContact(stiffness=packing.law.stiffness) if packing.law.alpha == 2 else HertzContact()
    return Scene(
        name=name,
        materials=(material,),
        law=law,
        gravity=Gravity(acceleration=(0.0, 0.0, 0.0)),
        cell=packing.cell,
        grains=(Grains(material=material.name, position=in_space(packing), diameter=2 * packing.radius),),
        parameters=PackingParameters(count=packing.count, dim=packing.dim, phi=packing.phi, law=packing.law),
    )


def in_space(packing: Packing) -> FloatArray:
    """(N, 3) [m] of the grains, in the cell; those of a 2D packing lie in the plane z = 0."""
    position = np.zeros((packing.count, 3))
    position[:, : packing.dim] = packing.cell.wrap(packing.position)
    return position


def _vector(values: FloatArray) -> tuple[float, float, float]:
    x, y, z = (float(v) for v in values)
    return x, y, z


def _time_step(packing: Packing, material: Material, law: Law) -> float:
    """sqrt(m / k) [s] of a mean grain whose contacts are pressed a little: without gravity nothing else sets a time."""
    d = packing.diameter
    mass = material.density * math.pi / 6 * d * d * d
    pressed = response(law.parameters, law.pair_stiffness(material, material), d / 4, PRESSED * d)
    return math.sqrt(mass / pressed.tangent)
