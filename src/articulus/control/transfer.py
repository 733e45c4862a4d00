"""Transfer functions as state equations: fractions of polynomials in s (or z), and matrices of them, entry by entry.

Companion form. Entries of one input that have the same denominator share their states, or those of one output, whichever needs fewer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from articulus.errors import InputError

Fraction = tuple[np.ndarray, np.ndarray]
Matrices = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def is_coefficients(given: Any) -> bool:
    """Whether something is a plain list of numbers."""
    try:
        return isinstance(given, tuple | list | np.ndarray) and np.ndim(given) == 1
    except ValueError:  # rows of different lengths
        return False


def is_fraction(given: Any) -> bool:
    """Whether something is a pair (numerator, denominator): two lists of coefficients, not matrices."""
    return isinstance(given, tuple) and len(given) == 2 and all(map(is_coefficients, given))


def proper_fraction(
    num: Any, den: Any, where: str, hint: str = "a derivative needs a pole beside it, as s / (T s + 1)"
) -> Fraction:
    """Return the coefficients of a proper fraction in falling powers, the first of the denominator 1; raise InputError for others."""
    try:
        num, den = (np.trim_zeros(np.atleast_1d(np.asarray(x, dtype=float)), "f") for x in (num, den))
    except (TypeError, ValueError):
        raise InputError(
            f"{where}: found coefficients that are no real numbers; expected (numerator, denominator) in falling powers"
        ) from None
    if not len(den):
        raise InputError(f"{where}: found a denominator of zeros")
    if not (np.isfinite(num).all() and np.isfinite(den).all()):
        raise InputError(f"{where}: found coefficients that are not finite")
    if len(num) > len(den):
        raise InputError(
            f"{where}: found an improper transfer function, degrees {len(num) - 1} over {len(den) - 1}; expected a proper one: {hint}"
        )
    return np.append(np.zeros(len(den) - len(num)), num) / den[0], den / den[0]


def companion(num: np.ndarray, den: np.ndarray) -> Matrices:
    """Return (A, B, C, D) of rows of numerators (outputs, n + 1) over one denominator (n + 1,) that begins with 1; one input."""
    n = len(den) - 1
    num = np.atleast_2d(num)
    A = np.vstack([-den[1:], np.eye(n)[: n - 1]]) if n else np.zeros((0, 0))
    return A, np.eye(n, 1), num[:, 1:] - num[:, :1] * den[1:], num[:, :1]


def realize(entries: Sequence[Sequence[Fraction]]) -> Matrices:
    """Return (A, B, C, D) of a matrix of proper fractions, one row for each output."""
    by_column = _by_column(entries)
    turned = _by_column([list(row) for row in zip(*entries)])
    if len(turned[0]) >= len(by_column[0]):
        return by_column
    A, B, C, D = turned
    return A.T, C.T, B.T, D.T


def _by_column(entries: Sequence[Sequence[Fraction]]) -> Matrices:
    """Return a matrix of fractions with states for every input and every denominator."""
    rows, columns = len(entries), len(entries[0])
    A, B, C, D = np.zeros((0, 0)), np.zeros((0, columns)), np.zeros((rows, 0)), np.zeros((rows, columns))
    for j in range(columns):
        groups: dict[bytes, list[int]] = {}
        for i in range(rows):
            groups.setdefault(entries[i][j][1].tobytes(), []).append(i)
        for outputs in groups.values():
            num, den = np.array([entries[i][j][0] for i in outputs]), entries[outputs[0]][j][1]
            if not num[:, 1:].any() and not num[:, 0].any():
                continue
            if not (num - num[:, :1] * den).any():  # gains alone
                D[outputs, j] = num[:, 0]
                continue
            a, b, c, d = companion(num, den)
            n, k = len(A), len(a)
            A = np.block([[A, np.zeros((n, k))], [np.zeros((k, n)), a]])
            into, out = np.zeros((k, columns)), np.zeros((rows, k))
            into[:, j], out[outputs], D[outputs, j] = b[:, 0], c, d[:, 0]
            B, C = np.vstack([B, into]), np.hstack([C, out])
    return A, B, C, D
