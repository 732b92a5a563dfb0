"""Tests see what a user sees: none of them reaches into a class or module for a name that begins with an underscore.

So the inside of the package can be written anew without touching tests that are not about it.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
ALLOWED = {
    "_jit",  # kernels of tests are made with ``kernel`` of that module, as CONTRIBUTING says
    "_exit",  # of os: a process that ends without closing anything
    "_fields",  # of named tuples
    "_asdict",
    "_replace",
    "_assign_work_unit",  # of the schedulers of pytest-xdist: how files of tests are handed out
    "_get_command",  # of the runner for tests of Typer: what it does in every call can be done once
    "_repr_html_",  # what notebooks ask for
}


def private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in ALLOWED and name != "_"


def private_names(source: str) -> list[tuple[int, str]]:
    """(line, name) of attributes, imports and texts given to ``setattr`` and the like that are private."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and private(node.attr):
            own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            found += [] if own else [(node.lineno, node.attr)]
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            words = [*(alias.name for alias in node.names), getattr(node, "module", None) or ""]
            found += [(node.lineno, part) for word in words for part in word.split(".") if private(part)]
        elif isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in ("setattr", "getattr", "delattr", "hasattr", "setitem"):
                texts = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
                found += [(node.lineno, part) for text in texts for part in text.split(".") if private(part)]
    return found


@pytest.mark.parametrize("path", sorted(TESTS.rglob("*.py")), ids=lambda path: str(path.relative_to(TESTS)))
def test_no_private_name_is_used(path):
    assert private_names(path.read_text()) == []


def test_private_names_are_noticed():
    source = "from a._b import c\nx._y = 1\nself._own = 2\nos._exit(0)\nmonkeypatch.setattr(z, '_w', 1)\nimport granum._jit\nx.__dict__"
    assert sorted(private_names(source)) == [(1, "_b"), (2, "_y"), (5, "_w")]
