"""The best H2 controller of lower order, by the optimal projection equations.

D. C. Hyland and D. S. Bernstein, The optimal projection equations for fixed-order dynamic compensation, IEEE Transactions on Automatic
Control 29 (1984); the generalized LQG theory of Bernstein, Hyland, Richter and Haddad (3rd Annual Conference on Aerospace
Computational Control, JPL, 1989) rests on them. With tau' = I - tau:

    0 = A Q + Q A' + V1 - Q Sb Q + tau' Q Sb Q tau'^T      0 = A' P + P A + R1 - P S P + tau'^T P S P tau'
    0 = (A - S P) Qh + Qh (A - S P)' + Q Sb Q - tau' Q Sb Q tau'^T    0 = (A - Q Sb)' Ph + Ph (A - Q Sb) + P S P - tau'^T P S P tau'

The controller is found by descent of the closed-loop H2 norm from the projection of the full-order one; at a minimum the four equations
hold, which is checked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from threadpoolctl import threadpool_limits

from articulus.control.design import Check, Design, check_design, named_controller
from articulus.control.modes import require_detectable, require_stabilizable
from articulus.control.plant import Group, PlantPartition
from articulus.control.riccati import riccati
from articulus.control.synthesis.closed_loop import ClosedLoop
from articulus.control.synthesis.descent import descend
from articulus.control.synthesis.fixed_order import ENOUGH, ControllerForm, DesignLimits, FixedOrderProblem
from articulus.errors import InputError, NumericalError, doubtful
from articulus.numerics.lyapunov import covariance

HOLDS = 1e-3
"""Residual of the four equations, relative, up to which they count as solved."""


@dataclass(frozen=True, eq=False, kw_only=True)
class OptimalProjectionDesign(Design):
    """The controller of a lower order with the least H2 norm.

    Parameters
    ----------
    h2 : float
        Norm of the closed loop.
    full : float
        Least norm with a controller of the order of the plant.
    projection : array, (n, n)
        tau of the equations.
    residuals : sequence of float
        Residuals of the equations, relative.
    """

    h2: float
    full: float
    projection: np.ndarray
    residuals: Any


def optimal_projection(
    plant: Any,
    order: int,
    *,
    commands: Group,
    measured: Group,
    iterations: int = 1000,
) -> OptimalProjectionDesign:
    """Return the controller of given order with the least H2 norm from disturbances to errors, and its projection.

    Parameters
    ----------
    plant : see `as_plant`
        Continuous. Errors weigh states and commands (D12'D12 definite), disturbances drive states and sensors (D21 D21' definite), without
        products of the two.
    order : int
        From 1 to that of the plant; there it is the LQG controller.
    commands, measured : names or counts
    iterations : int
        Iterations of the descent.

    Returns
    -------
    Design
        Figures: `h2` (norm), `full` (that of the full-order controller), `projection` tau (n, n), `residuals` of the four equations.
    """
    partition = PlantPartition.of(plant, commands, measured, "optimal_projection")
    p, d = partition.rescale()
    n = len(p.A)
    if p.model.period is not None:
        raise InputError(
            f"optimal_projection: found a plant sampled every {p.model.period:g} s; expected a continuous one"
        )
    for name, feedthrough in (("disturbances to errors", p.D11), ("commands to measured outputs", p.D22)):
        if feedthrough.any():
            raise InputError(f"optimal_projection: found feedthrough from {name}; expected none")
    if not 1 <= order <= n:
        raise InputError(f"optimal_projection: found order {order}; expected 1 to {n}")
    R1, R2, V1, V2 = p.C1.T @ p.C1, p.D12.T @ p.D12, p.B1 @ p.B1.T, p.D21 @ p.D21.T
    mixed = max(np.abs(p.C1.T @ p.D12).max(initial=0.0), np.abs(p.B1 @ p.D21.T).max(initial=0.0))
    if min(np.linalg.eigvalsh(R2)[0], np.linalg.eigvalsh(V2)[0]) <= 0 or mixed > 1e-9 * max(
        np.abs(R1).max(), np.abs(V1).max()
    ):
        raise InputError(
            "optimal_projection: expected definite weights of commands and noise of sensors, and no products with the states"
        )
    require_stabilizable(p.model, p.B2, "optimal_projection", tuple(p.model.inputs[i] for i in p.u))
    require_detectable(p.model, p.C2, "optimal_projection", tuple(p.model.outputs[i] for i in p.y))
    control = riccati(p.A, p.B2, R1, R2, period=None, method="optimal_projection")
    filtering = riccati(p.A.T, p.C2.T, V1, V2, period=None, method="optimal_projection")
    K, L = control.gain, filtering.gain.T
    full = _cost(p, p.A - p.B2 @ K - L @ p.C2, L, -K)
    left, right = balance_full_order(p, K, L, V2, R2, order)
    form = ControllerForm.of(order, len(p.u), len(p.y), direct=False)
    form = form.in_units(form.units(p))
    problem = FixedOrderProblem([ClosedLoop(p, order)], form, np.ones(1), np.zeros(1), DesignLimits())
    K0 = np.block(
        [
            [np.zeros((len(p.u), len(p.y))), -K @ right],
            [left.T @ L, left.T @ (p.A - p.B2 @ K - L @ p.C2) @ right],
        ]
    )
    x = form.parameters(K0)
    with threadpool_limits(1):
        if not np.isfinite(problem.objective(x)[0]):
            x, off, _ = descend(problem.abscissa, x, iterations, enough=-ENOUGH * problem.speed)
            if off >= 0:
                raise NumericalError(
                    f"optimal_projection: no stabilizing controller of order {order} was found; expected a higher order"
                )
        x, value, finished = descend(problem.objective, x, iterations)
    if not finished:
        doubtful(
            f"optimal_projection: the search was still decreasing after {iterations} iterations; more may find a better controller"
        )
    A, B, C, D = form.matrices(x)
    tau, residuals = _equations(p, (A, B, C), (R1, R2, V1, V2))
    worst = float(max(residuals))
    figures = {
        "h2": float(np.sqrt(value)),
        "full": float(np.sqrt(full)),
        "projection": d[:, None] * tau / d,
        "residuals": residuals,
    }
    controller = named_controller(p.model, (A, B, C, D), p.u, p.y, "optimal projection")
    checks = [Check("residual of the optimal projection equations, relative", worst, HOLDS, worst < HOLDS)]
    return check_design(
        OptimalProjectionDesign, "optimal projection", partition.model, controller, p.u, p.y, figures, checks
    )


def _cost(p: PlantPartition, A: np.ndarray, B: np.ndarray, C: np.ndarray) -> float:
    """Return the square of the H2 norm with a controller."""
    closed = ClosedLoop(p, len(A))
    return closed.square(np.block([[np.zeros((len(p.u), len(p.y))), C], [B, A]]))[0]


def balance_full_order(
    p: PlantPartition,
    K: np.ndarray,
    L: np.ndarray,
    V2: np.ndarray,
    R2: np.ndarray,
    order: int,
    sampled: bool = False,
) -> tuple[np.ndarray, np.ndarray]:
    """Return bases of the heaviest part of Qh Ph of the full-order controller: left' right = I."""
    Qh = covariance(p.A - p.B2 @ K, L @ V2 @ L.T, sampled)
    Ph = covariance((p.A - L @ p.C2).T, K.T @ R2 @ K, sampled)
    roots = [v * np.sqrt(np.maximum(w, 0.0)) for w, v in (np.linalg.eigh(0.5 * (X + X.T)) for X in (Qh, Ph))]
    U, s, Vh = np.linalg.svd(roots[0].T @ roots[1])
    scale = 1.0 / np.sqrt(np.maximum(s[:order], s[0] * 1e-14))
    return roots[1] @ Vh[:order].T * scale, roots[0] @ U[:, :order] * scale


