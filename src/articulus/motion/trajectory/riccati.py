"""Optimal motion by backward Riccati sweeps and forward rollouts: feasibility-driven differential dynamic programming.

States and inputs of all steps are given first, and may contradict the dynamics: the gaps f(x(k), u(k)) - x(k + 1) close as the search
continues. Every iteration takes three native calls: the linear model and the cost's quadratic model of all steps; the Riccati recursion
from the end to the start, in which inputs at their bounds are found by projected Newton steps; and rollouts with feedback for several
step lengths of the line search, side by side. Constraints other than bounds of inputs are kept by an augmented Lagrangian (`stages`).

Source: Mastalli, Budhiraja, Merkt, Saurel, Hammoud, Naveau, Carpentier, Righetti, Vijayakumar & Mansard 2020 (gaps, acceptance of a
step); Tassa, Mansard & Todorov 2014 (bounds of inputs).
"""

from __future__ import annotations

import hashlib
import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any
from weakref import WeakKeyDictionary

import casadi as ca
import numpy as np
from casadi import MX, SX

from articulus import kernel
from articulus.motion.trajectory.stages import Stages

STEP_LENGTHS = 0.5 ** np.arange(8)
SIDE_BY_SIDE = 4
"""Step lengths that are tried at once: more in one vector take longer, and are seldom needed."""
ACCEPT, ACCEPT_RISE = 0.1, 2.0
"""Part of the expected decrease that a step must bring; most of the expected increase while gaps close."""
NEWTON = 16
"""Most projected Newton steps for inputs at their bounds."""
FLAT = 1e-24
"""Square of the gradient by free inputs, over that at zero, up to which such a step is not needed."""
SHORTER = (1.0, 0.5, 0.25, 0.1, 0.03, 0.01, 0.001)
"""Lengths tried for each of them."""
LEAST, MOST, FACTOR = 1e-3, 1e9, 10.0
"""Regularization, over the curvature of each input: size beyond which there is one, largest, factor."""
ENDING = 0.01
"""Expected decrease, over the merit, from which on inputs are held where their feedback presses against a bound."""
TRIES = 8
"""Regularizations that are tried in one iteration."""
ROUNDING = 1e-13
"""Expected change of the merit, over its size, that rounding hides."""
CLOSED = 1e-9
"""Gap, over the size of the state, up to which the motion counts as one of the dynamics."""
FIRST_RHO, LARGEST_RHO, STIFFER, FALL = 10.0, 1e7, 10.0, 0.25
"""Penalty of the constraints over the size of the cost: first, largest, factor, and the fall of the violation that needs no larger one."""
OUTER = 40


@dataclass(frozen=True, eq=False)
class SearchOutcome:
    """What the search found.

    Parameters
    ----------
    x : array, (steps + 1, nx)
    u : array, (steps, nu)
    gains : array, (steps, nu, nx)
        u = u(k) + gains (x - x(k)) is the best answer to small deviations.
    cost : float
        Without penalties.
    violation : float
        Largest of a constraint, over its size.
    gap : float
        Largest between a step and the next state, over the size of the state.
    status : str
    iterations : int
    seconds : float [s]
    """

    x: np.ndarray
    u: np.ndarray
    gains: np.ndarray
    cost: float
    violation: float
    gap: float
    status: str
    iterations: int
    seconds: float

    @property
    def converged(self) -> bool:
        """Whether the search ended at a solution that keeps all constraints."""
        return self.status == "converged"


