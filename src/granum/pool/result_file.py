"""Results of runs in files: a tree of dictionaries, lists, tuples, numbers, texts and arrays, to the bit and without pickles.

A file is a NumPy archive of plain arrays; one of them is the tree as JSON, in which the others are named. Nothing in it can run.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

TREE = "tree"


def write_result(path: Path, result: Any) -> None:
    """A TypeError tells of a result that no such file can hold."""
    arrays: dict[str, np.ndarray] = {}
    text = json.dumps(_flat(result, arrays))
    named: Any = {TREE: np.frombuffer(text.encode(), np.uint8), **arrays}
    with open(path, "wb") as file:
        np.savez(file, **named)


def read_result(path: Path) -> Any:
    """As it was written; all kinds of exceptions tell of a file that is no such result."""
    with np.load(path, allow_pickle=False) as file:
        return _grown(json.loads(file[TREE].tobytes()), file)


def _flat(value: Any, arrays: dict[str, np.ndarray]) -> Any:
    if value is None or type(value) in (bool, int, float, str):
        return value
    if type(value) is list:
        return [_flat(part, arrays) for part in value]
    if type(value) is tuple:
        return {"tuple": [_flat(part, arrays) for part in value]}
    if type(value) is dict:
        return {"dict": [[_flat(key, arrays), _flat(part, arrays)] for key, part in value.items()]}
    if type(value) is np.ndarray or isinstance(value, np.generic):
        array = np.asarray(value)
        if not array.dtype.hasobject:
            name = f"array_{len(arrays)}"
            arrays[name] = array
            return {"number" if isinstance(value, np.generic) else "array": name}
    raise TypeError(f"a result holds numbers, texts, arrays, lists, tuples and dictionaries, no {type(value).__name__}")


def _grown(tree: Any, arrays: Any) -> Any:
    if isinstance(tree, list):
        return [_grown(part, arrays) for part in tree]
    if not isinstance(tree, dict):
        return tree
    ((kind, content),) = tree.items()
    if kind == "tuple":
        return tuple(_grown(part, arrays) for part in content)
    if kind == "dict":
        return {_grown(key, arrays): _grown(part, arrays) for key, part in content}
    return arrays[content][()] if kind == "number" else arrays[content]
