"""Roots of the frequency equations of Euler-Bernoulli beams."""

import numpy as np
from scipy.optimize import brentq


def roots(equation):
    grid = np.linspace(0.5, 16, 4000)
    values = equation(grid)
    turns = np.flatnonzero(values[1:] * values[:-1] < 0)[:4]
    return [brentq(equation, grid[k], grid[k + 1], xtol=1e-14) for k in turns]


def expected():
    clamped = roots(lambda x: np.cos(x) - 1 / np.cosh(x))
    return {
        "clamped-free: beta L, modes 1-4": roots(lambda x: np.cos(x) + 1 / np.cosh(x)),
        "clamped-pinned: beta L, modes 1-4": roots(lambda x: np.sin(x) - np.tanh(x) * np.cos(x)),
        "clamped-clamped: beta L, modes 1-4": clamped,
        "pinned-pinned: beta L, modes 1-4": roots(np.sin),
        "free-free: beta L, modes 1-4": clamped,
    }
