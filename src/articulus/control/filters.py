"""Filters and input shapers that keep vibration out of a loop: notch, roll-off, ZV, ZVD and EI shapers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from articulus.control.plant import of_matrices
from articulus.errors import InputError
from articulus.linear import LinearModel


def notch(frequency: float, depth: float = 0.1, width: float = 0.5) -> LinearModel:
    """Return a filter of gain one that lets `depth` of a frequency through: (s^2 + depth width w s + w^2) / (s^2 + width w s + w^2).

    Parameters
    ----------
    frequency : float [rad/s]
    depth, width : float [-]
        Gain at the frequency; distance of the frequencies at which the gain is about 0.7, over the frequency.
    """
    w = _positive("notch", frequency=frequency, width=width)[0]
    if not depth >= 0:
        raise InputError(f"notch: found depth {depth}; expected a number not below 0")
    return of_matrices(
        [[0.0, 1.0], [-w * w, -width * w]],
        [[0.0], [1.0]],
        [[0.0, (depth - 1.0) * width * w]],
        [[1.0]],
        name="notch",
    )


def rolloff(frequency: float, order: int = 2) -> LinearModel:
    """Return a Butterworth low-pass filter of gain one: -3 dB at the frequency [rad/s]."""
    w = _positive("rolloff", frequency=frequency)[0]
    if not 1 <= order <= 12:
        raise InputError(f"rolloff: found order {order}; expected 1 to 12")
    poles = w * np.exp(1j * np.pi * (2 * np.arange(order) + order + 1) / (2 * order))
    a = np.real(np.poly(poles))
    A = np.eye(order, k=1)
    A[-1] = -a[:0:-1]
    B, C = np.zeros((order, 1)), np.zeros((1, order))
    B[-1], C[0, 0] = 1.0, a[-1]
    return of_matrices(A, B, C, [[0.0]], name="rolloff")


@dataclass(frozen=True)
class Shaper:
    """Impulses with which a command is convolved so that a mode does not ring afterwards.

    Parameters
    ----------
    times : tuple of float [s]
        The first is zero.
    amplitudes : tuple of float
        Their sum is one.
    """

    times: tuple[float, ...]
    amplitudes: tuple[float, ...]

    @property
    def duration(self) -> float:
        """Time by which a command becomes longer [s]."""
        return self.times[-1]

    def shape(self, t: Any, command: Any, period: float | None = None, *, before: Any = None) -> np.ndarray:
        """Return the shaped command at the times of the given one.

        Parameters
        ----------
        t : array, (n,) [s]
        command : array, (n,) or (n, m)
            Linear between the times.
        period : float [s]
            Period of a digital controller: impulses are moved to its multiples, split between the two nearest.
        before : float or array, (m,)
            The command before t[0]: 0 for one that jumps from rest to its first value. The first value if not given.
        """
        t, y = np.asarray(t, dtype=float), np.asarray(command, dtype=float)
        columns = y.reshape(len(y), -1)
        try:
            earlier = np.broadcast_to(
                columns[0] if before is None else np.asarray(before, dtype=float), columns.shape[1:]
            )
        except ValueError:
            raise InputError(
                f"shaped: found before {before!r}; expected a number, or one for each of the {columns.shape[1]} columns of the command"
            ) from None
        out = np.zeros_like(columns)
        for delay, a in self._on_grid(period):
            for k in range(columns.shape[1]):
                out[:, k] += a * np.interp(t - delay, t, columns[:, k], left=earlier[k])
        return out.reshape(y.shape)

    def _on_grid(self, period: float | None) -> list[tuple[float, float]]:
        if period is None:
            return list(zip(self.times, self.amplitudes))
        split = []
        for t, a in zip(self.times, self.amplitudes):
            whole, part = divmod(t / period, 1.0)
            split += [(whole * period, a * (1 - part)), ((whole + 1) * period, a * part)]
        return split

    def residual(self, frequency: Any, damping: float = 0.0) -> np.ndarray:
        """Return the vibration that is left of a mode, over that of an impulse without shaping, at frequencies [rad/s]."""
        w = np.atleast_1d(np.asarray(frequency, dtype=float))[:, None]
        t, a = np.array(self.times), np.array(self.amplitudes)
        grown = a * np.exp(damping * w * (t - t[-1]))
        return np.abs((grown * np.exp(1j * w * np.sqrt(1 - damping**2) * t)).sum(axis=1))

    def __mul__(self, other: Shaper) -> Shaper:
        """Return both shapers one after another, for two modes."""
        pairs: dict[float, float] = {}
        for t, a in zip(self.times, self.amplitudes):
            for s, b in zip(other.times, other.amplitudes):
                pairs[t + s] = pairs.get(t + s, 0.0) + a * b
        times = tuple(sorted(pairs))
        return Shaper(times, tuple(pairs[t] for t in times))


def zv(frequency: float, damping: float = 0.0) -> Shaper:
    """Return the shaper of two impulses after which a mode (frequency [rad/s], damping ratio) is at rest (Singer & Seering 1990)."""
    half, k = _half(frequency, damping, "zv")
    return Shaper((0.0, half), (1 / (1 + k), k / (1 + k)))


def zvd(frequency: float, damping: float = 0.0) -> Shaper:
    """Return the shaper of three impulses: also the derivative of the residual by the frequency is zero (Singer & Seering 1990)."""
    return zv(frequency, damping) * zv(frequency, damping)


def ei(frequency: float, vibration: float = 0.05) -> Shaper:
    """Return the shaper that leaves up to `vibration` of an undamped mode, over the widest band of frequencies (Singhose and others 1994)."""
    half, _ = _half(frequency, 0.0, "ei")
    if not 0 <= vibration < 1:
        raise InputError(f"ei: found vibration {vibration}; expected a part between 0 and 1")
    outer = (1 + vibration) / 4
    return Shaper((0.0, half, 2 * half), (outer, 1 - 2 * outer, outer))


def _half(frequency: float, damping: float, method: str) -> tuple[float, float]:
    _positive(method, frequency=frequency)
    if not 0 <= damping < 1:
        raise InputError(f"{method}: found damping ratio {damping}; expected 0 to below 1")
    root = np.sqrt(1 - damping**2)
    return float(np.pi / (frequency * root)), float(np.exp(-damping * np.pi / root))


def _positive(method: str, **values: float) -> list[float]:
    for name, value in values.items():
        if not 0 < value < np.inf:
            raise InputError(f"{method}: found {name} {value}; expected a finite number above 0")
    return list(values.values())
