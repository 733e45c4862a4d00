"""The Riccati solver: linear problems in closed form, bounds against a quadratic program, constraints, plans of mechanisms."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from casadi import SX
from scipy.optimize import lsq_linear, minimize

import articulus as art
from articulus.errors import InputError, NumericalError
from articulus.motion.trajectory import Clear, Hull, Rod, ode, plan, solve_problem
from articulus.motion.trajectory.riccati import Riccati, _best, search
from articulus.motion.trajectory.stages import Stages

N, T = 40, 2.0
H = T / N


def carriage(**more):
    """Return a mass of 1 on a line that goes from 0 to 1 and rests at both ends, with the least integral of u^2."""
    x, u = SX.sym("x", 2), SX.sym("u")
    given = {"start": [0, 0], "end": [1, 0], "running": u**2} | more
    return ode(x, u, ca.vertcat(x[1], u), duration=T, **given)


def powers() -> np.ndarray:
    """Return what each input adds to the last state of the carriage, (2, N); RK4 is exact for it."""
    left = T - H * (np.arange(N) + 1)
    return np.array([H * left + H**2 / 2, np.full(N, H)])


def test_least_effort_of_a_carriage_is_the_least_norm() -> None:
    G, goal = powers(), np.array([1.0, 0.0])
    want = G.T @ np.linalg.solve(G @ G.T, goal)
    found = solve_problem(carriage(), scheme="riccati", intervals=N)
    assert found.converged
    assert found.goal_error < 1e-6
    # the goal is off by up to 1e-6, the multiplier that pays for it is about 3
    assert found.cost == pytest.approx(H * want @ want, rel=1e-5)
    assert found["u"][:-1] == pytest.approx(want, abs=1e-4)


def test_bounds_of_inputs_against_least_squares_with_bounds() -> None:
    """A goal by weights is a least-squares problem, which scipy solves with bounds."""
    weight, most = 50.0, 1.1
    x, u = SX.sym("x", 2), SX.sym("u")
    final = weight * ((x[0] - 1) ** 2 + x[1] ** 2)
    given = {"duration": T, "start": [0, 0], "u_bounds": [(-most, most)]}
    phase = ode(x, u, ca.vertcat(x[1], u), running=u**2, final=final, **given)
    left = np.vstack([np.sqrt(H) * np.eye(N), np.sqrt(weight) * powers()])
    right = np.concatenate([np.zeros(N), np.sqrt(weight) * np.array([1.0, 0.0])])
    want = lsq_linear(left, right, (-most, most), tol=1e-14)
    found = search(Stages(phase, None, N), tolerance=1e-12)
    assert found.converged
    assert np.abs(found.u).max() == most
    assert found.u[:, 0] == pytest.approx(want.x, abs=1e-6)
    assert found.cost == pytest.approx(2 * want.cost, rel=1e-9)
    held = np.abs(found.u[:, 0]) == most
    assert held.any()
    assert not found.gains[held].any()  # an input at its bound does not answer


def test_best_step_within_bounds_against_least_squares_with_bounds() -> None:
    """Inputs at a bound are there exactly and do not answer; the others answer by the inverse of their part of the curvature."""
    n, rng = 5, np.random.default_rng(1)
    H, g, lower, upper = (ca.MX.sym("y", *shape) for shape in ((n, n), (n,), (n,), (n,)))
    best = ca.Function("best", [H, g, lower, upper], _best(n, True)(H, g, lower, upper))
    touched = 0
    for _ in range(20):
        root, slope = rng.standard_normal((n, n)) + np.eye(n), rng.standard_normal(n)
        limits = -rng.uniform(0.1, 1, n), rng.uniform(0.1, 1, n)
        want = lsq_linear(root, -np.linalg.solve(root.T, slope), limits, tol=1e-14)
        y, inverse = (np.array(z) for z in best(root.T @ root, slope, *limits))
        assert y.ravel() == pytest.approx(
            want.x, abs=1e-8
        )  # both solve to rounding times the condition, below 1e4
        free = (y.ravel() != limits[0]) & (y.ravel() != limits[1])
        touched += n - free.sum()
        part = np.linalg.inv((root.T @ root)[np.ix_(free, free)])
        assert inverse[np.ix_(free, free)] == pytest.approx(part, rel=1e-9)
        assert not inverse[~free].any()
        assert not inverse[:, ~free].any()
    assert touched > 20


def test_gains_are_those_of_the_riccati_equation() -> None:
    x, u = SX.sym("x", 2), SX.sym("u")
    Q, R = np.diag([3.0, 0.5]), 0.2
    running = ca.dot(x, Q @ x) + R * u**2
    phase = ode(x, u, ca.vertcat(x[1], u), duration=T, start=[1, 0], running=running)
    found = search(Stages(phase, None, N), tolerance=1e-12)
    A, B, V = np.array([[1, H], [0, 1]]), np.array([[H**2 / 2], [H]]), np.zeros((2, 2))
    for k in reversed(range(N)):
        K = -np.linalg.solve(H * R + B.T @ V @ B, B.T @ V @ A)
        V = H * Q + A.T @ V @ (A + B @ K)
        assert found.gains[k] == pytest.approx(K, abs=1e-10)
    assert found.cost == pytest.approx(V[0, 0], rel=1e-12)


def test_speed_limit_against_a_quadratic_program() -> None:
    limit = 0.6
    found = solve_problem(carriage(x_bounds=[(-9, 9), (-9, limit)]), scheme="riccati", intervals=N)
    sums = H * np.tril(np.ones((N, N)))
    want = minimize(
        lambda u: u @ u,
        np.zeros(N),
        jac=lambda u: 2 * u,
        method="SLSQP",
        constraints=[
            {"type": "eq", "fun": lambda u: powers() @ u - [1, 0], "jac": lambda u: powers()},
            {"type": "ineq", "fun": lambda u: limit - sums @ u, "jac": lambda u: -sums},
        ],
        options={"ftol": 1e-12},
    )
    assert want.success
    assert found["x_1"].max() < limit * (1 + 1e-5)
    assert found.cost == pytest.approx(H * want.fun, rel=1e-5)  # constraints are kept within 1e-6


def test_gaps_close_from_a_guess_that_is_no_motion() -> None:
    x, u = SX.sym("x", 2), SX.sym("u")
    pendulum = ca.vertcat(x[1], -9.81 * ca.sin(x[0]) + u)
    final = 100 * ((x[0] - 1) ** 2 + x[1] ** 2)
    phase = ode(x, u, pendulum, duration=T, start=[0, 0], running=u**2, final=final)
    stages = Stages(phase, None, N)
    x0 = np.linspace([0, 0], [1, 0], N + 1)
    way = Riccati(stages, x0, np.zeros((N, 1)))
    way.iterate()
    assert way.gap > 1e-3
    ends = [
        search(stages, x0, np.zeros((N, 1)), tolerance=1e-10),
        search(stages, 0 * x0, np.zeros((N, 1)), tolerance=1e-10),
    ]
    assert all(e.converged and e.gap < 1e-9 for e in ends)
    assert ends[0].cost == pytest.approx(ends[1].cost, rel=1e-8)


@pytest.fixture(scope="module")
def arm() -> art.Mechanism:
    return art.load("two_link").with_gravity((0.0, 0.0, 0.0))


def test_plan_of_an_arm_is_that_of_collocation(arm: art.Mechanism) -> None:
    ends = ([-0.4, 0.3], [0.9, -0.5])
    found = plan(arm, *ends, duration=1.0, torque_limit=1e3, scheme="riccati", intervals=80)
    other = plan(arm, *ends, duration=1.0, torque_limit=1e3, intervals=30)
    assert found.cost == pytest.approx(other.cost, rel=1e-3)  # inputs held during a step: second order in it
    assert found.end_error < 1e-5
    assert found.error < 1e-5
    assert "goal within" in str(found)


def test_step_derivatives_are_those_of_the_step(arm: art.Mechanism) -> None:
    """Central differences of a native step, both methods; round-off over the difference is about 1e-9 of the entries."""
    from articulus.motion.trajectory.costs import Effort
    from articulus.motion.trajectory.task import Task

    phase = Task(arm, [0.1, 0.2], [0.5, 0.1], 1.0, (Effort(),)).phase()
    for method in ("rk4", "semi_implicit_euler"):
        s = Stages(phase, arm, 20, method)
        x, u, h = ca.MX.sym("x", 4), ca.MX.sym("u", 2), s.h
        after, J, _ = s.linear_step(x, u, h)
        f = ca.Function("f", [x, u], [s.step(x, u, h)[0], after, J[:, :4], J[:, 4:]])
        at = np.array([0.3, -0.4, 0.9, 1.1]), np.array([200.0, -80.0])
        plain, after, A, B = (np.array(r) for r in f(*at))
        assert after == pytest.approx(plain, abs=1e-12)
        for k, (slope, size) in enumerate(((A, 1e-4), (B, 10.0))):
            steps = size * np.eye(len(at[k]))
            for j, step in enumerate(steps):
                sides = [
                    np.array(f(*(a + sign * step if i == k else a for i, a in enumerate(at)))[0])
                    for sign in (1, -1)
                ]
                assert (sides[0] - sides[1]).ravel() / (2 * size) == pytest.approx(
                    slope[:, j], rel=1e-5, abs=1e-8
                )


def test_obstacle_is_kept_clear(arm: art.Mechanism) -> None:
    given = {"duration": 1.0, "torque_limit": 1e3, "scheme": "riccati", "intervals": 60}
    ends = ([-0.4, 0.3], [0.9, -0.5])
    free = plan(arm, *ends, **given)
    center = arm.pose("tip", free.q[25])[:3, 3] + [0.05, 0.0, 0.05]
    across = np.array([0.0, 1.0, 0.0])
    post = Rod(tuple(center - across), tuple(center + across), radius=0.1)
    tip = Hull("tip", (0, 0, 0), (0, 0, 0), radius=0.05, balls=1)
    found = plan(arm, *ends, **given, obstacles=[Clear(post, (tip,), margin=0.01)])
    off = np.linalg.norm((arm.pose("tip", found.q)[:, :3, 3] - center)[:, [0, 2]], axis=1)
    assert off.min() == pytest.approx(0.16, abs=1e-5)  # touched: the shorter way is blocked
    assert found.cost > free.cost


def test_what_cannot_be_done_is_said(arm: art.Mechanism) -> None:
    ends = ([-0.4, 0.3], [0.9, -0.5])
    with pytest.raises(NumericalError, match=r"not kept, first bounds \(q.joint1\) at t = 0.1 s"):
        _ = plan(arm, *ends, duration=0.1, torque_limit=1e3, scheme="riccati", intervals=20).cost
    with pytest.raises(InputError, match="free duration takes collocation"):
        plan(arm, *ends, duration=(0.1, 1.0), scheme="riccati")
    with pytest.raises(InputError, match="riccati semi_implicit_euler"):
        plan(arm, *ends, duration=1.0, scheme="riccati euler")
    loop = art.load("n_four_bar", n=1)
    with pytest.raises(InputError, match="Closed loops"):
        plan(loop, np.zeros(loop.nq), np.zeros(loop.nq), duration=1.0, scheme="riccati")


def test_small_costs_are_minimized_too(arm: art.Mechanism) -> None:
    """Effort over a limit far away is a small number; ipopt's absolute tolerance took the first guess for the least, 42 % off."""
    given = {"duration": 1.0, "torque_limit": 1e5, "intervals": 40}
    ends = ([-0.4, 0.3], [0.9, -0.5])
    assert plan(arm, *ends, **given).cost == pytest.approx(
        plan(arm, *ends, **given, tolerance=1e-10).cost, rel=1e-4
    )
