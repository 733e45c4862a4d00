"""Loops branch by branch against the equations written out for the whole mechanism."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from casadi import MX, SX

import articulus as art
from articulus.dynamics.closed_equations import ClosedEquations
from articulus.dynamics.constraints import closures
from articulus.dynamics.loops.base import ConstraintProblem
from articulus.dynamics.loops.branches import Branches, BranchState
from articulus.dynamics.loops.projection import Projection
from articulus.dynamics.loops.regularized import regularized_dynamics
from articulus.dynamics.tree import tree_of
from articulus.simulation.loop import constraint_equations
from articulus.simulation.loop.displacement import displacement

COMPLIANCE = 1e-9
"""Of every row, for all tests."""


def two_arms() -> art.Mechanism:
    """Two arms of different size with a named mass, springs and friction, joined by a hinge and, on one body, by a rod."""
    m = art.Mechanism("two arms")
    for side, length in ((-1, 0.5), (1, 0.7)):
        at, parent = (side * 0.6, 0.0, 0.0), "ground"
        for k in range(3):
            name = f"{'left' if side < 0 else 'right'}{k}"
            mass = art.Parameter("load", 2.0) if (side, k) == (1, 2) else 1.0 + 0.3 * k
            m.body(name, mass=mass, com=(0.1, 0.02 * k, length / 2), inertia=(0.05, 0.06, 0.02))
            axis = (0.0, 1.0, 0.0) if k else (0.6, 0.0, 0.8)
            m.joint(
                f"{name}_pin", art.Revolute(axis), parent, name, at=at, damping=0.1 * k, stiffness=2.0 * k
            )
            at, parent = (0.0, 0.05, length), name
    m.constrain(art.PointOnPoint("grip", "left2", "right2"))
    return m.constrain(art.Distance("rod", "left0", "right1", length=0.9))


MECHANISMS = {
    "four-bars": lambda: art.load("n_four_bar", n=3),
    "Stewart": lambda: art.load("stewart_platform"),
    "two arms": two_arms,
}


@pytest.fixture(scope="module", params=MECHANISMS)
def mechanism(request) -> art.Mechanism:
    return MECHANISMS[request.param]()


def numbers(m: art.Mechanism) -> list:
    """Return q, v, t, p and active with one constraint off, none of them on the constraints."""
    d, rng = m.description, np.random.default_rng(3)
    q = np.array(displacement(d)(d.neutral, 0.2 * rng.normal(size=d.nv))).ravel()
    active = np.ones(len(d.constraints))
    active[-1] = 0.0
    return [q, rng.normal(size=d.nv), 0.3, [p.value for p in d.parameters], active]


def whole(m: art.Mechanism) -> tuple[ClosedEquations, SX, SX]:
    """Return the equations of the whole mechanism, a switch for each constraint, and for each row."""
    d = m.description
    equations, active = ClosedEquations(d, SX.sym("t")), SX.sym("active", len(d.constraints))
    rows = [active[i] for i, c in enumerate(d.constraints) for _ in c.row_names(d)]
    return equations, active, ca.vertcat(*rows)


def graph_state(m: art.Mechanism) -> BranchState:
    d = m.description
    sizes = (d.nq, d.nv, 1, len(d.parameters), len(d.constraints))
    return BranchState(*(MX.sym(name, n) for name, n in zip(("q", "v", "t", "p", "active"), sizes)))


def test_accelerations_are_those_of_the_regularized_form(mechanism):
    """Forces and wrenches acting, a constraint off; both round alike: 1e-9 of the largest."""
    frame = mechanism.body_names[-1]
    e, active, on = whole(mechanism)
    tau, wrench = SX.sym("tau", mechanism.nv), SX.sym("wrench", 6)
    M, bias = e.equations({frame: wrench})
    held = type(e.rows)(
        *(on * x if x.is_column() else ca.mtimes(ca.diag(on), x) for x in vars(e.rows).values())
    )
    found = regularized_dynamics(ConstraintProblem(M, tau - bias, held), 1 / COMPLIANCE, iterations=2)
    symbols = [e.symbols.q, e.symbols.v, e.t, e.symbols.p, active, tau, wrench]
    expected = ca.Function("expected", symbols, [found.vdot, found.multipliers])
    s, tau, wrench = graph_state(mechanism), MX.sym("tau", mechanism.nv), MX.sym("wrench", 6)
    compliance = np.full(on.numel(), COMPLIANCE)
    out = Branches(tree_of(mechanism.description, regroup=True), [frame]).acceleration(
        s, tau, [wrench], compliance, 2
    )
    branches = ca.Function("branches", [s.q, s.v, s.t, s.p, s.active, tau, wrench], list(out))
    rng = np.random.default_rng(5)
    at = [*numbers(mechanism), rng.normal(size=mechanism.nv), rng.normal(size=6)]
    for one, other in zip(branches(*at), expected(*at)):
        np.testing.assert_allclose(
            np.array(one), np.array(other), rtol=0, atol=1e-9 * float(ca.norm_inf(other))
        )


def test_the_projection_is_that_of_the_whole(mechanism):
    """Positions, velocities and the change of the energy; both round alike: 1e-10 of the size of each."""
    d, (e, active, on) = mechanism.description, whole(mechanism)
    q, v, displaced = e.symbols.q, e.symbols.v, displacement(mechanism.description)
    way = Projection(e.free[0], ca.mtimes(ca.diag(on), e.rows.G), 1 / COMPLIANCE, iterations=2)
    at = ca.Function("at", [q, v, e.t, e.symbols.p], [e.rows.g, e.rows.rate])
    q1 = displaced(q, way.change(lambda x: on * at(displaced(q, x), v, e.t, e.symbols.p)[0]))
    v1 = v + way.change(lambda x: on * at(q1, v + x, e.t, e.symbols.p)[1])
    energy = ca.Function("energy", [q, v, e.symbols.p], [e.energy()])
    change = energy(q1, v1, e.symbols.p) - energy(q, v, e.symbols.p)
    expected = ca.Function("expected", [q, v, e.t, e.symbols.p, active], [q1, v1, change])
    s = graph_state(mechanism)
    branches, given = Branches(tree_of(d, regroup=True)), numbers(mechanism)
    for written in (lambda graph: graph, ca.Function.expand):
        out = branches.projection(s, np.full(on.numel(), COMPLIANCE), 2, displaced, written)
        found = ca.Function("branches", [s.q, s.v, s.t, s.p, s.active], list(out))
        for one, other in zip(found(*given), expected(*given)):
            np.testing.assert_allclose(
                np.array(one), np.array(other), rtol=0, atol=1e-10 * max(1.0, float(ca.norm_inf(other)))
            )


def test_loops_that_are_alike_share_one_function():
    """First and last of a row have neighbors of their own; all others are alike, however many there are."""
    for n in (4, 8):
        _, found = closures(tree_of(art.load("n_four_bar", n=n).description, regroup=True))
        assert len({c.function.__hash__() for c in found}) <= 3


def test_many_loops_are_calls_and_run_as_those_that_are_written_out(monkeypatch):
    """The same steps from the same state; rounding alone differs, and little of it grows in 50 steps."""
    m = art.load("n_four_bar", n=4)
    v0 = [1.0 if name.startswith("hinge") else -1.0 for name in m.joint_names]
    written = art.Loop(m).simulate(0.1, v0=v0, step=2e-3)
    monkeypatch.setattr(constraint_equations, "CALLS_FROM", 1)
    loop = art.Loop(art.load("n_four_bar", n=4), components=[art.components.PD(kp=0.0, kd=0.0)])
    assert not loop.function("acceleration").is_a("SXFunction")
    called = loop.simulate(0.1, v0=v0, step=2e-3)
    np.testing.assert_allclose(called.q, written.q, rtol=0, atol=1e-11)
    np.testing.assert_allclose(called["multipliers"], written["multipliers"], rtol=0, atol=1e-6)


def test_what_many_loops_report_by_calls_is_what_is_written_out(monkeypatch):
    """The same states, with a force on a frame; of the signals rounding alone differs."""

    def reported(strength: float) -> art.Run:
        bars = art.load("n_four_bar", n=2)
        frame = bars.body_names[-1]
        push = art.components.FrameWrench(frame, (0.0, 0.0, 0.0, strength, 0.0, 0.0))
        return art.Loop(bars, components=[push]).simulate(0.01, step=2e-3)

    written = reported(1.0)
    monkeypatch.setattr(constraint_equations, "REPORTED_BY_CALLS_FROM", 1)
    called = reported(1.0 + 1e-15)  # not the kernel that is known by now
    for name in ("vdot", "multipliers", "energy", "momentum", "constraint"):
        scale = max(1.0, np.abs(written[name]).max())
        np.testing.assert_allclose(called[name], written[name], rtol=0, atol=1e-9 * scale)
