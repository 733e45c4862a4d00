"""Which poles count as stable, and a model divided into its stable part and the rest (`stabsep` in MATLAB)."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg.lapack import dgebal

from articulus.control.plant import as_plant
from articulus.errors import InputError
from articulus.linear import LinearModel
from articulus.linear.model import rates
from articulus.numerics.lyapunov import Lyapunov, balance, one_thread
from articulus.numerics.subspaces import split_spectrum

EPS = np.finfo(float).eps
ROUNDING = 100 * EPS
"""Relative amount by which rounding may have changed the entries of A: some operations, each with its own."""
LARGE, CLEAR = 60, 0.1
"""States from which on it pays to look first whether all poles are clearly stable, and what counts as clear: change of I that rounding of A causes."""
LEVEL = 1e-3
"""Ratio of the sizes at which eigenvalues of very different size are looked for in turn."""


@dataclass(frozen=True, eq=False)
class Eigensystem:
    """A = right diag(values) left, left = right^-1; entries of `left` are not finite where eigenvectors are dependent.

    Parameters
    ----------
    values : array, (n,)
    right, left : arrays, (n, n)
        Columns of `right` have length one.
    """

    values: np.ndarray
    right: np.ndarray
    left: np.ndarray

    @staticmethod
    def of(A: np.ndarray) -> Eigensystem:
        """Return the eigenvalues and eigenvectors of a matrix."""
        values, right = np.linalg.eig(A)
        try:
            left = np.linalg.inv(right)
        except np.linalg.LinAlgError:
            left = np.full_like(right, np.inf)
        return Eigensystem(values, right, left)

    def rounding(self, A: np.ndarray, off: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
        """Return how far rounding of the entries of A (and an error `off` of each), and that of the QR algorithm, can have moved each eigenvalue."""
        with np.errstate(over="ignore", invalid="ignore"):
            x, y = np.abs(self.right), np.abs(self.left)
            felt = ROUNDING * np.sum(y.T * (np.abs(A) @ x), axis=0)
            if off:
                felt += off * y.sum(axis=1) * x.sum(axis=0)
            moved = 10 * EPS * np.linalg.norm(A) * np.sqrt(np.sum(y * y, axis=1))
        return felt, moved


def stable_poles(
    A: np.ndarray,
    period: float | None,
    off: float = 0.0,
    *,
    known: Eigensystem | None = None,
    flow: Lyapunov | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the eigenvalues of A, largest first, and which of them are asymptotically stable by more than rounding, (n,) each.

    A pole counts as on the boundary of stability if rounding of the entries of A can have moved it there; see `_bound_eigenvalues`. What other
    poles there are and how fast they are has no part in it.

    Parameters
    ----------
    A : array, (n, n)
    period : float [s] or None
    off : float
        Largest error of single entries of A, besides their rounding.
    known : Eigensystem
        Of A, where it is known already.
    flow : Lyapunov
        Schur form of A, where it is known already.
    """
    if not off and known is None and (flow is not None or len(A) > LARGE):
        values = _clearly_stable(A, period is not None, flow)
        if values is not None:
            return values[np.argsort(-np.abs(values), kind="stable")], np.ones(len(A), bool)
    if known is not None and (depth(known.values, period) > sum(known.rounding(A, off))).all():
        order = np.argsort(-np.abs(known.values), kind="stable")
        return known.values[order], np.ones(len(A), bool)
    values, errors = _bound_eigenvalues(A, off)
    inside = depth(values, period)
    with np.errstate(invalid="ignore"):
        nearest = (
            values - values.real if period is None else np.where(values == 0, 1.0, values / np.abs(values))
        )
    return values, (inside > 0) & ~_within(A, nearest, inside <= errors, off)


