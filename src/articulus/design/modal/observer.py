"""Eigensystem realization with observer/Kalman filter identification (OKID/ERA)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from articulus.design.modal.halves import upper_half
from articulus.design.modal.modal_fit import ModalFit, modal_model, pole_deviations
from articulus.design.modal.past import Past, past
from articulus.design.modal.samples import RecordSamples, require_order
from articulus.design.modal.verdict import explained, judge, root_mean_squares
from articulus.errors import InputError
from articulus.numerics.lyapunov import one_thread
from articulus.study.records import Record

SHORT = 3
"""Least number of block rows of the Hankel matrix, over those that the order needs."""


def observer_fit(
    record: Record,
    inputs: str | list[str] | tuple[str, ...],
    outputs: str | list[str] | tuple[str, ...],
    order: int,
    *,
    horizon: int | None = None,
    validation: float = 0.2,
) -> ModalFit:
    """Return a sampled model of given order by its impulse response, which an observer's shorter one gives.

    Parameters
    ----------
    record : Record
        Evenly sampled, without gaps.
    inputs, outputs : str or list of str
        Its columns.
    order : int
        States, two for each mode.
    horizon : int
        Samples of the past that a prediction takes; if not given, that of the least information criterion of Akaike. Residuals that
        are not white, of a horizon that is too short, are a reason to doubt.
    validation : float [-]
        Last part of the record that is held out.

    Notes
    -----
    Deviations of the poles are to first order those of the regression. Source: Juang et al. 1993; Juang & Pappa 1985.
    """
    whole = RecordSamples.of("observer_fit", record, inputs, outputs)
    order = require_order("observer_fit", order, whole)
    s, held_out = whole.split(validation)
    regression = past("observer_fit", s, order, horizon)
    half = max(SHORT * -(-order // s.y.shape[1]), regression.horizon)
    with one_thread():
        markov = system_markov(regression, 2 * half)
        reach = np.concatenate(
            [s.u.std(axis=0), np.sqrt(np.diag(regression.noise))]
        )  # of inputs and innovations
        realized = realize(markov[1:] * reach, order)
        values = realized.values
        by = _derivatives(regression, markov, realized, reach)
    nu, where = s.u.shape[1], upper_half(values)[0]
    b, c = realized.B[where] / reach, realized.C[:, where]
    name = f"{s.name}: order {order}"
    model = modal_model(
        values[where], (b[:, :nu], c), regression.D, s.period, s.inputs, s.outputs, s.units, name
    )
    square = np.zeros((len(c), len(c)))
    gain = modal_model(
        values[where], (b[:, nu:], c), square, s.period, s.outputs, s.outputs, (s.units[1],) * 2, name
    ).B
    poles = np.log(values[where] + 0j) / s.period
    deviations = pole_deviations(poles, by[where] / (values[where] * s.period)[:, None])
    reason = f"a horizon of {regression.horizon} samples is too short, or the record holds something that is not linear"
    more = []
    if regression.better:
        longer = (
            f"{regression.better} samples explain clearly more"
            if regression.better != regression.first
            else f"up to {regression.first} samples every longer one explains more"
        )
        more.append(
            f"the horizon of {regression.horizon} samples is too short, {longer}: modes are biased. Take subspace_fit, or more samples"
        )
    doubts = judge("observer_fit", s, regression.residuals, values, realized.sizes, order, reason, more)
    return ModalFit(
        s.in_units(model), poles, *deviations, gain / s.y_size, realized.sizes[: 4 * order], regression.horizon, root_mean_squares(s, regression.residuals),
        explained(model, held_out or s), regression.residuals * s.y_size, doubts,
    )  # fmt: skip


def system_markov(found: Past, count: int) -> np.ndarray:
    """Return [D, 1] and C A^(k-1) [B, K] for k = 1..count from the Markov parameters of the predictor, (count + 1, ny, nu + ny)."""
    nu = found.D.shape[1]
    ny = len(found.D)
    Y = np.zeros((count + 1, ny, nu + ny))
    Y[0] = np.hstack([found.D, np.eye(ny)])
    back = found.markov[:, :, nu:]
    for k in range(1, count + 1):
        p = min(k, found.horizon)
        Y[k] = np.einsum("iab,ibc->ac", back[:p], Y[k - p : k][::-1])
        if k <= found.horizon:
            Y[k, :, :nu] += found.markov[k - 1, :, :nu]
    return Y


@dataclass(frozen=True, eq=False)
class Realization:
    """A = diag(values), B, C with C A^(k-1) B next to an impulse response; and what the eigenvalues follow from.

    Parameters
    ----------
    values : complex array, (n,)
    B, C : complex arrays, (n, m), (p, n)
    sizes : array
        Singular values of the Hankel matrix.
    left, right : complex arrays, (n, half, p), (n, half, m)
        d values = sum left (dH1 - values dH0) right, H0 and H1 the Hankel matrices from the first and the second sample.
    """

    values: np.ndarray
    B: np.ndarray
    C: np.ndarray
    sizes: np.ndarray
    left: np.ndarray
    right: np.ndarray


def realize(h: np.ndarray, order: int) -> Realization:
    """Return a realization of an impulse response h (2 half, p, m) by the singular values of its Hankel matrix (Juang & Pappa 1985)."""
    half = len(h) // 2
    p, m = h.shape[1:]
    first, second = (np.block([[h[i + j + k] for j in range(half)] for i in range(half)]) for k in (0, 1))
    U, sizes, V = np.linalg.svd(first, full_matrices=False)
    if order > np.count_nonzero(sizes > 1e-13 * sizes[0]):
        raise InputError(
            f"realize: found {np.count_nonzero(sizes > 1e-13 * sizes[0])} states in the response; expected order {order}"
        )
    root = np.sqrt(sizes[:order])
    back, ahead = U[:, :order] / root, V[:order].T / root
    values, right = np.linalg.eig(back.T @ second @ ahead)
    left = np.linalg.inv(right)
    return Realization(
        values,
        left @ (root[:, None] * V[:order, :m]),
        (U[:p, :order] * root) @ right,
        sizes,
        (left @ back.T).reshape(order, half, p),
        (ahead @ right).T.reshape(order, half, m),
    )


def _derivatives(found: Past, Y: np.ndarray, r: Realization, reach: np.ndarray) -> np.ndarray:
    """Return derivatives of the eigenvalues by independent errors of the regression with deviation 1, (n, errors)."""
    nu, p, count = found.D.shape[1], found.horizon, len(Y) - 1
    half = count // 2
    G = np.zeros((len(r.values), *Y.shape), dtype=complex)
    for i in range(half):  # of sums along antidiagonals
        products = np.einsum("ea,ejb->ejab", r.left[:, i], r.right)
        G[:, i + 2 : i + 2 + half] += products
        G[:, i + 1 : i + 1 + half] -= r.values[:, None, None, None] * products
    G *= reach
    back = found.markov[:, :, nu:]
    by = np.zeros((len(r.values), p, *found.markov.shape[1:]), dtype=complex)
    for k in range(count, 0, -1):  # the recursion of `system_markov`, backwards
        n = min(k, p)
        if k <= p:
            by[:, k - 1, :, :nu] += G[:, k, :, :nu]
        past_values = Y[k - n : k][::-1]
        by[:, :n, :, nu:] += np.einsum("eac,ibc->eiab", G[:, k], past_values)
        G[:, k - n : k] += np.einsum("iba,ebc->eiac", back[:n], G[:, k])[:, ::-1]
    ny = len(found.D)
    columns = np.concatenate(
        [
            G[:, 0, :, :nu].swapaxes(1, 2),
            np.zeros((len(by), 1, ny)),
            by.swapaxes(2, 3).reshape(len(by), -1, ny),
        ],
        axis=1,
    )
    independent = scipy.linalg.solve_triangular(
        found.triangle, columns.transpose(1, 0, 2).reshape(len(found.triangle), -1), trans="T"
    )
    noise = np.linalg.cholesky(found.noise)
    return (
        (independent.reshape(len(found.triangle), -1, ny) @ noise)
        .transpose(1, 0, 2)
        .reshape(len(r.values), -1)
    )
