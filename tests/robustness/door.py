"""One command line, called in this process, and how it ended."""

from __future__ import annotations

import functools
import io
import traceback
import warnings
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any

import typer

from granum.cli import make_app


@dataclass(frozen=True)
class Ending:
    code: int
    stdout: str
    stderr: str
    trace: str
    """The traceback that a user would see; empty: none."""


@functools.cache
def command() -> Any:
    """``granum``, made once: that takes longer than most of what is asked of it."""
    return typer.main.get_command(make_app())


def call(*arguments: object) -> Ending:
    """What ``granum`` with these arguments does."""
    shown, out, err, code, trace = warnings.showwarning, io.StringIO(), io.StringIO(), 0, ""
    try:
        with redirect_stdout(out), redirect_stderr(err):
            command().main([str(a) for a in arguments], prog_name="granum")
    except SystemExit as done:
        code = done.code if isinstance(done.code, int) else int(done.code is not None)
    except Exception:
        code, trace = 1, traceback.format_exc()
    finally:
        warnings.showwarning = shown
    return Ending(code, out.getvalue(), err.getvalue(), trace)
