"""Lattices: energy, pressure and moduli in closed form, with the pressure in them. All grains move with the strain.

With l the distance, f the force and k' the stiffness of a contact:
triangular  p = sqrt(3) f/l,      B = sqrt(3)/2 (k' + f/l),           G = sqrt(3)/4 (k' - 3 f/l)
fcc         p = 2 sqrt(2) f/l^2,  B = 2 sqrt(2)/3 (k' + 2 f/l)/l,     G = (k' - 3 f/l)/(sqrt(2) l) simple, sqrt(2)/4 (k' - 7 f/l)/l pure.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from granum.contact.power import HERTZ, HOOKE, PowerLaw
from granum.quasistatic.measure import is_jammed, measure
from granum.quasistatic.moduli import MarginalError, moduli, moduli_by_strain
from tests.reference.packings import cubic, triangular

LAWS = [HOOKE, HERTZ, PowerLaw(alpha=3.0, stiffness=50.0)]
OVERLAP = 0.02  # [m] at a distance of 1 m


@pytest.mark.parametrize("law", LAWS, ids=lambda law: f"{law.alpha:g}")
@pytest.mark.parametrize("columns, rows", [(2, 2), (4, 6)])
def test_triangular_lattice(law, columns, rows):
    packing = triangular(columns, rows, OVERLAP, law)
    f, stiff = law.stiffness * OVERLAP ** (law.alpha - 1), law.stiffness * (law.alpha - 1) * OVERLAP ** (law.alpha - 2)
    known, found = measure(packing), moduli(packing)
    assert known.phi == pytest.approx(math.pi * (1 + OVERLAP) ** 2 / (2 * math.sqrt(3)))
    assert known.energy == pytest.approx(3 * packing.count * law.stiffness * OVERLAP**law.alpha / law.alpha)
    assert known.pressure == pytest.approx(math.sqrt(3) * f)
    assert_allclose(known.stress, known.pressure * np.eye(2), atol=1e-13 * known.pressure)
    assert_allclose(known.fabric, 3 * known.phi * np.eye(2), atol=1e-13)  # trace: contacts of a grain times phi
    assert (known.coordination, known.contacts, known.rattler_count, known.jammed) == (6, 3 * packing.count, 0, True)
    assert known.overlap == pytest.approx(OVERLAP)
    # The smallest overlap is the difference of numbers of 1 m: 1e-14 of it.
    assert found.bulk == pytest.approx(math.sqrt(3) / 2 * (stiff + f), rel=1e-11)
    shear = math.sqrt(3) / 4 * (stiff - 3 * f)
    assert (found.shear, found.shear_simple[0], found.shear_pure[0]) == pytest.approx((shear,) * 3, rel=1e-11)
    assert (found.shear_affine, found.bulk_affine) == pytest.approx((found.shear, found.bulk), rel=1e-11)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: f"{law.alpha:g}")
def test_lattice_with_centred_faces(law):
    packing = cubic(2, OVERLAP, law, faces=True)
    f, stiff = law.stiffness * OVERLAP ** (law.alpha - 1), law.stiffness * (law.alpha - 1) * OVERLAP ** (law.alpha - 2)
    known, found = measure(packing), moduli(packing)
    assert known.phi == pytest.approx(math.pi / (3 * math.sqrt(2)) * (1 + OVERLAP) ** 3)
    assert known.energy == pytest.approx(6 * packing.count * law.stiffness * OVERLAP**law.alpha / law.alpha)
    assert known.pressure == pytest.approx(2 * math.sqrt(2) * f)
    assert_allclose(known.fabric, 4 * known.phi * np.eye(3), atol=1e-13)
    assert (known.coordination, known.jammed) == (12, True)
    assert found.bulk == pytest.approx(2 * math.sqrt(2) / 3 * (stiff + 2 * f), rel=1e-11)
    assert_allclose(found.shear_simple, (stiff - 3 * f) / math.sqrt(2), rtol=1e-11)
    assert_allclose(found.shear_pure, math.sqrt(2) / 4 * (stiff - 7 * f), rtol=1e-11)
    # The mean over directions of a cubic material: two of five shears are pure, three simple.
    assert found.shear == pytest.approx((2 * found.shear_pure[0] + 3 * found.shear_simple[0]) / 5, rel=1e-11)


@pytest.mark.parametrize("law", [HOOKE, HERTZ], ids=["hooke", "hertz"])
def test_simple_cubic_lattice_is_no_stable_minimum(law):
    """p = f/l^2; rows of grains may slide past each other, and the pressure makes them. The response is refused in words."""
    packing = cubic(3, OVERLAP, law)
    known = measure(packing)
    f = law.stiffness * OVERLAP ** (law.alpha - 1)
    assert known.pressure == pytest.approx(f)
    assert_allclose(known.stress, f * np.eye(3), atol=1e-13 * f)
    assert_allclose(known.fabric, 2 * known.phi * np.eye(3), atol=1e-13)
    assert (known.coordination, known.jammed) == (6, True)
    with pytest.raises(MarginalError, match="not at a stable minimum"):
        moduli(packing)


def test_a_sheared_lattice_by_strain_and_by_response():
    """A lattice under shear stress: simple shear also turns the stress, which both ways of measuring must feel alike."""
    packing = triangular(4, 4, 0.05, HERTZ).deformed(np.array([[1.01, 0.004], [0.0, 0.995]]))
    found, strained = moduli(packing), moduli_by_strain(packing, 1e-5, method="lbfgs", preconditioner="contacts")
    # Central differences: errors of strain^2 over overlap^2, 4e-8, with a factor of the order of 1.
    assert_allclose(strained.stiffness, found.stiffness, atol=1e-6 * found.bulk)
    ends = [measure(packing.deformed(np.array([[1.0, s], [0.0, 1.0]]))).stress for s in (-1e-5, 1e-5)]
    assert (ends[0] - ends[1])[0, 1] / 2e-5 == pytest.approx(found.shear_simple[0], rel=1e-6)
    stretched = [measure(packing.deformed(np.diag([1 + s, 1 / (1 + s)]))).stress for s in (-1e-5, 1e-5)]
    assert np.diff(np.diagonal(stretched[1] - stretched[0]))[0] / 8e-5 == pytest.approx(found.shear_pure[0], rel=1e-6)


@pytest.mark.parametrize("overlap", [1e-3, 1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize("law", [HOOKE, HERTZ], ids=["hooke", "hertz"])
def test_jammed_is_not_a_matter_of_scale(law, overlap):
    """A lattice is jammed at any overlap that positions can tell; apart by as little it is not."""
    packing = triangular(6, 6, overlap, law)
    assert is_jammed(packing)
    assert moduli(packing).bulk == pytest.approx(
        math.sqrt(3) / 2 * ((law.alpha - 1) * overlap ** (law.alpha - 2) + overlap ** (law.alpha - 1)), rel=1e-14 / overlap
    )
    assert not is_jammed(replace(packing, radius=packing.radius - overlap))
