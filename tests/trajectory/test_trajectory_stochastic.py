"""Feedback laws of least expected cost against closed forms and an independent solution of Bellman's equation."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline
from scipy.optimize import minimize

import articulus as art
from articulus.motion import trajectory
from articulus.motion.trajectory.stochastic import Jump, feedback_law

x, u = ca.SX.sym("x"), ca.SX.sym("u")
T = ca.SX.sym("t")
X, U = ca.SX.sym("x", 2), ca.SX.sym("u", 2)
TILT = np.array([[np.cos(0.5), -np.sin(0.5)], [np.sin(0.5), np.cos(0.5)]])


def scalar(points: int, noise: float = 0.3, limit: float = 10.0, **more) -> trajectory.stochastic.FeedbackLaw:
    return feedback_law(
        x,
        u,
        -0.5 * x + u,
        cost=x**2 / 2 + u**2 / 2,
        duration=1.0,
        grid=[(-2, 2, points)],
        u_bounds=[(-limit, limit)],
        gaussian=[[noise]],
        jumps=[Jump(0.5, -0.4 * x)],
        **more,
    )


def reference(a: float, noise: float, limit: float) -> CubicSpline:
    """Return the least expected cost of one state by splines in space and an explicit method of order eight in time."""
    at = np.linspace(-3, 3, 121)

    def rate(t: float, V: np.ndarray) -> np.ndarray:
        s = CubicSpline(at, V)
        p = s(at, 1)
        best = np.clip(-p, -limit, limit)
        jumped = 0.5 * (s(0.6 * at) - V)
        return (a * at + best) * p + noise**2 / 2 * s(at, 2) + jumped + at**2 / 2 + best**2 / 2

    return CubicSpline(
        at, solve_ivp(rate, (0, 1), np.zeros(len(at)), method="DOP853", rtol=1e-8, atol=1e-10).y[:, -1]
    )


def test_closed_form_and_order() -> None:
    p, s = 0.4765964534, 0.0139430255  # solution of the Riccati equation, see the case
    errors = []
    for points in (17, 33, 65):
        law = scalar(points)
        errors.append(np.abs(law.values[0] - p * law.axes[0] ** 2 / 2 - s).max())
    np.testing.assert_allclose(errors, [1.06e-3, 2.19e-4, 5.13e-5], rtol=0.01)  # digits of the table
    assert law.error() == pytest.approx(errors[-1], rel=0.3)
    assert law.error(0.5) <= law.error()
    np.testing.assert_allclose(law.input([[-1.3], [0.8]])[:, 0], [1.3 * p, -0.8 * p], atol=1e-3)


def test_bounds_that_hold() -> None:
    exact = reference(-0.5, 0.3, 0.3)
    errors = []
    for points in (17, 33, 65):
        law = scalar(points, limit=0.3)
        errors.append(np.abs(law.values[0] - exact(law.axes[0])).max())
    assert errors[-1] < 6e-5
    np.testing.assert_allclose(np.divide(errors[:-1], errors[1:]), 4, atol=0.6)  # order two
    assert np.abs(law.inputs).max() == 0.3
    assert (np.abs(law.inputs[0]) == 0.3).mean() > 0.5


def test_expected_cost_is_that_of_many_runs() -> None:
    law = scalar(33, limit=0.3)
    random, runs, steps = np.random.default_rng(1), 20000, 100
    at, cost, dt = np.ones(runs), np.zeros(runs), 1 / steps
    for k in range(steps):
        best = law.input(at[:, None], k * dt)[:, 0]
        cost += dt * (at**2 + best**2) / 2
        at = at + dt * (best - 0.5 * at) + 0.3 * np.sqrt(dt) * random.standard_normal(runs)
        at = np.where(random.random(runs) < 0.5 * dt, 0.6 * at, at)
    off = cost.mean() - law.value([1.0])[0]
    assert (
        abs(off) < 4 * cost.std() / np.sqrt(runs) + 3e-3
    )  # sampling, and Euler's method: half a step of the rate 0.5


def tilted(points: int, **more) -> trajectory.stochastic.FeedbackLaw:
    """Return the law of two problems of one state each, seen in turned coordinates: derivatives and noise are mixed."""
    A = TILT @ np.diag([-0.5, -0.2]) @ TILT.T
    return feedback_law(
        X,
        U,
        ca.mtimes(ca.DM(A), X) + ca.mtimes(ca.DM(TILT), U),
        cost=ca.dot(X, X) / 2 + ca.dot(U, U) / 2,
        duration=1.0,
        grid=[(-2, 2, points), (-2, 2, points + 2)],
        u_bounds=[(-0.3, 0.3), (-0.2, 0.2)],
        gaussian=TILT @ np.diag([0.3, 0.4]),
        jumps=[Jump(0.5, -0.4 * X)],
        **more,
    )


def test_two_states_with_bounds_that_hold() -> None:
    first, second = reference(-0.5, 0.3, 0.3), reference(-0.2, 0.4, 0.2)
    errors = []
    for points in (17, 33):
        law = tilted(points)
        at = np.stack(np.meshgrid(*law.axes, indexing="ij"), -1)
        own = at @ TILT
        off = np.abs(law.values[0] - first(own[..., 0]) - second(own[..., 1]))
        errors.append(off[(np.abs(at) <= 1).all(-1)].max())
    assert errors[-1] < 6e-4
    assert errors[0] / errors[1] > 3


def test_threads_change_nothing(monkeypatch) -> None:
    monkeypatch.setattr("articulus.motion.trajectory.stochastic.law.SHARE", 100)
    with art.kernel.threads(1):
        one = tilted(17, steps=70)
    with art.kernel.threads(3):
        three = tilted(17, steps=70)
    assert (one.values == three.values).all()
    assert (one.inputs == three.inputs).all()


def test_coupled_inputs_with_bounds_are_the_best() -> None:
    R = np.array([[2.0, 1.5], [1.5, 2.0]])
    law = feedback_law(
        X,
        U,
        U,
        cost=ca.dot(X, X) + ca.dot(U, ca.mtimes(ca.DM(R), U)) / 2,
        duration=0.5,
        grid=[(-1, 1, 9)] * 2,
        u_bounds=[(-0.1, 0.3), (-0.2, 0.2)],
    )
    h = law.axes[0][1] - law.axes[0][0]
    for i, j in ((1, 6), (4, 3), (7, 7), (2, 3)):
        V = law.values[0]
        slope = np.array([V[i + 1, j] - V[i - 1, j], V[i, j + 1] - V[i, j - 1]]) / (2 * h)
        best = minimize(
            lambda w, s=slope: s @ w + w @ R @ w / 2,
            [0, 0],
            bounds=[(-0.1, 0.3), (-0.2, 0.2)],
            tol=1e-12,
        ).x
        np.testing.assert_allclose(law.inputs[0, i, j], best, atol=1e-6)


def test_expressions_of_time_and_a_cost_at_the_end() -> None:
    t = ca.SX.sym("t")
    law = feedback_law(
        x,
        u,
        u,
        cost=u**2 / 2 * (1 + t),
        duration=1.0,
        grid=[(-1, 1, 9)],
        final=x**2 / 2,
        jumps=[Jump(0.3, 0.1 * ca.sin(t))],
        time=t,
    )

    def rate(t: float, y: np.ndarray) -> list[float]:
        """Rates of V = p x^2 / 2 + r x + s, by hand."""
        p, r, _ = y
        h = 0.1 * np.sin(t)
        return [
            p * p / (1 + t),
            r * p / (1 + t) - 0.3 * p * h,
            r * r / (2 * (1 + t)) - 0.3 * (r * h + p * h * h / 2),
        ]

    p, r, s = solve_ivp(rate, (1, 0), [1.0, 0, 0], rtol=1e-10, atol=1e-12).y[:, -1]
    a = law.axes[0]
    np.testing.assert_allclose(
        law.values[0], p * a**2 / 2 + r * a + s, atol=3e-3
    )  # linear between points: h^2 / 8
    np.testing.assert_allclose(law.input([0.5], 1.0), [[-0.25]], atol=1e-12)  # -x / 2 at the end


def test_law_drives_a_mechanism() -> None:
    cart = art.Mechanism("cart", gravity=(0, 0, 0))
    cart.body("cart", 1.0, (0, 0, 0), (1, 1, 1))
    cart.joint("rail", art.Prismatic((1, 0, 0)), "ground", "cart")
    law = feedback_law(
        X,
        U[0],
        ca.vertcat(X[1], U[0]),
        cost=ca.dot(X, X) / 2 + U[0] ** 2 / 2,
        duration=2.0,
        grid=[(-2, 2, 9)] * 2,
        gaussian=[[0], [0.3]],
        samples=9,
    )
    run = art.simulate(cart, 2.0, q0=[1.0], v0=[-0.5], controller=law.component(), step=0.01)
    A, B = np.array([[0, 1], [0, 0]]), np.array([[0], [1]])

    def riccati(t: float, y: np.ndarray) -> np.ndarray:
        P = y.reshape(2, 2)
        return (A.T @ P + P @ A + np.eye(2) - P @ B @ B.T @ P).ravel()

    P = solve_ivp(riccati, (0, 2), np.zeros(4), rtol=1e-9, atol=1e-11, dense_output=True).sol
    exact = solve_ivp(lambda t, s: [s[1], -(P(2 - t).reshape(2, 2) @ s)[1]], (0, 2), [1, -0.5], rtol=1e-9)
    np.testing.assert_allclose([run.q[-1, 0], run.v[-1, 0]], exact.y[:, -1], atol=3e-3)  # nine times, linear
    assert set(law.leaving) == {"x_0 = -2", "x_0 = 2"}
    assert "drift leads out" in str(law)
    with pytest.raises(art.InputError, match="times=1"):
        law.component(times=100)
    with pytest.raises(art.InputError, match="beyond the grid"):
        law.value([3.0, 0.0])


def test_times_that_are_kept_are_those_of_the_steps() -> None:
    """Ten steps have no thirds: the times next to them are kept, and told; more samples than steps keep every step once."""
    every, some = scalar(9, steps=10, samples=17), scalar(9, steps=10, samples=4)
    np.testing.assert_allclose(every.t, np.linspace(0, 1, 11), atol=1e-15)
    np.testing.assert_allclose(some.t, [0, 0.3, 0.7, 1], atol=1e-15)
    at = [0, 3, 7, 10]
    assert (some.values == every.values[at]).all()
    assert (some.inputs == every.inputs[at]).all()
    assert (np.diff(every.values[:, 0]) < 0).all()  # less time is left: less cost
    law = some.component(("x",)).function
    for t in (0.1, 0.3, 0.6, 0.95, 2.0):
        assert float(law(t, 0.4)) == pytest.approx(some.input([0.4], t).item(), abs=1e-14)


def test_jumps_beyond_the_grid_are_told() -> None:
    with pytest.warns(UserWarning, match="cells beyond the grid"):
        law = feedback_law(
            x,
            u,
            u,
            cost=u**2 + x**2,
            duration=0.1,
            grid=[(-1, 1, 9)],
            jumps=[Jump(1.0, ca.SX(0.7))],
            samples=2,
        )
    assert law.beyond == pytest.approx(2.8)


def test_too_few_steps_are_told() -> None:
    with pytest.raises(art.NumericalError, match="2 steps"):
        feedback_law(x, u, u, cost=u**2 + x**2, duration=1, grid=[(-1, 1, 33)], gaussian=[[1.0]], steps=2)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"drift": u**2}, "not affine"),
        ({"cost": u**4}, "not quadratic"),
        ({"cost": x**2 - u**2}, "second derivative -2"),
        ({"grid": [(1, -1, 9)]}, "lower end first"),
        ({"grid": [(-1, 1, 4)]}, "5 points"),
        ({"grid": [(-1, 1, 9)] * 2}, "one per state"),
        ({"u_bounds": [(1.0, -1.0)]}, "lower one first"),
        ({"gaussian": [[1.0], [1.0]]}, "one row per state"),
        ({"duration": -1.0}, "above zero"),
        ({"jumps": [Jump(1.0, X)]}, "jump 0 changes 2"),
        ({"cost": u**2 + ca.SX.sym("weight") * x**2}, "symbol weight"),
        ({"cost": (1 + ca.SX.sym("weight") ** 2) * u**2}, "symbol weight"),
        ({"cost": u**2 + ca.SX.sym("weight") * u}, "symbol weight"),
        ({"u_bounds": [(-ca.SX.sym("most"), 1.0)]}, "symbol most"),
        ({"duration": np.inf}, "above zero"),
        ({"steps": 0}, "1 or more"),
        ({"grid": [(-np.inf, 1, 9)]}, "two numbers"),
        ({"u_bounds": [(x, -0.9)]}, r"lower bound of input 0 is above the upper one at \[-0.75\] and 0 s"),
        ({"u_bounds": [(0.0, 0.5 - T)], "time": T}, r"above the upper one at \[-1.0\] and 0.5625 s"),
        ({"cost": (0.5 - T) * u**2, "time": T}, r"second derivative 0 .* and 0.5 s"),
        ({"jumps": [Jump(x, -x)]}, "jump 0 has the rate -1 per second"),
        ({"drift": u + ca.sqrt(x)}, r"drift is not finite at \[-1.0\]"),
        ({"final": ca.log(x + 1)}, "cost at the end is not finite"),
    ],
)
def test_wrong_problems_are_named(change: dict, text: str) -> None:
    given = {"drift": u, "cost": u**2, "duration": 1.0, "grid": [(-1, 1, 9)]} | change
    with pytest.raises(art.InputError, match=text):
        feedback_law(x, u, given.pop("drift"), **given)
