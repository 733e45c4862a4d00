"""Plane mechanisms in the coordinates of their points, as several papers have them: constant masses, a potential, rods."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca
import numpy as np
from casadi import SX
from scipy.integrate import solve_ivp

from articulus import kernel
from articulus.dynamics.constraints import Constraints
from articulus.dynamics.loops import Problem, Solution
from articulus.dynamics.loops.canonical import Point, canonical


@dataclass(frozen=True)
class Points:
    """A mechanism in coordinates q with a constant mass matrix."""

    problem: Problem
    at: Point
    energy: SX
    """Kinetic and potential [J]."""

    def evaluate(self, expression: SX, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return an expression in q and v at a state."""
        f = ca.Function("f", [self.at.q, self.at.v], [ca.densify(expression)])
        out = np.array(f(q, v))
        return out.ravel() if out.shape[1] == 1 else out


def points(M: np.ndarray, potential: SX, phi: SX, q: SX, v: SX) -> Points:
    """Return the equations for a mass matrix [kg], a potential energy [J] and constraints phi(q) = 0."""
    G = ca.jacobian(phi, q)
    rate = ca.mtimes(G, v)
    rows = Constraints(phi, G, rate, ca.jtimes(rate, q, v))
    mass = SX(ca.DM(M))
    energy = ca.mtimes(v.T, ca.mtimes(mass, v)) / 2 + potential
    return Points(Problem(mass, -ca.gradient(potential, q), rows), Point(q, v, SX.sym("t"), v), energy)


@dataclass(frozen=True)
class Run:
    """A run of ten seconds."""

    q: np.ndarray
    """Position at the end."""
    energy_error: float
    """Largest change of the energy at any step [J]."""
    passages: np.ndarray
    """Times at which the watched coordinate passed zero [s]."""


Form = Callable[[Problem], Solution]


def by_accelerations(
    system: Points, form: Form, q0: np.ndarray, v0: np.ndarray, watch: int, tol: float
) -> Run:
    """Return a run in q and v, with accelerations by one of the loop forms."""
    at = system.at
    x = ca.vertcat(at.q, at.v)
    f = ca.Function("f", [x], [ca.vertcat(at.v, form(system.problem).vdot), system.energy], {"cse": True})
    return _run(f, np.concatenate([q0, v0]), len(q0), watch, tol)


def by_momenta(
    system: Points, q0: np.ndarray, v0: np.ndarray, watch: int, tol: float, **settings: float
) -> Run:
    """Return a run in q, p and the integrals of the constraints, by ALF2."""
    at, rows = system.at, system.problem.constraints
    p, integral = SX.sym("p", len(q0)), SX.sym("I", rows.g.numel())
    c = canonical(system.problem, at, p, integral, **settings)  # type: ignore[arg-type]
    energy = ca.substitute(system.energy, at.v, c.v)
    rates = ca.vertcat(c.qdot, c.pdot, c.integral_rate)
    f = ca.Function("f", [ca.vertcat(at.q, p, integral)], [rates, energy], {"cse": True})
    p0 = system.evaluate(ca.mtimes(system.problem.M, at.v), q0, v0)
    return _run(f, np.concatenate([q0, p0, np.zeros(rows.g.numel())]), len(q0), watch, tol)


def _run(f: ca.Function, start: np.ndarray, n: int, watch: int, tol: float) -> Run:
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
    return Run(found.y[:n, -1], float(np.abs(energy - energy[0]).max()), found.t_events[0])
