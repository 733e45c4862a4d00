"""A diagonally implicit Runge-Kutta method for equations E(t, x, x') = 0."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, NamedTuple, Protocol

import numpy as np

from articulus.errors import InputError, NumericalError
from articulus.simulation.integrate.base import Array, Integrator

EPS = float(np.finfo(float).eps)
GAMMA = 1 - math.sqrt(0.5)
SLOW = 0.1
"""A correction of more than this part of the one before: the factored matrix does not serve any more."""


class ResidualProblem(Protocol):
    """What the method asks of a problem E(t, x, x') = 0; an entry of x whose rate is not in E is algebraic."""

    def correction(self, t: float, x: Array, xdot: Array, sigma: float, kept: Any) -> tuple[Array, Any]:
        """Return dx of J dx = E with J = dE/dx + sigma dE/dx', and what to keep.

        `kept` is what the correction before gave back, such as J factored, or None to begin again.
        """


class SdirkState(NamedTuple):
    """State of an integration between two steps: time [s], x (n,), x of the first stage, Newton iterations so far."""

    t: float
    x: np.ndarray
    stage: np.ndarray | None = None
    iterations: int = 0


@dataclasses.dataclass(frozen=True)
class Sdirk(Integrator):
    """Two stages with the same sigma = 1 / (gamma h), gamma = 1 - sqrt(1/2): order 2, L-stable, stiffly accurate.

    E(t + gamma h, x1, x1') = 0,  x1 = x0 + gamma h x1'
    E(t + h, x2, x2') = 0,        x2 = x0 + h ((1 - gamma) x1' + gamma x2'),  which is the result

    What E says of x alone holds at the end of a step to the accuracy of the iteration. One matrix is factored for a step, and
    again where the corrections fall slowly. In runs x are absolute coordinates (`dynamics/ball_joints.py`).

    Source: Alexander 1977.

    Parameters
    ----------
    tolerance : float
        Newton's iteration ends when a correction is less than this part of the change of x in the step.
    max_iterations : int
        For each stage.
    """

    tolerance: float = 1e-9
    max_iterations: int = 25
    name = "absolute_sdirk"
    kind = "residual"
    order = 2

    def step(self, problem: ResidualProblem, state: SdirkState, h: float) -> SdirkState:
        """Return the state at t + h.

        Raises
        ------
        NumericalError
            Newton's iteration did not converge, or its matrix is singular; `result` is the state before the step.
        """
        t, x0, sigma = state.t, state.x, 1 / (GAMMA * h)
        x1, kept, first = self._stage(problem, state, t + GAMMA * h, x0, x0, sigma, None)
        rate = sigma * (x1 - x0)
        base = x0 + (1 - GAMMA) * h * rate
        x2, _, second = self._stage(problem, state, t + h, base, x0 + h * rate, sigma, kept)
        return SdirkState(t + h, x2, x1, state.iterations + first + second)

    def _stage(
        self,
        problem: ResidualProblem,
        state: SdirkState,
        t: float,
        base: np.ndarray,
        x: np.ndarray,
        sigma: float,
        kept: Any,
    ) -> tuple[np.ndarray, Any, int]:
        """Return x with E(t, x, sigma (x - base)) = 0 from an initial guess, the factored matrix and the count of iterations."""
        size = np.inf
        for iteration in range(1, self.max_iterations + 1):
            dx, kept = problem.correction(t, x, sigma * (x - base), sigma, kept)
            if not np.isfinite(dx).all():
                raise NumericalError(
                    f"{self.name}: no finite solution of the linear system after t = {state.t:.9g} s; likely a singular "
                    "matrix, or a force that is not finite",
                    result=state,
                    cause="singular",
                )
            x = x - dx
            before, size = size, np.abs(dx).max()
            rounding = 16 * EPS * (1 + np.abs(x).max()) * max(1.0, abs(sigma))
            if size <= max(self.tolerance * np.abs(x - state.x).max(), rounding):
                return x, kept, iteration
            if size > SLOW * before:
                kept = None
        raise NumericalError(
            f"{self.name}: Newton's iteration did not converge from t = {state.t:.9g} s: correction {size:.3g} after "
            f"{self.max_iterations} iterations; likely the step is too long",
            result=state,
            cause="not converged",
        )

    def integrate(
        self, problem: ResidualProblem, t0: float, t1: float, x0: Any, steps: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return times and states of `steps` equal steps from t0 to t1.

        Parameters
        ----------
        problem : Residual
        t0, t1 : float [s]
        x0 : array, (n,)
            It fulfils what E says of x alone.
        steps : int

        Returns
        -------
        t : array, (steps + 1,) [s]
        x : array, (steps + 1, n)
        """
        if not isinstance(steps, (int, np.integer)) or steps < 1:
            raise InputError(f"{self.name}: steps = {steps!r}; expected an integer of at least 1")
        t, h = np.linspace(t0, t1, steps + 1), (t1 - t0) / steps
        states = [SdirkState(float(t0), np.array(x0, dtype=float))]
        for start in t[:-1]:
            states.append(self.step(problem, states[-1]._replace(t=float(start)), h))
        return t, np.array([state.x for state in states])
