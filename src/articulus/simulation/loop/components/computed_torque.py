"""Computed torque: inverse dynamics of a model makes every driven joint a double integrator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
from casadi import SX

from articulus.dynamics.loops.factor import Factorization
from articulus.errors import NumericalError
from articulus.model.mechanism import Description
from articulus.model.mechanism.numbers import as_numbers, convert, quantity
from articulus.simulation.loop.component import Controller, Scope
from articulus.simulation.loop.components.checks import sampling, wrong
from articulus.simulation.loop.components.columns import (
    as_in_time,
    column,
    joint_entries,
    joints_that_move,
    require_rates,
)
from articulus.simulation.loop.components.pseudolink import modal_stiffness, places
from articulus.simulation.loop.components.tracking import (
    command_joints,
    model_quantity,
    names,
    optional,
    present,
    take_model,
    target_state,
    two_signals,
    wanted_acceleration,
)


@dataclass(frozen=True)
class ComputedTorque(Controller):
    """tau = M(q) (a_d + kd (v_d - v) + kp (q_d - q)) + bias(q, v), by inverse dynamics of the mechanism or of a model.

    With the true model and without sampling the error obeys e'' + kd e' + kp e = 0.

    Where the model has other degrees of freedom beside the driven ones, modes of flexible links or joints without a motor, no force acts
    on these: with nu the acceleration that the law asks for,

        tau = H11 nu + H12 a2 + h1,   a2 = -H22^-1 (H21 nu + h2),

    the bias h holding the stiffness of the links. The driven joints become double integrators, and the links vibrate.

    With `rigid` the links of the model do not bend: tau = H11 nu + h1 at delta = 0, the slow part of a controller with two sampling
    rates. The deflection that this holds, -K^-1 (H21 nu + h2), is a signal, about which `DeflectionFeedback` is the fast part.

    On a mechanism with constraints the law holds for the named `joints`, as many as it has degrees of freedom; the
    accelerations of all others follow from the constraints, and their forces are zero. The joints must determine the
    others: where they do not (a crank at its dead center when the slider is driven) the forces grow without bound.

    Parameters
    ----------
    kp : numbers [1/s^2]
        One for all driven degrees of freedom, or one each.
    kd : numbers [1/s]
    target : numbers, Table or casadi.Function of t [rad or m]
        q_d of all driven degrees of freedom, in the order of the joints.
    rate : numbers, Table or casadi.Function of t [rad/s or m/s]
        v_d; the time derivative of the target if not given.
    acceleration : numbers, Table or casadi.Function of t [rad/s^2 or m/s^2]
        a_d; the second time derivative of the target if not given.
    model : Mechanism or Description
        What the controller believes; the mechanism of the run if not given. Without constraints it may have other degrees of freedom, such
        as the rigid model of a flexible arm; what it shares with the mechanism has the same names.
    measured : two names
        Signals taken for position and velocity, of all degrees of freedom of the model; the true ones if not given.
    joints : names
        Driven joints, in the order of target and gains; all that move if not given. A mechanism with constraints needs them, each with
        its own actuator in the same order where the run has actuators.
    rigid : bool
        Whether the flexible bodies of the model count as rigid; all joints are driven then, and `measured` is of these alone.
    period : number [s]
        Sampling period; continuous if not given.
    name : str

    Signals: with `rigid`, `deflection` by modal coordinate [-].

    Source: King 1988, section 4.1, eqs. 4-5, 4-6 for flexible arms, section 4.9 for rigid links.
    """

    kp: Any = quantity("1/s^2", "stiffness over inertia", size="1 or nv")
    kd: Any = quantity("1/s", "damping over inertia", size="1 or nv")
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
    rigid: bool = False
    period: float | None = quantity("s", "sampling period; continuous if not given", default=None)
    name: str = "computed_torque"

    type_name = "computed_torque"

    def __post_init__(self) -> None:
        convert(self, kp=as_numbers, kd=as_numbers, target=as_in_time, measured=two_signals)
        convert(self, joints=names, rate=optional, acceleration=optional)
        take_model(self)
        sampling(self)

    def signal_units(self) -> dict[str, str]:
        return {"deflection": "-"} if self.rigid else {}

    def work(self, s: Scope) -> None:
        self._check(s)
        if self.rigid:
            self._command_rigid(s)
        elif s.description.constraints:
            self._command_closed(s)
        else:
            self._command_tree(s)

    def _acceleration_demand(self, s: Scope, q: SX, v: SX) -> SX:
        """Return the acceleration that the law asks of the driven degrees of freedom at q and v, (n,)."""
        n = v.numel()
        q_d, v_d = target_state(s, self, n)
        feedback = column(s, self, "kd", n) * (v_d - v) + column(s, self, "kp", n) * (q_d - q)
        return wanted_acceleration(s, self, n) + feedback

    # without constraints

    def _command_tree(self, s: Scope) -> None:
        model = self.model or s.description
        driven = joint_entries(model, self._driven(s))
        others = [k for k in range(model.nv) if k not in driven]
        q, v = self._model_state(s, model)
        vdot = SX.zeros(model.nv)
        at = driven if model.nq == model.nv else self._q_entries(model, self._driven(s))
        vdot[driven] = self._acceleration_demand(s, q[at], v[driven])
        force = model_quantity(s, self, "inverse_dynamics", q, v, vdot)
        if not others:
            return command_joints(s, self, force[driven])
        H = model_quantity(s, self, "mass_matrix", q)
        moved = -Factorization(H[others, others]).solve(force[others])
        return command_joints(s, self, force[driven] + ca.mtimes(H[driven, others], moved))

    def _command_rigid(self, s: Scope) -> None:
        """Command what moves the model with straight links, and publish the deflection that it holds."""
        model = self.model or s.description
        driven, modal = self._driven(s), places(model)[1]
        joints, entries = joint_entries(model, driven), self._q_entries(model, driven)
        q, v, vdot = SX(model.neutral), SX.zeros(model.nv), SX.zeros(model.nv)
        if self.measured is None:
            known, speed = self._model_state(s, model)
            known, speed = known[entries], speed[joints]
        else:
            known, speed = present(s, self)
            if known.numel() != len(joints) or len(entries) != len(joints):
                raise wrong(
                    self, "measured", f"{known.numel()} positions", f"{len(joints)}, those of the joints"
                )
        q[entries], v[joints] = known, speed
        vdot[joints] = self._acceleration_demand(s, known, speed)
        force = model_quantity(s, self, "inverse_dynamics", q, v, vdot)
        s.write("deflection", -Factorization(modal_stiffness(s, model)).solve(force[modal]))
        command_joints(s, self, force[joints])

    def _driven(self, s: Scope) -> tuple[str, ...]:
        return self.joints or joints_that_move(s.description)

    def _q_entries(self, model: Description, joints: tuple[str, ...]) -> list[int]:
        return [k for j in joints for k in range(model.nq)[model.q_slices[j]]]

    def _model_state(self, s: Scope, model: Description) -> tuple[SX, SX]:
        """Return position and velocity of the model as the controller knows them."""
        if self.measured is not None:
            q, v = present(s, self)
            if q.numel() != model.nv or model.nq != model.nv:
                expected = f"{model.nv}, one for each degree of freedom of '{model.name}'"
                raise wrong(self, "measured", f"{q.numel()} positions", expected, self._hint(model))
            return q, v
        if model is s.description:
            return s.q, s.v
        q, v = SX(model.neutral), SX.zeros(model.nv)
        for joint in joints_that_move(model):
            q[model.q_slices[joint]] = s.joint_q(joint)
            v[model.v_slices[joint]] = s.joint_v(joint)
        for body in (b.name for b in model.bodies if b.modes is not None):
            own, there = model.mode_slices(body), s.description.mode_slices(body)
            v[own[0]], q[own[1]] = s.v[there[0]], s.q[there[1]]
        return q, v

    def _hint(self, model: Description) -> str:
        if not model.flexible:
            return ""
        return "Encoders do not see the modes of flexible bodies: give the rigid arm as `model`, or measure them too"

    def _check(self, s: Scope) -> None:
        """Raise InputError unless the law can be kept."""
        d, model = s.description, self.model or s.description
        if self.rigid:
            self._check_rigid(d, model)
        if bool(model.constraints) != bool(d.constraints):
            raise wrong(self, "model", f"'{model.name}'", f"one with constraints just as '{d.name}'")
        if d.constraints:
            if (model.nq, model.nv) != (d.nq, d.nv):
                raise wrong(self, "model", f"'{model.name}' with {model.nv} velocities", f"{d.nv}, as many as '{d.name}' has")  # fmt: skip
            return self._check_joints(s)
        for joint in self.joints:
            d.require_independent(joint, f"ComputedTorque '{self.name}', joints")
        require_rates(s, self, self._driven(s))
        self._check_model(d, model, self._driven(s))

    def _check_rigid(self, d: Description, model: Description) -> None:
        """Raise InputError unless the model is an open arm with flexible bodies whose joints are all driven."""
        if d.constraints or model.constraints or not model.flexible:
            found = f"'{model.name}' " + (
                "without flexible bodies" if not model.flexible else "with constraints"
            )
            raise wrong(self, "rigid", found, "an open arm with flexible bodies", "Leave `rigid` out")
        if self.joints and set(self.joints) != set(joints_that_move(model)):
            raise wrong(self, "joints", f"{list(self.joints)} with rigid = true", f"all joints, {list(joints_that_move(model))}, or none")  # fmt: skip

    def _check_model(self, d: Description, model: Description, driven: tuple[str, ...]) -> None:
        """Raise InputError for a degree of freedom of the model that the mechanism does not have, or one that is driven and not in the model."""
        sizes = {c.name: c.joint.nv for c in model.independent}
        for joint in driven:
            if sizes.get(joint) != d.joint_type(joint).nv:
                raise wrong(self, "model", f"'{model.name}' without the joint '{joint}'", f"the driven joints of '{d.name}'")  # fmt: skip
        known = {c.name: c.joint.nv for c in d.independent}
        foreign = [j for j in joints_that_move(model) if known.get(j) != sizes[j]]
        own = {b.name: len(b.modes.names) for b in d.bodies if b.modes is not None}
        foreign += [
            b.name for b in model.bodies if b.modes is not None and own.get(b.name) != len(b.modes.names)
        ]
        if foreign and self.measured is None:
            expected = f"joints and modes of '{d.name}', whose state the law can know"
            raise wrong(self, "model", f"'{model.name}' with {foreign}", expected, "Fix them in the model, or name signals in `measured`")  # fmt: skip

    # with constraints

    def _command_closed(self, s: Scope) -> None:
        driven = joint_entries(s.description, self.joints)
        q, v = self._closed_state(s)
        own = driven if self.measured else self._q_entries(s.description, self.joints)
        forces = self._closed(s, q, v, driven, self._acceleration_demand(s, q[own], v[driven]))
        every = SX.zeros(s.description.nv)
        every[driven] = forces
        s.command(forces if s.commands.numel() == len(driven) else every)

    def _check_joints(self, s: Scope) -> None:
        """Raise InputError unless as many joints are named as the constraints leave degrees of freedom."""
        require_rates(s, self, self.joints)
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

    def _closed_state(self, s: Scope) -> tuple[SX, SX]:
        """Return position and velocity of all joints as the controller knows them."""
        if self.measured is None:
            return s.q, s.v
        q, v = present(s, self)
        if q.numel() != s.description.nv:
            raise wrong(
                self,
                "measured",
                f"{q.numel()} positions",
                f"{s.description.nv}, one for each degree of freedom",
            )
        return q, v

    def _closed(self, s: Scope, q: SX, v: SX, driven: list[int], acceleration: SX) -> SX:
        """Return the forces of the driven joints that give them an acceleration, (n,).

        G_d vdot_d = -(gamma + G_i vdot_i) and G_d' lambda = (M vdot + bias)_d for the others, d, by least squares,
        so that redundant rows do no harm: tau_i = (M vdot + bias)_i + G_i' (-lambda).
        """
        others = [k for k in range(s.description.nv) if k not in driven]
        G = model_quantity(s, self, "constraint_jacobian", q, s.t)
        gamma = model_quantity(s, self, "constraint_acceleration", q, v, SX.zeros(v.numel()), s.t)
        own, rest = G[:, driven], G[:, others]
        normal = Factorization(ca.mtimes(rest.T, rest))
        vdot = SX.zeros(v.numel())
        vdot[driven] = acceleration
        vdot[others] = -normal.solve(ca.mtimes(rest.T, gamma + ca.mtimes(own, acceleration)))
        force = model_quantity(s, self, "inverse_dynamics", q, v, vdot, tree=True)
        return force[driven] - ca.mtimes(own.T, ca.mtimes(rest, normal.solve(force[others])))


def degrees_of_freedom(description: Description) -> int | None:
    """Return how many velocities the constraints leave free, where the mechanism closes from its neutral position."""
    from articulus.dynamics.mechanism import Mechanism  # both know of simulations
    from articulus.simulation.solve.assembly import assemble

    try:
        return assemble(Mechanism.from_description(description)).dofs
    except NumericalError:
        return None
