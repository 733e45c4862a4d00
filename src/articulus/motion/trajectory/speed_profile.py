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
from collections.abc import Callable, Sequence
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

    @cached_property
    def _pairs(self) -> np.ndarray:
        """Rows of the table of both ends of every interval, as a view, (paths, intervals, 2 columns)."""
        paths, points, columns = self.table.shape
        shape = paths, points - 1, 2 * columns
        return np.ndarray(shape, self.table.dtype, self.table, strides=self.table.strides)

    def reachable(self, last: np.ndarray, rests: bool = False) -> np.ndarray:
        """Return the intervals of squared speeds at the start from which the squared speeds `last` at the end can be reached, (paths, 2).

        Those of the following point take the place of the least and largest squared speeds in the table. If every point can be held at rest
        (u = 0 is strictly within all lines at x = 0), and the end is at rest, all of them begin with zero, and only their upper ends are to be
        found.
        """
        paths, points, _ = self.table.shape
        state = np.repeat(last[:, None], 4, axis=1)
        passage = _backward_map(self.rows, rests).on(
            state, np.zeros(0), self._pairs[:, ::-1], np.full(paths, NEVER), self.table[:, :0:-1, -2:]
        )
        passage(0, points - 1)
        self.table[:, 0, -2:] = state[:, :2]
        return state[:, 2:]

    def run(self, first: np.ndarray, fast: bool = True) -> np.ndarray:
        """Return the fastest or slowest run within the sets of `reachable`, (paths, points, 3): squared speed, and u at both ends of the interval
        before the point."""
        paths, points, _ = self.table.shape
        state = np.zeros((paths, 3))
        state[:, 0] = first
        found = np.empty((paths, points, 3))
        passage = _forward_map(self.rows, fast).on(
            state, np.zeros(0), self._pairs, np.full(paths, NEVER), found[:, :-1]
        )
        passage(0, points - 1)
        found[:, -1] = state
        return found


def lesser(a: SX, b: Any) -> SX:
    """Return the lesser of two numbers: one instruction, where `fmin` looks for NaN, too."""
    return ca.if_else(a < b, a, b)


def greater(a: SX, b: Any) -> SX:
    """Return the greater of two numbers."""
    return ca.if_else(a > b, a, b)


def least(values: Any, choose: Callable[[SX, SX], SX] = lesser) -> SX:
    """Return the least of some numbers, by halves: fewer steps one after another."""
    items = ca.vertsplit(values) if isinstance(values, SX) else values
    half = len(items) // 2
    return choose(least(items[:half], choose), least(items[half:], choose)) if half else items[0]


def largest(values: Any) -> SX:
    """Return the largest of some numbers."""
    return least(values, greater)


@cache
def lines(motors: int, joints: int, damped: bool, rests: bool) -> kernel.Kernel:
    """Return the native function from limits to a row of the table of `Profiles`; `rests` if every point can be held at rest.

    Its inputs are the coefficients of `PathLimits.coefficients` one after another; with dampers slope and level of the line in place of
    sqrt(x); if there are joints with limits of acceleration q' and q''; the limits of forces and accelerations; what is kept of every limit; the
    intervals before and after the point.
    """

    def build() -> ca.Function:
        forces, held = SX.sym("forces", (4 if damped else 3) * motors + 1), SX.sym("held", motors + joints)
        a, slope, level, *d = ca.vertsplit(forces[:-1], motors)
        kept, steps = SX.sym("kept", motors + joints + 1), SX.sym("steps", 2)
        given, top = [forces], forces[-1]
        if damped:
            tangent = SX.sym("tangent", 2)
            given, slope, level = [*given, tangent], slope + d[0] * tangent[0], level + d[0] * tangent[1]
        size = held * kept[:-1]
        rows: Sequence[SX] = (a, slope, -size[:motors] - level, size[:motors] - level)
        if joints:
            first, second = (SX.sym(name, joints) for name in ("first", "second"))
            rows = [ca.vertcat(*pair) for pair in zip(rows, (first, second, -size[motors:], size[motors:]))]
            given = [*given, first, second]
        p, P, k, low, high = _lines(*rows)
        high = lesser(high, top * kept[-1] ** 2)
        ends = (SX(0), _end(p, P, k, high)) if rests else _open(p, P, k, greater(low, 0), high)
        table = ca.vertcat(p, P, k, steps, *ends)
        return ca.Function("lines", [*given, held, kept, steps], [table])

    key = f"path speed lines 13 {motors} {joints} {damped} {rests}"
    return kernel.cached(
        key, build, finite=False, ranks=lambda: ((1,) * (4 + damped + 2 * bool(joints)), (1,))
    )


