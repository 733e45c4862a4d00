"""Computed torque: inverse dynamics of a model makes every joint a double integrator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
from casadi import SX

from articulus.dynamics import function
from articulus.mechanism import Description
from articulus.mechanism.numbers import as_numbers, convert, quantity
from articulus.simulate.component import Controller, Scope
from articulus.simulate.components.checks import sampling, wrong
from articulus.simulate.components.columns import as_in_time, at_time, column, rate_at_time
from articulus.simulate.components.tracking import optional, present, two_signals, wanted


@dataclass(frozen=True)
class ComputedTorque(Controller):
    """tau = M(q) (a_d + kv (v_d - v) + kp (q_d - q)) + bias(q, v), by inverse dynamics of the mechanism or of a model.

    With the true model and without sampling the error obeys e'' + kv e' + kp e = 0.

    Parameters
    ----------
    kp : numbers [1/s^2]
        One for all freedoms, or one each.
    kv : numbers [1/s]
    target : numbers, Table or casadi.Function of t [rad or m]
        q_d of all freedoms.
    rate : numbers, Table or casadi.Function of t [rad/s or m/s]
        v_d; the time derivative of the target if not given.
    acceleration : numbers, Table or casadi.Function of t [rad/s^2 or m/s^2]
        a_d; the second time derivative of the target if not given.
    model : Mechanism or Description
        What the controller believes; the mechanism of the run if not given.
    measured : two names
        Signals taken for position and velocity; the true ones if not given.
    period : number [s]
        Sampling period; continuous if not given.
    name : str

    Source: King 1988, section 4.1.
    """

    kp: Any = quantity("1/s^2", "stiffness over inertia", size="1 or nv")
    kv: Any = quantity("1/s", "damping over inertia", size="1 or nv")
    target: Any = quantity("rad or m", "position to follow", size="1 or nv", default=0.0)
    rate: Any = quantity(
        "rad/s or m/s", "velocity to follow; that of the target if not given", size="1 or nv", default=None
    )
    acceleration: Any = quantity(
        "rad/s^2 or m/s^2",
        "acceleration to follow; that of the target if not given",
        size="1 or nv",
        default=None,
    )
    model: Description | None = None
    measured: tuple[str, str] | None = None
    period: float | None = quantity("s", "sampling period; continuous if not given", default=None)
    name: str = "computed_torque"

    joints = ()
    type_name = "computed_torque"

    def __post_init__(self) -> None:
        convert(self, kp=as_numbers, kv=as_numbers, target=as_in_time, measured=two_signals)
        convert(self, rate=optional, acceleration=optional)
        model = getattr(self.model, "description", self.model)
        if not isinstance(model, Description | None):
            raise wrong(self, "model", repr(model), "a mechanism")
        object.__setattr__(self, "model", model)
        sampling(self)

    def work(self, s: Scope) -> None:
        n = s.description.nv
        q, v = present(s, self)
        if q.numel() != n:
            raise wrong(self, "measured", f"{q.numel()} positions", f"{n}, one for each freedom")
        q_d, v_d = wanted(s, self, n)
        feedback = column(s, self, "kv", n) * (v_d - v) + column(s, self, "kp", n) * (q_d - q)
        s.command(self._inverse_dynamics(s, q, v, self._acceleration(s, n) + feedback))

    def _acceleration(self, s: Scope, n: int) -> SX:
        if self.acceleration is not None:
            return at_time(s, self, "acceleration", n)
        if self.rate is not None:
            return rate_at_time(s, self, "rate", n)
        return rate_at_time(s, self, "target", n, order=2)

    def _inverse_dynamics(self, s: Scope, q: SX, v: SX, vdot: SX) -> SX:
        if self.model is None:
            return s.ask("tree_inverse_dynamics", q, v, vdot)
        if (self.model.nq, self.model.nv) != (s.description.nq, s.description.nv):
            raise wrong(
                self,
                "model",
                f"'{self.model.name}' with {self.model.nv} freedoms",
                f"{s.description.nv}, as many as '{s.description.name}' has",
            )
        parameters = [ca.vertcat(*map(s.number, self.model.parameters))] if self.model.parameters else []
        return function(self.model, "inverse_dynamics")(q, v, vdot, *parameters)
