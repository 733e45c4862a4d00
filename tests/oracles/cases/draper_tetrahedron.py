"""Draper tetrahedron in feet: twelve pinned members with consistent masses, E = 20000 psi, 0.1 lb/in^3."""

import numpy as np
from scipy.linalg import eigh, solve_continuous_lyapunov

NODES = 12 * np.array(
    [
        [0, 0, 10.165],
        [-5, -2.887, 2],
        [5, -2.887, 2],
        [0, 5.7735, 2],
        [-6, -1.1547, 0],
        [-4, -4.6188, 0],
        [4, -4.6188, 0],
        [6, -1.1547, 0],
        [2, 5.7735, 0],
        [-2, 5.7735, 0],
    ]
)
MEMBERS = [(1, 2), (1, 3), (1, 4), (2, 3), (3, 4), (2, 4), (2, 5), (2, 6), (3, 7), (3, 8), (4, 9), (4, 10)]
AREAS = {
    1: [125.893, 23.336, 45.632, 6.389, 10.973, 9.8, 17.627, 17.719, 0.1, 0.1, 18.206, 0.1],
    10: [20.331, 38.508, 11.434, 2.041, 2.369, 2.934, 0.152, 0.885, 3.242, 5.016, 2.532, 0.1],
}


def matrices(areas, g):
    K, M = np.zeros((30, 30)), np.zeros((30, 30))
    weight = 0.0
    for (a, b), area in zip(MEMBERS, areas):
        span = NODES[b - 1] - NODES[a - 1]
        length = np.linalg.norm(span)
        e = span / length
        at = np.r_[3 * a - 3 : 3 * a, 3 * b - 3 : 3 * b]
        K[np.ix_(at, at)] += 20000 * area / length * np.kron([[1, -1], [-1, 1]], np.outer(e, e))
        own = 0.1 * area * length
        M[np.ix_(at, at)] += own / g / 6 * np.kron([[2, 1], [1, 2]], np.eye(3))
        weight += own
    return K[:12, :12], M[:12, :12], weight


def vertex(area):
    K, M, _ = matrices([area] * 12, 386.088)
    inverse = np.linalg.inv(M)
    A = np.block([[np.zeros((12, 12)), np.eye(12)], [-inverse @ K, -inverse @ (0.1 * M + 0.001 * K)]])
    B = np.vstack([np.zeros((12, 2)), inverse[:, :2]])
    return np.trace(solve_continuous_lyapunov(A, -B @ B.T)[:2, :2])


def expected():
    K, M, _ = matrices([120.0] * 12, 386.4)
    return {
        "frequencies, any equal areas [rad/s]": np.sqrt(eigh(K, M, eigvals_only=True)),
        "open loop, C = 0.1 M + 0.001 K, areas 120, 90, 60 in^2: mean square of the vertex [1e-5 in^2]": [
            1e5 * vertex(a) for a in (120, 90, 60)
        ],
        "weight of the designs of table 2, columns 1, 10 [lb]": [matrices(a, 1.0)[2] for a in AREAS.values()],
    }
