"""Momentum form ALF2: the same motion as multipliers give, for every kind of coordinate and for rolling."""

from __future__ import annotations

import casadi as ca
import closed
import numpy as np
import pytest
from casadi import SX
from scipy.integrate import solve_ivp

from articulus.dynamics.constraints import Constraints
from articulus.dynamics.loops import ConstraintProblem, lagrange, suggested_penalty
from articulus.dynamics.loops.canonical import CanonicalSymbols, canonical

END = 0.2


def motion(x: SX, rates: SX, start: np.ndarray, end: float = END) -> np.ndarray:
    """Return the state at the end, integrated much more accurately than the tests ask."""
    f = ca.Function("f", [x], [rates], {"cse": True})
    run = solve_ivp(lambda _, y: np.array(f(y)).ravel(), (0, end), start, "DOP853", rtol=1e-11, atol=1e-11)
    return run.y[:, -1]


@pytest.mark.parametrize("name", ["hinge_chain", "balls", "several_roots"])
def test_moves_as_multipliers_do(name):
    """Joint rates and quaternions; an open loop stays as open as it is. Friction, springs and gravity act."""
    c = closed.get(name)
    rows, at = c.problem.constraints, c.point
    M, G = c.numbers(c.problem.M, rows.G)
    v0 = c.v - np.linalg.pinv(G) @ (G @ c.v)
    p, integral = SX.sym("p", len(v0)), SX.sym("I", 3)
    a = ca.DM(suggested_penalty(M, G, 1e9))
    momenta = canonical(c.problem, at, p, integral, a, frequency=0.0, iterations=2)

    def fixed(rates: SX) -> SX:
        return ca.substitute(rates, ca.vertcat(c.tau, c.t), SX(ca.DM([*c.force, 0.0])))

    direct = fixed(ca.vertcat(at.qdot, lagrange(c.problem).vdot))
    through = fixed(ca.vertcat(momenta.qdot, momenta.pdot, momenta.integral_rate))
    expected = motion(ca.vertcat(at.q, at.v), direct, np.concatenate([c.q, v0]))
    found = motion(ca.vertcat(at.q, p, integral), through, np.concatenate([c.q, M @ v0, np.zeros(3)]))
    np.testing.assert_allclose(found[: len(c.q)], expected[: len(c.q)], atol=1e-8)


def skate() -> tuple[ConstraintProblem, CanonicalSymbols]:
    """Return a skate on a slope: q = (x, y, angle), no motion across the blade, mass center ahead of the contact."""
    q, v = SX.sym("q", 3), SX.sym("v", 3)
    s, c, ahead = ca.sin(q[2]), ca.cos(q[2]), 0.3
    M = ca.blockcat([[1, 0, -ahead * s], [0, 1, ahead * c], [-ahead * s, ahead * c, 0.2]])
    potential = 2.0 * (q[0] + ahead * c)
    T = ca.mtimes(v.T, ca.mtimes(M, v)) / 2
    f = ca.gradient(T - potential, q) - ca.jtimes(ca.mtimes(M, v), q, v)
    A = ca.horzcat(-s, c, 0)
    rate = ca.mtimes(A, v)
    rows = Constraints(SX.zeros(1), A, rate, ca.jtimes(rate, q, v))
    return ConstraintProblem(M, f, rows), CanonicalSymbols(q, v, SX.sym("t"), v)


def test_rows_that_restrict_velocities_only():
    problem, at = skate()
    q0, v0 = np.array([0.1, -0.2, 0.5]), np.array([np.cos(0.5), np.sin(0.5), 0.8])
    p, integral = SX.sym("p", 3), SX.sym("I", 1)
    momenta = canonical(problem, at, p, integral, 1e9, frequency=1.0, iterations=2, holonomic=[False])
    M = np.array(ca.Function("M", [at.q], [problem.M])(q0))
    expected = motion(
        ca.vertcat(at.q, at.v), ca.vertcat(at.v, lagrange(problem).vdot), np.concatenate([q0, v0]), 2.0
    )
    found = motion(
        ca.vertcat(at.q, p, integral),
        ca.vertcat(momenta.qdot, momenta.pdot, momenta.integral_rate),
        np.concatenate([q0, M @ v0, [0.0]]),
        2.0,
    )
    assert np.abs(expected[:3] - q0).max() > 0.5
    np.testing.assert_allclose(found[:3], expected[:3], atol=1e-7)


def test_a_violation_dies_out():
    """With frequency w and critical damping a position error falls like (1 + w t) exp(-w t), or faster."""
    problem, at = closed.slider_crank()
    p, integral = SX.sym("p", 3), SX.sym("I", 2)
    momenta = canonical(problem, at, p, integral, 1e7, frequency=10.0)
    q0 = np.array([np.sqrt(0.5) + 1e-3, np.sqrt(0.5), np.sqrt(2.0)])
    end = motion(
        ca.vertcat(at.q, p, integral),
        ca.vertcat(momenta.qdot, momenta.pdot, momenta.integral_rate),
        np.concatenate([q0, np.zeros(5)]),
        1.0,
    )
    residual = ca.Function("g", [at.q], [problem.constraints.g])
    before, after = (np.abs(np.array(residual(q))).max() for q in (q0, end[:3]))
    assert after < 11 * np.exp(-10.0) * before
