"""The Riccati differential equation backward in time: closed forms, an integrator as an oracle, and the cost that it promises."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from articulus.numerics.differential_riccati import riccati_along
from articulus.numerics.riccati import care

RNG = np.random.default_rng(21)


def _constant(n, m, count, scale):
    """Return a system with rates of this scale [1/s] over two of its time units."""
    A, B = scale * RNG.normal(size=(n, n)), np.sqrt(scale) * RNG.normal(size=(n, m))
    L, R = RNG.normal(size=(n, n)), np.diag(RNG.uniform(0.5, 2.0, m))
    t = np.linspace(0.0, 2.0 / scale, count)
    return t, np.array([A] * count), np.array([B] * count), scale * L @ L.T, R


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_constant_systems_stay_at_the_algebraic_solution(scale):
    t, A, B, Q, R = _constant(4, 2, 9, scale)
    X = care(A[0], B[0], Q, R).X
    P = riccati_along(t, A, B, Q, R, X)
    np.testing.assert_allclose(P, np.broadcast_to(X, P.shape), rtol=1e-10, atol=1e-10 * np.abs(X).max())


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_constant_systems_follow_the_differential_equation(scale):
    """Exact between points: DOP853 from another end."""
    t, A, B, Q, R = _constant(3, 1, 5, scale)
    last = np.zeros((3, 3))

    def rate(_, flat):
        P = flat.reshape(3, 3)
        G = B[0] @ np.linalg.solve(R, B[0].T)
        return -(A[0].T @ P + P @ A[0] - P @ G @ P + Q).ravel()

    expected = solve_ivp(rate, (t[-1], t[0]), last.ravel(), "DOP853", t[::-1], rtol=1e-12, atol=1e-13)
    P = riccati_along(t, A, B, Q, R, last)
    np.testing.assert_allclose(
        P, expected.y.T[::-1].reshape(-1, 3, 3), rtol=1e-8, atol=1e-8 * np.abs(P).max()
    )


def test_scalar_equation_in_closed_form():
    """-P' = 1 - P^2 with P(1) = 0: P = tanh(1 - t)."""
    t = np.linspace(0.0, 1.0, 7)
    one = np.ones((7, 1, 1))
    P = riccati_along(t, 0 * one, one, np.eye(1), np.eye(1), np.zeros((1, 1)))
    np.testing.assert_allclose(P[:, 0, 0], np.tanh(1 - t), atol=1e-14)


def test_error_of_changing_systems_is_of_second_order():
    def at(count):
        t = np.linspace(0.0, 1.0, count)
        A = np.array([[[np.sin(3 * s), 1.0], [s, -np.cos(2 * s)]] for s in t])
        B = np.array([[[0.0], [1.0 + s]] for s in t])
        return riccati_along(t, A, B, np.eye(2), np.eye(1), np.eye(2))[0]

    exact = at(4001)
    errors = [np.abs(at(count) - exact).max() for count in (21, 41, 81)]
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)
    assert errors[1] / errors[2] == pytest.approx(4.0, rel=0.1)


def test_the_cost_is_that_of_the_regulated_motion():
    """x0' P(0) x0 is the integral of x'Qx + u'Ru plus the end's cost, and other gains cost more."""
    n, m, count = 3, 2, 1201
    t = np.linspace(0.0, 1.5, count)
    mix = [RNG.normal(size=(n, n)) for _ in range(2)]
    A = np.array([mix[0] + np.sin(2 * s) * mix[1] for s in t])
    B = np.array([RNG.normal(size=(n, m))] * count)
    Q, R, last, x0 = np.eye(n), np.diag([0.5, 2.0]), 2 * np.eye(n), RNG.normal(size=n)
    P = riccati_along(t, A, B, Q, R, last)
    K = np.linalg.inv(R) @ B.swapaxes(1, 2) @ P

    def cost(gain):
        def rate(k, z):
            u = -gain[k] @ z[:n]
            return np.append(A[k] @ z[:n] + B[k] @ u, z[:n] @ Q @ z[:n] + u @ R @ u)

        z, h = np.append(x0, 0.0), t[2]
        for k in range(0, count - 1, 2):  # Runge and Kutta's method, with the points as ends and middles
            a = rate(k, z)
            b = rate(k + 1, z + h / 2 * a)
            c = rate(k + 1, z + h / 2 * b)
            z = z + h / 6 * (a + 2 * b + 2 * c + rate(k + 2, z + h * c))
        return z[n] + z[:n] @ last @ z[:n]

    assert cost(K) == pytest.approx(x0 @ P[0] @ x0, rel=1e-4)
    assert cost(1.2 * K) > 1.001 * cost(K)
    assert cost(0.8 * K) > 1.001 * cost(K)
