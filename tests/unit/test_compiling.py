"""What is left out when kernels are compiled, and what must not be."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError

from granum._jit import as_written, device, kernel


@device
def doubled(x):
    if x < 0.0:
        raise ValueError("below zero")
    return 2.0 * x


@as_written
def raised(x):
    return doubled(x) + 1.0


@kernel
def raise_all(x):
    for i in range(x.size):
        x[i] = raised(x[i])


@kernel
def fail(x):
    return x.no_such_name


def test_inlined_functions_have_no_code_of_their_own():
    values = np.array([1.0, 2.0])
    compiled = njit(raise_all.py_func)  # not taken from the kernel cache
    compiled(values)
    np.testing.assert_array_equal(values, [3.0, 5.0])
    for function in (doubled, raised):
        (made,) = function.overloads.values()
        assert made.library.get_pointer_to_function(made.fndesc.llvm_func_name) == 0  # there is none
    (made,) = compiled.overloads.values()
    assert made.library.get_pointer_to_function(made.fndesc.llvm_func_name) != 0


def test_an_error_in_an_inlined_function_reaches_python():
    with pytest.raises(ValueError, match="below zero"):
        raise_all(np.array([-1.0]))


@pytest.mark.parametrize("collects", [True, False])
def test_garbage_is_collected_again_after_a_kernel_is_compiled(collects):
    (gc.enable if collects else gc.disable)()
    try:
        with pytest.raises(TypingError, match="no_such_name"):
            fail(1.0)
        assert gc.isenabled() is collects
    finally:
        gc.enable()
