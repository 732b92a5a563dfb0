"""The file of golden hashes: computed, written, read and compared."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

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


def write(path: Path | None = None) -> Golden:
    """Compute all hashes and write them to ``path``, none: to the file of the package."""
    golden = Golden(compute(), machine())
    content = {"format": FORMAT, "granum": __version__, "machine": golden.machine, "hashes": golden.hashes}
    (path or FILE).write_text(json.dumps(content, indent=2) + "\n")
    return golden


def expected(path: Path | None = None) -> Golden:
    """What ``path`` says, none: the file of the package; InputError if it is missing, no such file, or of another version of granum."""
    path = path or FILE
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


def verdict(found: dict[str, str], golden: Golden) -> tuple[bool, str]:
    """Whether this machine keeps the promise, and what to say of it: nothing is promised for CPUs without AVX2 and FMA."""
    other = mismatches(found, golden)
    if not other:
        return True, "This machine computes granum's reference bits."
    here = machine()
    differs = [
        f"{name} {value} (reference: {golden.machine.get(name, 'unknown')})"
        for name, value in here.items()
        if golden.machine.get(name) != value
    ]
    said = (
        f"This machine computes other bits than granum's reference in {', '.join(other)}. "
        f"What differs: {'; '.join(differs) or 'nothing that is known'}."
    )
    if here["avx2 and fma"] == "yes":
        return False, said
    return True, f"{said} The same bits are promised for x86-64 CPUs with AVX2 and FMA."


def machine() -> dict[str, str]:
    """What bits could depend on here: the CPU as the compiler sees it, and versions."""
    import llvmlite.binding as llvm
    import numba

    settings: Any = numba.config
    features = llvm.get_host_cpu_features()
    known = {
        "cpu": settings.CPU_NAME or llvm.get_host_cpu_name(),
        "avx2 and fma": "yes" if features.get("avx2") and features.get("fma") else "no",
        "avx512": "yes" if features.get("avx512f") else "no",
        "python": platform.python_version(),
        "c library": " ".join(platform.libc_ver()).strip() or "unknown",
    }
    for name in ("numpy", "scipy", "numba", "llvmlite"):
        try:
            known[name] = version(name)
        except PackageNotFoundError:
            known[name] = "not installed"
    return known
