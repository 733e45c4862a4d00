"""Indices of a closed loop over a finite time, with exact gradients; they exist for unstable loops too.

With A_a = A + a I, a the rate of e^(2 a t):

    X(t) = int_0^t exp(A_a s) B B' exp(A_a' s) ds
    initial   tr C X(t_end) C'                           from random initial states, B B' their covariance: (4.a)
    forced    the same number: the mean square at t_end in white noise of density one: (4.b)
    mean      1/t_end int_0^t_end tr C X(t) C' dt: (4.c)
    worst     int e^(2 a t) z*z dt / int e^(2 a t) w*w dt for a sinusoid w = w0 exp(j w t): (5)

They grow with t_end, without a to the squares of the H2 and Hinf norms where the loop is stable, and without bound where it is not.
The integrals are those of a short interval by Gauss's rule, doubled until t_end; the gradient is that of this sequence, backwards.

Source: Ly 1989, eqs. 4 and 5.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.linalg

from articulus.errors import Finding, InputError

HUGE = 1e100
"""Value from which on an index counts as infinite, long before its gradient overflows."""
SHORT = 0.5
"""Norm of A times the interval on which Gauss's rule is used."""
POINTS, WEIGHTS = np.polynomial.legendre.leggauss(8)
POINTS, WEIGHTS = (POINTS + 1) / 2, WEIGHTS / 2
"""Gauss's rule on (0, 1)."""

Pullback = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class FiniteTime:
    """A finite-time index in place of the norms of `fixed_order`.

    Parameters
    ----------
    t_end : float [s]
    growth : float [1/s]
        a of the factor e^(2 a t): the least decay that a long t_end enforces.
    form : "initial", "forced" or "mean"
        Of the part of weight `h2`; that of weight `hinf` is the ratio (5).
    """

    t_end: float
    growth: float = 0.0
    form: Literal["initial", "forced", "mean"] = "initial"

    def __post_init__(self) -> None:
        if not (self.t_end > 0 and np.isfinite(self.t_end)):
            raise InputError(Finding("FiniteTime.t_end", f"{self.t_end} s", "a finite time > 0"))
        if not np.isfinite(self.growth):
            raise InputError(Finding("FiniteTime.growth", f"{self.growth} 1/s", "a finite number"))
        if self.form not in ("initial", "forced", "mean"):
            raise InputError(Finding("FiniteTime.form", repr(self.form), "'initial', 'forced' or 'mean'"))


@dataclass(frozen=True)
class Sinusoid:
    """w0 exp(j omega t): the disturbance of the ratio (5)."""

    omega: float
    direction: np.ndarray


