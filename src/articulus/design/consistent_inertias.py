"""Inertial parameters that a distribution of mass has, nearest to what was measured: linear matrix inequalities."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from articulus.design.base_parameters import BaseParameters
from articulus.design.regression import Regression
from articulus.errors import NumericalError, require_package

INERTIAL = 10
"""Numbers of a body."""
PULL = 1e-3
"""Standard deviations that a change of a parameter by its size counts as: the model decides only what the measurement does not."""
EXACT = (1e-6, 1e-5, 1e-4)
"""Relative standard deviation below which a measurement counts as exact; the next one where the program then cannot be solved."""
MARGIN = 1e-6
"""Least eigenvalue of a pseudo-inertia, over that of the model's typical body: found bodies are inside, not on the edge."""


def pseudo_inertia(ten: np.ndarray) -> np.ndarray:
    """Return [[sum m r r', m c], [m c', m]] of m, m c and J about the origin, (..., 10) to (..., 4, 4).

    A distribution of mass has these numbers exactly if it is positive definite; the triangle inequality of J is part of that.

    Source: Wensing, Kim & Slotine 2018.
    """
    m, hx, hy, hz, xx, yy, zz, xy, xz, yz = np.moveaxis(np.asarray(ten, float), -1, 0)
    rows = [
        [(yy + zz - xx) / 2, -xy, -xz, hx],
        [-xy, (xx + zz - yy) / 2, -yz, hy],
        [-xz, -yz, (xx + yy - zz) / 2, hz],
        [hx, hy, hz, m],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def consistent_parameters(
    regression: Regression, base: BaseParameters, nearest: np.ndarray, covariance: np.ndarray
) -> np.ndarray:
    """Return standard parameters phi of bodies that can exist, with K phi nearest to the measured beta, (n,).

    Minimize (K phi - beta)' C^-1 (K phi - beta) + a small distance to the model, so that every pseudo-inertia is positive definite and
    friction and motor inertias are not negative. Needs the extra `sdp` (Clarabel).

    Parameters
    ----------
    regression : Regression
    base : BaseParameters
    nearest : array, (n,)
        Parameters with the measured combinations beta that need not exist; the program is about the change from them.
    covariance : array, (nb, nb)
        Covariance of beta.
    """
    clarabel = require_package("clarabel", "inertial_fit(consistent=True)", "sdp")
    prior, scale = regression.values(), parameter_sizes(regression)
    limits, offsets, cones = _limits(clarabel, regression, nearest / scale, scale)
    K = base.combination * scale  # of x = (phi - nearest) / scale
    for exact in EXACT:
        floor = exact * np.linalg.norm(K, axis=1)
        factor = np.linalg.cholesky(np.linalg.inv(covariance + np.diag(floor**2))).T
        A = np.vstack([factor @ K, PULL * np.eye(len(prior))])
        b = np.concatenate([np.zeros(len(base)), PULL * (prior - nearest) / scale])
        status, x = _least_squares(clarabel, A, b, limits, offsets, cones)
        if status.endswith("Solved"):
            return nearest + x * scale
    raise NumericalError(
        f"inertial_fit of '{regression.mechanism.name}': no consistent inertias were found ({status}); the measured combinations "
        "may contradict each other"
    )


def _limits(
    clarabel: Any, regression: Regression, nearest: np.ndarray, scale: np.ndarray
) -> tuple[np.ndarray, np.ndarray, list]:
    """Return G, h and the cones of h - G x: pseudo-inertias of all bodies, then friction and motor inertias."""
    bodies = len(regression.mechanism.description.bodies)
    cones: list = []
    blocks, offsets = [], []
    for k in range(bodies):
        own = slice(INERTIAL * k, INERTIAL * (k + 1))
        block = np.zeros((10, len(scale)))
        block[:, own] = _cone(scale[own])
        blocks.append(-block)
        offsets.append(block @ nearest - MARGIN * _pack(np.eye(4)))
        cones.append(clarabel.PSDTriangleConeT(4))
    rest = range(INERTIAL * bodies, len(scale))
    signed = [i for i in rest if not regression.names[i].endswith(".offset")]
    if signed:
        blocks.append(-np.eye(len(scale))[signed])
        offsets.append(nearest[signed])
        cones.append(clarabel.NonnegativeConeT(len(signed)))
    return np.vstack(blocks), np.concatenate(offsets), cones


def _least_squares(
    clarabel: Any, A: np.ndarray, b: np.ndarray, G: np.ndarray, h: np.ndarray, cones: list
) -> tuple[str, np.ndarray]:
    """Return the status and x of the least |A x - b| with h - G x in cones; unknowns are x and the residuals."""
    rows, n = A.shape
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    equations = np.block([[A, -np.eye(rows)], [G, np.zeros((len(G), rows))]])
    cost = scipy.sparse.block_diag(
        [scipy.sparse.csc_matrix((n, n)), scipy.sparse.eye_array(rows)], format="csc"
    )
    solver = clarabel.DefaultSolver(
        cost, np.zeros(n + rows), scipy.sparse.csc_matrix(equations), np.concatenate([b, h]), [clarabel.ZeroConeT(rows), *cones], settings
    )  # fmt: skip
    found = solver.solve()
    return str(found.status), np.asarray(found.x)[:n]


def parameter_sizes(regression: Regression) -> np.ndarray:
    """Return the size of each standard parameter: the largest of its unit in the model, (n,)."""
    prior, units = regression.values(), regression.units
    size = {u: max((abs(x) for x, w in zip(prior, units) if w == u), default=0.0) or 1.0 for u in set(units)}
    return np.array([size[u] for u in units])


def _cone(scale: np.ndarray) -> np.ndarray:
    """Return the columns of D P D of unit changes of ten scaled parameters, packed; D makes entries of like size."""
    mass, moment = scale[0], scale[4]
    d = np.array([1 / np.sqrt(moment)] * 3 + [1 / np.sqrt(mass)])
    unit = pseudo_inertia(np.diag(scale)) * d[:, None] * d
    return np.array([_pack(P) for P in unit]).T


def _pack(P: np.ndarray) -> np.ndarray:
    """Return the upper triangle by columns, off-diagonals times sqrt 2."""
    rows, columns = np.triu_indices(len(P))
    order = np.lexsort((rows, columns))
    values = P[rows[order], columns[order]]
    return np.where(rows[order] == columns[order], values, np.sqrt(2.0) * values)
