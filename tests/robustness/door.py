"""One command line, called in this process, and how it ended."""

from __future__ import annotations

import traceback
import warnings
from dataclasses import dataclass

from typer.testing import CliRunner

from granum.cli import make_app


@dataclass(frozen=True)
class Ending:
    code: int
    stdout: str
    stderr: str
    trace: str
    """The traceback that a user would see; empty: none."""


def call(*arguments: object) -> Ending:
    """What ``granum`` with these arguments does."""
    shown = warnings.showwarning
    try:
        result = CliRunner(env={"COLUMNS": "400"}).invoke(make_app(), [str(a) for a in arguments])
    finally:
        warnings.showwarning = shown
    error = result.exception
    trace = "" if error is None or isinstance(error, SystemExit) else "".join(traceback.format_exception(error))
    return Ending(result.exit_code, result.stdout, result.stderr, trace)
