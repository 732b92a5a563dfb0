"""Oblique impact of an elastic sphere without partial-slip approximations: Maw, Barber and Fawcett (1976), the slow, plain way.

By the method of dimensionality reduction the contact of a sphere with a plane is that of a parabola x^2 / R with a row of springs, E* dx
against the normal and G* dx along, each of which slips by Coulomb's law on its own (Popov and Hess; Lyashenko and Popov 2015).
"""

from __future__ import annotations

import numpy as np


def maw_impact(tangent, friction, shear, springs=400, steps=4000):
    """Tangential impulse over m v_n of a sphere that comes without spin at that tangent of the angle from the normal; e = 1.

    ``shear`` is G* / E*. Scaled: R = E* = m = v_n = 1; the surface of the sphere is sped up 7/2 times as much as its centre.
    """
    overlap = (15 / 16) ** 0.4
    h, dx = 2.9433 * overlap / steps, np.sqrt(overlap) * 1.001 / springs
    x = (np.arange(springs) + 0.5) * dx
    depth, rate, along, stretch = 0.0, 1.0, tangent, np.zeros(springs)
    push = rub = 0.0
    while True:
        rate, along = rate - h / 2 * push, along - h / 2 * 3.5 * rub
        depth += h * rate
        if depth <= 0:
            return (tangent - along) / 3.5
        pressed = np.maximum(depth - x * x, 0.0)
        bound = friction / shear * pressed
        stretch = np.clip(stretch + h * along, -bound, bound)
        push, rub = 2 * dx * pressed.sum(), 2 * dx * shear * stretch.sum()
        rate, along = rate - h / 2 * push, along - h / 2 * 3.5 * rub
