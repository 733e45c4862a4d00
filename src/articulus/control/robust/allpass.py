"""Stable perturbations of constant size that take given complex values at one frequency."""

from __future__ import annotations

import numpy as np

from articulus.control.connect import series, side_by_side
from articulus.control.plant import of_matrices
from articulus.control.robust.blocks import BlockStructure
from articulus.linear import LinearModel


def interpolating(
    delta: np.ndarray, structure: BlockStructure, omega: float, period: float | None
) -> LinearModel:
    """Return Delta(s), stable, real-rational, of the structure and of the size of delta, with Delta(j omega) = delta.

    Real blocks stay constant; a number becomes an all-pass of first order; full blocks are taken as of rank one, their largest.

    Parameters
    ----------
    delta : complex array, (rows, columns)
    structure : BlockStructure
    omega : float [rad/s]
        Not zero, nor the Nyquist frequency, unless delta is real.
    period : float [s]
        None for a continuous perturbation.
    """
    parts, row, column = [], 0, 0
    for block in structure.blocks:
        inner = delta[row : row + block.rows, column : column + block.columns]
        row, column = row + block.rows, column + block.columns
        if block.real:
            parts.append(_gain(inner.real, period))
        elif block.repeated:
            parts.append(
                side_by_side(*(_number(complex(inner[0, 0]), omega, period) for _ in range(block.rows)))
            )
        else:
            parts.append(_rank_one(inner, omega, period))
    return side_by_side(*parts)


def _rank_one(matrix: np.ndarray, omega: float, period: float | None) -> LinearModel:
    U, s, Vh = np.linalg.svd(matrix)
    u, v = s[0] * U[:, 0], Vh[0]
    turn = np.exp(-1j * np.angle(v[np.argmax(np.abs(v))]))  # one entry of v becomes real: one all-pass less
    u, v = u / turn, v * turn
    into = [_number(complex(z), omega, period) for z in v]
    out = [_number(complex(z), omega, period) for z in u]
    first = series(side_by_side(*into), _gain(np.ones((1, len(v))), period))
    return series(series(first, _gain(np.ones((len(u), 1)), period)), side_by_side(*out))


def _number(z: complex, omega: float, period: float | None) -> LinearModel:
    """Return |z| times an all-pass with the phase of z at a frequency."""
    size, angle = abs(z), float(np.angle(z))
    if size == 0.0 or min(abs(angle), np.pi - abs(angle)) < 1e-12:
        return _gain(np.array([[z.real]]), period)
    sign, angle = (1.0, angle) if angle < 0 else (-1.0, angle - np.pi)
    place = omega if period is None else np.tan(0.5 * omega * period)
    a = place / np.tan(-0.5 * angle)  # (a - s) / (a + s) turns by -2 atan(place / a)
    if period is None:
        return of_matrices([[-a]], [[1.0]], [[sign * size * 2.0 * a]], [[-sign * size]])
    b = (a - 1.0) / (a + 1.0)  # (b z + 1) / (z + b)
    return of_matrices([[-b]], [[1.0]], [[sign * size * (1.0 - b * b)]], [[sign * size * b]], period)


def _gain(matrix: np.ndarray, period: float | None) -> LinearModel:
    return of_matrices(
        np.zeros((0, 0)), np.zeros((0, matrix.shape[1])), np.zeros((len(matrix), 0)), matrix, period
    )
