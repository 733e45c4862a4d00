"""The Riccati differential equation backward in time, by exponentials of its Hamiltonian matrices (Anderson & Moore 1990)."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from articulus.numerics.lyapunov import one_thread

LONG = 2.0
"""Largest eigenvalue of the Hamiltonian matrix times a step beyond which the step is cut."""


def riccati_along(
    t: np.ndarray, A: np.ndarray, B: np.ndarray, Q: np.ndarray, R: np.ndarray, last: np.ndarray
) -> np.ndarray:
    """Return P(t), (points, n, n), of -P' = A'P + P A - P B R^-1 B' P + Q.

    The regulator u = -R^-1 B' P x of x' = A(t) x + B(t) u makes the integral of x'Qx + u'Ru plus x' P(t_end) x least. Between two
    points A and B are the means of those at the points: exact for constant ones, an error of second order in the spacing else.

    Parameters
    ----------
    t : array, (points,) [s]
        Not falling.
    A, B : arrays, (points, n, n), (points, n, m)
    Q, R : arrays, (n, n), (m, m)
        Symmetric, semidefinite; R definite.
    last : array, (n, n)
        P at the last point, such as `care(A[-1], B[-1], Q, R).X`.
    """
    n, inverse = len(Q), np.linalg.inv(R)
    P = np.empty((len(t), n, n))
    P[-1] = last
    with one_thread():  # many small matrices
        for k in reversed(range(len(t) - 1)):
            a, b = (A[k] + A[k + 1]) / 2, (B[k] + B[k + 1]) / 2
            H = np.block([[a, -b @ inverse @ b.T], [-Q, -a.T]])
            P[k] = _step_back(H, t[k + 1] - t[k], P[k + 1])
    return P


def _step_back(H: np.ndarray, h: float, P: np.ndarray) -> np.ndarray:
    """Return P a time h earlier: (X, Y) = exp(-h H) (I, P) and P = Y X^-1."""
    n = len(P)
    count = int(np.ceil(h * np.abs(np.linalg.eigvals(H)).max(initial=0.0) / LONG)) or 1
    flow = scipy.linalg.expm(-h / count * H)
    for _ in range(count):
        X, Y = flow[:n, :n] + flow[:n, n:] @ P, flow[n:, :n] + flow[n:, n:] @ P
        P = np.linalg.solve(X.T, Y.T).T
        P = (P + P.T) / 2
    return P
