"""What a page of the documents lets a reader do: its files, its commands and its Python, in their order.

- A block ``toml`` or ``python`` of a ``{code-block}`` with a ``:caption:`` is a file of that name.
- A block ``console`` holds commands, in lines that begin with ``$ ``; ``\\`` at the end of a line goes on in the next one. The other lines
  are what they printed. Commands are ``granum ...`` and ``python FILE.py``.
- The other blocks ``python`` share one namespace.
- Everything else (``text``, or ``sh`` for what belongs to the reader's machine, as ``pip install``) is only read.
"""

from __future__ import annotations

import re
import runpy
import shlex
from dataclasses import dataclass
from pathlib import Path

from tests.command_line import granum

FENCE = re.compile(r"^```(?:\{code-block\} )?(\w+)[^\n]*\n((?::caption: (\S+)\n\n?)?)(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Block:
    language: str
    text: str
    file: str | None
    line: int


def blocks(page: Path) -> list[Block]:
    text = page.read_text()
    found = FENCE.finditer(text)
    return [Block(m[1], m[4], m[3], text[: m.start(4)].count("\n")) for m in found if m[1] in ("console", "python", "toml")]


def commands(block: Block) -> list[list[str]]:
    joined = block.text.replace("\\\n", " ")
    return [shlex.split(line[2:], comments=True) for line in joined.splitlines() if line.startswith("$ ")]


def run_command(words: list[str]) -> str:
    """In this process; what it prints. A command that fails is an AssertionError with its words."""
    if words[0] == "python":
        runpy.run_path(words[1], run_name="__main__")
        return ""
    assert words[0] == "granum", f"a page has the command {' '.join(words)!r}: only granum and python are run; fence others as sh"
    result = granum(*words[1:], width=100)
    assert result.exit_code == 0, f"{' '.join(words)}\n{result.stdout}\n{result.stderr}"
    return result.stdout


def run_page(page: Path) -> None:
    """All that the page says, in the present folder."""
    names: dict = {"__name__": "__main__"}
    for block in blocks(page):
        if block.file is not None:
            Path(block.file).write_text(block.text)
        elif block.language == "console":
            for words in commands(block):
                run_command(words)
        elif block.language == "python":
            exec(compile("\n" * block.line + block.text, str(page), "exec"), names)
