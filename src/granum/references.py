"""The papers that granum follows and repeats; experiments of ``granum reproduce`` are named by their initials."""

from __future__ import annotations

from typing import NamedTuple


class Paper(NamedTuple):
    """A paper."""

    authors: str
    title: str
    where: str
    gives: str
    """What granum has from it."""


PAPERS = {
    "WS": Paper(
        "Da Wang, Martin Servin, Tomas Berglund",
        "Warm starting the projected Gauss-Seidel algorithm for granular matter simulation",
        "",
        "The nonsmooth step, warm starting; column, pile, drum, triaxial test, excavator and balling circuit.",
    ),
    "SN": Paper(
        "Martin Servin, Da Wang, Claude Lacoursière, Kenneth Bodin",
        "Examining the smooth and nonsmooth discrete element approaches to granular matter",
        "International Journal for Numerical Methods in Engineering.",
        "The smooth step, the cost model of granum plan; silo and sawtooth drum.",
    ),
    "PP": Paper(
        "Johan Sundberg",
        "Parallel projected Gauss-Seidel solver for large-scale granular matter. Examining the physics of the parallel solver and "
        "development of a multigrid solver",
        "Thesis for the degree of Master of Science in Engineering Physics, Umeå University, 2014.",
        "Parallel sweeps, the multigrid solver, the comparison of two runs.",
    ),
    "EM": Paper(
        "Haolei Wang, Lei Zhang",
        "Energy minimization and preconditioning in the simulation of athermal granular materials in two dimensions",
        "",
        "Packings without time: jamming, shear, minimisers and preconditioners.",
    ),
    "MR": Paper(
        "Martin Servin, Da Wang",
        "Adaptive model reduction for nonsmooth discrete element simulation",
        "2021.",
        "Grains that merge to rigid bodies; drum, collapse and conveyor.",
    ),
}
