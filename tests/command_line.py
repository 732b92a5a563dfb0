"""The command line, called in this process."""

from __future__ import annotations

import functools
import warnings

import typer
from typer import testing
from typer.main import get_command
from typer.testing import CliRunner, Result

from granum.cli import make_app

testing._get_command = functools.cache(get_command)  # else the parameters of all commands are looked at in every call


@functools.cache
def app() -> typer.Typer:
    """``granum``, made once."""
    return make_app()


def granum(*arguments: object, width: int = 400) -> Result:
    """What ``granum`` with these arguments does on a terminal of that many columns; a traceback that a user would see is raised."""
    shown = warnings.showwarning
    try:
        result = CliRunner(env={"COLUMNS": str(width)}).invoke(app(), [str(a) for a in arguments], prog_name="granum")
    finally:
        warnings.showwarning = shown  # a run shows warnings its own way
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result
