"""Two carts: LQG and the central Hinf controller by Riccati equations, the bound of the H2 norm by that of the closed loop."""

import numpy as np
from scipy.linalg import solve_continuous_are as are
from scipy.optimize import brentq

A = np.array([[0, 1.0, 0, 0], [-1, -0.01, 1, 0.01], [0, 0, 0, 1], [1, 0.01, -2, -0.02]])
B1, B2 = np.hstack([np.eye(4), np.zeros((4, 1))]), np.eye(4)[:, [1]]
C1, C2 = np.vstack([np.eye(4), np.zeros((1, 4))]), np.eye(4)[[2]]


def lqg():
    X, Y = are(A, B2, C1.T @ C1, np.eye(1)), are(A.T, C2.T, B1 @ B1.T, np.eye(1))
    K = B2.T @ X
    return np.sqrt(np.trace(B1.T @ X @ B1) + np.trace(K @ Y @ K.T))


def pair(gamma):
    signs = np.diag([-(gamma**2)] * 5 + [1.0])
    return are(A, np.hstack([B1, B2]), C1.T @ C1, signs), are(A.T, np.hstack([C1.T, C2.T]), B1 @ B1.T, signs)


def bound(gamma):
    X, Y = pair(gamma)
    F, L = -B2.T @ X, -Y @ C2.T
    Z = np.linalg.inv(np.eye(4) - Y @ X / gamma**2)
    Ac, Bc = A + B1 @ B1.T @ X / gamma**2 + B2 @ F + Z @ L @ C2, -Z @ L
    noise, weight = np.zeros((1, 5)), np.zeros((5, 1))
    noise[0, 4] = weight[4, 0] = 1.0
    whole = np.block([[A, B2 @ F], [Bc @ C2, Ac]])
    B, C = np.vstack([B1, Bc @ noise]), np.hstack([C1, weight @ F])
    Q = are(whole.T, C.T / gamma, B @ B.T, -np.eye(5))
    return np.sqrt(np.trace(C @ Q @ C.T))


def least():
    """Return the gamma at which the spectral radius of X Y reaches its square."""

    def room(gamma):
        X, Y = pair(gamma)
        return np.abs(np.linalg.eigvals(X @ Y)).max() - gamma**2

    return brentq(room, 6.5, 8.0, xtol=1e-12)


def expected():
    return {
        "LQG: H2 norm": lqg(),
        "Hinf bound 8: bound of the H2 norm, at the central controller": bound(8.0),
        "least Hinf norm of any controller": least(),
        "actuators from half to twice their gain: phase [deg]": np.degrees(
            np.arccos((1 + 0.5 * 2) / (0.5 + 2))
        ),
    }
