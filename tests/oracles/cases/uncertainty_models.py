"""Belcastro, Chang & Fischl 1989: the printed matrices of examples 7.1 to 7.3 at values of the coefficients, those that are lost derived.

What a scaling of Delta does not change: the terms of first and second order L_i R_i and L_i D_ij R_j + L_j D_ji R_i of the
matrices (A, B; C, D) in the parameters, with L = (B_xp; D_yp) and R = (C_qx, D_qu).
"""

import numpy as np

FIRST = dict(zip(("al1", "al2", "a1", "a2", "be1", "be2", "be3", "be4", "b1", "b2", "b3"), (1.3, 2.1, 0.7, 3.2, 1.1, 0.4, 0.9, 1.7, 0.6, 1.9, 2.4)))  # fmt: skip
SECOND = {"t1": 1.0, "t2": 2.0, "b1": 0.5, "b2": 1.5, "b3": 3.0}
THIRD = {"sigma": 0.2, "w": 2.5}
MIDDLE = 1.025  # of a range from 0.8 to 1.25 times the value


def first():
    p = {k: MIDDLE * x for k, x in FIRST.items()}
    al1, al2, a1, a2, be1, be2, be3, be4, b1, _, _ = p.values()
    g, h = be2 - al1 * be1, be4 - al2 * be3
    C = np.zeros((11, 4))
    C[[0, 1, 2, 3], [0, 1, 3, 2]] = -1
    C[4, 0], C[5, 0], C[7, 1], C[9, 3], C[10, 2] = -al1, 1, 1, 1, 1
    C[6, :2], C[8] = [g, -al2], [be3 * g, h, -a2, -a1]
    R = np.column_stack([C, [0, 0, 0, 0, 1, 0, be1, 0, be1 * be3, 0, 0]])
    D = np.zeros((11, 11))
    D[4, 0] = 1
    D[6, [0, 1, 4, 5]] = [be1, 1, 1, 1]
    D[8, :8] = [be1 * be3, be3, 1, 1, be3, be3, 1, 1]
    L = np.zeros((5, 11))
    L[0, 0] = 1
    L[1, [0, 1, 4, 5]] = [be1, 1, 1, 1]
    L[3, :8] = [be1 * be3, be3, 1, 1, be3, be3, 1, 1]
    L[4] = [be1 * be3 * b1, be3 * b1, b1, b1, be3 * b1, be3 * b1, b1, b1, 1, 1, 1]
    return L, R, D, list(range(11))


def second():
    t1, t2, b1, _, _ = (MIDDLE * x for x in SECOND.values())
    R = np.array([[t2, 0, 0], [0, 1, 0], [t1, 1, 0], [t1 * t2, t1 + t2, -1], [0, 1, 0], [1, 0, 0]])
    D = np.zeros((6, 6))
    D[2, 0], D[3, :3] = 1 / t2, 1
    L = np.zeros((3, 6))
    L[1, :3] = -1
    L[2] = [-b1, -b1, -b1, -1, 1, 1]
    return L, R, D, [0, 0, 1, 2, 3, 4]


def third():
    w = MIDDLE * THIRD["w"]
    R = np.array([[0, -2, 0], [-1, 0, 0], [-2 * w, 0, 0]])
    D = np.zeros((3, 3))
    D[2, 1] = 1
    return np.array([[0, 0, 0], [1, 0, 1], [0, 0, 0]]), R, D, [0, 1, 1]


def terms(L, R, D, owner):
    """Return the sums of the terms of first order, parameter by parameter, and of second order, pair by pair."""
    own = [np.flatnonzero(np.equal(owner, k)) for k in range(max(owner) + 1)]
    one = [L[:, i] @ R[i] for i in own]
    two = [
        L[:, i] @ D[np.ix_(i, j)] @ R[j] + (L[:, j] @ D[np.ix_(j, i)] @ R[i] if a != b else 0)
        for a, i in enumerate(own)
        for b, j in enumerate(own)
        if a <= b
    ]
    return np.array(one), np.array(two)


def weigh(found):
    """Return one number for each matrix, in which no two entries count alike."""
    flat = found.reshape(len(found), -1)
    return flat @ np.arange(1, flat.shape[1] + 1)


def expected():
    out = {}
    for name, matrices in (("7.1", first()), ("7.2", second()), ("7.3", third())):
        one, two = terms(*matrices)
        out[f"example {name}: terms of first order, entries weighed by 1, 2, 3, ... row by row"] = weigh(one)
        out[f"example {name}: terms of second order, likewise"] = weigh(two)
    return out
