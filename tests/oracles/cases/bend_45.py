"""Eighth of a circle of 100 in, square section of 1 in, E = 1e7 psi, no Poisson's ratio: equations of the rod by `solve_bvp`."""

import numpy as np
from scipy.integrate import solve_bvp

E, R = 1e7, 100.0
LENGTH = R * np.pi / 4
FORCE_STIFF = E * np.array([1, 0.5, 0.5])
MOMENT_STIFF = E / 12 * np.ones(3)


def turned(p, v):
    """Return the rotation of vectors by unit quaternions, both (., points)."""
    w, u = p[0], p[1:]
    return v + 2 * w * np.cross(u, v, axis=0) + 2 * np.cross(u, np.cross(u, v, axis=0), axis=0)


def back(p, v):
    return turned(p * np.array([1, -1, -1, -1])[:, None], v)


def tip(force):
    """Return (y, x, z) of the tip; the arc begins along x and bends towards y."""
    n = np.array([0, 0, force])

    def rates(s, x):
        p = x[3:7] / np.linalg.norm(x[3:7], axis=0)
        push = np.repeat(n[:, None], len(s), axis=1)
        strain = back(p, push) / FORCE_STIFF[:, None] + np.array([[1.0], [0], [0]])
        bend = back(p, x[7:]) / MOMENT_STIFF[:, None] + np.array([[0.0], [0], [1 / R]])
        along = turned(p, strain)
        spin = np.vstack([-(p[1:] * bend).sum(0), p[0] * bend + np.cross(p[1:], bend, axis=0)]) / 2
        return np.vstack([along, spin, -np.cross(along, push, axis=0)])

    def ends(a, b):
        return np.concatenate([a[:3], a[3:7] - [1, 0, 0, 0], b[7:]])

    s = np.linspace(0, LENGTH, 41)
    half = s / R / 2
    guess = np.vstack(
        [
            R * np.sin(2 * half),
            R * (1 - np.cos(2 * half)),
            0 * s,
            np.cos(half),
            0 * s,
            0 * s,
            np.sin(half),
            0 * s,
            0 * s,
            0 * s,
        ]
    )
    for share in (0.1, 0.3, 0.6, 1.0):
        n = share * np.array([0, 0, force])
        found = solve_bvp(rates, ends, s, guess, tol=1e-9, max_nodes=20000)
        assert found.success
        s, guess = found.x, found.y
    return guess[[1, 0, 2], -1]


def expected():
    return {f"tip at {force} lbf, differential equations [in]": tip(force) for force in (300, 600)}
