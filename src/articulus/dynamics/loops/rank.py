"""Whether a matrix of closures can be solved with, asked of numbers at one position."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from articulus.errors import InputError, NumericalError

DEPENDENT = 1e-10
"""Share of the largest singular value, rows and columns scaled alike, below which one counts as zero."""


def require_full_rank(matrix: np.ndarray, names: Sequence[str], meaning: str, remedy: str) -> None:
    """Raise NumericalError unless a square matrix is regular.

    Parameters
    ----------
    matrix : array, (m, m)
        For example `operator_form.mobility` at a position.
    names : sequence of str, (m,)
        What each row stands for; the message lists those that take part in the defect.
    meaning, remedy : str
        What a defect means here, and what to do about it.
    """
    W = np.asarray(matrix, dtype=float)
    if W.shape != (len(names), len(names)):
        raise InputError(
            f"matrix of shape {W.shape} for {len(names)} names; expected a square one of that size"
        )
    left, values = _singular_values(W)
    dependent = left[:, values <= DEPENDENT]
    if dependent.shape[1]:
        taking_part = [n for n, share in zip(names, np.abs(dependent).max(axis=1)) if share > 1e-6]
        raise NumericalError(
            f"rank {len(names) - dependent.shape[1]} of {len(names)} rows: {meaning}; "
            f"the rows concerned: {', '.join(dict.fromkeys(taking_part))}. {remedy}"
        )


def _singular_values(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the left singular vectors and the values over the largest, after scaling to rows and columns of size 1."""
    W = np.asarray(matrix, dtype=float)
    rows = np.sqrt(np.abs(W).max(axis=1, initial=0.0))
    columns = np.sqrt(np.abs(W).max(axis=0, initial=0.0))
    left, values, _ = np.linalg.svd(W / np.outer(_or_one(rows), _or_one(columns)))
    return left, values / _or_one(values.max(initial=0.0))


def _or_one(x: np.ndarray) -> np.ndarray:
    return np.where(x > 0, x, 1.0)
