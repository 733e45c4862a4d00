"""The motion left free in a plant whose outputs are prescribed: internal dynamics, by the structure algorithm of Silverman.

Outputs that no input reaches at once fix some states; these are taken out by orthogonal transformations, and their rates become
outputs, until the feedthrough has full row rank (as in `control.tzero`). What was taken out is known: it is a sum of derivatives
of the desired motion; of a sampled plant a sum of its later values.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from articulus.control.analysis.scaling import scales
from articulus.control.analysis.zeros import TOLERANCE, row_basis
from articulus.errors import InputError

Known = np.ndarray
"""Coefficients (orders, rows, outputs) of a known signal: the sum over k of coefficient k times derivative (or shift) k."""


@dataclass(frozen=True, eq=False)
class InternalDynamics:
    """z' = A z + f, x = V z + x_f, u = -(E z + e): the internal dynamics of an inverse; f, x_f and e are known signals.

    For a sampled plant z' is the next z. Eigenvalues of A are the zeros of the plant; of a plant with more inputs than outputs,
    where the inputs of least size are sought, or with fewer, where the errors are, also their mirror images.
    """

    A: np.ndarray
    f: Known
    V: np.ndarray
    x_f: Known
    E: np.ndarray
    e: Known

    @property
    def degree(self) -> int:
        """Highest derivative (or shift) of the desired motion that is used."""
        return max(len(self.f), len(self.x_f), len(self.e)) - 1


def known_signal(signal: Known, derivatives: np.ndarray) -> np.ndarray:
    """Return a known signal over time, (N, rows), from the desired motion with its derivatives (or shifts), (orders, N, outputs)."""
    return np.einsum("krp,knp->nr", signal, derivatives[: len(signal)])


def square(A: np.ndarray, B: np.ndarray, C: np.ndarray, D: np.ndarray) -> InternalDynamics:
    """Return the internal dynamics of a plant with as many inputs as outputs."""
    p = len(C)
    return _eliminate(
        *_free(
            A,
            B,
            C,
            D,
            np.zeros((1, len(A), p)),
            -np.eye(p)[None],
        )
    )


def least_inputs(A: np.ndarray, B: np.ndarray, C: np.ndarray, D: np.ndarray) -> InternalDynamics:
    """Return those of a continuous plant with more inputs than outputs, whose inputs have the least integral of u'u.

    Inputs that do not show in the outputs, N w, are chosen by the minimum principle: p' = -dH/dz, dH/dw = 0.
    """
    p = len(C)
    A, B, C, D, f, g, V, x_f = _free(A, B, C, D, np.zeros((1, len(A), p)), -np.eye(p)[None])
    inverse, N = np.linalg.pinv(D), scipy.linalg.null_space(D)
    E, e = inverse @ C, inverse @ g
    A, f, free = A - B @ E, _plus(f, -B @ e), B @ N
    n = len(A)
    whole = np.block([[A, -free @ free.T], [-E.T @ E, -A.T]])
    force = _stack(f, -E.T @ e)
    return InternalDynamics(
        whole,
        force,
        np.hstack([V, np.zeros((len(V), n))]),
        x_f,
        np.hstack([E, N @ free.T]),
        e,
    )


def least_errors(A: np.ndarray, B: np.ndarray, C: np.ndarray, D: np.ndarray) -> InternalDynamics:
    """Return those of a continuous plant with fewer inputs than outputs, whose errors have the least integral of (y - y_d)'(y - y_d).

    The inputs make the adjoint output B' p + D' (y_d - y) zero, where p' = -A' p - C' (y_d - y).
    """
    n, p = len(A), len(C)
    whole = np.block([[A, np.zeros((n, n))], [C.T @ C, -A.T]])
    into = np.vstack([B, C.T @ D])
    out, through = np.hstack([-D.T @ C, B.T]), -D.T @ D
    force = np.vstack([np.zeros((n, p)), -C.T])[None]
    found = _eliminate(*_free(whole, into, out, through, force, D.T[None]))
    return InternalDynamics(found.A, found.f, found.V[:n], found.x_f[:, :n], found.E, found.e)


def _eliminate(
    A: np.ndarray,
    B: np.ndarray,
    C: np.ndarray,
    D: np.ndarray,
    f: Known,
    g: Known,
    V: np.ndarray,
    x_f: Known,
) -> InternalDynamics:
    E, e = np.linalg.solve(D, C), np.linalg.solve(D, g)
    return InternalDynamics(A - B @ E, _plus(f, -B @ e), V, x_f, E, e)


def _free(
    A: np.ndarray, B: np.ndarray, C: np.ndarray, D: np.ndarray, f: Known, g: Known
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, Known, Known, np.ndarray, Known]:
    """Return x' = A x + B u + f, 0 = C x + D u + g for the states left, with D of full row rank, and x = V z + x_f."""
    d = scales(A, B, C)
    A, B, C, f = A * d / d[:, None], B / d[:, None], C * d, f / d[:, None]
    size = (float(np.linalg.norm(A, 2)) if len(A) else 0.0) or 1.0
    rows = np.linalg.norm(np.hstack([C, D]), axis=1) / size
    rows[rows == 0] = 1.0
    C, D, g = C / rows[:, None], D / rows[:, None], g / rows[:, None]
    columns = np.linalg.norm(np.vstack([B, D]), axis=0) / size
    columns[columns == 0] = 1.0
    least = TOLERANCE * max(float(np.linalg.norm(np.block([[A, B / columns], [C, D / columns]]), 2)), 1e-300)
    V, x_f = np.diag(d), np.zeros((1, len(A), f.shape[2]))
    while True:
        U, rank = row_basis(D / columns, least)
        C, D, g = U.T @ C, U.T @ D, U.T @ g
        silent, hidden = C[rank:], g[:, rank:]
        C, D, g = C[:rank], D[:rank], g[:, :rank]
        if not len(silent):
            return A, B, C, D, f, g, V, x_f
        T, seen = row_basis(silent.T, least)
        if seen < len(silent):
            raise InputError(
                f"found outputs that the inputs do not move independently (rank {rank + seen} of {rank + len(silent)})"
            )
        forced, free = T[:, :seen], T[:, seen:]
        value = -np.linalg.solve(silent @ forced, hidden)
        x_f = _plus(x_f, V @ forced @ value)
        rate = forced.T @ A
        g = _stack(
            _plus(g, C @ forced @ value), _plus(_plus(forced.T @ f, rate @ forced @ value), -_later(value))
        )
        C, D = np.vstack([C @ free, rate @ free]), np.vstack([D, forced.T @ B])
        f = _plus(free.T @ f, free.T @ A @ forced @ value)
        A, B, V = free.T @ A @ free, free.T @ B, V @ free


def _later(signal: Known) -> Known:
    """Return the derivative (or the next value) of a known signal."""
    return np.concatenate([np.zeros_like(signal[:1]), signal])


def _plus(a: Known, b: Known) -> Known:
    n = max(len(a), len(b))
    total = np.zeros((n, *a.shape[1:]))
    total[: len(a)] += a
    total[: len(b)] += b
    while len(total) > 1 and not total[-1].any():
        total = total[:-1]
    return total


def _stack(a: Known, b: Known) -> Known:
    n = max(len(a), len(b))
    total = np.zeros((n, a.shape[1] + b.shape[1], a.shape[2]))
    total[: len(a), : a.shape[1]] = a
    total[: len(b), a.shape[1] :] = b
    return total
