"""A phase in steps of equal length with inputs held during each: what methods that go forward in time need.

x(k + 1) = step(x(k), u(k)). Cost and constraints are taken at the beginning of each step and at the end of the last one. Bounds of
states, path constraints and goals are rows c with lower <= c <= upper, which enter the cost as an augmented Lagrangian

    rho / 2 d^2,   d = y - min(max(y, lower), upper),   y = c + multiplier / rho,

which holds for equations (lower = upper) and inequalities alike. Source: Bertsekas 1982; Howell, Jackson & Manchester 2019.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from casadi import MX, SX

from articulus import kernel
from articulus.dynamics.mechanism import Mechanism
from articulus.errors import InputError, did_you_mean
from articulus.motion.trajectory.problem import Phase, PhaseConstraint
from articulus.motion.trajectory.quantities import quantity

STEPS = ("rk4", "semi_implicit_euler")


@dataclass(frozen=True, eq=False)
class Row:
    """One constraint as a function of z, over its size: its name, and which entry of it."""

    name: str
    entry: str
    expression: SX
    lower: float
    upper: float
    scale: float


@dataclass(frozen=True, eq=False)
class Stages:
    """A phase in steps.

    Parameters
    ----------
    phase : Phase
        With a given duration; every unknown is a state, the rate of a state or an input.
    mechanism : Mechanism or None
        Whose analytic derivatives are used; otherwise those of the phase's equations.
    steps : int
    method : str
        "rk4", or "semi_implicit_euler" of mechanisms.
    """

    phase: Phase
    mechanism: Mechanism | None
    steps: int
    method: str = "rk4"

    def __getstate__(self) -> dict[str, Any]:
        """Return what it is made of: a copy makes its own symbols and native code."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def __post_init__(self) -> None:
        phase = self.phase
        if self.method not in STEPS:
            raise InputError(f"steps: found method '{self.method}'; {did_you_mean(self.method, STEPS)}")
        if self.method == "semi_implicit_euler" and self.mechanism is None:
            raise InputError(
                "steps: semi_implicit_euler needs a mechanism with q' = v; expected rk4 for equations"
            )
        if phase.duration[0] != phase.duration[1]:
            raise InputError(
                f"phase '{phase.name}': found a duration between {phase.duration[0]:g} and {phase.duration[1]:g} s; expected one number. "
                "Steps of equal length need it; a free duration takes collocation (hermite_simpson)"
            )
        if (m := self.mechanism) is not None and m.nq != m.nv:
            raise InputError(
                f"phase '{phase.name}': found {m.nq} coordinates and {m.nv} velocities; expected joints whose velocities are the rates of "
                "their coordinates. Ball joints and free bodies take collocation (hermite_simpson)"
            )
        if self.mechanism is not None and len(phase.rates) != 2 * self.mechanism.nv:
            raise InputError(
                f"phase '{phase.name}': found states besides positions and velocities (limits of jerk or torque rate, parameters, time in costs "
                "or conditions); expected none. They take collocation (hermite_simpson)"
            )
        known = {*phase.rates, *phase.rates.values(), *phase.inputs}
        if other := [n for k, n in enumerate(phase.names) if k not in known]:
            raise InputError(
                f"phase '{phase.name}': found the unknown '{other[0]}', which is neither a state, nor a rate, nor an input; expected an "
                "open tree. Closed loops take collocation (hermite_simpson)"
            )

    def copy(self) -> Stages:
        """Return the same stages as another object."""
        return replace(self)

    @property
    def h(self) -> float:
        """Length of a step [s]."""
        return self.phase.duration[0] / self.steps

    @cached_property
    def states(self) -> list[int]:
        """Places of the states in z: positions before velocities."""
        return [int(k) for k in self.phase.states]

    @property
    def nx(self) -> int:
        """Number of states."""
        return len(self.states)

    @property
    def nu(self) -> int:
        """Number of inputs."""
        return len(self.phase.inputs)

    @cached_property
    def start(self) -> np.ndarray:
        """State at the beginning, (nx,)."""
        lower, upper = (side[self.states] for side in self.phase.start)
        for k in np.flatnonzero(lower != upper):
            raise InputError(
                f"phase '{self.phase.name}': found no number for {self.phase.names[self.states[k]]} at the start; expected all states given there"
            )
        return lower

    @cached_property
    def box(self) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of the inputs, (nu,) each."""
        places = list(self.phase.inputs)
        return self.phase.lower[places], self.phase.upper[places]

    @cached_property
    def input_scale(self) -> np.ndarray:
        """Sizes of the inputs, (nu,)."""
        return self.phase.scale[list(self.phase.inputs)]

    @cached_property
    def state_scale(self) -> np.ndarray:
        """Sizes of the states, (nx,)."""
        return self.phase.scale[self.states]

    # dynamics

    def _z(self, x: SX, u: SX, f: SX) -> SX:
        """Return the column of all unknowns."""
        z: list[SX] = [SX(0)] * self.phase.size
        for k, place in enumerate(self.states):
            z[self.phase.rates[place]] = f[k]
        for k, place in enumerate(self.states):
            z[place] = x[k]
        for k, place in enumerate(self.phase.inputs):
            z[place] = u[k]
        return ca.vertcat(*z)

    @cached_property
    def symbols(self) -> tuple[SX, SX]:
        """x and u."""
        return SX.sym("x", self.nx), SX.sym("u", self.nu)

    @cached_property
    def motors(self) -> ca.DM:
        """Matrix from inputs to generalized forces of the mechanism."""
        assert self.mechanism is not None
        names = [f"u.{n}" for n in self.mechanism.v_names]
        B = np.zeros((self.mechanism.nv, self.nu))
        for k, place in enumerate(self.phase.inputs):
            B[names.index(self.phase.names[place]), k] = 1.0
        return ca.sparsify(ca.DM(B))

    @cached_property
    def rates(self) -> ca.Function:
        """(x, u) -> x'."""
        x, u = self.symbols
        if (m := self.mechanism) is not None:
            a = quantity(m, "forward_dynamics")(x[: m.nq], x[m.nq :], ca.mtimes(self.motors, u))
            return ca.Function("rates", [x, u], [ca.vertcat(x[m.nq :], a)])
        f = SX.sym("f", self.nx)
        own = [k for k, place in enumerate(self.states) if self.phase.rates[place] not in self.phase.rates]
        residual = self.phase.equations(self._z(x, u, f))
        slope = ca.jacobian(residual, f[own])
        if ca.depends_on(slope, f):
            raise InputError(
                f"phase '{self.phase.name}': found equations that are not linear in the rates; expected x' = f(x, u)"
            )
        solved = -ca.solve(slope, ca.substitute(residual, f, SX.zeros(self.nx)))
        full = [
            x[self.states.index(p)] if (p := self.phase.rates[s]) in self.phase.rates else SX(0)
            for s in self.states
        ]
        for k, place in enumerate(own):
            full[place] = solved[k]
        return ca.Function("rates", [x, u], [ca.vertcat(*full)])

    @cached_property
    def slopes(self) -> ca.Function:
        """(x, u) -> x' and its derivatives by x and by u, of equations."""
        x, u = self.symbols
        f = self.rates(x, u)
        return ca.Function("slopes", [x, u], [f, *(ca.densify(ca.jacobian(f, y)) for y in (x, u))])

    @cached_property
    def acceleration_slopes(self) -> ca.Function:
        """(x, u, c, d) -> acceleration a(q, v, u) of the mechanism, [a_q, c a_q + a_v, a_u], c a_v and d a_q."""
        m = self.mechanism
        assert m is not None
        (x, u), c, d = self.symbols, SX.sym("c"), SX.sym("d")
        by_q, by_v, M = quantity(m, "derivatives")(x[: m.nq], x[m.nq :], ca.mtimes(self.motors, u))
        whole = ca.horzcat(by_q, c * by_q + by_v, ca.mtimes(M, self.motors))
        made = [self.rates(x, u)[m.nq :], whole, c * by_v, d * by_q]
        return ca.Function("acceleration_slopes", [x, u, c, d], [ca.densify(y) for y in made])

    def step(self, x: MX, u: MX, h: MX) -> tuple[MX, MX]:
        """Return the state after a step, and its rate at the beginning."""
        f1 = self.rates(x, u)
        if self.method == "semi_implicit_euler":
            return self._semi_implicit(x, h, f1), f1
        f2 = self.rates(x + h / 2 * f1, u)
        f3 = self.rates(x + h / 2 * f2, u)
        f4 = self.rates(x + h * f3, u)
        return _runge_kutta(x, h, f1, f2, f3, f4), f1

    def _semi_implicit(self, x: MX, h: MX, f: MX) -> MX:
        n = self.nx // 2
        v = x[n:] + h * f[n:]
        return ca.vertcat(x[:n] + h * v, v)

    def linear_step(self, x: MX, u: MX, h: MX) -> tuple[MX, MX, tuple[MX, MX]]:
        """Return the state after a step, its derivatives by (x, u), x' at the beginning and the derivatives of that."""
        if self.mechanism is None:
            return self._linear_equations(x, u, h)
        n, m = self.nx // 2, self.nu
        one, none = MX(ca.DM.eye(n)), MX(ca.DM.zeros(n, n))
        a, D, *_ = self.acceleration_slopes(x, u, 0, 0)
        f = ca.vertcat(x[n:], a)
        first = f, ca.vertcat(ca.horzcat(none, one, MX(ca.DM.zeros(n, m))), D)
        if self.method == "semi_implicit_euler":
            return self._semi_implicit(x, h, f), self._ends(1)(h, D), first
        rates, slopes = [f], [D]
        for k, c in enumerate((h / 2, h / 2, h), 1):
            a, begun, by_v, by_q = self.acceleration_slopes(x + c * rates[-1], u, c, c * h / 2)
            rates.append(ca.vertcat(x[n:] + c * rates[-1][n:], a))
            if k > 1:
                begun = ca.mac(by_q, slopes[k - 2], begun)
            slopes.append(ca.mac(by_v, slopes[-1], begun))
        return _runge_kutta(x, h, *rates), self._ends(4)(h, *slopes), first

    def _ends(self, stages: int) -> ca.Function:
        """(h, derivatives of the accelerations of all stages by the state at the beginning and the inputs) -> those of the state after.

        A stage begins at q + c v, v + c a of the one before, so that the derivatives of the velocities need no matrix products.
        """
        n, m, h = self.nx // 2, self.nu, SX.sym("h")
        D = [SX.sym(f"D{k}", n, self.nx + m) for k in range(stages)]
        still = ca.horzcat(SX.eye(n), SX(n, n), SX(n, m))
        moved = ca.horzcat(SX(n, n), SX.eye(n), SX(n, m))
        if stages == 1:
            v = moved + h * D[0]
            q = still + h * v
        else:
            q = still + h * moved + h**2 / 6 * (D[0] + D[1] + D[2])
            v = moved + h / 6 * (D[0] + 2 * (D[1] + D[2]) + D[3])
        return ca.Function("ends", [h, *D], [ca.densify(ca.vertcat(q, v))])

    def _linear_equations(self, x: MX, u: MX, h: MX) -> tuple[MX, MX, tuple[MX, MX]]:
        """Return the same of equations x' = f(x, u)."""
        f, fx, fu = self.slopes(x, u)
        begun = ca.horzcat(fx, fu)
        rates, slopes = [f], [begun]
        for c in (h / 2, h / 2, h):
            f, fx, fu = self.slopes(x + c * rates[-1], u)
            slopes.append(ca.horzcat(fx, fu) + c * ca.mtimes(fx, slopes[-1]))
            rates.append(f)
        still = MX(ca.DM(np.eye(self.nx, self.nx + self.nu)))
        return _runge_kutta(x, h, *rates), _runge_kutta(still, h, *slopes), (rates[0], begun)

    # cost and constraints

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """Constraints at the beginning of each step: bounds of what is not an input, and path constraints."""
        z, phase = self.full_symbols[1], self.phase
        places = [k for k in range(phase.size) if k not in phase.inputs]
        return (*self._bounds(places, phase.lower, phase.upper), *_rows(phase.path, z))

    @cached_property
    def last_rows(self) -> tuple[Row, ...]:
        """Constraints at the end: those of the states, and the goals."""
        z, phase = self.full_symbols[1], self.phase
        lower = np.maximum(phase.lower, phase.end[0])
        upper = np.minimum(phase.upper, phase.end[1])
        made = (*self._bounds(self.states, lower, upper), *_rows(phase.at_end, z), *_rows(phase.path, z))
        return tuple(
            r for r in made if not ca.depends_on(r.expression, ca.vertcat(*self.full_symbols[0][1:]))
        )

    def _bounds(self, places: list[int], lower: np.ndarray, upper: np.ndarray) -> list[Row]:
        z, phase = self.full_symbols[1], self.phase
        kept = dict.fromkeys(k for k in places if np.isfinite(lower[k]) or np.isfinite(upper[k]))
        made = []
        for k in kept:
            size = float(phase.scale[k])
            made.append(Row("bounds", phase.names[k], z[k] / size, lower[k] / size, upper[k] / size, size))
        return made

    def row_values(self, rows: tuple[Row, ...]) -> kernel.Kernel:
        """Return the native function (x, u, x') -> constraints over their sizes."""
        (x, u, f), _ = self.full_symbols
        whole = ca.vertcat(*(r.expression for r in rows))
        return kernel.compile(ca.Function("rows", [x, u, f], [whole]), finite=False, ranks=((1, 1, 1), (1,)))

    @cached_property
    def full_symbols(self) -> tuple[tuple[SX, SX, SX], SX]:
        """(x, u, x') and z of them."""
        x, u = self.symbols
        f = SX.sym("f", self.nx)
        return (x, u, f), self._z(x, u, f)

    @cached_property
    def running(self) -> SX:
        """Cost per time, of x, u and x'."""
        z = self.full_symbols[1]
        return SX(0) if self.phase.running is None else self.phase.running(z)

    @cached_property
    def final(self) -> SX:
        """Cost at the end, of x."""
        (_, u, f), z = self.full_symbols
        if self.phase.final is None:
            return SX(0)
        cost = self.phase.final(z, self.phase.duration[0])
        if ca.depends_on(cost, ca.vertcat(u, f)):
            raise InputError(
                f"phase '{self.phase.name}': found a cost at the end that depends on inputs or rates; expected one of states"
            )
        return cost

    @cached_property
    def merit(self) -> ca.Function:
        """(x, u, x', h, multipliers, rho) -> h times the cost per time, plus the penalties of the constraints."""
        (x, u, f), _ = self.full_symbols
        h, rho = SX.sym("h"), SX.sym("rho")
        multipliers = SX.sym("m", len(self.rows))
        total = h * self.running + _penalty(self.rows, multipliers, rho)
        return ca.Function("merit", [x, u, f, h, multipliers, rho], [total])

    @cached_property
    def merit_slopes(self) -> ca.Function:
        """(x, u, x', its derivatives by (x, u), h, multipliers, rho) -> cost, new multipliers, gradient and curvature by (x, u).

        The constraints' curvature is omitted, and that of x'(x, u) (Gauss-Newton). The curvature has only the entries that can differ
        from zero.
        """
        (x, u, f), _ = self.full_symbols
        h, rho = SX.sym("h"), SX.sym("rho")
        slope = SX.sym("slope", self.nx, self.nx + self.nu)
        multipliers, y = SX.sym("m", len(self.rows)), ca.vertcat(x, u, f)
        gradient, curvature, fresh = _slopes(h * self.running, self.rows, multipliers, rho, y)
        J = ca.vertcat(SX.eye(self.nx + self.nu), slope)
        g, H = ca.mtimes(J.T, gradient), ca.mtimes(J.T, ca.mtimes(curvature, J))
        return ca.Function(
            "merit_slopes",
            [x, u, f, slope, h, multipliers, rho],
            [h * self.running, fresh, ca.densify(g), ca.sparsify(H)],
        )

    @cached_property
    def last_merit(self) -> ca.Function:
        """(x, multipliers, rho) -> cost at the end with the penalties of its constraints."""
        x, multipliers, rho = self.symbols[0], SX.sym("m", len(self.last_rows)), SX.sym("rho")
        return ca.Function(
            "last_merit", [x, multipliers, rho], [self.final + _penalty(self.last_rows, multipliers, rho)]
        )

    @cached_property
    def last_slopes(self) -> ca.Function:
        """(x, multipliers, rho) -> cost at the end, new multipliers, first and second derivatives by x."""
        x, multipliers, rho = self.symbols[0], SX.sym("m", len(self.last_rows)), SX.sym("rho")
        g, H, fresh = _slopes(self.final, self.last_rows, multipliers, rho, x)
        return ca.Function(
            "last_slopes", [x, multipliers, rho], [self.final, fresh, ca.densify(g), ca.densify(H)]
        )

    def guess(self) -> tuple[np.ndarray, np.ndarray]:
        """Return states (steps + 1, nx) and inputs (steps, nu) of the phase's guess, from the given start."""
        s = np.linspace(0, 1, self.steps + 1)
        assert self.phase.guess is not None
        z = self.phase.guess(s, self.phase.duration[0])
        x, u = z[:, self.states].copy(), z[:-1, list(self.phase.inputs)]
        x[0] = self.start
        return x, np.clip(u, *self.box)


