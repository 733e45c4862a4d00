"""Coprime factors of a sampled plant with a few unstable poles, and a pair that solves the Bezout identity.

W. H. Bennett 1989, eqs. 2.4, 2.5, 3.6: G = P_S + P_U with P_S stable, known by samples, and P_U rational of low order,

    G = N D^-1 = D_l^-1 N_l,    X D + Y N = I,    D_l X_l + N_l Y_l = I.

The factors of P_U = C (sI - A)^-1 B are those of a state feedback F and an output injection L; P_S only adds to the numerators
(N = N_U + P_S D) and is taken back in X (X = X_U - Y P_S).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from articulus.control.sampled_response.grid import FrequencyGrid
from articulus.errors import InputError
from articulus.linear import LinearModel
from articulus.linear.response import Transfer
from articulus.numerics.lyapunov import covariance

CLEAR = 0.1
"""Least distance of the poles of the factors from the imaginary axis, over the scale of the grid: half of what they get."""


@dataclass(frozen=True, eq=False)
class CoprimeFactors:
    """Samples of the factors of G (p, m) on a grid.

    Parameters
    ----------
    D, Dl : arrays, (frequencies, m, m), (frequencies, p, p)
        Denominators of the right and the left factors; one where G is stable.
    N, Nl : arrays, (frequencies, p, m)
    X, Y : arrays, (frequencies, m, m), (frequencies, m, p)
        X D + Y N = I.
    """

    D: np.ndarray
    Dl: np.ndarray
    N: np.ndarray
    Nl: np.ndarray
    X: np.ndarray
    Y: np.ndarray

    @staticmethod
    def of(stable: np.ndarray, unstable: LinearModel, grid: FrequencyGrid) -> CoprimeFactors:
        """Return the factors of samples of a stable part (frequencies, p, m) and a model of the rest, strictly proper."""
        p, m = stable.shape[1:]
        A, B, C = unstable.A, unstable.B, unstable.C
        F, L = _feedback(A, B, grid.scale), _feedback(A.T, C.T, grid.scale).T
        s, none = 1j * grid.omega, np.zeros
        right, left = A + B @ F, A + L @ C
        D = Transfer(right, B, F, np.eye(m))(s)
        Dl = Transfer(left, L, C, np.eye(p))(s)
        N = Transfer(right, B, C, none((p, m)))(s) + stable @ D
        Nl = Transfer(left, B, C, none((p, m)))(s) + Dl @ stable
        Y = Transfer(left, L, F, none((m, p)))(s)
        X = Transfer(left, B, -F, np.eye(m))(s) - Y @ stable
        return CoprimeFactors(D, Dl, N, Nl, X, Y)


def _feedback(A: np.ndarray, B: np.ndarray, scale: float) -> np.ndarray:
    """Return F of least effort such that A + B F has the eigenvalues of A mirrored at a line left of all of them.

    (A + d I) W + W (A + d I)' = B B', F = -B' W^-1; with d = 0 the factor D is inner.
    """
    if not len(A):
        return np.zeros((B.shape[1], 0))
    values = np.linalg.eigvals(A).real
    back = -(A + max(CLEAR * scale - values.min(), 0.0) * np.eye(len(A)))
    W = covariance(back, B @ B.T)
    if np.linalg.cond(W) > 1e12:
        raise InputError(
            "wiener_hopf, unstable: found poles that no command reaches or no measured output shows; expected a minimal model of them"
        )
    return -np.linalg.solve(W, B).T
