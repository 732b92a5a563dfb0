"""What a benchmark was run with: the moment, the source, the machine and the versions."""

from __future__ import annotations

import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from .._version import __version__
from ..parallel import cores

PACKAGE = Path(__file__).parents[1]


def measured_with() -> dict[str, str]:
    """Date in UTC, version and commit of granum, CPU, cores that this process may use, and versions of Python, NumPy and Numba."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "version": __version__,
        "commit": commit(PACKAGE),
        "cpu": cpu_model(),
        "cores": str(cores()),
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "numba": version("numba"),
    }


def commit(folder: Path) -> str:
    """Of the checkout that ``folder`` is a tracked part of, with ``-dirty`` where files in it were changed since; else empty."""
    if not _git(folder, "ls-files", "--error-unmatch", "__init__.py"):
        return ""
    return _git(folder, "rev-parse", "HEAD") + "-dirty" * bool(_git(folder, "status", "--porcelain", "--", "."))


def _git(folder: Path, *arguments: str) -> str:
    """What git says; empty where it is not there or refuses."""
    try:
        done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, errors="replace")
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def cpu_model(table: Path = Path("/proc/cpuinfo")) -> str:
    """As Linux names it, else as Python does."""
    try:
        lines = table.read_text(errors="replace").splitlines()
    except OSError:
        lines = []
    named = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    return named or platform.processor() or platform.machine()
