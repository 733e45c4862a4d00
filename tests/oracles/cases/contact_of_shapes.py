"""Force k x^1.5 (1 + 3/2 a x'): quadratures of v / (1 + 3/2 a v) on the way in and out meet; weight on slopes."""

import numpy as np
from scipy.optimize import brentq

G, FRICTION = 9.81, 0.5


def rebound(a):
    def work(v, c):
        """Return the integral of s / (1 + c s) from 0 to v."""
        return v / c - np.log1p(c * v) / c**2

    c = 1.5 * a
    return brentq(lambda v: work(v, -c) - work(1.0, c), 1e-6, min(1.0, (1 - 1e-12) / c), xtol=1e-14)


def expected():
    speeds = [rebound(a) for a in (0.1, 0.5, 2.0)]
    assert np.tan(0.45) < FRICTION < np.tan(0.5)
    return {
        "dormand_prince: speeds after an impact at 1 m/s with a = 0.1, 0.5 and 2 s/m [m/s]": speeds,
        "rosenbrock: speeds after an impact at 1 m/s with a = 0.1, 0.5 and 2 s/m [m/s]": speeds,
        "slope of 0.45 rad, friction 0.5: movement of the block from 4 s to 8 s [m]": 0.0,
        "slope of 0.45 rad: force of the slope along and across it [N]": [
            -G * np.sin(0.45),
            G * np.cos(0.45),
        ],
        "slope of 0.5 rad: acceleration of the block [m/s^2]": G * (np.sin(0.5) - FRICTION * np.cos(0.5)),
        "ball on a slope of 0.3 rad: acceleration without slip [m/s^2]": 5 / 7 * G * np.sin(0.3),
    }
