"""What features bring to commands: options of ``granum run``, lines of help pages, and refusals of commands that do not have them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..features import parts

FEATURES = parts("cli")
PARAMETERS = tuple(parameter for part in FEATURES for parameter in part.PARAMETERS)
"""Of ``granum run``."""
REFUSED = tuple(parameter for part in FEATURES for parameter in part.REFUSED)
"""Of commands without time, which understand them to refuse them in words."""


def asked(given: Mapping[str, Any]) -> list[Any]:
    """What ``granum run`` was asked for, by feature: each has ``add_to(scene)``, and ``set_in(settings, scene, stepper)``."""
    return [part.asked(given) for part in FEATURES]


def refuse(given: Mapping[str, Any]) -> None:
    """For commands without time: InputError if any of ``REFUSED`` was given."""
    for part in FEATURES:
        part.refuse(given)


def examples(command: str) -> tuple[str, ...]:
    """Lines for the help page of a command."""
    return tuple(line for part in FEATURES for line in part.EXAMPLES.get(command, ()))
