"""The base of every record that a user writes: fixed after construction, unknown keys refused, bad values told in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from inspect import cleandoc
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any, Self, get_args

import numpy as np
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from .checks import InputError, Place, expect, explain
from .record_help import Signature, with_fields
from .units import in_si, is_quantity, units_in

if TYPE_CHECKING:
    from pydantic._internal._model_construction import ModelMetaclass
else:
    ModelMetaclass = type(BaseModel)

LONG = 12  # entries of an array that is not written out
SMALLEST, LARGEST = 1e-100, 1e100


class Misread(str):
    """A quantity that is none of its field: the field refuses it, with the reason."""

    reason: str


def _number(value: Any) -> Any:
    """A text or a truth value is not taken for a number."""
    if isinstance(value, (bool, np.bool_, str, bytes)):
        raise ValueError(value.reason if isinstance(value, Misread) else "must be a number")
    return value


def _sized(value: float) -> float:
    """Squares of coordinates, velocities and the like must be numbers, too."""
    if value != 0 and not SMALLEST <= abs(value) <= LARGEST:
        raise ValueError(f"must be 0 or from {SMALLEST:g} to {LARGEST:g} in size")
    return value


Whole = Annotated[int, Field(lt=2**63), BeforeValidator(_number)]
Sweeps = Annotated[int, Field(ge=1, le=10**6), BeforeValidator(_number)]
"""Of a solver in one step; more would never end."""
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False), BeforeValidator(_number)]
NonNegative = Annotated[float, Field(ge=0, allow_inf_nan=False), BeforeValidator(_number)]
Fraction = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False), BeforeValidator(_number)]
Finite = Annotated[float, Field(allow_inf_nan=False), BeforeValidator(_number), AfterValidator(_sized)]
Vector = tuple[Finite, Finite, Finite]


def has_quantity(value: Any) -> bool:
    """Whether a text with a number and a unit stands in it, at any depth of lists."""
    level = [value]
    while level:
        if any(map(is_quantity, level)):
            return True
        kinds = set(map(type, level))
        nested = any(issubclass(kind, (list, tuple)) for kind in kinds)
        level = list(chain.from_iterable(part for part in level if isinstance(part, (list, tuple)))) if nested else []
    return False


def with_units_read(value: Any, units: tuple[str, ...]) -> Any:
    """``value`` with every quantity in it as a number in SI units, or as ``Misread``."""
    if isinstance(value, (list, tuple)):
        return [with_units_read(part, units) for part in value]
    if not is_quantity(value):
        return value
    try:
        return in_si(value, *units)
    except ValueError as error:
        misread = Misread(value)
        misread.reason = str(error)
        return misread


class InWords(ModelMetaclass):
    """Records that are made with bad values say so in granum's words (``InputError``), not in pydantic's; ``help`` tells their fields."""

    def __init__(cls, name: str, bases: tuple[type, ...], space: dict[str, Any], **options: Any) -> None:
        super().__init__(name, bases, space, **options)
        cls.__signature__ = Signature()
        cls.own_text = cleandoc(space.get("__doc__") or "")
        cls.__doc__ = with_fields(cls.own_text, _record(cls).model_fields)

    def __call__(cls, *args: Any, **fields: Any) -> Any:
        if args and _record(cls).__init__ is BaseModel.__init__:
            raise InputError(f"{cls.__name__} takes its fields by their names, such as {_first_field(cls)}=... (got {len(args)} without).")
        try:
            return super().__call__(*args, **fields)
        except ValidationError as error:
            raise explain(error, cls.__name__, fields, keys_of(_record(cls))) from None


def _record(kind: Any) -> type[BaseModel]:
    """A class of records, as type checkers see it."""
    return kind


def _describe(schema: dict[str, Any], kind: type[Any]) -> None:
    """A schema describes fields one by one: the record's own text is without them. Numbers that have a unit may be quantities."""
    schema["description"] = kind.own_text
    for name, field in kind.model_fields.items():
        if units_in(field.description or ""):
            _let_quantities(schema["properties"][name])


def _let_quantities(schema: dict[str, Any]) -> None:
    """Numbers in a field's schema, at any depth of lists, may be texts; limits are those of numbers."""
    if schema.get("type") == "number":
        schema["type"] = ["number", "string"]
    for part in (*schema.get("anyOf", ()), *schema.get("prefixItems", ()), *filter(None, [schema.get("items")])):
        _let_quantities(part)


