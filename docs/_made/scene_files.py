"""Pages of scene files: every key of the JSON schema that ``granum schema`` prints."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from granum.scene.schema import scene_schema
from granum.units import KINDS, units_in

from .markdown import blocks, code, inline, page, table, toctree

LARGEST = 2**62  # a limit of whole numbers that nobody meets
Schema = dict[str, Any]


def anchor(record: str) -> str:
    """Of the part of a page that describes a record."""
    return f"scene-{record.lower()}"


def pages() -> Iterator[tuple[str, str]]:
    """Name and text of every page."""
    whole = scene_schema()
    kinds: dict[str, Schema] = whole["$defs"]
    done: set[str] = set()
    rows, names = [], []
    for key, schema in whole["properties"].items():
        records = [record for record in _reached(schema, kinds) if record not in done]
        done.update(records)
        first = next(iter(_named(schema)), None)
        link = f"[`{key}`]({key}.md)" if records else f"[`{key}`](#{anchor(first)})" if first else code(key)
        many = "array of tables" if schema.get("type") == "array" and first else ""
        meaning = schema.get("description") or (_first_sentence(kinds[first]) if first else "")
        rows.append((link, many or _kind(schema, kinds), _default(schema, key in whole["required"]), inline(meaning)))
        if records:
            names.append(key)
            words = inline(schema.get("description", ""))
            parts = (_record(record, kinds) for record in records if "properties" in kinds[record])
            yield f"scene-files/{key}", page(f"`{key}`", words, _taken(schema, kinds), *parts)
    head = ("key", "kind", "default", "meaning")
    yield "scene-files/keys", page("All keys of a scene file", table(head, rows), toctree(names), anchor=anchor("Scene"))


def _first_sentence(record: Schema) -> str:
    return str(record.get("description", "")).split("\n\n")[0].split(". ")[0]


def units_page() -> str:
    """Units that quantities may be given in."""
    rows = [(what, ", ".join(map(code, units.split(", ")))) for what, units in KINDS.values()]
    return table(("what it measures", "units, the first of them SI"), rows)


def _named(schema: Any) -> Iterator[str]:
    """Records that a part of the schema refers to itself."""
    if isinstance(schema, dict):
        if "$ref" in schema:
            yield schema["$ref"].rsplit("/", 1)[1]
        for key, part in schema.items():
            if key not in ("default", "discriminator"):
                yield from _named(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from _named(part)


def _reached(schema: Schema, kinds: dict[str, Schema]) -> list[str]:
    """Records that stand in this part of a scene file, at any depth, the outer ones first."""
    found: list[str] = []
    level = list(dict.fromkeys(_named(schema)))
    while level:
        found += level
        level = [record for record in dict.fromkeys(r for outer in level for r in _named(kinds[outer])) if record not in found]
    return found


def _taken(schema: Schema, kinds: dict[str, Schema]) -> str:
    """What stands for this key, if it is one of several."""
    named = list(_named(schema))
    kind = _kind(schema, kinds)
    return f"In a scene file this is: {kind}." if len(named) > 1 or "anyOf" in schema or not kind.startswith("{ref}") else ""


def _record(name: str, kinds: dict[str, Schema]) -> str:
    own = kinds[name]
    needed = own.get("required", [])
    rows = [
        (
            code(key),
            _kind(field, kinds),
            ", ".join(units_in(field.get("description", ""))),
            _default(field, key in needed),
            _range(field),
            inline(field.get("description", "")),
        )
        for key, field in own["properties"].items()
    ]
    head = ("key", "kind", "unit", "default", "range", "meaning")
    return page(f"## {name}", blocks(own.get("description", "")), table(head, rows), anchor=anchor(name))


def _kind(schema: Schema, kinds: dict[str, Schema]) -> str:
    """In words, with links to records."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return f"{{ref}}`{name} <{anchor(name)}>`" if "properties" in kinds[name] else _kind(kinds[name], kinds)
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return " or ".join(dict.fromkeys(_kind(part, kinds) for part in schema[several]))
    if "const" in schema or "enum" in schema:
        return " or ".join(code(json.dumps(value)) for value in schema.get("enum", [schema.get("const")]))
    kind = schema.get("type")
    if kind == "array":
        return _list(schema, kinds)
    if isinstance(kind, list):
        return "number"  # a quantity as text, too: it has a unit then
    names = {"integer": "whole number", "string": "text", "boolean": "true or false", "null": "none", "object": "table", "number": "number"}
    return names.get(kind, "array" if kind is None else kind)


def _list(schema: Schema, kinds: dict[str, Schema]) -> str:
    parts = [_kind(part, kinds) for part in schema.get("prefixItems", [])]
    if parts:
        return f"{len(parts)} {parts[0]}s" if len(set(parts)) == 1 and " " not in parts[0] else f"[{', '.join(parts)}]"
    return f"list of {_kind(schema['items'], kinds)}" if "items" in schema else "list"


def _default(schema: Schema, needed: bool) -> str:
    if needed:
        return "**needed**"
    if "default" not in schema:
        return ""
    value = schema["default"]
    if value is None:
        return "none"
    if isinstance(value, dict):
        return f"`{value['name']}`" if "name" in value else "its defaults"
    return code(json.dumps(value)) if value != [] else "none"


def _range(schema: Schema) -> str:
    """Limits of a number, in signs."""
    numbers = [part for part in (schema, *schema.get("anyOf", ())) if part.get("type") != "null"]
    found = []
    for part in numbers:
        low, over = part.get("minimum", part.get("ge")), part.get("exclusiveMinimum")
        high, under = part.get("maximum"), part.get("lt", part.get("exclusiveMaximum"))
        found += [f"≥ {low:g}"] if low is not None and over is None else [f"> {over:g}"] if over is not None else []
        if under is not None and under < LARGEST:
            found.append(f"< {under:g}")
        elif high is not None and high < LARGEST:
            found.append(f"≤ {high:g}")
    return ", ".join(dict.fromkeys(found))
