"""What tests of files share: a small run, and what lies in a folder."""

from __future__ import annotations

import os
from pathlib import Path

from typer.testing import Result

from tests.command_line import granum


def run_column(path: Path, *options: object) -> Result:
    """Two grains that fall on each other, recorded: the smallest run with contacts."""
    return granum("run", "column", "--set", "count=2", "--duration", 0.02, "--every", 0.004, "--no-picture", "-o", path, *options)


def files_below(folder: Path) -> dict[str, bytes]:
    """Name and content of every file."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file() and os.access(p, os.R_OK)}
