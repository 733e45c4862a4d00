"""Distance of plants in closed loop, the nu-gap, and the margin of a controller that goes with it (`gapmetric`, `ncfmargin` in MATLAB).

Vinnicombe 1993. A controller whose margin b with one plant exceeds the nu-gap d of another makes that one stable too, with a margin of
at least sin(asin b - asin d). Plants that are far apart in open loop can be near: 100 / (2 s + 1) and 100 / (2 s - 1) are 0.02 apart.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from articulus.control.analysis.norms import hinfnorm
from articulus.control.analysis.scaling import scale_states
from articulus.control.connect import select, series
from articulus.control.design import Design
from articulus.control.modes import require_detectable, require_stabilizable
from articulus.control.plant import as_plant, of_matrices
from articulus.control.riccati import riccati
from articulus.control.sampling import continuous
from articulus.control.synthesis.ncfsyn import coprime_norm
from articulus.errors import InputError
from articulus.linear import LinearModel
from articulus.linear.connect import matching


def nugap(first: Any, second: Any) -> float:
    """Return the nu-gap of two plants, between 0 (equal) and 1 (no controller with a margin for one need suit the other).

    The peak over frequency of the chordal distance of their responses, or 1 where their Nyquist curves differ in turns.

    Parameters
    ----------
    first, second : see `as_plant`
        With as many inputs and outputs each, without hidden modes that are not stable; both continuous, or of one period.
    """
    plants = [as_plant(each, "nugap") for each in (first, second)]
    a, b = plants
    if a.D.shape != b.D.shape:
        raise InputError(
            f"nugap: found {a.D.shape[0]} outputs and {a.D.shape[1]} inputs, and {b.D.shape[0]} and {b.D.shape[1]}; expected as many of both"
        )
    if a.period != b.period:
        raise InputError(f"nugap: found the periods {a.period} and {b.period}; expected the same")
    for each in plants:
        require_stabilizable(each, each.B, "nugap", each.inputs)
        require_detectable(each, each.C, "nugap", each.outputs)
    one, two = (scale_states(continuous(each))[0] for each in plants)
    G1, G2 = _graph(one), _graph(two)
    if _turns(G1, G2):
        return 1.0
    return min(float(hinfnorm(series(G1, _normal(two)))), 1.0)


def ncfmargin(plant: Any, controller: LinearModel | None = None) -> float:
    """Return the margin of a controller for perturbations of the normalized coprime factors of a plant; 0 if the loop is not stable.

    It is 1 over the norm of [I; K] (I - G K)^-1 [I, G], the figure `margin` of `ncfsyn` with the weights counted to the plant. The loop
    stays stable for every plant whose `nugap` is smaller. It depends on the units of the signals: scale these first.

    Parameters
    ----------
    plant : Design, or see `as_plant`
    controller : LinearModel
        Controller u = K y, sign included, named as the plant's signals. Not for a Design.
    """
    if isinstance(plant, Design):
        plant, controller = plant.plant, plant.controller
    if controller is None:
        raise InputError("ncfmargin: found no controller; expected a Design, or plant and controller")
    model = as_plant(plant, "ncfmargin")
    u = matching(model.inputs, controller, "output", "ncfmargin")
    y = matching(model.outputs, controller, "input", "ncfmargin")
    return 1.0 / coprime_norm(select(model, u, y), controller)


def _graph(model: LinearModel) -> LinearModel:
    """Return [N; M], inner, with P = N M^-1."""
    A, B, C, D = model.A, model.B, model.C, model.D
    R = np.eye(B.shape[1]) + D.T @ D
    F = -riccati(A, B, C.T @ C, R, C.T @ D, period=None, method="nugap").gain
    root = np.linalg.inv(np.linalg.cholesky(R)).T
    return of_matrices(A + B @ F, B @ root, np.vstack([C + D @ F, F]), np.vstack([D @ root, root]))


def _normal(model: LinearModel) -> LinearModel:
    """Return [-M, N], co-inner, with P = M^-1 N: zero on the graph of the plant."""
    turned = of_matrices(model.A.T, model.C.T, model.B.T, model.D.T)
    G = _graph(turned)
    p = len(model.C)
    N, M = G.C[: len(G.C) - p], G.C[len(G.C) - p :]
    Nd, Md = G.D[: len(G.C) - p], G.D[len(G.C) - p :]
    return of_matrices(G.A.T, np.hstack([-M.T, N.T]), G.B.T, np.hstack([-Md.T, Nd.T]))


def _turns(G1: LinearModel, G2: LinearModel) -> bool:
    """Return whether det(G2~ G1) turns around zero, or is zero: zeros of G2~ G1 right of the axis beside its poles there, those of G2~."""
    back = of_matrices(-G2.A.T, -G2.C.T, G2.B.T, G2.D.T)
    both = series(G1, back)
    least = np.linalg.svd(both.D, compute_uv=False)
    if least[-1] <= 1e-12 * max(least[0], 1e-300):
        return True
    zeros = scipy.linalg.eigvals(both.A - both.B @ np.linalg.solve(both.D, both.C))
    return int((zeros.real > 0).sum()) != len(G2.A)
