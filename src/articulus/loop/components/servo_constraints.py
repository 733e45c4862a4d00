"""Servo constraints: motors of chosen joints make a mechanism keep to constraints that nothing else holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca
from casadi import SX

from articulus.dynamics.closed_equations import ClosedEquations
from articulus.dynamics.loops.base import Problem
from articulus.dynamics.loops.servo import joint_directions, servo
from articulus.loop.component import Controller, Scope
from articulus.loop.components.checks import at_least, one_freedom, sampling, wrong
from articulus.loop.components.tracking import names
from articulus.mechanism import Constraint, Description
from articulus.mechanism.numbers import as_number, convert, quantity


@dataclass(frozen=True)
class ServoConstraints(Controller):
    """Joint forces -Z' nu under which the program holds: G vdot + gamma + 2 w mu (G v + g_t) + w^2 g = 0.

    The mechanism is not bound to the program as it would be by `Mechanism.constrain`; the motors of the given joints do the
    work, by the model of the mechanism, its loops included. Forces of other components are not known to it: what they do
    to the program dies out with w and mu. Where the motors cannot produce the motion, the forces are not finite.

    Parameters
    ----------
    program : constraint or sequence of constraints
        Such as `PrescribedPoint("line", "tip", x=..., y=...)`.
    joints : sequence of str
        Joints with one degree of freedom whose motors act, as many as the program has rows. Without actuators in the run the forces
        act there; with actuators, one at each of these joints in the same order is expected.
    frequency : number [rad/s]
        w; 0 leaves a motion that is off the program as far off.
    damping : number [-]
        mu.
    period : number [s]
        Sampling period; continuous if not given.
    name : str

    Source: Ider 1989, equation 17.
    """

    program: tuple[Constraint, ...]
    joints: tuple[str, ...]
    frequency: Any = quantity("rad/s", "how fast a motion off the program returns", default=10.0)
    damping: Any = quantity("-", "damping ratio of that return", default=1.0)
    period: float | None = quantity("s", "sampling period; continuous if not given", default=None)
    name: str = "servo"

    type_name = "servo_constraints"
    signals: ClassVar = {"force": "N m or N"}

    def __post_init__(self) -> None:
        single = isinstance(self.program, (Constraint, str))
        program = (self.program,) if single else tuple(self.program)
        object.__setattr__(self, "program", program)
        for c in program:
            if not isinstance(c, Constraint):
                raise wrong(
                    self, "program", repr(c), 'a constraint such as PrescribedPoint("line", "tip", x=...)'
                )
        convert(self, joints=names, frequency=as_number, damping=as_number)
        at_least(self, 0.0, frequency=self.frequency, damping=self.damping)
        sampling(self)

    def work(self, s: Scope) -> None:
        whole = self._with_program(s.description)
        for joint in self.joints:
            one_freedom(s, self, joint)
        parameters = ca.vertcat(SX(0, 1), *map(s.number, whole.parameters))
        gains = [s.number(self.frequency), s.number(self.damping)]
        force = self._law(whole, len(s.description.holonomic_rows))(s.q, s.v, s.t, parameters, *gains)
        s.write("force", force)
        if s.commands.numel() == len(self.joints):
            s.command(force)
        elif s.commands.numel() == whole.nv:
            s.command(ca.mtimes(SX(joint_directions(whole, self.joints).T), force))
        else:
            raise wrong(
                self,
                "joints",
                f"{len(self.joints)} joints and {s.commands.numel()} actuators",
                "an actuator for each joint",
            )

    def _with_program(self, description: Description) -> Description:
        """Return the mechanism with the program as constraints after its own."""
        d = description
        parts = (d.name, d.bodies, d.connections, d.frames, d.gravity, d.source)
        whole = Description.build(*parts, (*d.constraints, *self.program), couplings=d.couplings)
        rows = len(whole.holonomic_rows) - len(d.holonomic_rows)
        if rows != len(self.joints):
            raise wrong(
                self, "joints", f"{len(self.joints)}", f"{rows}, one motor for each row of the program"
            )
        return whole

    def _law(self, whole: Description, loops: int) -> ca.Function:
        """(q, v, t, p, frequency, damping) -> forces of the motors; the first `loops` rows are those of the mechanism."""
        t, w, mu = SX.sym("t"), SX.sym("w"), SX.sym("mu")
        found = ClosedEquations(whole, t)
        tree, rows, (M, bias) = found.symbols, found.rows, found.equations({})
        held, program = rows.rows(range(loops)), rows.rows(range(loops, rows.g.numel()))
        Z = SX(joint_directions(whole, self.joints))
        solution = servo(Problem(M, -bias, program), Z, held, w, mu)
        out = ca.cse([ca.densify(-solution.multipliers)])
        return ca.Function("servo", [tree.q, tree.v, t, tree.p, w, mu], out)
