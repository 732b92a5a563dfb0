"""All compiler options, with their reasons, and where compiled kernels are kept.

Kernels stand at module level and take arrays and numbers only: one built inside a factory, or given a compiled function
as an argument, would be compiled again in every process.

Numba's disk cache sees an edit of a kernel's own file, but not of a device function in another file, nor of compiler
options. So the cache folder is named after a digest of those: an edit or an upgrade never runs an old binary.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from ._version import __version__

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
LongArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

# No nnan/ninf: a NaN must reach the NaN check. No reassoc: sums keep their written order, so results keep their bits.
FASTMATH = {"contract", "nsz"}
OPTIONS: dict[str, Any] = {"error_model": "numpy", "fastmath": FASTMATH}


def _digest() -> str:
    """Of everything that can change a compiled kernel besides the kernel's own file."""
    digest = hashlib.sha256(f"{__version__} {numba.__version__}".encode())
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        text = path.read_bytes()
        if b"\n@device" in text or b"\n@as_written" in text or path.name == "_jit.py":
            digest.update(text)
    return digest.hexdigest()[:16]


def _cache_folder() -> Path:
    """NUMBA_CACHE_DIR if set, else the user's cache folder, else a temporary one; one folder per digest."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    for base in (os.environ.get("NUMBA_CACHE_DIR"), os.path.join(home, "granum", "kernels")):
        if not base:
            continue
        folder = Path(base) / f"granum-{_digest()}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return folder
    return Path(tempfile.mkdtemp(prefix="granum-kernels-"))


CACHE_FOLDER = _cache_folder()


def cache_is_warm() -> bool:
    """Whether an earlier process left compiled kernels."""
    return any(CACHE_FOLDER.rglob("*.nbi"))


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function that is called from Python, and keep the binary on disk. It releases the interpreter for other threads."""
    settings: Any = numba.config
    kept = settings.CACHE_DIR  # read when the dispatcher is made; put back so that other packages are not moved
    settings.CACHE_DIR = str(CACHE_FOLDER)
    try:
        return numba.njit(cache=True, nogil=True, **OPTIONS)(function)
    finally:
        settings.CACHE_DIR = kept


def device(function: Callable[..., Any]) -> Any:
    """Compile a function that is called from kernels.

    Without reference counting, which costs more than a small function does: it must not allocate or return arrays. Always inlined: of
    several copies of a function that is called, a process that compiles may run another than one that loads its kernels from disk, and
    they need not round alike.
    """
    options: dict[str, Any] = {**OPTIONS, "_nrt": False, "forceinline": True}
    return numba.njit(**options)(function)


def as_written(function: Callable[..., Any]) -> Any:
    """As ``device``, but every operation is rounded as it is written: nothing is contracted, in whatever kernel it is used."""
    options: dict[str, Any] = {**OPTIONS, "fastmath": False, "_nrt": False, "forceinline": True}
    return numba.njit(**options)(function)
