"""Algebraic Riccati equations of design methods, with the reason when there is no solution, and their weights."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from articulus.control.analysis.stable import depth
from articulus.control.design import Check
from articulus.control.modes import require_no_idle_boundary, require_stabilizable
from articulus.errors import InputError, NumericalError
from articulus.linear import LinearModel
from articulus.numerics.riccati import ACCURATE, RiccatiSolution, care, dare

SINGULAR, INDEFINITE = 1e-14, -1e-10
"""Smallest eigenvalues of a weight with units on its diagonal at which it counts as definite and as semidefinite."""
ROUNDING = 1e-12
"""Residual that reports show where it is less: the digits below it are those of the processor."""
NEAR_BOUNDARY = 1e-6
"""Distance of a pole from the boundary of stability, over the largest, from which on rounding can have moved it off: a double one."""


def riccati(
    A: np.ndarray,
    B: np.ndarray,
    Q: np.ndarray,
    R: np.ndarray,
    S: np.ndarray | None = None,
    *,
    period: float | None,
    method: str,
) -> RiccatiSolution:
    """Return the stabilizing solution X and gain K = R^-1 (B' X + S'), or its discrete counterpart.

    Continuous: A'X + XA - (XB + S) R^-1 (B'X + S') + Q = 0. Discrete: X = A'XA - (A'XB + S)(R + B'XB)^-1 (B'XA + S') + Q.
    """
    try:
        found = (care if period is None else dare)(A, B, Q, R, S)
    except InputError as error:
        raise InputError(
            f"{method}: {error}; likely a mode on the boundary of stability that the weight does not see, or a weight that is "
            "not definite"
        ) from error
    if not found.residual <= ACCURATE:
        raise NumericalError(f"{method}: the Riccati equation was not solved: {residual_check(found)}", found)
    return found


def regulator(
    model: LinearModel,
    u: np.ndarray,
    Q: np.ndarray,
    R: np.ndarray,
    N: np.ndarray | None,
    method: str,
    modes: np.ndarray | None = None,
) -> RiccatiSolution:
    """Return the solution X and the gain of the regulator at the inputs u; raise InputError naming an unstable mode (`modes` where they are known) that it cannot move."""
    B = model.B[:, u]
    require_stabilizable(model, B, method, tuple(model.inputs[i] for i in u), modes)

    def name_idle() -> None:
        free, seen = model, Q
        if (
            N is not None
        ):  # what is left with u = -R^-1 N'x + u'; of a plant that answers late, sampled, R may be singular
            d = np.sqrt(np.maximum(np.abs(np.diag(R)), np.finfo(float).tiny))[:, None]
            least = np.linalg.pinv(R / d / d.T, hermitian=True) @ (N.T / d) / d
            free, seen = dataclasses.replace(model, A=model.A - B @ least), Q - N @ least
        require_no_idle_boundary(free, seen, method, "no weight Q sees it", dual=False)

    return stabilizing(model.A, B, Q, R, N, period=model.period, method=method, name_idle=name_idle)


def stabilizing(
    A: np.ndarray,
    B: np.ndarray,
    Q: np.ndarray,
    R: np.ndarray,
    S: np.ndarray | None,
    *,
    period: float | None,
    method: str,
    name_idle: Callable[[], None],
) -> RiccatiSolution:
    """Return the solution of `riccati`; where it fails, or a pole stays near the boundary of stability, `name_idle` may say why."""
    try:
        found = riccati(A, B, Q, R, S, period=period, method=method)
    except InputError:
        name_idle()
        raise
    size = np.abs(found.poles).max(initial=0.0) if period is None else 1.0
    if depth(found.poles, period).min(initial=np.inf) <= NEAR_BOUNDARY * size:
        name_idle()
    return found


def residual_check(found: RiccatiSolution, of: str = "") -> Check:
    """Return the check of the relative residual of a solution."""
    what = f"relative residual of the Riccati equation{of and ' of the '}{of}, at most"
    return Check(what, max(found.residual, ROUNDING), ACCURATE, found.residual <= ACCURATE)


def weight(value: object, size: int, name: str, method: str, definite: bool) -> np.ndarray:
    """Return a symmetric weight from a number, a diagonal or a matrix; raise InputError unless it is (semi)definite.

    It is judged in units in which its diagonal is one: those of the signals it belongs to do not matter.
    """
    try:
        found = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise InputError(
            f"{method}: found {name} of type {type(value).__name__}; expected a number, ({size},) or ({size}, {size})"
        ) from None
    matrix = found * np.eye(size) if found.ndim == 0 else np.diag(found) if found.ndim == 1 else found
    if matrix.shape != (size, size):
        raise InputError(
            f"{method}: found {name} of shape {found.shape}; expected a number, ({size},) or ({size}, {size})"
        )
    if not np.isfinite(matrix).all() or np.abs(matrix - matrix.T).max(initial=0.0) > 1e-10 * np.abs(
        matrix
    ).max(initial=0.0):
        raise InputError(f"{method}: found {name} that is not finite and symmetric")
    matrix = 0.5 * (matrix + matrix.T)
    _require_definite(matrix, name, method, definite)
    return matrix


def cross_weight(
    value: object, Q: np.ndarray, R: np.ndarray, method: str, *, definite: bool = False
) -> np.ndarray | None:
    """Return the weight N of products of states and commands, (n, m), or None; `definite`: [Q, N; N', R] must not be negative."""
    if value is None:
        return None
    n, m = len(Q), len(R)
    try:
        found = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{method}: found N of type {type(value).__name__}; expected ({n}, {m})") from None
    found = found.reshape(n, m) if found.size == n * m and found.ndim < 2 else found
    if found.shape != (n, m) or not np.isfinite(found).all():
        raise InputError(f"{method}: found N of shape {found.shape}; expected ({n}, {m}), finite")
    if definite:
        _require_definite(np.block([[Q, found], [found.T, R]]), "[Q, N; N', R]", method, False)
    return found


def _require_definite(matrix: np.ndarray, name: str, method: str, definite: bool) -> None:
    d = np.sqrt(np.abs(np.diag(matrix)))
    least = np.sqrt(np.finfo(float).tiny)
    d = np.where(d > least, d, max(d.max(initial=0.0), np.sqrt(np.abs(matrix).max(initial=0.0)), least))
    values, vectors = np.linalg.eigh(matrix / d / d[:, None])
    if (
        len(values)
        and values[0] <= (SINGULAR if definite else INDEFINITE * max(values[-1], 0.0))
        and (definite or values[0] < 0.0)
    ):
        x = vectors[:, 0] / d
        wanted = "positive definite" if definite else "positive semidefinite"
        raise InputError(
            f"{method}: found {name} with the eigenvalue {float(x @ matrix @ x / (x @ x)):.4g}; expected a {wanted} matrix"
        )
