"""Checkpoints: everything a run needs to go on, written whole or not at all.

The content is a nested dict of arrays and plain values; it comes back with the same keys, types and bits (tuples as lists).
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from . import layout
from .read import DAMAGE, DamagedFileError, open_checked
from .whole import digest, replace_file

_ARRAY = "@array"  # {"@array": path} stands in the tree for an array
ENDING = ".hdf5"  # of the checkpoint of a recording whose name has the usual ending
_WAY_OUT = "Restart from another checkpoint, or run again from the start."


def checkpoint_path(recording_path: str | Path) -> Path:
    """Where the checkpoint of a recording lies: ``run.vtkhdf`` -> ``run.checkpoint.hdf5``, as it is no file of VTK; ``run.h5`` ->
    ``run.checkpoint.h5``."""
    path = Path(recording_path)
    return path.with_name(f"{path.stem}.checkpoint{ENDING if path.suffix == layout.RECORDING_ENDING else path.suffix}")


def recording_path(file: str | Path) -> Path:
    """The recording of a checkpoint; a recording is itself."""
    path = Path(file)
    if ".checkpoint" not in path.suffixes:
        return path
    same = path.with_name(path.name.replace(".checkpoint", "", 1))
    return same.with_suffix(layout.RECORDING_ENDING) if path.suffix == ENDING and not same.exists() else same


def write_checkpoint(path: str | Path, content: Mapping[str, Any]) -> None:
    """Replace the checkpoint ``path`` by ``content``, on disk when this returns.

    Made in memory, written beside it and renamed, so that the last checkpoint is there until the new one is complete. OutputError if
    the disk does not take it.
    """
    path = Path(path)
    arrays: dict[str, np.ndarray] = {}
    tree = json.dumps(_without_arrays(content, "arrays", arrays))
    image = io.BytesIO()
    with h5py.File(image, "w", libver=("v110", "v110")) as file:
        for name, array in arrays.items():
            file[name] = array
        file["tree"] = tree
        file.attrs.update(format=layout.CHECKPOINT_FORMAT, version=layout.CHECKPOINT_VERSION, created_by=layout.CREATED_BY)
        file.attrs["sha256"] = digest(tree, arrays)
    replace_file(path, image.getbuffer(), "checkpoint")


def read_checkpoint(path: str | Path) -> dict[str, Any]:
    """The content of a checkpoint; InputError if it is not one, or if any of it has changed since it was written."""
    path = Path(path)
    with open_checked(path, "checkpoint", "/", layout.CHECKPOINT_FORMAT, layout.CHECKPOINT_VERSION, _WAY_OUT) as file:
        try:
            text = file["tree"].asstr()[()]
            arrays: dict[str, np.ndarray] = {}
            content = _with_arrays(json.loads(text), file, arrays)
            intact = file.attrs["sha256"] == digest(text, arrays)
        except DAMAGE as error:
            raise DamagedFileError(path, "checkpoint", error, _WAY_OUT) from error
    if not intact:
        raise DamagedFileError(path, "checkpoint", "its content does not match its digest", _WAY_OUT)
    return content


def _without_arrays(value: Any, where: str, arrays: dict[str, np.ndarray]) -> Any:
    """``value`` as JSON can hold it; arrays move to ``arrays`` under the path ``where``."""
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "biufcV":
            raise TypeError(f"{where}: an array of {value.dtype} cannot be stored in a checkpoint.")
        arrays[where] = np.asarray(value, order="C")
        return {_ARRAY: where}
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str) or key == _ARRAY or "/" in key or key in ("", ".", ".."):
                raise TypeError(f"{where}: {key!r} cannot be a key of a checkpoint.")
        return {key: _without_arrays(part, f"{where}/{key}", arrays) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_arrays(part, f"{where}/{i}", arrays) for i, part in enumerate(value)]
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"{where}: {type(value).__name__} cannot be stored in a checkpoint.")


def _with_arrays(value: Any, file: h5py.File, arrays: dict[str, np.ndarray]) -> Any:
    if isinstance(value, dict):
        if _ARRAY in value:
            name = value[_ARRAY]
            # read_direct keeps the type that was stored, 0-d arrays included.
            arrays[name] = np.empty(file[name].shape, file[name].dtype)
            if arrays[name].size:
                file[name].read_direct(arrays[name])
            return arrays[name]
        return {key: _with_arrays(part, file, arrays) for key, part in value.items()}
    if isinstance(value, list):
        return [_with_arrays(part, file, arrays) for part in value]
    return value
