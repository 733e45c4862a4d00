"""A linear dynamic controller between measured signals and commands."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca
import numpy as np
from casadi import SX

from articulus.errors import did_you_mean
from articulus.model.mechanism.numbers import convert, quantity
from articulus.simulation.loop.component import Controller, Scope
from articulus.simulation.loop.components.checks import at_least, sampling, wrong
from articulus.simulation.loop.components.columns import (
    as_in_time,
    as_matrix,
    as_numbers,
    at_time,
    column,
    matrix,
    plain,
)
from articulus.simulation.loop.components.tracking import names

if TYPE_CHECKING:
    from articulus.linear import LinearModel


@dataclass(frozen=True)
class LinearController(Controller):
    """x' = A x + B (y - y0), u = u0 + C x + D (y - y0); a sampled one has x at the next instant on the left.

    Parameters
    ----------
    A, B, C : matrices, (n, n), (n, p), (m, n)
        Not given: a constant gain D.
    D : matrix, (m, p)
        Zero if not given.
    measured : names
        What y is made of: signals such as "gyro.rate", all entries, or entries such as "gyro.rate.2", "q.boom", "v.boom", by
        the names that linear models have. Of ball and free joints "q.hull.wx" is the turn [rad], "q.hull.vx" the shift [m] from q0
        in the directions of the velocities.
    commands : names
        What the rows of u command: actuators, or coordinates where the run has none; "u.boom" and "tau.boom" mean "boom".
        All, in their order, if not given.
    y0 : numbers, Table or casadi.Function of t
        Measurement at the operating point, or course to follow; one number for all or one each.
    u0 : numbers, Table or casadi.Function of t
        Commands there.
    q0 : numbers, (nq,)
        Position of the mechanism from which turns and shifts of ball and free joints are measured; neutral if not given.
    initial : numbers
        State at the start; one for all or one each.
    limit : numbers [command]
        Largest size of the commands, one for all or one each: beyond it they are held at it.
    back : matrix, (n, m)
        Back-calculation against windup: back (held u - u) is added to x' (sampled: to the next x) while commands are at their limits.
    period : number [s]
        Sampling period; continuous if not given.
    name : str

    Signals: `output` [command], the part of u beyond u0.
    """

    A: Any = quantity("-", "state matrix", size="n x n", default=None)
    B: Any = quantity("-", "input matrix", size="n x p", default=None)
    C: Any = quantity("-", "output matrix", size="m x n", default=None)
    D: Any = quantity("-", "gain", size="m x p", default=None)
    measured: tuple[str, ...] = ("q", "v")
    commands: tuple[str, ...] = ()
    y0: Any = quantity("signal", "measurement at the operating point", size="1 or p", default=0.0)
    u0: Any = quantity("command", "commands at the operating point", size="1 or m", default=0.0)
    q0: Any = quantity(
        "rad or m", "position from which turns of ball and free joints are measured", size="nq", default=None
    )
    initial: Any = quantity("-", "state at the start", size="1 or n", default=0.0)
    limit: Any = quantity("command", "largest size of the commands", size="1 or m", default=math.inf)
    back: Any = quantity("-", "back-calculation at the limits", size="n x m", default=None)
    period: float | None = quantity("s", "sampling period; continuous if not given", default=None)
    name: str = "linear_controller"

    type_name = "linear_controller"
    signals: ClassVar = {"output": "command"}

    def __post_init__(self) -> None:
        given = [field for field in "ABC" if getattr(self, field) is not None]
        if given not in ([], ["A", "B", "C"]) or (not given and self.D is None):
            raise wrong(self, "A, B, C, D", f"only {', '.join(given) or 'none'}", "A, B and C, or D alone")
        if given and self.D is None:
            object.__setattr__(self, "D", np.zeros((len(self.C), np.shape(self.B)[1])))
        convert(self, **dict.fromkeys([*given, "D"], as_matrix), measured=names, commands=names)
        convert(self, y0=as_in_time, u0=as_in_time, initial=plain)
        convert(self, limit=as_numbers)
        at_least(self, 0.0, limit=self.limit)
        if self.q0 is not None:
            convert(self, q0=plain)
        if self.back is not None:
            convert(self, back=as_matrix)
        sampling(self)
        m, p = len(self.D), len(self.D[0])
        n = len(self.A) if given else 0
        for field, shape in (("A", (n, n)), ("B", (n, p)), ("C", (m, n))) if given else ():
            rows = getattr(self, field)
            if (found := (len(rows), len(rows[0]))) != shape:
                raise wrong(self, field, f"{found[0]} x {found[1]} numbers", f"{shape[0]} x {shape[1]}")
        if self.back is not None:
            if not given or not self._has_limits:
                raise wrong(self, "back", "a matrix", "none without states and a limit of the commands")
            if (found := (len(self.back), len(self.back[0]))) != (n, m):
                raise wrong(self, "back", f"{found[0]} x {found[1]} numbers", f"{n} x {m}")
        if len(self.initial) not in (1, n):
            raise wrong(self, "initial", f"{len(self.initial)} numbers", f"1 or {n}")

    @staticmethod
    def of(model: LinearModel, **fields: Any) -> LinearController:
        """Return the controller that a linear model is: its inputs are measured, its outputs command; sampled as the model is."""
        dynamic = {"A": model.A, "B": model.B, "C": model.C} if len(model.A) else {}
        held = {"measured": model.inputs, "commands": model.outputs, "period": model.period, "D": model.D}
        return LinearController(**(held | dynamic | fields))

    def work(self, s: Scope) -> None:
        p, m = len(self.D[0]), len(self.D)
        named = any(name.startswith("q.") for name in self.measured)
        step = self._displacement(s) if named or self.q0 is not None else SX(0, 1)
        y = ca.vertcat(*(self._entries(s, name, step) for name in self.measured))
        if y.numel() != p:
            raise wrong(
                self, "measured", f"{y.numel()} numbers in {list(self.measured)}", f"{p}, the columns of D"
            )
        y = y - at_time(s, self, "y0", p)
        u, u0 = ca.mtimes(matrix(s, self, "D", (m, p)), y), at_time(s, self, "u0", m)
        if self.A is None:
            u = self._clip(s, u, u0)
        else:
            n = len(self.A)
            start = self.initial * n if len(self.initial) == 1 else self.initial
            x = (s.state if self.period is None else s.memory)("x", start)
            wanted = u + ca.mtimes(matrix(s, self, "C", (m, n)), x)
            u = self._clip(s, wanted, u0)
            A, B = matrix(s, self, "A", (n, n)), matrix(s, self, "B", (n, p))
            rate = ca.mtimes(A, x) + ca.mtimes(B, y)
            if self.back is not None:
                rate = rate + ca.mtimes(matrix(s, self, "back", (n, m)), u - wanted)
            (s.rate if self.period is None else s.remember)("x", rate)
        s.write("output", u)
        s.command(self._scatter(s, u0 + u))

    @property
    def _has_limits(self) -> bool:
        return self.limit != (math.inf,)

    def _clip(self, s: Scope, u: SX, u0: SX) -> SX:
        """Return u with u0 + u within the limits."""
        if not self._has_limits:
            return u
        limit = column(s, self, "limit", u.numel())
        return ca.fmin(ca.fmax(u0 + u, -limit), limit) - u0

    def _scatter(self, s: Scope, u: SX) -> SX:
        """Return commands for everything that the run commands, zero where this controller does not."""
        known = s.command_names
        if not self.commands:
            if u.numel() != len(known):
                raise wrong(
                    self,
                    "commands",
                    f"{u.numel()} rows for {', '.join(known)}",
                    "their names, or a row for each",
                )
            return u
        if len(self.commands) != u.numel():
            raise wrong(
                self, "commands", f"{len(self.commands)} names", f"{u.numel()}, one for each row of D"
            )
        placed, taken = SX.zeros(len(known)), set()
        for k, name in enumerate(self.commands):
            short = name.partition(".")[2] if name.startswith(("u.", "tau.")) and name not in known else name
            if short not in known:
                raise wrong(
                    self, "commands", f"'{name}'", "something that is commanded", did_you_mean(short, known)
                )
            if short in taken:
                raise wrong(self, "commands", f"'{short}' twice", "every command once")
            taken.add(short)
            placed[known.index(short)] = u[k]
        return placed

    def _displacement(self, s: Scope) -> SX:
        """Return the step from q0 to q in the directions of the velocities, (nv,)."""
        d, q = s.description, s.read("q")
        start = d.neutral if self.q0 is None else np.array(self.q0)
        if len(start) != d.nq:
            raise wrong(self, "q0", f"{len(start)} numbers", f"{d.nq}, the coordinates of the mechanism")
        parts = []
        for c in d.connections:
            at, modes = d.q_slices[c.name], d.mode_slices(c.child)[1]
            parts += [c.joint.step_between(SX(start[at]), q[at])] if at.stop > at.start else []
            parts += [q[modes] - start[modes]] if modes.stop > modes.start else []
        return ca.vertcat(*parts)

    def _entries(self, s: Scope, name: str, step: SX) -> SX:
        """Return a signal, or the entry of one: "q.boom", "gyro.rate.2"; `step` is the displacement of the mechanism, (nv,)."""
        kind, _, label = name.partition(".")
        if kind in ("q", "v") and label:
            labels, rates = (s.description.coordinate_names(rates=rates) for rates in (kind == "v", True))
            if label in labels:
                return s.read(kind)[labels.index(label)]
            if label in rates:
                return step[rates.index(label)]
            raise wrong(self, "measured", f"'{name}'", f"a coordinate in {kind}", did_you_mean(label, labels))
        signal, _, last = name.rpartition(".")
        if last.isdigit():
            values = s.read(signal)
            if int(last) < values.numel():
                return values[int(last)]
            count = values.numel()
            raise wrong(
                self, "measured", f"'{name}'", f"an entry from 0 to {count - 1}: '{signal}' has {count}"
            )
        return s.read(name)