def _lines(a: SX, b: SX, low: SX, high: SX) -> tuple[SX, SX, SX, SX, SX]:
    """Return lines p + slope x <= u <= P + slope x of rows a u + b x in [low, high], and bounds of x alone."""
    flat = ca.fabs(a) <= FLAT * (ca.fabs(a) + ca.fabs(b))
    none = ca.logic_and(flat, b == 0)
    part = 1 / ca.if_else(flat, ca.if_else(none, 1.0, b), a)  # by u, or by x alone
    ends = low * part, high * part
    p, P = lesser(*ends), greater(*ends)
    alone = ca.logic_and(flat, ca.logic_not(none))
    nothing = ca.logic_and(none, ca.logic_or(low > 0, high < 0))
    least_x = largest(ca.if_else(alone, p, -FAR))
    most_x = least(ca.if_else(alone, P, ca.if_else(nothing, -FAR, FAR)))
    k = ca.if_else(flat, 0.0, -b * part)
    return ca.if_else(flat, -FAR, p), ca.if_else(flat, FAR, P), k, least_x, most_x


def _open(p: SX, P: SX, slope: SX, low: SX, high: SX) -> tuple[SX, SX]:
    """Return the bounds of x between which some u is within all lines: each two rows bound x from both sides."""
    for i, j in itertools.combinations(range(p.numel()), 2):
        change = slope[i] - slope[j]
        part = 1 / ca.if_else(change == 0, TINY, change)
        ends = (P[j] - p[i]) * part, (p[j] - P[i]) * part
        low, high = greater(low, lesser(*ends)), lesser(high, greater(*ends))
    return low, high


def _end(p: SX, P: SX, slope: SX, high: SX) -> SX:
    """Return the upper bound of `_open` if u = 0 is within all lines at x = 0: of each two rows the lower line of the steeper one counts."""
    bounds = [high]
    for i, j in itertools.combinations(range(p.numel()), 2):
        change = slope[i] - slope[j]
        apart = ca.if_else(change > 0, P[j] - p[i], P[i] - p[j])
        bounds.append(apart / greater(ca.fabs(change), TINY))
    return least(bounds)


@dataclass(frozen=True, eq=False)
class _Row:
    """One row that is not stiff over an interval of length h: p, P and slope at its start and its end."""

    start: tuple[SX, SX, SX]
    end: tuple[SX, SX, SX]
    h: SX

    @cached_property
    def steep(self) -> SX:
        """The larger size of its slopes, times the interval."""
        return greater(ca.fabs(self.h * self.start[2]), ca.fabs(self.h * self.end[2]))

    def crossing(self) -> tuple[SX, SX]:
        """Return the squared speeds at both ends that the row allows by itself."""
        return SX(FAR), SX(FAR)

    def at(self, x: SX, at_end: bool, all: bool) -> tuple[SX, SX]:
        """Return least and largest u at an end of the interval; of a stiff row only if all are asked for."""
        p, P, slope = self.end if at_end else self.start
        return p + slope * x, P + slope * x

    def reach(self, x: SX, other: SX, upper: bool, backward: bool) -> SX:
        """Return the x at the end of the interval (backward: at its start) for which the line is met with x at the other one, with u `other` there.

        Backward is forward with -h.
        """
        far, h = (self.start, -self.h) if backward else (self.end, self.h)
        return (x + h * (far[int(upper)] + other)) / (1 + -h * far[2])


class _StiffRow(_Row):
    """A row that may be stiff."""

    @cached_property
    def stiff(self) -> SX:
        return self.steep > STIFF

    @cached_property
    def crosses(self) -> SX:
        """Whether it is stiff and its slope changes its sign."""
        return ca.logic_and(self.stiff, self.start[2] * self.end[2] < 0)

    def crossing(self) -> tuple[SX, SX]:
        """Return the squared speeds at both ends that the row allows if it crosses.

        Where its slope falls (k > 0 before, k < 0 after) the run may follow the row through the zero: u is then what joins the two ends. Where
        it rises, u is taken as zero.
        """
        (p, P, before), (q, Q, after) = self.start, self.end
        falls = before > 0
        joined, slopes = Q - p, before - after - 2 * self.h * before * after
        start = ca.if_else(falls, joined + 2 * self.h * after * p, -P) / ca.if_else(falls, slopes, before)
        end = ca.if_else(falls, joined + 2 * self.h * before * Q, -q) / ca.if_else(falls, slopes, after)
        return ca.if_else(self.crosses, start, FAR), ca.if_else(self.crosses, end, FAR)

    def at(self, x: SX, at_end: bool, all: bool) -> tuple[SX, SX]:
        """Return least and largest u at an end of the interval; of a stiff row only if all are asked for, and not if it crosses."""
        out, (low, high) = self.crosses if all else self.stiff, super().at(x, at_end, all)
        return ca.if_else(out, -FAR, low), ca.if_else(out, FAR, high)

    def reach(self, x: SX, other: SX, upper: bool, backward: bool) -> SX:
        """Return the same as that of a row that is not stiff; `other` counts only then.

        The upper line limits x from above forward, the lower line backward.
        """
        near, far, h = (self.end, self.start, -self.h) if backward else (self.start, self.end, self.h)
        side, above = int(upper), upper is not backward
        p, rise, q, fall = near[side], h * near[2], far[side], -h * far[2]
        damps, bears = ca.logic_and(self.stiff, fall > 0), ca.logic_and(self.stiff, rise > 0)
        if above:  # the line that damps counts at the far end first
            by_far, by_near = damps, ca.logic_and(bears, ca.logic_not(damps))
        else:
            by_far, by_near = ca.logic_and(damps, ca.logic_not(bears)), bears
        # the mean of u at the far end, or u at both ends
        top, part = x + h * (q + ca.if_else(by_far, q, other)), 1 + fall + ca.if_else(by_far, fall, 0)
        both, own = x + h * (p + q) + rise * x, 1 + fall
        nearer = both * part < top * own if above else both * part > top * own
        taken = ca.logic_and(ca.logic_and(by_far, ca.logic_not(bears)), nearer)
        found = ca.if_else(taken, both, top) / ca.if_else(taken, own, part)
        stiff = ca.if_else(by_near, x + 2 * (rise * x + h * p), FAR if above else -FAR)
        return ca.if_else(ca.logic_and(self.stiff, ca.logic_not(by_far)), stiff, found)