Slopes = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def mean_square(
    A: np.ndarray, B: np.ndarray, C: np.ndarray, index: FiniteTime
) -> tuple[float, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Return the index of white noise or random initial states, and its gradient by A, B, C; infinite where it overflows."""
    shifted = A + index.growth * np.eye(len(A))
    with np.errstate(over="ignore", invalid="ignore"):
        W, back = finite_gramian(shifted, B @ B.T, index.t_end, index.form == "mean")
        value = float(np.sum((C @ W) * C)) if np.isfinite(W).all() else np.inf
        dA, dV = back(C.T @ C) if value < HUGE else (np.zeros_like(A), np.zeros_like(A))
    if not (value < HUGE and np.isfinite(dA).all()):
        return np.inf, (np.zeros_like(A), np.zeros_like(B), np.zeros_like(C))
    return value, (dA, (dV + dV.T) @ B, 2 * C @ W)


def sinusoid_ratio(
    A: np.ndarray, B: np.ndarray, C: np.ndarray, D: np.ndarray, index: FiniteTime, wave: Sinusoid
) -> tuple[float, Slopes]:
    """Return the ratio of the integrals of z*z and w*w from rest, and its gradient by A, B, C, D."""
    n, turn = len(A), np.array([[0.0, -wave.omega], [wave.omega, 0.0]])
    w0 = np.stack([wave.direction.real, -wave.direction.imag], axis=1)
    whole = scipy.linalg.block_diag(A, turn)
    whole[:n, n:] = B @ w0
    start = scipy.linalg.block_diag(np.zeros((n, n)), np.eye(2))
    a, T = index.growth, index.t_end
    below = float(np.vdot(wave.direction, wave.direction).real) * (
        T if a == 0 else np.expm1(2 * a * T) / (2 * a)
    )
    seen = np.hstack([C, D @ w0])
    with np.errstate(over="ignore", invalid="ignore"):
        W, back = finite_gramian(whole + a * np.eye(n + 2), start, T, False)
        value = float(np.sum((seen @ W) * seen)) / below if np.isfinite(W).all() else np.inf
        dA = back(seen.T @ seen)[0] / below if value < HUGE else np.full_like(whole, np.nan)
    if not (value < HUGE and np.isfinite(dA).all()):
        return np.inf, (np.zeros_like(A), np.zeros_like(B), np.zeros_like(C), np.zeros_like(D))
    dC = 2 * seen @ W / below
    return value, (dA[:n, :n], dA[:n, n:] @ w0.T, dC[:, :n], dC[:, n:] @ w0.T)


def finite_gramian(A: np.ndarray, V: np.ndarray, T: float, mean: bool) -> tuple[np.ndarray, Pullback]:
    """Return X(T) = int_0^T exp(A t) V exp(A't) dt, or its mean over (0, T), and what takes a gradient by it to one by A and V."""
    if not np.linalg.norm(A) * T < HUGE:
        return np.full_like(A, np.inf), lambda by: (np.zeros_like(by), np.zeros_like(by))
    doublings = max(0, int(np.ceil(np.log2(max(float(np.linalg.norm(A, 2)) * T / SHORT, 1.0)))))
    h = T / 2.0**doublings
    factors = [scipy.linalg.expm(A * (h * s)) for s in (*POINTS, 1.0)]
    parts = [F @ V @ F.T for F in factors[:-1]]
    X = h * sum(w * P for w, P in zip(WEIGHTS, parts))
    Z = h * h * sum(w * (1 - s) * P for w, s, P in zip(WEIGHTS, POINTS, parts))
    E, trail = factors[-1], []
    for k in range(doublings):
        trail.append((E, X, Z))
        if mean:
            Z = Z + h * 2.0**k * X + E @ Z @ E.T
        X, E = X + E @ X @ E.T, E @ E

    def pull(by: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        on_X, on_Z, on_E = (np.zeros_like(by), by / T, np.zeros_like(by)) if mean else (by, np.zeros_like(by), np.zeros_like(by))  # fmt: skip
        for k in reversed(range(doublings)):
            F, X_, Z_ = trail[k]
            on_E = on_E @ F.T + F.T @ on_E + (on_X + on_X.T) @ F @ X_
            if mean:
                on_E = on_E + (on_Z + on_Z.T) @ F @ Z_
            on_X = on_X + F.T @ on_X @ F
            if mean:
                on_X, on_Z = on_X + h * 2.0**k * on_Z, on_Z + F.T @ on_Z @ F
        on_A, on_V = _pull_exponential(A, h, on_E), np.zeros_like(V)
        for w, s, F in zip(WEIGHTS, POINTS, factors):
            weight = h * w * on_X + h * h * w * (1 - s) * on_Z
            on_V += F.T @ weight @ F
            on_A += _pull_exponential(A, h * s, (weight + weight.T) @ F @ V)
        return on_A, on_V

    return (Z / T if mean else X), pull


def _pull_exponential(A: np.ndarray, t: float, by: np.ndarray) -> np.ndarray:
    """Return the gradient by A from that by exp(A t)."""
    if not by.any():
        return np.zeros_like(A)
    return t * scipy.linalg.expm_frechet(A.T * t, by, compute_expm=False)
