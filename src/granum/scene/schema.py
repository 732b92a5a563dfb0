"""The JSON schema of scene files."""

from __future__ import annotations

from typing import Any

from .run_settings import STEPPERS, stepper_record
from .scene import Scene
from .urdf import UrdfFile

DIALECT = "https://json-schema.org/draft/2020-12/schema"
PLACE = "#/$defs/{model}"


def scene_schema() -> dict[str, Any]:
    """All keys of a scene file with their kinds, limits and meanings."""
    found = Scene.model_json_schema(ref_template=PLACE)
    kinds = found["$defs"]
    machine = UrdfFile.model_json_schema(ref_template=PLACE)
    kinds |= machine.pop("$defs", {})
    kinds["UrdfFile"] = machine
    steppers = []
    for name in STEPPERS:
        record = stepper_record(name).model_json_schema(ref_template=PLACE)
        kinds |= record.pop("$defs", {})
        kinds[record["title"]] = record
        steppers.append({"$ref": PLACE.format(model=record["title"])})
    kinds["RunSettings"]["properties"]["stepper"] = {
        "anyOf": [*steppers, {"type": "string", "enum": list(STEPPERS)}, {"type": "null"}],
        "description": "The stepper with its settings, or its name.",
    }
    found["properties"]["machines"] = {
        "type": "array",
        "items": {"$ref": PLACE.format(model="UrdfFile")},
        "description": "Machines from URDF files.",
    }
    return {"$schema": DIALECT, **found, "title": "granum scene file"}
