"""Servo constraints: motors of chosen joints make a mechanism keep to constraints that nothing else holds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca
from casadi import SX

from articulus.dynamics.closed_equations import ClosedEquations
from articulus.dynamics.constraints import Constraints
from articulus.dynamics.loops.base import ConstraintProblem
from articulus.dynamics.loops.servo import FORMS, joint_directions, mobility, servo
from articulus.errors import ModelError
from articulus.model.mechanism import Constraint, Description
from articulus.model.mechanism.numbers import as_number, convert, quantity, value_of
from articulus.simulation.loop.component import Controller, Scope
from articulus.simulation.loop.components.checks import at_least, one_dof, positive, sampling, wrong
from articulus.simulation.loop.components.tracking import names


@dataclass(frozen=True)
class ServoConstraints(Controller):
    """Joint forces -Z' nu under which the program holds: G vdot + gamma + 2 w mu (G v + g_t) + w^2 g = 0.

    The mechanism is not bound to the program as it would be by `Mechanism.constrain`; the motors of the given joints do the
    work, by the model of the mechanism, its loops included. Forces of other components are not known to it: what they do
    to the program dies out with w and mu. Where the motors cannot produce the motion, the forces are not finite.

    A constraint of the mechanism may be in the program, such as one that an event closes later: the motors hold it then.
    With an `arrival` T it closes without impact: w = sqrt(12) / (T - t) and mu = sqrt(3) / 2 make the law
    g'' = -12 g / (T - t)^2 - 6 g' / (T - t), whose solutions a (T - t)^3 + b (T - t)^4 reach T with g = g' = g'' = 0.
    From T on the motors give no force.

    Parameters
    ----------
    program : constraint or sequence of constraints
        Such as `PrescribedPoint("line", "tip", x=..., y=...)`.
    joints : sequence of str
        Joints with one degree of freedom whose motors act, as many as the program has rows. Without actuators in the run the forces
        act there; with actuators, one at each of these joints in the same order is expected.
    frequency : number [rad/s]
        w; 0 leaves a motion that is off the program as far off. With `arrival` the largest w, which bounds the gains near T.
    damping : number [-]
        mu; not used with `arrival`.
    arrival : number [s]
        Time T at which the program is met with its velocity and acceleration; from the start on if not given.
    period : number [s]
        Sampling period; continuous if not given.
    name : str
    form : str
        How the equations are solved: "mobility", "augmented" or "null_space" (Ider 1989, equations 17 and 18); all give the same forces.

    Sources: Ider 1989, equations 17 to 19; Ider & Amirouche 1989 for forces that prepare a constraint.
    """

    program: tuple[Constraint, ...]
    joints: tuple[str, ...]
    frequency: Any = quantity("rad/s", "how fast a motion off the program returns", default=10.0)
    damping: Any = quantity("-", "damping ratio of that return", default=1.0)
    arrival: Any = quantity("s", "time at which the program is met without impact", default=None)
    period: float | None = quantity("s", "sampling period; continuous if not given", default=None)
    name: str = "servo"
    form: str = "mobility"

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
        if self.arrival is not None:
            convert(self, arrival=as_number)
            positive(self, frequency=self.frequency)
        if self.form not in FORMS:
            raise wrong(self, "form", repr(self.form), f"one of {', '.join(FORMS)}")
        sampling(self)

    def work(self, s: Scope) -> None:
        whole = self.with_program(s.description)
        for joint in self.joints:
            one_dof(s, self, joint)
        parameters = ca.vertcat(SX(0, 1), *map(s.number, whole.parameters))
        force = self._law(whole)(s.q, s.v, s.t, parameters, *self._gains(s))
        if self.arrival is not None:
            force = ca.if_else(s.t < s.number(self.arrival), force, 0)
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

    @property
    def times(self) -> tuple[float, ...]:
        return () if self.arrival is None else (value_of(self.arrival),)

    def _gains(self, s: Scope) -> tuple[SX, SX]:
        """Return w [rad/s] and mu [-]."""
        w = s.number(self.frequency)
        if self.arrival is None:
            return w, s.number(self.damping)
        left = s.number(self.arrival) - s.t
        return math.sqrt(12) / ca.fmax(left, math.sqrt(12) / w), SX(math.sqrt(3) / 2)

    def with_program(self, description: Description) -> Description:
        """Return the mechanism with the program as constraints after its own others."""
        d = description
        parts = (d.name, d.bodies, d.connections, d.frames, d.gravity, d.source)
        own = [c for c in d.constraints if c not in self.program]
        try:
            whole = Description.build(*parts, (*own, *self.program), couplings=d.couplings)
        except ModelError as error:
            first = error.findings[0]
            raise wrong(
                self, "program", f"{first.where}: {first.found}", first.expected, first.hint
            ) from None
        rows = sum(len(c.row_names(whole)) for c in self.program)
        if rows != len(self.joints):
            raise wrong(
                self, "joints", f"{len(self.joints)}", f"{rows}, one motor for each row of the program"
            )
        return whole

    def _law(self, whole: Description) -> ca.Function:
        """(q, v, t, p, frequency, damping) -> forces of the motors; the last rows are those of the program."""
        t, w, mu = SX.sym("t"), SX.sym("w"), SX.sym("mu")
        tree, problem, held = self._problem(whole, t)
        Z = SX(joint_directions(whole, self.joints))
        solution = servo(problem, Z, held, w, mu, self.form)
        out = ca.cse([ca.densify(-solution.multipliers)])
        return ca.Function("servo", [tree.q, tree.v, t, tree.p, w, mu], out)

    def mobility(self, description: Description) -> ca.Function:
        """(q, t, p) -> G M^-1 Z' (m, m) of a mechanism without the program: singular where the motors cannot produce the motion."""
        whole, t = self.with_program(description), SX.sym("t")
        tree, problem, held = self._problem(whole, t)
        matrix = mobility(problem, SX(joint_directions(whole, self.joints)), held)
        return ca.Function(
            "mobility", [tree.q, t, tree.p], [ca.densify(ca.substitute(matrix, tree.v, SX.zeros(whole.nv)))]
        )

    def rows(self, description: Description) -> tuple[str, ...]:
        """Return what each row of the program is about, such as "line.x"."""
        whole = self.with_program(description)
        return tuple(f"{c.name}.{row}" if row else c.name for c in self.program for row in c.row_names(whole))

    def _problem(self, whole: Description, t: SX) -> tuple[Any, ConstraintProblem, Constraints]:
        """Return the symbols, the equations with the program, and the mechanism's own loops."""
        found = ClosedEquations(whole, t)
        rows, (M, bias) = found.rows, found.equations({})
        loops = rows.g.numel() - len(self.joints)
        return (
            found.symbols,
            ConstraintProblem(M, -bias, rows.rows(range(loops, rows.g.numel()))),
            rows.rows(range(loops)),
        )
