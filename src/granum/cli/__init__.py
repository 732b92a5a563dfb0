"""The command line. A command is a module with ``register(app)``; it imports what it needs when it runs.

To add a command: write the module, name it in ``COMMANDS``. Results go to stdout, talk to stderr; exit codes are 0 done, 1 the run
failed, 2 bad input.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import typer

COMMANDS = (
    "run",
    "restart",
    "jam",
    "minimise",
    "shear",
    "sweep",
    "calibrate",
    "info",
    "analyse",
    "plot",
    "export",
    "compare",
    "solve",
    "scenes",
    "init",
    "check",
    "schema",
    "plan",
    "bench",
    "doctor",
    "reproduce",
    "references",
)  # in the order of the help page


def make_app() -> typer.Typer:
    """The application with all commands that are there."""
    import typer

    from .._version import __version__
    from .help import Commands

    app = typer.Typer(
        name="granum",
        help="Granular matter: simulate, record, look.",
        no_args_is_help=True,
        add_completion=True,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        cls=Commands,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    def show_version(wanted: bool) -> None:
        if wanted:
            typer.echo(f"granum {__version__}")
            raise typer.Exit

    @app.callback()
    def granum(version: bool = typer.Option(False, "--version", callback=show_version, is_eager=True, help="Show the version.")) -> None:
        """Granular matter: simulate, record, look."""

    for name in COMMANDS:
        if importlib.util.find_spec(f".{name}", __name__) is not None:
            importlib.import_module(f".{name}", __name__).register(app)
    return app


def main() -> None:
    """The ``granum`` command."""
    from .console import guarded

    guarded(make_app())
