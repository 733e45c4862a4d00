"""Slider-crank of Bayo & Avello 1994: printed rods and position, iterations in arithmetic of 50 digits; one crank angle for runs."""

import mpmath as mp
import numpy as np
from scipy.integrate import solve_ivp

mp.mp.dps = 50
M = mp.matrix([[mp.mpf(2) / 3, 0, mp.mpf(1) / 6], [0, mp.mpf(2) / 3, 0], [mp.mpf(1) / 6, 0, mp.mpf(1) / 3]])
Q = mp.matrix([0, -mp.mpf("9.81"), 0])


def constraints(q, v):
    """Return the Jacobian of half the squares of the lengths, and the part of their accelerations without q''."""
    x1, y1, x2 = q
    u1, w1, u2 = v
    jacobian = mp.matrix([[x1, y1, 0], [x1 - x2, y1, x2 - x1]])
    return jacobian, mp.matrix([u1**2 + w1**2, (u2 - u1) ** 2 + w1**2])


def iterations(q, v, penalty, count):
    """Return the iterates of ALF1: (M + J' a J) a_new = M a_old - J' a c, from M a_0 = Q."""
    J, c = constraints(q, v)
    a = mp.lu_solve(M, Q)
    found = []
    for _ in range(count):
        a = mp.lu_solve(M + penalty * J.T * J, M * a - penalty * J.T * c)
        found.append(a)
    return found


def numbers(v):
    return [float(x) for x in v]


def expected():
    r = mp.sqrt(mp.mpf(1) / 2)
    q, v = [r, r, 2 * r], [mp.mpf(-1), mp.mpf(1), mp.mpf(-2)]
    J, c = constraints(q, v)
    whole = mp.zeros(5, 5)
    whole[0:3, 0:3], whole[0:3, 3:5], whole[3:5, 0:3] = M, J.T, J
    found = mp.lu_solve(whole, mp.matrix([*Q, *(-c)]))
    exact, multipliers = found[0:3], found[3:5]
    small = iterations(q, v, mp.mpf(10) ** 4, 2)
    large = iterations(q, v, mp.mpf(10) ** 7, 1)
    up = iterations(
        [mp.mpf(0), mp.mpf(1), mp.mpf(0)], [mp.mpf(-1), mp.mpf(0), mp.mpf(-2)], mp.mpf(10) ** 4, 1
    )
    return {
        "exact accelerations [m/s^2]": numbers(exact),
        "exact multipliers [N]": numbers(multipliers),
        "error of regularized, iteration 1 [m/s^2]": float(mp.norm(small[0] - exact)),
        "error of regularized, iteration 2 [m/s^2]": float(mp.norm(small[1] - exact)),
        "error of regularized, iteration 1, penalty 1e7 [m/s^2]": float(mp.norm(large[0] - exact)),
        "joint coordinates: accelerations of crank end and slider [m/s^2]": numbers(exact),
        "singular position, regularized: iteration 1, y1 [m/s^2]": float(up[0][1]),
        "singular position, augmented (ALF1): iteration 1, y1 [m/s^2]": float(up[0][1]),
        **crank(),
    }


def crank():
    """Return what the crank angle alone says: ends at (cos, sin) and (2 cos, 0)."""

    def inertia(a):
        return 1 / 3 + 9 / 4 * np.sin(a) ** 2 + np.cos(a) ** 2 / 4 + 1 / 12

    def rate(_, x):
        slope = 4 * np.sin(x[0]) * np.cos(x[0])
        return [x[1], -(slope * x[1] ** 2 / 2 + 9.81 * np.cos(x[0])) / inertia(x[0])]

    def passage(_, x):
        return np.cos(x[0])

    start = [np.pi / 4, 2 * np.sqrt(2)]
    run = solve_ivp(rate, (0, 10), start, "DOP853", rtol=1e-12, atol=1e-12, events=passage)
    a = run.y[0, -1]
    return {
        "energy [J]": inertia(start[0]) * start[1] ** 2 / 2 + 9.81 * np.sin(start[0]),
        "ALF2, tolerance 1e-8: passages [s]": run.t_events[0],
        "ALF2, tolerance 1e-8: q(10 s) [m]": [np.cos(a), np.sin(a), 2 * np.cos(a)],
    }
