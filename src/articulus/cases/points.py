"""Plane linkages of rods in the coordinates of their points, as several papers have them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np
from casadi import SX
from scipy.integrate import solve_ivp

import articulus as art
from articulus import kernel
from articulus.dynamics.closed_equations import ClosedEquations
from articulus.dynamics.loops import ConstraintProblem, ConstraintSolution
from articulus.dynamics.loops.canonical import CanonicalSymbols, canonical

GRAVITY = 9.81
"""[m/s^2]."""

Rods = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Points:
    """The equations of a mechanism in the coordinates of its points."""

    problem: ConstraintProblem
    at: CanonicalSymbols
    energy: SX
    """Kinetic and potential [J]."""

    def evaluate(self, expression: SX, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return an expression in q and v at a state."""
        f = ca.Function("f", [self.at.q, self.at.v], [ca.densify(expression)])
        out = np.array(f(q, v))
        return out.ravel() if out.shape[1] == 1 else out


def points(mechanism: art.Mechanism) -> Points:
    """Return the equations of a mechanism whose coordinates are those of its points."""
    equations = ClosedEquations(mechanism.description, SX.sym("t"))
    M, bias = equations.free
    q, v = equations.symbols.q, equations.symbols.v
    return Points(
        ConstraintProblem(M, -bias, equations.rows),
        CanonicalSymbols(q, v, equations.t, v),
        equations.energy(),
    )


def rods(
    name: str, moving: dict[str, str], fixed: dict[str, tuple[float, float]], ends: Rods
) -> art.Mechanism:
    """Return uniform rods of 1 m and 1 kg between points of a plane, as a mechanism in the coordinates of the points.

    A rod is a sixth of its mass at each end and the rest in its middle, which follows the ends: the same kinetic and potential
    energy as of the rod (Simpson's rule is exact for both). Its length is a constraint.

    Parameters
    ----------
    name : str
    moving : dict of name to "xy" or "x"
        Points and the directions in which they move.
    fixed : dict of name to two numbers [m]
        Points of the ground.
    ends : sequence of two names
    """
    m = art.Mechanism(name, gravity=(0.0, -GRAVITY, 0.0))
    for point, (x, y) in fixed.items():
        m.frame(point, "ground", at=(x, y, 0.0))
    for point, axes in moving.items():
        _sliding(m, point, axes, sum(rod.count(point) for rod in ends) / 6)
    for i, rod in enumerate(ends):
        _sliding(m, f"middle{i}", "xy", 4 / 6)
        for axis in "xy":
            own = [f"{point}.{axis}" for point in rod if axis in moving.get(point, "")]
            offset = sum(fixed[point]["xy".index(axis)] for point in rod if point in fixed) / 2
            m.couple(f"middle{i}.{axis}", own, [0.5] * len(own), offset)
        m.constrain(art.Distance(f"rod{i}", *rod, length=1.0))
    return m


def _sliding(m: art.Mechanism, name: str, axes: str, mass: float) -> None:
    """Add a mass that slides along the given axes, joint after joint."""
    parent = "ground"
    for axis in axes:
        body = name if axis == axes[-1] else f"{name} along {axis}"
        if body == name:
            m.body(body, mass=mass, inertia=(1.0, 1.0, 1.0))  # nothing turns
        else:
            m.body(body, massless="slides with what it carries")
        m.joint(f"{name}.{axis}", art.Prismatic(tuple(float(axis == each) for each in "xyz")), parent, body)  # type: ignore[arg-type]
        parent = body


@dataclass(frozen=True)
class PointRun:
    """A run of ten seconds."""

    q: np.ndarray
    """Position at the end."""
    energy_error: float
    """Largest change of the energy at any step [J]."""
    passages: np.ndarray
    """Times at which the watched coordinate passed zero [s]."""
    lost: float
    """Time at which the energy was first off by 1 J; the end of the run if it never was [s]."""


Form = Callable[[ConstraintProblem], ConstraintSolution]


def by_accelerations(
    system: Points, form: Form, q0: np.ndarray, v0: np.ndarray, watch: int, tol: float
) -> PointRun:
    """Return a run in q and v, with accelerations by one of the loop forms."""
    at = system.at
    x = ca.vertcat(at.q, at.v)
    f = ca.Function("f", [x], [ca.vertcat(at.v, form(system.problem).vdot), system.energy], {"cse": True})
    return _run(f, np.concatenate([q0, v0]), len(q0), watch, tol)


def by_momenta(
    system: Points, q0: np.ndarray, v0: np.ndarray, watch: int, tol: float, **settings: float
) -> PointRun:
    """Return a run in q, p and the integrals of the constraints, by ALF2."""
    at, rows = system.at, system.problem.constraints
    p, integral = SX.sym("p", len(q0)), SX.sym("I", rows.g.numel())
    c = canonical(system.problem, at, p, integral, **settings)  # type: ignore[arg-type]
    energy = ca.substitute(system.energy, at.v, c.v)
    rates = ca.vertcat(c.qdot, c.pdot, c.integral_rate)
    f = ca.Function("f", [ca.vertcat(at.q, p, integral)], [rates, energy], {"cse": True})
    p0 = system.evaluate(ca.mtimes(system.problem.M, at.v), q0, v0)
    return _run(f, np.concatenate([q0, p0, np.zeros(rows.g.numel())]), len(q0), watch, tol)


def _run(f: ca.Function, start: np.ndarray, n: int, watch: int, tol: float) -> PointRun:
    native = kernel.compile(f)
    found = solve_ivp(
        lambda _, x: native(x)[0],
        (0.0, 10.0),
        start,
        "DOP853",
        rtol=tol,
        atol=tol,
        events=lambda _, x: x[watch],
    )
    energy = np.asarray(native(found.y.T.copy())[1]).ravel()
    off = np.abs(energy - energy[0])
    lost = float(found.t[np.argmax(off > 1.0)]) if (off > 1.0).any() else float(found.t[-1])
    return PointRun(found.y[:n, -1], float(off.max()), found.t_events[0], lost)
