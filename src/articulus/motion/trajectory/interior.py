"""Solve a program on a Hermite-Simpson mesh by a primal-dual interior point with Newton steps of its own structure.

Bounds are kept by a barrier whose weight mu is chosen anew in every iteration from what a step without it would reach. The two parts of a
step, that without the barrier and what mu adds to it, are two right-hand sides of one system (`condensed`). Steps are as long as the
bounds, then a merit of cost, barrier and residuals, allow. Unknowns whose bounds agree, and equations beside those of motion, are
held by weights 1 / HELD with multipliers, which is exact when the search has converged.

Source: Mehrotra 1992 (choice of mu); Nocedal & Wright 2006, chapter 19 (steps to the boundary, merit and its penalty, regularization).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import numpy as np

from articulus.motion.trajectory.condensed import Condensed, SaddleSystem
from articulus.motion.trajectory.ipopt import LAST, Solution, cost_factor, interruptible
from articulus.motion.trajectory.program import NonlinearProgram, Part

MOST = 200
"""Iterations after which the search is left to ipopt."""
HELD = 1e-8
"""Compliance of what is held by weights."""
INSIDE = 1e-2
"""Distance from bounds at the start, over the distance between them or the size of the bound."""
NEARLY, NEAR_MU = 1e-3, 1e-5
"""The same distance, and mu, where the start is the solution on a coarser mesh or for wider bounds."""
LARGEST_SLOPE = 100.0
"""Largest derivative of a constraint, and of the cost, that counts as it is: larger ones are divided to this size."""
LEAST_MU = 1e-3
"""Least mu over the tolerance."""
COUPLED = 1e-5, 1e-3
"""Least mu over the largest residual, from any start and near a solution: as long as the residual is large, mu does not fall below the mean product of
distances from bounds and multipliers."""
TIGHTER = 1e-2
"""Error over the tolerance at which the search stops: the last steps of Newton's method gain many digits each."""
STALLED = 4
"""Steps that do not halve the error while bounds have their multipliers, after which rounding is what is left of it."""
ARMIJO, HALVINGS = 1e-4, 12
"""Part of the expected decrease of the merit that a step must bring; shorter steps that are tried."""
FIRST_CURVATURE, LEAST_CURVATURE, MOST_CURVATURE = 1e-4, 1e-16, 1e8
"""Regularization of W: first, least and largest."""
DUAL_SIZE = 100.0
"""Mean size of multipliers from which on residuals count over that size."""


