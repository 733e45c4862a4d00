"""Existence tests of Chiang & Safonov 1989 for 400 / (s^2 + 2 s + 400) with W1 of table 3.2.1 and W3 = s^2 / 40000, by bisection."""

import numpy as np
from scipy.linalg import block_diag


def tests(rho):
    """Return whether the Hamiltonian of state feedback has no roots on the axis, and the least eigenvalue of its solution."""
    # W1 = rho 100 (0.005 s + 1)^2 / (0.2 s + 1)^2 on the error w - 400 x1
    num, den = rho * np.array([2.5e-5, 1e-2, 1.0]), 0.01 * np.array([4e-2, 4e-1, 1.0])
    num, den = num / den[0], den / den[0]
    Aw, Bw = np.array([[0, 1], [-den[2], -den[1]]]), np.array([[0.0], [1]])
    Cw, Dw = np.array([[num[2] - num[0] * den[2], num[1] - num[0] * den[1]]]), num[0]
    error = np.array([[-400.0, 0]])
    A = block_diag(np.array([[0, 1], [-400, -2.0]]), Aw)
    A[2:, :2] = Bw @ error
    B1, B2 = np.vstack([np.zeros((2, 1)), Bw]), np.array([[0.0], [1], [0], [0]])
    C1 = np.vstack([np.hstack([Dw * error, Cw]), [[-4.0, -0.02, 0, 0]]])  # 0.01 (u - 2 x2 - 400 x1)
    D = np.array([[Dw, 0], [0, 0.01]])
    B = np.hstack([B1, B2])
    R = D.T @ D - np.diag([1.0, 0.0])
    H = np.block([[A, np.zeros((4, 4))], [-C1.T @ C1, -A.T]])
    H = H - np.vstack([B, -C1.T @ D]) @ np.linalg.solve(R, np.hstack([D.T @ C1, B.T]))
    values, vectors = np.linalg.eig(H)
    off_axis = np.abs(values.real).min() > 1e-9 * np.abs(values).max()
    stable = vectors[:, np.argsort(values.real)[:4]]
    X = np.real(stable[4:] @ np.linalg.inv(stable[:4]))
    return off_axis, np.linalg.eigvalsh(X + X.T)[0]


def exists(rho):
    off_axis, least = tests(rho)
    return off_axis and least > -1e-9


def expected():
    low, high = 1.0, 5.0
    assert exists(low)
    assert not exists(high)
    while high - low > 1e-8:
        middle = (low + high) / 2
        low, high = (middle, high) if exists(middle) else (low, middle)
    off_axis, least = tests(1.003 * high)
    return {
        "limiting rho": low,
        "existence test that fails above the limit (2b = 2.5)": 2.5 if off_axis and least < 0 else 0.0,
    }
