"""Inertial parameters, friction and motor inertia from measured motions and joint forces: weighted least squares."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from articulus.design.base_parameters import BaseParameters, independent_combinations
from articulus.design.regression import Regression
from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError, doubtful
from articulus.numerics.lyapunov import one_thread

ROUNDS = 10
"""Times that the noise of each joint is estimated anew."""
EXCITED = 1e3
"""Condition number of the regressor, columns of unit length, above which a motion does not tell the parameters apart well."""
INSIDE = 1e-9
"""Eigenvalue of a pseudo-inertia, over its trace, below which a body is none that can exist."""


@dataclass(frozen=True, eq=False)
class InertialFit:
    """What measured joint forces tell of a mechanism.

    Parameters
    ----------
    base : BaseParameters
        The combinations that the motion can tell.
    values, deviations : array, (nb,)
        Of the combinations, and their standard deviations for white noise.
    covariance : array, (nb, nb)
    noise : array, (nv,) [N m or N]
        Standard deviation of what is left of each joint's force.
    full : array, (n,)
        Standard parameters with these combinations that are nearest to those of the model, each in units of its kind.
    impossible : tuple of str
        Bodies whose `full` inertias no rigid body has.
    condition : float
        Condition number of the weighted regressor.
    warnings : tuple of str
    """

    base: BaseParameters
    values: np.ndarray
    deviations: np.ndarray
    covariance: np.ndarray
    noise: np.ndarray
    full: np.ndarray
    impossible: tuple[str, ...]
    condition: float
    warnings: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Each combination as a text, (nb)."""
        return self.base.base_names

    @functools.cached_property
    def relative_deviations(self) -> np.ndarray:
        """Standard deviations over the values, (nb,): those above some 10 % say little."""
        return self.deviations / np.maximum(np.abs(self.values), 1e-300)


def inertial_fit(
    mechanism: Mechanism, q: Any, v: Any, vdot: Any, tau: Any, terms: str | Sequence[str] = ()
) -> InertialFit:
    """Return the combinations of inertial parameters, friction and motor inertias that explain measured joint forces.

    Weighted least squares of tau - known = Y phi with each joint in units of its own noise, which is estimated from what is left.

    Parameters
    ----------
    mechanism : Mechanism
        Of rigid bodies, without closed loops; its parameters choose among the equally good `full` ones.
    q, v, vdot : array, (samples, nq), (samples, nv), (samples, nv)
        Motion. Accelerations by differences of noisy velocities bias the result: filter v and tau alike before.
    tau : array, (samples, nv) [N m or N]
        Joint forces; NaN where a sample is missing.
    terms : str or sequence of str
        Of "armature", "damping", "coulomb", "offset": what is unknown for every joint as well.

    Raises
    ------
    InputError
        Wrong shapes, or fewer samples than unknowns.

    Notes
    -----
    Source: Gautier & Poignet 2001 (weights by the noise of each joint), Gautier & Khalil 1990 (combinations).
    """
    regression = Regression(mechanism, (terms,) if isinstance(terms, str) else tuple(terms))
    given = _checked(mechanism, q, v, vdot, tau)
    used = ~np.isnan(given[3])
    Y = regression.matrix(*given[:3])
    left = given[3] - regression.known(*given[:3])
    with one_thread():
        rows = _compressed(Y, left, used)
        base = independent_combinations(regression, rows[..., :-1])
        if used.sum() <= len(base):
            raise InputError(
                f"inertial_fit: found {used.sum()} samples of forces for {len(base)} unknowns; expected more samples"
            )
        W, b, count = rows[..., base.independent], rows[..., -1], used.sum(axis=0)
        spread = np.linalg.norm(b, axis=1) / np.sqrt(np.maximum(count, 1))
        free = np.maximum(count - len(base) * count / count.sum(), 1.0)
        noise = np.where(spread > 0, spread, max(float(spread.max()), 1.0))
        for _ in range(ROUNDS):
            A = (W / noise[:, None, None]).reshape(-1, len(base))
            size = np.linalg.norm(A, axis=0)
            Q, R = np.linalg.qr(A / size)
            beta = scipy.linalg.solve_triangular(R, Q.T @ (b / noise[:, None]).ravel()) / size
            before = noise
            noise = np.linalg.norm(b - W @ beta, axis=1) / np.sqrt(free)
            noise = np.maximum(noise, 1e-12 * np.maximum(spread, spread.max()))
            if np.allclose(noise, before, rtol=1e-3):
                break
    inverse = scipy.linalg.solve_triangular(R, np.eye(len(base))) / size[:, None]
    covariance = inverse @ inverse.T
    values = np.linalg.svd(R, compute_uv=False)
    full = nearest_full(base, regression, beta)
    impossible = impossible_bodies(mechanism, full)
    condition = float(values[0] / values[-1])
    doubts = _doubts(condition, impossible)
    for text in doubts:
        doubtful(f"inertial_fit of '{mechanism.name}': {text}")
    deviations = np.sqrt(np.diag(covariance))
    return InertialFit(base, beta, deviations, covariance, noise, full, impossible, condition, doubts)


