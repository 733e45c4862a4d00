"""T-shaped lattice of Minas, Garcia & Inman 1989, its data fitted to table 3: links bend out of the plane and twist."""

import numpy as np
from beam_shapes import hermite
from scipy.linalg import eigh

NODES = (
    [(x, 2.5) for x in (0, 0.5, 1, 1.5)]
    + [(x, 2.0) for x in (0, 0.5, 1, 1.5)]
    + [(x, y) for y in (1.5, 1, 0.5, 0) for x in (0.5, 1)]
)
LINKS = [
    (1, 2),
    (2, 3),
    (3, 4),
    (5, 6),
    (6, 7),
    (7, 8),
    (1, 5),
    (2, 6),
    (3, 7),
    (4, 8),
    (1, 6),
    (2, 7),
    (3, 8),
    (6, 9),
    (7, 10),
    (9, 10),
    (7, 9),
    (9, 11),
    (10, 12),
    (11, 12),
    (9, 12),
    (11, 13),
    (12, 14),
    (13, 14),
    (12, 13),
    (13, 15),
    (14, 16),
    (15, 16),
    (13, 16),
]
MASS, EI, TWIST, SHARE, TURNING, PARASITIC, PROOF = 7.335, 245.9, 0.819, 0.715, 3.2e-3, 0.682, 0.225


def truss(loaded=None):
    """Return stiffness and mass; degrees of freedom of a node: z, rotations about x and y."""
    K, M = np.zeros((48, 48)), np.zeros((48, 48))
    total = sum(np.hypot(*np.subtract(NODES[b - 1], NODES[a - 1])) for a, b in LINKS)
    line = SHARE * MASS / total
    for a, b in LINKS:
        way = np.subtract(NODES[b - 1], NODES[a - 1])
        length = np.hypot(*way)
        c, s = way / length
        k, m = hermite(length, EI, line, 1)
        # slope dz/dx' = -(rotation about y') = s rx - c ry; twist about x' = c rx + s ry
        bend = np.zeros((4, 6))
        for node in (0, 1):
            bend[2 * node, 3 * node] = 1
            bend[2 * node + 1, 3 * node + 1 : 3 * node + 3] = s, -c
        turn = np.zeros((2, 6))
        turn[0, 1:3] = turn[1, 4:6] = c, s
        at = np.r_[3 * a - 3 : 3 * a, 3 * b - 3 : 3 * b]
        K[np.ix_(at, at)] += (
            bend.T @ k @ bend + TWIST * EI / length * turn.T @ np.array([[1, -1], [-1, 1]]) @ turn
        )
        M[np.ix_(at, at)] += bend.T @ m @ bend
    for i in range(16):
        M[3 * i, 3 * i] += (1 - SHARE) * MASS / 16
        M[3 * i + 1, 3 * i + 1] += TURNING
        M[3 * i + 2, 3 * i + 2] += TURNING
    if loaded:
        M[3 * loaded - 3, 3 * loaded - 3] += PARASITIC
    return K[:42, :42], M[:42, :42]


def expected():
    K, M = truss()
    values, shapes = eigh(K, M)
    kept = np.arange(0, 42, 3)
    rest = np.setdiff1d(np.arange(42), kept)
    T = np.zeros((42, 14))
    T[kept] = np.eye(14)
    T[rest] = -np.linalg.solve(K[np.ix_(rest, rest)], K[np.ix_(rest, kept)])
    reduced = eigh(T.T @ K @ T, T.T @ M @ T, eigvals_only=True)
    loaded, with_mass = eigh(*truss(8))
    omega = np.sqrt(loaded[3])
    mu = PROOF * with_mass[21, 3] ** 2
    own, (t, m) = np.sqrt(values[3]), np.array([PARASITIC, PROOF]) * shapes[21, 3] ** 2
    tuned = own * np.sqrt(1 + t) / (1 + t + m)
    damping = PROOF * own * np.sqrt(m * (1 + t) / (1 + t + m) ** 3)
    return {
        "full model: modes 1-4 [Hz]": np.sqrt(values[:4]) / (2 * np.pi),
        "Guyan to 14 translations: modes 1-4 [Hz]": np.sqrt(reduced[:4]) / (2 * np.pi),
        "tuning of the actuator to mode 4 by eqs. 4a, 4b, 5 [Hz]": np.array([omega, omega / (1 + mu), tuned])
        / (2 * np.pi),
        "damping of the tuned actuator by eq. 5 [N s/m]": damping,
    }
