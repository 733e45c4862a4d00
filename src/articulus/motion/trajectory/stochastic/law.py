"""Stochastic dynamic programming: the feedback law of least expected cost, on a grid of states (Hanson 1989).

States follow dx = f(x, t, u) dt + G(x, t) dW + sum of h_l(x, t) dP_l, with Gaussian noise W and Poisson processes P_l of given rates. f is
affine and the running cost quadratic in the inputs, which have bounds. Bellman's equation is integrated backward in time with central
differences and the trapezoidal rule, by extrapolation, prediction and corrections until they change nothing. All points of the grid are
one batch of native code: neighbors are the same array, shifted; beyond the edges one layer of points is extrapolated by cubics, which
makes the differences there one-sided ones of order two.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX
from scipy import sparse
from scipy.interpolate import RegularGridInterpolator

from articulus import kernel
from articulus.errors import InputError, NumericalError
from articulus.kernel import pool
from articulus.kernel.lookup import looked_up
from articulus.motion.trajectory.stochastic.corrections import Corrections, Sums, ThreadShare
from articulus.simulation.loop.components.expression import Expression

MOST = 40
"""Corrections of a step after which it counts as not converging."""
SWEEPS = 40
"""Sweeps over coupled inputs with bounds."""
MOMENTS = 17
"""Times at which expressions that change with time are checked."""
HALVINGS = 6
"""Times that steps are halved when corrections do not converge, if their number is not given."""
ROWS = 100_000
"""Most rows of the table of a component: they become constants of native code."""
SHARE = 4096
"""Points that pay for one more thread."""
TOGETHER = 1_000_000
"""Points times steps in one native call, some hundredths of a second: an interrupt waits for its end."""
THIN = 4
"""Fewest points of a share along the first axis: as many as the cubics beyond the edges take."""


@dataclass(frozen=True, eq=False)
class Jump:
    """A Poisson process: at random times, `rate` of them per second, the state changes by `change`.

    Parameters
    ----------
    rate : float or casadi.SX [1/s]
        Number, or expression of states and time.
    change : casadi.SX, (m,)
        Expression of states and time.
    """

    rate: Any
    change: SX


@dataclass(frozen=True, eq=False)
class _Equations:
    """Expressions of the problem, by powers of the inputs."""

    x: SX
    t: SX
    drift: SX
    steering: SX
    cost: SX
    linear: SX
    quadratic: SX
    spread: SX
    rates: SX
    changes: tuple[SX, ...]
    final: SX
    lower: tuple[Any, ...]
    upper: tuple[Any, ...]

    @property
    def states(self) -> int:
        return int(self.x.numel())

    @property
    def inputs(self) -> int:
        return int(self.linear.numel())

    @property
    def mixed_pairs(self) -> list[tuple[int, int]]:
        """Pairs of states whose mixed derivative is needed."""
        pattern = self.spread.sparsity()
        return [(i, j) for i, j in itertools.combinations(range(self.states), 2) if pattern.has_nz(i, j)]

    @property
    def running(self) -> dict[str, SX]:
        """What the rate of the value is made of."""
        return {
            "drift": ca.vertcat(self.drift, ca.vec(self.steering)),
            "cost": ca.vertcat(self.cost, self.linear),
            "noise": ca.vec(self.spread),
            **{f"change by jump {k}": change for k, change in enumerate(self.changes)},
        }

    def best(self, slope: SX) -> tuple[SX, SX]:
        """Return the best inputs for a gradient of the value, and what they add to its rate."""
        b, n = self.linear + ca.mtimes(self.steering.T, slope), self.inputs
        if not n:
            return SX(0, 1), SX(0)
        diagonal = self.quadratic.sparsity().nnz() == n and all(
            self.quadratic.sparsity().has_nz(i, i) for i in range(n)
        )
        u = -(b / ca.diag(self.quadratic)) if diagonal else -ca.solve(self.quadratic, b)
        entries = [self._within(i, u[i]) for i in range(n)]
        bounded = any(not _is_infinite(v) for v in (*self.lower, *self.upper))
        if not diagonal and bounded:
            for _, i in itertools.product(range(SWEEPS), range(n)):
                rest = b[i] + sum(self.quadratic[i, j] * entries[j] for j in range(n) if j != i)
                entries[i] = self._within(i, -rest / self.quadratic[i, i])
        u = ca.vertcat(*entries)
        return u, ca.dot(b, u) + ca.dot(u, ca.mtimes(self.quadratic, u)) / 2

    def _within(self, i: int, value: SX) -> SX:
        low, high = self.lower[i], self.upper[i]
        if not _is_infinite(high):
            value = ca.fmin(value, high)
        return value if _is_infinite(low) else ca.fmax(value, low)


def _is_infinite(bound: Any) -> bool:
    return not isinstance(bound, SX) and np.isinf(bound)


@dataclass(frozen=True, eq=False)
class _Share:
    """A part of a grid for one thread: places in the flat array of its rows, its layers, and the matrix that fills these."""

    rows: slice
    layers: np.ndarray
    matrix: sparse.csr_array


@dataclass(frozen=True, eq=False)
class _Grid:
    """Points of a box, one more layer on each side; all in one flat array.

    Parameters
    ----------
    axes : tuple of array
        Coordinates of the points of each state.
    """

    axes: tuple[np.ndarray, ...]

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Of the points, without the layers."""
        return tuple(len(axis) for axis in self.axes)

    @cached_property
    def padded_shape(self) -> tuple[int, ...]:
        return tuple(n + 2 for n in self.shape)

    @cached_property
    def steps(self) -> np.ndarray:
        """Distances of points."""
        return np.array([axis[1] - axis[0] for axis in self.axes])

    @cached_property
    def strides(self) -> np.ndarray:
        """How far apart neighbors are in the flat array."""
        return np.append(np.cumprod(self.padded_shape[:0:-1])[::-1], 1).astype(int)

    @cached_property
    def rows(self) -> slice:
        """From the first to the last point that is not of the layers; some between them are."""
        first = int(self.strides.sum())
        return slice(first, int(np.prod(self.padded_shape)) - first)

    @cached_property
    def points(self) -> np.ndarray:
        """Coordinates of the rows, (rows, m)."""
        wide = [np.concatenate([[a[0] - h], a, [a[-1] + h]]) for a, h in zip(self.axes, self.steps)]
        mesh = np.stack(np.meshgrid(*wide, indexing="ij"), axis=-1).reshape(-1, len(wide))
        return np.ascontiguousarray(mesh[self.rows])

    def inner(self, flat: np.ndarray) -> np.ndarray:
        """Return the values at the points, a view."""
        return flat.reshape(self.padded_shape)[(slice(1, -1),) * len(self.shape)]

    @cached_property
    def _extension(self) -> tuple[np.ndarray, sparse.csr_array]:
        """Points of the layers, and the matrix that makes their values of those of the points: cubics through four, axis by axis."""
        whole = sparse.eye_array(1, format="csr")
        for n in self.shape:
            one = sparse.lil_array((n + 2, n + 2))
            one[1 : n + 1, 1 : n + 1] = np.eye(n)
            one[0, 1:5], one[n + 1, n - 3 : n + 1] = [4, -6, 4, -1], [-1, 4, -6, 4]
            whole = sparse.kron(whole, one, format="csr")
        inside = np.zeros(self.padded_shape, bool)
        self.inner(inside)[...] = True
        layers = np.flatnonzero(~inside)
        return layers, whole[layers]

    def extend(self, flat: np.ndarray) -> None:
        """Fill the layers."""
        layers, matrix = self._extension
        flat[layers] = matrix @ flat

    def shares(self, most: int) -> list[_Share]:
        """Return up to so many parts of the grid, cut across the first axis; the layers of each depend on its own points alone."""
        count = max(1, min(most, len(self.points) // SHARE, self.shape[0] // THIN))
        cuts = [self.padded_shape[0] * k // count * int(self.strides[0]) for k in range(count + 1)]
        layers, matrix = self._extension
        made = []
        for a, b in itertools.pairwise(cuts):
            near = slice(*np.searchsorted(layers, (a, b)))
            rows = slice(max(a, self.rows.start), min(b, self.rows.stop))
            made.append(_Share(rows, layers[near], matrix[near]))
        return made

    @cached_property
    def own(self) -> np.ndarray:
        """Which rows are points, (rows,)."""
        inside = np.zeros(self.padded_shape, bool)
        self.inner(inside)[...] = True
        return inside.ravel()[self.rows]

    @cached_property
    def inside(self) -> np.ndarray:
        """Coordinates of the points, (points, m)."""
        return self.points[self.own]

    def shifts(self, coupled: Sequence[tuple[int, int]]) -> list[int]:
        """Return where the neighbors are that differences need: itself, both of each axis, four of each coupled pair."""
        s = [int(stride) for stride in self.strides]
        out = [0]
        for stride in s:
            out += [stride, -stride]
        for i, j in coupled:
            out += [s[i] + s[j], s[i] - s[j], s[j] - s[i], -s[i] - s[j]]
        return out

    def neighbors(self, flat: np.ndarray, shifts: Sequence[int]) -> list[np.ndarray]:
        return [flat[self.rows.start + k : self.rows.stop + k] for k in shifts]

    def interpolation(self, at: np.ndarray, counts: np.ndarray) -> tuple[sparse.csr_array, float]:
        """Return the matrix that interpolates linearly at points (rows, m), and by how many cells those that count lie beyond the grid."""
        first = np.full(len(at), int(self.strides.sum()), np.int32)  # corner of the cell, in the flat array
        corners, values, beyond = np.zeros(1, np.int32), np.ones((len(at), 1)), 0.0
        for k, (axis, stride) in enumerate(zip(self.axes, self.strides)):
            s = np.nan_to_num((at[:, k] - axis[0]) / self.steps[k])
            cell = np.clip(np.floor(s), 0, len(axis) - 2)
            first += (cell * stride).astype(np.int32)
            weights = np.column_stack([1 - (s - cell), s - cell])
            values = (values[:, :, None] * weights[:, None, :]).reshape(len(at), -1)
            corners = (corners[:, None] + np.array([0, stride], np.int32)).ravel()
            own = s[counts]
            beyond = max(beyond, float(np.max(-own)), float(np.max(own - (len(axis) - 1))))
        starts = np.arange(0, values.size + 1, len(corners), dtype=np.int32)
        matrix = sparse.csr_array(
            (values.ravel(), (first[:, None] + corners).ravel(), starts),
            shape=(len(at), int(np.prod(self.padded_shape))),
        )
        return matrix, beyond


class _Backward:
    """The steps backward in time, on arrays that stay where they are; each thread has a share of the rows.

    `now` is the value at a time, `new` that a step earlier as far as it is known, and one of two arrays in turn the mean of both.
    """

    def __init__(self, equations: _Equations, grid: _Grid):
        self.equations, self.grid = equations, grid
        self.shifts = grid.shifts(equations.mixed_pairs)
        self.law, self.next, self._target = self._kernels()
        size, rows = int(np.prod(grid.padded_shape)), len(grid.points)
        self.now, self.new, self.change = np.zeros(size), np.zeros(size), np.zeros(rows)
        self.half = np.zeros(size), np.zeros(size)
        self.dt = np.zeros(())
        self.jumped = np.zeros((rows, len(equations.changes)))
        self._moving, self._begun = (
            any(ca.depends_on(change, equations.t) for change in equations.changes),
            False,
        )
        self.beyond = 0.0
        self._shares = grid.shares(pool.count())
        parts = [self._part(share) for share in self._shares]
        self._corrections = Corrections(self.now, self.new, self.half, self.jumped, parts, MOST)

    @property
    def threads(self) -> int:
        """How many threads have a share."""
        return len(self._shares)

    def _kernels(self) -> tuple[kernel.Kernel, kernel.Kernel, kernel.Kernel]:
        """Return native code: inputs of points, their value a step earlier, states after jumps."""
        e, t, x = self.equations, self.equations.t, self.equations.x
        near = [SX.sym(f"v{k}") for k in range(len(self.shifts))]
        jumped = SX.sym("jumped", len(e.changes))
        before, last, dt = (SX.sym(name) for name in ("before", "last", "dt"))
        slope, rate = self._differences(near)
        u, added = e.best(slope)
        rate += e.cost + ca.dot(e.drift, slope) + added + ca.dot(e.rates, jumped - near[0])
        earlier = before + dt * rate
        ranks = (1, 0, *[0] * len(near))
        targets = ca.horzcat(SX(e.states, 0), *(x + change for change in e.changes))
        return (
            kernel.compile(
                ca.Function("law", [x, t, *near], [ca.densify(u)]), finite=False, ranks=(ranks, (1,))
            ),
            kernel.compile(
                ca.Function(
                    "next",
                    [x, t, *near, jumped, before, last, dt],
                    [earlier, (earlier + before) / 2, earlier - last],
                ),
                finite=False,
                ranks=((*ranks, 1, 0, 0, 0), (0, 0, 0)),
            ),
            kernel.compile(
                ca.Function("target", [x, t], [ca.densify(targets).T]), finite=False, ranks=((1, 0), (2,))
            ),
        )

    def _own(self, share: _Share) -> slice:
        """Return the place of a share among the rows."""
        return slice(share.rows.start - self.grid.rows.start, share.rows.stop - self.grid.rows.start)

    def _part(self, share: _Share) -> ThreadShare:
        rows = self._own(share)
        t = np.zeros(())
        calls = self._bound(share, t, 0), self._bound(share, t, 1)
        after = Sums(share.matrix, share.layers)
        return ThreadShare(share.rows, self.change[rows], self.grid.own[rows], t, calls, after)

    def _bound(self, share: _Share, t: np.ndarray, turn: int) -> kernel.PreparedCall:
        """Return the call for a share of the rows that reads one of the two means and writes the other."""
        g, rows, here = self.grid, self._own(share), share.rows
        return self.next.bind(
            g.points[rows],
            t,
            *(near[rows] for near in g.neighbors(self.half[turn], self.shifts)),
            self.jumped[rows],
            self.now[here],
            self.new[here],
            self.dt,
            out=(self.new[here], self.half[1 - turn][here], self.change[rows]),
        )

    def _differences(self, near: Sequence[SX]) -> tuple[SX, SX]:
        """Return the gradient, and half the noise times the second derivatives."""
        h, e = self.grid.steps, self.equations
        slope = [(near[1 + 2 * i] - near[2 + 2 * i]) / (2 * h[i]) for i in range(e.states)]
        total = SX(0)
        for i in range(e.states):
            if e.spread.sparsity().has_nz(i, i):
                total += e.spread[i, i] * (near[1 + 2 * i] - 2 * near[0] + near[2 + 2 * i]) / (2 * h[i] ** 2)
        for k, (i, j) in enumerate(e.mixed_pairs):
            pp, pm, mp, mm = near[1 + 2 * e.states + 4 * k :][:4]
            total += e.spread[i, j] * (pp - pm - mp + mm) / (4 * h[i] * h[j])
        return ca.vertcat(*slope), total

    def begin(self, values: np.ndarray) -> None:
        """Set the values of the rows at the end."""
        self.now[self.grid.rows] = self.new[self.grid.rows] = values

    def run(self, times: np.ndarray, dt: float, tolerance: float, executor: Executor) -> int | None:
        """Take steps of dt backward, with rates at these times; return the number of corrections, none if they do not converge."""
        self.dt[...] = dt
        together = 1 if self._moving else max(TOGETHER // len(self.grid.points), 1)
        corrections = 0
        for part in (times[k : k + together] for k in range(0, len(times), together)):
            if self._moving or not self._begun:
                jumps = [self._sums(k, part[0], executor) for k in range(len(self.equations.changes))]
                self._corrections.before([[sums[k] for sums in jumps] for k in range(self.threads)])
                self._begun = True
            needed = self._corrections.run(part, tolerance, executor)
            if needed is None:
                return None
            corrections += needed
        return corrections

    def _sums(self, jump: int, t: float, executor: Executor) -> list[Sums]:
        """Return the interpolation of a jump, in shares that the threads make."""
        targets = self._target(self.grid.points, np.array(t))[:, jump]
        places = np.arange(jump, self.jumped.size, len(self.equations.changes))

        def sum_rows(rows: slice) -> tuple[Sums, float]:
            matrix, beyond = self.grid.interpolation(targets[rows], self.grid.own[rows])
            return Sums(matrix, places[rows]), beyond

        found = list(executor.map(sum_rows, map(self._own, self._shares)))
        self.beyond = max(self.beyond, *(beyond for _, beyond in found))
        return [sums for sums, _ in found]

    def inputs(self, values: np.ndarray, t: float) -> np.ndarray:
        """Return the best inputs at the points, (*shape, n)."""
        g = self.grid
        flat = values.copy()
        g.extend(flat)
        u = self.law(g.points, np.array(t), *g.neighbors(flat, self.shifts))
        return u[g.own].reshape(*g.shape, -1)


@dataclass(frozen=True, eq=False)
class FeedbackLaw:
    """Inputs of least expected cost for every state and time.

    Parameters
    ----------
    axes : tuple of array
        Coordinates of the grid.
    t : array, (k,) [s]
        Times that are kept, ascending, from 0 to the end.
    values : array, (k, *grid)
        Least expected cost from there on.
    inputs : array, (k, *grid, n)
    names : tuple of str
        Names of the states.
    steps : int
        In time.
    corrections : float
        Mean number per step.
    beyond : float
        By how many cells jumps lead beyond the grid, at most; 0 if none does.
    leaving : dict of str to float
        For each face of the grid through which the drift leads out at the start, at which part of its points.
    """

    axes: tuple[np.ndarray, ...]
    t: np.ndarray
    values: np.ndarray
    inputs: np.ndarray
    names: tuple[str, ...]
    steps: int
    corrections: float
    beyond: float
    leaving: dict[str, float]
    _coarser: Any

    def value(self, x: Any, t: float = 0.0) -> np.ndarray:
        """Return the least expected cost from states (..., m) at a time, linear between points; they must lie within the grid."""
        x = self._states(x)
        low, high = (np.array([axis[k] for axis in self.axes]) for k in (0, -1))
        if not ((x >= low) & (x <= high)).all():
            raise InputError(
                f"value: found a state beyond the grid; expected states between {low.tolist()} and {high.tolist()}"
            )
        return self._at(self.values, x, t)

    def input(self, x: Any, t: float = 0.0) -> np.ndarray:
        """Return the inputs at states (..., m) and a time, linear between points; beyond the grid those of the nearest point of its edge."""
        x = self._states(x)
        low, high = (np.array([axis[k] for axis in self.axes]) for k in (0, -1))
        return self._at(self.inputs, np.clip(x, low, high), t)

    def _states(self, x: Any) -> np.ndarray:
        x = np.asarray(x, dtype=float)
        if x.shape[-1:] != (len(self.axes),):
            raise InputError(
                f"feedback law: found states of shape {x.shape}; expected (..., {len(self.axes)}): {', '.join(self.names)}"
            )
        return x

    def _at(self, table: np.ndarray, x: np.ndarray, t: float) -> np.ndarray:
        now = np.clip(t, self.t[0], self.t[-1])
        k = int(np.clip(np.searchsorted(self.t, now, side="right") - 1, 0, len(self.t) - 2))
        part = (now - self.t[k]) / (self.t[k + 1] - self.t[k])
        return RegularGridInterpolator(self.axes, (1 - part) * table[k] + part * table[k + 1])(x)

    def error(self, within: float = 1.0) -> float:
        """Return the estimated largest error of the values at the start, from half as many intervals and steps, by order two.

        Parameters
        ----------
        within : float
            Part of the grid about its middle that is examined: 0.5 leaves out a quarter of each axis at both ends.
        """
        if any(len(axis) % 2 == 0 or len(axis) < 9 for axis in self.axes):
            raise InputError(
                f"error: found {[len(a) for a in self.axes]} points; expected odd numbers of at least 9, half of which are a grid too"
            )
        off = np.abs(self.values[0][(slice(None, None, 2),) * len(self.axes)] - self._coarse.values[0]) / 3
        near = [
            np.abs(a - (a[0] + a[-1]) / 2) <= within * (a[-1] - a[0]) / 2 * (1 + 1e-12)
            for a in self._coarse.axes
        ]
        return float(off[np.ix_(*near)].max())

    @cached_property
    def _coarse(self) -> FeedbackLaw:
        return self._coarser()

    def component(
        self,
        signals: Sequence[str] = ("q", "v"),
        *,
        times: int | None = None,
        period: float | None = None,
        name: str = "feedback_law",
    ) -> Expression:
        """Return the law as a controller for `Loop` and `simulate`: an interpolated table in native code.

        Parameters
        ----------
        signals : sequence of str
            What the states are, one after another: "q", "v" or signals of sensors.
        times : int
            How many of the kept times the table has, evenly chosen; 1: the law of the start at all times. As many as a table of 100 000
            rows holds if not given.
        period : float [s]
            Sampling period; continuous if not given.
        name : str
        """
        points, (count, n) = int(np.prod(self.values.shape[1:])), (len(self.t), self.inputs.shape[-1])
        wanted = min(count, max(ROWS // points, 1)) if times is None else times
        if not 1 <= wanted <= count or wanted * points > max(ROWS, points):
            raise InputError(
                f"component: found {wanted} times of {points} points; expected 1 to {min(count, max(ROWS // points, 1))}, that the table "
                f"has at most {ROWS} rows. times=1 takes the law of the start at all times"
            )
        chosen = np.unique(np.linspace(0, count - 1, wanted).round().astype(int)) if wanted > 1 else [0]
        return Expression(
            self._function(signals, self.t[chosen], self.inputs[chosen].reshape(-1, n)),
            inputs=("t", *signals),
            period=period,
            name=name,
        )

    def _function(self, signals: Sequence[str], t: np.ndarray, table: np.ndarray) -> ca.Function:
        """Return the function of time and signals that interpolates; each signal has as many entries as there are states left for it."""
        m = len(self.axes)
        if m % len(signals):
            raise InputError(
                f"component: found {len(signals)} signals for {m} states; expected signals of equal length that make up {', '.join(self.names)}"
            )
        clock = SX.sym("t")
        parts = [SX.sym(f"signal{k}", m // len(signals)) for k in range(len(signals))]
        x = ca.vertcat(*parts)
        places, weights = [], []
        axes = [t, *self.axes] if len(t) > 1 else list(self.axes)
        for axis, value in zip(axes, ([clock] if len(t) > 1 else []) + ca.vertsplit(x)):
            s = _cells(axis, value)
            cell = ca.fmin(ca.floor(s), len(axis) - 2)
            places.append(cell)
            weights.append(s - cell)
        sizes = [len(axis) for axis in axes]
        strides = np.append(np.cumprod(sizes[:0:-1])[::-1], 1)
        total = SX.zeros(table.shape[1])
        for corner in itertools.product((0, 1), repeat=len(axes)):
            place = sum(((p + c) * int(s) for p, c, s in zip(places, corner, strides)), SX(0))
            weight = SX(1)
            for c, w in zip(corner, weights):
                weight *= w if c else 1 - w
            total += weight * looked_up(table, place)
        return ca.Function("law", [clock, *parts], [total])

    def __str__(self) -> str:
        lines = [
            f"feedback law: {' x '.join(str(len(a)) for a in self.axes)} points, {self.steps} steps of {self.t[-1] / self.steps:.3g} s, "
            f"{self.corrections:.1f} corrections per step",
            f"  least expected cost at the start {self.values[0].min():.6g} to {self.values[0].max():.6g}",
        ]
        if self.beyond > 0:
            lines.append(f"  jumps lead up to {self.beyond:.2g} cells beyond the grid")
        if self.leaving:
            faces = ", ".join(f"{face} ({100 * part:.0f} %)" for face, part in self.leaving.items())
            lines.append(f"  the drift leads out of the grid at {faces}: values near there are extrapolated")
        return "\n".join(lines)


def _cells(axis: np.ndarray, value: SX) -> SX:
    """Return how many cells of an axis lie below a value, with the part of the one that it is in."""
    steps = np.diff(axis)
    if np.ptp(steps) <= 1e-9 * steps[0]:
        return ca.fmax(0, ca.fmin((value - axis[0]) / steps.mean(), len(steps)))
    parts = (ca.fmax(0, ca.fmin((value - a) / h, 1)) for a, h in zip(axis, steps))  # times that are kept
    return sum(parts, SX(0))


def feedback_law(
    x: SX,
    u: SX,
    drift: SX,
    *,
    cost: SX,
    duration: float,
    grid: Sequence[tuple[float, float, int]],
    u_bounds: Sequence[tuple[Any, Any]] | None = None,
    gaussian: Any = None,
    jumps: Sequence[Jump] = (),
    final: SX | None = None,
    time: SX | None = None,
    steps: int | None = None,
    samples: int = 17,
    tolerance: float = 1e-10,
) -> FeedbackLaw:
    """Return the inputs that make the expected cost least, for every state of a grid and every time.

    Parameters
    ----------
    x, u : casadi.SX
        Symbols of states and inputs.
    drift : casadi.SX, (m,)
        Rates of the states without noise, affine in u.
    cost : casadi.SX
        Per time; quadratic in u, with positive second derivatives.
    duration : float [s]
    grid : sequence of (float, float, int)
        For each state the lower and upper end of the grid and its number of points, 5 or more.
    u_bounds : sequence of (lower, upper)
        Numbers, or expressions of states and time.
    gaussian : casadi.SX or array, (m, r)
        What each of r independent Gaussian noises of unit intensity adds to the rates: G of G dW.
    jumps : sequence of Jump
    final : casadi.SX
        Cost of the state at the end.
    time : casadi.SX
        Symbol of the time in these expressions.
    steps : int
        In time. If not given four per interval of the finest axis, and twice as many where corrections do not converge.
    samples : int
        Times that are kept, spread evenly over the steps; all of them if there are fewer.
    tolerance : float
        Change of the values by the last correction, over their size.
    """
    equations = _equations(x, u, drift, cost, u_bounds, gaussian, jumps, final, time)
    box = _Grid(_axes(grid, equations))
    if not 0 < duration < np.inf:
        raise InputError(f"feedback_law: found a duration of {duration!r} s; expected a number above zero")
    if steps is not None and steps < 1:
        raise InputError(f"feedback_law: found {steps!r} steps; expected 1 or more")
    _check_on_grid(equations, box, duration)
    _check_finite({"cost at the end": equations.final}, equations, box, duration)
    backward = _Backward(equations, box)
    count = steps if steps is not None else 4 * (max(box.shape) - 1)
    for halved in range(HALVINGS + 1):
        backward_solution = _solve(backward, duration, count, max(samples, 2), tolerance)
        if backward_solution is not None:
            break
        _check_finite(equations.running, equations, box, duration)
        if steps is not None or halved == HALVINGS:
            raise NumericalError(
                f"feedback_law: corrections do not converge with {count} steps of {duration / count:.3g} s; expected steps of about "
                "the time in which drift or noise cross an interval of the grid. Give more steps, or none"
            )
        count *= 2
    assert backward_solution is not None
    times, values, inputs, corrections = backward_solution
    if backward.beyond > 1:
        warnings.warn(
            f"feedback_law: jumps lead up to {backward.beyond:.2g} cells beyond the grid, where values are extrapolated linearly; "
            "widen the grid beyond the states of interest",
            stacklevel=2,
        )

    def coarser() -> FeedbackLaw:
        half = [(low, high, (n + 1) // 2) for low, high, n in grid]
        return feedback_law(
            x, u, drift, cost=cost, duration=duration, grid=half, u_bounds=u_bounds, gaussian=gaussian, jumps=jumps,
            final=final, time=time, steps=-(-count // 2), samples=2, tolerance=tolerance,
        )  # fmt: skip

    return FeedbackLaw(
        box.axes,
        times,
        values,
        inputs,
        tuple(str(s) for s in ca.vertsplit(x)),
        count,
        corrections,
        max(backward.beyond, 0.0),
        _leaving(equations, box, inputs[0]),
        coarser,
    )


def _solve(
    backward: _Backward, duration: float, steps: int, samples: int, tolerance: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float] | None:
    """Return times that are kept, values and inputs there and the mean number of corrections; none if these do not converge."""
    g, e, dt = backward.grid, backward.equations, duration / steps
    final = kernel.compile(
        ca.Function("final", [e.x], [ca.densify(e.final)]), finite=False, ranks=((1,), (0,))
    )
    backward.begin(final(g.points))
    kept = np.linspace(0, steps, min(samples, steps + 1)).round().astype(int)
    values, inputs = np.zeros((len(kept), *g.shape)), np.zeros((len(kept), *g.shape, e.inputs))
    times = duration - (np.arange(steps) + 0.5) * dt
    corrections, last = 0, 0
    with ThreadPoolExecutor(backward.threads) as executor:
        for place in range(len(kept) - 1, -1, -1):
            k = steps - int(kept[place])  # steps are counted from the end
            needed = backward.run(times[last:k], dt, tolerance, executor)
            if needed is None:
                return None
            corrections, last = corrections + needed, k
            values[place] = g.inner(backward.new)
            inputs[place] = backward.inputs(backward.new, duration - k * dt)
    return duration * kept / steps, values, inputs, corrections / steps


def _equations(
    x: SX,
    u: SX,
    drift: SX,
    cost: SX,
    u_bounds: Sequence[tuple[Any, Any]] | None,
    gaussian: Any,
    jumps: Sequence[Jump],
    final: SX | None,
    time: SX | None,
) -> _Equations:
    m, n = x.numel(), u.numel()
    t = SX.sym("t") if time is None else time
    drift, cost = SX(drift), SX(cost)
    if drift.numel() != m:
        raise InputError(f"feedback_law: found {drift.numel()} rates; expected one per state, {m}")
    steering, curvature = ca.jacobian(drift, u), ca.hessian(cost, u)[0]
    if n and ca.depends_on(ca.vertcat(ca.vec(steering), ca.vec(curvature)), u):
        what = "drift" if ca.depends_on(ca.vec(steering), u) else "cost"
        shape = "affine" if what == "drift" else "quadratic"
        raise InputError(
            f"feedback_law: found a {what} that is not {shape} in the inputs; expected that it is"
        )
    nothing = SX.zeros(n)
    spread = SX(m, m)
    if gaussian is not None:
        G = SX(gaussian)
        if G.shape[0] != m:
            raise InputError(f"feedback_law: found noise of shape {G.shape}; expected one row per state, {m}")
        spread = ca.sparsify(ca.mtimes(G, G.T))
    for k, jump in enumerate(jumps):
        if SX(jump.change).numel() != m:
            raise InputError(
                f"feedback_law: jump {k} changes {SX(jump.change).numel()} numbers; expected one per state, {m}"
            )
    bounds = [(-np.inf, np.inf)] * n if u_bounds is None else list(u_bounds)
    if len(bounds) != n:
        raise InputError(f"feedback_law: found {len(bounds)} bounds of {n} inputs; expected a pair for each")
    for k, (low, high) in enumerate(bounds):
        if not isinstance(low, SX) and not isinstance(high, SX) and not low < high:
            raise InputError(
                f"feedback_law: found bounds {low!r} and {high!r} of input {u[k]}; expected the lower one first"
            )
    at_zero = lambda e: ca.substitute(SX(e), u, nothing) if n else SX(e)  # noqa: E731
    built = _Equations(
        x,
        t,
        at_zero(drift),
        steering,
        at_zero(cost),
        at_zero(ca.gradient(cost, u)),
        ca.sparsify(curvature),
        spread,
        ca.vertcat(SX(0, 1), *(SX(jump.rate) for jump in jumps)),
        tuple(SX(jump.change) for jump in jumps),
        SX(0) if final is None else SX(final),
        tuple(low for low, _ in bounds),
        tuple(high for _, high in bounds),
    )
    everything = ca.vertcat(
        built.drift, ca.vec(steering), built.cost, built.linear, ca.vec(curvature), ca.vec(spread), built.rates,
        *built.changes, built.final, *(SX(bound) for pair in bounds for bound in pair),
    )  # fmt: skip
    for symbol in ca.symvar(everything):
        if not any(ca.is_equal(symbol, known) for known in (*ca.vertsplit(x), t)):
            raise InputError(
                f"feedback_law: found the symbol {symbol} in the expressions; expected states, inputs and `time` only"
            )
    return built


def _axes(grid: Sequence[tuple[float, float, int]], equations: _Equations) -> tuple[np.ndarray, ...]:
    if len(grid) != equations.states:
        raise InputError(
            f"feedback_law: found {len(grid)} axes of the grid; expected one per state, {equations.states}"
        )
    for name, (low, high, n) in zip(ca.vertsplit(equations.x), grid):
        if not -np.inf < low < high < np.inf or n < 5:
            raise InputError(
                f"feedback_law: found the axis ({low!r}, {high!r}, {n!r}) of {name}; expected two numbers, the lower end first, and 5 points or more"
            )
    return tuple(np.linspace(low, high, n) for low, high, n in grid)


def _check_on_grid(equations: _Equations, grid: _Grid, duration: float) -> None:
    """Raise unless the cost is convex in the inputs, bounds do not cross and no jump has a rate below zero."""
    e, n = equations, equations.inputs
    if not n:
        raise InputError("feedback_law: found no inputs; expected at least one to choose")
    for where, values in _on_grid(ca.vec(ca.densify(e.quadratic)), equations, grid, duration):
        least = np.linalg.eigvalsh(np.nan_to_num(values).reshape(-1, n, n))[:, 0]
        if not least.min() > 0:
            raise InputError(
                f"feedback_law: the cost has the second derivative {least.min():.3g} with respect to the inputs "
                f"{where(int(least.argmin()))}; expected positive ones: without, inputs have no best value"
            )
    room = ca.vertcat(*(SX(high) - SX(low) for low, high in zip(e.lower, e.upper)))
    for where, values in _on_grid(room, equations, grid, duration):
        crossed = np.argwhere(~(values >= 0))
        if len(crossed):
            point, k = (int(i) for i in crossed[0])
            raise InputError(
                f"feedback_law: the lower bound of input {k} is above the upper one {where(point)}; expected the lower one first"
            )
    for where, values in _on_grid(e.rates, equations, grid, duration):
        wrong = np.argwhere(~((values >= 0) & (values < np.inf)))
        if len(wrong):
            point, k = (int(i) for i in wrong[0])
            raise InputError(
                f"feedback_law: jump {k} has the rate {values[point, k]:.3g} per second {where(point)}; expected zero or more"
            )


def _check_finite(parts: dict[str, SX], equations: _Equations, grid: _Grid, duration: float) -> None:
    """Raise where parts of the problem are not finite."""
    for what, given in parts.items():
        for where, values in _on_grid(given, equations, grid, duration):
            wrong = np.flatnonzero(~np.isfinite(values).all(axis=1))
            if len(wrong):
                raise InputError(
                    f"feedback_law: the {what} is not finite {where(int(wrong[0]))}; expected numbers on the whole grid"
                )


def _on_grid(
    given: SX, equations: _Equations, grid: _Grid, duration: float
) -> Iterator[tuple[Callable[[int], str], np.ndarray]]:
    """Yield values of an expression at the points of the grid, (points, n), and what says where one is; at several times if it changes."""
    points = grid.inside if ca.symvar(given) else grid.inside[:1]
    function = ca.Function("given", [equations.x, equations.t], [ca.densify(ca.vec(given))])
    for t in np.linspace(0, duration, MOMENTS if ca.depends_on(given, equations.t) else 1):
        values = np.asarray(function(points.T, float(t))).T
        yield lambda k, t=t: f"at {points[k].tolist()} and {t:g} s", values  # type: ignore[misc]


def _leaving(equations: _Equations, grid: _Grid, inputs: np.ndarray) -> dict[str, float]:
    """Return at which part of the points of each face the drift leads out; only faces with some."""
    u = SX.sym("u", equations.inputs)
    rate = equations.drift + ca.mtimes(equations.steering, u)
    function = ca.Function("drift", [equations.x, equations.t, u], [ca.densify(rate)])
    mesh = np.stack(np.meshgrid(*grid.axes, indexing="ij"), axis=-1)
    rates = kernel.compile(function, finite=False, ranks=((1, 0, 1), (1,)))(mesh, np.array(0.0), inputs)
    found = {}
    for k, (name, axis) in enumerate(zip(ca.vertsplit(equations.x), grid.axes)):
        for end, sign in ((0, -1), (-1, 1)):
            out = float((sign * np.take(rates[..., k], end, axis=k) > 0).mean())
            if out > 0:
                found[f"{name} = {axis[end]:g}"] = out
    return found
