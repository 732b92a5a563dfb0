"""What tests of files share: the command line in words, and small runs."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

from typer.testing import CliRunner, Result

from granum.cli import make_app


def command(*arguments: object) -> Result:
    """A command in this process; a traceback that a user would see is raised."""
    shown = warnings.showwarning
    try:
        result = CliRunner(env={"COLUMNS": "400"}).invoke(make_app(), [str(a) for a in arguments])
    finally:
        warnings.showwarning = shown
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def run_column(path: Path, *options: object) -> Result:
    """Two grains that fall on each other, recorded: the smallest run with contacts."""
    return command("run", "column", "--set", "count=2", "--duration", 0.02, "--every", 0.004, "--no-picture", "-o", path, *options)


def files_below(folder: Path) -> dict[str, bytes]:
    """Name and content of every file."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file() and os.access(p, os.R_OK)}
