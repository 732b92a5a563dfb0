"""Bodies, joints, sinks and counters of a scene, in tables."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from .tables import show_columns

if TYPE_CHECKING:
    from ..scene.scene import Scene

TARGETS = {"speed": ("m/s", "rad/s"), "position": ("m", "rad"), "force": ("N", "N m"), "pressure": ("Pa", "Pa")}


def describe_bodies(scene: Scene) -> list[dict[str, Any]]:
    """Name, kind, mass [kg], walls and grains fixed to it of every body, the ground first."""
    fixed: Counter[str] = Counter()
    for block in scene.grains:
        if block.body is not None:
            fixed[block.body] += len(block.place()[0])
    return [
        {
            "name": body.name,
            "kind": body.kind,
            "mass": body.mass,
            "walls": [wall.shape for wall in body.walls],
            "fixed_grains": fixed[body.name],
        }
        for body in scene.all_bodies
    ]


def describe_joints(scene: Scene) -> list[dict[str, Any]]:
    """Name, kind, bodies, motor and limits of every joint, the last two in words."""
    return [
        {"name": joint.name, "kind": joint.kind, "bodies": list(joint.bodies), "motor": _motor(joint), "limits": _limits(joint)}
        for joint in scene.joints
    ]


def _motor(joint: Any) -> str | None:
    motor = getattr(joint, "motor", None)
    if motor is None:
        return None
    angle = joint.kind == "hinge"
    name = next(name for name in TARGETS if getattr(motor, name) is not None)
    target = getattr(motor, name)
    unit = TARGETS[name][angle]
    words = f"{name} {target:g} {unit}" if not isinstance(target, tuple) else f"{name} by a table of {len(target)} times, in {unit}"
    if motor.area is not None:
        words += f" on {motor.area:g} m^2"
    return words if motor.force_limit is None else f"{words}, at most {motor.force_limit:g} {TARGETS['force'][angle]}"


def _limits(joint: Any) -> str | None:
    limits = getattr(joint, "limits", None)
    if limits is None:
        return None
    unit = TARGETS["position"][joint.kind == "hinge"]
    if limits.lower is None or limits.upper is None:
        return f"from {limits.lower:g} {unit}" if limits.upper is None else f"to {limits.upper:g} {unit}"
    return f"{limits.lower:g} to {limits.upper:g} {unit}"


def describe_counters(scene: Scene) -> list[dict[str, Any]]:
    """Name, kind and region of every sink, then of every counter."""
    kinds: dict[str, tuple[Any, ...]] = {"sink": scene.sinks, "counter": scene.counters}
    return [{"name": one.name, "kind": kind, "region": one.region.model_dump(mode="json")} for kind, ones in kinds.items() for one in ones]


def show_counters(counters: list[dict[str, Any]]) -> None:
    """Nothing where there are none."""
    from rich.markup import escape

    if counters:
        show_columns(
            ("<name", "<kind", "<region"),
            ((escape(one["name"]), one["kind"], _region(one["region"])) for one in counters),
            title="sinks and counters",
        )


def _region(region: dict[str, Any]) -> str:
    rest = (
        f"{key} {value:g}" if isinstance(value, float) else f"{key} ({', '.join(f'{x:g}' for x in value)})"
        for key, value in region.items()
        if key != "shape"
    )
    return f"{region['shape']}, {', '.join(rest)} \\[m]"


def show_machines(bodies: list[dict[str, Any]], joints: list[dict[str, Any]]) -> None:
    """Both tables; nothing of joints where there are none."""
    show_columns(
        ("<body", "<kind", "mass \\[kg]", "<walls"),
        ((one["name"], one["kind"], "-" if one["mass"] is None else f"{one['mass']:g}", _walls(one)) for one in bodies),
        title="bodies",
    )
    if joints:
        show_columns(
            ("<joint", "<kind", "<bodies", "<motor", "<limits"),
            ((one["name"], one["kind"], " - ".join(one["bodies"]), one["motor"] or "-", one["limits"] or "-") for one in joints),
            title="joints",
        )


def _walls(body: dict[str, Any]) -> str:
    shapes = [name if count == 1 else f"{count} {name}" for name, count in Counter(body["walls"]).items()]
    grains = [f"{body['fixed_grains']} grains"] if body["fixed_grains"] else []
    return ", ".join([*shapes, *grains]) or "-"
