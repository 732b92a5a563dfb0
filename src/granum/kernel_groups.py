"""Groups: NamedTuples of arrays that kernels take whole, and quick calls of kernels.

Numba looks up the types of all arguments at every call, field by field, and the names of NamedTuples letter by letter: 31 arrays in nine
NamedTuples take 14 us to look at, and 1 us to hand over. In a step of ten grains that is more than all that is computed. So the fields of a
*group* have the same types always (arrays in C order, aligned, writeable), and its class alone tells which compiled code is run: to look
that up takes 0.3 us (``call``), and nothing where it is done once for many calls (``prepared``). Arguments that are no groups are looked
at, 0.2 us for an array. Whoever makes a group sees to its types; ``check_groups`` makes every call look, which a test does for all kinds of
scenes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import attrgetter
from typing import Any, TypeVar

import numpy as np

Group = TypeVar("Group", bound=type)

_GROUPS: dict[type, tuple[str, ...]] = {}  # class -> fields that may be groups of several classes
_CODE: dict[tuple[Any, ...], Any] = {}  # by kernel and classes of its arguments: compiled code, or what else has to be looked at
_TYPES: dict[Any, tuple[Any, ...]] = {}  # that the arguments of compiled code have
_checks = False


def group(kind: Group) -> Group:
    """Mark a NamedTuple as a group; its fields may be groups of one class."""
    _GROUPS[kind] = ()
    return kind


def group_with(*fields: str) -> Any:
    """Mark a NamedTuple as a group in which these fields are groups that may be of several classes; ``"a.b"`` is field b of the field a."""

    def mark(kind: Group) -> Group:
        _GROUPS[kind] = fields
        return kind

    return mark


def check_groups(on: bool) -> None:
    """Whether every call compares the types of its arguments with those that the code was compiled for."""
    global _checks
    _checks = on


def call(kernel: Any, *args: Any) -> Any:
    """``kernel(*args)``, sooner."""
    code = _CODE.get((kernel, *map(type, args)))
    if type(code) is _LookFurther:
        code = code.code_for(kernel, args)
    if code is None or _checks:
        code = code_for(kernel, *args)
    return code(*args)


def prepared(kernel: Any, *first: Any, then: tuple[Any, ...] = ()) -> Callable[..., Any]:
    """A kernel with its ``first`` arguments; the others, numbers as ``then``, are given in each call: ``prepared(...)(*numbers)``.

    Make another when one of the arrays is replaced.
    """
    return partial(call, kernel, *first) if _checks else partial(code_for(kernel, *first, *then), *first)


def code_for(kernel: Any, *args: Any) -> Any:
    """What is compiled of a kernel for arguments of these types; it is called as the kernel is."""
    classes = tuple(map(type, args))
    code = _CODE.get((kernel, *classes))
    if code is None:
        further = _LookFurther(classes)
        code = _CODE[kernel, *classes] = further if further.arguments or further.fields else _compiled(kernel, args)
    if type(code) is _LookFurther:
        code = code.code_for(kernel, args)
    if _checks and _types(kernel, args) != _TYPES[code]:
        raise TypeError(f"{kernel.py_func.__name__} was given a group whose fields have other types than before.")
    return code


def _types(kernel: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(kernel.typeof_pyval(one) for one in args)


def _compiled(kernel: Any, args: tuple[Any, ...]) -> Any:
    types = _types(kernel, args)
    code = kernel.compile(types)
    _TYPES[code] = types
    return code


class _LookFurther:
    """The code for arguments whose classes do not say everything."""

    def __init__(self, classes: tuple[type, ...]) -> None:
        plain = [kind is np.ndarray or (issubclass(kind, tuple) and kind not in _GROUPS) for kind in classes]
        self.arguments = tuple(i for i, look in enumerate(plain) if look)
        self.fields = tuple((i, attrgetter(field)) for i, kind in enumerate(classes) for field in _GROUPS.get(kind, ()))
        self.one_field = self.fields[0] if len(self.fields) == 1 and not self.arguments else None
        self.known: dict[Any, Any] = {}

    def code_for(self, kernel: Any, args: tuple[Any, ...]) -> Any:
        key: Any
        if self.one_field is not None:  # the most common case, and four times as quick
            i, field_of = self.one_field
            key = type(field_of(args[i]))
        else:
            key = (*[_kind_of(args[i]) for i in self.arguments], *[type(field_of(args[i])) for i, field_of in self.fields])
        code = self.known.get(key)
        if code is None:
            code = self.known[key] = _compiled(kernel, args)
        return code


def _kind_of(argument: Any) -> Any:
    """All that the type of an argument depends on."""
    if isinstance(argument, np.ndarray):
        return argument.dtype, argument.ndim, argument.flags.num
    if isinstance(argument, tuple):
        return (type(argument), *map(_kind_of, argument))
    return type(argument)
