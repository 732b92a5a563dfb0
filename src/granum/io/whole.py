"""Files that are there whole or not at all, and that notice when their content changes."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ..checks import OutputError
from .draft import Draft


def replace_file(path: Path, image: memoryview | bytes, kind: str) -> None:
    """Write ``image`` beside ``path`` and rename it, on disk when this returns; OutputError if the disk does not take it."""
    try:
        draft = Draft(path)
        with open(draft.handle, "wb") as out:
            try:
                out.write(image)
                out.flush()
                os.fsync(out.fileno())
                draft.replace_target(out.close)
            finally:
                draft.drop()
        _sync_folder(draft.target.parent)
    except OSError as error:
        kept = f"The last {kind} is still there. " if path.exists() else ""
        raise OutputError(
            f"{kind} {path} cannot be written ({error.strerror or error}). {kept}Make room or choose a writable folder."
        ) from error


def digest(text: str, arrays: Mapping[str, np.ndarray]) -> str:
    """Of a text and named arrays, with their types and shapes."""
    total = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        array = arrays[name]
        total.update(f"{name} {array.dtype.str} {array.shape}".encode())
        total.update(array.reshape(-1).view(np.uint8).data)
    return total.hexdigest()


def _sync_folder(folder: Path) -> None:
    """Make a rename last through a power cut; not every system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
