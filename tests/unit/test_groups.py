"""Groups of arrays that kernels take whole: the quick call runs what Numba would, and what it trusts in is so."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from granum._jit import kernel, picked_by_type
from granum.golden.scenes import SCENES
from granum.kernel_groups import call, check_groups, group, group_with, prepared


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


@group
class Inverse(NamedTuple):
    of: float


@group
class Product(NamedTuple):
    of: float


@group_with("factor")
class Scaled(NamedTuple):
    values: np.ndarray
    factor: Inverse | Product


@group_with("scaled.factor")
class Outer(NamedTuple):
    offset: float
    scaled: Scaled


@picked_by_type
def apply_factor(factor, value): ...


@apply_factor.of(Inverse)
def divide(factor, value):
    return value / factor.of


@apply_factor.of(Product)
def multiply(factor, value):
    return value * factor.of


@kernel
def add_scaled(scaled):
    return apply_factor(scaled.factor, scaled.values[0])


@kernel
def add_outer(outer, other):
    return outer.offset + apply_factor(outer.scaled.factor, outer.scaled.values[0]) + apply_factor(other.factor, other.values[0])


@pytest.mark.parametrize("checked", (True, False))
def test_code_is_picked_by_the_class_of_a_field_and_of_a_field_of_a_field(checked):
    """Groups of the same classes outside get the code for what is inside."""
    check_groups(checked)
    values = np.array([3.0])
    for _ in range(2):
        for factor, alone in ((Inverse(2.0), 1.5), (Product(2.0), 6.0)):
            scaled = Scaled(values, factor)
            assert call(add_scaled, scaled) == prepared(add_scaled, scaled)() == alone
            for other, more in ((Inverse(4.0), 0.75), (Product(4.0), 12.0)):
                assert call(add_outer, Outer(10.0, scaled), Scaled(values, other)) == 10.0 + alone + more
    outer = Outer(10.0, Scaled(np.array([3]), Inverse(2.0)))
    check_groups(True)
    with pytest.raises(TypeError, match="add_outer was given a group"):
        call(add_outer, outer, Scaled(values, Inverse(4.0)))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SCENES)
def test_groups_have_the_types_that_calls_trust_in(name):
    """In every kind of scene; the types of each call are compared with those of the first."""
    SCENES[name][0](1)
