"""`servo_plan`: whether servo constraints can be followed forward in time, and the non-causal solution where they cannot.

Motors of chosen joints make a mechanism keep to a program, such as a tip on a line. Two things decide: G M^-1 Z' must be regular, so that the motors
reach the program; and what the program leaves free, the zero dynamics, must be stable, otherwise forward integration diverges although every matrix is
regular. Tips of flexible arms driven at the joints are of this kind.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from articulus.dynamics.closed_equations import ClosedEquations
from articulus.dynamics.loops.rank import DEPENDENT
from articulus.dynamics.mechanism import Mechanism
from articulus.errors import DoubtfulResult, InputError, NumericalError, UnsupportedOperation
from articulus.model.mechanism import GROUND, Constraint, PrescribedPoint
from articulus.motion.inversion.arms.tip_torques import tip_torques
from articulus.motion.inversion.result import Inversion
from articulus.motion.inversion.stable.inverse import stable_inversion
from articulus.motion.inversion.stable.mechanisms import mechanism_system, rest_of
from articulus.simulation.loop.components.servo_constraints import ServoConstraints
from articulus.simulation.running.loop import Loop

RETURN = 10.0
"""Frequency [rad/s] with which a motion returns to the program in the loop whose poles are examined."""
STABLE = 1e-6
"""Real part of a zero over the largest in size up to which it is not unstable."""


@dataclass(frozen=True, eq=False)
class ServoPlan:
    """What is known of servo constraints before a run.

    Parameters
    ----------
    loop : Loop
        The mechanism and its passive components.
    servo : ServoConstraints
        Program and motors.
    q : array, (nq,)
        Position at the start.
    t : float [s]
    mobility : array, (m, m)
        G M^-1 Z' at the start: accelerations of the rows of the program by unit forces of the motors.
    rows : tuple of str
        What each row of the program is about, such as "line.x".
    zeros : complex array [rad/s]
        Zeros of the linear model at the start from motors to program: poles of what the program leaves free.
    """

    loop: Loop
    servo: ServoConstraints
    q: np.ndarray
    t: float
    mobility: np.ndarray
    rows: tuple[str, ...]
    zeros: np.ndarray

    @property
    def ok(self) -> bool:
        """Whether the motors can produce the motion at the start: G M^-1 Z' is regular."""
        return self.condition < 1 / DEPENDENT

    @property
    def condition(self) -> float:
        """Condition number of G M^-1 Z', rows and columns scaled to size 1."""
        return _condition(self.mobility)

    @property
    def unstable(self) -> np.ndarray:
        """Zeros with a positive real part [rad/s]."""
        if not len(self.zeros):
            return self.zeros
        return self.zeros[self.zeros.real > STABLE * np.abs(self.zeros).max()]

    def component(self, **options: Any) -> ServoConstraints:
        """Return the controller for `simulate`; options are those of `ServoConstraints`, such as `form="augmented"`.

        Raises
        ------
        NumericalError
            The zero dynamics is unstable, so that the run would diverge.
        """
        if len(self.unstable):
            raise NumericalError(
                f"servo constraints: zeros {_list_text(self.unstable)} rad/s are unstable: forward in time the forces diverge. Take the bounded solution, "
                "plan.noncausal(t0, t_end), and its .components() in simulate"
            )
        return ServoConstraints(self.servo.program, self.servo.joints, **options)

    def noncausal(self, t0: float, t_end: float, **options: Any) -> Inversion:
        """Return the bounded forces that keep the program exactly, from before its start until after its end.

        Parameters
        ----------
        t0, t_end : float [s]
            Between which the program moves; it is at rest before and after.
        **options
            Of `stable_inversion` for open mechanisms, of `tip_torques` for those with loops.
        """
        mechanism = self.loop.mechanism
        if mechanism.constraint_names:
            return self._of_loops(t0, t_end, options)
        h, y = self._outputs()
        system = replace(mechanism_system(self.loop, self.servo.joints, h), output_names=self.rows)
        t = SX.sym("t")
        given = {"x0": rest_of(mechanism, self.q), **options}
        return stable_inversion(system, (t, y(t)), t0=t0, t_end=t_end, **given)

    def _of_loops(self, t0: float, t_end: float, options: Mapping[str, Any]) -> Inversion:
        program = self.servo.program
        first = program[0] if len(program) == 1 else None
        if self.loop.components or not isinstance(first, PrescribedPoint) or first.base != GROUND:
            raise UnsupportedOperation(
                "servo_plan: non-causal forces of a mechanism with loops are found for one PrescribedPoint in ground axes and no further "
                "components"
            )
        axes = [row.rpartition(".")[2] for row in self.rows]
        times = np.linspace(t0, t_end, 201)
        y = np.array(self._outputs()[1].map(len(times))(times)).T
        given = {"q": self.q, **options}
        return tip_torques(
            mechanism=self.loop.mechanism, tip=first.frame, path=y, times=times, actuators=self.servo.joints, outputs=axes, **given
        )  # fmt: skip

    def _outputs(self) -> tuple[ca.Function, ca.Function]:
        """Return q -> h and t -> y of the program h(q) = y(t)."""
        whole, t = self.servo.with_program(self.loop.mechanism.description), SX.sym("t")
        found = ClosedEquations(whole, t)
        own = len(self.rows)
        g = found.rows.g[found.rows.g.numel() - own :]
        values = [p.value for p in whole.parameters]
        g = ca.substitute(g, found.symbols.p, SX(np.array(values).reshape(found.symbols.p.shape)))
        if ca.depends_on(ca.jacobian(g, t), found.symbols.q):
            raise UnsupportedOperation(
                "servo_plan: the program mixes position and time; expected rows of the form h(q) = y(t), such as PrescribedPoint"
            )
        q, zero = found.symbols.q, SX(self.q)
        h = ca.substitute(g, t, self.t)
        y = ca.substitute(ca.substitute(g, t, self.t) - g, q, zero)
        return ca.Function("h", [q], [h]), ca.Function("y", [t], [y])

    def __str__(self) -> str:
        kind = "regular" if self.ok else "singular: the motors cannot produce the motion"
        lines = [
            f"servo constraints {', '.join(self.rows)} by {', '.join(self.servo.joints)}",
            f"  G M^-1 Z' is {kind} (condition {self.condition:.3g})",
            f"  zeros [rad/s]: {_list_text(self.zeros) or 'none'}",
        ]
        if len(self.unstable):
            lines.append(
                f"  unstable: {_list_text(self.unstable)}; forward integration diverges, plan.noncausal(t0, t_end) is bounded"
            )
        else:
            lines.append("  forward integration does not diverge: plan.component() for simulate")
        return "\n".join(lines)


