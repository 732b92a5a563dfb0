"""Talk to stderr, results to stdout, and every error in words with its exit code."""

from __future__ import annotations

import functools
import io
import json
import math
import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import typer

from ..checks import InputError, OutputError, RunError
from ..memory import want
from ..talk import talk

Command = TypeVar("Command", bound=Callable[..., Any])
FAILED, BAD_INPUT = 1, 2
LONGEST_NAME = 255  # bytes


def command_line() -> str:
    """As typed."""
    return " ".join(["granum", *sys.argv[1:]])


def pairs(texts: list[str]) -> dict[str, str]:
    """Keys and values of ``--set``."""
    values = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise InputError(f"--set needs key=value (got {text!r}).")
        values[key.strip()] = value.strip()
    return values


def print_json(content: dict[str, Any]) -> None:
    """One JSON object on stdout; numbers that JSON does not know become null."""
    sys.stdout.write(json.dumps(finite(content), indent=2) + "\n")
    sys.stdout.flush()


def finite(value: Any) -> Any:
    """``value`` with NaN and infinities replaced by None."""
    if isinstance(value, dict):
        return {key: finite(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def check_picture(path: Path) -> None:
    """Refuse, before anything is computed, a place where no picture can be written."""
    if path.suffix.lower() != ".png":
        raise InputError(f"output {path} must end in .png.")
    if not path.parent.is_dir():
        raise InputError(f"output {path} cannot be written: the folder {path.parent} does not exist.")
    if path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
        raise InputError(f"output {path} cannot be written. Choose another place with -o.")


def in_words(command: Command) -> Command:
    """A command whose errors come out as a line on stderr and an exit code instead of a traceback."""

    @functools.wraps(command)
    def door(*args: Any, **kwargs: Any) -> Any:
        warnings.showwarning = _show_warning
        try:
            _check_names(kwargs)
            return command(*args, **kwargs)
        except InputError as error:
            _refuse(str(error), BAD_INPUT)
        except RunError as error:
            _refuse(str(error), BAD_INPUT if isinstance(error, OutputError) else FAILED)
        except KeyboardInterrupt as error:
            talk("stopped.")
            raise typer.Exit(128 + getattr(error, "number", 2)) from None
        except MemoryError as error:
            _refuse(want(error), BAD_INPUT)
        except BrokenPipeError:  # whoever read the output has enough of it
            raise
        except OSError as error:
            _refuse(system_words(error), BAD_INPUT)

    return door  # type: ignore[return-value]


def _check_names(arguments: dict[str, Any]) -> None:
    """Refuse names that no file can have; what may be a folder is called ``folder``."""
    for option, value in arguments.items():
        for path in value if isinstance(value, (list, tuple)) else [value]:
            if not isinstance(path, Path):
                continue
            if option != "folder" and path.name in ("", ".."):
                raise InputError(f"{option} must be the name of a file (got {str(path)!r}: it is a folder).")
            longest = max(map(len, map(os.fsencode, path.parts)), default=0)
            if longest > LONGEST_NAME:
                raise InputError(f"{option} has a name of {longest} bytes, and files have names of {LONGEST_NAME} at most: {path}")


def system_words(error: OSError) -> str:
    """What the system refused to do."""
    if error.filename is not None:
        return f"{error.filename}: {error.strerror or error}."
    return f"a file or the output cannot be read or written: {error.strerror or error}."


def guarded(app: Callable[[], Any]) -> None:
    """Call the application; what stdout does not take (a full disk) is said in words, and given up.

    Signs that a terminal's encoding lacks come out as question marks.
    """
    code: Any = 0
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        try:
            app()
        except SystemExit as done:
            code = done.code
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read the output has enough of it
        sys.stdout, code = open(os.devnull, "w"), code or FAILED  # noqa: SIM115  (open until the process ends)
    except OSError as error:
        sys.stdout, code = open(os.devnull, "w"), BAD_INPUT  # noqa: SIM115
        talk(f"error: {system_words(error)}", style="red")
    sys.exit(code)


def _refuse(message: str, code: int) -> None:
    talk(f"error: {message}", style="red")
    raise typer.Exit(code) from None


def _show_warning(message: Any, category: Any, filename: Any, lineno: Any, file: Any = None, line: Any = None) -> None:
    talk(f"warning: {message}", style="yellow")
