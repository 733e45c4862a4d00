"""State-space form of a product of first- and second-order factors, in which uncertain coefficients enter separately."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from articulus.errors import InputError


def cascade(
    factors: Sequence[tuple[Sequence[Any], Sequence[Any]]], gain: float = 1.0
) -> tuple[np.ndarray, ...]:
    """Return (A, B, C, D) of a product of transfer functions, one after another (Belcastro, Chang & Fischl 1989, eqs. 8-21).

    Every factor is realized in controllable form by itself, so that a coefficient of a factor appears in no other: the form for
    `uncertain`, which finds fewer repetitions of a parameter than in the form of the multiplied polynomials.

    Parameters
    ----------
    factors : sequence of (numerator, denominator)
        Coefficients by falling powers of s; denominators of degree 1 or higher begin with 1.
    gain : float
    """
    A, B, C, D = np.zeros((0, 0)), np.zeros((0, 1)), np.zeros((1, 0)), np.array([[float(gain)]])
    for numerator, denominator in factors:
        a, b, c, d = _factor(numerator, denominator)
        A = np.block([[A, np.zeros((len(A), len(a)))], [b @ C, a]])
        B = np.vstack([B, b @ D])
        C, D = np.hstack([d @ C, c]), d @ D
    return A, B, C, D


def _factor(numerator: Sequence[Any], denominator: Sequence[Any]) -> tuple[np.ndarray, ...]:
    den = np.atleast_1d(np.asarray(denominator, dtype=float))
    num = np.atleast_1d(np.asarray(numerator, dtype=float))
    n = len(den) - 1
    if den[0] != 1.0 or len(num) > n + 1:
        raise InputError(
            f"cascade: found the factor {num.tolist()} / {den.tolist()}; expected a denominator that begins with 1 and a "
            "numerator of no higher degree"
        )
    num = np.concatenate([np.zeros(n + 1 - len(num)), num])
    a = np.eye(n, k=1)
    if n:
        a[-1] = -den[:0:-1]
    c = (num[1:] - num[0] * den[1:])[::-1]
    return a, np.eye(n)[:, -1:].reshape(n, 1), c[None], num[:1, None]
