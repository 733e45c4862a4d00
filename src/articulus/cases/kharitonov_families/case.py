"""Families of polynomials: where the first member becomes unstable, by Kharitonov's four, by edges, and by parts of a box."""

from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq

from articulus.control.robust.polynomials import edges, kharitonov, polynomic

CUBIC = np.array([1.0, 3.0, 4.0, 5.0])
QUARTIC = np.array([1.0, 3.0, 5.0, 4.0, 1.5])
SPREAD = np.array([0.0, 1.0, 1.0, 1.0])


def compute() -> dict:
    return {
        "cubic of intervals a +- k: k at which the family becomes unstable": limit(lambda k: kharitonov(CUBIC - k * SPREAD, CUBIC + k * SPREAD).stable, 1.0),
        "quartic of intervals of 100 k percent: k at which the family becomes unstable": limit(lambda k: kharitonov(QUARTIC * (1 - k * WIDE), QUARTIC * (1 + k * WIDE)).stable, 0.9),
        "cubic, edges of a line of two: share at which its polynomial becomes unstable": limit(lambda k: edges([[1.0, 3.0, 4.0, 5.0], [1.0, 3.0 - 2.9 * k, 4.0, 5.0]]).stable, 1.0),
        "cubic with coefficients x, x y, 5: least x = y for which x^2 y > 5, by parts of a box": limit(lambda k: not polynomic(lambda x, y: [1.0, x, x * y, 5.0], {"x": (3.0 - k, 4.0), "y": (3.0 - k, 4.0)}).stable, 0.0, 2.9),
    }  # fmt: skip


WIDE = np.array([0.0, 1.0, 1.0, 1.0, 1.0])


def limit(stable: Callable[[float], bool | None], high: float, start: float | None = None) -> float:
    """Return the size at which a family changes between stable and not."""
    if start is None:
        return float(brentq(lambda k: 1.0 if stable(k) else -1.0, 0.0, high, xtol=1e-12))
    return 3.0 - float(brentq(lambda k: 1.0 if stable(k) else -1.0, high, start, xtol=1e-9))
