"""The force of a contact law as a function of the overlap, and back."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from granum._jit import kernel
from granum.contact import LAWS, HertzContact, LinearContact, Material
from granum.contact.law import contact_stiffness, contact_stiffnesses, overlaps_under, pushes_at, response

OVERLAP = np.concatenate([[0.0], 10.0 ** np.linspace(-15, 1, 200)])


@pytest.mark.parametrize("law", [LinearContact(), HertzContact()], ids=lambda law: law.name)
def test_push_and_overlap(law):
    """f / k = delta^(2 e_H - 1), with some roundings each way."""
    k = np.full(len(OVERLAP), 3e4)
    push = pushes_at(law.parameters, k, OVERLAP)
    assert_allclose(push, 3e4 * OVERLAP ** (2 * law.exponent - 1), rtol=1e-15)
    assert_allclose(overlaps_under(law.parameters, k, push), OVERLAP, rtol=1e-15)


@kernel
def responses(law, k, radius_eff, overlap, out):
    for c in range(len(overlap)):
        push, secant, tangent, energy = response(law, k, radius_eff, overlap[c])
        out[c, 0], out[c, 1], out[c, 2], out[c, 3] = push, secant, tangent, energy


@pytest.mark.parametrize("name", sorted(LAWS))
def test_every_law_agrees_with_itself(name):
    """Secant = f / delta, tangent = df / ddelta, energy = the integral of f; from Python as in kernels; R* acts through the stiffness."""
    law = LAWS[name]()
    k, radius_eff = law.pair_stiffness(Material(name="a"), Material(name="b")), 0.004
    overlap = np.linspace(0.0, 1e-4, 2001)
    out = np.empty((len(overlap), 4))
    responses(law.parameters, k, radius_eff, overlap, out)
    push, secant, _, energy = out.T
    assert_allclose(secant[1:] * overlap[1:], push[1:], rtol=1e-14)
    middle, step = (overlap[1:] + overlap[:-1]) / 2, overlap[1]
    between = np.empty((len(middle), 4))
    responses(law.parameters, k, radius_eff, middle, between)
    late = slice(100, None)  # a root has no Taylor series at 0: the differences are right to (step / delta)^2 / 24
    assert_allclose(np.diff(push)[late] / step, between[late, 2], rtol=1e-4)
    simpson = (push[:-1] + 4 * between[:, 0] + push[1:]) * step / 6
    assert_allclose(np.cumsum(simpson), energy[1:], rtol=1e-2)
    assert_allclose(np.cumsum(simpson)[-1], energy[-1], rtol=1e-6)
    assert_allclose(response(law.parameters, k, radius_eff, 3e-5), [np.interp(3e-5, overlap, column) for column in out.T], rtol=1e-6)
    own = contact_stiffness(law.parameters, k, radius_eff)
    assert_allclose(pushes_at(law.parameters, np.full(len(overlap), own), overlap), push, rtol=1e-14)
    assert contact_stiffnesses(law.parameters, np.array([k]), np.array([radius_eff]))[0] == own
    assert math.isfinite(own)