def _rows(n: int, w: SX, kind: type[_Row]) -> list[_Row]:
    """Return the rows of an interval from those of the table at both ends."""
    ends = []
    for line in (w[: 3 * n], w[3 * n + 4 : 6 * n + 4]):
        p, P, k = ca.vertsplit(line, n)
        ends.append([(p[r], P[r], k[r]) for r in range(n)])
    return [kind(a, b, w[3 * n + 1]) for a, b in zip(*ends)]


def _extremes(rows: Sequence[_Row], x: SX, at_end: bool, *, all: bool = False) -> tuple[SX, SX]:
    """Return least and largest u at an end of the interval; of stiff rows only if all are asked for, and not of those that cross."""
    pairs = [row.at(x, at_end, all) for row in rows]
    return largest([low for low, _ in pairs]), least([high for _, high in pairs])


@cache
def _backward_map(n: int, rests: bool) -> Any:
    """Return the recurrence over the intervals from the last: its state are the sets at their ends and at their starts."""

    def step(x: SX, w: SX, kind: type[_Row]) -> SX:
        rows, (low, high) = _rows(n, w, kind), ca.vertsplit(w[3 * n + 2 : 3 * n + 4])
        crossings = [row.crossing() for row in rows]
        lower, upper = x[2], lesser(x[3], least([end for _, end in crossings]))
        low_u, _ = _extremes(rows, upper, True)
        _, high_u = _extremes(rows, lower, True)
        reached = [row.reach(upper, low_u, False, True) for row in rows]
        high = lesser(high, least([*reached, *(start for start, _ in crossings)]))
        if not rests:
            low = greater(low, largest([row.reach(lower, high_u, True, True) for row in rows]))
        return ca.vertcat(lower, upper, low, high)

    return kernel.recurrence(f"path speed backward 12 {n} {rests}", lambda: _steps(n, 4, step), 2)


@cache
def _forward_map(n: int, fast: bool) -> Any:
    """Return the recurrence over the intervals: its state is the squared speed, and u at both ends of the interval before."""

    def step(x: SX, w: SX, kind: type[_Row]) -> SX:
        rows, (low, high) = _rows(n, w, kind), ca.vertsplit(w[3 * n + 2 : 3 * n + 4])
        low_u, high_u = _extremes(rows, x[0], False)
        if fast:
            reached = [row.reach(x[0], high_u, True, False) for row in rows]
            onward = greater(lesser(high, least(reached)), low)
        else:
            reached = [row.reach(x[0], low_u, False, False) for row in rows]
            onward = lesser(greater(low, largest(reached)), high)
        # the two u that are nearest to each other
        low_u, high_u = _extremes(rows, x[0], False, all=True)
        low_end, high_end = _extremes(rows, onward, True, all=True)
        mean = (onward - x[0]) / (2 * rows[0].h)
        part = ca.fmin(
            ca.fmax(0.0, ca.fmax(low_u - mean, mean - high_end)), ca.fmin(high_u - mean, mean - low_end)
        )
        return ca.vertcat(onward, mean + part, mean - part)

    return kernel.recurrence(f"path speed forward 11 {n} {fast}", lambda: _steps(n, 3, step), 3)


def _steps(n: int, size: int, step: Callable[[SX, SX, type[_Row]], SX]) -> Sequence[ca.Function]:
    """Return the map of a recurrence; the rules of stiff rows are passed over where there are none."""
    x, none, w, k = SX.sym("x", size), SX.sym("p", 0), SX.sym("w", 6 * n + 8), SX.sym("k")
    some = SX.sym("some")
    whole = ca.Function("when_stiff", [some, x, w], [ca.if_else(some, step(x, w, _StiffRow), 0)])
    stiff = largest([row.steep for row in _rows(n, w, _Row)]) > STIFF
    (found,) = whole.call([stiff, x, w], False, True)
    onward = ca.if_else(stiff, found, step(x, w, _Row))
    return [ca.Function("step", [x, none, w, k], [onward], ["x", "p", "w", "k"], ["x_next"])]
