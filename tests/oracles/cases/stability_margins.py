"""Bounds of Tekawy, Safonov & Chiang 1989 by a generic optimizer, and the triangular loop of Chiang & Safonov 1989."""

import itertools

import numpy as np
from scipy.optimize import minimize

M = np.array([[0.2, -1, 0.5], [0.8, 0.3, -0.4], [-0.6, 0.7, 0.1]])


def scaled(size):
    """Return the least size of D M / D over positive diagonal D."""

    def cost(logs):
        d = np.exp(np.append(logs, 0.0))
        return size(d[:, None] * M / d)

    options = {"xatol": 1e-10, "fatol": 1e-13, "maxiter": 20000, "maxfev": 20000}
    return min(
        minimize(cost, start, method="Nelder-Mead", options=options).fun
        for start in ([0, 0], [0.3, -0.2], [-0.5, 0.5])
    )


def largest(A):
    return np.linalg.norm(A, 2)


def real_bound():
    """Return the largest real eigenvalue of M S over corners S of the box: the bound is attained there."""
    found = []
    for signs in itertools.product((1, -1), repeat=3):
        values = np.linalg.eigvals(M * np.array(signs))
        found.append(max((v.real for v in values if abs(v.imag) < 1e-9), default=0.0))
    return max(found)


def loop(w):
    s = 1j * w
    G = np.array([[4 / (s + 4), 0], [4 * s / (s + 4) + 8 * s / (s + 8), 8 / (s + 8)]])
    return G @ np.linalg.inv(np.eye(2) + G)


def expected():
    T = [loop(w) for w in np.geomspace(1e-6, 1e7, 400)]
    diagonal = max(np.abs(np.diag(t)).max() for t in T)  # of a triangular matrix nothing else counts
    return {
        "two-sided bound of a real 3 x 3 matrix": scaled(largest),
        "one-sided bound of the same": scaled(lambda A: np.linalg.eigvalsh((A + A.T) / 2)[-1]),
        "the same from below: 1 / size of a real perturbation that makes I - M Delta singular": real_bound(),
        "real two-sided bound of the same, over sign matrices": real_bound(),
        "example of Chiang & Safonov: margin by the largest singular value": 1 / max(map(largest, T)),
        "example of Chiang & Safonov: margin K_m": 1 / diagonal,
        "example of Chiang & Safonov: size of a perturbation that destabilizes": 1 / diagonal,
    }
