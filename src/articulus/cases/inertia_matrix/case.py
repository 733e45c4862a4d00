"""The variant Newton-Euler inertia matrix (VNEB): every column from a unit acceleration of one joint."""

import numpy as np

import articulus as art
from articulus.cases.checks import relative
from articulus.parallel import families


def compute() -> dict:
    out = {}
    for name in ("puma600", "cat215b"):
        arm = art.load(name)
        q = np.linspace(0.8, -1.2, arm.nq)
        A = families.inertia_matrix_by_columns(arm, q)
        out[f"A less composite-body matrix, {name}, relative"] = relative(A, arm.mass_matrix(q))
        out[f"A less matrix from Jacobians, {name}, relative"] = relative(
            A, families.inertia_matrix_by_projection(arm, q)
        )
        out[f"A^-1 (tau - b) less articulated-body result, {name}, relative"] = solve(arm, q, A)
    return out


def solve(arm: art.Mechanism, q: np.ndarray, A: np.ndarray) -> float:
    v, tau = np.linspace(0.4, 1.0, arm.nv), np.linspace(2.0, -1.0, arm.nv)
    return relative(families.solve_ldl(A, tau - arm.bias(q, v)), arm.forward_dynamics(q, v, tau))
