"""Drawn sizes follow their distributions: means, quantiles and mass fractions against closed forms.

Tolerances are four standard errors of a sample of that size; samples are drawn once, with a fixed seed.
"""

from __future__ import annotations

from math import erf, exp, log, sqrt

import numpy as np
import pytest
from numpy.testing import assert_allclose

from granum import Discrete, InputError, LogNormal, SieveCurve, SizeTable, Uniform

COUNT = 40_000
SIEVES = (0.002, 0.004, 0.008, 0.016)
PASSING = (0.0, 0.1, 0.6, 1.0)


def phi(z):
    return 0.5 * (1 + erf(z / sqrt(2)))


def lognormal_below(d, *, median, sigma, lower, upper, by):
    """Part of the grains, by number, below ``d``: a normal law cut at both ends."""
    middle = log(median) - (3 * sigma**2 if by == "mass" else 0.0)
    low, here, high = (phi((log(x) - middle) / sigma) for x in (lower, d, upper))
    return (here - low) / (high - low)


def uniform_below(d, *, lower, upper, by):
    """By mass numbers fall as 1 / d^3."""
    if by == "number":
        return (d - lower) / (upper - lower)
    return (lower**-2 - d**-2) / (lower**-2 - upper**-2)


CURVES = [
    (Uniform(lower=0.004, upper=0.012), uniform_below),
    (Uniform(lower=0.004, upper=0.012, by="mass"), uniform_below),
    (LogNormal(median=0.01, sigma=0.3, lower=0.006, upper=0.016), lognormal_below),
    (LogNormal(median=0.01, sigma=0.3, lower=0.0001, upper=1.0), lognormal_below),
    (LogNormal(median=0.01, sigma=0.3, lower=0.006, upper=0.016, by="mass"), lognormal_below),
    (LogNormal(median=0.01, sigma=0.9, lower=0.008, upper=0.04, by="mass"), lognormal_below),  # cut far above its middle by number
]


@pytest.mark.parametrize(("sizes", "below"), CURVES)
def test_drawn_sizes_have_the_quantiles_of_their_law(sizes, below):
    drawn = sizes.sample(np.random.default_rng(1), COUNT)
    law = sizes.model_dump(exclude={"distribution"})
    assert drawn.min() >= sizes.lower
    assert drawn.max() <= sizes.upper
    for place in np.quantile(drawn, [0.05, 0.25, 0.5, 0.75, 0.95]):
        part = below(place, **law)
        assert abs(np.mean(drawn < place) - part) < 4 * sqrt(part * (1 - part) / COUNT)


def test_a_lognormal_law_is_cut_and_not_heaped_up_at_its_bounds():
    drawn = LogNormal(median=0.01, sigma=0.3, lower=0.006, upper=0.016).sample(np.random.default_rng(2), COUNT)
    assert len(np.unique(drawn)) > COUNT - 5
    assert np.count_nonzero((drawn == 0.006) | (drawn == 0.016)) <= 1


@pytest.mark.parametrize("by", ["number", "mass"])
def test_cut_lognormal_has_the_mean_cube_of_its_closed_form(by):
    """E[d^3] of a cut log-normal law: exp(3 m + 4.5 s^2) times the parts of the law moved by 3 s^2."""
    sizes = LogNormal(median=0.01, sigma=0.3, lower=0.006, upper=0.02, by=by)
    middle = log(0.01) - (3 * 0.3**2 if by == "mass" else 0.0)
    a, b = ((log(x) - middle) / 0.3 for x in sizes.range)
    expected = exp(3 * middle + 4.5 * 0.3**2) * (phi(b - 0.9) - phi(a - 0.9)) / (phi(b) - phi(a))
    assert_allclose(sizes.mean_cube, expected, rtol=1e-6)  # 4096 classes: their width over the spread, squared


def test_what_passes_sieves_is_what_the_curve_says():
    sizes = SieveCurve(sizes=SIEVES, passing=PASSING)
    drawn = sizes.sample(np.random.default_rng(3), COUNT)
    mass = drawn**3
    for size, passing in [*zip(SIEVES, PASSING, strict=True), (0.006, 0.35), (0.012, 0.8)]:  # straight lines in between
        inside = mass * (drawn <= size)
        # of a ratio of sums: the spread of what is in the numerator and not in its share of the denominator
        error = np.std(inside - passing * mass) * sqrt(COUNT) / mass.sum()
        assert abs(inside.sum() / mass.sum() - passing) <= 4 * error
    assert_allclose(sizes.mean_cube, mass.mean(), atol=4 * mass.std() / sqrt(COUNT))
    assert sizes.range == (0.002, 0.016)


def test_percent_and_counts_are_other_spellings_of_one_curve():
    parts = SieveCurve(sizes=SIEVES, passing=PASSING)
    rng = np.random.default_rng
    assert_allclose(SieveCurve(sizes=SIEVES, passing=(0, 10, 60, 100)).sample(rng(4), 100), parts.sample(rng(4), 100), rtol=1e-12)
    percent = SieveCurve(sizes=SIEVES, passing=("0%", "10 %", "60%", "100%"))
    assert percent == SieveCurve(sizes=SIEVES, passing=(0, 0.1, 0.6, 1))
    table = SizeTable(edges=SIEVES, shares=(1, 5, 4), by="mass")
    assert_allclose(table.sample(rng(4), 100), parts.sample(rng(4), 100), rtol=1e-12)


def test_a_table_by_number_has_its_shares():
    drawn = SizeTable(edges=(0.001, 0.002, 0.005, 0.006), shares=(1, 0, 3)).sample(np.random.default_rng(5), COUNT)
    small = np.mean(drawn < 0.002)
    assert abs(small - 0.25) < 4 * sqrt(0.25 * 0.75 / COUNT)
    assert not ((drawn > 0.002) & (drawn < 0.005)).any()
    assert abs(drawn[drawn < 0.002].mean() - 0.0015) < 4 * 0.001 / sqrt(12 * small * COUNT)


def test_empty_classes_at_the_ends_of_a_table_do_not_count():
    assert SizeTable(edges=(1, 2, 3, 4, 5), shares=(0, 1, 1, 0)).range == (2, 4)


def test_a_few_sizes_in_masses():
    """Half of the mass in grains of 2 mm and half in 4 mm: eight small ones for each large one."""
    sizes = Discrete(diameters=(0.002, 0.004), by="mass")
    drawn = sizes.sample(np.random.default_rng(6), COUNT)
    assert abs(np.mean(drawn == 0.002) - 8 / 9) < 4 * sqrt(8 / 81 / COUNT)
    assert_allclose(sizes.mean_cube, (8 * 0.002**3 + 0.004**3) / 9, rtol=1e-14)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"passing": (0, 0.6, 0.5, 1)}, ["passing must not fall", "0.6 at 0.004 m", "0.5 at 0.008 m", "table"]),
        ({"passing": (0.1, 0.5, 0.6, 1)}, ["must begin with 0", "add the smallest diameter"]),
        ({"passing": (0, 0.5, 0.6, 0.9)}, ["must end with 1", "0.9"]),
        ({"passing": (0, 1)}, ["as many numbers as sizes (4)"]),
        ({"sizes": (0.002, 0.004, 0.004, 0.016)}, ["sizes must grow", "0.004"]),
    ],
)
def test_a_bad_sieve_curve_is_refused_in_words(fields, words):
    with pytest.raises(InputError) as refused:
        SieveCurve(**{"sizes": SIEVES, "passing": PASSING} | fields)
    assert all(word in str(refused.value) for word in words)
