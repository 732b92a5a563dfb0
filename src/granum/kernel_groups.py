"""Groups: NamedTuples of arrays that kernels take whole, and a quick call of kernels that are given them.

Numba looks up the types of all arguments at every call, field by field, and the names of NamedTuples letter by letter: 31 arrays in nine
NamedTuples take 14 us to look at, and 1 us to hand over. In a step of ten grains that is more than all that is computed. So the fields of a
*group* have the same types always (arrays in C order, aligned, writeable), and its class alone tells which compiled version is called.
Whoever makes a group sees to that; ``check_groups`` makes every call look, which a test does for all kinds of scenes.
"""

from __future__ import annotations

from types import NoneType
from typing import Any, TypeVar

import numba
import numpy as np

Group = TypeVar("Group", bound=type)

_GROUPS: dict[type, tuple[str, ...]] = {}  # class -> fields that may be groups of several classes
_PLAIN = frozenset((int, float, bool, NoneType, np.ndarray))
_NEVER: set[Any] = set()  # kernels that are given no groups
_PLANS: dict[Any, dict[tuple[type, ...], _Plan]] = {}  # by kernel and classes of the arguments
_NONE: dict[tuple[type, ...], _Plan] = {}


def group(kind: Group) -> Group:
    """Mark a NamedTuple as a group; its fields may be groups of one class."""
    _GROUPS[kind] = ()
    return kind


def group_with(*fields: str) -> Any:
    """Mark a NamedTuple as a group in which these fields are groups that may be of several classes."""

    def mark(kind: Group) -> Group:
        _GROUPS[kind] = fields
        return kind

    return mark


class _Plan:
    """How to call a kernel with arguments of certain classes."""

    def __init__(self, classes: tuple[type, ...]) -> None:
        self.arrays = tuple(i for i, kind in enumerate(classes) if kind is np.ndarray)
        self.nested = tuple((i, field) for i, kind in enumerate(classes) for field in _GROUPS.get(kind, ()))
        self.quick = all(kind in _GROUPS or kind in _PLAIN for kind in classes)
        self.entries: dict[tuple[Any, ...], tuple[Any, tuple[Any, ...]]] = {}  # by what the classes leave open: compiled code, its types


class _Checks:
    on = False


def check_groups(on: bool) -> None:
    """Whether every call compares the types of its arguments with those that the code was compiled for."""
    _Checks.on = on


def call(kernel: Any, *args: Any) -> Any:
    """``kernel(*args)``, sooner if there are groups among the arguments; a kernel is always given groups, or never."""
    if kernel in _NEVER:
        return kernel(*args)
    classes = tuple(map(type, args))
    plan = _PLANS.get(kernel, _NONE).get(classes) or _make_plan(kernel, classes)
    if plan is None or not plan.quick:
        return kernel(*args)
    left_open: list[Any] = []
    for i in plan.arrays:
        array = args[i]
        if not array.flags.carray:
            return kernel(*args)
        left_open += (array.dtype, array.ndim)
    for i, field in plan.nested:
        left_open.append(type(getattr(args[i], field)))
    known = plan.entries.get(tuple(left_open))
    if known is None:
        result = kernel(*args)
        types = tuple(map(numba.typeof, args))
        if types in kernel.overloads:
            plan.entries[tuple(left_open)] = kernel.overloads[types].entry_point, types
        return result
    if _Checks.on and tuple(map(numba.typeof, args)) != known[1]:
        raise TypeError(f"{kernel.py_func.__name__} was given a group whose fields have other types than before.")
    return known[0](*args)


def _make_plan(kernel: Any, classes: tuple[type, ...]) -> _Plan | None:
    if not any(kind in _GROUPS for kind in classes):
        _NEVER.add(kernel)
        return None
    plan = _PLANS.setdefault(kernel, {})[classes] = _Plan(classes)
    return plan
