"""The base of every record that a user writes: fixed after construction, unknown keys refused, bad values told in words."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any, Self

import numpy as np
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from .checks import explain
from .units import in_si, is_quantity, units_in

if TYPE_CHECKING:
    from pydantic._internal._model_construction import ModelMetaclass
else:
    ModelMetaclass = type(BaseModel)

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
    """Records that are made with bad values say so in granum's words (``InputError``) instead of pydantic's."""

    def __call__(cls, *args: Any, **fields: Any) -> Any:
        try:
            return super().__call__(*args, **fields)
        except ValidationError as error:
            raise explain(error, cls.__name__, fields, near_key) from None


class Record(BaseModel, metaclass=InWords):
    """A validated record; scene files, command line, docs and HDF5 attributes are made from its fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

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
            raise explain(error, where, None if isinstance(tree, (str, bytes)) else tree, near_key) from None

    @classmethod
    def model_validate(cls, obj: Any, **options: Any) -> Self:
        """As pydantic's, with refusals in words."""
        try:
            return super().model_validate(obj, **options)
        except ValidationError as error:
            raise explain(error, cls.__name__, obj, near_key) from None

    @classmethod
    def model_validate_json(cls, json_data: str | bytes | bytearray, **options: Any) -> Self:
        """As pydantic's, with refusals in words."""
        try:
            return super().model_validate_json(json_data, **options)
        except ValidationError as error:
            raise explain(error, cls.__name__) from None

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

    def given(self) -> dict[str, Any]:
        """A tree of the fields that were set, at any depth, and of the names that say which kind of record it is."""
        return {
            field: tree_of(getattr(self, field)) for field in type(self).model_fields if field in self.model_fields_set or field == "name"
        }


def near_key(key: str, table: Mapping[str, Any]) -> str | None:
    """A field that is spelled nearly as ``key``, of the records that have the most of the other keys of its table."""
    fits: dict[int, set[str]] = {}
    level: list[type[Record]] = [Record]
    while level:
        for record in level:
            fields = record.model_fields.keys()
            fits.setdefault(len(fields & table.keys()), set()).update(fields)
        level = [under for record in level for under in record.__subclasses__()]
    found = difflib.get_close_matches(key, sorted(fits[max(fits)]), n=1)
    return found[0] if found else None


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
