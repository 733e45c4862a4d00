"""Computed torque: inverse dynamics of a model makes every driven joint a double integrator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
from casadi import SX

from articulus.dynamics.loops.factor import Factored
from articulus.errors import NumericalError
from articulus.loop.component import Controller, Scope
from articulus.loop.components.checks import sampling, wrong
from articulus.loop.components.columns import as_in_time, column, freedoms
from articulus.loop.components.tracking import (
    believed,
    names,
    optional,
    present,
    take_model,
    two_signals,
    wanted,
    wanted_acceleration,
)
from articulus.mechanism import Description
from articulus.mechanism.numbers import as_numbers, convert, quantity


@dataclass(frozen=True)
class ComputedTorque(Controller):
    """tau = M(q) (a_d + kv (v_d - v) + kp (q_d - q)) + bias(q, v), by inverse dynamics of the mechanism or of a model.

    With the true model and without sampling the error obeys e'' + kv e' + kp e = 0.

    On a mechanism with constraints the law holds for the named `joints`, as many as it has degrees of freedom; the
    accelerations of all others follow from the constraints, and their forces are zero. The joints must determine the
    others: where they do not (a crank at its dead centre when the slider is driven) the forces grow without bound.

    Parameters
    ----------
    kp : numbers [1/s^2]
        One for all driven degrees of freedom, or one each.
    kv : numbers [1/s]
    target : numbers, Table or casadi.Function of t [rad or m]
        q_d of all driven degrees of freedom.
    rate : numbers, Table or casadi.Function of t [rad/s or m/s]
        v_d; the time derivative of the target if not given.
    acceleration : numbers, Table or casadi.Function of t [rad/s^2 or m/s^2]
        a_d; the second time derivative of the target if not given.
    model : Mechanism or Description
        What the controller believes; the mechanism of the run if not given.
    measured : two names
        Signals taken for position and velocity, of all joints; the true ones if not given.
    joints : names
        Driven joints of a mechanism with constraints, each with its own actuator in the same order where the run has
        actuators. Not for mechanisms without constraints, whose joints are all driven.
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
    joints: tuple[str, ...] = ()
    period: float | None = quantity("s", "sampling period; continuous if not given", default=None)
    name: str = "computed_torque"

    type_name = "computed_torque"

    def __post_init__(self) -> None:
        convert(self, kp=as_numbers, kv=as_numbers, target=as_in_time, measured=two_signals)
        convert(self, joints=names, rate=optional, acceleration=optional)
        take_model(self)
        sampling(self)

    def work(self, s: Scope) -> None:
        self._check(s)
        q, v = self._state(s)
        own_q, own_v, driven = q, v, list(range(s.description.nv))
        if self.joints:
            driven = [k for j in self.joints for k in _entries(s.description.v_slices[j])]
            own_v = v[driven]
            own_q = q[
                driven
                if self.measured
                else [k for j in self.joints for k in _entries(s.description.q_slices[j])]
            ]
        n = len(driven)
        q_d, v_d = wanted(s, self, n)
        feedback = column(s, self, "kv", n) * (v_d - own_v) + column(s, self, "kp", n) * (q_d - own_q)
        acceleration = wanted_acceleration(s, self, n) + feedback
        if not self.joints:
            s.command(believed(s, self, "inverse_dynamics", q, v, acceleration))
            return
        forces = self._closed(s, q, v, driven, acceleration)
        every = SX.zeros(s.description.nv)
        every[driven] = forces
        s.command(forces if s.commands.numel() == n else every)

    def _check(self, s: Scope) -> None:
        """Raise InputError unless the law can be kept."""
        d, model = s.description, self.model or s.description
        if (model.nq, model.nv) != (d.nq, d.nv):
            raise wrong(
                self,
                "model",
                f"'{model.name}' with {model.nv} velocities",
                f"{d.nv}, as many as '{d.name}' has",
            )
        if bool(model.constraints) != bool(d.constraints):
            raise wrong(self, "model", f"'{model.name}'", f"one with constraints just as '{d.name}'")
        if self.joints and not d.constraints:
            raise wrong(
                self, "joints", f"{list(self.joints)}", f"none: '{d.name}' has no constraints, all are driven"
            )
        if d.constraints:
            self._check_joints(s)

    def _check_joints(self, s: Scope) -> None:
        """Raise InputError unless as many joints are named as the constraints leave degrees of freedom."""
        freedoms(s, self, self.joints)
        for joint in self.joints:
            s.description.require_independent(joint, f"ComputedTorque '{self.name}', joints")
        count = sum(s.description.joint_type(j).nv for j in self.joints)
        left = degrees_of_freedom(s.description)
        if not self.joints or (left is not None and count != left):
            found = f"{list(self.joints)} with {count} degrees of freedom" if self.joints else "none"
            raise wrong(
                self,
                "joints",
                found,
                f"joints with as many as the constraints of '{s.description.name}' leave, {'?' if left is None else left}",
                "The error law holds for independent joints; the others follow from the constraints",
            )

    def _state(self, s: Scope) -> tuple[SX, SX]:
        """Return position and velocity of all joints as the controller knows them."""
        if self.measured is None:
            return (s.q, s.v) if self.joints else freedoms(s, self, ())
        q, v = present(s, self)
        if q.numel() != s.description.nv:
            raise wrong(
                self, "measured", f"{q.numel()} positions", f"{s.description.nv}, one for each freedom"
            )
        return q, v

    def _closed(self, s: Scope, q: SX, v: SX, driven: list[int], acceleration: SX) -> SX:
        """Return the forces of the driven joints that give them an acceleration, (n,).

        G_d vdot_d = -(gamma + G_i vdot_i) and G_d' lambda = (M vdot + bias)_d for the others, d, by least squares,
        so that redundant rows do no harm: tau_i = (M vdot + bias)_i + G_i' (-lambda).
        """
        others = [k for k in range(s.description.nv) if k not in driven]
        G = believed(s, self, "constraint_jacobian", q, s.t)
        gamma = believed(s, self, "constraint_acceleration", q, v, SX.zeros(v.numel()), s.t)
        own, rest = G[:, driven], G[:, others]
        normal = Factored(ca.mtimes(rest.T, rest))
        vdot = SX.zeros(v.numel())
        vdot[driven] = acceleration
        vdot[others] = -normal.solve(ca.mtimes(rest.T, gamma + ca.mtimes(own, acceleration)))
        force = believed(s, self, "tree_inverse_dynamics", q, v, vdot)
        return force[driven] - ca.mtimes(own.T, ca.mtimes(rest, normal.solve(force[others])))


def degrees_of_freedom(description: Description) -> int | None:
    """Return how many velocities the constraints leave free, where the mechanism closes from its neutral position."""
    from articulus.api import Mechanism  # both know of simulations
    from articulus.solve.assembly import assemble

    try:
        return assemble(Mechanism.from_description(description)).freedoms
    except NumericalError:
        return None


def _entries(at: slice) -> range:
    return range(at.start, at.stop)
