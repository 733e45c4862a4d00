"""State feedback, on the true state or on the estimate of an observer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca
from casadi import SX

from articulus.errors import unlike
from articulus.model.mechanism.numbers import convert, quantity
from articulus.simulation.loop.component import Controller, Scope
from articulus.simulation.loop.components.checks import sampling, wrong
from articulus.simulation.loop.components.columns import (
    all_coordinates,
    as_in_time,
    as_matrix,
    at_time,
    matrix,
)
from articulus.simulation.loop.components.observer import Observer
from articulus.simulation.loop.components.tracking import command_joints, names


def _as_gain(x: Any) -> Any:
    """Return a matrix as rows of numbers, or a function from t to one as it is."""
    if not isinstance(x, ca.Function):
        return as_matrix(x)
    if x.n_in() != 1 or x.numel_in(0) != 1 or x.n_out() != 1:
        raise unlike("a function from t to one matrix", str(x))
    return x


@dataclass(frozen=True)
class StateFeedback(Controller):
    """u = u0 - K (x - x0), where x = (q, v) or what an observer takes it for.

    The observer hears u and all commands given before it; put other controllers first.

    Parameters
    ----------
    K : matrix, (m, n), or casadi.Function of t
        Gain, from `control.lqr` or `control.place` on a linear model (`Mechanism.linearize` has these states). A function of t has a column for
        each entry of (q, v), also where joints have quaternions.
    x0 : numbers, Table or casadi.Function of t
        Operating point or course, (q, v); one number for all or one each.
    u0 : numbers, Table or casadi.Function of t
        Commands there.
    observer : Observer
        None: the true state.
    joints : names
        Joints that it commands, in the order of its rows; all commands if not given. In a run with more actuators, those that drive them.
    period : number [s]
        Sampling period; continuous if not given.
    name : str
    """

    K: Any = quantity("command/state", "gain", size="m x n")
    x0: Any = quantity("state", "operating point", size="1 or n", default=0.0)
    u0: Any = quantity("command", "commands at the operating point", size="1 or m", default=0.0)
    observer: Observer | None = None
    joints: tuple[str, ...] = ()
    period: float | None = quantity("s", "sampling period; continuous if not given", default=None)
    name: str = "state_feedback"

    type_name = "state_feedback"
    signals: ClassVar = {"estimate": "state"}

    def __post_init__(self) -> None:
        convert(self, K=_as_gain, x0=as_in_time, u0=as_in_time, joints=names)
        if not isinstance(self.observer, Observer | None):
            raise wrong(self, "observer", repr(self.observer), "an Observer")
        if self.joints and self.observer is not None:
            raise wrong(self, "joints", "names beside an observer, which hears all commands", "one of both")
        sampling(self)

    def work(self, s: Scope) -> None:
        deviation = self._deviation(s)
        K = self._gain(s, deviation.numel())
        u0 = at_time(s, self, "u0", K.shape[0])
        u, others = u0 - ca.mtimes(K, deviation), s.commands
        command_joints(s, self, u)
        if self.observer is not None:
            self._observe(s, self.observer, deviation, others + u - u0)

    def _gain(self, s: Scope, n: int) -> SX:
        if not isinstance(self.K, ca.Function):
            return matrix(s, self, "K", (len(self.K), n))
        if self.K.size2_out(0) != n:
            found = f"{self.K.size1_out(0)} x {self.K.size2_out(0)} numbers at every time"
            raise wrong(self, "K", found, f"{self.K.size1_out(0)} x {n}")
        return self.K.expand()(s.t)

    def _deviation(self, s: Scope) -> SX:
        if self.observer is None:
            # a gain over time knows the coordinates of joints whose velocities are not their rates
            x = (
                ca.vertcat(s.q, s.v)
                if isinstance(self.K, ca.Function)
                else ca.vertcat(*all_coordinates(s, self))
            )
            return x - at_time(s, self, "x0", x.numel())
        keep = s.state if self.period is None else s.memory
        deviation = keep("estimate", self.observer.start())
        s.write("estimate", at_time(s, self, "x0", deviation.numel()) + deviation)
        return deviation

    def _observe(self, s: Scope, observer: Observer, deviation: SX, u: SX) -> None:
        (s.rate if self.period is None else s.remember)("estimate", observer.next(s, deviation, u))
