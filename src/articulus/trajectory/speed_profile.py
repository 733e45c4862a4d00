"""The fastest squared speed along paths within lines of limits at the points of a grid; both passes native over all paths.

With x = s'^2 and u = s'' = x' / 2, a limit at a point is p + k x <= u <= P + k x. Within an interval u is linear, x_1 = x_0 + h (u_0 + u_1), and
the limits hold for u_0 at its start and for u_1 at its end: second order, where a constant u within both limits is first order. Near
zero-inertia points, where the coefficient of u changes its sign, k h is large and such a rule rings: a row with |k| h above a half limits
the mean u at that end where its line damps (end for k < 0, start for k > 0), and where k changes its sign within the interval the row limits
x at both ends by what it allows there. Every rule is monotonic in the speeds, so that the largest speed from which the end can be reached is
found backwards in one pass (Pham & Pham 2018), and taking the largest reachable one forwards is the fastest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from articulus import kernel
from articulus.kernel import NEVER

FAR = 1e12
"""Stands for no limit: of a squared speed, or of an acceleration along the path, in lengths of the path."""
FLAT = 1e-12
"""Coefficient of u over the largest of its row's, below which a row limits the speed alone."""
STIFF = 0.95
"""Slope of a line, times the interval, from which on a row limits the mean of u."""


@dataclass(frozen=True, eq=False)
class Profiles:
    """Lines of limits at the points, the speeds between which each point can be passed, and both passes.

    Parameters
    ----------
    lines : array, (paths, points, 3 n)
        p, P and k of every row.
    low, high : array, (paths, points) [1/s^2]
        Squared speeds that the limits at the point allow.
    h : array, (points - 1,) or (paths, points - 1)
        Intervals.
    """

    lines: np.ndarray
    low: np.ndarray
    high: np.ndarray
    h: np.ndarray

    @property
    def rows(self) -> int:
        """Number of rows at a point."""
        return self.lines.shape[-1] // 3

    def reachable(self, last: np.ndarray) -> np.ndarray:
        """Return the intervals of squared speeds from which the squared speeds `last` at the end can be reached, (paths, points, 2)."""
        paths, count = len(self.lines), self.h.shape[-1]
        w = np.empty((paths, count, 3 * self.rows + 3))
        w[..., :-3] = self.lines[:, -2::-1]
        w[..., -3], w[..., -2], w[..., -1] = self.h[..., ::-1], self.low[:, -2::-1], self.high[:, -2::-1]
        state = np.concatenate([last[:, None], last[:, None], self.lines[:, -1]], axis=1)
        log = np.empty((paths, count, 2))
        _backward_map(self.rows).on(state, np.zeros(0), w, np.full(paths, NEVER), log)(0, count)
        return np.concatenate([state[:, None, :2], log[:, ::-1]], axis=1)

    def run(self, first: np.ndarray, sets: np.ndarray, fast: bool = True) -> tuple[np.ndarray, np.ndarray]:
        """Return squared speeds (paths, points) of the fastest or slowest run, and u at both ends of the intervals, (paths, points - 1, 2)."""
        paths, count = len(self.lines), self.h.shape[-1]
        w = np.empty((paths, count, 3 * self.rows + 3))
        w[..., :-3] = self.lines[:, 1:]
        w[..., -3], w[..., -2:] = self.h, sets[:, 1:]
        zero = np.zeros((paths, 2))
        state = np.concatenate([first[:, None], zero, self.lines[:, 0]], axis=1)
        log = np.empty((paths, count, 3))
        _forward_map(self.rows).on(state, np.array([float(fast)]), w, np.full(paths, NEVER), log)(0, count)
        every = np.concatenate([log, state[:, None, :3]], axis=1)
        return every[..., 0], every[:, 1:, 1:]


def profiles(a: Any, b: Any, low: Any, high: Any, top: np.ndarray, h: np.ndarray) -> Profiles:
    """Return the lines of rows a u + b x in [low, high], (paths, points, n) each, with squared speeds of at most `top`, (paths, points)."""
    p, P, slope, least, most = _lines(a.shape[-1])(a, b, low, high)
    return Profiles(
        np.concatenate([p, P, slope], axis=-1), np.maximum(least, 0.0), np.minimum(most, top), h
    )


