"""What extensions bring to commands: options of ``granum run``, lines of help pages, and refusals of commands that do not have them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..extensions import modules

EXTENSIONS = modules("cli")
PARAMETERS = tuple(parameter for module in EXTENSIONS for parameter in module.PARAMETERS)
"""Of ``granum run``."""
REFUSED = tuple(parameter for module in EXTENSIONS for parameter in module.REFUSED)
"""Of commands without time, which understand them to refuse them in words."""


def asked(given: Mapping[str, Any]) -> list[Any]:
    """What ``granum run`` was asked for, by extension: each has ``add_to(scene)``, and ``set_in(settings, scene, stepper)``."""
    return [module.asked(given) for module in EXTENSIONS]


def refuse(given: Mapping[str, Any]) -> None:
    """For commands without time: InputError if any of ``REFUSED`` was given."""
    for module in EXTENSIONS:
        module.refuse(given)


def examples(command: str) -> tuple[str, ...]:
    """Lines for the help page of a command."""
    return tuple(line for module in EXTENSIONS for line in module.EXAMPLES.get(command, ()))
