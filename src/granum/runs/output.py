"""Places that runs write to, refused before anything is computed."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

from ..checks import InputError
from ..io import Recording, checkpoint_path
from ..io.layout import CHECKPOINT_FORMAT, RECORDING_ENDING
from ..io.read import has_format

LONGEST_OUTPUT = 200  # bytes of a name, to which those of the files beside it add theirs
PICTURE_MARK = b"granum"  # stands in the first bytes of our pictures


def default_output(scene_name: str) -> Path:
    """``<scene>.vtkhdf`` in the current folder."""
    return Path((re.sub(r"[^\w.-]+", "-", scene_name).strip("-.") or "scene") + RECORDING_ENDING)


def free_name(path: Path) -> Path:
    """``path``, or where a recording is there already the first of ``x-2.vtkhdf``, ``x-3.vtkhdf``, ... beside which nothing is."""
    if _is_too_long(path) or not path.is_file() or not is_recording(path):
        return path
    for number in count(2):
        free = path.with_name(f"{path.stem}-{number}{path.suffix}")
        if not any(file.exists() for file in (free, checkpoint_path(free), free.with_suffix(".png"))):
            break
    return free


def kept_apart(path: Path, overwrite: bool, talk: Callable[[str], Any]) -> Path:
    """Where a run writes that was told ``path``: a recording that is there is kept, which is told, unless it may be overwritten."""
    free = path if overwrite else free_name(path)
    if free != path:
        talk(f"{path} is the recording of an earlier run and is kept: this run writes {free} (--overwrite replaces {path})")
    return free


def _is_too_long(path: Path) -> bool:
    """For a file, with those beside it."""
    return len(os.fsencode(path.name)) > LONGEST_OUTPUT


def is_recording(path: Path) -> bool:
    """Whether a file is a recording of granum."""
    try:
        Recording(path).close()
    except InputError:
        return False
    return True


def check_not_read(path: Path, source: Path | None) -> None:
    """Refuse the file that is read."""
    if source is not None and source.exists() and path.exists() and path.samefile(source):
        raise InputError(f"output {path} is the file that is read: it would be lost. Choose another name with -o.")


def check_output(path: Path, picture: bool, talk: Callable[[str], Any]) -> None:
    """Refuse a place that cannot be written, or holds files that are not ours."""
    if path.suffix == ".png" or ".checkpoint" in path.suffixes:
        raise InputError(
            f"output {path} must be the name of a recording, such as {path.stem.removesuffix('.checkpoint')}{RECORDING_ENDING}."
        )
    if _is_too_long(path):
        raise InputError(f"output {path} must have a name of at most {LONGEST_OUTPUT} bytes. Choose a shorter one with -o.")
    check_folder(path)
    if path.exists():
        try:
            Recording(path).close()
        except InputError as error:
            raise InputError(f"output {path} exists and would be lost: {error} Move it away or choose another name with -o.") from None
        talk(f"replacing the recording {path} of an earlier run")
    for other, ours in ((checkpoint_path(path), _is_checkpoint), (path.with_suffix(".png"), is_picture)):
        if (picture or ours is _is_checkpoint) and other.exists() and not ours(other):
            hint = " or leave the picture out with --no-picture" if ours is is_picture else ""
            raise InputError(f"{other} exists and is not a file of granum. Move it away, choose another name with -o{hint}.")


def check_folder(path: Path) -> None:
    """Refuse a name of which no file can be written."""
    if not path.parent.is_dir():
        raise InputError(f"output {path} cannot be written: the folder {path.parent} does not exist.")
    if path.is_dir():
        raise InputError(f"output {path} cannot be written: it is a folder.")
    if not os.access(path.parent, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
        raise InputError(f"output {path} cannot be written: no permission. Choose another place with -o.")


def _is_checkpoint(path: Path) -> bool:
    return has_format(path, lambda file: bool(file.attrs.get("format") == CHECKPOINT_FORMAT))


def is_picture(path: Path) -> bool:
    """Whether granum has drawn it."""
    with open(path, "rb") as file:
        return PICTURE_MARK in file.read(1000)