def _lines(n: int) -> Any:
    """Return the native function from rows a u + b x in [l, h] to lines p + slope x <= u <= P + slope x and bounds of x alone."""

    def build() -> ca.Function:
        a, b, low, high = (SX.sym(name, n) for name in "ablh")
        flat = ca.fabs(a) <= FLAT * (ca.fabs(a) + ca.fabs(b))
        safe = ca.if_else(flat, 1.0, a)
        ends = low / safe, high / safe
        p = ca.if_else(flat, -FAR, ca.fmin(*ends))
        P = ca.if_else(flat, FAR, ca.fmax(*ends))
        slope = ca.if_else(flat, 0.0, -b / safe)
        least, most = SX(-FAR), SX(FAR)
        for k in range(n):  # rows without u
            level = flat[k] * (ca.fabs(b[k]) > 0)
            pair = low[k] / ca.if_else(b[k] == 0, 1.0, b[k]), high[k] / ca.if_else(b[k] == 0, 1.0, b[k])
            least = ca.fmax(least, ca.if_else(level, ca.fmin(*pair), -FAR))
            most = ca.fmin(most, ca.if_else(level, ca.fmax(*pair), FAR))
            nothing = flat[k] * (b[k] == 0) * ((low[k] > 0) + (high[k] < 0))
            most = ca.if_else(nothing, -FAR, most)
        for i in range(n):
            for j in range(n):
                if i != j:
                    low_x, high_x = _bound(slope[i] - slope[j], P[j] - p[i])
                    least, most = ca.fmax(least, low_x), ca.fmin(most, high_x)
        return ca.Function("lines", [a, b, low, high], [p, P, slope, least, most])

    return kernel.cached(
        f"path speed lines 2 {n}", build, finite=False, ranks=lambda: ((1, 1, 1, 1), (1, 1, 1, 0, 0))
    )


def _bound(factor: SX, right: SX) -> tuple[SX, SX]:
    """Return the bounds of x that factor x <= right means."""
    level = factor == 0
    value = right / ca.if_else(level, 1.0, factor)
    value = ca.fmin(ca.fmax(value, -FAR), FAR)
    low = ca.if_else(factor < 0, value, ca.if_else(level * (right < 0), FAR, -FAR))
    high = ca.if_else(factor > 0, value, FAR)
    return low, high


@dataclass(frozen=True, eq=False)
class _Row:
    """One row over an interval: p, P and slope at its start and its end."""

    start: tuple[SX, SX, SX]
    end: tuple[SX, SX, SX]
    h: SX

    @property
    def stiff(self) -> SX:
        return self.h * ca.fmax(ca.fabs(self.start[2]), ca.fabs(self.end[2])) > STIFF

    @property
    def crosses(self) -> SX:
        return self.stiff * (self.start[2] * self.end[2] < 0)

    def crossing(self, at_end: bool) -> SX:
        """Return the squared speed at an end that the row allows if it crosses.

        Where its slope falls (k > 0 before, k < 0 after) the run may follow the row through the zero: u is then what joins the two ends. Where
        it rises, u is taken as zero.
        """
        (p, P, before), (q, Q, after) = self.start, self.end
        falls = self.crosses * (before > 0)
        first, last = ca.if_else(before < 0, P, p), ca.if_else(after < 0, Q, q)
        one, two = 1 / ca.if_else(before == 0, 1.0, before), 1 / ca.if_else(after == 0, 1.0, after)
        u = ca.if_else(falls, (last * two - first * one) / ca.if_else(falls, two - one - 2 * self.h, 1.0), 0.0)
        return ca.if_else(self.crosses, (u - last) * two if at_end else (u - first) * one, FAR)

    def at(self, x: SX, at_end: bool) -> tuple[SX, SX]:
        """Return least and largest u at an end of the interval."""
        p, P, slope = self.end if at_end else self.start
        return ca.if_else(self.stiff, -FAR, p + slope * x), ca.if_else(self.stiff, FAR, P + slope * x)

    def mean(self, upper: bool) -> tuple[SX, SX, SX]:
        """Return level and slopes by x at the start and at the end, of the line for the mean of u."""
        side = 1 if upper else 0
        none = FAR if upper else -FAR
        early = self.stiff * (self.start[2] > 0)
        late = self.stiff * (self.end[2] < 0)
        level = ca.if_else(early, self.start[side], ca.if_else(late, self.end[side], none))
        level = ca.if_else(self.crosses, none, level)
        holds = ca.logic_not(self.crosses)
        late = late * ca.logic_not(early)
        return level, early * holds * self.start[2], late * holds * self.end[2]

    def before(self, x: SX, other: SX, upper: bool) -> SX:
        """Return the x at the start for which the line is met with x at the end and with u `other` there, if the row is not stiff."""
        level, early, late = self.mean(upper)
        p = self.start[1 if upper else 0]
        top = ca.if_else(self.stiff, x * (1 - 2 * self.h * late) - 2 * self.h * level, x - self.h * (other + p))
        return top / ca.if_else(self.stiff, 1 + 2 * self.h * early, 1 + self.h * self.start[2])

    def after(self, x: SX, other: SX, upper: bool) -> SX:
        """Return the x at the end for which the line is met with x at the start and u `other` there, if the row is not stiff."""
        level, early, late = self.mean(upper)
        p = self.end[1 if upper else 0]
        top = ca.if_else(self.stiff, x * (1 + 2 * self.h * early) + 2 * self.h * level, x + self.h * (other + p))
        return top / ca.if_else(self.stiff, 1 - 2 * self.h * late, 1 - self.h * self.end[2])


