"""`Piecewise`: polynomials in time between breakpoints, on arrays and on symbols; what targets, forces and gains of motions are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from articulus.kernel.lookup import interval, looked_up


@dataclass(frozen=True, eq=False)
class Piecewise:
    """A row of numbers over time: a polynomial in each interval, constant before the first breakpoint and after the last.

    Parameters
    ----------
    breaks : array, (k + 1,) [s]
        Ascending.
    coefficients : array, (k, degree + 1, n)
        Lowest power first, of the time since the start of the interval over the length of the interval.
    """

    breaks: np.ndarray
    coefficients: np.ndarray

    @staticmethod
    def linear(t: np.ndarray, y: np.ndarray) -> Piecewise:
        """Return straight lines through the rows of y, (k + 1, n)."""
        return Piecewise(t, np.stack([y[:-1], np.diff(y, axis=0)], 1))

    @staticmethod
    def cubic(
        t: np.ndarray, y: np.ndarray, slope: np.ndarray, slope_before: np.ndarray | None = None
    ) -> Piecewise:
        """Return cubics with given values and slopes.

        Parameters
        ----------
        t : array, (k + 1,)
        y : array, (k + 1, n)
        slope, slope_before : array, (k + 1, n)
            After and before each time, where they jump; the same if not given.
        """
        h = np.diff(t)[:, None]
        before = slope if slope_before is None else slope_before
        d0, d1, jump = h * slope[:-1], h * before[1:], np.diff(y, axis=0)
        return Piecewise(t, np.stack([y[:-1], d0, 3 * jump - 2 * d0 - d1, d0 + d1 - 2 * jump], 1))

    @staticmethod
    def quintic(
        t: np.ndarray,
        y: np.ndarray,
        slope: np.ndarray,
        bend: np.ndarray,
        bend_before: np.ndarray | None = None,
    ) -> Piecewise:
        """Return polynomials of degree five with given values, slopes and second derivatives.

        Parameters
        ----------
        t : array, (k + 1,)
        y, slope : array, (k + 1, n)
        bend, bend_before : array, (k + 1, n)
            Second derivatives after and before each time, where they jump; the same if not given.
        """
        h = np.diff(t)[:, None]
        d0, d1 = h * slope[:-1], h * slope[1:]
        before = bend if bend_before is None else bend_before
        b0, b1, jump = h**2 * bend[:-1] / 2, h**2 * before[1:] / 2, np.diff(y, axis=0)
        rest, rate, second = jump - d0 - b0, d1 - d0 - 2 * b0, b1 - b0
        powers = (
            10 * rest - 4 * rate + second,
            -15 * rest + 7 * rate - 2 * second,
            6 * rest - 3 * rate + second,
        )
        return Piecewise(t, np.stack([y[:-1], d0, b0, *powers], 1))

    @staticmethod
    def through(breaks: np.ndarray, places: np.ndarray, values: np.ndarray) -> Piecewise:
        """Return the polynomials with given values at places in every interval.

        Parameters
        ----------
        breaks : array, (k + 1,)
        places : array, (p,)
            From 0 to 1 within an interval.
        values : array, (k, p, n)
        """
        powers = np.linalg.inv(np.vander(places, increasing=True))
        return Piecewise(breaks, np.einsum("ap,kpn->kan", powers, values))

    @property
    def width(self) -> int:
        """Numbers in the row."""
        return self.coefficients.shape[2]

    def __call__(self, t: Any, derivative: int = 0) -> np.ndarray:
        """Return rows at times, (..., n), or a derivative of them; at a breakpoint that of the interval after it."""
        t = np.clip(np.asarray(t, dtype=float), self.breaks[0], self.breaks[-1])
        k = np.clip(np.searchsorted(self.breaks, t, side="right") - 1, 0, len(self.coefficients) - 1)
        h = np.diff(self.breaks)[k]
        s, out = ((t - self.breaks[k]) / h)[..., None], np.zeros(())
        for power in reversed(range(derivative, self.coefficients.shape[1])):
            factor = float(np.prod(np.arange(power - derivative + 1, power + 1)))
            out = out * s + factor * self.coefficients[k, power]
        return np.broadcast_to(out / h[..., None] ** derivative, (*t.shape, self.width))

    def shift(self, later: float) -> Piecewise:
        """Return the same, later by a time [s]."""
        return Piecewise(self.breaks + later, self.coefficients)

    def columns(self, which: Any) -> Piecewise:
        """Return some of the numbers."""
        return Piecewise(self.breaks, self.coefficients[:, :, which])

    def at(self, t: SX) -> SX:
        """Return the row at a symbol of time, (n,)."""
        start, h = self.breaks[:-1], np.diff(self.breaks)
        degrees, n = self.coefficients.shape[1:]
        clock = ca.fmin(ca.fmax(t, self.breaks[0]), self.breaks[-1])
        rows = np.column_stack([start, 1 / h, self.coefficients.reshape(len(h), -1)])
        found = looked_up(rows, interval(start, clock))
        s, total = (clock - found[0]) * found[1], SX.zeros(n)
        for power in reversed(range(degrees)):
            total = total * s + found[2 + power * n : 2 + (power + 1) * n]
        return total

    def function(self, after: np.ndarray | None = None) -> ca.Function:
        """Return the row as a function of time.

        Parameters
        ----------
        after : array, (n,)
            After the last breakpoint, in place of the last values.
        """
        t = SX.sym("t")
        row = self.at(t)
        if after is not None:
            row = ca.if_else(t > self.breaks[-1], SX(ca.DM(np.asarray(after, dtype=float))), row)
        return ca.Function("course", [t], [row])
