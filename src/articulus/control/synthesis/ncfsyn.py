"""Loop shaping with normalized coprime factors (`ncfsyn` in MATLAB; McFarlane & Glover 1992)."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from articulus.control.analysis.norms import hinfnorm
from articulus.control.analysis.scaling import scale_states
from articulus.control.connect import close, select, series
from articulus.control.design import Check, Design, check_design, named_controller
from articulus.control.modes import require_detectable, require_stabilizable
from articulus.control.plant import Group, as_plant, of_matrices, places
from articulus.control.riccati import residual_check, riccati
from articulus.control.sampling import continuous, trapezoidal
from articulus.control.synthesis.augw import Weight, weighting
from articulus.control.synthesis.hinf_problem import explicit
from articulus.errors import InputError
from articulus.linear import LinearModel

SINGULAR = 1e-9
"""Relative singular value of the descriptor matrix below which states of the controller are eliminated."""


@dataclass(frozen=True, eq=False, kw_only=True)
class NcfDesign(Design):
    """Loop shaping with normalized coprime factors.

    Parameters
    ----------
    margin : float
        Margin of the shaped loop, between 0 and 1.
    margin_optimal : float
        Largest possible.
    gamma : float
        1 / margin.
    shaped : LinearModel
        The plant with its weights.
    """

    margin: float
    margin_optimal: float
    gamma: float
    shaped: LinearModel


@threadpool_limits.wrap(limits=1, user_api="blas")  # small matrices: threads only wait for each other
def ncfsyn(
    plant: Any,
    W1: Weight = 1.0,
    W2: Weight = 1.0,
    *,
    commands: Group = None,
    measured: Group = None,
    relax: float = 0.1,
) -> NcfDesign:
    """Return the controller W1 K W2 that is most robust for the shaped plant W2 G W1.

    The weights give the loop its shape; K makes it stable for every shaped plant whose normalized coprime factors differ by
    less than the margin in Hinf norm. A margin of 0.25 to 0.3 or more says that shape and plant agree; no iteration is needed.

    Parameters
    ----------
    plant : see `as_plant`
    W1, W2 : number, numbers, (numerator, denominator) or system
        At the plant's input and output; see `augw`. Integrators are allowed.
    commands, measured : names or number of inputs and of outputs
        All if not given.
    relax : float
        The controller is designed for (1 + relax) times the least norm; at 0 it has very large gains or loses order.

    Returns
    -------
    Design
        Figures: `margin`, that of the closed loop, computed from it, and `margin_optimal`; `gamma` is 1 / margin; `shaped`, the
        shaped plant (LinearModel). Gain margin of every loop at least (1 + margin) / (1 - margin).
    """
    whole = as_plant(plant, "ncfsyn")
    if not relax >= 0.0:
        raise InputError(f"ncfsyn: found relax = {relax}; expected at least 0")
    u = places(whole.inputs, commands, "input", "ncfsyn")
    y = places(whole.outputs, measured, "output", "ncfsyn")
    model = select(whole, u, y)
    before = weighting(W1, len(u), "W1", model)
    after = weighting(W2, len(y), "W2", model)
    shaped = series(series(before, model), after)
    require_stabilizable(shaped, shaped.B, "ncfsyn", model.inputs)
    require_detectable(shaped, shaped.C, "ncfsyn", model.outputs)
    K, least, solved = _central(scale_states(continuous(shaped))[0], relax)
    if model.period is not None:
        K = trapezoidal(K, model.period)
    norm = coprime_norm(shaped, K)
    bound = (1 + relax) * least
    controller = _name_ports(series(series(after, K), before), whole, u, y)
    figures = {"margin": 1 / norm, "margin_optimal": 1 / least, "gamma": norm, "shaped": shaped}
    check = Check(
        "norm of [I; K] (I - G K)^-1 [I, G] of the shaped plant", norm, bound, norm <= bound * (1 + 1e-5)
    )
    return check_design(NcfDesign, "ncfsyn", whole, controller, u, y, figures, [check, *solved])


def _central(model: LinearModel, relax: float) -> tuple[LinearModel, float, list[Check]]:
    """Return the controller of a shaped continuous plant, sign included, the least norm, and checks of the Riccati equations."""
    A, B, C, D = model.A, model.B, model.C, model.D
    m, p = B.shape[1], len(C)
    control = riccati(A, B, C.T @ C, np.eye(m) + D.T @ D, C.T @ D, period=None, method="ncfsyn")
    filtering = riccati(A.T, C.T, B @ B.T, np.eye(p) + D @ D.T, B @ D.T, period=None, method="ncfsyn")
    X, K, Z = control.X, control.gain, filtering.X
    least = float(np.sqrt(1 + np.linalg.eigvals(Z @ X).real.max(initial=0.0)))
    square = ((1 + relax) * least) ** 2
    E = (1 - square) * np.eye(len(A)) + Z @ X
    inject = square * Z @ C.T
    matrices = explicit(E, E @ (A - B @ K) + inject @ (C - D @ K), inject, B.T @ X, -D.T, SINGULAR)
    checks = [residual_check(control, "state feedback"), residual_check(filtering, "estimator")]
    return of_matrices(*matrices), least, checks


def coprime_norm(shaped: LinearModel, K: LinearModel) -> float:
    """Return the norm of [I; K] (I - G K)^-1 [I, G]; infinite if the loop is not stable."""
    m, p = len(shaped.inputs), len(shaped.outputs)
    whole = of_matrices(
        shaped.A,
        np.hstack([np.zeros((len(shaped.A), p)), shaped.B, shaped.B]),
        np.vstack([shaped.C, np.zeros((m, len(shaped.A))), shaped.C]),
        np.block(
            [
                [np.eye(p), shaped.D, shaped.D],
                [np.zeros((m, p + m)), np.eye(m)],
                [np.eye(p), shaped.D, shaped.D],
            ]
        ),
        shaped.period,
    )
    loop = close(whole, K, range(p + m, p + 2 * m), range(p + m, 2 * p + m))
    return float(hinfnorm(select(loop, range(p + m), range(p + m))))


def _name_ports(K: LinearModel, plant: LinearModel, u: np.ndarray, y: np.ndarray) -> LinearModel:
    controller = named_controller(plant, (K.A, K.B, K.C, K.D), u, y, "ncfsyn")
    return dataclasses.replace(controller, period=plant.period)
