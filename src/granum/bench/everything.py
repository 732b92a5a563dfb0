"""All benchmarks of granum, one after another."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from .figures import figures_of

ALONE = ("compare",)
"""Left out: it needs other programs."""
AGAIN: dict[str, dict[str, Any]] = {"smooth": {"threads": 2}}
"""Settings with which a benchmark is measured once more, where they are not given."""
SHORTER: dict[str, dict[str, Any]] = {"parallel": {"drum": 0}, "minimise": {"sizes": 1}}
"""Settings with which a benchmark that would take minutes takes less."""


def measure_all(
    benchmarks: Mapping[str, Callable[..., dict[str, Any]]], given: Mapping[str, Any], talk: Callable[[str], None]
) -> dict[str, Any]:
    """The figures of all ``benchmarks``, each with what is ``given`` and it knows, else at its default size, or a smaller one.

    `parallel` is measured without its drum and `minimise` with one size; `compare` is left out, as it needs other programs.
    """
    chosen = {name: measure for name, measure in benchmarks.items() if name not in ALONE}
    figures: list[dict[str, Any]] = []
    for number, (name, measure) in enumerate(chosen.items(), 1):
        talk(f"{name} ({number} of {len(chosen)})")
        known = inspect.signature(measure).parameters
        own = {key: value for key, value in given.items() if key in known}
        figures += figures_of(measure(talk=talk, **SHORTER.get(name, {}) | own), own)
        if name in AGAIN and not AGAIN[name].keys() & own.keys():
            more = AGAIN[name] | own
            figures += figures_of(measure(talk=talk, **more), more)
    return {"benchmark": "all", "figures": figures}
