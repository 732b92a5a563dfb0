"""The bed in Bullet, in a process of its own: Bullet writes to the output, and what it does wrong ends nobody else."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from .bed import Bed, Measured, PeerMissing, complaint

HOW = "pip install pybullet"


def bullet_steps(bed: Bed, time_step: float, iterations: int, warm: int, steps: int) -> Measured:
    """``warm`` steps of ``time_step`` [s] with so many sweeps, and ``steps`` that are timed; PeerMissing without pybullet."""
    if importlib.util.find_spec("pybullet") is None:
        raise PeerMissing(f"pybullet is not installed: {HOW}")
    with tempfile.TemporaryDirectory(prefix="granum-bullet-") as folder:
        given, found = Path(folder) / "bed.npz", Path(folder) / "found.json"
        np.savez(
            given,
            position=bed.position / bed.diameter,
            lower=np.array(bed.lower) / bed.diameter,
            upper=np.array(bed.upper) / bed.diameter,
            gravity=bed.gravity / bed.diameter,
            friction=bed.material.friction,
            time_step=time_step,
            counts=(iterations, warm, steps),
        )
        command = [sys.executable, "-m", f"{__package__}.bullet_world", str(given), str(found)]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace")
        if done.returncode or not found.exists():
            raise PeerMissing(f"pybullet failed: {complaint(done.stdout + done.stderr, done.returncode)}")
        answer = json.loads(found.read_text())
    return Measured(np.array(answer["seconds"]), answer["sunk"], answer["contacts"], answer["version"])
