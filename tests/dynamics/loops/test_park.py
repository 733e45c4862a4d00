"""Central differences with stabilized penalties: order, conserved momenta, redundant constraints."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from casadi import SX

import articulus as art
from articulus.dynamics.loops.park import penalty_multipliers
from articulus.errors import InputError, NumericalError
from articulus.model.mechanism import PointOnPoint
from articulus.simulation.integrate.free_bodies import BodyMotion, FreeBodies

OFFSET = (0.1, -0.05, 0.2)


def bodies(n: int, gravity: tuple[float, float, float] = (0, 0, 0)) -> art.Mechanism:
    """Return n free bodies with their centers of mass away from their origins, each with a frame at its end."""
    mech = art.Mechanism("bodies", gravity=gravity)
    for i in range(n):
        mech.body(f"b{i}", mass=1.0 + i, com=OFFSET, inertia=(0.2, 0.3, 0.4, 0.02, -0.03, 0.01))
        mech.joint(f"j{i}", art.Free(), "ground", f"b{i}")
        mech.frame(f"end{i}", f"b{i}", at=(0.2, 0.3, -1.0))
    return mech


def pendulum(joint: art.Joint | None = None) -> art.Mechanism:
    """Return a body hung at its origin: by a constraint, or by the joint of a tree."""
    mech = bodies(1, (0, 0, -9.81))
    if joint is None:
        return mech.constrain(PointOnPoint("pin", "ground", "b0"))
    tree = art.Mechanism("tree").body("b0", mass=1.0, com=OFFSET, inertia=(0.2, 0.3, 0.4, 0.02, -0.03, 0.01))
    return tree.joint("pin", joint, "ground", "b0")


def test_a_free_body_under_torque_and_force_converges_with_second_order() -> None:
    mech = bodies(1, (0.3, 0.0, -2.0))
    tau = np.array([0.3, -0.2, 0.5, 1.0, -2.0, 0.7])
    q0, v0 = mech.description.neutral, np.array([1.0, 0.4, -0.8, 0.3, 0.0, -0.2])
    q, v = reference(mech, q0, v0, tau, 1.0)
    errors = []
    for steps in (50, 100, 200):
        run = FreeBodies(mech.description, 1.0 / steps, 1e-6).run(q0, v0, steps, tau)
        errors.append([np.abs(run.q[-1] - q).max(), np.abs(run.v[-1] - v).max()])
    ratio = np.array(errors[:-1]) / errors[1:]
    assert np.all((ratio > 3.5) & (ratio < 4.5)), ratio


def reference(
    mech: art.Mechanism, q0: np.ndarray, v0: np.ndarray, tau: np.ndarray, end: float
) -> tuple[np.ndarray, np.ndarray]:
    from articulus.simulation.integrate import RK4

    forward, rate = mech.function("forward_dynamics"), mech.function("position_rate")

    def f(t: float, x: np.ndarray) -> np.ndarray:
        q, v = x[: mech.nq], x[mech.nq :]
        return np.concatenate([np.array(rate(q, v)).ravel(), np.array(forward(q, v, tau)).ravel()])

    x = RK4().integrate(f, 0.0, end, np.concatenate([q0, v0]), 1000)[1][-1]
    return x[: mech.nq], x[mech.nq :]


def test_a_pendulum_on_a_pin_follows_the_tree_with_a_spherical_joint() -> None:
    tree, w0 = pendulum(art.Spherical()), np.array([1.0, -2.0, 0.5])
    q, w = reference(tree, tree.description.neutral, w0, np.zeros(3), 1.0)
    errors = []
    for steps in (250, 500, 1000):
        loose = FreeBodies(pendulum().description, 1.0 / steps, 1e-9)
        run = loose.run([1, 0, 0, 0, 0, 0, 0], [*w0, 0, 0, 0], steps)
        errors.append([np.abs(run.q[-1, :4] - q).max(), np.abs(run.v[-1, :3] - w).max()])
    ratio = np.array(errors[:-1]) / errors[1:]
    assert np.all((ratio > 3.3) & (ratio < 4.7)), ratio


def linked() -> art.Mechanism:
    return (
        bodies(3)
        .constrain(PointOnPoint("first", "end0", "b1"))
        .constrain(PointOnPoint("second", "end1", "b2"))
    )


LINK = np.array([0.2, 0.3, -1.0])
START = np.concatenate([np.r_[1, 0, 0, 0, i * LINK] for i in range(3)])
W = np.array([[0.5, -1.0, 2.0], [0.3, 0.2, -0.4], [-1.0, 0.0, 0.6]])
SPIN = np.concatenate([np.r_[W[i], np.cross(W[:i].sum(axis=0), LINK)] for i in range(3)])
"""Bodies in a row, each with its own turning rate, the pins together."""


def momenta(mech: art.Mechanism, run: BodyMotion, h: float) -> np.ndarray:
    """Return linear momentum at half steps, from the positions of the centers of mass."""
    com = np.array([[mech.pose(f"b{i}", q) @ [*OFFSET, 1.0] for i in range(3)] for q in run.q])[:, :, :3]
    return np.einsum("i,nij->nj", [1.0, 2.0, 3.0], np.diff(com, axis=0) / h)


def test_internal_forces_leave_the_momenta_alone() -> None:
    mech, h = linked(), 0.01
    method = FreeBodies(mech.description, h, 1e-6)
    x = np.array(method.begin(START, SPIN, np.zeros(18))).ravel()
    totals = []
    for n in range(200):
        x = np.array(method.advance(x, n * h, np.zeros(18))[0]).ravel()
        flights = x[:57].reshape(3, 19)
        u, udot, pi = flights[:, :3], flights[:, 7:10], flights[:, 13:16]
        m = np.array([[1.0], [2.0], [3.0]])
        totals.append(np.concatenate([(np.cross(u, m * udot) + pi).sum(axis=0), (m * udot).sum(axis=0)]))
    drift = np.abs(np.array(totals) - totals[0]).max()
    assert drift < 1e-11
    run = method.run(START, SPIN, 200)
    assert np.abs(run.multipliers).max() > 0.1
    assert np.abs(np.diff(momenta(mech, run, h), axis=0)).max() < 1e-10


def test_redundant_constraints_change_nothing() -> None:
    twice = linked().constrain(PointOnPoint("again", "end0", "b1"))
    plain = FreeBodies(linked().description, 0.002, 1e-8).run(START, SPIN, 500)
    more = FreeBodies(twice.description, 0.002, 1e-8).run(START, SPIN, 500)
    size = np.abs(plain.multipliers).max()
    assert np.abs(more.multipliers[:, :3] - more.multipliers[:, 6:]).max() < 1e-5 * size
    # two equal springs are one of twice the stiffness: positions differ by the violation, about eps lambda
    assert np.abs(more.q - plain.q).max() < 1e-5


def test_multipliers_solve_the_stated_equation() -> None:
    rng = np.random.default_rng(0)
    A, G = rng.normal(size=(4, 4)), rng.normal(size=(3, 4))
    G[2] = G[0]
    inverse, free, rate, before = (
        A @ A.T + np.eye(4),
        rng.normal(size=4),
        rng.normal(size=3),
        rng.normal(size=3),
    )
    eps, h = 1e-3, 0.02
    found = penalty_multipliers(SX(inverse), SX(G), SX(free), SX(rate), SX(before), eps, h)
    vdot, force = (np.array(ca.evalf(x)).ravel() for x in (found.vdot, found.multipliers))
    np.testing.assert_allclose(vdot, free - inverse @ G.T @ force, rtol=1e-9)
    # eps (lambda - before) = d (rate at the middle of the step)
    np.testing.assert_allclose(eps * (force - before), h / 2 * (rate + G @ (h / 2 * vdot)), atol=1e-12)


def test_a_step_that_is_too_long_is_told() -> None:
    method = FreeBodies(pendulum().description, 0.5, 1e-6)
    with pytest.raises(NumericalError, match=r"not finite from t = [\d.]+ s on; .* found 0\.5"):
        method.run([1, 0, 0, 0, 0, 0, 0], [1.0, -2.0, 0.5, 0, 0, 0], 200)


def test_what_cannot_be_integrated_is_named() -> None:
    hinged = art.Mechanism("m").body("b", mass=1.0, inertia=(1, 1, 1))
    hinged.joint("pin", art.Revolute((0, 0, 1)), "ground", "b")
    with pytest.raises(InputError, match="joint 'pin': found revolute on 'ground'; expected a free joint"):
        FreeBodies(hinged.description, 0.01, 1e-6)
    damped = art.Mechanism("m").body("b", mass=1.0, inertia=(1, 1, 1))
    damped.joint("flight", art.Free(), "ground", "b", damping=np.ones(6))
    with pytest.raises(InputError, match="damping on a free joint"):
        FreeBodies(damped.description, 0.01, 1e-6)
    method = FreeBodies(bodies(1).description, 0.01, 1e-6)
    with pytest.raises(InputError, match=r"v0: found shape \(3,\); expected \(6,\)"):
        method.run(np.zeros(7), np.zeros(3), 10)
    with pytest.raises(InputError, match="steps = 0; expected an integer of at least 1"):
        method.run(np.zeros(7), np.zeros(6), 0)
    with pytest.raises(InputError, match="step = 0"):
        FreeBodies(bodies(1).description, 0, 1e-6)
