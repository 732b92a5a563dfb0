"""Our own elementary functions against mpmath and Python's arithmetic; vectors, sums and random numbers against what they should be."""

import math
import os
import subprocess
import sys

import mpmath
import numpy as np
import pytest

from granum import arithmetic as ours
from granum._jit import kernel
from granum.arithmetic.elementary import LARGEST_ANGLE, cube_root

COUNT = 1500


@pytest.fixture
def rng():
    return np.random.default_rng(1)


@kernel
def _roots(x, out):
    for i in range(len(x)):
        out[i] = cube_root(x[i])


def cube_roots(x):
    out = np.empty_like(x)
    _roots(x, out)
    return out


def error(found, exact, *given):
    """Largest error in units of the last place of the exact value."""
    with mpmath.workprec(200):
        worst = 0.0
        for value, *numbers in zip(found, *given, strict=True):
            true = exact(*(mpmath.mpf(float(x)) for x in numbers))
            worst = max(worst, float(abs(mpmath.mpf(float(value)) - true) / mpmath.mpf(math.ulp(float(true)))))
    return worst


def angles(rng):
    """[rad] near 0, of any turn, tiny, and the numbers next to multiples of pi / 2, where all digits of pi count."""
    quarters = np.round(np.exp(rng.uniform(0, math.log(LARGEST_ANGLE / 2), COUNT)))
    worst = np.array([11.0, 22.0, 333.0, 355.0, 103993.0, 833719.0, 4272943.0, 411557987.0, 2549491779.0])  # convergents of pi
    return np.concatenate(
        [
            rng.uniform(-0.8, 0.8, COUNT),
            rng.uniform(-10, 10, COUNT),
            rng.uniform(-LARGEST_ANGLE, LARGEST_ANGLE, COUNT),
            10.0 ** rng.uniform(-300, -2, COUNT),
            quarters * np.pi / 2,
            np.arange(-100, 100) * np.pi / 4,
            worst,
            [0.0, LARGEST_ANGLE],
        ]
    )


@pytest.mark.parametrize("name", ["sin", "cos"])
def test_sine_and_cosine(rng, name):
    """To 0.8 units of the last place, for all angles up to 2^32."""
    x = angles(rng)
    assert error(getattr(ours, name)(x), getattr(mpmath, name), x) < 0.8


def test_exponential(rng):
    x = np.concatenate([rng.uniform(-708, 709.7, COUNT), rng.uniform(-1, 1, COUNT), 10.0 ** rng.uniform(-300, -1, 300), [0.0, -0.0]])
    assert error(ours.exp(x), mpmath.exp, x) < 0.6


def test_logarithm(rng):
    x = np.concatenate(
        [
            np.exp(rng.uniform(-708, 709, COUNT)),
            rng.uniform(0.5, 2, COUNT),
            1 + 10.0 ** rng.uniform(-15, -1, 300),
            1 - 10.0 ** rng.uniform(-15, -1, 300),
            2.0 ** np.arange(-1074, 1024, 50),
            [np.nextafter(0, 1), math.sqrt(0.5)],
        ]
    )
    x = x[x != 1]
    assert error(ours.log(x), mpmath.log, x) < 0.6
    assert ours.log(1.0) == 0.0


@pytest.mark.parametrize("y", [1 / 3, 2 / 3, 0.25, 0.5, 1.5, 2.5, -3.7, 100.3, 1e-3])
def test_power(rng, y):
    x = np.concatenate([np.exp(rng.uniform(-6, 6, 500)), np.exp(rng.uniform(-600, 600, 300) / max(1.0, abs(y)))])
    assert error(ours.power(x, y), lambda v: v ** mpmath.mpf(y), x) < (1.5 if y == 1.5 else 0.6)  # x sqrt(x): two roundings


def test_cube_root(rng):
    x = np.concatenate([np.exp(rng.uniform(-700, 700, COUNT)), rng.uniform(0.1, 10, COUNT), np.arange(1.0, 100) ** 3])
    assert error(cube_roots(x), mpmath.cbrt, x) < 0.6
    np.testing.assert_array_equal(cube_roots(-(np.arange(1.0, 100) ** 3)), -np.arange(1.0, 100))


@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e3, 1e300, 1e-300])
def test_arctangent(rng, scale):
    y, x = scale * rng.uniform(-1, 1, 500), rng.uniform(-1, 1, 500)
    assert error(ours.arctan2(y, x), mpmath.atan2, y, x) < 0.6


