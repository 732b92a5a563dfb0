"""Sine, cosine, exponential, logarithm, power, arctangent and cube root of one number, for kernels.

They are made of additions, products, quotients and square roots alone, each rounded as it is written (``as_written`` of ``_jit.py`` lets
nothing be contracted), so they have the same bits on every CPU. Coefficients are those of Taylor's series. Where a rounding would count, a
number is carried as the sum of two (Dekker 1971). Errors in units in the last place, tested against mpmath: below 0.8 for sine and
cosine, below 1.5 for the power 3/2, below 0.6 for the others.
"""

from __future__ import annotations

import math

from .._jit import as_written

LARGEST_ANGLE = 2.0**32  # [rad]; the sine of more is not a number: of such an angle nobody knows where on the circle it is

_SPLIT = 2.0**27 + 1.0
_TWO_OVER_PI = 0.6366197723675814
_HALF_PI = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33)  # its sum is known to 2^-161
_LN_2 = (0.6931471803691238, 1.9082149292705877e-10)  # the first has 32 bits, so that whole multiples are exact; sum to 2^-86
_ONE_OVER_LN_2 = 1.4426950408889634
_THIRD = (0.3333333333333333, 1.850371707708594e-17)
_FIFTH = (0.2, -1.1102230246251566e-17)
_SEVENTH = (0.14285714285714285, 7.93016446160826e-18)
_ARCTANGENT = (
    (0.0, 0.0),
    (0.24497866312686414, 1.0698755618734451e-17),
    (0.4636476090008061, 2.2698777452961687e-17),
    (0.6435011087932844, 1.5834785051444286e-17),
    (0.7853981633974483, 3.061616997868383e-17),
)
"""arctan(k / 4) as sums of two."""


@as_written
def _sum(a, b):
    """a + b as the rounded sum and what the rounding left out, exactly."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


@as_written
def _product(a, b):
    """a b as the rounded product and what the rounding left out, exactly."""
    p = a * b
    t = _SPLIT * a
    ah = t - (t - a)
    t = _SPLIT * b
    bh = t - (t - b)
    al, bl = a - ah, b - bh
    return p, ((ah * bh - p) + ah * bl + al * bh) + al * bl


@as_written
def _add(a, al, b, bl):
    """(a + al) + (b + bl) to some 2^-104."""
    s, e = _sum(a, b)
    return _sum(s, e + (al + bl))


@as_written
def _multiply(a, al, b, bl):
    """(a + al) (b + bl) to some 2^-103."""
    p, e = _product(a, b)
    return _sum(p, e + (a * bl + al * b))


@as_written
def sincos(x):
    """Sine and cosine of x [rad], |x| up to 2^32; beyond, and of what is no number: NaN."""
    if not abs(x) <= LARGEST_ANGLE:
        return math.nan, math.nan
    quarter = math.floor(x * _TWO_OVER_PI + 0.5)
    # x - quarter pi/2: no number comes nearer to a multiple of pi/2 than 2^-62, and what is left out here is below 2^-125.
    p, e = _product(quarter, _HALF_PI[0])
    q, f = _product(quarter, _HALF_PI[1])
    r, a = _sum(x, -p)
    r, b = _sum(r, -e)
    r, c = _sum(r, -q)
    r, rest = _sum(r, ((a + b) + c) - (f + quarter * _HALF_PI[2]))
    z, left = _product(r, r)
    s = z * (
        -1.0 / 6.0
        + z
        * (
            1.0 / 120.0
            + z
            * (
                -1.0 / 5040.0
                + z
                * (
                    1.0 / 362880.0
                    + z * (-1.0 / 39916800.0 + z * (1.0 / 6227020800.0 + z * (-1.0 / 1307674368000.0 + z * (1.0 / 355687428096000.0))))
                )
            )
        )
    )
    sine = r + (r * s + rest * (1.0 - 0.5 * z))
    c = (
        z
        * z
        * (
            1.0 / 24.0
            + z
            * (
                -1.0 / 720.0
                + z
                * (
                    1.0 / 40320.0
                    + z * (-1.0 / 3628800.0 + z * (1.0 / 479001600.0 + z * (-1.0 / 87178291200.0 + z * (1.0 / 20922789888000.0))))
                )
            )
        )
    )
    one, e = _sum(1.0, -0.5 * z)
    cosine = one + (e + (c - (r * rest + 0.5 * left)))
    turn = int(quarter) & 3
    if turn == 0:
        return sine, cosine
    if turn == 1:
        return cosine, -sine
    if turn == 2:
        return -sine, -cosine
    return -cosine, sine


@as_written
def _exponential_of(x, low):
    """exp(x + low), low being small against x."""
    if not x < 709.8:
        return x if x != x else math.inf
    if x < -745.2:
        return 0.0
    k = math.floor(x * _ONE_OVER_LN_2 + 0.5)
    r, e = _sum(x - k * _LN_2[0], low - k * _LN_2[1])
    z, left = _product(r, r)
    rest = (
        r
        * z
        * (
            1.0 / 6.0
            + r
            * (
                1.0 / 24.0
                + r
                * (
                    1.0 / 120.0
                    + r
                    * (
                        1.0 / 720.0
                        + r
                        * (
                            1.0 / 5040.0
                            + r
                            * (
                                1.0 / 40320.0
                                + r
                                * (
                                    1.0 / 362880.0
                                    + r
                                    * (
                                        1.0 / 3628800.0
                                        + r
                                        * (
                                            1.0 / 39916800.0
                                            + r * (1.0 / 479001600.0 + r * (1.0 / 6227020800.0 + r * (1.0 / 87178291200.0)))
                                        )
                                    )
                                )
                            )
                        )
                    )
                )
            )
        )
    )
    s, a = _sum(1.0, r)
    s, b = _sum(s, 0.5 * z)
    return math.ldexp(s + ((a + b) + (0.5 * left + rest + e * s)), int(k))


@as_written
def _logarithm_of(x):
    """ln x of a finite x > 0 as a sum of two, to some 2^-70 of it: 2 artanh((m - 1) / (m + 1)) + k ln 2, x = m 2^k, m near 1."""
    m, k = math.frexp(x)
    if m < 0.7071067811865476:
        m, k = 2.0 * m, k - 1
    f = m - 1.0
    d, dl = _sum(2.0, f)
    s = f / d
    p, e = _product(s, d)
    sl = (((f - p) - e) - s * dl) / d
    z, zl = _multiply(s, sl, s, sl)
    rest = 1.0 / 9.0 + z * (
        1.0 / 11.0
        + z
        * (
            1.0 / 13.0
            + z
            * (
                1.0 / 15.0
                + z
                * (
                    1.0 / 17.0
                    + z * (1.0 / 19.0 + z * (1.0 / 21.0 + z * (1.0 / 23.0 + z * (1.0 / 25.0 + z * (1.0 / 27.0 + z * (1.0 / 29.0))))))
                )
            )
        )
    )
    a, al = _add(_SEVENTH[0], _SEVENTH[1], z * rest, 0.0)
    a, al = _multiply(a, al, z, zl)
    a, al = _add(_FIFTH[0], _FIFTH[1], a, al)
    a, al = _multiply(a, al, z, zl)
    a, al = _add(_THIRD[0], _THIRD[1], a, al)
    a, al = _multiply(a, al, z, zl)
    a, al = _add(1.0, 0.0, a, al)
    a, al = _multiply(2.0 * s, 2.0 * sl, a, al)
    b, bl = _sum(k * _LN_2[0], k * _LN_2[1])
    return _add(b, bl, a, al)


@as_written
def exponential(x):
    """exp(x)."""
    return _exponential_of(x, 0.0)


@as_written
def logarithm(x):
    """ln x; -inf of 0, NaN of less."""
    if not 0.0 < x < math.inf:
        return -math.inf if x == 0.0 else (math.nan if x < 0.0 else x)
    high, low = _logarithm_of(x)
    return high + low


@as_written
def power(x, y):
    """x^y of x >= 0; NaN of less. The powers 1, 1/2 and 3/2, of springs and Hertz' law, are roots."""
    if y == 0.0 or x == 1.0:
        return 1.0
    if y == 1.0:
        return x if x >= 0.0 else math.nan
    if y == 0.5:
        return math.sqrt(x)
    if y == 1.5:
        return x * math.sqrt(x)
    if not 0.0 < x < math.inf or not abs(y) < math.inf:
        if x != x or y != y or x < 0.0:
            return math.nan
        return math.inf if (x > 1.0) == (y > 0.0) else 0.0
    high, low = _logarithm_of(x)
    if abs(y * high) > 800.0:
        return math.inf if y * high > 0.0 else 0.0
    p, e = _product(y, high)
    return _exponential_of(p, e + y * low)