def servo_plan(
    plant: Mechanism | Loop,
    program: Constraint | Sequence[Constraint],
    actuators: Sequence[str],
    *,
    q: Any = None,
    t: float = 0.0,
) -> ServoPlan:
    """Look at servo constraints before they are run: whether the motors can, and whether forward integration diverges.

    Parameters
    ----------
    plant : Mechanism or Loop
        A loop with its passive components, and no controller.
    program : constraint or sequence of constraints
        Such as `PrescribedPoint("line", "tip", x=..., y=...)`.
    actuators : sequence of str
        Joints with one degree of freedom whose motors act, as many as the program has rows.
    q : array (nq,) or dict of names
        Position at the start, at rest; neutral if not given.
    t : float [s]

    Raises
    ------
    NumericalError
        G M^-1 Z' is singular at the start: the rows are named.
    """
    loop = plant if isinstance(plant, Loop) else Loop(plant)
    if loop.controller is not None:
        raise InputError(
            "servo_plan: found a loop with a controller; expected one without: the motors are it"
        )
    servo = ServoConstraints(program, actuators, frequency=RETURN)  # type: ignore[arg-type]
    driven = Loop(loop.mechanism, servo, loop.components, loop.loops)
    d = loop.mechanism.description
    position = loop.mechanism.neutral if q is None else q
    if isinstance(position, Mapping):
        position = loop.mechanism.positions(position, "q")
    position = np.asarray(position, dtype=float)
    values = [p.value for p in servo.with_program(d).parameters]
    matrix = np.array(servo.mobility(d)(position, t, values))
    rows = servo.rows(d)
    plan = ServoPlan(loop, servo, position, t, matrix, rows, np.zeros(0, dtype=complex))
    if not plan.ok:
        raise NumericalError(
            f"servo_plan: the motors {', '.join(servo.joints)} cannot produce the motion {', '.join(rows)} at the start: G M^-1 Z' is singular (condition "
            f"{plan.condition:.3g}); choose other joints or another position"
        )
    with warnings.catch_warnings():  # the equations of a motion, frozen at its start: nothing rests there
        warnings.simplefilter("ignore", DoubtfulResult)
        poles = driven.linearize(position, t=t, outputs=()).poles
    return ServoPlan(loop, servo, position, t, matrix, rows, _without_return(poles, 2 * len(rows)))


def _without_return(poles: np.ndarray, count: int) -> np.ndarray:
    """Return the poles but for those of the return to the program, which are at -RETURN."""
    kept = np.argsort(np.abs(poles + RETURN), kind="stable")[count:]
    found = poles[np.sort(kept)]
    return found[np.argsort(found.real, kind="stable")]


def _condition(matrix: np.ndarray) -> float:
    rows = np.linalg.norm(matrix, axis=1)
    scaled = matrix / np.where(rows > 0, rows, 1.0)[:, None]
    columns = np.linalg.norm(scaled, axis=0)
    values = np.linalg.svd(scaled / np.where(columns > 0, columns, 1.0), compute_uv=False)
    return float(values[0] / values[-1]) if values[-1] > 0 else float("inf")


def _list_text(zeros: np.ndarray) -> str:
    return ", ".join(f"{z.real:.5g}" if abs(z.imag) < 1e-6 * abs(z) else f"{z:.5g}" for z in zeros)
