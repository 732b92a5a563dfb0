"""Folders for what can be made again (compiled kernels, finished runs, settled beds): ours alone, or none.

What lies in them is loaded and removed without a question, so nobody else may be able to write there, and nothing that is not ours may be
taken for ours. A folder is ours if this user owns it, only this user may enter it, it is no link, and it has held our mark from its first
moment.
"""

from __future__ import annotations

import functools
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from platformdirs import user_cache_path

NAME = "granum-cache"
MARK = "made-by-granum.txt"
MARK_TEXT = "granum made this folder, and may remove it with all that it holds. It can be made again.\n"


@functools.cache
def cache_root() -> Path | None:
    """Of this user, made at the first call: in NUMBA_CACHE_DIR, the cache folder of the user or the temporary one; none: none is safe."""
    return next((folder for place in _places() if (folder := own_folder(place)) is not None), None)


def _places() -> Iterator[Path]:
    if base := os.environ.get("NUMBA_CACHE_DIR"):
        yield Path(base) / NAME
    yield user_cache_path(NAME, appauthor=False)  # Linux: in XDG_CACHE_HOME, or ~/.cache
    try:
        yield Path(tempfile.gettempdir()) / f"{NAME}-{os.geteuid() if hasattr(os, 'geteuid') else 'user'}"
    except OSError:  # not even a temporary folder
        return


def own_folder(path: Path) -> Path | None:
    """``path`` as a folder of ours, made if nothing is there; none if that cannot be, or if what is there is not ours."""
    if not is_own(path):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _make(path)
        except OSError:
            pass
    return path if is_own(path) and os.access(path, os.W_OK | os.X_OK) else None


def _make(path: Path) -> None:
    """Made and marked under another name: nobody sees it without its mark, and what stands at ``path`` is not touched."""
    draft = Path(tempfile.mkdtemp(prefix=f"{path.name}-", dir=path.parent))
    try:
        (draft / MARK).write_text(MARK_TEXT)
        os.rename(draft, path)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def is_own(path: Path) -> bool:
    """Whether that is a folder of ours."""
    try:
        folder, mark = os.lstat(path), os.lstat(path / MARK)
    except (OSError, ValueError):
        return False
    if not (stat.S_ISDIR(folder.st_mode) and stat.S_ISREG(mark.st_mode)):
        return False
    return not hasattr(os, "geteuid") or (folder.st_uid == mark.st_uid == os.geteuid() and not folder.st_mode & 0o077)


def remove_own(path: Path) -> bool:
    """Remove a folder of ours with all that it holds; anything else is left alone. Returns whether it was ours."""
    ours = is_own(path)
    if ours:
        shutil.rmtree(path, ignore_errors=True)
    return ours
