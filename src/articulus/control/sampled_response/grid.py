"""Frequencies on which causal parts are a Fourier series: w = a tan(theta / 2) with theta uniform.

Stable transfer functions are series in z^-1 with z = (1 + s/a) / (1 - s/a); rational ones converge like a geometric series.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from articulus.errors import InputError


@dataclass(frozen=True)
class FrequencyGrid:
    """Frequencies for causal projections, from minus to plus infinity, without zero.

    Parameters
    ----------
    scale : float [rad/s]
        Half of the frequencies are below it in size.
    count : int
        An even number.
    """

    scale: float
    count: int = 4096

    def __post_init__(self) -> None:
        if not 0 < self.scale < np.inf or self.count < 8 or self.count % 2:
            raise InputError(
                f"frequency grid: found scale {self.scale}, count {self.count}; expected scale > 0 and an even count of 8 or more"
            )

    @cached_property
    def theta(self) -> np.ndarray:
        return 2 * np.pi * (np.arange(self.count) + 0.5) / self.count

    @cached_property
    def omega(self) -> np.ndarray:
        """Frequencies [rad/s], (count,); the second half is negative."""
        return self.scale * np.tan(0.5 * self.theta)

    def coefficients(self, values: np.ndarray) -> np.ndarray:
        """Return c_k of f = sum c_k z^-k from samples (count, ...), k from 0 to count - 1, where count - k stands for -k."""
        k = _powers(self.count)
        turn = np.exp(1j * np.pi * k / self.count)
        return np.fft.ifft(values, axis=0) * turn.reshape(-1, *[1] * (values.ndim - 1))

    def samples(self, coefficients: np.ndarray) -> np.ndarray:
        """Return samples (count, ...) from coefficients."""
        turn = np.exp(-1j * np.pi * _powers(self.count) / self.count)
        return np.fft.fft(coefficients * turn.reshape(-1, *[1] * (coefficients.ndim - 1)), axis=0)

    def causal(self, values: np.ndarray) -> np.ndarray:
        """Return the causal part {f}_+: the terms of z^-k, k > 0, and half of the constant."""
        c = self.coefficients(values)
        c[0] *= 0.5
        c[self.count // 2 :] = 0.0
        return self.samples(c)

    def strictly_causal(self, values: np.ndarray) -> np.ndarray:
        """Return the causal part of a function that vanishes at infinite frequency (z = -1): so do then both of its parts."""
        c = self.coefficients(values)
        c[self.count // 2 :] = 0.0
        signs = (-1.0) ** np.arange(1, self.count // 2)
        c[0] = -np.tensordot(signs, c[1 : self.count // 2], axes=1)
        return self.samples(c)

    def anticausal_share(self, values: np.ndarray, beside: np.ndarray | None = None) -> float:
        """Return the size of the terms of z^k, k > 0, over the size of all: zero for the response of something stable.

        The size may be that of other samples, `beside`, where that is larger: of a response that is only rounding beside them.
        """
        c = self.coefficients(values)
        size = max(
            float(np.linalg.norm(x)) for x in (c, values[:0] if beside is None else self.coefficients(beside))
        )
        return float(np.linalg.norm(c[self.count // 2 :])) / max(size, 1e-300)

    def at(self, values: np.ndarray, omega: np.ndarray) -> np.ndarray:
        """Return a causal function, given by samples (count, ...), at other frequencies (n,) [rad/s]."""
        c = self.coefficients(values)[: self.count // 2]
        s = 1j * np.atleast_1d(np.asarray(omega, dtype=float)) / self.scale
        back = (1 - s) / (1 + s)
        powers = back[:, None] ** np.arange(len(c))
        return np.tensordot(powers, c, axes=1)

    def integral(self, values: np.ndarray) -> complex:
        """Return the integral over all frequencies, over 2 pi, of samples (count,)."""
        weight = 0.5 * self.scale / np.cos(0.5 * self.theta) ** 2 * (2 * np.pi / self.count)
        return complex((values * weight).sum() / (2 * np.pi))


def _powers(count: int) -> np.ndarray:
    k = np.arange(count)
    return np.where(k < count // 2, k, k - count)
