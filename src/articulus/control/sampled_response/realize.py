"""State-space models of sampled responses: the series of a response on the grid, and a model of given order that has it.

A causal response is a series in z^-1 (see `grid`), its coefficients are an impulse response; a model of low order is that of the
largest singular values of their Hankel matrix (Kung 1978; Gu, Khargonekar & Lee 1989 for responses of infinite order). Products with
the matrix are convolutions, and only the largest singular values are computed (Halko, Martinsson & Tropp 2011).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.fft
import scipy.linalg

from articulus.control.plant import of_matrices
from articulus.control.sampled_response.grid import FrequencyGrid
from articulus.control.sampling import continuous
from articulus.errors import InputError, doubtful
from articulus.linear import LinearModel
from articulus.numerics.streams import stream

REAL = 1e-6
"""Imaginary part of the coefficients of a series, over their size, up to which samples count as those of a real system."""
PRESENT = 1e-9
"""Singular value, over the largest coefficient, above which it counts as a pole if nobody says how many there are."""
SPARE = 10
"""Columns of the random sample beyond the order."""
NOTHING = 1e-14
"""Coefficients at the end of a series, over the largest, that are left off."""


def fit_response(values: Any, grid: FrequencyGrid, order: int, unstable: int = 0) -> LinearModel:
    """Return a continuous model with given numbers of stable and of unstable poles for a response on a grid.

    Parameters
    ----------
    values : array, (frequencies, p, m) or (frequencies,)
        Samples on `grid.omega`; those at negative frequencies are the conjugates.
    grid : FrequencyGrid
    order : int
        Number of stable poles.
    unstable : int
        Number of poles right of the imaginary axis; none can be on it.
    """
    samples = np.asarray(values, dtype=complex)
    samples = samples[:, None, None] if samples.ndim == 1 else samples
    most = grid.count // 4
    if samples.ndim != 3 or len(samples) != grid.count or not np.isfinite(samples).all():
        raise InputError(
            f"fit_response: found samples of shape {samples.shape}; expected {grid.count} finite ones, (frequencies, p, m)"
        )
    if not (0 <= order <= most and 0 <= unstable <= most):
        raise InputError(f"fit_response: found orders {order} and {unstable}; expected 0 to {most}")
    rest = unstable_part(samples, grid, unstable)
    c = _real_coefficients(samples - rest.response(grid.omega), grid)
    found = continuous(_realize(c[: grid.count // 2], order, grid))
    return of_matrices(
        scipy.linalg.block_diag(found.A, rest.A),
        np.vstack([found.B, rest.B]),
        np.hstack([found.C, rest.C]),
        found.D,
        name="fitted response",
    )


def unstable_part(values: np.ndarray, grid: FrequencyGrid, order: int | None = None) -> LinearModel:
    """Return the strictly proper model of the poles right of the imaginary axis of a response on a grid.

    Parameters
    ----------
    values : array, (frequencies, p, m) or (frequencies,)
    grid : FrequencyGrid
    order : int
        How many poles; if not given, as many as stand out of rounding. Of measured responses say how many.
    """
    values = np.asarray(values, dtype=complex)
    values = values[:, None, None] if values.ndim == 1 else values
    p, m = values.shape[1:]
    if order == 0:
        return of_matrices(np.zeros((0, 0)), np.zeros((0, m)), np.zeros((p, 0)), np.zeros((p, m)))
    # the terms of z^k are those of z^-k of the response at -s
    back = np.roll(_real_coefficients(values, grid)[::-1], 1, axis=0)[: grid.count // 2]
    mirrored = continuous(_realize(back, order, grid))
    return of_matrices(-mirrored.A, -mirrored.B, mirrored.C, np.zeros((p, m)), name="unstable part")


def _real_coefficients(values: np.ndarray, grid: FrequencyGrid) -> np.ndarray:
    c = grid.coefficients(values)
    size = np.abs(c).max(initial=0.0)
    if np.abs(c.imag).max(initial=0.0) > REAL * size:
        raise InputError(
            "sampled response: found samples that are not conjugate at negative frequencies; expected those of a real system"
        )
    return c.real


def _realize(c: np.ndarray, order: int | None, grid: FrequencyGrid) -> LinearModel:
    """Return the sampled model of given order for the impulse response c (time, p, m); the period is that of the grid's z."""
    p, m = c.shape[1:]
    sizes = np.abs(c[1:]).max(axis=(1, 2), initial=0.0)
    large = np.flatnonzero(sizes > NOTHING * max(sizes.max(initial=0.0), np.abs(c[0]).max(initial=0.0)))
    span = max(2 * SPARE, 2 * (order or 0), len(c) if not len(large) else int(large[-1]) + 2)
    half = min(len(c) // 2, (span + 1) // 2 + 1)
    U, s, Vt = _leading_singular_values(
        c[1 : 2 * half], half, SPARE + (2 * SPARE if order is None else order)
    )
    n = int(np.count_nonzero(s > PRESENT * sizes.max(initial=0.0))) if order is None else min(order, len(s))
    while True:
        root = np.sqrt(s[:n])
        seen, reached = U[:, :n] * root, root[:, None] * Vt[:n]
        A = np.linalg.lstsq(seen[:-p], seen[p:], rcond=None)[0] if n else np.zeros((0, 0))
        if np.abs(np.linalg.eigvals(A)).max(initial=0.0) < 1.0:
            break
        n -= 1  # the last ones are what the end of the series leaves
    if order is not None and n < order:
        doubtful(
            f"sampled response: found {n} poles that the samples show, for an order of {order}; expected a lower order, or a finer grid"
        )
    return of_matrices(A, reached[:, :m], seen[:p], c[0], 2.0 / grid.scale)


def _leading_singular_values(
    h: np.ndarray, half: int, count: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the largest singular values of the block Hankel matrix of h (2 half - 1, p, m), with vectors."""
    p, m = h.shape[1:]
    count = min(count, half * min(p, m))
    forward, transposed = _HankelProduct(h, half), _HankelProduct(h.swapaxes(1, 2), half)
    Q = np.linalg.qr(forward(stream(0).standard_normal((half * m, count))))[0]
    for _ in range(3):
        Q = np.linalg.qr(forward(np.linalg.qr(transposed(Q))[0]))[0]
    U, s, Vt = np.linalg.svd(transposed(Q).T, full_matrices=False)
    return Q @ U, s, Vt


class _HankelProduct:
    """Product with the block Hankel matrix h[i + j], i and j below `half`, by convolution."""

    def __init__(self, h: np.ndarray, half: int):
        self.half, self.p, self.m = half, h.shape[1], h.shape[2]
        self.length = scipy.fft.next_fast_len(len(h) + half)
        self.H = np.fft.rfft(h, n=self.length, axis=0)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        blocks = x.reshape(self.half, self.m, -1)[::-1]
        product = np.fft.irfft(self.H @ np.fft.rfft(blocks, n=self.length, axis=0), n=self.length, axis=0)
        return product[self.half - 1 : 2 * self.half - 1].reshape(self.half * self.p, -1)
