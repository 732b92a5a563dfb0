"""What is imported late, inside functions or for types only, can be imported: nobody meets a name that was moved away in a rare branch."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

import granum

ROOT = Path(granum.__file__).parent
MODULES = sorted(ROOT.rglob("*.py"))


def imports_of(path: Path) -> list[tuple[str, str]]:
    """(module, name) of every import from granum in a file, wherever it stands."""
    package = ["granum", *path.relative_to(ROOT).parent.parts]
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1]
            module = ".".join([*base, *([node.module] if node.module else [])])
            found += [(module, alias.name) for alias in node.names]
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_name_is_there(path):
    for module, name in imports_of(path):
        if not hasattr(importlib.import_module(module), name):
            importlib.import_module(f"{module}.{name}")
