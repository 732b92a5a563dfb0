"""Groups of arrays that kernels take whole: the quick call runs what Numba would, and what it trusts in is so."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from granum._jit import kernel
from granum.golden.scenes import SCENES
from granum.kernel_groups import call, check_groups, group


@group
class Pair(NamedTuple):
    a: np.ndarray
    b: np.ndarray


@pytest.fixture(autouse=True)
def _checked(request):
    check_groups(True)
    yield
    check_groups(request.config.getoption("--check-groups"))


@kernel
def weighted(pair, weight, more):
    """Sum of a + weight b (+ more)."""
    total = 0.0
    for k in range(len(pair.a)):
        total += pair.a[k] + weight * pair.b[k]
    if more is not None:
        total += more[0]
    return total


def test_the_quick_call_gives_what_the_kernel_gives():
    pair = Pair(np.arange(5.0), np.ones(5))
    for more in (None, np.array([3.0]), np.array([3]), np.arange(6.0)[::2]):  # other types, and one that is not in C order
        for _ in range(3):
            assert call(weighted, pair, 2.0, more) == weighted(pair, 2.0, more)
        assert call(weighted, pair, 2, more) == weighted(pair, 2, more)


def test_a_group_with_other_types_than_before_is_found_out():
    for _ in range(2):
        call(weighted, Pair(np.arange(5.0), np.ones(5)), 0.5, None)
    with pytest.raises(TypeError, match="weighted was given a group"):
        call(weighted, Pair(np.arange(5), np.ones(5)), 0.5, None)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SCENES)
def test_groups_have_the_types_that_calls_trust_in(name):
    """In every kind of scene; the types of each call are compared with those of the first."""
    SCENES[name][0](1)