class Record(BaseModel, metaclass=InWords):
    """A validated record; scene files, command line, docs and HDF5 attributes are made from its fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True, json_schema_extra=_describe)

    @model_validator(mode="before")
    @classmethod
    def _in_si(cls, data: Any) -> Any:
        """Quantities with units, such as ``"13 mm"``, as numbers; the text of a field says in brackets what it measures."""
        if not isinstance(data, dict):
            return data
        found = {}
        for name, value in data.items():
            field = cls.model_fields.get(name) if has_quantity(value) else None
            units = units_in(field.description or "") if field is not None else ()
            if units:
                found[name] = with_units_read(value, units)
        return {**data, **found} if found else data

    @classmethod
    def read(cls, tree: Any, where: str) -> Self:
        """The record of a tree of tables and values, or of a JSON text; a refusal names ``where`` it stands, field, rule and value."""
        try:
            return super().model_validate_json(tree) if isinstance(tree, (str, bytes)) else super().model_validate(tree)
        except ValidationError as error:
            raise explain(error, where, None if isinstance(tree, (str, bytes)) else tree, keys_of(cls)) from None

    @classmethod
    def model_validate(cls, obj: Any, **options: Any) -> Self:
        """As pydantic's, with refusals in words."""
        try:
            return super().model_validate(obj, **options)
        except ValidationError as error:
            raise explain(error, cls.__name__, obj, keys_of(cls)) from None

    @classmethod
    def model_validate_json(cls, json_data: str | bytes | bytearray, **options: Any) -> Self:
        """As pydantic's, with refusals in words."""
        try:
            return super().model_validate_json(json_data, **options)
        except ValidationError as error:
            raise explain(error, cls.__name__, known=keys_of(cls)) from None

    def __setattr__(self, name: str, value: Any) -> None:
        """Refused in words: a record is fixed once it is made."""
        try:
            super().__setattr__(name, value)
        except ValidationError:
            kind = type(self).__name__
            raise InputError(f"{name} of this {kind} cannot be changed: records are fixed once they are made. Make a new {kind}.") from None

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """What its text is made of: long arrays are told by their shape."""
        for name, value in super().__repr_args__():
            yield name, _Long(value.shape) if isinstance(value, np.ndarray) and value.size > LONG else value

    def __eq__(self, other: object) -> bool:
        """Whether it is the same kind of record with the same fields; arrays among them are equal if all their entries are."""
        if type(self) is not type(other):
            return NotImplemented
        return all(_same(getattr(self, name), getattr(other, name)) for name in type(self).model_fields)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy with some fields changed; what the record has worked out from its fields is worked out anew."""
        made = super().model_copy(update=update, deep=deep)
        for name in made.__dict__.keys() - type(self).model_fields.keys():
            del made.__dict__[name]
        return made

    @classmethod
    def over(cls, settings: Self | None, fields: Mapping[str, Any]) -> Self:
        """The record with ``fields`` over what ``settings`` has set."""
        if settings is not None:
            expect("settings", settings, cls)
        return cls(**((settings.given() if settings is not None else {}) | dict(fields)))

    def given(self) -> dict[str, Any]:
        """A tree of the fields that were set, at any depth, and of the names that say which kind of record it is."""
        return {
            field: tree_of(getattr(self, field)) for field in type(self).model_fields if field in self.model_fields_set or field == "name"
        }


class _Long:
    """In a text, in place of an array of this shape."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape

    def __repr__(self) -> str:
        return f"array of {' x '.join(map(str, self.shape))}"


def keys_of(record: type[BaseModel]) -> Callable[[Place], list[str]]:
    """For a place in a tree that becomes such a record: the keys that there are beside the last one of the place."""

    def known(place: Place) -> list[str]:
        kinds = [record]
        for part in place[:-1]:  # numbers of a list and names of kinds lead to no other record
            inside = [kind.model_fields[part].annotation for kind in kinds if isinstance(part, str) and part in kind.model_fields]
            kinds = [found for annotation in inside for found in _records_in(annotation)] if inside else _of_kind(kinds, part)
        return list(dict.fromkeys(name for kind in kinds for name in kind.model_fields))

    return known


def _records_in(annotation: Any) -> list[type[BaseModel]]:
    """Records that a field of this type may hold."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [found for part in get_args(annotation) for found in _records_in(part)]


def _of_kind(kinds: list[type[BaseModel]], name: int | str) -> list[type[BaseModel]]:
    """Those of several kinds of records that have this name for their kind, if any has."""
    return [kind for kind in kinds if any(field.default == name for field in kind.model_fields.values())] or kinds


def _first_field(record: type) -> str:
    return next(iter(getattr(record, "model_fields", ())), "name")


def _same(a: Any, b: Any) -> bool:
    """Whether two values of a field are equal."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.array_equal(a, b)
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
        return type(a) is type(b) and len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(_same(value, b[key]) for key, value in a.items())
    return a is b or bool(a == b)


def tree_of(value: Any) -> Any:
    """``value`` with records in it as trees of what was set in them."""
    return value.given() if isinstance(value, Record) else value
