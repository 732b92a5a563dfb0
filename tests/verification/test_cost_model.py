"""The cost model (physics 9): SN Table I to its printed digits, the limits of the iteration law, and what makes a system dear."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from granum.analysis.cost_model import (
    PlannedSystem,
    amdahl,
    estimate,
    grain_number,
    nonsmooth_step,
    required_iterations,
    shape_factor,
    smooth_step,
)
from granum.papers.sn_table1 import CUT, compared_row, disagreements, printed_number

SILO = PlannedSystem(width=9, height=50, inertial=0.1, tolerance=0.05, diameter=0.01, youngs_modulus=1e8)


def test_printed_numbers_are_read_with_their_digits():
    assert printed_number("280") == (280, 10)
    assert printed_number("1.8K") == (1800, pytest.approx(100))
    assert printed_number("9e-5") == (9e-5, pytest.approx(1e-5))
    assert printed_number("3.0") == (3, 0.1)


@pytest.mark.parametrize("row", range(1, 34))
def test_table_agrees_with_the_printed_digits(row):
    """All 264 numbers of the 33 rows: rounded to the printed digits, three of them cut instead of rounded (``CUT``)."""
    assert disagreements(row) == []
    for name, ours, printed in compared_row(row):
        if (row, name) not in CUT:
            value, digit = printed_number(printed)
            assert abs(ours - value) <= digit / 2, name


def test_cut_numbers_are_no_more_than_needed():
    assert {(3, "normal_velocity"), (9, "effort_nonsmooth"), (18, "ratio")} == CUT


def test_step_is_clamped_for_stiff_grains():
    """SN 5.3: 1 ms at d = 1 mm and 4 ms at d = 10 mm for E = 10 GPa; a slow, tolerant system would take more."""
    assert nonsmooth_step(0.05, 1e-3, 1e10, 0.0) == pytest.approx(1e-3)
    assert nonsmooth_step(0.05, 1e-2, 1e10, 0.0) == pytest.approx(4e-3)
    assert nonsmooth_step(0.05, 1e-2, 1e9, 0.0) == pytest.approx(math.sqrt(2 * 0.05 * 1e-2 / 9.8))
    assert nonsmooth_step(0.05, 1e-2, 1e10, 1.0) == pytest.approx(0.05 * 1e-2 / 1.0)


def test_wide_systems_need_iterations_for_their_height_alone():
    """w -> infinity: w (1 - exp(-c2 l/w)) = c2 l (1 - c2 l / 2w + ...)."""
    w = np.array([1e3, 1e4, 1e5])
    deficit = 1 - shape_factor(w, 100.0) / 44
    assert_allclose(deficit, 44 / (2 * w), rtol=44 / 3 / w[0])
    assert shape_factor(1e12, 100.0) == pytest.approx(44, rel=1e-9)


def test_shallow_systems_forget_their_width_and_tall_ones_their_height():
    assert shape_factor(15.0, 1e-3) == pytest.approx(0.44e-3, rel=1e-4)
    assert shape_factor(15.0, 1e4) == pytest.approx(15, rel=1e-12)
    assert shape_factor(4.9, 1e4) == pytest.approx(4400)  # no arches: linear


def test_iterations_times_tolerance_is_constant():
    numbers = required_iterations(9.0, 50.0, 0.0, np.array([0.01, 0.05]))
    assert numbers[0] / numbers[1] == pytest.approx(5)


@pytest.mark.parametrize(
    "change, dearer", [({"height": 60}, True), ({"width": 12}, True), ({"inertial": 0.2}, True), ({"tolerance": 0.1}, False)]
)
def test_nonsmooth_effort_grows_with_size_and_flow_and_falls_with_tolerance(change, dearer):
    before, after = estimate(SILO), estimate(replace(SILO, **change))
    assert (after.effort_nonsmooth > before.effort_nonsmooth) is dearer
    assert (after.iterations > before.iterations) is dearer


def test_smooth_effort_grows_with_the_root_of_stiffness_and_nonsmooth_effort_does_not():
    soft, stiff = estimate(replace(SILO, youngs_modulus=1e6)), estimate(replace(SILO, youngs_modulus=1e8))
    assert stiff.effort_smooth / soft.effort_smooth == pytest.approx(10)
    assert stiff.effort_nonsmooth == soft.effort_nonsmooth
    assert smooth_step(0.01, 5e6) == pytest.approx(math.sqrt(2500 * math.pi / 6 * 1e-6 / (5e6 * math.sqrt(0.02) / 2.73)))


def test_ratio_is_that_of_the_closed_form():
    """SN (42), with m g d / 2 eps where it prints 2 m g d / eps: 1 / h_N^2 is g / (2 eps d), as in SN (37)."""
    found = estimate(SILO, cost_nonsmooth=2e-8, cost_smooth=3e-7, contacts_per_grain=2.0)
    eps, d = SILO.tolerance, SILO.diameter
    mass, k = 2500 * math.pi / 6 * d**3, SILO.youngs_modulus * math.sqrt(2 * d) / (3 * (1 - 0.09))
    steps = math.sqrt(max(mass * found.normal_velocity**2 / eps**2, mass * 9.8 * d / (2 * eps)) / k / d**2)
    assert found.ratio == pytest.approx(steps * found.iterations * 2 * 2e-8 / 3e-7)


def test_grains_of_a_column_and_of_a_cylinder():
    assert_allclose(grain_number(np.array([1.0, 6.0]), 10.0), [10, 90 * math.pi])


def test_threads_never_help_more_than_the_part_that_runs_alone_allows():
    assert amdahl(1, 0.9) == pytest.approx(1)
    assert amdahl(2, 1.0) == pytest.approx(2)
    assert amdahl(10**6, 0.9) == pytest.approx(10, rel=1e-4)
