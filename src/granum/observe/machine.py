"""What bits may depend on besides scene, settings and seed: versions, and the CPU as the compiler sees it."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from functools import cache

NEEDED = ("AVX2", "FMA")  # of a CPU, for the bits that granum promises
COMPUTING = ("granum", "numba", "llvmlite", "numpy")  # other versions of these may round or draw otherwise


@cache
def machine() -> dict[str, str]:
    """Versions, CPU and its features here, as recordings and checkpoints keep them."""
    import h5py
    import llvmlite
    import llvmlite.binding as llvm
    import numba
    import numpy

    from .._version import __version__

    chosen, host = numba.config.CPU_NAME, llvm.get_host_cpu_features()  # type: ignore[attr-defined]
    has = [name for name in NEEDED if (f"+{name.lower()}" in str(numba.config.CPU_FEATURES) if chosen else host.get(name.lower()))]  # type: ignore[attr-defined]
    return {
        "granum": __version__,
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "numba": numba.__version__,
        "llvmlite": llvmlite.__version__,
        "h5py": h5py.__version__,
        "machine": f"{platform.system()} {platform.machine()}",
        "cpu": chosen or llvm.get_host_cpu_name(),
        "features": " ".join(has) or "none",
    }


def bits_promised(made: Mapping[str, str], here: Mapping[str, str]) -> str | None:
    """A sentence on whether a run that began on ``made`` goes on with the same bits ``here``; None if nothing differs."""
    if not all(name in made for name in (*COMPUTING, "cpu", "features")):
        return "it is not known on which machine this run began: the same bits are not promised."
    if all(made[name] == here[name] for name in (*COMPUTING, "cpu", "features")):
        return None
    reasons = [f"{name} {made[name]} there, {here[name]} here" for name in COMPUTING if made[name] != here[name]]
    reasons += [
        f"the CPU {where} ({facts['cpu']}) has no {name}"
        for where, facts in (("there", made), ("here", here))
        for name in NEEDED
        if name not in facts["features"].split()
    ]
    if reasons:
        return f"the same bits as on the machine where this run began are not promised: {'; '.join(reasons)}."
    return f"this run began on another CPU ({made['cpu']}); the same bits are promised here ({here['cpu']}): both have AVX2 and FMA."
