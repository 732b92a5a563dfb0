"""The JSON schema of scene files."""

from __future__ import annotations

from typing import Any

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
    return {"$schema": DIALECT, **found, "title": "granum scene file"}
