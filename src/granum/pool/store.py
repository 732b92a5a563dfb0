"""Finished runs, kept on disk: what was run before is not run again.

A run is known by its function, its arguments and a digest of the whole package (and of the file that defines the function, if that is
elsewhere), so an edit or an upgrade never returns an old result. Files are written under another name and renamed: one that is there is
whole. They lie in a folder of ours (``caches.py``) and nowhere else; without one, nothing is kept.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import os
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np

from ..caches import cache_root, is_own, own_folder, remove_own
from .result_file import read_result, write_result

UNUSED_DAYS = 30  # after which the runs of another version are removed


class RunStore:
    """Results by the description of the run; ``fresh`` finds nothing, but keeps what is run.

    ``place``, below the user's cache if it is not given, must be ours or not there yet; ``folder`` is none where nothing can be kept.
    """

    def __init__(self, place: Path | None = None, fresh: bool = False) -> None:
        root = cache_root() if place is None else None
        place = root / "runs" if root is not None else place
        ours = own_folder(place) if place is not None else None
        self.folder = own_folder(ours / package_digest()) if ours is not None else None
        self.fresh = fresh
        if self.folder is None:
            where = f": {place} is not a folder that granum has made and only this user can write" if place is not None else ""
            warnings.warn(f"finished runs cannot be kept{where}. Set XDG_CACHE_HOME to a folder of your own.", stacklevel=2)
        elif ours is not None:
            _remove_unused(ours, self.folder)

    def path(self, function: Callable[..., Any], args: tuple[Any, ...]) -> Path | None:
        """Where the result of that call is kept."""
        if self.folder is None:
            return None
        text = f"{function.__module__}.{function.__qualname__} {_own_digest(function.__module__)} {describe(args)}"
        return self.folder / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.run"

    def find(self, path: Path) -> tuple[bool, Any]:
        """Whether the result is there, and the result."""
        if self.fresh:
            return False, None
        try:
            return is_own(path.parent), read_result(path)
        except Exception:  # not there, or of no use: it is only a cache
            return False, None


def keep(path: Path, result: Any) -> str | None:
    """Write a result so that the file is whole or not there; returns what went wrong, if anything did."""
    part = path.with_suffix(f".{os.getpid()}.part")
    try:
        write_result(part, result)
        os.replace(part, path)
    except (OSError, TypeError) as error:
        with contextlib.suppress(OSError):
            part.unlink()
        return str(error)
    return None


def describe(value: Any) -> str:
    """Text that is equal for equal arguments, in every process; numbers in full, arrays by their bytes."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = ", ".join(f"{field.name}={describe(getattr(value, field.name))}" for field in dataclasses.fields(value))
        return f"{type(value).__qualname__}({fields})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{describe(key)}: {describe(part)}" for key, part in value.items()) + "}"
    if isinstance(value, (tuple, list)):
        return "(" + ", ".join(map(describe, value)) + ")"
    if isinstance(value, np.ndarray):
        return f"array({value.dtype}, {value.shape}, {hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()})"
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return repr(value)
    raise TypeError(f"a run cannot be known by an argument of type {type(value).__name__}: give numbers, texts, arrays or records")


@functools.cache
def package_digest() -> str:
    """Of all source of this package, and of the versions that compute with it."""
    digest = hashlib.sha256(f"{sys.version} {np.__version__} {numba.__version__}".encode())
    root = Path(__file__).parents[1]
    for path in sorted(root.rglob("*.py")):
        digest.update(str(path.relative_to(root)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _own_digest(module: str) -> str:
    """Of a file outside the package that defines a run."""
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None or Path(file).is_relative_to(Path(__file__).parents[1]):
        return ""
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()


def _remove_unused(folder: Path, ours: Path) -> None:
    """Runs of other versions that were not added to for long."""
    oldest = time.time() - UNUSED_DAYS * 86400
    with contextlib.suppress(OSError):
        for other in folder.iterdir():
            if other != ours and is_own(other) and other.stat().st_mtime < oldest:
                remove_own(other)
