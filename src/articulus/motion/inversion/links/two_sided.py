"""Bounded response of linear equations over all time, from minus to plus infinity, by the fast Fourier transform.

Right-hand sides are at rest at both ends of the grid, perhaps at different values: a smooth step between the two is answered by its
static part and by the response to its derivative, what remains is periodic.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import eigvals, null_space

from articulus.errors import InputError, NumericalError
from articulus.model.mechanism.numbers import as_array

SETTLED = 1e-4
"""Part of the largest response that may be left at the ends of the grid."""
NOISE = 1e-12
"""Part of the largest amplitude below which the tail of a spectrum is rounding, and is omitted."""
FAR = 1e9
"""Zeros larger than this times the median size count as infinite."""

Operator = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""(frequencies [rad/s] (F,), right-hand sides (F, m, k)) -> responses (F, p, k)."""


@dataclass(frozen=True, eq=False)
class TimeGrid:
    """Uniform times t [s], with a motion from `t0` to `t_end` inside."""

    t: np.ndarray
    t0: float
    t_end: float

    @cached_property
    def step(self) -> float:
        """Time between samples [s]."""
        return float((self.t[-1] - self.t[0]) / (len(self.t) - 1))

    @cached_property
    def w(self) -> np.ndarray:
        """Frequencies [rad/s] of the transform, zero first."""
        return 2 * np.pi * np.fft.rfftfreq(len(self.t), self.step)

    @cached_property
    def ramp(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """A smooth step from 0 at `t0` to 1 at `t_end`, and its first two derivatives."""
        span = self.t_end - self.t0
        s = np.clip((self.t - self.t0) / span, 0.0, 1.0)
        rate = np.poly1d([1.0, -4.0, 6.0, -4.0, 1.0, 0.0, 0.0, 0.0, 0.0]) * 630.0  # s^4 (1 - s)^4 / B(5, 5)
        return np.polyint(rate)(s), rate(s) / span, np.polyder(rate)(s) / span**2


def uniform(t: object, what: str) -> np.ndarray:
    """Return times as an array; raise InputError unless they ascend by equal steps."""
    times = as_array(f"{what}: t", t)
    if times.ndim != 1 or len(times) < 16:
        raise InputError(f"{what}: t has shape {times.shape}; expected at least 16 times, (N,)")
    steps = np.diff(times)
    if not (steps > 0).all() or np.ptp(steps) > 1e-6 * steps.mean():
        raise InputError(
            f"{what}: t has steps from {steps.min():.6g} to {steps.max():.6g} s; expected equal positive ones"
        )
    return times


def respond(
    grid: TimeGrid, operator: Operator, force: np.ndarray, highest: float = np.inf
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the bounded response to `force` (N, m) and its first two derivatives, (N, p) each; frequencies up to `highest` [rad/s]."""
    n = len(grid.t)
    first, change = force[0], force[-1] - force[0]
    sigma, rate, _ = grid.ramp
    rest, step = np.fft.rfft(force - first - np.outer(sigma, change), axis=0), np.fft.rfft(rate)
    used = min(_band(rest, np.outer(step, change)), max(2, int(np.searchsorted(grid.w, highest))))
    w, rest, step = grid.w[:used], rest[:used], step[:used]
    still = np.broadcast_to(np.stack([change, first], axis=1), (used, len(first), 2))
    found = operator(w, np.concatenate([rest[:, :, None], still], axis=2))
    lasting = found[0, :, 1].real
    moving = np.zeros((used, found.shape[1]), dtype=complex)
    moving[1:] = (found[1:, :, 1] - lasting) / (1j * w[1:, None])
    moving[0] = moving[1].real
    whole = found[:, :, 0] + moving * step[:, None]
    out = [np.fft.irfft((1j * w[:, None]) ** k * whole, n, axis=0) for k in range(3)]
    x, xd, xdd = (held + np.outer(course, lasting) for held, course in zip(out, grid.ramp))
    return x + found[0, :, 2].real, xd, xdd


def _band(*spectra: np.ndarray) -> int:
    """Return how many frequencies hold more than rounding."""
    used = 2
    for spectrum in spectra:
        size = np.abs(spectrum).max()
        above = np.flatnonzero((np.abs(spectrum) > NOISE * size).any(axis=1))
        used = max(used, int(above[-1]) + 1 if len(above) else 0)
    return used


def left_at_the_ends(x: np.ndarray, xd: np.ndarray, step: float) -> float:
    """Return how far a response is from rest at the ends of the grid, over the largest change: 0 is settled."""
    size = np.ptp(x, axis=0).max()
    if size == 0.0:
        return 0.0
    edge = max(2, len(x) // 100)
    drift = max(np.ptp(x[:edge], axis=0).max(), np.ptp(x[-edge:], axis=0).max())
    return float(drift / size)


def require_settled(left: float, grid: TimeGrid, zeros: np.ndarray, what: str) -> None:
    """Raise NumericalError when a response has not died away at the ends of the grid."""
    if left <= SETTLED:
        return
    slow = np.abs(zeros.real).min() if len(zeros) else 0.0
    if len(zeros) and slow < 1e-9 * np.abs(zeros).max():
        at = zeros[np.argmin(np.abs(zeros.real))]
        raise NumericalError(
            f"{what}: zero s = {at:.6g} 1/s lies on the imaginary axis: the inverse oscillates forever "
            "(the tip can be at rest while the arm vibrates). Add damping, an actuator, or move the tip frame"
        )
    need = (
        f"about {np.log(1 / SETTLED) / slow:.3g} s before and after the motion" if slow > 0 else "more time"
    )
    raise NumericalError(
        f"{what}: the response has not died away at the ends of the grid ({left:.2g} of its size is left, expected at most "
        f"{SETTLED:g}); the slowest zero has |Re s| = {slow:.4g} 1/s and needs {need}; the grid has "
        f"{grid.t0 - grid.t[0]:.3g} s before and {grid.t[-1] - grid.t_end:.3g} s after"
    )


def zeros_of(M: np.ndarray, D: np.ndarray, K: np.ndarray, B: np.ndarray, C: np.ndarray) -> np.ndarray:
    """Return the finite zeros s [1/s] from inputs B (n, m) to positions C (m, n) of M z'' + D z' + K z = B u, by |Re s|."""
    left, right = null_space(B.T).T, null_space(C)
    m, d, k = (left @ X @ right for X in (M, D, K))
    return quadratic_roots(m, d, k)


def quadratic_roots(m: np.ndarray, d: np.ndarray, k: np.ndarray) -> np.ndarray:
    """Return the finite s with det(m s^2 + d s + k) = 0, those nearest to the imaginary axis first."""
    n = len(m)
    if n == 0:
        return np.zeros(0, dtype=complex)
    one, none = np.eye(n), np.zeros((n, n))
    found = eigvals(np.block([[none, one], [-k, -d]]), np.block([[one, none], [none, m]]))
    found = found[np.isfinite(found)]
    found = found[np.abs(found) < FAR * np.median(np.abs(found))]
    return found[np.argsort(np.abs(found.real))]
