"""Help pages: options in panels, units in brackets as they are written."""

from __future__ import annotations

import re
from typing import Any

from typer.core import TyperGroup

ALIASES = {"analyze": "analyse", "minimize": "minimise"}
BRACKET = re.compile(r"(?<!\\)\[(?=[A-Za-z/+,])")


class Commands(TyperGroup):
    """The commands; brackets in their texts, such as [m/s], are no markup."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command, ready for its help page; American spellings do as well."""
        command = super().get_command(ctx, ALIASES.get(cmd_name, cmd_name))
        for part in (command, *(command.params if command is not None else ())):
            if getattr(part, "help", None):
                part.help = flowing(BRACKET.sub(r"\\[", part.help))
        return command


def flowing(text: str) -> str:
    """Paragraphs without the line breaks of the source; those that begin with a backspace, examples, keep theirs."""
    return "\n\n".join(part if part.lstrip().startswith("\b") else " ".join(part.split()) for part in text.split("\n\n"))
