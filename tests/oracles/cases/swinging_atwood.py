"""Swinging Atwood's machine of Tufillaro 1986 with a tether that does not stretch."""

import numpy as np
from scipy.integrate import solve_ivp

G, START = 9.81, [1.0, 1.2, 0.3, 0.4]


def swung(mu):
    def rate(_, x):
        r, a, u, w = x
        return [u, w, (r * w**2 + G * np.cos(a) - mu * G) / (1 + mu), -(2 * u * w + G * np.sin(a)) / r]

    return solve_ivp(rate, (0, 3), START, "DOP853", t_eval=[0, 1, 2, 3], rtol=1e-13, atol=1e-13).y


def integral(x):
    r, a, u, w = x
    c, s = np.cos(a / 2), np.sin(a / 2)
    return r**2 * w * (u * c - r * w / 2 * s) + G * r**2 * s * c**2


def expected():
    three = swung(3.0)
    return {
        "M/m = 3: first integral at 0, 1, 2 and 3 s [m^3/s^2]": integral(three),
        "M/m = 2.5: the same, which is none [m^3/s^2]": integral(swung(2.5)),
        "M/m = 3: length at 1, 2 and 3 s [m]": three[0, 1:],
        "M/m = 3: angle at 1, 2 and 3 s [rad]": three[1, 1:],
    }
