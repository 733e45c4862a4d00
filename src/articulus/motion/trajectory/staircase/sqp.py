"""`solve_staged`: nonlinear programs in stages, as a sequence of staircase quadratic programs with an L1 penalty (Fletcher 1987)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from articulus.errors import InputError, NumericalError
from articulus.motion.trajectory.problem import Phase
from articulus.motion.trajectory.program import FunctionBlock
from articulus.motion.trajectory.staircase.solve import solve_stages
from articulus.motion.trajectory.staircase.stages import RowViolation, Stage, StageSolution

SUFFICIENT = 1e-4
"""Part of the predicted fall of the merit that a step has to reach."""
SHORTEST = 1e-8
"""Shortest step that is tried."""
CURVED = 1e-9
"""Least eigenvalue of the curvature of a stage, over the largest."""


@dataclass(frozen=True, eq=False)
class StagedProblem:
    """Minimize the sum of cost(x_k, u_k) and final(x_N), with x_k+1 = step(x_k, u_k), within bounds and rows.

    Parameters
    ----------
    stages : int
        Number of steps.
    step : casadi.Function
        (x, u) -> states of the next stage.
    start : sequence
        For each state a number, a pair of bounds, or None where it is free.
    cost, final : casadi.Function
        (x, u) -> cost of a stage; x -> cost of the end.
    rows, end_rows : dict of name to (casadi.Function, lower, upper)
        Of (x, u) at every stage but the last; of x at the last.
    x_bounds, u_bounds : sequence of (float, float)
        At every stage; for the start together with `start`.
    guess : (array, array)
        States (stages + 1, nx) and inputs (stages, nu); the start held, and zeros, if not given.
    """

    stages: int
    step: ca.Function
    start: Sequence[Any]
    cost: ca.Function | None = None
    final: ca.Function | None = None
    rows: dict[str, tuple[ca.Function, Any, Any]] = field(default_factory=dict)
    end_rows: dict[str, tuple[ca.Function, Any, Any]] = field(default_factory=dict)
    x_bounds: Sequence[tuple[float, float]] | None = None
    u_bounds: Sequence[tuple[float, float]] | None = None
    guess: tuple[Any, Any] | None = None

    def __post_init__(self) -> None:
        if self.stages < 1:
            raise InputError(f"StagedProblem: found {self.stages} stages; expected 1 or more")
        if self.step.n_in() != 2 or self.step.numel_out(0) != self.nx:
            raise InputError(
                f"StagedProblem: found a step of {self.step.n_in()} inputs to {self.step.numel_out(0)} states; expected (x, u) -> {self.nx} states"
            )
        if len(self.start) != self.nx:
            raise InputError(
                f"StagedProblem: found {len(self.start)} values at the start; expected one per state, {self.nx}"
            )

    @property
    def nx(self) -> int:
        """Number of states."""
        return int(self.step.numel_in(0))

    @property
    def nu(self) -> int:
        """Number of inputs."""
        return int(self.step.numel_in(1))


@dataclass(frozen=True, eq=False)
class StagedMotion:
    """What was found.

    Parameters
    ----------
    problem : StagedProblem
    x, u : array, (stages + 1, nx), (stages, nu)
    ok : bool
    iterations : int
    value : float
        Cost, whether it converged or not.
    violations : tuple of RowViolation
        Rows, bounds and steps that are not kept, largest first.
    """

    problem: StagedProblem
    x: np.ndarray
    u: np.ndarray
    ok: bool
    iterations: int
    value: float
    violations: tuple[RowViolation, ...]

    @property
    def cost(self) -> float:
        """Least cost found; raises if the search did not converge."""
        if self.ok:
            return self.value
        listed = "\n  ".join(map(str, self.violations[:10])) or "all rows are kept, but the cost still falls"
        raise NumericalError(f"staged program: not converged after {self.iterations} iterations:\n  {listed}")


def to_stages(phase: Phase, stages: int, *, substeps: int = 1) -> StagedProblem:
    """Return a phase of `trajectory.ode` in stages: inputs constant in each, Runge-Kutta steps of order 4.

    Parameters
    ----------
    phase : Phase
        Of an ordinary differential equation. A duration between bounds becomes one more state, the last, that stays constant.
    stages : int
    substeps : int
        Runge-Kutta steps of a stage.
    """
    places = phase.states
    nx, nu = len(places), len(phase.inputs)
    if phase.size != 2 * nx + nu:
        raise InputError(
            f"staged: phase '{phase.name}' has unknowns beside states, rates and inputs; expected a phase of trajectory.ode"
        )
    _require_states_at_ends(phase)
    free = phase.duration[0] < phase.duration[1]
    whole, u = SX.sym("x", nx + free), SX.sym("u", nu)
    x = whole[:nx]
    T = whole[nx] if free else phase.duration[0]

    def z_of(x: SX, u: SX, f: SX) -> SX:
        z = [SX(0)] * phase.size
        for i, k in enumerate(places):
            z[k], z[phase.rates[int(k)]] = x[i], f[i]
        for i, k in enumerate(phase.inputs):
            z[k] = u[i]
        return ca.vertcat(*z)

    nothing = SX.zeros(nx)

    def rate(x: SX) -> SX:
        f = -phase.equations(z_of(x, u, nothing))
        running = phase.running(z_of(x, u, f)) if phase.running is not None else SX(0)
        return ca.vertcat(f, running)

    h = T / (stages * substeps)
    at, total = x, SX(0)
    for _ in range(substeps):
        k1 = rate(at)
        k2 = rate(at + h / 2 * k1[:nx])
        k3 = rate(at + h / 2 * k2[:nx])
        k4 = rate(at + h * k3[:nx])
        change = h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        at, total = at + change[:nx], total + change[nx]
    after = ca.vertcat(at, T) if free else at
    now = z_of(x, u, -phase.equations(z_of(x, u, nothing)))
    end = z_of(x, SX.zeros(nu), nothing)
    bounds = [(phase.lower[k], phase.upper[k]) for k in places]
    times = [phase.duration] if free else []
    rows = {c.name: (ca.Function("c", [whole, u], [c.function(now)]), c.lower, c.upper) for c in phase.path}
    ends = {c.name: (ca.Function("c", [whole], [c.function(end)]), c.lower, c.upper) for c in phase.at_end}
    for c in phase.path:  # of states alone: at the end, too
        if not _beside(phase, c.function):
            ends[c.name] = (ca.Function("c", [whole], [c.function(end)]), c.lower, c.upper)
    for k, i in zip(places, range(nx)):
        if np.isfinite(phase.end[0][k]) or np.isfinite(phase.end[1][k]):
            ends[f"end of {phase.names[k]}"] = (
                ca.Function("c", [whole], [x[i]]),
                phase.end[0][k],
                phase.end[1][k],
            )
    guess = None
    if phase.guess is not None:
        middle = float(np.mean(phase.duration))
        z = phase.guess(np.linspace(0, 1, stages + 1), middle)
        states = np.hstack([z[:, places], np.full((stages + 1, int(free)), middle)])
        guess = states, z[:-1, list(phase.inputs)]
    return StagedProblem(
        stages,
        ca.Function("step", [whole, u], [after]),
        [*((phase.start[0][k], phase.start[1][k]) for k in places), *times],
        ca.Function("cost", [whole, u], [total]),
        None if phase.final is None else ca.Function("final", [whole], [phase.final(end, T)]),
        rows,
        ends,
        [*bounds, *times],
        [(phase.lower[k], phase.upper[k]) for k in phase.inputs],
        guess,
    )


def _require_states_at_ends(phase: Phase) -> None:
    """Refuse what stages cannot keep: rows at the start, limits of rates, and inputs or rates in what holds at the ends."""
    if phase.at_start:
        raise InputError(
            f"staged: phase '{phase.name}' has the constraint '{phase.at_start[0].name}' at the start; expected bounds of states alone there"
        )
    ends = [(f"constraint '{c.name}' at the end", c.function) for c in phase.at_end]
    ends += [] if phase.final is None else [("cost at the end", phase.final)]
    for what, function in ends:
        if found := _beside(phase, function):
            raise InputError(
                f"staged: phase '{phase.name}': the {what} depends on {', '.join(phase.names[k] for k in found)}; expected states alone, which are "
                "all that the last stage has"
            )
    rates = [phase.rates[int(k)] for k in phase.states]
    for where, (lower, upper), places in (
        ("", (phase.lower, phase.upper), rates),
        (" at the start", phase.start, [*rates, *phase.inputs]),
        (" at the end", phase.end, [*rates, *phase.inputs]),
    ):
        for k in places:
            if (lower[k], upper[k]) not in ((-np.inf, np.inf), (phase.lower[k], phase.upper[k])) or (
                not where and np.isfinite([lower[k], upper[k]]).any()
            ):
                raise InputError(
                    f"staged: phase '{phase.name}': found limits of {phase.names[k]}{where}; expected those of states and of inputs at all times. "
                    "A constraint of the whole way limits rates"
                )


def _beside(phase: Phase, function: ca.Function) -> list[int]:
    """Return which entries of z beside the states a function of z (and of the duration) depends on."""
    columns = np.unique(function.jac_sparsity(0, 0).get_col())
    return [int(k) for k in columns if k not in phase.states]


def solve_staged(
    problem: StagedProblem, *, method: str = "interior_point", iterations: int = 100, tolerance: float = 1e-8
) -> StagedMotion:
    """Return the solution of a nonlinear program in stages, by a sequence of quadratic ones.

    Parameters
    ----------
    problem : StagedProblem
        Of `to_stages`, or of functions of your own.
    method : str
        Of `solve_stages`: "interior_point" or "hpipm".
    iterations : int
        Most of them.
    tolerance : float
        Length of the last step over the size of the unknowns, and violations, at which it ends.
    """
    return _Search(problem, method).run(iterations, tolerance)


class _Search:
    def __init__(self, problem: StagedProblem, method: str):
        self.problem, self.method = problem, method
        N, nx, nu = problem.stages, problem.nx, problem.nu
        n = nx + nu
        z, x = SX.sym("z", n), SX.sym("x", nx)
        ahead = [problem.step(z[:nx], z[nx:]), problem.cost(z[:nx], z[nx:]) if problem.cost else SX(0)]
        values = [f(z[:nx], z[nx:]) for f, _, _ in problem.rows.values()]
        ends = [
            problem.final(x) if problem.final else SX(0),
            *(f(x) for f, _, _ in problem.end_rows.values()),
        ]
        index = np.arange(N)[:, None] * n + np.arange(n)
        self.block = _block("stages", z, ca.vertcat(*ahead, *values), index)
        self.last = _block("end", x, ca.vertcat(*ends), N * n + np.arange(nx)[None])
        self.names = _names(problem.rows, [v.numel() for v in values])
        self.end_names = _names(problem.end_rows, [v.numel() for v in ends[1:]])
        self.lower, self.upper = _limits(problem.rows, values)
        self.end_lower, self.end_upper = _limits(problem.end_rows, ends[1:])
        any_x = np.array(problem.x_bounds or [(-np.inf, np.inf)] * nx, dtype=float)
        any_u = np.array(problem.u_bounds or [(-np.inf, np.inf)] * nu, dtype=float).reshape(nu, 2)
        first = np.array(
            [
                (-np.inf, np.inf) if s is None else s if isinstance(s, list | tuple) else (s, s)
                for s in problem.start
            ],
            dtype=float,
        )
        self.x_bounds, self.u_bounds = any_x, any_u
        self.first = np.column_stack(
            [np.maximum(first[:, 0], any_x[:, 0]), np.minimum(first[:, 1], any_x[:, 1])]
        )
        for i in np.flatnonzero(self.first[:, 0] > self.first[:, 1]):
            raise InputError(
                f"staged program: start of x[{i}] is to lie between {self.first[i, 0]:g} and {self.first[i, 1]:g}: no number does"
            )
        self.flat = self._guess()

    def _guess(self) -> np.ndarray:
        p = self.problem
        if p.guess is None:
            x = np.tile(np.clip(0.0, *self.first.T), (p.stages + 1, 1))
            u = np.zeros((p.stages, p.nu))
        else:
            x, u = (np.array(g, dtype=float) for g in p.guess)
        x[0] = np.clip(x[0], *self.first.T)
        u = np.clip(u, *self.u_bounds.T)
        return np.concatenate([np.hstack([x[:-1], u]).ravel(), x[-1]])

    def run(self, iterations: int, tolerance: float) -> StagedMotion:
        weight, converged, done = 1.0, False, 0
        known: StageSolution | None = None
        for done in range(iterations + 1):
            program = self._program(known)
            known = solve_stages(program, self.method)
            if not known.ok:
                known = _solve_relaxed(program, 10 * weight, self.method)
            move = np.concatenate(known.z)
            size = float(np.abs(move).max(initial=0.0) / (1 + np.abs(self.flat).max(initial=0.0)))
            converged = size < tolerance and self._violation(self.flat) < tolerance * (
                1 + np.abs(self.flat).max()
            )
            if converged or done == iterations:
                break
            largest = max(np.abs(m).max(initial=0.0) for m in (*known.prices, *known.pressures))
            weight = max(weight, 2 * largest)
            moved = self._along(move, weight)
            if moved is None:
                break
            self.flat = moved
        x, u = self._split(self.flat)
        return StagedMotion(
            self.problem, x, u, converged, done, self._cost(self.flat), self._violations(self.flat)
        )

    def _split(self, flat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        p = self.problem
        body = flat[: p.stages * (p.nx + p.nu)].reshape(p.stages, -1)
        return np.vstack([body[:, : p.nx], flat[-p.nx :]]), body[:, p.nx :]

    def _along(self, move: np.ndarray, weight: float) -> np.ndarray | None:
        """Return the unknowns after a step that lowers the merit, or None if none does."""

        def merit(flat: np.ndarray) -> float:
            return self._cost(flat) + weight * self._violation(flat)

        now, broken = merit(self.flat), self._violation(self.flat)
        slope = self._slope(move) - weight * broken
        step = 1.0
        while step > SHORTEST:
            there = self.flat + step * move
            value = merit(there)
            if np.isfinite(value) and value <= now + SUFFICIENT * step * min(slope, 0.0) + 1e-13 * (
                1 + abs(now)
            ):
                return there
            step /= 2
        return None

    def _slope(self, move: np.ndarray) -> float:
        gradient = self._gradients()
        return float(np.concatenate([g.ravel() for g in gradient]) @ move)

    def _gradients(self) -> tuple[np.ndarray, np.ndarray]:
        return self.block.dense(self.flat)[:, self.problem.nx], self.last.dense(self.flat)[:, 0]

    def _cost(self, flat: np.ndarray) -> float:
        return float(self.block.values(flat)[:, self.problem.nx].sum() + self.last.values(flat)[0, 0])

    def _parts(self, flat: np.ndarray) -> list[np.ndarray]:
        """Return violations of steps, rows, end rows and bounds of states."""
        p = self.problem
        x, _ = self._split(flat)
        values, end = self.block.values(flat), self.last.values(flat)
        return [
            np.abs(values[:, : p.nx] - x[1:]),
            _outside(values[:, p.nx + 1 :], self.lower, self.upper),
            _outside(end[:, 1:], self.end_lower, self.end_upper),
            _outside(x[1:], *self.x_bounds.T),
        ]

    def _violation(self, flat: np.ndarray) -> float:
        return float(sum(part.sum() for part in self._parts(flat)))

    def _violations(self, flat: np.ndarray) -> tuple[RowViolation, ...]:
        steps, rows, ends, bounds = self._parts(flat)
        found = [
            RowViolation(int(k), f"step to x[{i}] of the next stage", float(steps[k, i]))
            for k, i in np.argwhere(steps > 1e-7)
        ]
        found += [RowViolation(int(k), self.names[i], float(rows[k, i])) for k, i in np.argwhere(rows > 1e-7)]
        found += [
            RowViolation(self.problem.stages, self.end_names[i], float(ends[k, i]))
            for k, i in np.argwhere(ends > 1e-7)
        ]
        found += [
            RowViolation(int(k) + 1, f"bounds of x[{i}]", float(bounds[k, i]))
            for k, i in np.argwhere(bounds > 1e-7)
        ]
        return tuple(sorted(found, key=lambda v: -v.amount))

    def _program(self, known: StageSolution | None) -> list[Stage]:
        """Return the quadratic program at the unknowns, with the multipliers of the one before."""
        p = self.problem
        nx, N = p.nx, p.stages
        x, _ = self._split(self.flat)
        values, slopes = self.block.values(self.flat), self.block.dense(self.flat)
        end, end_slopes = self.last.values(self.flat)[0], self.last.dense(self.flat)[0]
        H, end_H = self._curvatures(known)
        bounded = np.isfinite(self.x_bounds).any(1)
        eye = np.eye(nx)[bounded]
        out = []
        for k in range(N):
            z = self.flat[k * (nx + p.nu) : (k + 1) * (nx + p.nu)]
            low, high = np.full((2, nx + p.nu), np.inf) * [[-1], [1]]
            low[nx:], high[nx:] = self.u_bounds.T - z[nx:]
            rows, lower, upper = (
                slopes[k, nx + 1 :],
                self.lower - values[k, nx + 1 :],
                self.upper - values[k, nx + 1 :],
            )
            names = self.names
            if k:
                rows = np.vstack([rows, np.hstack([eye, np.zeros((len(eye), p.nu))])])
                lower, upper = (
                    np.concatenate([a, self.x_bounds[bounded, s] - x[k][bounded]])
                    for s, a in enumerate((lower, upper))
                )
                names = (*names, *(f"bounds of x[{i}]" for i in np.flatnonzero(bounded)))
            else:
                low[:nx], high[:nx] = self.first.T - x[0]
            out.append(
                Stage(
                    nx,
                    slopes[k, nx],
                    slopes[k, :nx],
                    values[k, :nx] - x[k + 1],
                    rows,
                    lower,
                    upper,
                    low,
                    high,
                    H[k],
                    names,
                )
            )
        lower, upper = (
            np.concatenate([b - end[1:], self.x_bounds[bounded, s] - x[N][bounded]])
            for s, b in enumerate((self.end_lower, self.end_upper))
        )
        names = (*self.end_names, *(f"bounds of x[{i}]" for i in np.flatnonzero(bounded)))
        return [
            *out,
            Stage(
                nx,
                end_slopes[0],
                rows=np.vstack([end_slopes[1:], eye]),
                lower=lower,
                upper=upper,
                H=end_H,
                names=names,
            ),
        ]

    def _curvatures(self, known: StageSolution | None) -> tuple[np.ndarray, np.ndarray]:
        """Return the curvature of the Lagrangian at every stage, made positive semidefinite."""
        p = self.problem
        at = np.zeros((p.stages, self.block.function.numel_out(0)))
        last = np.zeros((1, self.last.function.numel_out(0)))
        at[:, p.nx], last[:, 0] = 1.0, 1.0
        if known is not None:
            at[:, : p.nx] = known.prices
            at[:, p.nx + 1 :] = [row[: len(self.lower)] for row in known.pressures[:-1]]
            last[0, 1:] = known.pressures[-1][: len(self.end_lower)]
        return _convex(self.block.curvature(self.flat, at)), _convex(self.last.curvature(self.flat, last))[0]


def _solve_relaxed(program: list[Stage], weight: float, method: str) -> StageSolution:
    """Return the solution with rows that may be broken at a cost: as inputs more, what is missing and what is too much."""
    wide = []
    for s in program:
        m = len(s.rows)
        extra = np.full(2 * m, weight)
        step = None if s.step is None else np.hstack([s.step, np.zeros((len(s.step), 2 * m))])
        rows = np.hstack([s.rows, np.eye(m), -np.eye(m)])
        low, high = np.concatenate([s.low, np.zeros(2 * m)]), np.concatenate([s.high, np.full(2 * m, np.inf)])
        H = None if s.H is None else np.pad(s.H, (0, 2 * m))
        wide.append(replace(s, c=np.concatenate([s.c, extra]), step=step, rows=rows, low=low, high=high, H=H))
    found = solve_stages(wide, method)
    if not found.ok:
        raise NumericalError(
            f"staged program: the quadratic program with broken rows is {found.status}; its bounds of inputs or its start contradict"
        )
    return replace(found, z=tuple(z[: s.size] for z, s in zip(found.z, program)))


class _Dense(FunctionBlock):
    """A block whose derivatives come as full matrices."""

    @cached_property
    def _where(self) -> tuple[Any, Any]:
        return self.jacobian_pattern, self.hessian_pattern

    def dense(self, x: np.ndarray) -> np.ndarray:
        """Return derivatives, (places, rows, unknowns)."""
        out = np.zeros((len(self.index), self.function.numel_out(0), self.index.shape[1]))
        i, j = self._where[0]
        out[:, i, j] = self.jacobian(x)
        return out

    def curvature(self, x: np.ndarray, multipliers: np.ndarray) -> np.ndarray:
        """Return second derivatives, (places, unknowns, unknowns)."""
        n = self.index.shape[1]
        out = np.zeros((len(self.index), n, n))
        i, j = self._where[1]
        out[:, i, j] = out[:, j, i] = self.hessian(x, multipliers)
        return out


def _block(name: str, z: SX, values: SX, index: np.ndarray) -> _Dense:
    function = ca.Function(name, [z, SX.sym("d", 0)], [ca.densify(values)])
    nothing = np.zeros((len(index), values.numel()))
    return _Dense(name, function, index, np.zeros((len(index), 0)), nothing, nothing)


def _names(rows: dict[str, Any], counts: list[int]) -> tuple[str, ...]:
    return tuple(name if m == 1 else f"{name}[{i}]" for name, m in zip(rows, counts) for i in range(m))


def _limits(rows: dict[str, Any], values: list[SX]) -> tuple[np.ndarray, np.ndarray]:
    return tuple(  # type: ignore[return-value]
        np.concatenate(
            [
                np.zeros(0),
                *(
                    np.broadcast_to(np.asarray(r[side], dtype=float), (v.numel(),))
                    for r, v in zip(rows.values(), values)
                ),
            ]
        )
        for side in (1, 2)
    )


def _outside(x: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    return np.maximum(np.maximum(x - upper, lower - x), 0.0)


def _convex(H: np.ndarray) -> np.ndarray:
    """Return the nearest positive semidefinite matrices."""
    values, vectors = np.linalg.eigh(H)
    least = CURVED * np.abs(values).max(axis=-1, keepdims=True, initial=0.0)
    return (vectors * np.maximum(values, least)[..., None, :]) @ np.swapaxes(vectors, -1, -2)