def _equations(p: PlantPartition, controller: tuple, weights: tuple) -> tuple[np.ndarray, np.ndarray]:
    """Return the projection and the relative residuals of the four equations at a controller, from the closed loop's Gramians."""
    (A_, B_, C_), (R1, R2, V1, V2) = controller, weights
    n, A, B, C = len(p.A), p.A, p.B2, p.C2
    whole = np.block([[A, B @ C_], [B_ @ C, A_]])
    noise = scipy.linalg.block_diag(V1, B_ @ V2 @ B_.T)
    cost = scipy.linalg.block_diag(R1, C_.T @ R2 @ C_)
    X = covariance(whole, noise)
    Y = covariance(whole.T, cost)
    Qh = X[:n, n:] @ np.linalg.solve(X[n:, n:], X[n:, :n])
    Ph = Y[:n, n:] @ np.linalg.solve(Y[n:, n:], Y[n:, :n])
    Q, P = X[:n, :n] - Qh, Y[:n, :n] - Ph
    tau = -X[:n, n:] @ np.linalg.solve(X[n:, n:], np.linalg.solve(Y[n:, n:], Y[n:, :n]))
    rest = np.eye(n) - tau
    S, Sb = B @ np.linalg.solve(R2, B.T), C.T @ np.linalg.solve(V2, C)
    QQ, PP = Q @ Sb @ Q, P @ S @ P
    off = [
        A @ Q + Q @ A.T + V1 - QQ + rest @ QQ @ rest.T,
        A.T @ P + P @ A + R1 - PP + rest.T @ PP @ rest,
        (A - S @ P) @ Qh + Qh @ (A - S @ P).T + QQ - rest @ QQ @ rest.T,
        (A - Q @ Sb).T @ Ph + Ph @ (A - Q @ Sb) + PP - rest.T @ PP @ rest,
    ]
    sizes = (np.abs(A @ Q).max() + np.abs(V1).max(), np.abs(A.T @ P).max() + np.abs(R1).max())
    return tau, np.array([np.abs(x).max() / sizes[i % 2] for i, x in enumerate(off)])