def _compressed(Y: np.ndarray, left: np.ndarray, used: np.ndarray) -> np.ndarray:
    """Return the rows [Y, left] of each joint as a triangle with the same products, (nv, n + 1, n + 1)."""
    both = np.concatenate([Y, left[..., None]], axis=-1)
    n = both.shape[-1]
    out = np.zeros((both.shape[1], n, n))
    for joint, kept in enumerate(used.T):
        triangle = np.linalg.qr(both[kept, joint], mode="r")
        out[joint, : len(triangle)] = triangle
    return out


def nearest_full(base: BaseParameters, regression: Regression, beta: np.ndarray) -> np.ndarray:
    """Return the standard parameters with K phi = beta that are nearest to those of the model, each in units of its kind, (n,)."""
    prior = regression.values()
    units = regression.units
    size = {u: max((abs(x) for x, w in zip(prior, units) if w == u), default=0.0) or 1.0 for u in set(units)}
    scale = np.array([size[u] for u in units])
    change = np.linalg.lstsq(base.combination * scale, beta - base.of(prior), rcond=None)[0]
    return prior + scale * change


def impossible_bodies(mechanism: Mechanism, phi: np.ndarray) -> tuple[str, ...]:
    """Return the bodies whose parameters (m, m c, J about the origin) no distribution of mass has.

    The pseudo-inertia [[sum m r r', m c], [m c', m]] is positive semidefinite exactly for those that exist (Wensing, Kim & Slotine 2018).
    """
    out = []
    for k, body in enumerate(mechanism.description.bodies):
        m, h, J = phi[10 * k], phi[10 * k + 1 : 10 * k + 4], _matrix(phi[10 * k + 4 : 10 * k + 10])
        P = np.block([[np.trace(J) / 2 * np.eye(3) - J, h[:, None]], [h[None, :], np.array([[m]])]])
        if np.linalg.eigvalsh(P)[0] < -INSIDE * abs(np.trace(P)):
            out.append(body.name)
    return tuple(out)


def _matrix(J: np.ndarray) -> np.ndarray:
    """Return the inertia matrix of its six numbers in the order of the regressor."""
    xx, yy, zz, xy, xz, yz = J
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _checked(mechanism: Mechanism, *given: Any) -> list[np.ndarray]:
    """Return q, v, vdot and tau as arrays of one number of samples."""
    arrays = [np.asarray(x, dtype=float) for x in given]
    rows = len(arrays[0]) if arrays[0].ndim == 2 else 0
    for name, x, n in zip(("q", "v", "vdot", "tau"), arrays, (mechanism.nq, *(mechanism.nv,) * 3)):
        if x.shape != (rows, n) or not rows:
            raise InputError(
                f"inertial_fit: {name} has shape {x.shape}; expected (samples, {n}), as many samples for all"
            )
        if not np.isfinite(x[~np.isnan(x)] if name == "tau" else x).all():
            raise InputError(f"inertial_fit: {name} holds a number that is not finite")
    return arrays


def _doubts(condition: float, impossible: tuple[str, ...]) -> tuple[str, ...]:
    doubts = []
    if condition > EXCITED:
        doubts.append(
            f"the motion hardly tells the parameters apart: condition number {condition:.2g}; expected an exciting motion, below {EXCITED:g}"
        )
    if impossible:
        doubts.append(
            f"the full parameters nearest to the model are those of no rigid body for {', '.join(impossible)}; the combinations (`values`) are what was measured"
        )
    return tuple(doubts)
