"""Arrays that a user writes: of numbers, and of nothing that could be taken for one."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np

from ..records import LARGEST, Misread

LARGEST_INDEX = np.iinfo(np.int32).max


def read_array(value: Any, dtype: type = float) -> np.ndarray:
    """``value``, nested lists or arrays, as a new array of finite numbers; ``np.int32``: of whole numbers. A ValueError tells the rule."""
    if isinstance(value, Misread):
        raise ValueError(value.reason)
    wrong = _not_a_number(value)
    if wrong is not None:
        raise ValueError(f"must hold numbers only, has {wrong}")
    try:
        array = np.array(value, dtype=float, order="C")
    except OverflowError:
        raise ValueError("must be finite") from None
    except (ValueError, TypeError):
        raise ValueError("must be numbers in rows of equal length") from None
    if not np.isfinite(array).all():
        raise ValueError("must be finite")
    if (np.abs(array) > LARGEST).any():
        raise ValueError(f"must be at most {LARGEST:g} in size")
    if dtype is float:
        return array
    if (array != np.rint(array)).any():
        raise ValueError(f"must be whole numbers, has {array[array != np.rint(array)][0]:g}")
    if (np.abs(array) > LARGEST_INDEX).any():
        raise ValueError(f"must be at most {LARGEST_INDEX}, has {array[np.abs(array) > LARGEST_INDEX][0]:g}")
    return array.astype(dtype)


def _not_a_number(value: Any) -> str | None:
    """What kind of thing stands in ``value`` that is no number; none: there is none."""
    level = [value]
    while level:
        kinds = set(map(type, level))
        for kind in kinds:
            if not issubclass(kind, (list, tuple, np.ndarray, int, float, np.integer, np.floating)) or issubclass(kind, bool):
                return f"a {_WORDS.get(kind, kind.__name__)}"
        if any(issubclass(kind, np.ndarray) for kind in kinds):
            for array in level:
                if isinstance(array, np.ndarray) and array.dtype.kind not in "iuf":
                    return f"an array of {array.dtype}"
        rows = any(issubclass(kind, (list, tuple)) for kind in kinds)
        level = list(chain.from_iterable(part for part in level if isinstance(part, (list, tuple)))) if rows else []
    return None


_WORDS = {bool: "truth value", str: "text", Misread: "text in another unit", dict: "table", type(None): "none"}
