"""The family of generalized-alpha methods: one step for all, four coefficients for each."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from articulus.errors import InputError, NumericalError
from articulus.simulation.integrate.base import Integrator
from articulus.simulation.integrate.mechanical import Implicit, MotionPoint

EPS = float(np.finfo(float).eps)
SLOW = 0.1
"""A correction of more than this part of the one before: what is kept from earlier steps does not serve any more."""
FORGET = 1.25
"""Growth of the rate of convergence with each step that did not measure it: steps of one iteration stay few in a row."""


@dataclasses.dataclass(frozen=True)
class AlphaState:
    """State of an integration between two steps.

    Parameters
    ----------
    t : float [s]
    q, v, vdot : arrays, (nq,), (nv,), (nv,)
    a : array, (nv,)
        Auxiliary acceleration of the method; follows v' with a shift in time.
    multipliers : array, (m,)
        -G' lambda are the constraint forces.
    iterations : int
        Newton iterations so far.
    kept : object
        What the problem keeps from step to step to save work, such as a factored matrix; None is always right.
    rate : float
        Last known ratio of successive corrections with what is kept.
    """

    t: float
    q: np.ndarray
    v: np.ndarray
    vdot: np.ndarray
    a: np.ndarray
    multipliers: np.ndarray
    iterations: int = 0
    kept: Any = dataclasses.field(default=None, repr=False, compare=False)
    rate: float = dataclasses.field(default=1.0, repr=False, compare=False)


@dataclasses.dataclass(frozen=True)
class AlphaCoefficients:
    """(1 - alpha_m) a1 + alpha_m a0 = (1 - alpha_f) v1' + alpha_f v0'; beta and gamma of Newmark."""

    alpha_m: float
    alpha_f: float
    beta: float
    gamma: float


@dataclasses.dataclass(frozen=True)
class AlphaMethod(Integrator):
    """Implicit method for M v' + G' lambda = f, g = 0 (index 3) or without constraints, in Lie-group form.

    q1 = q0 displaced by h v0 + h^2 ((1/2 - beta) a0 + beta a1),  v1 = v0 + h ((1 - gamma) a0 + gamma a1)

    The equations of motion and g = 0 hold at the end of each step, to the accuracy of Newton's iteration. The equations
    of motion are scaled by h^2, so that the linear systems stay well conditioned as h falls.

    Multipliers begin with an error of order 1 that dies out like rho_inf^steps; after that they are of order 2 too.

    Sources: Arnold & Brüls 2007 (index 3, order 2); Brüls & Cardona 2010 (Lie groups); Arnold, Brüls & Cardona 2015
    (the start); Bottasso, Dopico & Trainelli 2008 (scaling).

    Parameters
    ----------
    rho_inf : float
        Spectral radius at infinite frequency: 1 damps nothing, 0 annihilates fast motion in a step. Constraints need
        less than 1.
    tolerance : float
        Newton's iteration ends when a correction of the position is less than this part of the step's displacement, both measured
        by the `sizes` of the problem, or rounding at a position of that size; where a problem keeps its matrix, when the correction times the rate of convergence is.
    max_iterations : int
    """

    rho_inf: float = 0.8
    tolerance: float = 1e-8
    max_iterations: int = 25
    kind = "implicit"
    keeps_constraints = True
    lowest = 0.0
    """Smallest rho_inf that the method can have."""

    def __post_init__(self) -> None:
        if not self.lowest <= self.rho_inf <= 1:
            raise InputError(f"{self.name}: rho_inf = {self.rho_inf!r}; expected {self.lowest:g} to 1")

    @property
    @abc.abstractmethod
    def coefficients(self) -> AlphaCoefficients:
        """Return the four numbers of the method."""

    def start(self, problem: Implicit, t: float, q: Any, v: Any) -> AlphaState:
        """Return the state at t [s] with accelerations and multipliers that fit q, (nq,), and v, (nv,)."""
        t, q, v = float(t), np.array(q, dtype=float), np.array(v, dtype=float)
        vdot, multipliers = self._finite(problem.start, t, q, v)
        return AlphaState(t, q, v, vdot, vdot, multipliers)

    def step(self, problem: Implicit, state: AlphaState, h: float) -> AlphaState:
        """Return the state at t + h.

        Raises
        ------
        NumericalError
            Newton's iteration did not converge, or its matrix is singular; `result` is the state before the step.
        """
        c, t, kept = self.coefficients, state.t + h, state.kept
        by_v = c.gamma / (h * c.beta)
        by_vdot = (1 - c.alpha_m) / (h**2 * c.beta * (1 - c.alpha_f))
        vdot, multipliers = state.vdot, state.multipliers
        a = _auxiliary(c, state, vdot)
        dq = h * state.v + h**2 * ((0.5 - c.beta) * state.a + c.beta * a)
        v = state.v + h * ((1 - c.gamma) * state.a + c.gamma * a)
        size, rate = np.inf, state.rate
        large, far = getattr(problem, "sizes", (1.0, 1.0))
        rounding = 64 * EPS * (1 + np.abs(state.q / far).max())
        for iteration in range(1, self.max_iterations + 1):
            q = problem.move(t, state.q, dq)
            at = MotionPoint(t, q, dq, v, vdot, multipliers)
            change, kept = self._finite(problem.correction, at, by_v, by_vdot, kept, state=state)
            d = change[: v.size]
            dq, v, vdot = dq + d, v + by_v * d, vdot + by_vdot * d
            if multipliers.size:
                multipliers = multipliers + by_vdot * change[v.size :]
            limit = max(self.tolerance * np.abs(dq / large).max(), rounding)
            before, size = size, np.abs(d / large).max()
            rate = min(1.0, FORGET * rate) if iteration == 1 else max(0.2 * rate, size / before)
            if size * (1.0 if kept is None else min(1.0, 1.5 * rate)) <= limit:
                return AlphaState(
                    t,
                    problem.move(t, state.q, dq),
                    v,
                    vdot,
                    _auxiliary(c, state, vdot),
                    multipliers,
                    state.iterations + iteration,
                    kept,
                    rate,
                )
            if size > SLOW * before:
                kept, rate = None, 1.0
        raise NumericalError(
            f"{self.name}: Newton's iteration did not converge from t = {state.t:.9g} s with h = {h:.3g} s: correction "
            f"{size:.3g} after {self.max_iterations} iterations; likely the step is too long, "
            "or stiffness and damping are not the derivatives of the force",
            result=state,
            cause="not converged",
        )

    def integrate(
        self, problem: Implicit, t0: float, t1: float, q0: Any, v0: Any, steps: int
    ) -> tuple[np.ndarray, list[AlphaState]]:
        """Return times and states of `steps` equal steps from t0 to t1.

        Parameters
        ----------
        problem : Mechanical, or another `Implicit`
        t0, t1 : float [s]
        q0, v0 : arrays, (nq,) and (nv,)
            They fulfil the constraints and their rates.
        steps : int

        Returns
        -------
        t : array, (steps + 1,) [s]
        states : list of AlphaState, one per time
        """
        if not isinstance(steps, (int, np.integer)) or steps < 1:
            raise InputError(f"{self.name}: steps = {steps!r}; expected an integer of at least 1")
        t, h = np.linspace(t0, t1, steps + 1), (t1 - t0) / steps
        states = [self.start(problem, t0, q0, v0)]
        for end in t[1:]:
            states.append(dataclasses.replace(self.step(problem, states[-1], h), t=float(end)))
        return t, states

    def _finite(self, solve: Callable[..., tuple], *arguments: Any, state: AlphaState | None = None) -> tuple:
        """Return what `solve` gives; say what it means when that is not finite."""
        try:
            solved = solve(*arguments)
            if np.isfinite(solved[0]).all():
                return solved
        except np.linalg.LinAlgError:
            pass
        raise NumericalError(
            f"{self.name}: no finite solution of the linear system{f' after t = {state.t:.9g} s' if state else ''}; likely "
            "redundant constraint rows, a singular position, or a force that is not finite",
            result=state,
            cause="singular",
        )


def _auxiliary(c: AlphaCoefficients, state: AlphaState, vdot: np.ndarray) -> np.ndarray:
    """Return a1 of the method's recursion."""
    return ((1 - c.alpha_f) * vdot + c.alpha_f * state.vdot - c.alpha_m * state.a) / (1 - c.alpha_m)


