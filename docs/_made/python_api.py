"""Pages of the Python interface: all that ``import granum`` gives, with signatures, units and texts as the source has them."""

from __future__ import annotations

import ast
import importlib
import inspect
import textwrap
from collections.abc import Iterator
from dataclasses import is_dataclass
from types import FunctionType
from typing import Any

import granum
from granum.record_help import Words, in_words
from granum.records import Record

from .markdown import blocks, code, inline, page, table, toctree
from .scene_files import anchor

GROUPS = {
    "Run": ("run", "simulate", "restart", "Simulation", "Run", "Settings", "Guards"),
    "Read and measure": ("Recording", "Snapshot", "export_vtk", "write_state"),
    "Many runs": ("sweep", "calibrate", "jam_many", "RunTable", "Calibration", "Pool"),
    "Watch a run": ("Recorder", "Checkpointer", "Energy", "Progress", "StopWhen", "Observer", "seconds", "steps"),
    "Scenes from names and files": ("load_scene", "make_scene", "read_urdf", "check_scene", "write_scene"),
    "Packings": (
        "pack", "jam", "minimise", "shear", "measure", "moduli", "random_packing", "relax_run", "packing_scene", "read_packing",
        "run_jam", "run_minimise", "run_shear", "Packing", "PackingWriter", "PowerLaw",
    ),
    "Errors": ("InputError", "RunError"),
}  # fmt: skip
"""Names by what they are for; records of scenes and settings have a page of their own."""
BESIDE = {
    "Read and measure": (
        "granum.io.frame:Frame", "granum.io.frame:FrameContacts", "granum.io.frame:FrameWalls", "granum.io.frame:FrameJoints",
        "granum.io.series:BodySeries", "granum.io.series:JointSeries", "granum.io.series:CounterSeries", "granum.io.data_table:DataTable",
        "granum.analysis.metrics:measure_recording", "granum.analysis.metric:MetricResult",
    ),
    "Run": (
        "granum.simulation.body_view:BodyView", "granum.machines:JointView", "granum.state.contacts:Contacts",
        "granum.state.report:StepReport",
    ),
}  # fmt: skip
"""What these give, and has no name in the package itself."""
LOOKED_AT = ("granum.state.contacts.Contacts",)
"""Classes whose functions are the business of steppers: users read fields and properties."""


def pages() -> Iterator[tuple[str, str]]:
    """Name and text of every page."""
    names = [group.lower().replace(" ", "-") for group in GROUPS]
    for name, (group, members) in zip(names, GROUPS.items(), strict=True):
        found = [(f"granum.{member}", getattr(granum, member)) for member in members]
        beside = [(place.replace(":", "."), _at(place)) for place in BESIDE.get(group, ())]
        given = [page("## What these give", *(_entry(path, one, made=False) for path, one in beside))] if beside else []
        yield f"python/{name}", page(group, *(_entry(path, one) for path, one in found), *given)
    yield "python/records", _records({member for members in GROUPS.values() for member in members})
    links = [f"- [{group}]({name}.md)" for name, group in zip(names, GROUPS, strict=True)]
    words = (
        "`import granum` imports nothing yet: each name is loaded when it is first used. All numbers are in SI units. "
        "`FloatArray` stands for a NumPy array of double precision, `IndexArray`, `IntArray` and `LongArray` for arrays of whole numbers, "
        "and the letters in a shape such as (N, 3) are counts: N grains, C contacts, W bodies, J joints, F frames."
    )
    yield "python/index", page("Python interface", words, "\n".join([*links, "- [Records](records.md)"]), toctree([*names, "records"]))


def _at(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)


def _records(shown: set[str]) -> str:
    """Names of the package that are records of scenes and settings."""
    rows = []
    for name in granum.__all__:
        one = getattr(granum, name)
        if name in shown or not (isinstance(one, type) and issubclass(one, Record)):
            continue
        rows.append((f"{{ref}}`granum.{name} <{anchor(name)}>`", inline(one.own_text.split("\n\n")[0])))
    words = (
        'Scenes and settings are made of records: `Material(name="glass", friction=0.4)`. A record takes its fields by their names, checks '
        "them, and cannot be changed afterwards. Its fields are the keys that it has in scene files, where each is explained."
    )
    return page("Records", words, table(("record", "what it is"), rows))


