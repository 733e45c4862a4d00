"""Example 1 of Bless, Hodges & Calise 1989: with one thrust angle an element the multipliers make its tangent linear in time."""

import numpy as np
from scipy.optimize import brentq, fsolve

HEIGHT = 0.75  # a h / U^2


def elements(n, height=HEIGHT):
    """Return time, range over height, first angle [deg] and costate of the height of n elements."""
    middle = (np.arange(n) + 0.5) / n

    def flight(x):
        T, c = x
        u = np.arctan(c * (1 - 2 * middle))
        h = T / n
        v = np.concatenate([np.zeros((1, 2)), np.cumsum(h * np.column_stack([np.cos(u), np.sin(u)]), axis=0)])
        return h * (v[1:] + v[:-1]).sum(0) / 2, v[-1], u

    def left(x):
        place, speed, _ = flight(x)
        return [place[1] - height, speed[0] - 1]

    T, c = fsolve(left, [1.84, 3.0], xtol=1e-13)
    place, _, u = flight([T, c])
    return T, place[0] / HEIGHT, np.degrees(u[0]), T, c


def costate(n):
    """Return -dT / dh, the multiplier of the height, by central differences of the least time."""
    d = 1e-5
    return -(elements(n, HEIGHT + d)[0] - elements(n, HEIGHT - d)[0]) / (2 * d)


def closed():
    """Return time, range over height and first angle [deg] of the closed form tan u = tan u0 (1 - 2 t / T)."""

    def height(a):
        t = np.tan(a)
        T = t / np.arcsinh(t)  # horizontal speed one
        # v_y = T (sec a - sec u) / (2 t), height = its integral
        return T * T / (4 * t) * (2 / np.cos(a) - (t / np.cos(a) + np.arcsinh(t)) / t)

    a = brentq(lambda a: height(a) - HEIGHT, 0.5, 1.5, xtol=1e-15)
    T = np.tan(a) / np.arcsinh(np.tan(a))
    return T, T / 2 / HEIGHT, np.degrees(a)


def expected():
    found = [elements(n) for n in (2, 4, 8, 16, 32, 64)]
    T, away, angle = closed()
    return {
        "a T / U on 2, 4, 8, 16, 32, 64 elements": [x[0] for x in found],
        "range over height on 2, 4, 8, 16 elements": [x[1] for x in found[:4]],
        "angle of the thrust in the first of 2, 4, 8, 16 elements [deg]": [x[2] for x in found[:4]],
        "costate of the height on 2 elements [U / a per U^2 / a]": costate(2),
        "a T / U in the limit, from 32 and 64 elements": T,
        "range over height in the limit": away,
        "a T / U by collocation, lobatto 5 on 16 intervals": T,
        "angle of the thrust at the start by collocation [deg]": angle,
    }
