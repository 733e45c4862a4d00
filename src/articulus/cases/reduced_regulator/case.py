"""One formulation for LQG, controllers of lower order, Hinf bounds and gain margins, on two carts and a spring."""

import numpy as np

from articulus.control import h2syn, hinfsyn
from articulus.control.plant import of_matrices
from articulus.control.synthesis import glqg, optimal_projection
from articulus.linear import LinearModel

A = np.array([[0, 1.0, 0, 0], [-1, -0.01, 1, 0.01], [0, 0, 0, 1], [1, 0.01, -2, -0.02]])


def carts() -> LinearModel:
    """Return two masses on springs: force on the first, position of the second measured; noise on both."""
    D = np.zeros((6, 6))
    D[4, 5] = D[5, 4] = 1.0
    B = np.hstack([np.eye(4), np.zeros((4, 1)), np.eye(4)[:, [1]]])
    C = np.vstack([np.eye(4), np.zeros((1, 4)), np.eye(4)[[2]]])
    return of_matrices(A, B, C, D)


def compute() -> dict:
    plant = carts()
    lqg = h2syn(plant, commands=1, measured=1)
    full = optimal_projection(plant, 4, commands=1, measured=1)
    two = optimal_projection(plant, 2, commands=1, measured=1)
    bounded = glqg(plant, gamma=8.0, commands=1, measured=1)
    wide = glqg(plant, sector=(0.5, 2.0), commands=1, measured=1)
    norm = float(lqg.norm)
    return {
        "LQG: H2 norm": norm,
        "optimal projection of full order over LQG": full.h2 / norm,
        "its projection, largest difference from the identity": float(np.abs(full.projection - np.eye(4)).max()),
        "order 2: rank of the projection": float(np.linalg.matrix_rank(two.projection, 1e-6)),
        "order 2: residual of the four equations, at most": float(max(two.residuals)),
        "Hinf bound 8: bound of the H2 norm, at the central controller": bounded.bound,
        "least Hinf norm of any controller": float(hinfsyn(plant, commands=1, measured=1).gamma),
        "Hinf bound 8: h2 between LQG and its bound, Hinf norm below 8 (1 = yes)": bool(norm < bounded.h2 <= bounded.bound and bounded.hinf <= 8.0),
        "actuators from half to twice their gain: phase [deg]": np.degrees(wide.phase),
        "actuators from half to twice their gain: bounds of LQG, of the design, in this order (1 = yes)": bool(norm < wide.h2 <= wide.bound),
    }  # fmt: skip