def _entry(path: str, one: Any, made: bool = True) -> str:
    """A function or class, as an object of the site's index; a class that users get and do not make has no signature."""
    if not isinstance(one, type):
        return _directive("py:function", f"{path}{_signature(one)}", blocks(_doc(one)))
    parts = [blocks(one.own_text if issubclass(one, Record) else _doc(one)), _fields(one)]
    for name, member in _members(one):
        if isinstance(member, (FunctionType, classmethod, staticmethod)):
            if path in LOOKED_AT:
                continue
            kind = "" if isinstance(member, FunctionType) else f":{'classmethod' if isinstance(member, classmethod) else 'staticmethod'}:"
            shown = _signature(getattr(member, "__func__", member), bound=not isinstance(member, staticmethod))
            parts.append(_directive("py:method", f"{name}{shown}", kind, blocks(_doc(member)), marks=3))
        else:
            getter = getattr(member, "fget", None) or getattr(member, "func", None)
            kind = f":type: {_annotation(getter.__annotations__.get('return', ''))}" if getter is not None else ""
            parts.append(_directive("py:property", name, kind if kind != ":type: " else "", blocks(_doc(getter)), marks=3))
    exception = issubclass(one, BaseException)
    # Records and dataclasses are made with their fields, which are shown below.
    bare = not made or exception or issubclass(one, Record) or is_dataclass(one) or getattr(one, "_is_protocol", False)
    signature = "" if bare else _signature(one)
    return _directive("py:exception" if exception else "py:class", f"{path}{signature}", *parts)


def _directive(kind: str, argument: str, *parts: str, marks: int = 4) -> str:
    fence = ":" * marks
    body = "\n\n".join(part for part in parts if part)
    return f"{fence}{{{kind}}} {argument}\n{body}\n{fence}"


def _doc(one: Any) -> str:
    """Its own text; that of its constructor follows, where it has one."""
    made = one.__dict__.get("__init__") if isinstance(one, type) else None
    # Dataclasses without a text have their signature for one.
    own = inspect.cleandoc(one.__doc__ or "") if not (isinstance(one, type) and (one.__doc__ or "").startswith(f"{one.__name__}(")) else ""
    return "\n\n".join(
        filter(None, [own, inspect.cleandoc(getattr(made, "__doc__", None) or "") if isinstance(made, FunctionType) else ""])
    )


def _signature(one: Any, bound: bool = False) -> str:
    found = inspect.signature(one)
    parameters = list(found.parameters.values())[1 if bound else 0 :]
    shown = [p.replace(annotation=_annotation(p.annotation), default=_default(p.default)) for p in parameters]
    gives = _annotation(found.return_annotation) if not isinstance(one, type) else inspect.Signature.empty
    return str(found.replace(parameters=shown, return_annotation=gives))


def _annotation(value: Any) -> Any:
    """As the source has it."""
    return value if value is inspect.Parameter.empty else Words(value if isinstance(value, str) else in_words(value))


def _default(value: Any) -> Any:
    if value is inspect.Parameter.empty or not repr(value).startswith("<"):
        return value
    return Words(getattr(value, "__name__", "..."))


def _fields(one: type) -> str:
    """Fields of a class with what is said of them: in a text below them, or in a comment behind them."""
    if issubclass(one, Record):
        fields = one.model_fields.items()
        return table(("field", "meaning"), ((code(name), inline(field.description or "")) for name, field in fields))
    source = textwrap.dedent(inspect.getsource(one))
    body = next(node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)).body
    rows = [*_variables(body, source)]
    for node in body:
        if isinstance(node, ast.FunctionDef) and not node.decorator_list:
            rows += _variables(node.body, source, of_self=True)
    return table(("field", "type", "meaning"), rows)


def _variables(lines: list[ast.stmt], source: str, of_self: bool = False) -> Iterator[tuple[str, str, str]]:
    """What a class, or ``self`` in one of its functions, is given with a type or a text: name, type with default, and text."""
    for node, after in zip(lines, [*lines[1:], None], strict=True):
        if not isinstance(node, (ast.AnnAssign, ast.Assign)):
            continue
        target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
        if of_self:
            name = target.attr if isinstance(target, ast.Attribute) and ast.unparse(target.value) == "self" else "_"
        else:
            name = target.id if isinstance(target, ast.Name) else "_"
        text = after.value.value if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) else ""
        text = text or source.splitlines()[node.end_lineno - 1].partition("  # ")[2]
        kind = ast.unparse(node.annotation) if isinstance(node, ast.AnnAssign) else ""
        if name.startswith("_") or not (kind or text) or "ClassVar" in kind:
            continue
        default = ast.unparse(node.value) if not of_self and node.value is not None else ""
        shown = f"{kind} = {default}" if default and "field(" not in default else kind
        yield code(name), code(shown), inline(str(text))


def _members(one: type) -> Iterator[tuple[str, Any]]:
    """Public methods and properties with a text, those of its bases in granum too."""
    seen: set[str] = set()
    for kind in one.__mro__:
        if not kind.__module__.startswith("granum") or kind is Record:
            continue
        for name, member in vars(kind).items():
            described = getattr(member, "__doc__", None) or isinstance(member, property)
            called = isinstance(member, (FunctionType, classmethod, staticmethod, property)) or hasattr(member, "attrname")
            if called and described and not name.startswith("_") and name not in seen:
                seen.add(name)
                yield name, member
