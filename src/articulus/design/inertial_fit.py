"""Inertial parameters, friction and motor inertia from measured motions and joint forces: weighted least squares."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from articulus.design.base_parameters import BaseParameters, independent_combinations
from articulus.design.consistent_inertias import consistent_parameters, parameter_sizes, pseudo_inertia
from articulus.design.integral_forms import FORMS, WINDOW, Form, integral_rows
from articulus.design.regression import Regression
from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError, did_you_mean, doubtful
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
        Values of the combinations, and their standard deviations for white noise.
    covariance : array, (nb, nb)
    noise : array, (nv,) [N m or N]
        Standard deviation of what is left of each joint's force; of its impulse [N m s or N s] in each window in the momentum form, of
        the work [J], (1,), in the energy form.
    full : array, (n,)
        Standard parameters with these combinations that are nearest to those of the model, each in units of its kind; with
        `consistent=True` those of bodies that can exist.
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
    mechanism: Mechanism,
    q: Any,
    v: Any,
    vdot: Any,
    tau: Any,
    terms: str | Sequence[str] = (),
    *,
    form: Form = "force",
    t: Any = None,
    window: int = WINDOW,
    consistent: bool = False,
) -> InertialFit:
    """Return the combinations of inertial parameters, friction and motor inertias that explain measured joint forces.

    Weighted least squares of tau - known = Y phi with each joint in units of its own noise, which is estimated from what is left.

    Parameters
    ----------
    mechanism : Mechanism
        Mechanism of rigid bodies, without closed loops; its parameters choose among the equally good `full` ones.
    q, v, vdot : array, (samples, nq), (samples, nv), (samples, nv)
        Motion. Accelerations by differences of noisy velocities bias the result: filter v and tau alike before, or take a form that needs
        none; vdot is None then.
    tau : array, (samples, nv) [N m or N]
        Joint forces; NaN where a sample is missing.
    terms : str or sequence of str
        Of "armature", "damping", "coulomb", "offset": what is unknown for every joint as well.
    form : "force", "momentum" or "energy"
        The equation at each sample, or its sum over windows of time: of momentum for each joint, or of energy, one row for all joints.
    t : array, (samples,) [s]
        Times, for sums.
    window : int
        Samples of a window.
    consistent : bool
        Whether `full` shall be parameters of bodies that can exist, with combinations as near to the measured ones as these allow (extra
        `sdp`).

    Raises
    ------
    InputError
        Wrong shapes, or fewer samples than unknowns.

    Notes
    -----
    Source: Gautier & Poignet 2001 (weights by the noise of each joint), Gautier & Khalil 1990 (combinations).
    """
    regression = Regression(mechanism, (terms,) if isinstance(terms, str) else tuple(terms))
    both = _equations(regression, q, v, vdot, tau, form, t, window)
    used = ~np.isnan(both[..., -1])
    with one_thread():
        rows = _compress(both, used)
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
    if consistent:
        full = consistent_parameters(regression, base, full, covariance)
    impossible = impossible_bodies(mechanism, full)
    condition = float(values[0] / values[-1])
    doubts = _doubts(condition, impossible)
    for text in doubts:
        doubtful(f"inertial_fit of '{mechanism.name}': {text}")
    deviations = np.sqrt(np.diag(covariance))
    return InertialFit(base, beta, deviations, covariance, noise, full, impossible, condition, doubts)


def _equations(
    regression: Regression, q: Any, v: Any, vdot: Any, tau: Any, form: str, t: Any, window: int
) -> np.ndarray:
    """Return the rows [W, b] of W phi = b, (rows, nv or 1, n + 1); b is NaN where there is none."""
    if form not in FORMS:
        raise InputError(
            f"inertial_fit: found form = '{form}'; expected {', '.join(FORMS)}; {did_you_mean(str(form), FORMS)}"
        )
    if form == "force":
        if vdot is None:
            raise InputError(
                "inertial_fit: found no accelerations; expected vdot, or form='momentum' or 'energy' with times t"
            )
        qs, vs, accelerations, forces = _check(regression.mechanism, q, v, vdot, tau)
        left = forces - regression.known(qs, vs, accelerations)
        return np.concatenate([regression.matrix(qs, vs, accelerations), left[..., None]], axis=-1)
    qs, vs, _, forces = _check(regression.mechanism, q, v, np.zeros(np.shape(v)), tau)
    times = np.asarray(t if t is not None else np.nan, dtype=float)
    if times.shape != (len(qs),) or not (np.diff(times) > 0).all() or len(qs) < 3:
        raise InputError(
            f"inertial_fit: t has shape {times.shape}; expected rising times of {len(qs)} samples, at least 3, for form = '{form}'"
        )
    if not 2 <= window < len(times):
        raise InputError(f"inertial_fit: found window = {window}; expected 2 to {len(times) - 1} samples")
    return integral_rows(regression, form, times, qs, vs, forces, window)  # type: ignore[arg-type]


def _compress(both: np.ndarray, used: np.ndarray) -> np.ndarray:
    """Return the rows [W, b] of each joint as a triangle with the same products, (nv, n + 1, n + 1)."""
    n = both.shape[-1]
    out = np.zeros((both.shape[1], n, n))
    for joint, kept in enumerate(used.T):
        triangle = np.asarray(np.linalg.qr(both[kept, joint], mode="r"))
        out[joint, : len(triangle)] = triangle
    return out


def nearest_full(base: BaseParameters, regression: Regression, beta: np.ndarray) -> np.ndarray:
    """Return the standard parameters with K phi = beta that are nearest to those of the model, each in units of its kind, (n,)."""
    prior, scale = regression.values(), parameter_sizes(regression)
    change = np.linalg.lstsq(base.combination * scale, beta - base.of(prior), rcond=None)[0]
    return prior + scale * change


def impossible_bodies(mechanism: Mechanism, phi: np.ndarray) -> tuple[str, ...]:
    """Return the bodies whose parameters (m, m c, J about the origin) no distribution of mass has.

    The pseudo-inertia [[sum m r r', m c], [m c', m]] is positive semidefinite exactly for those that exist (Wensing, Kim & Slotine 2018).
    """
    out = []
    for k, body in enumerate(mechanism.description.bodies):
        P = pseudo_inertia(phi[10 * k : 10 * k + 10])
        if np.linalg.eigvalsh(P)[0] < -INSIDE * abs(np.trace(P)):
            out.append(body.name)
    return tuple(out)


def _check(mechanism: Mechanism, *given: Any) -> list[np.ndarray]:
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
