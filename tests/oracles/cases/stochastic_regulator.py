"""Scheme of Hanson 1989 on dy = (a y + u) ds + g dW - 0.4 y dP at a rate of 0.5, cost (x^2 + u^2) / 2 over 1 s, without its code."""

import numpy as np
from scipy.integrate import solve_ivp

RATE, JUMP = 0.5, -0.4


def riccati(a, g):
    """Return p(0) and s(0) of V = p x^2 / 2 + s for unbounded inputs."""

    def back(_, x):
        p = x[0]
        return [2 * a * p + RATE * ((1 + JUMP) ** 2 - 1) * p + 1 - p * p, g * g * p / 2]

    return solve_ivp(back, (0, 1), [0, 0], "DOP853", rtol=1e-12, atol=1e-14).y[:, -1]


def bellman(points, a=-0.5, g=0.3, limit=10.0, steps=None):
    """Return grid, V and u at the start, and the mean number of corrections."""
    x = np.linspace(-2, 2, points)
    h, steps = x[1] - x[0], steps or 4 * (points - 1)
    dt = 1.0 / steps

    def rates(V):
        slope, bend = np.empty_like(V), np.empty_like(V)
        slope[1:-1], bend[1:-1] = (V[2:] - V[:-2]) / (2 * h), (V[2:] - 2 * V[1:-1] + V[:-2]) / h**2
        slope[0], slope[-1] = (
            (-3 * V[0] + 4 * V[1] - V[2]) / (2 * h),
            (3 * V[-1] - 4 * V[-2] + V[-3]) / (2 * h),
        )
        bend[0] = (2 * V[0] - 5 * V[1] + 4 * V[2] - V[3]) / h**2
        bend[-1] = (2 * V[-1] - 5 * V[-2] + 4 * V[-3] - V[-4]) / h**2
        u = np.clip(-slope, -limit, limit)
        jumped = RATE * (np.interp((1 + JUMP) * x, x, V) - V)
        return a * x * slope + g * g / 2 * bend + jumped + x * x / 2 + (u / 2 + slope) * u, u

    V = before = np.zeros(points)
    corrections = 0
    for _ in range(steps):
        new = V + dt * rates((3 * V - before) / 2)[0]
        for _ in range(60):
            corrections += 1
            last, new = new, V + dt * rates((new + V) / 2)[0]
            if np.abs(new - last).max() < 1e-10:
                break
        before, V = V, new
    return x, V, rates(V)[1], corrections / steps


def at(x, V, places):
    """Return values between points by cubics."""
    from scipy.interpolate import CubicSpline

    return CubicSpline(x, V)(places)


def expected():
    p, s = riccati(-0.5, 0.3)
    out = {"p(0) from 65 and 129 points": p, "s(0) from 65 and 129 points": s}
    for g, name, exact in ((0.3, "with both noises", s), (0.0, "with jumps alone", 0.0)):
        errors, counts = [], []
        for points in (9, 17, 33, 65, 129):
            x, V, _, count = bellman(points, g=g)
            errors.append(np.abs(V - p * x * x / 2 - exact).max())
            counts.append(count)
        errors = np.array(errors)
        out[f"{name}: largest error on 9, 17 points [1e-3]"] = 1e3 * errors[:2]
        out[f"{name}: largest error on 33, 65, 129 points [1e-5]"] = 1e5 * errors[2:]
        out[f"{name}: ratios of these errors"] = errors[:-1] / errors[1:]
        if g:
            out[f"{name}: mean number of corrections"] = counts
    fine = [bellman(points, limit=0.3) for points in (129, 257)]
    values = [at(x, V, [0, 1, 2]) for x, V, *_ in fine]
    x, _, u, _ = fine[-1]
    return out | {
        "inputs within 0.3: least cost from 0, 1, 2": (4 * values[1] - values[0]) / 3,
        "inputs within 0.3: least state at which the input is at its bound, at the start": np.interp(
            -0.3, u[x > 0][::-1], x[x > 0][::-1]
        ),
        "two states: least cost from (0, 0), (1, -0.5), (-1.5, 1)": two_states(),
    }


def two_states():
    """Return the sum of two problems of one state, of which the turned coordinates are made."""
    turn = np.array([[np.sqrt(3), -1], [1, np.sqrt(3)]]) / 2
    own = np.array([[0, 0], [1, -0.5], [-1.5, 1]]) @ turn
    total = 0.0
    for k, (a, g, limit) in enumerate(((-0.5, 0.3, 0.3), (-0.2, 0.4, 0.2))):
        coarse, fine = (at(*bellman(points, a, g, limit)[:2], own[:, k]) for points in (129, 257))
        total = total + (4 * fine - coarse) / 3
    return total