def _runge_kutta(x: MX, h: MX, f1: MX, f2: MX, f3: MX, f4: MX) -> MX:
    """Return x after a step with the rates at its four stages."""
    return x + h / 6 * (f1 + 2 * f2 + 2 * f3 + f4)


def _rows(constraints: tuple[PhaseConstraint, ...], z: SX) -> list[Row]:
    made = []
    for c in constraints:
        for k, row in enumerate(ca.vertsplit(c.function(z))):
            made.append(Row(c.name, f"row {k}", row, float(c.lower[k]), float(c.upper[k]), 1.0))
    return made


def _off(rows: tuple[Row, ...], multipliers: SX, rho: SX) -> SX:
    """Return how far each constraint, moved by its multiplier, lies outside of its bounds."""
    out = []
    for k, row in enumerate(rows):
        y = row.expression + multipliers[k] / rho
        out.append(y - ca.fmin(ca.fmax(y, row.lower), row.upper))
    return ca.vertcat(SX(0, 1), *out)


def _penalty(rows: tuple[Row, ...], multipliers: SX, rho: SX) -> SX:
    return rho / 2 * ca.sumsqr(_off(rows, multipliers, rho))


def _slopes(cost: SX, rows: tuple[Row, ...], multipliers: SX, rho: SX, y: SX) -> tuple[SX, SX, SX]:
    """Return gradient and curvature of cost and penalties by y, and the new multipliers."""
    H, g = ca.hessian(cost, y)
    off = _off(rows, multipliers, rho)
    if rows:
        J = ca.jacobian(ca.vertcat(*(r.expression for r in rows)), y)
        g = g + rho * ca.mtimes(J.T, off)
        active = [SX(1) if r.lower == r.upper else off[k] != 0 for k, r in enumerate(rows)]
        H = H + rho * ca.mtimes(J.T, ca.mtimes(ca.diag(ca.vertcat(*active)), J))
    return g, H, rho * off
