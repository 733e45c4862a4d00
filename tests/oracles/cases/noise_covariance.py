"""Three carts in places, not in differences: Lyapunov's equation for a white force of density 2 N^2 s between the last two."""

import numpy as np
from scipy.linalg import solve_continuous_lyapunov

MASS, K, C = np.array([1.0, 0.8, 0.5]), (60.0, 40.0, 30.0), (4.0, 2.5, 2.0)


def chain(k):
    return np.array([[k[0] + k[1], -k[1], 0], [-k[1], k[1] + k[2], -k[2]], [0, -k[2], k[2]]])


def expected():
    A = np.block([[np.zeros((3, 3)), np.eye(3)], [-chain(K) / MASS[:, None], -chain(C) / MASS[:, None]]])
    B = np.concatenate([np.zeros(3), np.array([0, -1, 1]) / MASS])
    spread = solve_continuous_lyapunov(A, -2.0 * np.outer(B, B))
    return {"standard deviation of the last cart [m]": np.sqrt(spread[2, 2])}
