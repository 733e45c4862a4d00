"""Staircase linear programs by the active-set L1 method with staircase factors (Psiaki 1989).

What violates rows is in the cost, times a penalty; so any guess may be the start, and an infeasible program ends where it violates least.
At first every unknown is held at its guess by a pseudo constraint. From the last stage back, one after another is let go: its unknown
moves, and with it the active rows of later stages, until a row's penalty has a kink. There the multiplier of that row is let loose until
another multiplier reaches its bound, and the two rows are exchanged (a dual ratio test): so the stages that were let go stay optimal. The
work of an exchange is that of the stages it touches.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from articulus.errors import InputError
from articulus.motion.trajectory.staircase.ql import StaircaseQL
from articulus.motion.trajectory.staircase.stages import RowViolation, Stage, StageSolution, entry

PENALTY = 1e4
"""Penalty over the largest entry of the cost. A program whose multipliers are larger ends as infeasible; it is then solved once more with a
penalty a thousand times as large."""
SMALL = 1e-9
"""Multiplier over the size of the cost, rate of a row over the size of a move: below it they count as zero."""
KEPT = 1e-7
"""Violation of a row over the size of its bounds, above which it counts."""
STALLED = 200
"""Exchanges per unknown and stage after which the search ends."""


def solve_active_set(stages: tuple[Stage, ...], guess: Sequence[np.ndarray] | None = None) -> StageSolution:
    """Return the solution of a linear program.

    Parameters
    ----------
    stages : tuple of Stage
        Without H.
    guess : sequence of array
        Unknowns of each stage to start from; the numbers nearest to zero within the bounds if not given.
    """
    for k, s in enumerate(stages):
        if s.H is not None and np.any(s.H):
            raise InputError(
                f'method "active_set": stage {k} has a matrix H; expected a linear program. "interior_point" takes both'
            )
    size = max(np.abs(s.c).max(initial=0.0) for s in stages) or 1.0
    for penalty in (PENALTY * size, 1e3 * PENALTY * size):
        search = _Search(stages, guess, penalty, size)
        status = search.run()
        violations = search.violations() if status == "solved" else ()
        if status != "solved" or not violations:
            break
    return search.solution(status, violations)


class _Search:
    """State of the search.

    Rows of stage k: the stage's own, its step (an equation, with the states after), bounds of its unknowns, pseudo constraints.
    """

    def __init__(
        self, stages: tuple[Stage, ...], guess: Sequence[np.ndarray] | None, penalty: float, size: float
    ):
        self.stages, self.penalty, self.small = stages, penalty, SMALL * size
        sizes = [s.size for s in stages]
        if guess is None:
            self.x = [np.clip(0.0, s.low, s.high) for s in stages]
        else:
            self.x = [np.array(g, dtype=float) for g in guess]
        self.own, self.after, self.lower, self.upper = [], [], [], []
        for s, n_after, x in zip(stages, [*sizes[1:], 0], self.x):
            bounded = np.flatnonzero(np.isfinite(s.low) | np.isfinite(s.high))
            step = np.zeros((0, s.size)) if s.step is None else s.step
            own = np.vstack([s.rows, step, np.eye(s.size)[bounded], np.eye(s.size)])
            after = np.zeros((len(own), n_after))
            after[len(s.rows) : len(s.rows) + len(step), : len(step)] = -np.eye(len(step))
            shift = np.zeros(0) if s.step is None else -s.shift
            self.own.append(own)
            self.after.append(after)
            self.lower.append(np.concatenate([s.lower, shift, s.low[bounded], x]))
            self.upper.append(np.concatenate([s.upper, shift, s.high[bounded], x]))
        self.first_pseudo = [len(own) - n for own, n in zip(self.own, sizes)]
        self.active = [list(range(first, first + n)) for first, n in zip(self.first_pseudo, sizes)]
        self.side = [
            np.zeros(len(own)) for own in self.own
        ]  # multiplier of inactive rows, over the penalty: -1, 0, 1
        for k in range(len(stages)):
            value = self._value(k)
            self.side[k] = np.where(value > self.upper[k], 1.0, np.where(value < self.lower[k], -1.0, 0.0))
            self.side[k][self.first_pseudo[k] :] = 0.0
            equal = (self.lower[k] == self.upper[k]) & (self.side[k] == 0.0)
            equal[self.first_pseudo[k] :] = False
            self.side[k][equal] = 1.0  # an equation that is just kept counts as about to be broken
        self.free = [np.ones(len(own), dtype=bool) for own in self.own]  # inactive and not pseudo
        for k, first in enumerate(self.first_pseudo):
            self.free[k][first:] = False
        self.factors = StaircaseQL(
            [own[act] for own, act in zip(self.own, self.active)],
            [after[act] for after, act in zip(self.after[:-1], self.active)],
        )
        self.at = [
            np.ones(len(own)) for own in self.own
        ]  # bound that an active row is held at: -1 lower, 1 upper
        self.iterations, self.since = 0, 0
        self._multipliers()

    def _value(self, k: int) -> np.ndarray:
        value = self.own[k] @ self.x[k]
        return value if k == len(self.x) - 1 else value + self.after[k] @ self.x[k + 1]

    def _multipliers(self) -> None:
        """Compute the multipliers of all active rows."""
        cost = {k: -s.c for k, s in enumerate(self.stages)}
        for k, side in enumerate(self.side):
            on = self.free[k] & (side != 0)
            pull = self.penalty * side[on]
            cost[k] = cost[k] - self.own[k][on].T @ pull
            if k < len(self.side) - 1:
                cost[k + 1] = cost[k + 1] - self.after[k][on].T @ pull
        found = self.factors.dual(cost)
        self.mu = [found.get(k, np.zeros(len(act))) for k, act in enumerate(self.active)]

    def run(self) -> str:
        """Let pseudo constraints go from the last stage to the first."""
        most = STALLED * sum(s.size for s in self.stages)
        for k in range(len(self.stages) - 1, -1, -1):
            pseudo = self.first_pseudo[k]
            while held := [
                row
                for i, row in enumerate(self.active[k])
                if row >= pseudo and abs(self.mu[k][i]) > self.small
            ]:
                row = max(held, key=lambda row: abs(self.mu[k][self.active[k].index(row)]))
                # on until it is let go: changing to another on the way could undo what was done
                while row in self.active[k] and abs(self.mu[k][self.active[k].index(row)]) > self.small:
                    if not self._move(k, self.active[k].index(row)):
                        return "unbounded"
                    if self.iterations > most:
                        return "not converged"
        return "solved"

    def _move(self, k: int, i: int) -> bool:
        """Move what pseudo constraint i of stage k holds to the next kink, and exchange rows there; False if there is none."""
        self.iterations += 1
        sign = 1.0 if self.mu[k][i] > 0 else -1.0
        dx = {j: sign * d for j, d in self.factors.unit(k, i).items()}
        kink = self._kink(dx)
        if kink is None:
            return False
        alpha, stage, row, way, jump = kink
        grows_from = self.side[stage][row]
        self.at[stage][row] = (
            (-1.0 if grows_from < 0 else 1.0) if way > 0 else (1.0 if grows_from > 0 else -1.0)
        )
        for j, d in dx.items():
            self.x[j] = self.x[j] + alpha * d
        pull = {stage: self.own[stage][row]}
        if stage < len(self.stages) - 1:
            pull[stage + 1] = self.after[stage][row]
        y = {j: way * v for j, v in self.factors.dual(pull).items()}
        theta, gone, bound = self._ratio(y, jump, k)
        for j, v in y.items():
            self.mu[j] = self.mu[j] - theta * v
        mine = self.side[stage][row] * self.penalty + way * theta
        if gone is None:  # the row is passed: its penalty is as steep as it gets
            self.side[stage][row] = round(mine / self.penalty)
            return True
        self._exchange(gone, bound, stage, row, mine)
        return True

    def _kink(self, dx: dict[int, np.ndarray]) -> tuple[float, int, int, float, float] | None:
        """Return how far to go to the nearest kink, the row, whether its value grows (1 or -1), and by how much its multiplier may change."""
        best: tuple[float, float, int, int] | None = None
        size = max(np.abs(d).max() for d in dx.values())
        for k in sorted({j for j in (*dx, *(j - 1 for j in dx)) if j >= 0}):
            rate = self.own[k] @ dx[k] if k in dx else np.zeros(len(self.own[k]))
            if k + 1 in dx:
                rate = rate + self.after[k] @ dx[k + 1]
            side = self.side[k]
            value = self._value(k)
            up, down = rate > SMALL * size, rate < -SMALL * size
            goal = np.where(
                up,
                np.where(side < 0, self.lower[k], np.where(side == 0, self.upper[k], np.inf)),
                np.where(side > 0, self.upper[k], np.where(side == 0, self.lower[k], -np.inf)),
            )
            look = np.flatnonzero(self.free[k] & (up | down) & np.isfinite(goal))
            if not len(look):
                continue
            way = np.maximum((goal[look] - value[look]) / rate[look], 0.0)
            least = way.min()
            # of rows at the same place the one that moves fastest: the largest pivot
            near = look[way <= least + 1e-12 * (1 + least)]
            row = int(near[np.argmax(np.abs(rate[near]))])
            if (
                best is None
                or least < best[0] - 1e-12 * (1 + least)
                or (least <= best[0] + 1e-12 * (1 + least) and abs(rate[row]) > abs(best[1]))
            ):
                best = float(least), float(rate[row]), k, row
        if best is None:
            return None
        far, speed, k, row = best
        equal = self.lower[k][row] == self.upper[k][row]
        return far, k, row, float(np.sign(speed)), (2.0 if equal else 1.0) * self.penalty

    def _ratio(
        self, y: dict[int, np.ndarray], jump: float, sweep: int
    ) -> tuple[float, tuple[int, int] | None, float]:
        """Return how far the multiplier of the new row goes, which active row then leaves, and at which bound its own multiplier is."""
        best, gone, at = jump, None, 0.0
        pivot = 0.0
        size = max((np.abs(v).max(initial=0.0) for v in y.values()), default=0.0)
        for k, v in y.items():
            low, high = self._ranges(k)
            falls = v > SMALL * size
            rises = v < -SMALL * size
            goal = np.where(falls, low, high) * self.penalty
            # a pseudo constraint that is still held may have any multiplier, but not pass zero
            at_guess = np.array([row >= self.first_pseudo[k] for row in self.active[k]], dtype=bool)
            if k <= sweep:
                waits = at_guess & (np.abs(self.mu[k]) > self.small)
                toward = np.where(falls, self.mu[k] > 0, self.mu[k] < 0)
                goal = np.where(waits & ~toward, np.where(falls, -np.inf, np.inf), goal)
                if k < sweep:
                    goal = np.where(at_guess, np.where(falls, -np.inf, np.inf), goal)
            look = np.flatnonzero((falls | rises) & np.isfinite(goal))
            if not len(look):
                continue
            theta = np.maximum((self.mu[k][look] - goal[look]) / v[look], 0.0)
            i = int(np.lexsort((-np.abs(v[look]), theta))[0])
            near = theta <= theta[i] + 1e-12 * self.penalty
            i = int(np.flatnonzero(near)[np.argmax(np.abs(v[look][near]))])
            if theta[i] < best - 1e-12 * self.penalty or (
                theta[i] <= best + 1e-12 * self.penalty and abs(v[look[i]]) > pivot
            ):
                best, gone, pivot = float(min(theta[i], jump)), (k, int(look[i])), float(abs(v[look[i]]))
                at = float(goal[look[i]] / self.penalty)
        return best, gone, at

    def _ranges(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the bounds of the multipliers of a stage's active rows, over the penalty."""
        act = np.array(self.active[k], dtype=int)
        lower, upper = self.lower[k][act], self.upper[k][act]
        pseudo = act >= self.first_pseudo[k]
        equal = lower == upper
        low = np.where(pseudo, 0.0, np.where(equal | (self.at[k][act] < 0), -1.0, 0.0))
        high = np.where(pseudo, 0.0, np.where(equal | (self.at[k][act] > 0), 1.0, 0.0))
        return low, high

    def _exchange(self, gone: tuple[int, int], bound: float, stage: int, row: int, multiplier: float) -> None:
        """Make a row active in place of another."""
        k, i = gone
        old = self.active[k].pop(i)
        self.mu[k] = np.delete(self.mu[k], i)
        self.active[stage].append(row)
        self.mu[stage] = np.append(self.mu[stage], multiplier)
        self.free[stage][row] = False
        if old < self.first_pseudo[k]:
            self.free[k][old], self.side[k][old] = True, bound
        last = stage == len(self.stages) - 1
        self.factors.exchange(gone, stage, self.own[stage][row], None if last else self.after[stage][row])
        self.since += 1
        if self.since > max(100, len(self.stages)):
            self.refresh()

    def refresh(self) -> None:
        """Compute factors, unknowns and multipliers anew from the active rows: rounding has gathered."""
        self.since = 0
        self.factors.factor()
        right = []
        for k, act in enumerate(self.active):
            at = self.at[k][act]
            right.append(np.where(at < 0, self.lower[k][act], self.upper[k][act]))
        self.x = self.factors.solve(right)
        self._multipliers()

    def violations(self) -> tuple[RowViolation, ...]:
        """Return rows and bounds that are not kept, the largest violation first."""
        out = []
        for k, s in enumerate(self.stages):
            value = self._value(k)
            off = np.maximum(value - self.upper[k], self.lower[k] - value)[: self.first_pseudo[k]]
            finite = [
                np.where(np.isfinite(b), np.abs(b), 0.0)[: self.first_pseudo[k]]
                for b in (self.lower[k], self.upper[k])
            ]
            for i in np.flatnonzero(off > KEPT * (1 + np.maximum(*finite))):
                out.append(RowViolation(k, self._what(s, int(i)), float(off[i])))
        return tuple(sorted(out, key=lambda v: -v.amount))

    def _what(self, s: Stage, i: int) -> str:
        steps = 0 if s.step is None else len(s.step)
        if i < len(s.rows):
            return s.name(i)
        if i < len(s.rows) + steps:
            return f"step to x[{i - len(s.rows)}] of the next stage"
        bounded = np.flatnonzero(np.isfinite(s.low) | np.isfinite(s.high))
        return entry(s, int(bounded[i - len(s.rows) - steps]))

    def solution(self, status: str, violations: tuple[RowViolation, ...]) -> StageSolution:
        """Return what was found."""
        full = []
        for k, (side, act) in enumerate(zip(self.side, self.active)):
            every = np.where(self.free[k], self.penalty * side, 0.0)
            every[act] = self.mu[k]
            full.append(every)
        prices = [mu[len(s.rows) : len(s.rows) + len(s.step)] for mu, s in zip(full, self.stages[:-1])]
        pressures = [mu[: len(s.rows)] for mu, s in zip(full, self.stages)]
        if status == "solved" and violations:
            status = "infeasible"
        return StageSolution(
            self.stages,
            tuple(self.x),
            status,
            tuple(prices),
            tuple(pressures),
            self.iterations,
            self._lack(full),
            violations,
        )

    def _lack(self, multipliers: Sequence[np.ndarray]) -> float:
        """Return by how much the multipliers of rows, steps and bounds do not balance the cost, over its size."""
        off = [s.c.copy() for s in self.stages]
        for k, (mu, first) in enumerate(zip(multipliers, self.first_pseudo)):
            off[k] += self.own[k][:first].T @ mu[:first]
            if k + 1 < len(off):
                off[k + 1] += self.after[k][:first].T @ mu[:first]
        return max(float(np.abs(x).max(initial=0.0)) for x in off) * SMALL / self.small
