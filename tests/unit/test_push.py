"""The force of a contact as a power of the overlap, and back."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from granum._jit import kernel
from granum.contact.push import overlap_of, push_of


@kernel
def there_and_back(overlap, exponent, push, back):
    for c in range(len(overlap)):
        push[c] = push_of(overlap[c], exponent)
        back[c] = overlap_of(push[c], exponent)


@pytest.mark.parametrize("exponent", [1.0, 1.25])
def test_push_and_overlap(exponent):
    """f / k = delta^(2 e_H - 1), with some roundings each way."""
    overlap = np.concatenate([[0.0], 10.0 ** np.linspace(-15, 1, 200)])
    push, back = np.empty_like(overlap), np.empty_like(overlap)
    there_and_back(overlap, exponent, push, back)
    assert_allclose(push, overlap ** (2 * exponent - 1), rtol=1e-15)
    assert_allclose(back, overlap, rtol=1e-15)
