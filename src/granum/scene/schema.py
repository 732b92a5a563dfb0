"""The JSON schema of scene files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..contact import ContactLaw
from ..records import Record
from .mixture import Mixture
from .run_settings import STEPPERS, stepper_record
from .scene import Scene
from .urdf import UrdfFile

DIALECT = "https://json-schema.org/draft/2020-12/schema"
PLACE = "#/$defs/{model}"
BESIDE: tuple[tuple[str, type[Record], str], ...] = (
    ("machines", UrdfFile, "Machines from URDF files."),
    ("mixtures", Mixture, "Sources of several materials."),
)
"""Keys of scene files that become other parts of a scene when it is read."""


def scene_schema() -> dict[str, Any]:
    """All keys of a scene file with their kinds, limits and meanings."""
    found = Scene.model_json_schema(ref_template=PLACE)
    kinds = found["$defs"]
    for key, record, words in BESIDE:
        own = record.model_json_schema(ref_template=PLACE)
        kinds |= own.pop("$defs", {})
        kinds[record.__name__] = own
        found["properties"][key] = {"type": "array", "items": {"$ref": PLACE.format(model=record.__name__)}, "description": words}
    steppers = []
    for name in STEPPERS:
        own = stepper_record(name).model_json_schema(ref_template=PLACE)
        kinds |= own.pop("$defs", {})
        kinds[own["title"]] = own
        steppers.append({"$ref": PLACE.format(model=own["title"])})
    kinds["RunSettings"]["properties"]["stepper"] = {
        "anyOf": [*steppers, {"type": "string", "enum": list(STEPPERS)}, {"type": "null"}],
        "description": "The stepper with its settings, or its name.",
    }
    _list_members(ContactLaw, kinds, ["name"])
    for base in _families():
        _list_members(base, kinds, [])
    return {"$schema": DIALECT, **found, "title": "granum scene file"}


def _families() -> Iterator[type[Record]]:
    """Records of steppers' settings that stand for one of several, such as any solver: their members have names, they have none."""
    for name in STEPPERS:
        for field in stepper_record(name).model_fields.values():
            kind = field.annotation
            if isinstance(kind, type) and issubclass(kind, Record) and kind.__subclasses__():
                yield kind


def _list_members(base: type[Record], kinds: dict[str, Any], needed: list[str]) -> None:
    """In place of the base of a family: any of its members as a table, which needs these keys, or by its name."""
    members = sorted(base.__subclasses__(), key=lambda member: str(member.model_fields["name"].default))
    for member in members:
        own = member.model_json_schema(ref_template=PLACE)
        kinds |= own.pop("$defs", {})
        kinds[member.__name__] = {**own, "required": [*own.get("required", []), *needed]}
    names = [member.model_fields["name"].default for member in members]
    tables = [{"$ref": PLACE.format(model=member.__name__)} for member in members]
    kinds[base.__name__] = {"title": base.__name__, "anyOf": [*tables, {"type": "string", "enum": names}]}
