"""Adaptive methods: what they share is the control of the step, the stops and the dense output."""

from __future__ import annotations

import abc
import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from articulus.errors import InputError, NumericalError
from articulus.simulation.integrate.base import Integrator, Rhs
from articulus.simulation.integrate.solution import IntegrationSolution, Piece, Statistics

Projection = Callable[[float, np.ndarray], np.ndarray]
Limit = Callable[[float, np.ndarray, np.ndarray], float]
"""From time, state and its rate to the longest step that may be tried there [s]."""

SAFETY, GROWTH, SHRINKAGE, MEMORY = 0.9, 10.0, 0.2, 0.04
"""Constants of the step control; Hairer, Nørsett & Wanner 1993, section II.4."""
FIRST = 1e-3
"""Step with which the curvature at the start is probed where the size of the state tells nothing, over the interval [-]."""


@dataclasses.dataclass(frozen=True)
class AdaptiveState:
    """State of an adaptive integration between two steps: a run that is resumed from it is bit-identical.

    Parameters
    ----------
    t : float [s]
    x : array, (n,)
    h : float [s]
        Step to be tried next, signed.
    error : float
        Error of the last accepted step in units of the tolerance: memory of the step control.
    memory : tuple of arrays
        What the method already knows at (t, x), such as the derivative; empty after a stop.
    statistics : Statistics
    """

    t: float
    x: np.ndarray
    h: float
    error: float = 1e-4
    memory: tuple[np.ndarray, ...] = ()
    statistics: Statistics = dataclasses.field(default_factory=Statistics)

    def restart(self, x: Any) -> AdaptiveState:
        """Return the state after a jump to x at the same time; the step size is kept as a guess."""
        return dataclasses.replace(self, x=np.array(x, dtype=float), memory=())


@dataclasses.dataclass(frozen=True)
class StepControl:
    """Demands on an adaptive integration.

    Parameters
    ----------
    rtol, atol : float, or array (n,)
        Error allowed in a step: the mean square of error / (atol + rtol |x|) is at most 1.
    min_step : float [s]
        A smaller step is a failure; never below the spacing of floating-point numbers at t.
    max_step : float [s]
    max_steps : int
        Number of steps, accepted or not, after which a call gives up.
    """

    rtol: float | np.ndarray = 1e-6
    atol: float | np.ndarray = 1e-9
    min_step: float = 0.0
    max_step: float = math.inf
    max_steps: int = 100_000

    def __post_init__(self) -> None:
        for name in ("rtol", "atol"):
            value = np.asarray(getattr(self, name), dtype=float)
            if not (np.isfinite(value).all() and (value >= 0).all()):
                raise InputError(f"{name} = {getattr(self, name)!r}; expected finite numbers of at least 0")
        if not np.all(np.asarray(self.rtol) + np.asarray(self.atol) > 0):
            raise InputError("rtol and atol are both zero; expected at least one above zero")
        if not 0 <= self.min_step <= self.max_step or not self.max_step > 0:
            raise InputError(
                f"min_step = {self.min_step!r}, max_step = {self.max_step!r}; expected 0 <= min_step <= max_step"
            )

    def norm(self, error: np.ndarray, *x: np.ndarray) -> float:
        """Return the error in units of the tolerance, root mean square; infinite if it is not finite."""
        scale = self.atol + self.rtol * np.maximum.reduce(np.abs(x))
        size = math.sqrt(np.mean((error / scale) ** 2))
        return size if math.isfinite(size) else math.inf


@dataclasses.dataclass(frozen=True)
class Attempt:
    """A step that was tried.

    Parameters
    ----------
    x : array, (n,)
        State at t + h.
    error : array, (n,)
        Estimate of its error.
    coefficients : array, (degree + 1, n)
        Dense output: x(t + theta h) = sum_k coefficients_k theta^k.
    memory : tuple of arrays
        What is known at (t + h, x) already.
    statistics : Statistics
        What the attempt cost.
    """

    x: np.ndarray
    error: np.ndarray
    coefficients: np.ndarray
    memory: tuple[np.ndarray, ...]
    statistics: Statistics