def test_special_values():
    """At the ends of what they are defined for, as the C library."""
    inf, nan = math.inf, math.nan
    assert [ours.exp(x) for x in (inf, -inf, 1000.0, -1000.0)] == [inf, 0.0, inf, 0.0]
    assert [ours.log(x) for x in (0.0, inf)] == [-inf, inf]
    assert [ours.power(x, y) for x, y in ((0.0, 2.0), (0.0, -1.0), (inf, 0.5), (inf, -1.0), (2.0, 1e300), (0.5, 1e300), (2.0, inf))] == [
        0.0,
        inf,
        inf,
        0.0,
        inf,
        0.0,
        inf,
    ]
    assert [ours.power(x, y) for x, y in ((nan, 0.0), (0.0, 0.0), (1.0, nan), (4.0, 0.5))] == [1.0, 1.0, 1.0, 2.0]
    for y in (0.0, -0.0, 1.0, -2.0, inf, -inf):
        for x in (0.0, 1.0, -3.0, inf, -inf):
            assert ours.arctan2(y, x) == pytest.approx(math.atan2(y, x), rel=1e-15)
    assert list(cube_roots(np.array([0.0, inf, -inf]))) == [0.0, inf, -inf]
    assert all(math.isnan(ours.sin(x)) and math.isnan(ours.cos(x)) for x in (nan, inf, 2.0**33))
    assert all(math.isnan(x) for x in (ours.exp(nan), ours.log(-1.0), ours.power(-1.0, 0.5), ours.arctan2(nan, 1.0)))


BITS = """
import hashlib
import numpy as np
from granum.arithmetic import arctan2, cos, exp, log, power, sin
rng = np.random.default_rng(7)
x, y = 10 ** rng.uniform(-3, 3, 400), rng.uniform(-5, 5, 400)
print(hashlib.sha256(b"".join(v.tobytes() for v in (sin(x), cos(x), exp(y), log(x), power(x, y), arctan2(y, x)))).hexdigest())
"""


def test_compiled_functions_have_the_bits_of_plain_arithmetic():
    """Python's own floats, which nothing contracts or reorders, give the same bits: so the compiler left all operations as written."""
    plain, compiled = (
        subprocess.run([sys.executable, "-c", BITS], env={**os.environ, **more}, capture_output=True, text=True, check=True).stdout
        for more in ({"NUMBA_DISABLE_JIT": "1"}, {})
    )
    assert plain == compiled


def test_octave_is_log2_rounded_up():
    np.testing.assert_array_equal(ours.octave(np.array([1.0, 1.5, 2.0, 3.0, 4.0, 0.5, 0.3, 2.0**0.5])), [0, 1, 1, 2, 2, -1, -1, 1])


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_small_matrices(rng, dim):
    """Against NumPy, to rounding; stacks of matrices too."""
    m = rng.normal(size=(50, dim, dim)) + 3 * np.eye(dim)
    spd = m @ m.transpose(0, 2, 1)
    v = rng.normal(size=(50, dim))
    np.testing.assert_allclose(ours.dot(v, v), (v * v).sum(axis=1), rtol=1e-15)
    np.testing.assert_allclose(ours.length(v), np.linalg.norm(v, axis=1), rtol=1e-15)
    np.testing.assert_allclose(ours.times(m, v), (m @ v[:, :, None])[:, :, 0], atol=1e-14)
    np.testing.assert_allclose(ours.product(m, spd), m @ spd, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(ours.product(v, m[0]), v @ m[0], atol=1e-14)
    np.testing.assert_allclose(ours.determinant(m), np.linalg.det(m), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(ours.product(ours.inverse(spd), spd), np.broadcast_to(np.eye(dim), spd.shape), atol=1e-11)
    np.testing.assert_allclose(ours.times(spd, ours.solve(spd, v)), v, atol=1e-13)
    np.testing.assert_allclose(ours.solve(spd[0], v[0]), np.linalg.solve(spd[0], v[0]), rtol=1e-10)


def test_inverse_of_a_symmetric_matrix_is_symmetric(rng):
    m = rng.normal(size=(20, 3, 3))
    m = m + m.transpose(0, 2, 1)
    found = ours.inverse(m)
    np.testing.assert_array_equal(found, found.transpose(0, 2, 1))


@pytest.mark.parametrize("count", [0, 1, 7, 8, 1001])
def test_total_and_mean(rng, count):
    x = rng.normal(size=count)
    assert ours.total(x) == pytest.approx(math.fsum(x), abs=1e-12)
    assert ours.mean(x) == pytest.approx(math.fsum(x) / count, abs=1e-14) if count else math.isnan(ours.mean(x))


def test_normal_numbers_are_normal():
    """Mean, variance and fourth moment of 200 000, within 5 standard errors; the same for the same seed."""
    x, n = ours.normal(np.random.default_rng(3), (1000, 200)), 200_000
    assert x.shape == (1000, 200)
    assert abs(x.mean()) < 5 / n**0.5
    assert abs((x**2).mean() - 1) < 5 * (2 / n) ** 0.5
    assert abs((x**4).mean() - 3) < 5 * (96 / n) ** 0.5
    np.testing.assert_array_equal(x, ours.normal(np.random.default_rng(3), (1000, 200)))


def test_uniform_numbers_fill_their_range():
    x = ours.uniform(np.random.default_rng(3), (0.0, 5.0), (1.0, 7.0), (10_000, 2))
    assert ((x >= (0, 5)) & (x < (1, 7))).all()
    np.testing.assert_allclose(x.mean(axis=0), (0.5, 6.0), atol=5 * 2 / 12**0.5 / 100)
