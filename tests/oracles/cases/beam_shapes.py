"""Uniform beams: exact clamped-free modes, and matrices of Hermite's elements."""

import numpy as np
from scipy.optimize import brentq


def clamped_roots(count, tip=0.0):
    """Return beta L of clamped-free modes with a tip mass of `tip` times the beam's own."""

    def equation(b):
        free = 1 / np.cosh(b) + np.cos(b)
        return free + tip * b * (np.cos(b) * np.tanh(b) - np.sin(b))

    grid = np.linspace(0.1, (count + 1) * np.pi, 4000)
    values = equation(grid)
    turns = np.flatnonzero(values[1:] * values[:-1] < 0)
    return np.array([brentq(equation, grid[k], grid[k + 1], xtol=1e-14) for k in turns[:count]])


def clamped_shape(b, s, order=0):
    """Return a clamped-free shape of mean square one without a tip mass, or its derivative by s = x / L.

    exp(b s) is split off its hyperbolic functions, so that high modes keep their digits.
    """
    s = np.asarray(s, dtype=float)
    ratio = (np.sinh(b) - np.sin(b)) / (np.cosh(b) + np.cos(b))
    grow = (np.exp(-b) + np.cos(b) + np.sin(b)) / (np.exp(b) + np.exp(-b) + 2 * np.cos(b))  # (1 - ratio) / 2
    trig = [
        -np.cos(b * s) + ratio * np.sin(b * s),
        np.sin(b * s) + ratio * np.cos(b * s),
        np.cos(b * s) - ratio * np.sin(b * s),
    ][order]
    sign = -1 if order % 2 else 1
    return b**order * (grow * np.exp(b * s) + sign * (1 + ratio) / 2 * np.exp(-b * s) + trig)


def gauss(count=200):
    """Return points and weights on (0, 1)."""
    x, w = np.polynomial.legendre.leggauss(count)
    return (x + 1) / 2, w / 2


def hermite(length, EI, line, elements):
    """Return stiffness and mass of a free beam in bending; degrees of freedom are deflection and slope of each node."""
    h = length / elements
    k = (
        EI
        / h**3
        * np.array(
            [
                [12, 6 * h, -12, 6 * h],
                [6 * h, 4 * h * h, -6 * h, 2 * h * h],
                [-12, -6 * h, 12, -6 * h],
                [6 * h, 2 * h * h, -6 * h, 4 * h * h],
            ]
        )
    )
    m = (
        line
        * h
        / 420
        * np.array(
            [
                [156, 22 * h, 54, -13 * h],
                [22 * h, 4 * h * h, 13 * h, -3 * h * h],
                [54, 13 * h, 156, -22 * h],
                [-13 * h, -3 * h * h, -22 * h, 4 * h * h],
            ]
        )
    )
    n = 2 * elements + 2
    K, M = np.zeros((n, n)), np.zeros((n, n))
    for e in range(elements):
        at = slice(2 * e, 2 * e + 4)
        K[at, at] += k
        M[at, at] += m
    return K, M
