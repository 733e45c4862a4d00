"""Exact transfer function of a pinned beam under an end moment, not rational in s (Bennett 1989, eqs. 4.1, 4.2)."""

from __future__ import annotations

from typing import Any

import numpy as np


def pinned_beam(s: Any, place: float, length: float = 1.0, damping: float = 0.0) -> np.ndarray:
    """Return the deflection at `place` [m] for a unit moment at the right end, at complex frequencies s [1/s].

    y_tt - 2 damping y_tzz + y_zzzz = 0, pinned at both ends: units in which mass per length and EI are one. Every mode has the damping ratio
    `damping`. The value at s = 0 is the limit.
    """
    s = np.asarray(s, dtype=complex)
    x = place / length
    root = 1j * np.sqrt(1 - damping**2)
    first, second = ((sign * damping + root) * s * length**2 for sign in (-1.0, 1.0))
    with np.errstate(invalid="ignore", divide="ignore"):
        found = length**2 * (_ratio(np.sqrt(second), x) - _ratio(1j * np.sqrt(first), x)) / (first + second)
    static = place**3 / (6 * length) - place * length / 6
    return np.where(np.abs(s) * length**2 < 1e-6, static, found)


def _ratio(a: np.ndarray, x: float) -> np.ndarray:
    """Return sinh(a x) / sinh(a), also for large a."""
    a = np.where(a.real < 0, -a, a)
    return np.exp(a * (x - 1)) * (1 - np.exp(-2 * a * x)) / (1 - np.exp(-2 * a))
