"""Projection onto the constraints: how near, how small a change, and no drift over long runs."""

from __future__ import annotations

import casadi as ca
import closed
import numpy as np
import pytest
from casadi import SX

from articulus import kernel
from articulus.dynamics import energy
from articulus.dynamics.kinematics import integrate_position
from articulus.dynamics.loops import regularized_dynamics, suggested_penalty
from articulus.dynamics.loops.joint_form import joint_form
from articulus.dynamics.loops.projection import Projection
from articulus.dynamics.tree import Tree
from articulus.model import library
from articulus.simulation.integrate import RK4
from articulus.simulation.integrate.runge_kutta import runge_kutta_step

everywhere = pytest.mark.parametrize("name", closed.NAMES)


def velocity_change(c: closed.Closed) -> SX:
    rows = c.problem.constraints
    penalty = ca.DM(suggested_penalty(*c.numbers(c.problem.M, rows.G)))
    return Projection(c.problem.M, rows.G, penalty).change(lambda dv: rows.rate + ca.mtimes(rows.G, dv))


@everywhere
def test_velocities_end_on_the_constraints_by_the_smallest_change(name):
    """The change that NumPy finds by minimizing dv' M dv / 2 under G dv = -rate."""
    c = closed.get(name)
    rows = c.problem.constraints
    found, M, G, rate = c.numbers(velocity_change(c), c.problem.M, rows.G, rows.rate)
    expected, _ = closed.kkt(M, G, np.zeros(len(M)), rate)
    np.testing.assert_allclose(found, expected, atol=1e-10 * np.abs(expected).max())


def test_redundant_rows_are_projected_on_as_well():
    single, double = closed.get("balls"), closed.get("balls", twice=True)
    (one,), (other,) = single.numbers(velocity_change(single)), double.numbers(velocity_change(double))
    np.testing.assert_allclose(other, one, atol=1e-9 * np.abs(one).max())


@everywhere
def test_positions_end_on_the_constraints(name):
    """From an error of a millimetre; the constraint holds where it stood before. Quaternions keep their norm."""
    c = closed.get(name)
    rows, tree = c.problem.constraints, c.tree
    (g0,) = c.numbers(rows.g)
    residual = ca.Function("g", [tree.q], [rows.g - ca.DM(g0) - 1e-3])
    moved = ca.Function("move", [tree.q, tree.v], [integrate_position(tree, tree.v)])
    penalty = ca.DM(suggested_penalty(*c.numbers(c.problem.M, rows.G)))
    projection = Projection(c.problem.M, rows.G, penalty, iterations=4)
    dq = projection.change(lambda dq: residual(moved(tree.q, dq)))
    before, after, step = c.numbers(residual(tree.q), residual(moved(tree.q, dq)), dq)
    assert np.abs(before).max() == pytest.approx(1e-3)
    assert np.abs(after).max() < 1e-9
    assert np.abs(step).max() < 0.1


def test_a_singular_position_is_left_alone():
    """Slider-crank with the crank upright: the second direction of the residual cannot be corrected, and is not."""
    problem, at = closed.slider_crank()
    rows = problem.constraints
    residual = ca.Function("g", [at.q], [rows.g])
    dq = Projection(problem.M, rows.G, 1e10).change(lambda dq: residual(at.q + dq))
    f = ca.Function("f", [at.q], [dq])
    on, off = (np.array(f(q)).ravel() for q in ([0, 1, 0], [0, 1.001, 0]))
    np.testing.assert_allclose(on, 0, atol=1e-15)
    np.testing.assert_allclose(off, [0, -1e-3, 0], atol=1e-6)


def stepper(n: int, h: float) -> tuple[kernel.Kernel, np.ndarray, ca.Function]:
    """Return a native step (RK4, then projection) of n four-bar linkages, the start, and a function for figures."""
    tree = Tree(library.read("n_four_bar", n=n), regroup=True)
    nv = tree.description.nv
    problem = joint_form(tree, tree.v, SX.zeros(nv), SX.sym("t"))
    rows, q, v = problem.constraints, tree.q, tree.v
    matrices = ca.Function("matrices", [q], [problem.M, rows.G])
    penalty = ca.DM(suggested_penalty(*(np.array(x) for x in matrices(np.zeros(nv)))))
    x = ca.vertcat(q, v)
    f = ca.Function("f", [x], [ca.vertcat(v, regularized_dynamics(problem, penalty).vdot)])
    end = runge_kutta_step(RK4.tableau, lambda _, y: f(y), 0.0, x, h)
    q1, v1 = end[:nv], end[nv:]
    position, rate = ca.Function("g", [q], [rows.g]), ca.Function("rate", [q, v], [rows.rate])
    projection = Projection(*matrices(q1), penalty)
    q2 = q1 + projection.change(lambda dq: position(q1 + dq))
    v2 = v1 + projection.change(lambda dv: rate(q2, v1 + dv))
    own = Tree(tree.description)
    total = energy.kinetic_energy(own, own.v) + energy.potential_energy(own)
    total = ca.substitute(total, ca.vertcat(own.q, own.v), x)
    start = np.array([1.0 if "hinge" in k else -1.0 for k in tree.description.coordinate_names()])
    step = kernel.compile(ca.Function("step", [x], [ca.vertcat(q2, v2)], {"cse": True}))
    return (
        step,
        np.concatenate([np.zeros(nv), start]),
        ca.Function("figures", [x], [rows.g, rows.rate, total]),
    )


def test_no_drift_over_ten_seconds_through_singular_positions():
    """Two four-bar linkages that pass their singular position ten times; the end position by a one-degree-of-freedom reference.

    thdd = (3.5 g / 3) sin th from the vertical, integrated separately (digits of the double four-bar case).
    """
    step, x, figures = stepper(2, 1e-3)
    start = float(figures(x)[2])
    worst = np.zeros(3)
    for k in range(10_000):
        x = step(x)
        if k % 10:
            continue
        g, rate, total = (np.array(y) for y in figures(x))
        worst = np.maximum(worst, [np.abs(g).max(), np.abs(rate).max(), abs(total.item() - start)])
    assert start == pytest.approx(35.835, abs=1e-9)
    assert worst[0] < 1e-10
    assert worst[1] < 1e-9
    assert worst[2] < 1e-6
    np.testing.assert_allclose([np.sin(x[0]), np.cos(x[0])], [0.328458, 0.944519], atol=2e-6)
