"""H2 controllers by two Riccati equations (`h2syn` in MATLAB; `h2lqg` of older toolboxes)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from articulus.control.analysis.norms import h2norm
from articulus.control.connect import close, select
from articulus.control.design import Check, Design, check_design, named_controller
from articulus.control.modes import require_detectable, require_stabilizable
from articulus.control.plant import Group, PlantPartition
from articulus.control.riccati import residual_check, riccati
from articulus.control.synthesis.hinf_problem import HinfProblem, Matrices, without_feedthrough
from articulus.errors import InputError
from articulus.numerics.riccati import RiccatiSolution

AGREE = 1e-5
"""Relative difference between the norm by the Riccati solutions and that of the closed loop."""
ROUNDING = 1e-13
"""Square of a norm, over that of the size of the plant's matrices, that counts as zero."""


@dataclass(frozen=True, eq=False, kw_only=True)
class H2Design(Design):
    """The controller with the least H2 norm.

    Parameters
    ----------
    norm : float
        Norm of the closed loop, from disturbances to errors.
    """

    norm: float


@threadpool_limits.wrap(limits=1, user_api="blas")  # small matrices: threads only wait for each other
def h2syn(plant: Any, *, measured: Group, commands: Group) -> H2Design:
    """Return the stabilizing controller with the least H2 norm from disturbances to errors.

    The norm is the root mean square of the errors for white noise of unit intensity at the disturbances. The
    controller of a sampled plant uses the newest measurement at once.

    Parameters
    ----------
    plant : see `as_plant`
        Inputs: disturbances and commands; outputs: errors and measured. D11 = 0 in continuous time; any D22.
    measured, commands : names or number of outputs and of inputs
        What the controller reads and drives (counts: of the last ones, as in MATLAB).

    Returns
    -------
    Design
        With `norm`, that of the closed loop.
    """
    parts = PlantPartition.of(plant, commands, measured, "h2syn")
    matrices, square, solved = _continuous(parts) if parts.model.period is None else _design_sampled(parts)
    controller = named_controller(parts.model, matrices, parts.u, parts.y, "h2syn")
    norm = float(h2norm(select(close(parts.model, controller, parts.u, parts.y), parts.w, parts.z)))
    promised = float(np.sqrt(max(square, 0.0)))
    size = np.linalg.norm(parts.D11) + np.linalg.norm(parts.B1) * np.linalg.norm(parts.C1)
    agree = bool(abs(norm**2 - square) <= 2 * AGREE * abs(square) + ROUNDING * size**2)
    check = Check("H2 norm of the closed loop beside that of the Riccati solutions", norm, promised, agree)
    return check_design(
        H2Design, "h2syn", parts.model, controller, parts.u, parts.y, {"norm": norm}, [check, *solved]
    )


def _continuous(parts: PlantPartition) -> tuple[Matrices, float, list[Check]]:
    """Return the controller, the square of its norm, and checks of the Riccati equations."""
    if parts.D11.any():
        i, j = np.argwhere(parts.D11)[0]
        raise InputError(
            f"h2syn: found the feedthrough {parts.D11[i, j]:.4g} from {parts.model.inputs[parts.w[j]]} to "
            f"{parts.model.outputs[parts.z[i]]}; expected D11 = 0, else white noise gives an infinite error"
        )
    problem = HinfProblem.of(parts, "h2syn")
    state, estimate = problem.state.limit_solution, problem.estimate.limit_solution
    X, F, Y, L = state.X, -state.gain, estimate.X, -estimate.gain.T
    B1, B2, C2 = problem.state.B1, problem.state.B2, problem.estimate.B2.T
    square = np.trace(B1.T @ X @ B1) + np.trace(F @ Y @ F.T)
    none = np.zeros((len(F), L.shape[1]))
    controller = problem.of_plant(problem.state.A + B2 @ F + L @ C2, -L, F, none)
    return controller, float(square), _check_residuals(state, estimate)


def _design_sampled(parts: PlantPartition) -> tuple[Matrices, float, list[Check]]:
    """Return the same of a sampled plant: u = F x + F0 w by the best estimates of x and w from y up to now."""
    p = parts.rescale()[0]
    T = p.model.period
    require_stabilizable(p.model, p.B2, "h2syn", tuple(p.model.inputs[i] for i in p.u))
    require_detectable(p.model, p.C2, "h2syn", tuple(p.model.outputs[i] for i in p.y))
    state = riccati(p.A, p.B2, p.C1.T @ p.C1, p.D12.T @ p.D12, p.C1.T @ p.D12, period=T, method="h2syn")
    estimate = riccati(
        p.A.T, p.C2.T, p.B1 @ p.B1.T, p.D21 @ p.D21.T, p.B1 @ p.D21.T, period=T, method="h2syn"
    )
    X, Y = state.X, estimate.X
    R, V = p.D12.T @ p.D12 + p.B2.T @ X @ p.B2, p.D21 @ p.D21.T + p.C2 @ Y @ p.C2.T
    F, F0 = -state.gain, -np.linalg.solve(R, p.B2.T @ X @ p.B1 + p.D12.T @ p.D11)
    L, L0 = -estimate.gain.T, np.linalg.solve(V, (F @ Y @ p.C2.T + F0 @ p.D21.T).T).T
    A = p.A + p.B2 @ F + L @ p.C2 - p.B2 @ L0 @ p.C2
    square = np.sum(p.D11**2) + np.trace(p.B1.T @ X @ p.B1) - np.trace(F0.T @ R @ F0)
    square += np.trace(R @ (F @ Y @ F.T + F0 @ F0.T - L0 @ V @ L0.T))
    controller = A, p.B2 @ L0 - L, F - L0 @ p.C2, L0
    return without_feedthrough(*controller, p.D22), float(square), _check_residuals(state, estimate)


def _check_residuals(state: RiccatiSolution, estimate: RiccatiSolution) -> list[Check]:
    return [residual_check(state, "state feedback"), residual_check(estimate, "estimator")]
