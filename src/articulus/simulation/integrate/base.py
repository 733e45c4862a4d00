"""What every integration method is: a step from state to state, and a loop around it."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from articulus.errors import InputError

Array = Any
"""A numpy array (..., n), or an SX or MX column."""
Rhs = Callable[[Array, Array], Array]


@dataclasses.dataclass(frozen=True)
class IntegrationState:
    """State of an integration: all that a step needs and all that it leaves behind.

    Parameters
    ----------
    t : float [s]
        Time.
    x : array, (..., n)
        State at t.
    history : tuple of arrays, each (..., n)
        Derivatives at t - h, t - 2h, ..., newest first; empty for methods that look at one point only.
    h : float [s]
        Step between the points of the history.
    """

    t: float
    x: Array
    history: tuple[Array, ...] = ()
    h: float = 0.0

    def earlier(self, h: float) -> tuple[Array, ...]:
        """Return the history if its points are h apart, else nothing: a new step size starts a new history."""
        return self.history if h == self.h else ()


class Integrator(abc.ABC):
    """What the list of methods says about each."""

    name: str
    """Name by which `method` finds it."""
    kind: str
    """How it is called: methods of a kind have the same signatures."""
    controls_error: bool = False
    """Whether it chooses its steps by the error; inputs may then jump anywhere."""
    keeps_constraints: bool = False
    """Whether constraints are among its own equations; the form of loops then has no place in it."""
    order: int | None
    """Power of the step with which the global error falls; None where the method chooses."""


class Method(Integrator):
    """A method with fixed steps for x' = f(t, x).

    To add one: a subclass that sets the class variables and writes `advance` and `step`, and its line in
    `ALL_METHODS`; the tests then measure its order. A Runge-Kutta method is a coefficient table only (see `RK4`).
    `advance` is arithmetic only, so that the same text runs on numbers and builds native time loops from symbols.

    A method holds no state: everything between two steps is in `IntegrationState`, so that a run may stop, be saved and go on.
    """

    kind = "explicit"
    order: int
    explicit: bool = True
    evaluations: int
    """Evaluations of f in a step."""
    past: int = 0
    """Number of earlier derivatives that a step needs, the one at t not counted."""
    starter: ClassVar[Any] = None
    """One-step method of the first steps, of a method that looks back."""

    def start(self, t: float, x: Any) -> IntegrationState:
        """Return the state of an integration that begins at time t [s] with x, (..., n)."""
        return IntegrationState(float(t), np.array(x, dtype=float))

    @abc.abstractmethod
    def advance(
        self, f: Rhs, t: Array, x: Array, slopes: tuple[Array, ...], h: Array
    ) -> tuple[Array, tuple[Array, ...]]:
        """Return x at t + h and the slopes that the next step looks back on.

        Arithmetic only: numbers, SX and MX alike.

        Parameters
        ----------
        f : callable
            From time [s] and state to the derivative.
        t : number or symbol [s]
        x : array (..., n) or column of symbols
        slopes : tuple
            Derivatives at t - h, ..., t - past h.
        h : number or symbol [s]
        """

    @abc.abstractmethod
    def step(self, f: Rhs, state: IntegrationState, h: float) -> IntegrationState:
        """Return the state at t + h, for numbers; while the history is short, by a step of another method.

        Parameters
        ----------
        f : callable
            From time [s] and state (..., n) to the derivative (..., n).
        state : State
            From `start` or from the step before.
        h : float [s]
            Step; may be negative.
        """

    def integrate(self, f: Rhs, t0: float, t1: float, x0: Any, steps: int) -> tuple[Array, Array]:
        """Return times and states of `steps` equal steps from t0 to t1.

        Parameters
        ----------
        f : callable
            From time [s] and state (..., n) to the derivative (..., n).
        t0, t1 : float [s]
        x0 : array, (..., n)
            State at t0; leading axes are a batch that goes in step.
        steps : int

        Returns
        -------
        t : array, (steps + 1,) [s]
        x : array, (..., steps + 1, n)
        """
        if not isinstance(steps, (int, np.integer)) or steps < 1:
            raise InputError(f"{self.name}: steps = {steps!r}; expected an integer of at least 1")
        state = self.start(t0, x0)
        if state.x.ndim == 0:
            raise InputError(f"{self.name}: the state is a single number; expected an array (..., n)")
        t, h = np.linspace(t0, t1, steps + 1), (t1 - t0) / steps
        x = np.empty((*state.x.shape[:-1], steps + 1, state.x.shape[-1]))
        x[..., 0, :] = state.x
        evaluate = _same_shape(f, self.name)
        for k in range(steps):
            state = dataclasses.replace(self.step(evaluate, state, h), t=float(t[k + 1]))
            x[..., k + 1, :] = state.x
        return t, x


def _same_shape(f: Rhs, name: str) -> Rhs:
    """Return f with a check that the derivative has the shape of the state."""

    def evaluate(t: float, x: Array) -> Array:
        out = np.asarray(f(t, x))
        if out.shape != x.shape:
            raise InputError(f"{name}: f returned shape {out.shape}; expected {x.shape}, that of the state")
        return out

    return evaluate
