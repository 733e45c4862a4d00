"""The fastest squared speed along paths within lines of limits at the points of a grid; both passes native over all paths.

With x = s'^2 and u = s'' = x' / 2, a limit at a point is p + k x <= u <= P + k x. Within an interval u is linear, x_1 = x_0 + h (u_0 + u_1), and
the limits hold for u_0 at its start and for u_1 at its end: second order, where a constant u within both limits is first order. Near
zero-inertia points, where the coefficient of u changes its sign, k h is large and such a rule rings: a row with |k| h above a half limits
the mean u at that end where its line damps (end for k < 0, start for k > 0), and where k changes its sign within the interval the row limits
x at both ends by what it allows there. Every rule is monotonic in the speeds, so that the largest speed from which the end can be reached is
found backwards in one pass (Pham & Pham 2018), and taking the largest reachable one forwards is the fastest.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
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
TINY = 1e-100
"""Difference of slopes of parallel lines."""
STIFF = 0.95
"""Slope of a line, times the interval, from which on a row limits the mean of u."""


@dataclass(frozen=True, eq=False)
class Profiles:
    """Lines of limits at the points, the squared speeds with which each point can be passed, and both passes.

    Parameters
    ----------
    table : array, (paths, points, 3 rows + 4)
        p, P and k of every row, the intervals before and after the point, least and largest squared speed [1/s^2].
    """

    table: np.ndarray

    @property
    def rows(self) -> int:
        """Number of rows at a point."""
        return (self.table.shape[-1] - 4) // 3

    def reachable(self, last: np.ndarray, rests: bool = False) -> np.ndarray:
        """Return the intervals of squared speeds from which the squared speeds `last` at the end can be reached, (paths, points, 2).

        They take the place of the least and largest squared speeds in the table. If every point can be held at rest (u = 0 is strictly within all
        lines at x = 0), and the end is at rest, all of them begin with zero, and only their upper ends are to be found.
        """
        paths, points, _ = self.table.shape
        state = np.empty((paths, 2 + 3 * self.rows))
        state[:, 0] = state[:, 1] = last
        state[:, 2:] = self.table[:, -1, :-4]
        sets, back = self.table[..., -2:], self.table[:, ::-1]
        passage = _backward_map(self.rows, rests).on(
            state, np.zeros(0), back[:, 1:], np.full(paths, NEVER), back[:, :-1, -2:]
        )
        passage(0, points - 1)
        sets[:, 0] = state[:, :2]
        return sets

    def run(self, first: np.ndarray, fast: bool = True) -> np.ndarray:
        """Return the fastest or slowest run within the sets of `reachable`, (paths, points, 3): squared speed, and u at both ends of the interval
        before the point."""
        paths, points, _ = self.table.shape
        state = np.zeros((paths, 3 + 3 * self.rows))
        state[:, 0], state[:, 3:] = first, self.table[:, 0, :-4]
        found = np.empty((paths, points, 3))
        passage = _forward_map(self.rows, fast).on(
            state, np.zeros(0), self.table[:, 1:], np.full(paths, NEVER), found[:, :-1]
        )
        passage(0, points - 1)
        found[:, -1] = state[:, :3]
        return found


@cache
def lines(motors: int, joints: int, damped: bool) -> kernel.Kernel:
    """Return the native function from limits to a row of the table of `Profiles`.

    Its inputs are a, b, c of the forces a u + b x + c and their limits; with dampers d, and slope and level of the line in place of sqrt(x); if
    there are joints with limits of acceleration q', q'' and those limits; the largest squared speed; what is kept of every limit; the intervals
    before and after the point.
    """

    def build() -> ca.Function:
        a, b, c, effort = (SX.sym(name, motors) for name in ("a", "b", "c", "effort"))
        given, slope, level = [a, b, c, effort], b, c
        if damped:
            d, rise, rest = SX.sym("d", motors), SX.sym("rise"), SX.sym("rest")
            given, slope, level = [*given, d, rise, rest], b + d * rise, c + d * rest
        top, kept, steps = SX.sym("top"), SX.sym("kept", motors + joints + 1), SX.sym("steps", 2)
        size = effort * kept[:motors]
        rows: Sequence[SX] = (a, slope, -size - level, size - level)
        if joints:
            first, second, limit = (SX.sym(name, joints) for name in ("first", "second", "limit"))
            size = limit * kept[motors:-1]
            rows = [ca.vertcat(*pair) for pair in zip(rows, (first, second, -size, size))]
            given = [*given, first, second, limit]
        p, P, k, least, most = _lines(*rows)
        least, most = ca.fmax(least, 0), ca.fmin(most, top * kept[-1] ** 2)
        table = ca.vertcat(p, P, k, steps, *_open(p, P, k, least, most))
        return ca.Function("lines", [*given, top, kept, steps], [table])

    key = f"path speed lines 11 {motors} {joints} {damped}"
    ranks = (1,) * 4 + (1, 0, 0) * damped + (1,) * 3 * bool(joints) + (0, 1, 1)
    return kernel.cached(key, build, finite=False, ranks=lambda: (ranks, (1,)))


def _lines(a: SX, b: SX, low: SX, high: SX) -> tuple[SX, SX, SX, SX, SX]:
    """Return lines p + slope x <= u <= P + slope x of rows a u + b x in [low, high], and bounds of x alone."""
    n = a.numel()
    flat = ca.fabs(a) <= FLAT * (ca.fabs(a) + ca.fabs(b))
    part = 1 / ca.if_else(flat, ca.if_else(b == 0, 1.0, b), a)  # by u, or by x alone
    ends = low * part, high * part
    p, P = ca.fmin(*ends), ca.fmax(*ends)
    least, most = SX(-FAR), SX(FAR)
    for k in range(n):  # rows without u
        level = flat[k] * (ca.fabs(b[k]) > 0)
        least = ca.fmax(least, ca.if_else(level, p[k], -FAR))
        most = ca.fmin(most, ca.if_else(level, P[k], FAR))
        nothing = flat[k] * (b[k] == 0) * ((low[k] > 0) + (high[k] < 0))
        most = ca.if_else(nothing, -FAR, most)
    return ca.if_else(flat, -FAR, p), ca.if_else(flat, FAR, P), ca.if_else(flat, 0.0, -b * part), least, most


def _open(p: SX, P: SX, slope: SX, least: SX, most: SX) -> tuple[SX, SX]:
    """Return the bounds of x between which some u is within all lines: each two rows bound x from both sides."""
    for i, j in itertools.combinations(range(p.numel()), 2):
        change = slope[i] - slope[j]
        part = 1 / ca.if_else(change == 0, TINY, change)
        ends = (P[j] - p[i]) * part, (p[j] - P[i]) * part
        least, most = ca.fmax(least, ca.fmin(*ends)), ca.fmin(most, ca.fmax(*ends))
    return least, most


@dataclass(frozen=True, eq=False)
class _Row:
    """One row over an interval: p, P and slope at its start and its end."""

    start: tuple[SX, SX, SX]
    end: tuple[SX, SX, SX]
    h: SX

    @cached_property
    def stiff(self) -> SX:
        return self.h * ca.fmax(ca.fabs(self.start[2]), ca.fabs(self.end[2])) > STIFF

    @cached_property
    def crosses(self) -> SX:
        return self.stiff * (self.start[2] * self.end[2] < 0)

    @cached_property
    def falls(self) -> SX:
        """Whether its slope falls through zero."""
        return self.stiff * (self.start[2] > 0) * (self.end[2] < 0)

    def crossing(self, at_end: bool) -> SX:
        """Return the squared speed at an end that the row allows if it crosses.

        Where its slope falls (k > 0 before, k < 0 after) the run may follow the row through the zero: u is then what joins the two ends. Where
        it rises, u is taken as zero.
        """
        (p, P, before), (q, Q, after) = self.start, self.end
        first, last = ca.if_else(before < 0, P, p), ca.if_else(after < 0, Q, q)
        joined = last - first + 2 * self.h * (before * last if at_end else after * first)
        above = ca.if_else(self.falls, joined, -(last if at_end else first))
        slopes = ca.if_else(
            self.falls, before - after - 2 * self.h * before * after, after if at_end else before
        )
        return ca.if_else(self.crosses, above / ca.if_else(self.crosses, slopes, 1.0), FAR)

    def at(self, x: SX, at_end: bool, *, all: bool = False) -> tuple[SX, SX]:
        """Return least and largest u at an end of the interval; of a stiff row only if all are asked for."""
        p, P, slope = self.end if at_end else self.start
        out = self.crosses if all else self.stiff
        return ca.if_else(out, -FAR, p + slope * x), ca.if_else(out, FAR, P + slope * x)

    def mean(self, upper: bool) -> tuple[SX, SX, SX]:
        """Return level and slopes by x at the start and at the end, of the line for the mean of u."""
        side = 1 if upper else 0
        none = FAR if upper else -FAR
        early = self.stiff * (self.start[2] > 0)
        late = self.stiff * (self.end[2] < 0)
        if (
            upper
        ):  # where the slope falls through zero, the least u counts at the start and the largest at the end
            early = early * ca.logic_not(late)
        else:
            late = late * ca.logic_not(early)
        level = ca.if_else(early, self.start[side], ca.if_else(late, self.end[side], none))
        return level, early * self.start[2], late * self.end[2]

    @cached_property
    def parts(self) -> list[SX]:
        """Reciprocals by which `before` and `after` divide: each of the line that counts, and of the line at its own end."""
        out: list[SX] = []
        for slope in (self.start[2], -self.end[2]):
            rise = self.h * ca.fmax(slope, 0)
            out += [1 / (1 + ca.if_else(self.stiff, 2 * rise, self.h * slope)), 1 / (1 + rise)]
        return out

    def before(self, x: SX, other: SX, upper: bool) -> SX:
        """Return the x at the start for which the line is met with x at the end and with u `other` there, if the row is not stiff."""
        level, early, late = self.mean(upper)
        p, (part, own, _, _) = self.start[1 if upper else 0], self.parts
        top = ca.if_else(
            self.stiff, x * (1 - 2 * self.h * late) - 2 * self.h * level, x - self.h * (other + p)
        )
        found = top * (ca.if_else(self.falls, 1.0, part) if upper else part)
        q, slope = self.end[1 if upper else 0], self.end[2]
        both = (x - self.h * (p + q + slope * x)) * own
        return ca.if_else(
            (early > 0) * ca.logic_not(self.crosses), (ca.fmax if upper else ca.fmin)(found, both), found
        )

    def after(self, x: SX, other: SX, upper: bool) -> SX:
        """Return the x at the end for which the line is met with x at the start and u `other` there, if the row is not stiff."""
        level, early, late = self.mean(upper)
        p, (_, _, part, own) = self.end[1 if upper else 0], self.parts
        top = ca.if_else(
            self.stiff, x * (1 + 2 * self.h * early) + 2 * self.h * level, x + self.h * (other + p)
        )
        found = top * (part if upper else ca.if_else(self.falls, 1.0, part))
        q, slope = self.start[1 if upper else 0], self.start[2]
        both = (x + self.h * (p + q + slope * x)) * own
        return ca.if_else(
            (late < 0) * ca.logic_not(self.crosses), (ca.fmin if upper else ca.fmax)(found, both), found
        )


def _rows(n: int, start: SX, end: SX, h: SX) -> list[_Row]:
    split = [[line[k * n : (k + 1) * n] for k in range(3)] for line in (start, end)]
    ends = [[(p[r], P[r], k[r]) for r in range(n)] for p, P, k in split]
    return [_Row(a, b, h) for a, b in zip(*ends)]


def _extremes(rows: Sequence[_Row], x: SX, at_end: bool, *, all: bool = False) -> tuple[SX, SX]:
    low, high = SX(-FAR), SX(FAR)
    for row in rows:
        least, most = row.at(x, at_end, all=all)
        low, high = ca.fmax(low, least), ca.fmin(high, most)
    return low, high


@cache
def _backward_map(n: int, rests: bool) -> Any:
    def build() -> Sequence[ca.Function]:
        x, none, w, k = SX.sym("x", 2 + 3 * n), SX.sym("p", 0), SX.sym("w", 3 * n + 4), SX.sym("k")
        _, h, least, most = ca.vertsplit(w[3 * n :])
        rows = _rows(n, w[: 3 * n], x[2:], h)
        lower, upper = x[0], x[1]
        for row in rows:
            upper = ca.fmin(upper, row.crossing(True))
        low_u, _ = _extremes(rows, upper, True)
        _, high_u = _extremes(rows, lower, True)
        for row in rows:
            most = ca.fmin(most, ca.fmin(row.before(upper, low_u, False), row.crossing(False)))
            if not rests:
                least = ca.fmax(least, row.before(lower, high_u, True))
        onward = ca.vertcat(least, most, w[: 3 * n])
        return [ca.Function("back", [x, none, w, k], [onward], ["x", "p", "w", "k"], ["x_next"])]

    return kernel.recurrence(f"path speed backward 8 {n} {rests}", build, 2)


@cache
def _forward_map(n: int, fast: bool) -> Any:
    def build() -> Sequence[ca.Function]:
        x, none, w, k = SX.sym("x", 3 + 3 * n), SX.sym("p", 0), SX.sym("w", 3 * n + 4), SX.sym("k")
        h, _, least, most = ca.vertsplit(w[3 * n :])
        rows = _rows(n, x[3:], w[: 3 * n], h)
        low_u, high_u = _extremes(rows, x[0], False)
        onward = most if fast else least
        for row in rows:
            if fast:
                onward = ca.fmin(onward, ca.fmin(row.after(x[0], high_u, True), row.crossing(True)))
            else:
                onward = ca.fmax(onward, row.after(x[0], low_u, False))
        onward = ca.fmax(onward, least) if fast else ca.fmin(onward, most)
        # the two u that are nearest to each other
        low_u, high_u = _extremes(rows, x[0], False, all=True)
        low_end, high_end = _extremes(rows, onward, True, all=True)
        mean = (onward - x[0]) / (2 * h)
        part = ca.fmin(
            ca.fmax(0.0, ca.fmax(low_u - mean, mean - high_end)), ca.fmin(high_u - mean, mean - low_end)
        )
        state = ca.vertcat(onward, mean + part, mean - part, w[: 3 * n])
        return [ca.Function("forth", [x, none, w, k], [state], ["x", "p", "w", "k"], ["x_next"])]

    return kernel.recurrence(f"path speed forward 7 {n} {fast}", build, 3)
