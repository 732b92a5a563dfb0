"""The file of golden hashes: computed, written, read and compared."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from .._version import __version__
from ..analysis import state_hash
from ..checks import InputError
from . import scenes

FILE = Path(__file__).parent / "golden.json"
FORMAT = "granum-golden"
ANEW = "Write the hashes anew with `python -m granum.golden --write`."


@dataclass(frozen=True)
class Golden:
    """Hashes by scene, and what computed them."""

    hashes: dict[str, str]
    machine: dict[str, str]


def compute(names: Iterable[str] = scenes.SCENES, threads: int = 1) -> dict[str, str]:
    """The hashes of some scenes on this machine."""
    return {name: state_hash(*scenes.run(name, threads).arrays) for name in names}


def write(path: Path = FILE) -> Golden:
    """Compute all hashes and write them to ``path``."""
    golden = Golden(compute(), machine())
    content = {"format": FORMAT, "granum": __version__, "machine": golden.machine, "hashes": golden.hashes}
    path.write_text(json.dumps(content, indent=2) + "\n")
    return golden


def expected(path: Path = FILE) -> Golden:
    """What ``path`` says; InputError if it is missing, no such file, or of another version of granum."""
    try:
        content = json.loads(path.read_text())
        named = content["format"], content["granum"]
        golden = Golden(dict(content["hashes"]), dict(content["machine"]))
    except FileNotFoundError:
        raise InputError(f"the file of golden hashes is missing: {path}. Install granum again, or, in a clone: {ANEW}") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} is no file of golden hashes ({type(error).__name__}: {error}). {ANEW}") from None
    if named[0] != FORMAT:
        raise InputError(f"{path} is no file of golden hashes: its format is {named[0]!r}, not {FORMAT!r}. {ANEW}")
    if named[1] != __version__:
        raise InputError(f"{path} has the golden hashes of granum {named[1]}, and this is granum {__version__}. {ANEW}")
    missing = sorted(set(scenes.SCENES) ^ set(golden.hashes))
    if missing:
        raise InputError(f"{path} and granum {__version__} do not know the same golden scenes: {', '.join(missing)}. {ANEW}")
    return golden


def mismatches(found: dict[str, str], golden: Golden) -> list[str]:
    """Scenes whose hash is another one than the golden one."""
    return [name for name, value in found.items() if golden.hashes[name] != value]


def machine() -> dict[str, str]:
    """What bits could depend on here: the CPU as the compiler sees it, and versions."""
    import llvmlite.binding as llvm
    import numba

    named = numba.config.CPU_NAME or llvm.get_host_cpu_name()  # type: ignore[attr-defined]
    features = set(filter(None, (numba.config.CPU_FEATURES or llvm.get_host_cpu_features().flatten()).split(",")))  # type: ignore[attr-defined]
    known = {"cpu": named, "avx2 and fma": "yes" if {"+avx2", "+fma"} <= features else "no", "avx512": "yes" if "+avx512f" in features else "no"}
    known |= {"python": platform.python_version(), "c library": " ".join(platform.libc_ver()).strip() or "unknown"}
    for name in ("numpy", "scipy", "numba", "llvmlite"):
        try:
            known[name] = version(name)
        except PackageNotFoundError:
            known[name] = "not installed"
    return known
