"""The pages on how granum works: functions that they name exist, and every numbered equation names the one that computes it."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted((DOCS / "theory").glob("*.md"))
NAMED = re.compile(r"`(granum(?:\.\w+)+)`")
EQUATION = re.compile(r"^\$\$ \((eq:[\w-]+)\)$", re.MULTILINE)
LINK = re.compile(r"\{eq\}`(eq:[\w-]+)`")
CITED = re.compile(r"\{ref\}`[^`<]*<([\w-]+)>`")
COMPUTED = re.compile(r"\*Computed by (.+?)\*\n", re.DOTALL)


def resolved(name: str) -> Any:
    """What a dotted name stands for: the longest part of it that is a module, and attributes from there on."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        module = ".".join(parts[:count])
        try:
            found = importlib.import_module(module)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{module}.".startswith(f"{error.name}."):  # something else is missing
                raise
            continue
        for attribute in parts[count:]:
            if attribute in getattr(found, "model_fields", {}):  # a field of a record
                return found.model_fields[attribute]
            found = getattr(found, attribute)
        return found
    raise ModuleNotFoundError(name)


def test_there_are_pages():
    assert len(PAGES) > 1


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_names_exist(page):
    missing = []
    for name in sorted(set(NAMED.findall(page.read_text()))):
        try:
            resolved(name)
        except (ModuleNotFoundError, AttributeError):
            missing.append(name)
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_equation_names_the_function_that_computes_it(page):
    text = page.read_text()
    for equation in EQUATION.finditer(text):
        computed = COMPUTED.match(text, equation.end() + 2)
        assert computed, f"{equation[1]} of {page.name} is not followed by what computes it"
        assert NAMED.search(computed[1]), f"{equation[1]} of {page.name} names no function"


def test_links_to_equations_and_references_end_somewhere():
    texts = {page.name: page.read_text() for page in PAGES}
    equations = [name for text in texts.values() for name in EQUATION.findall(text)]
    assert len(set(equations)) == len(equations)
    anchors = set(re.findall(r"^\(([\w-]+)\)=$", (DOCS / "bibliography.md").read_text() + "\n".join(texts.values()), re.MULTILINE))
    for name, text in texts.items():
        assert set(LINK.findall(text)) <= set(equations), name
        assert set(CITED.findall(text)) <= anchors, name