class Riccati:
    """The search on given stages; its states, inputs and multipliers stay for the next one.

    Parameters
    ----------
    stages : Stages
    x : array, (steps + 1, nx)
        Initial guess; the first row is the state at the start.
    u : array, (steps, nu)
    """

    def __init__(self, stages: Stages, x: np.ndarray, u: np.ndarray):
        self.stages = s = stages
        N, nx, nu = s.steps, s.nx, s.nu
        self.x, self.u = (np.array(y, dtype=float, order="C") for y in (x, u))
        self.rho, self.regularization = 1.0, 0.0
        self.multipliers = np.zeros((N, len(s.rows)))
        self.last_multipliers = np.zeros(len(s.last_rows))
        self.gains = np.zeros((N, nu, nx))
        self.iterations = 0
        self._code = code = _code(s)
        self._rho = np.ones(())
        self._reached: tuple[float, float] | None = None  # cost and gap after the last step
        # models of all steps; the row before them is what the sweep finds when it is through
        self._w = np.zeros((N + 1, code.model_size))
        self._told = np.zeros((N, 1 + len(s.rows)))
        at = self.x[:-1], self.u, self.x[1:], self.multipliers, np.array(s.h), self._rho, *s.box
        self._model = code.model.bind(*at, out=(self._w[1:], self._told))
        self._last = code.last.bind(self.x[-1], self.last_multipliers, self._rho)
        # forward: rows of (x, u, next x, gap, what the sweep gives, multipliers)
        m, n = SIDE_BY_SIDE, 3 * nx + nu
        self._row = np.zeros((m, code.forward.nx))
        self._p = np.zeros((m, code.forward.np))
        self._p[:, 1], self._p[:, 3:] = s.h, np.concatenate(s.box)
        self._plan = np.zeros((N + 1, code.forward.nw))
        self._lost = np.full(m, kernel.NEVER)
        self._log = np.zeros((m, N + 1, code.forward.nx))
        self._forward = code.forward.on(self._row, self._p, self._plan, self._lost, self._log, lanes=m)
        self._ends = np.zeros((m, nx))
        self._last_merit = code.last_merit.bind(self._ends, self.last_multipliers, self._rho)
        # backward, into the plan
        self._value = np.zeros((1, code.sweep.nx))
        self._stiffness = np.zeros(1)
        self._failed = np.full(1, kernel.NEVER)
        logged = self._plan[None, ::-1, n : n + code.logged]
        self._sweep = code.sweep.on(self._value, self._stiffness, self._w[::-1], self._failed, logged)
        self._gains = self._plan[:N, n + nu : n + nu + nu * nx].reshape(N, nu, nx)

    # one iteration

    def _models(self) -> float:
        """Fill the models of all steps and of the end; return the merit and keep cost, gap and violation."""
        self._rho[...] = self.rho
        self._model()
        self._last()
        costs = self._told[:, 0].sum() + self._last.outputs[0]
        self._fresh, self._fresh_last, self.cost = self._told[:, 1:], self._last.outputs[1], float(costs)
        self.gap = float(np.abs(self.gaps / self.stages.state_scale).max())
        self._reached = self.cost, self.gap
        fresh = float((self._fresh**2).sum() + (self._fresh_last**2).sum())
        return self.cost + fresh / (2 * self.rho)

    @property
    def gaps(self) -> np.ndarray:
        """f(x(k), u(k)) - x(k + 1) of the models, (steps, nx)."""
        return self._w[1:, : self.stages.nx]

    def _backward(self) -> bool:
        """Sweep from the end to the start; return whether every step had a least cost."""
        nx = self.stages.nx
        self._value[:] = 0.0
        self._value[0, -nx * nx - nx : -nx * nx] = self._last.outputs[2]
        self._value[0, -nx * nx :] = self._last.outputs[3].ravel()
        self._stiffness[0] = self.regularization
        self._failed[:] = kernel.NEVER
        N = self.stages.steps
        self._sweep(0, N)
        self._sweep(N, N, closing=True)
        return bool(self._failed[0] == kernel.NEVER)

    def _prepare(self) -> None:
        """Fill the plan that rollouts follow, beside what the sweep wrote there."""
        nx, nu = self.stages.nx, self.stages.nu
        w = self._plan[:-1]
        w[:, :nx], w[:, nx : nx + nu] = self.x[:-1], self.u
        w[:, nx + nu : 2 * nx + nu], w[:, 2 * nx + nu : 3 * nx + nu] = self.x[1:], self.gaps
        w[:, w.shape[1] - self.multipliers.shape[1] :] = self.multipliers

    def _hold(self) -> bool:
        """Fix the inputs that the feedback of a full step pressed against a bound, there; return whether there are such.

        The sweep took them for free, with an answer to changes of the state that a rollout cannot give: where the goal rests on that
        answer, only tiny steps would be good.
        """
        nx, nu = self.stages.nx, self.stages.nu
        rolled, free = self._log[0, 1:, nx : nx + nu], self._gains.any(2)
        least, most = (self._w[1:, a : a + nu] for a in (nx, nx + nu))
        below, above = (free & (rolled == bound) for bound in self.stages.box)
        most[below], least[above] = least[below], most[above]
        return bool(below.any() or above.any())

    def _rollouts(self, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Go forward with some step lengths; return the merits, not finite where a rollout failed, and the changes expected."""
        nx, nu, N = self.stages.nx, self.stages.nu, self.stages.steps
        self._row[:] = 0.0
        self._row[:, :nx] = self.x[0]
        self._p[:, 0], self._p[:, 2] = lengths, self.rho
        self._lost[:] = kernel.NEVER
        self._forward(0, N)
        self._forward(N, N, closing=True)
        self._ends[:] = self._row[:, :nx]
        self._last_merit()
        merits = self._row[:, nx + nu] + self._last_merit.outputs[0]
        return np.where(self._lost == kernel.NEVER, merits, np.inf), self._expected_change(lengths)

    def iterate(self) -> tuple[float, bool]:
        """Take one iteration; return the change of the merit that its model expected, and whether a step was accepted."""
        self.iterations += 1
        merit, whole = self._models(), np.inf
        feasible = self.gap <= CLOSED
        for _ in range(TRIES):
            while not self._backward():
                if self.regularization >= MOST:
                    return np.inf, False
                self._stiffen()
            self._prepare()
            for lengths in STEP_LENGTHS.reshape(-1, SIDE_BY_SIDE):
                merits, expected = self._rollouts(lengths)
                k = _first_good(merits - merit, expected, feasible)
                if lengths[0] == 1.0:
                    whole = float(expected[0])
                    if k is None and abs(whole) <= ENDING * abs(merit) and self._hold():
                        if not self._backward():
                            break
                        merits, expected = self._rollouts(lengths)
                        k = _first_good(merits - merit, expected, feasible)
                if k is not None:
                    self._accept(k, float(lengths[k]), float(merits[k]))
                    return whole, True
            if abs(whole) <= ROUNDING * abs(merit):
                break
            self._stiffen()
        return whole, False

    def _expected_change(self, lengths: np.ndarray) -> np.ndarray:
        """Return the change of the merit by the model for step lengths whose rollouts were made.

        With the change m of a full step, and S = sum of gap' (costate), it is a (2 m + S) - a^2 (m + S) for a step length a.
        """
        by_k, by_kk, linear, square = self._value[0, self._code.logged : self._code.logged + 4]
        S = linear + self._row[:, -1] / lengths
        closing = linear + square / 2
        first, second = by_k + 2 * closing + S, by_kk - 2 * S - 2 * closing
        return np.asarray(lengths * (first + 0.5 * lengths * second))

    def _accept(self, k: int, length: float, merit: float) -> None:
        nx, nu = self.stages.nx, self.stages.nu
        self._reached = merit, (1 - length) * self.gap
        self.x[:] = self._log[k, :, :nx]
        self.u[:] = self._log[k, 1:, nx : nx + nu]
        self.gains[:] = self._gains
        if length >= 0.5:
            self.regularization = 0.0 if self.regularization <= LEAST else self.regularization / FACTOR
        elif length <= 0.02:
            self._stiffen()

    def _stiffen(self) -> None:
        self.regularization = max(self.regularization * FACTOR, LEAST)

    # the whole search

    def size(self) -> float:
        """Return the size of the cost: of this motion, or of a tenth of all inputs' sizes."""
        places, inputs = self._code.input_curvature
        curvature = self._w[1:, places] * self.stages.input_scale[inputs] ** 2
        return max(abs(self.cost), 0.005 * float(curvature.sum()), 1e-9)

    def minimize(self, iterations: int, tolerance: float, until: float = np.inf) -> bool:
        """Iterate until the model expects no change worth mentioning; return whether it came to that."""
        self.regularization = 0.0
        for _ in range(iterations):
            if time.perf_counter() > until:
                return False
            expected, accepted = self.iterate()
            if not np.isfinite(expected):
                return False
            small = abs(expected) <= tolerance * max(abs(self.cost), 1e-12)
            if small and self.gap <= CLOSED:
                return True
            if not accepted and self.regularization >= MOST:
                return False
        return False

    def settle(self) -> None:
        """Bring cost, gap and constraints up to date with the last step."""
        if self._reached is None or self.stages.rows or self.stages.last_rows:
            self._models()
        else:  # the merit of the rollout is the cost
            self.cost, self.gap = self._reached

    def violation(self) -> float:
        """Return the largest violation of a constraint, over its size, of the models computed last."""
        worst = 0.0
        for fresh, held in ((self._fresh, self.multipliers), (self._fresh_last, self.last_multipliers)):
            worst = max(worst, float(np.abs(fresh - held).max(initial=0.0)) / self.rho)
        return worst


def search(
    stages: Stages,
    x: np.ndarray | None = None,
    u: np.ndarray | None = None,
    *,
    tolerance: float = 1e-6,
    iterations: int = 1000,
    time_limit: float = 600.0,
) -> SearchOutcome:
    """Return the best motion of stages.

    Parameters
    ----------
    stages : Stages
    x : array, (steps + 1, nx)
        Guess of the states; that of the phase if not given.
    u : array, (steps, nu)
        Initial inputs.
    tolerance : float
        Tolerance of the cost, over its size, and of the constraints, over theirs.
    iterations : int
        At most.
    time_limit : float [s]
        Wall-clock time.
    """
    begin = time.perf_counter()
    if x is None or u is None:
        guess = stages.guess()
        x, u = guess[0] if x is None else x, guess[1] if u is None else u
    way = Riccati(stages, x, u)
    constrained = bool(stages.rows or stages.last_rows)
    if constrained:
        way._models()
        way.rho = FIRST_RHO * way.size()
    inner = 1e-2 * tolerance if constrained else tolerance
    before, status = np.inf, "constraints not kept"
    for _ in range(OUTER):
        good = way.minimize(iterations - way.iterations, inner, begin + time_limit)
        way.settle()
        off = way.violation()
        if off <= tolerance and good:
            status = "converged"
            break
        if way.iterations >= iterations or time.perf_counter() - begin > time_limit:
            status = "iterations exhausted" if way.iterations >= iterations else "time limit"
            break
        if off <= tolerance or (off > 0.9 * before and way.rho >= LARGEST_RHO * way.size()):
            status = "no further decrease" if off <= tolerance else status
            break
        way.multipliers[:], way.last_multipliers[:] = way._fresh, way._fresh_last
        if off > FALL * before:
            way.rho = min(way.rho * STIFFER, LARGEST_RHO * way.size())
        before = off
    return SearchOutcome(
        way.x,
        way.u,
        way.gains,
        way.cost,
        off,
        way.gap,
        status,
        way.iterations,
        time.perf_counter() - begin,
    )


def _first_good(changes: np.ndarray, expected: np.ndarray, feasible: bool) -> int | None:
    """Return the first step whose change of the merit is good enough, or None."""
    for k, (change, wanted) in enumerate(zip(changes, expected)):
        enough = ACCEPT * wanted if wanted <= 0 else -np.inf if feasible else ACCEPT_RISE * wanted
        if np.isfinite(change) and change <= enough:
            return k
    return None


# native code


class _Code:
    """Functions of stages in native code."""

    def __init__(self, stages: Stages):
        self.stages = stages.copy()  # one of its own: what a weak dictionary holds must not hold the key
        nx, nu = stages.nx, stages.nu
        self.curvature = ca.tril(stages.merit_slopes.sparsity_out(3))
        """Entries of the cost's curvature by (x, u) that are told: those of a symmetric matrix."""
        self.sizes = [nx, nu, nu, nx * (nx + nu), nx + nu, self.curvature.nnz()]
        self.model_size = sum(self.sizes)
        self.logged = nu + nu * nx + nx

    @property
    def input_curvature(self) -> tuple[np.ndarray, np.ndarray]:
        """Places of the curvatures of single inputs in a model, and the inputs."""
        rows, columns = (np.array(x, dtype=int) for x in self.curvature.get_triplet())
        found = np.flatnonzero((rows == columns) & (rows >= self.stages.nx))
        return self.model_size - len(rows) + found, rows[found] - self.stages.nx

    @cached_property
    def model(self) -> kernel.Kernel:
        """(x, u, next x, multipliers, h, rho, bounds) -> (gap, least and most change of u, J = [A, B], derivatives of the cost), (cost, new multipliers)."""
        s = self.stages
        x, u, following = MX.sym("x", s.nx), MX.sym("u", s.nu), MX.sym("following", s.nx)
        multipliers, h, rho = MX.sym("m", len(s.rows)), MX.sym("h"), MX.sym("rho")
        after, J, first = s.linear_step(x, u, h)
        cost, fresh, gradient, curvature = s.merit_slopes(x, u, *first, h, multipliers, rho)
        lower, upper = MX.sym("lower", s.nu), MX.sym("upper", s.nu)
        told = [
            after - following,
            lower - u,
            upper - u,
            ca.vec(J.T),
            gradient,
            curvature[self.curvature].nz[:],
        ]
        return kernel.compile(
            ca.Function(
                "model",
                [x, u, following, multipliers, h, rho, lower, upper],
                [ca.vertcat(*(ca.densify(t) for t in told)), ca.vertcat(cost, fresh)],
            ),
            finite=False,
            ranks=((1, 1, 1, 1, 0, 0, 1, 1), (1, 1)),
        )

    @cached_property
    def last(self) -> kernel.Kernel:
        """`Stages.last_slopes`."""
        return kernel.compile(self.stages.last_slopes, finite=False, ranks=((1, 1, 0), (0, 1, 1, 2)))

    @cached_property
    def last_merit(self) -> kernel.Kernel:
        """`Stages.last_merit`."""
        return kernel.compile(self.stages.last_merit, finite=False, ranks=((1, 1, 0), (0,)))

    @cached_property
    def sweep(self) -> kernel.Recurrence:
        """One step backward."""
        return _recurrence(_sweep(self.stages, self.sizes, self.curvature), self.logged)

    @cached_property
    def forward(self) -> kernel.Recurrence:
        """One step forward with feedback."""
        function = _forward(self.stages)
        return _recurrence(function, function.numel_in(0))


_known: WeakKeyDictionary[Stages, _Code] = WeakKeyDictionary()


def _code(stages: Stages) -> _Code:
    """Return the native code of stages, made once."""
    if stages not in _known:
        _known[stages] = _Code(stages)
    return _known[stages]


def _recurrence(function: ca.Function, logged: int) -> kernel.Recurrence:
    key = hashlib.sha256(function.serialize().encode()).hexdigest()
    return kernel.recurrence(key, lambda: [function], logged)


def _cut(column: MX, *sizes: int) -> list[MX]:
    """Return the parts of a column."""
    ends = np.cumsum([0, *sizes]).tolist()
    return [column[a:b] for a, b in itertools.pairwise(ends)]


def _forward(s: Stages) -> ca.Function:
    """Return (x, u, merit, sum of V gap times the change of x) of the next step; u are the inputs of the one before."""
    nx, nu, m = s.nx, s.nu, len(s.rows)
    held, p, k = MX.sym("held", nx + nu + 2), MX.sym("p", 3 + 2 * nu), MX.sym("k")
    sizes = nx, nu, nx, nx, nu, nu * nx, nx, m
    w = MX.sym("w", sum(sizes))
    length, h, rho, lower, upper = _cut(p, 1, 1, 1, nu, nu)
    x, _, merit, bending = _cut(held, nx, nu, 1, 1)
    x_bar, u_bar, following, gap, push, gain, bent, multipliers = _cut(w, *sizes)
    u = u_bar + length * push + ca.mtimes(ca.reshape(gain, nx, nu).T, x - x_bar)
    u = ca.fmin(ca.fmax(u, lower), upper)
    after, f = s.step(x, u, h)
    after = after + (length - 1) * gap
    merit = merit + s.merit(x, u, f, h, multipliers, rho)
    bending = bending + ca.dot(bent, after - following)
    return ca.Function("forward", [held, p, w, k], [ca.vertcat(after, u, merit, bending)])


def _sweep(s: Stages, sizes: list[int], pattern: ca.Sparsity) -> ca.Function:
    """Return (push, transposed gain, V gap, sums, gradient v and curvature V of the cost to go) of the step before."""
    nx, nu = s.nx, s.nu
    logged = nu + nu * nx + nx
    held, w, k = MX.sym("held", logged + 4 + nx + nx * nx), MX.sym("w", sum(sizes)), MX.sym("k")
    mu = MX.sym("mu")
    _, sums, v, V = _cut(held, logged, 4, nx, nx * nx)
    V = ca.reshape(V, nx, nx)
    gap, least, most, J, gradient, entries = _cut(w, *sizes)
    Jt = ca.reshape(J, nx + nu, nx)
    bent = ca.mtimes(V, gap)
    Q = gradient + ca.mtimes(Jt, v + bent)
    Qx, Qu = Q[:nx], Q[nx:]
    VJ = ca.mtimes(V, Jt.T)
    crossed = ca.mtimes(Jt[:nx, :], VJ)
    of_inputs, crossing, symmetric = _with_curvature(nx, nu, pattern)
    Qxu = crossing(crossed[:, nx:], entries)
    Quu, stiffer = of_inputs(ca.mtimes(Jt[nx:, :], VJ[:, nx:]), entries, mu)
    bounded = bool(np.isfinite(np.concatenate(s.box)).any())
    push, inverse = _best(nu, bounded)(stiffer, Qu, least, most)
    gain = -ca.mtimes(Qxu, inverse)
    pushed = ca.mtimes(Quu, push)
    v_new = Qx + ca.mtimes(Qxu, push) + ca.mtimes(gain, Qu + pushed)
    V_new = symmetric(ca.mac(Qxu, gain.T, crossed[:, :nx]), entries)
    more = ca.vertcat(ca.dot(Qu, push), ca.dot(push, pushed), ca.dot(gap, v), ca.dot(gap, bent))
    return ca.Function(
        "sweep", [held, mu, w, k], [ca.vertcat(push, ca.vec(gain), bent, sums + more, v_new, ca.vec(V_new))]
    )


def _with_curvature(nx: int, nu: int, pattern: ca.Sparsity) -> tuple[ca.Function, ca.Function, ca.Function]:
    """Return functions that add the cost's curvature, given by its entries, to that of the cost to go.

    By u: also with regularization; by x and u; by x: of its symmetric part.
    """
    entries, mu = SX.sym("entries", pattern.nnz()), SX.sym("mu")
    H = ca.tril2symm(SX(pattern, entries))
    X, Y, Z = SX.sym("X", nx, nx), SX.sym("Y", nx, nu), SX.sym("Z", nu, nu)
    Quu = Z + H[nx:, nx:]
    stiffer = Quu + ca.diag(mu * ca.fabs(ca.diag(Quu)))
    return (
        ca.Function("of_inputs", [Z, entries, mu], [Quu, stiffer]),
        ca.Function("crossing", [Y, entries], [Y + H[:nx, nx:]]),
        ca.Function("symmetric", [X, entries], [(X + X.T) / 2 + H[:nx, :nx]]),
    )


def _best(nu: int, bounded: bool) -> Callable[..., Any]:
    """Return the function (H, g, lower, upper) -> step y that makes y'Hy/2 + g'y least, and the inverse of H for what is free."""
    H, g = SX.sym("H", nu, nu), SX.sym("g", nu)
    lower, upper, y, wrong = SX.sym("lower", nu), SX.sym("upper", nu), SX.sym("y", nu), SX.sym("wrong")
    inverse = _inverse(H)
    plain = ca.Function("plain", [H, g], [-ca.mtimes(inverse, g), inverse])
    if not bounded:
        return lambda H, g, lower, upper: plain(H, g)
    problem = [H, g, lower, upper, y]
    steep = ca.Function("steep", problem, [_steep(*problem)])
    better = _newton(*problem)
    steps = [ca.if_else(wrong != 0, z, 0) for z in (better, _steep(H, g, lower, upper, better))]
    newton = ca.Function("when_steep", [wrong, *problem], steps)
    at_bounds = _at_bounds(*problem)
    free = _inverse(_mask(H, at_bounds)) * ca.mtimes(1 - at_bounds, (1 - at_bounds).T)
    kept = ca.Function("when_touching", [wrong, *problem], [ca.if_else(wrong != 0, free, 0)])
    touching = ca.Function("touching", [lower, upper, y], [ca.mmax(ca.logic_or(y <= lower, y >= upper))])

    def bounded_best(H: MX, g: MX, lower: MX, upper: MX) -> tuple[MX, MX]:
        y, inverse = plain(H, g)
        y = ca.fmin(ca.fmax(y, lower), upper)
        wrong = steep(H, g, lower, upper, y)
        for _ in range(NEWTON):
            better, still = newton(wrong, H, g, lower, upper, y)
            y, wrong = _choose(nu, 1)(wrong, better, y), still
        touches = touching(lower, upper, y)
        return y, _choose(nu, nu)(touches, kept(touches, H, g, lower, upper, y), inverse)

    return bounded_best


@cache
def _choose(rows: int, columns: int) -> ca.Function:
    """Return (which, a, b) -> a where `which` is not zero, else b."""
    which, a, b = SX.sym("which"), SX.sym("a", rows, columns), SX.sym("b", rows, columns)
    return ca.Function("chosen", [which, a, b], [ca.if_else(which != 0, a, b)])


def _steep(H: SX, g: SX, lower: SX, upper: SX, y: SX) -> SX:
    """Return 1 where free inputs can still lower the cost, else 0."""
    slope = (1 - _at_bounds(H, g, lower, upper, y)) * (g + ca.mtimes(H, y))
    return ca.sumsqr(slope) > FLAT * ca.sumsqr(g)


def _at_bounds(H: SX, g: SX, lower: SX, upper: SX, y: SX) -> SX:
    """Return 1 for inputs at a bound that the gradient pushes against, 0 for the others."""
    slope = g + ca.mtimes(H, y)
    return ca.logic_or(ca.logic_and(y <= lower, slope > 0), ca.logic_and(y >= upper, slope < 0))


def _mask(H: SX, held: SX) -> SX:
    """Return H with the rows and columns of held inputs as those of the unit matrix."""
    free = 1 - held
    return H * ca.mtimes(free, free.T) + ca.diag(held)


def _newton(H: SX, g: SX, lower: SX, upper: SX, y: SX) -> SX:
    """Return y after a projected Newton step: the best of some lengths, or y itself."""
    held = _at_bounds(H, g, lower, upper, y)
    step = -ca.mtimes(_inverse(_mask(H, held)), (1 - held) * (g + ca.mtimes(H, y)))
    best, least = y, ca.dot(y, g + ca.mtimes(H, y) / 2)
    for length in SHORTER:
        other = ca.fmin(ca.fmax(y + length * step, lower), upper)
        value = ca.dot(other, g + ca.mtimes(H, other) / 2)
        better = value < least
        best, least = ca.if_else(better, other, best), ca.fmin(value, least)
    return best


def _inverse(H: SX) -> SX:
    """Return H^-1; not a number unless H is positive definite."""
    R = inverse_factor(H)
    n = H.shape[0]
    whole = SX.zeros(n, n)
    for i in range(n):
        for j in range(i + 1):
            whole[i, j] = whole[j, i] = sum((R[k, i] * R[k, j] for k in range(i, n)), SX(0))
    return whole


def inverse_factor(H: SX) -> SX:
    """Return L^-1 of the Cholesky factor L of H = L L'; not a number unless H is positive definite."""
    n = H.shape[0]
    L = [[SX(0)] * n for _ in range(n)]
    R = SX(n, n)
    for j in range(n):
        R[j, j] = 1 / ca.sqrt(H[j, j] - sum((L[j][k] ** 2 for k in range(j)), SX(0)))
        for i in range(j + 1, n):
            L[i][j] = (H[i, j] - sum((L[i][k] * L[j][k] for k in range(j)), SX(0))) * R[j, j]
    for j in range(n):
        for i in range(j + 1, n):
            R[i, j] = -sum((L[i][k] * R[k, j] for k in range(j, i)), SX(0)) * R[i, i]
    return R
