"""Functions have few parameters: what travels together is a group, and a call says what it hands over."""

from __future__ import annotations

import ast
from pathlib import Path

import granum

ROOT = Path(granum.__file__).parent
MANY = 10  # parameters, at most, of a function
WIDE_SCENES = 10  # scenes of the library, at most, that have more: their keywords are what a user sets


def wide_functions(source: str) -> list[tuple[str, bool]]:
    """(name, whether it is a scene of the library) of functions with more than ``MANY`` parameters; self and cls are none."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
            if len(names) - (names[:1] in (["self"], ["cls"])) > MANY:
                found.append((node.name, "library_scene" in map(ast.unparse, node.decorator_list)))
    return found


def test_only_scenes_of_the_library_have_more_than_ten_parameters():
    found = {path.relative_to(ROOT).as_posix(): wide_functions(path.read_text()) for path in sorted(ROOT.rglob("*.py"))}
    assert [(path, name) for path, wide in found.items() for name, is_scene in wide if not is_scene] == []
    assert sum(map(len, found.values())) <= WIDE_SCENES


def test_wide_functions_are_noticed():
    ten = ", ".join(f"p{k}" for k in range(10))
    source = f"""
class A:
    def fits(self, {ten}): ...
    @device
    def wide(cls, {ten}, *, one_more): ...
@library_scene
def scene({ten}, one_more): ...
def loose(first, /, {ten}):
    def inside({ten}, *many): ...
"""
    assert sorted(wide_functions(source)) == [("loose", False), ("scene", True), ("wide", False)]
