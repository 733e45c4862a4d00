"""Numbers of modes: of a pair of complex modes those of one half, as real parameters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

REAL = 1e-9
"""Imaginary part of an eigenvalue, over its size, below which it is real."""


@dataclass(frozen=True, eq=False)
class ConjugateHalves:
    """Which modes stand for a pair: y = sum over modes of x_i c_i and, for pairs, its conjugate.

    Parameters
    ----------
    pair : array of bool, (m,)
    """

    pair: np.ndarray

    @property
    def share(self) -> np.ndarray:
        """How often the real part of each counts: 2 of a pair, else 1, (m,)."""
        return np.where(self.pair, 2.0, 1.0)

    def pack(self, z: np.ndarray, free: np.ndarray) -> np.ndarray:
        """Return the real parameters of numbers z (m, k): real parts, then imaginary parts of pairs, where they are free."""
        return np.concatenate([z.real[free], z.imag[free & self.pair[:, None]]])

    def unpack(self, x: np.ndarray, z: np.ndarray, free: np.ndarray) -> np.ndarray:
        """Return numbers like z with these real parameters."""
        both = free & self.pair[:, None]
        out = z.astype(complex)
        n = int(free.sum())
        out.real[free] = x[:n]
        out.imag[both] = x[n : n + int(both.sum())]
        return out

    def columns(self, by: np.ndarray, free: np.ndarray) -> np.ndarray:
        """Return derivatives of y by the real parameters, from those of the sum of x_i c_i by z, (rows, m, k)."""
        both = free & self.pair[:, None]
        real = (by.real * self.share[:, None])[:, free]
        return np.concatenate([real, -2 * by.imag[:, both]], axis=1)

    def of_function(self, by: np.ndarray, by_conjugate: np.ndarray, free: np.ndarray) -> np.ndarray:
        """Return complex derivatives of a function of z and its conjugates by the real parameters, (rows, parameters)."""
        both = free & self.pair[:, None]
        real = (by + np.where(self.pair[:, None], by_conjugate, 0.0))[:, free]
        return np.concatenate([real, 1j * (by - by_conjugate)[:, both]], axis=1)


def upper_half(values: np.ndarray) -> tuple[np.ndarray, ConjugateHalves]:
    """Return the places of real eigenvalues and of those above the real axis, and which are pairs."""
    size = np.maximum(np.abs(values), np.finfo(float).tiny)
    kept = np.flatnonzero(values.imag > -REAL * size)
    order = kept[np.argsort(np.abs(np.log(values[kept] + 0j)), kind="stable")]
    return order, ConjugateHalves(values[order].imag > REAL * size[order])
