"""Groups of arrays that kernels take whole: the quick call runs what Numba would, and what it trusts in is so."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from granum._jit import kernel
from granum.golden.scenes import SCENES
from granum.kernel_groups import call, check_groups, group, prepared


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


class Arrays(NamedTuple):
    values: np.ndarray
    more: np.ndarray


class Once(NamedTuple):
    factor: float


class Twice(NamedTuple):
    factor: float


@kernel
def weigh(arrays, law, scale, times):
    total = 0.0
    for n in range(len(arrays.values)):
        total += arrays.values[n] * arrays.more[n]
    return total * scale * times * law.factor


@pytest.mark.parametrize("checked", (True, False))
def test_a_prepared_kernel_is_the_kernel_for_the_types_it_is_given(checked):
    """NamedTuples that are no groups are looked at: other arrays and other records each get the code that was compiled for them."""
    check_groups(checked)
    for dtype in (np.float64, np.int32):
        for law in (Once(2.0), Twice(3.0)):
            for stride in (1, 2):  # every second number is not contiguous
                arrays = Arrays(np.arange(10, dtype=dtype)[::stride], np.arange(10.0)[::stride])
                call = prepared(weigh, arrays, law, then=(1.0, 1))
                for scale, times in ((1.0, 1), (0.5, 3)):
                    assert call(scale, times) == weigh(arrays, law, scale, times)
                arrays.values[1] += 7  # it is the array that is kept, not what it holds
                assert call(1.0, 1) == weigh(arrays, law, 1.0, 1)


def test_a_prepared_kernel_with_a_group_of_other_types_is_found_out():
    pair = Pair(np.arange(5.0), np.ones(5))
    assert prepared(weighted, pair, then=(0.5, None))(0.5, None) == weighted(pair, 0.5, None)
    with pytest.raises(TypeError, match="weighted was given a group"):
        prepared(weighted, pair._replace(a=np.arange(5)), then=(0.5, None))(0.5, None)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SCENES)
def test_groups_have_the_types_that_calls_trust_in(name):
    """In every kind of scene; the types of each call are compared with those of the first."""
    SCENES[name][0](1)
