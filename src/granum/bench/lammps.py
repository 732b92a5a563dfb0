"""The bed in LIGGGHTS or LAMMPS: smooth steps with Hertz' law, Mindlin's tangential springs and velocity Verlet.

Both read the same file of grains and time their runs themselves. Their neighbour lists reach 0.1 diameters further than contacts.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from .bed import Bed, Measured, PeerMissing, complaint

SKIN = 0.1  # [diameters]
ROOM = 1.0  # around the box, above it ten times as much [diameters]
LOOP = re.compile(r"^Loop time of (\S+) on 1 procs for (\d+) steps", re.MULTILINE)
HEIGHT = re.compile(r"^height (\S+)$", re.MULTILINE)
VERSION = re.compile(r"^(?:LAMMPS|LIGGGHTS) \((?:Version \S+ )?([^,)]+)", re.MULTILINE)
HOW = {"liggghts": "apt install liggghts", "lmp": "apt install lammps"}
"""By the name of the program: how to get it on Debian."""


def liggghts_steps(bed: Bed, time_step: float, warm: int, steps: int, repeats: int) -> Measured:
    """``warm`` steps of ``time_step`` [s], and ``repeats`` runs of ``steps`` that are timed; PeerMissing without the program."""
    return _run("liggghts", bed, liggghts_script(bed), time_step, (warm, *[steps] * repeats))


def lammps_steps(bed: Bed, time_step: float, warm: int, steps: int, repeats: int) -> Measured:
    """As :func:`liggghts_steps`; LAMMPS needs its package GRANULAR."""
    return _run("lmp", bed, lammps_script(bed), time_step, (warm, *[steps] * repeats))


def liggghts_script(bed: Bed) -> list[str]:
    """Grains, contacts and walls for LIGGGHTS."""
    m = bed.material
    single, pairs = "peratomtype", "peratomtypepair 1"
    values = (
        ("youngsModulus", single, m.youngs_modulus),
        ("poissonsRatio", single, m.poisson_ratio),
        ("coefficientRestitution", pairs, m.restitution),
        ("coefficientFriction", pairs, m.friction),
    )
    model = "gran model hertz tangential history"
    return [
        "atom_style granular",
        *_start("communicate single vel yes"),
        *(f"fix {name} all property/global {name} {kind} {value!r}" for name, kind, value in values),
        f"pair_style {model}",
        "pair_coeff * *",
        *(f"fix {name} all wall/{model} primitive type 1 {axis}plane {at!r}" for name, axis, at in _walls(bed)),
    ]


def lammps_script(bed: Bed) -> list[str]:
    """Grains, contacts and walls for LAMMPS."""
    m = bed.material
    law = (
        f"hertz/material {m.youngs_modulus!r} {m.restitution!r} {m.poisson_ratio!r} "
        f"tangential mindlin NULL 1.0 {m.friction!r} damping tsuji"
    )
    return [
        "atom_style sphere",
        *_start("comm_modify vel yes"),
        "pair_style granular",
        f"pair_coeff * * {law}",
        *(
            f"fix {name} all wall/gran granular {law} {axis}plane {at!r} NULL"
            if name.endswith("lower")
            else f"fix {name} all wall/gran granular {law} {axis}plane NULL {at!r}"
            for name, axis, at in _walls(bed)
        ),
    ]


def _start(velocities: str) -> list[str]:
    return ["units si", "boundary f f f", "newton off", velocities, "read_data bed.data"]


def _walls(bed: Bed) -> list[tuple[str, str, float]]:
    """Name, axis and place of each."""
    lower = [(f"{axis}lower", axis, float(at)) for axis, at in zip("xyz", bed.lower, strict=True)]
    upper = [(f"{axis}upper", axis, float(at)) for axis, at in zip("xy", bed.upper[:2], strict=True)]
    return lower + upper


def grain_file(bed: Bed) -> str:
    """The grains as both programs read them."""
    room = ROOM * bed.diameter
    ends = [
        (lower - room, upper + (10 * room if axis == "z" else room)) for axis, lower, upper in zip("xyz", bed.lower, bed.upper, strict=True)
    ]
    kind = f"1 {bed.diameter!r} {bed.material.density!r}"
    return "\n".join(
        [
            "equal spheres\n",
            f"{len(bed.position)} atoms",
            "1 atom types\n",
            *(f"{lower!r} {upper!r} {axis}lo {axis}hi" for axis, (lower, upper) in zip("xyz", ends, strict=True)),
            "\nAtoms\n",
            *(f"{number} {kind} {x!r} {y!r} {z!r}" for number, (x, y, z) in enumerate(bed.position.tolist(), 1)),
            "",
        ]
    )


def _run(program: str, bed: Bed, script: list[str], time_step: float, runs: tuple[int, ...]) -> Measured:
    path = shutil.which(program)
    if path is None:
        raise PeerMissing(f"{program} is not on the PATH: on Debian {HOW[program]}")
    lines = [
        *script,
        f"neighbor {SKIN * bed.diameter!r} bin",
        "neigh_modify delay 0",
        f"timestep {time_step!r}",
        f"fix weight all gravity {bed.gravity!r} vector 0 0 -1",
        "fix motion all nve/sphere",
        "thermo 1000000",
        "variable height equal xcm(all,z)",
        'print "height ${height}"',
        *(f"run {steps}" for steps in runs),
        'print "height ${height}"',
        "",
    ]
    with tempfile.TemporaryDirectory(prefix=f"granum-{program}-") as folder:
        (Path(folder) / "bed.data").write_text(grain_file(bed))
        (Path(folder) / "in.bed").write_text("\n".join(lines))
        done = subprocess.run(
            [path, "-in", "in.bed"],
            cwd=folder,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            errors="replace",
        )
    heights, loops = HEIGHT.findall(done.stdout), LOOP.findall(done.stdout)
    if done.returncode or len(heights) != 2 or len(loops) != len(runs):
        raise PeerMissing(f"{program} failed: {complaint(done.stdout + done.stderr, done.returncode)}")
    known = VERSION.search(done.stdout)
    return Measured(
        np.array([float(seconds) / int(steps) for seconds, steps in loops[1:]]),
        (float(heights[0]) - float(heights[1])) / bed.diameter,
        version=known[1] if known else "",
    )