@dataclasses.dataclass(frozen=True)
class Newmark(AlphaMethod):
    """Newmark: the trapezoidal rule (gamma = 1/2, beta = 1/4) for rho_inf = 1; damped, and of order 1 then, below.

    gamma = (3 - rho_inf) / (2 (1 + rho_inf)),  beta = (gamma + 1/2)^2 / 4

    Source: Newmark 1959.
    """

    rho_inf: float = 1.0
    name = "newmark"

    @property
    def order(self) -> int:  # type: ignore[override]
        """Return 2 for the trapezoidal rule, else 1."""
        return 2 if self.rho_inf == 1 else 1

    @property
    def coefficients(self) -> AlphaCoefficients:
        gamma = (3 - self.rho_inf) / (2 * (1 + self.rho_inf))
        return AlphaCoefficients(0.0, 0.0, (gamma + 0.5) ** 2 / 4, gamma)


@dataclasses.dataclass(frozen=True)
class HHT(AlphaMethod):
    """HHT-alpha: order 2, forces taken between the ends of the step; alpha = (1 - rho_inf) / (1 + rho_inf).

    Source: Hilber, Hughes & Taylor 1977.
    """

    name = "hht"
    order = 2
    lowest = 0.5

    @property
    def coefficients(self) -> AlphaCoefficients:
        alpha = (1 - self.rho_inf) / (1 + self.rho_inf)
        return AlphaCoefficients(0.0, alpha, (1 + alpha) ** 2 / 4, 0.5 + alpha)


@dataclasses.dataclass(frozen=True)
class GeneralizedAlpha(AlphaMethod):
    """Generalized-alpha: order 2, and of all such methods the least damping of slow motion for a given rho_inf.

    Source: Chung & Hulbert 1993.
    """

    name = "generalized_alpha"
    order = 2

    @property
    def coefficients(self) -> AlphaCoefficients:
        rho = self.rho_inf
        alpha_m, alpha_f = (2 * rho - 1) / (rho + 1), rho / (rho + 1)
        gamma = 0.5 + alpha_f - alpha_m
        return AlphaCoefficients(alpha_m, alpha_f, (gamma + 0.5) ** 2 / 4, gamma)