def _clearly_stable(A: np.ndarray, sampled: bool, flow: Lyapunov | None) -> np.ndarray | None:
    """Return the eigenvalues if no change of the entries of A by far more than their rounding can make it unstable; otherwise None.

    The proof is Lyapunov's, however P was found: A P + P A' = -I + R with P positive and R small, and a change E of A changes I by E P + P E'.
    """
    even, d = balance(A)
    with one_thread():
        try:
            flow = flow or Lyapunov(A, sampled)
            if not flow.poles.real.max(initial=-1.0) < 0.0:
                return None
            P = flow.solve(np.diag(d * d)) / d / d[:, None]
            np.linalg.cholesky(P)
        except (InputError, np.linalg.LinAlgError):
            return None
        size, spread = float(np.linalg.norm(even)), float(np.linalg.norm(P))
        step = even @ P
        off = (step @ even.T - P) if sampled else (step + step.T)
    change = ROUNDING * size * spread * (size + 1.0 if sampled else 1.0)
    proven = np.linalg.norm(off + np.eye(len(A))) < 0.5 and 2.0 * change < CLEAR
    return flow.eigenvalues if proven else None


def accurate_poles(A: np.ndarray) -> np.ndarray:
    """Return the eigenvalues of A, largest first; slow ones are not lost to rounding by fast ones."""
    return _bound_eigenvalues(A)[0]


def moving_poles(A: np.ndarray, period: float | None) -> np.ndarray:
    """Return the poles [rad/s] of A that are neither zero, but for rounding, nor infinitely fast; largest first."""
    values, errors = _bound_eigenvalues(A)
    rest = 0.0 if period is None else 1.0
    still = _within(A, np.full(len(values), rest), np.abs(values - rest) <= errors)
    poles = rates(values, period)
    return poles[~still & np.isfinite(poles) & (poles != 0.0)]


def at_rest(A: np.ndarray, period: float | None) -> bool:
    """Return whether A has a pole at zero but for rounding: the state can stay away from zero forever."""
    rest = np.array([0.0 if period is None else 1.0])
    return bool(len(A)) and bool(_within(A, rest, np.ones(1, bool))[0])