class _Search:
    """The search; unknowns X are those of the program over their sizes, then one for each row with an inequality."""

    def __init__(
        self, program: NonlinearProgram, structure: Condensed, start: np.ndarray, tolerance: float, near: bool
    ):
        self.program, self.structure, self.tolerance = program, structure, tolerance
        self.scale, self.factor = program.scale, cost_factor(program, start)
        self.seconds = 0.0
        self.n, self.begin = program.size, int(program.first_rows[2])
        lower, upper = program.bounds
        self.level = np.where(lower == upper, lower, 0.0)
        self.loose = np.flatnonzero(lower[self.begin :] < upper[self.begin :])
        rows = self.begin + self.loose
        self.lower = np.concatenate([program.lower / self.scale, lower[rows]])
        self.upper = np.concatenate([program.upper / self.scale, upper[rows]])
        self.fixed = np.flatnonzero(self.upper[: self.n] - self.lower[: self.n] <= HELD)
        free = np.ones(len(self.lower), bool)
        free[self.fixed] = False
        self.below = np.flatnonzero(free & np.isfinite(self.lower))
        self.above = np.flatnonzero(free & np.isfinite(self.upper))
        self._first_scales = [self.scale[b.index[:, b.jacobian_pattern[1]]] for b in program.constraints]
        self._second_scales = [_pairs(b, self.scale) for b in (*program.costs, *program.constraints)]
        self.near = near
        self.curvature = 0.0
        self.added: list[float] = []
        self.cost, self.gradient = 0.0, np.zeros(0)
        self.first: list[np.ndarray] = []
        self._start(start, near)
        self.row_scale = self._row_scales()

    def _start(self, start: np.ndarray, near: bool) -> None:
        """Begin between the bounds; near a solution closer to them, with multipliers that fit."""
        x = np.clip(start, self.program.lower, self.program.upper) / self.scale
        rows = self.program.residuals(x * self.scale)[self.begin :][self.loose]
        X = np.concatenate([x, rows])
        width = np.where(np.isfinite(self.upper - self.lower), self.upper - self.lower, np.inf)
        for bound, places, sign in ((self.lower, self.below, 1), (self.upper, self.above, -1)):
            inside = NEARLY if near else INSIDE
            away = np.minimum(inside * np.maximum(1, np.abs(bound[places])), inside * width[places])
            if sign > 0:
                X[places] = np.maximum(X[places], bound[places] + away)
            else:
                X[places] = np.minimum(X[places], bound[places] - away)
        self.z = tuple(NEAR_MU / gap if near else np.ones(len(gap)) for gap in self.gaps(X))
        self.move(X, np.zeros(int(self.program.first_rows[-1])), *self.values(X))
        if (steep := np.abs(self.gradient).max(initial=0.0)) > LARGEST_SLOPE:
            smaller = LARGEST_SLOPE / steep
            self.factor, self.cost, self.gradient = (
                smaller * y for y in (self.factor, self.cost, self.gradient)
            )

    def _row_scales(self) -> np.ndarray:
        """Return by what residuals are multiplied: where derivatives are large, so that they count as LARGEST_SLOPE."""
        most = []
        for block, values in zip(self.program.constraints, self.first):
            rows = [np.abs(values[:, block.jacobian_pattern[0] == k]) for k in range(block.width)]
            most.append(np.stack([row.max(1, initial=0.0) for row in rows], 1).ravel())
        return np.minimum(1.0, LARGEST_SLOPE / np.maximum(np.concatenate(most), 1e-300))

    # functions

    def values(self, X: np.ndarray) -> tuple[float, np.ndarray]:
        """Return cost and residuals."""
        begun, x = time.process_time(), X[: self.n] * self.scale
        rows = self.program.residuals(x) - self.level
        rows[self.begin + self.loose] -= X[self.n :]
        cost = self.factor * self.program.cost(x)
        self.seconds += time.process_time() - begun
        return cost, rows

    def move(self, X: np.ndarray, multipliers: np.ndarray, cost: float, rows: np.ndarray) -> None:
        """Go to a point whose cost and residuals are known."""
        begun, x = time.process_time(), X[: self.n] * self.scale
        self.X, self.multipliers, self.cost, self.rows = X, multipliers, cost, rows
        self.gradient = self.factor * self.scale * self.program.gradient(x)
        self.first = [b.jacobian(x) * s for b, s in zip(self.program.constraints, self._first_scales)]
        self.seconds += time.process_time() - begun
        self.pull = self._pull_back()

    def second(self) -> list[np.ndarray]:
        """Return the second derivatives of all blocks."""
        begun, x, p = time.process_time(), self.X[: self.n] * self.scale, self.program
        made = [b.hessian(x, np.full((len(b.index), 1), self.factor)) for b in p.costs]
        for block, first in zip(p.constraints, p.first_rows):
            own = self.multipliers[first : first + block.rows].reshape(len(block.index), -1)
            made.append(block.hessian(x, own))
        made = [h * s for h, s in zip(made, self._second_scales)]
        self.seconds += time.process_time() - begun
        return made

    def _pull_back(self) -> np.ndarray:
        """Return J' multipliers, by x."""
        total = np.zeros(self.n)
        for block, values, begin in zip(self.program.constraints, self.first, self.program.first_rows):
            i, j = block.jacobian_pattern
            own = self.multipliers[begin : begin + block.rows].reshape(len(block.index), -1)
            total += np.bincount(block.index[:, j].ravel(), (values * own[:, i]).ravel(), self.n)
        return total

    # one iteration

    def gaps(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the distances from lower and from upper bounds."""
        return X[self.below] - self.lower[self.below], self.upper[self.above] - X[self.above]

    def error(self) -> float:
        """Return the largest residual of the conditions of optimality, over their sizes."""
        slope = self.slope
        slope[self.below] -= self.z[0]
        slope[self.above] += self.z[1]
        slope[self.fixed] = 0.0
        together = np.concatenate([g * z for g, z in zip(self.gaps(self.X), self.z)])
        z = sum(float(each.sum()) for each in self.z)
        count = len(self.below) + len(self.above)
        mean = (float(np.abs(self.multipliers).sum()) + z) / max(len(self.multipliers) + count, 1)
        self.balance = max(
            float(np.abs(slope).max()) / max(1.0, mean / DUAL_SIZE),
            float(np.abs(self.rows * self.row_scale).max(initial=0.0)),
        )
        self.pressing = float(together.max(initial=0.0)) / max(1.0, z / max(count, 1) / DUAL_SIZE)
        return max(self.balance, self.pressing)

    @property
    def slope(self) -> np.ndarray:
        """Derivatives of cost and constraints, with their multipliers, by X."""
        own = self.multipliers[self.begin :][self.loose]
        return np.concatenate([self.gradient + self.pull, -own])

    def step(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Return both parts of the change of X and of the new multipliers, (2, ...) each; None if W cannot be made positive definite."""
        n, begin = self.n, self.begin
        barrier, diagonal = np.zeros(len(self.X)), np.zeros(len(self.X))
        for places, gap, z, sign in zip((self.below, self.above), self.gaps(self.X), self.z, (-1, 1)):
            barrier[places] += sign / gap
            diagonal[places] += z / gap
        diagonal[self.fixed] = 1 / HELD
        g = np.array([self.gradient, barrier[:n]])
        g[0, self.fixed] = -self.pull[self.fixed]
        weights = np.full(len(self.multipliers) - begin, 1 / HELD)
        barrier_weights = np.zeros((2, len(weights)))
        barrier_weights[0] = self.multipliers[begin:]
        weights[self.loose], barrier_weights[0, self.loose], barrier_weights[1, self.loose] = (
            diagonal[n:],
            0.0,
            barrier[n:],
        )
        r = np.array([self.rows, np.zeros(len(self.multipliers))])
        second, curvature = self.second(), 0.0
        place = self.structure.layout.duration
        duration = float(self.X[place] * self.scale[place])
        while True:
            system = SaddleSystem(self.first, second, diagonal[:n] + curvature, weights, duration)
            direction = self.structure.solve(system, g, r, barrier_weights)
            if direction is not None and np.isfinite(direction[0]).all() and np.isfinite(direction[1]).all():
                break
            curvature = self._stiffer(curvature)
            if curvature > MOST_CURVATURE:
                return None
        self.added.append(curvature)
        dx, multipliers = direction
        dx[:, self.fixed] = 0.0
        slack = (multipliers[:, begin:][:, self.loose] - barrier_weights[:, self.loose]) / diagonal[n:]
        return np.hstack([dx, slack]), multipliers

    def _stiffer(self, curvature: float) -> float:
        """Return the regularization after one that was too small: a third of the last that was needed, then more and more."""
        least = max(self.curvature / 3, LEAST_CURVATURE) if self.curvature else FIRST_CURVATURE
        self.curvature = 8 * curvature if curvature else least
        return self.curvature

    def longest(self, dX: np.ndarray, keep: float) -> float:
        """Return the step length, at most 1, that leaves `1 - keep` of all distances from bounds."""
        gaps = self.gaps(self.X)
        return min(
            _longest(gaps[0], dX[self.below], keep),
            _longest(gaps[1], -dX[self.above], keep),
        )

    def changes(self, dX: np.ndarray, mu: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the changes of the multipliers of bounds that go with a change of X."""
        (a, b), (below, above) = self.gaps(self.X), self.z
        return (mu - below * dX[self.below]) / a - below, (mu + above * dX[self.above]) / b - above

    def center(self, dX: np.ndarray) -> float:
        """Return mu for a step whose part without the barrier is dX: small where that one goes far."""
        count = len(self.below) + len(self.above)
        if not count:
            return 0.0
        gaps, dz = self.gaps(self.X), self.changes(dX, 0.0)
        along = self.longest(dX, 1.0)
        dual = min(_longest(z, d, 1.0) for z, d in zip(self.z, dz))
        now = sum(float(g @ z) for g, z in zip(gaps, self.z)) / count
        moved = self.gaps(self.X + along * dX)
        then = sum(float(g @ (z + dual * d)) for g, z, d in zip(moved, self.z, dz)) / count
        floor = min(now, COUPLED[self.near] * self.balance)
        return max((then / now) ** 3 * now, floor, LEAST_MU * self.tolerance)

    def merit(self, X: np.ndarray, cost: float, rows: np.ndarray, mu: float) -> tuple[float, float]:
        """Return cost with barrier, and the sum of all residuals."""
        logs = sum(float(np.log(gap).sum()) for gap in self.gaps(X))
        return cost - mu * logs, float(np.abs(rows * self.row_scale).sum())

    def iterate(self) -> bool:
        """Take one step; return whether one was found."""
        found = self.step()
        if found is None:
            return False
        parts, both = found
        mu = self.center(parts[0])
        dX, multipliers = parts[0] + mu * parts[1], both[0] + mu * both[1]
        keep = max(0.99, 1 - mu)
        length, dz = self.longest(dX, keep), self.changes(dX, mu)
        value, off = self.merit(self.X, self.cost, self.rows, mu)
        gaps = self.gaps(self.X)
        falling = float(self.gradient @ dX[: self.n])
        falling += mu * (float((dX[self.above] / gaps[1]).sum()) - float((dX[self.below] / gaps[0]).sum()))
        bending = max(float(multipliers @ self.rows) - falling, 0.0)
        penalty = 0.0 if off == 0 else max(0.0, (falling + bending / 2) / (0.9 * off))
        expected = falling - penalty * off
        noise = 1e-13 * (abs(value) + penalty * off)
        for _ in range(HALVINGS):
            X = self.X + length * dX
            cost, rows = self.values(X)
            other, left = self.merit(X, cost, rows, mu)
            change = other + penalty * left - value - penalty * off
            if np.isfinite(change) and change <= ARMIJO * length * min(expected, 0.0) + noise:
                break
            length /= 2
        else:
            return False
        dual = min(_longest(z, d, keep) for z, d in zip(self.z, dz))
        self.z = tuple(z + dual * d for z, d in zip(self.z, dz))
        self.move(X, self.multipliers + length * (multipliers - self.multipliers), cost, rows)
        return True


def solve_condensed(
    program: NonlinearProgram,
    structure: Condensed,
    start: np.ndarray,
    *,
    tolerance: float,
    iterations: int,
    time_limit: float,
    near: bool = False,
    tell: Callable[[], None] = lambda: None,
) -> Solution | None:
    """Return the solution of a program, or None where the search did not come to one: ipopt may.

    Parameters
    ----------
    program : NonlinearProgram
    structure : Condensed
        Program to solve.
    start : array, (n,)
        Where to begin.
    tolerance : float
        Tolerance of the conditions of optimality, over their sizes.
    iterations : int
        At most.
    time_limit : float [s]
        Wall-clock time.
    near : bool
        Whether the start is near the solution.
    tell : function
        Called before every iteration.
    """
    begun, stop, status = time.perf_counter(), threading.Event(), ""
    with interruptible(stop), np.errstate(all="ignore"):
        search = _Search(program, structure, start, tolerance, near)
        best, since = np.inf, 0
        for count in range(min(MOST, iterations) + 1):
            tell()
            error = search.error()
            best, since = (error, 0) if error < best / 2 else (best, since + 1)
            rounding = since >= STALLED and search.pressing <= TIGHTER * tolerance
            if error <= (tolerance if rounding else TIGHTER * tolerance):
                status = "Solve_Succeeded"
                break
            if stop.is_set():
                status = "User_Requested_Stop"
                break
            if time.perf_counter() - begun > time_limit:
                status = "Maximum_WallTime_Exceeded"
                break
            if count == iterations:
                status = "Maximum_Iterations_Exceeded"
                break
            if not search.iterate():
                status = "Solve_Succeeded" if error <= tolerance else ""
                break
    if not status:
        return None
    x = search.X[: program.size]
    bounds = np.zeros(program.size)
    own = [places < program.size for places in (search.below, search.above)]
    bounds[search.below[own[0]]] -= search.z[0][own[0]]
    bounds[search.above[own[1]]] += search.z[1][own[1]]
    bounds[search.fixed] = -search.slope[search.fixed]
    return Solution(
        x * program.scale,
        search.cost / search.factor,
        search.multipliers / search.factor,
        bounds / (search.factor * program.scale),
        status,
        count,
        time.perf_counter() - begun,
        search.seconds,
        min(search.added[-LAST:], default=0.0),
    )


def _longest(gap: np.ndarray, change: np.ndarray, keep: float) -> float:
    """Return the step length, at most 1, that leaves `1 - keep` of each gap."""
    closing = change < 0
    return min(1.0, float((keep * gap[closing] / -change[closing]).min(initial=1.0)))


def _pairs(block: Part, scale: np.ndarray) -> np.ndarray:
    """Return by what each second derivative is multiplied when x / scale are the unknowns."""
    i, j = block.hessian_pattern
    return scale[block.index[:, i]] * scale[block.index[:, j]]
