"""Families of cubics and quartics by the conditions of Routh and Hurwitz at the corners of their boxes."""

import itertools

import numpy as np
from scipy.optimize import brentq


def quartic(p):
    """Return a number that is positive where s^4 + a s^3 + b s^2 + c s + d with positive coefficients is stable."""
    _, a, b, c, d = p
    return a * b * c - c * c - a * a * d


def corners(k):
    p = np.array([1.0, 3.0, 5.0, 4.0, 1.5])
    signs = itertools.product((-1, 1), repeat=4)
    return min(quartic(p * (1 + k * np.array([0, *s]))) for s in signs)


def expected():
    return {
        # (3 - k)(4 - k) = 5 + k
        "cubic of intervals a +- k: k at which the family becomes unstable": 4 - np.sqrt(9),
        "quartic of intervals of 100 k percent: k at which the family becomes unstable": brentq(
            corners, 0, 0.9, xtol=1e-14
        ),
        # (3 - 2.9 k) 4 = 5
        "cubic, edges of a line of two: share at which its polynomial becomes unstable": (3 - 5 / 4) / 2.9,
        "cubic with coefficients x, x y, 5: least x = y for which x^2 y > 5, by parts of a box": 5 ** (1 / 3),
    }