def _bound_eigenvalues(A: np.ndarray, off: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Return the eigenvalues of A, largest first, and how far rounding can have moved them, to first order.

    States that feel no others, or that no others feel, are split off first: their diagonal entries are eigenvalues, and stay it when rounding
    changes entries that are not zero. Rigid motions and chains of lags are such.
    """
    if off or not len(A):
        return _bound_coupled(A, off)
    even, first, last, _, _ = dgebal(A, scale=0, permute=1)
    if last - first + 1 == len(A):
        return _bound_coupled(A, off)
    if first == last:  # LAPACK leaves one, which is split off as well
        last -= 1
    inner = slice(first, last + 1)
    alone = np.r_[np.diag(even)[:first], np.diag(even)[last + 1 :]]
    values, errors = _bound_coupled(np.ascontiguousarray(even[inner, inner]), 0.0)
    values, errors = np.r_[alone, values], np.r_[ROUNDING * np.abs(alone), errors]
    order = np.argsort(-np.abs(values), kind="stable")
    return values[order], errors[order]


def _bound_coupled(A: np.ndarray, off: float) -> tuple[np.ndarray, np.ndarray]:
    """Return what `_bound_eigenvalues` does from eigenvectors.

    An eigenvalue with the left and right vectors y, x moves by at most |y|'|E||x| / |y'x| under a small change E of A. The double pole
    of a rigid motion has y'x near zero and is known to half of the digits; a slow pole beside fast ones is known to nearly all.
    """
    if not len(A):
        return np.zeros(0), np.zeros(0)
    A, _ = balance(A)
    norm = size = float(np.linalg.norm(A))
    values, felt, moved = _around(A, 0.0, off)
    # the QR algorithm rounds by the largest eigenvalue: what that hides is looked for again among the largest of an inverse
    while ((np.abs(values.real) <= felt + moved) & (moved > felt)).any() and size > EPS * norm:
        size *= LEVEL
        again = _around(A, size, off)
        rest = slice(np.count_nonzero(np.abs(again[0]) > size / np.sqrt(LEVEL)), np.count_nonzero(values))
        values[rest], felt[rest], moved[rest] = (x[rest] for x in again)
    return values if values.imag.any() else values.real, felt + moved


def _within(A: np.ndarray, places: np.ndarray, doubt: np.ndarray, off: float = 0.0) -> np.ndarray:
    """Return at which of the doubtful places A can have an eigenvalue within rounding: no E <= ROUNDING |A| makes s I - A - E singular
    as long as the largest eigenvalue of |(s I - A)^-1| E is below one."""
    found, seen = doubt.copy(), {}
    if not doubt.any():
        return found
    A, _ = balance(A)
    change = ROUNDING * np.abs(A) + off
    for k in np.flatnonzero(doubt):
        s = complex(places[k])
        s = complex(s.real, abs(s.imag))
        if s not in seen:
            seen[s] = _singular(s, A, change)
        found[k] = seen[s]
    return found


def _singular(s: complex, A: np.ndarray, change: np.ndarray) -> bool:
    try:
        product = np.abs(np.linalg.inv(s * np.eye(len(A)) - A)) @ change
    except np.linalg.LinAlgError:
        return True
    if not np.isfinite(product).all():
        return True
    return bool(np.linalg.norm(product) >= 1.0 and np.abs(np.linalg.eigvals(product)).max() >= 1.0)


def _around(A: np.ndarray, shift: float, off: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the eigenvalues of A, largest first, from those of A or (A - shift I)^-1; their errors by rounding of A and by that of the QR algorithm."""
    matrix = np.linalg.inv(A - shift * np.eye(len(A))) if shift else A
    found = Eigensystem.of(matrix)
    values, (felt, moved) = found.values, found.rounding(A, off)
    if shift:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            values = shift + 1.0 / values
            moved *= np.linalg.norm(matrix) / np.linalg.norm(A) * np.abs(values - shift) ** 2
    order = np.argsort(-np.abs(values), kind="stable")
    felt, moved = (np.where(np.isfinite(error), error, np.inf)[order] for error in (felt, moved))
    return values[order].astype(complex), felt, moved


def asymptotically_stable(A: np.ndarray, period: float | None) -> bool:
    """Return whether all eigenvalues of A lie inside the region of stability by more than rounding."""
    return bool(stable_poles(A, period)[1].all())


def depth(values: np.ndarray, period: float | None) -> np.ndarray:
    """Return the distances of eigenvalues from the boundary of stability, positive inside of it."""
    return -values.real if period is None else 1.0 - np.abs(values)


def require_stable(model: LinearModel, method: str) -> None:
    """Raise InputError naming the poles that are not asymptotically stable."""
    values, inside = stable_poles(model.A, model.period)
    bad = values[~inside]
    if len(bad):
        raise InputError(
            f"{method}: found {len(bad)} poles that are not asymptotically stable, {', '.join(f'{s:.6g}' for s in bad[:4])}; "
            "expected a stable plant; split off the rest by stabsep"
        )


def stabsep(plant: Any) -> tuple[LinearModel, LinearModel]:
    """Divide a plant into G = G_s + G_u: the asymptotically stable part with the feedthrough D, and the rest.

    Poles on the boundary of stability (rigid motions, integrators, undamped modes) belong to the rest.

    Returns
    -------
    stable, rest : LinearModel
    """
    model = as_plant(plant, "stabsep")
    values, inside = stable_poles(model.A, model.period)
    if inside.all():
        return model, _part(model, np.zeros((0, 0)), model.B[:0], model.C[:, :0], False)
    try:
        split = split_spectrum(model.A, values, inside)
    except np.linalg.LinAlgError as error:
        raise InputError(
            f"stabsep: found poles too close to the boundary of stability ({error}); expected poles that rounding does not move "
            "across it"
        ) from None
    k, B, C = len(split.A1), split.left @ model.B, model.C @ split.right
    return (
        _part(model, split.A1, B[:k], C[:, :k], True),
        _part(model, split.A2, B[k:], C[:, k:], False),
    )


def _part(model: LinearModel, A: np.ndarray, B: np.ndarray, C: np.ndarray, feedthrough: bool) -> LinearModel:
    states = tuple(f"{'s' if feedthrough else 'u'}.{i}" for i in range(len(A)))
    D = model.D if feedthrough else np.zeros_like(model.D)
    return dataclasses.replace(model, A=A, B=B, C=C, D=D, states=states)