@as_written
def arctangent(y, x):
    """The angle [rad] of the point (x, y), from -pi to pi; 0 at the origin."""
    across, along = abs(y), abs(x)
    if x != x or y != y:
        return math.nan
    if across == 0.0 and along == 0.0:
        return 0.0
    steep = across > along
    far, near = (across, along) if steep else (along, across)
    if far == math.inf:
        far, near = 1.0, 1.0 if near == math.inf else 0.0
    k = int(math.frexp(far)[1])
    far, near = math.ldexp(far, -k), math.ldexp(near, -k)  # so that nothing overflows
    # arctan t = arctan c + arctan((t - c) / (1 + t c)), t = near / far and c = nearest / 4.
    nearest = math.floor(4.0 * (near / far) + 0.5)
    c = 0.25 * nearest
    p, e = _product(c, far)
    top, low = _sum(near, -p)
    low -= e
    p, e = _product(c, near)
    bottom, rest = _sum(far, p)
    rest += e
    t = (top + low) / bottom
    p, e = _product(t, bottom)
    tl = ((((top - p) - e) + low) - t * rest) / bottom
    z = t * t
    s = z * (
        -1.0 / 3.0
        + z
        * (
            1.0 / 5.0
            + z
            * (
                -1.0 / 7.0
                + z * (1.0 / 9.0 + z * (-1.0 / 11.0 + z * (1.0 / 13.0 + z * (-1.0 / 15.0 + z * (1.0 / 17.0 + z * (-1.0 / 19.0))))))
            )
        )
    )
    angle, low = _add(_ARCTANGENT[nearest][0], _ARCTANGENT[nearest][1], t, tl + t * s)
    if steep:
        angle, low = _add(_HALF_PI[0], _HALF_PI[1], -angle, -low)
    if x < 0.0:
        angle, low = _add(2.0 * _HALF_PI[0], 2.0 * _HALF_PI[1], -angle, -low)
    return math.copysign(angle + low, y)


@as_written
def cube_root(x):
    """x^(1/3), of x < 0 too."""
    if not 0.0 < abs(x) < math.inf:
        return x
    m, k = math.frexp(abs(x))
    third = math.floor(k / 3.0)
    m = math.ldexp(m, k - 3 * third)  # from 1/2 to 4
    t = 0.6 + m * (0.45 - 0.05 * m)  # to a few per cent, for Halley's steps
    for _ in range(3):
        cube = t * t * t
        t = t * (cube + 2.0 * m) / (2.0 * cube + m)
    s, e = _product(t, t)
    p, f = _product(s, t)
    t += ((m - p) - (f + e * t)) / (3.0 * s)
    return math.copysign(math.ldexp(t, third), x)