class Adaptive(Integrator):
    """A method that chooses its steps so that the error of each stays within a tolerance.

    To add one: a file with a subclass that sets `name`, `order` and `error_order` and writes `begin` and `attempt`.
    What is integrated, `problem`, is the derivative f(t, x), or what else the subclass says.
    """

    kind = "adaptive"
    controls_error = True
    order: int
    error_order: int
    """Power of h in the error estimate of one step."""

    hint: str
    """What is likely wrong when the steps become too small."""

    @abc.abstractmethod
    def derivative(self, problem: Any) -> Rhs:
        """Return f of the problem."""

    @abc.abstractmethod
    def begin(
        self, problem: Any, t: float, x: np.ndarray, towards: float
    ) -> tuple[tuple[np.ndarray, ...], Statistics]:
        """Return what a step from (t, x) needs to know there, the derivative first, and what that cost."""

    @abc.abstractmethod
    def attempt(
        self,
        problem: Any,
        t: float,
        x: np.ndarray,
        memory: tuple[np.ndarray, ...],
        h: float,
        inside: Callable[[float], float],
    ) -> Attempt:
        """Return one step of size h; f is asked at times `inside(t + c h)` only."""

    @np.errstate(over="ignore", invalid="ignore", divide="ignore")
    def start(
        self, problem: Any, t0: float, x0: Any, t1: float, control: StepControl | None = None
    ) -> AdaptiveState:
        """Return the state of an integration that begins at t0 [s] with x0, (n,), towards t1.

        The first step is guessed from the size of x, x' and x''. Source: Hairer, Nørsett & Wanner 1993, section II.4.
        """
        control = control or StepControl()
        t0, t1, x = float(t0), float(t1), np.array(x0, dtype=float)
        if x.ndim != 1 or not x.size:
            raise InputError(f"{self.name}: the state has shape {x.shape}; expected (n,), n of at least 1")
        if not np.isfinite(x).all():
            raise InputError(f"{self.name}: the state at t = {t0:g} s is not finite: {x}")
        if t1 == t0:
            return AdaptiveState(t0, x, 0.0)
        memory, cost = self.begin(problem, math.nextafter(t0, t1), x, t1)
        slope = memory[0]
        if slope.shape != x.shape:
            raise InputError(
                f"{self.name}: f returned shape {slope.shape}; expected {x.shape}, that of the state"
            )
        if not np.isfinite(slope).all():
            raise NumericalError(
                f"{self.name}: the derivative at the start, t = {t0:g} s, is not finite: {slope}"
            )
        d0, d1 = control.norm(x, x), control.norm(slope, x)
        h = 0.01 * d0 / d1 if min(d0, d1) > 1e-5 else FIRST * abs(t1 - t0)
        h = math.copysign(min(h, abs(t1 - t0), control.max_step), t1 - t0)
        ahead = np.asarray(self.derivative(problem)(t0 + h, x + h * slope), dtype=float)
        d2 = control.norm(ahead - slope, x) / abs(h)
        largest = max(d1, d2)
        guess = (0.01 / largest) ** (1 / self.error_order) if largest > 1e-15 else abs(h)
        size = max(control.min_step, min(100 * abs(h), guess, control.max_step))
        h = math.copysign(min(size, abs(t1 - t0)), h)
        return AdaptiveState(t0, x, h, memory=memory, statistics=cost + Statistics(evaluations=1))

    @np.errstate(over="ignore", invalid="ignore", divide="ignore")
    def step(
        self,
        problem: Any,
        state: AdaptiveState,
        t1: float,
        control: StepControl | None = None,
        project: Projection | None = None,
        limit: Limit | None = None,
    ) -> tuple[AdaptiveState, Piece]:
        """Return the state after one accepted step, which ends at t1 [s] or before it, and its dense output.

        `project` puts the end of an accepted step onto an invariant of the equations, `limit` says how long it may be; see `run`.

        Raises
        ------
        NumericalError
            The step became too small, or `max_steps` attempts were not enough; `result` is the last state.
        """
        control = control or StepControl()
        t, x, statistics = state.t, state.x, state.statistics
        inside = _before(t1, math.copysign(1.0, t1 - t))
        memory = state.memory
        if not memory:
            memory, cost = self.begin(problem, math.nextafter(t, t1), x, t1)
            statistics += cost
        wish = math.copysign(min(abs(state.h) or abs(t1 - t), control.max_step), t1 - t)
        smallest = max(control.min_step, 4 * math.ulp(t))
        if limit is not None:
            wish = math.copysign(min(abs(wish), max(limit(t, x, memory[0]), 2 * smallest)), wish)
        rejected, error = False, math.nan
        for _ in range(control.max_steps):
            h, t_next = _not_beyond(t, wish, t1)
            if abs(h) < smallest and t_next != t1:
                raise self._failure(
                    "the step became too small", state, statistics, h, error, "step too small"
                )
            tried = self.attempt(problem, t, x, memory, h, inside)
            error = control.norm(tried.error, x, tried.x)
            statistics += tried.statistics
            if error <= 1:
                grown = h * self._factor(error, state.error, 1.0 if rejected else GROWTH)
                shortened = abs(h) < abs(wish) and abs(grown) < abs(wish)
                ahead = AdaptiveState(
                    t_next,
                    tried.x if project is None else project(t_next, tried.x),
                    wish if shortened else grown,
                    max(error, 1e-4),
                    () if t_next == t1 or project is not None else tried.memory,
                    statistics + Statistics(steps=1),
                )
                return ahead, Piece(t, t_next, tried.coefficients)
            rejected = True
            statistics += Statistics(rejections=1)
            wish = h * (
                max(SHRINKAGE, SAFETY * error ** (-1 / self.error_order)) if error < math.inf else 0.1
            )
        raise self._failure(
            f"{control.max_steps} attempts at one step failed", state, statistics, wish, error
        )

    def run(
        self,
        problem: Any,
        state: AdaptiveState,
        t1: float,
        control: StepControl | None = None,
        stops: Sequence[float] = (),
        project: Projection | None = None,
        limit: Limit | None = None,
    ) -> IntegrationSolution:
        """Return the solution from a state to t1 [s]; see `integrate`. It continues from `solution.state` of another.

        Parameters
        ----------
        project : callable
            From time and state at the end of every accepted step to the nearest state on an invariant of the equations,
            such as closed loops or unit quaternions, from which the next step starts. It moves the state by no more than
            the error of a step, so that the order stays (Hairer, Lubich & Wanner 2006, section IV.4); what drifts from
            step to step does not add up.
        limit : callable
            From time, state and rate at the beginning of a step to the longest that may be tried [s]: what changes suddenly
            and for a short while could be stepped over.
        """
        control = control or StepControl()
        sign = math.copysign(1.0, t1 - state.t)
        between = {float(s) for s in stops if 0 < sign * (s - state.t) < sign * (t1 - state.t)}
        first, pieces, states = state.statistics.attempts, [], [state]
        try:
            for end in [*sorted(between, reverse=sign < 0), float(t1)]:
                while states[-1].t != end:
                    if states[-1].statistics.attempts - first >= control.max_steps:
                        raise self._failure(
                            f"{control.max_steps} steps were not enough",
                            states[-1],
                            states[-1].statistics,
                            states[-1].h,
                        )
                    ahead, piece = self.step(problem, states[-1], end, control, project, limit)
                    states.append(ahead)
                    pieces.append(piece)
        except NumericalError as failure:
            failure.result = IntegrationSolution.of(states, pieces)
            raise
        return IntegrationSolution.of(states, pieces)

    def integrate(
        self,
        problem: Any,
        t0: float,
        t1: float,
        x0: Any,
        rtol: float | np.ndarray = 1e-6,
        atol: float | np.ndarray = 1e-9,
        *,
        stops: Sequence[float] = (),
        min_step: float = 0.0,
        max_step: float = math.inf,
        max_steps: int = 100_000,
    ) -> IntegrationSolution:
        """Return the solution from t0 to t1.

        Parameters
        ----------
        problem : callable
            f: from time [s] and state (n,) to the derivative (n,); for a stiff method see its class.
        t0, t1 : float [s]
            t1 may lie before t0.
        x0 : array, (n,)
        rtol, atol : float, or array (n,)
            Error allowed in a step: the mean square of error / (atol + rtol |x|) is at most 1.
        stops : sequence of float [s]
            Times at which f jumps. Steps end exactly there, and f is asked on the near side only, so that either
            convention (t < stop or t <= stop) serves.
        min_step, max_step : float [s]
        max_steps : int

        Raises
        ------
        NumericalError
            With the reason, the time and the last state; `result` is the solution up to there.
        """
        control = StepControl(rtol, atol, min_step, max_step, max_steps)
        first = min([t1, *(s for s in stops if (s - t0) * (t1 - t0) > 0)], key=lambda s: abs(s - t0))
        return self.run(problem, self.start(problem, t0, x0, first, control), t1, control, stops)

    def _factor(self, error: float, previous: float, growth: float) -> float:
        """Return the change of h after an accepted step: proportional-integral control, order and memory balanced."""
        exponent = 1 / self.error_order - 0.75 * MEMORY
        factor = SAFETY * max(error, 1e-10) ** -exponent * previous**MEMORY
        return min(growth, max(SHRINKAGE, factor))

    def _failure(
        self,
        reason: str,
        state: AdaptiveState,
        statistics: Statistics,
        h: float,
        error: float = math.nan,
        cause: str = "",
    ) -> NumericalError:
        if error == math.inf:
            hint = "the derivative is not finite near here: a singular position, or the solution runs off to infinity"
        else:
            hint = self.hint
        return NumericalError(
            f"{self.name}: {reason} at t = {state.t:.9g} s (h = {h:.3g} s, {statistics}); likely {hint}",
            result=state,
            cause=cause or ("singular" if error == math.inf else "step too small"),
        )


def _before(t1: float, sign: float) -> Callable[[float], float]:
    """Return the function that keeps times on the near side of t1."""
    last = math.nextafter(t1, -sign * math.inf)
    return lambda t: t if sign * (last - t) > 0 else last


def _not_beyond(t: float, h: float, t1: float) -> tuple[float, float]:
    """Return step and end of it, shortened so as to end at t1; two equal steps rather than a last one that is tiny."""
    rest = t1 - t
    if abs(h) >= abs(rest) * (1 - 1e-12):
        return rest, t1
    if abs(h) > abs(rest) / 2:
        h = rest / 2
    return h, t + h
