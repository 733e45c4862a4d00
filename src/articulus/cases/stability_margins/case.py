"""Margins of small matrices, and of a loop whose singular value says next to nothing."""

import numpy as np

from articulus.control import hinfnorm, mussv, robstab
from articulus.control.plant import of_matrices
from articulus.control.robust import one_sided, real_two_sided, two_sided
from articulus.linear import LinearModel

M = np.array([[0.2, -1, 0.5], [0.8, 0.3, -0.4], [-0.6, 0.7, 0.1]])
U, V = np.array([1 + 2j, -0.5j, 0.8]), np.array([0.3 - 1j, 2.0, -0.7 + 0.2j])


def compute() -> dict:
    real = mussv(M, [(-1, 0)] * 3)
    T = complementary_sensitivity()
    margins = robstab(T, [(1, 1)] * 2)
    return {
        "two-sided bound of a real 3 x 3 matrix": two_sided(M),
        "one-sided bound of the same": one_sided(M),
        "real two-sided bound of the same, over sign matrices": real_two_sided(M),
        "the same from below: 1 / size of a real perturbation that makes I - M Delta singular": real.lower,
        "smallest singular value of I - M Delta, plus one": 1.0
        + np.linalg.svd(np.eye(3) - M @ real.delta, compute_uv=False)[-1],
        "two-sided bound of a matrix of rank one, over the sum of |u_i v_i|": two_sided(np.outer(U, V.conj()))
        / np.abs(U * V).sum(),
        "two-sided bound of [[1, 10], [0, 1]], reducible": two_sided([[1.0, 10.0], [0.0, 1.0]]),
        "two-sided bound of [[0, 100], [0.01, 0]]": two_sided([[0.0, 100.0], [0.01, 0.0]]),
        "two-sided bound of diag(-1, -2)": two_sided(np.diag([-1.0, -2.0])),
        "example of Chiang & Safonov: margin by the largest singular value": 1.0 / hinfnorm(T).value,
        "example of Chiang & Safonov: margin K_m": 1.0 / margins.mu.upper.max(),
        "example of Chiang & Safonov: size of a perturbation that destabilizes": 1.0 / margins.lower,
    }


def complementary_sensitivity() -> LinearModel:
    """Return T = G (I + G)^-1, G = [4/(s+4), 0; 4s/(s+4) + 8s/(s+8), 8/(s+8)]."""
    A = np.diag([-4.0, -8.0, -8.0])  # 1/(s+4) of u1; 1/(s+8) of u1; 1/(s+8) of u2
    B = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    C = np.array([[4.0, 0.0, 0.0], [-16.0, -64.0, 8.0]])
    D = np.array([[0.0, 0.0], [12.0, 0.0]])
    inverse = np.linalg.inv(np.eye(2) + D)  # y = (I + D)^-1 (C x + D r)
    return of_matrices(A - B @ inverse @ C, B @ inverse, inverse @ C, inverse @ D)
