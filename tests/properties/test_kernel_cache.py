"""A kernel is compiled anew when something that it is made of has changed, and only then.

Two modules are written, imported, called, changed and imported again, as after an edit, with a cache of their own.
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from granum import _jit
from granum.caches import own_folder

BELOW = """
from typing import NamedTuple
from granum._jit import device

OTHER_CONSTANT = {other}

class Pair(NamedTuple):
    {first}: float
    {second}: float

@device
def weigh(x):
    return {device} * x

@device
def never_called(x):
    return {unused} * x
"""

ABOVE = """
from cached_below import Pair, weigh
from granum._jit import kernel

FACTOR = {factor}
UNUSED = {unused}

@kernel
def scale(x, pair):
    \"\"\"{words}\"\"\"
    return FACTOR * weigh(x) + pair.left - pair.right

@kernel
def other(x):
    return {elsewhere} * x
"""


@dataclass(frozen=True)
class Source:
    """What the two modules say."""

    device: int = 2
    factor: int = 3
    swapped: bool = False
    unused: int = 1
    elsewhere: int = 1
    words: str = "Scale."

    def load(self, folder: Path):
        """The modules as a new process would import them."""
        order = ("right", "left") if self.swapped else ("left", "right")
        below = BELOW.format(first=order[0], second=order[1], device=self.device, unused=self.unused, other=self.unused)
        above = ABOVE.format(factor=self.factor, unused=self.unused, words=self.words, elsewhere=self.elsewhere)
        found = []
        for name, text in (("cached_below", below), ("cached_above", above)):
            path = folder / f"{name}.py"
            path.write_text(text)
            spec = importlib.util.spec_from_file_location(name, path)
            module = importlib.util.module_from_spec(spec)
            sys.modules[name] = module
            exec(compile(text, str(path), "exec"), module.__dict__)
            found.append(module)
        return found

    def run(self, folder: Path):
        """The kernels' values, which must be right, and whether each came from the cache."""
        below, above = self.load(folder)
        assert above.scale(1.0, below.Pair(left=100.0, right=10.0)) == self.factor * self.device + 90
        assert above.other(1.0) == self.elsewhere
        return sum(above.scale.stats.cache_hits.values()) == 1, sum(above.other.stats.cache_hits.values()) == 1


@pytest.fixture(scope="module", autouse=True)
def modules():
    yield
    for name in ("cached_below", "cached_above"):
        sys.modules.pop(name, None)


changes = st.fixed_dictionaries(
    {},
    optional={
        "device": st.integers(3, 9),
        "factor": st.integers(4, 9),
        "swapped": st.just(True),
        "unused": st.integers(2, 9),
        "elsewhere": st.integers(2, 9),
        "words": st.just("Scale it."),  # a docstring is among the constants of its function
    },
)


@hypothesis.settings(max_examples=hypothesis.settings().max_examples // 3)
@given(change=changes)
@hypothesis.example(change={"device": 5})
@hypothesis.example(change={"factor": 5})
@hypothesis.example(change={"swapped": True})
@hypothesis.example(change={"unused": 5, "elsewhere": 4})
def test_what_a_kernel_is_made_of_decides(change):
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        kernels = own_folder(folder / "kernels")
        patch.setattr(_jit, "kernel_folder", lambda: kernels)
        before = Source()
        after = replace(before, **change)
        assert before.run(folder) == (False, False)
        assert before.run(folder) == (True, True)
        touched = {"device", "factor", "swapped", "words"} & set(change)
        reached = {"elsewhere", "swapped"} & set(change)  # a record that a module knows may be handed to any of its kernels
        assert after.run(folder) == (not touched, not reached)
        assert before.run(folder) == (True, True)  # both are kept