def _rows(n: int, start: SX, end: SX, h: SX) -> list[_Row]:
    split = [[line[k * n : (k + 1) * n] for k in range(3)] for line in (start, end)]
    ends = [[(p[r], P[r], k[r]) for r in range(n)] for p, P, k in split]
    return [_Row(a, b, h) for a, b in zip(*ends)]


def _extremes(rows: Sequence[_Row], x: SX, at_end: bool) -> tuple[SX, SX]:
    low, high = SX(-FAR), SX(FAR)
    for row in rows:
        least, most = row.at(x, at_end)
        low, high = ca.fmax(low, least), ca.fmin(high, most)
    return low, high


def _backward_map(n: int) -> Any:
    def build() -> Sequence[ca.Function]:
        x, none, w, k = SX.sym("x", 2 + 3 * n), SX.sym("p", 0), SX.sym("w", 3 * n + 3), SX.sym("k")
        h, least, most = ca.vertsplit(w[3 * n :])
        rows = _rows(n, w[: 3 * n], x[2:], h)
        lower, upper = x[0], x[1]
        for row in rows:
            upper = ca.fmin(upper, row.crossing(True))
        low_u, _ = _extremes(rows, upper, True)
        _, high_u = _extremes(rows, lower, True)
        for row in rows:
            most = ca.fmin(most, ca.fmin(row.before(upper, low_u, False), row.crossing(False)))
            least = ca.fmax(least, row.before(lower, high_u, True))
        onward = ca.vertcat(least, most, w[: 3 * n])
        return [ca.Function("back", [x, none, w, k], [onward], ["x", "p", "w", "k"], ["x_next"])]

    return kernel.recurrence(f"path speed backward 3 {n}", build, 2)


def _forward_map(n: int) -> Any:
    def build() -> Sequence[ca.Function]:
        x, fast, w, k = SX.sym("x", 3 + 3 * n), SX.sym("p", 1), SX.sym("w", 3 * n + 3), SX.sym("k")
        h, least, most = ca.vertsplit(w[3 * n :])
        rows = _rows(n, x[3:], w[: 3 * n], h)
        low_u, high_u = _extremes(rows, x[0], False)
        for row in rows:
            most = ca.fmin(most, ca.fmin(row.after(x[0], high_u, True), row.crossing(True)))
            least = ca.fmax(least, row.after(x[0], low_u, False))
        onward = ca.if_else(fast > 0, ca.fmax(most, w[3 * n + 1]), ca.fmin(least, w[3 * n + 2]))
        # the two u that are nearest to each other
        low_end, high_end = _extremes(rows, onward, True)
        mean = (onward - x[0]) / (2 * h)
        part = ca.fmin(ca.fmax(0.0, ca.fmax(low_u - mean, mean - high_end)), ca.fmin(high_u - mean, mean - low_end))
        state = ca.vertcat(onward, mean + part, mean - part, w[: 3 * n])
        return [ca.Function("forth", [x, fast, w, k], [state], ["x", "p", "w", "k"], ["x_next"])]

    return kernel.recurrence(f"path speed forward 3 {n}", build, 3)
