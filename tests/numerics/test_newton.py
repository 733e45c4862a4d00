"""Newton's method with a line search: quadratic, the same at every scale, and never further off than its start."""

import numpy as np
import pytest
import scipy.optimize

from articulus.numerics.newton import HALVINGS, STEPS, least_step, newton

RNG = np.random.default_rng(6)
SCALES = [1e-9, 1.0, 1e9]


def _solve(f, J, x, sizes=1.0, tolerance=1e-12):
    def step(x, r):
        return -np.linalg.solve(J(x), r)

    return newton(x, f, step, np.add, tolerance, sizes)


@pytest.mark.parametrize("length", SCALES)
@pytest.mark.parametrize("force", SCALES)
def test_roots_at_every_scale(length, force):
    """Random polynomials of third degree whose root is known; unknowns and residuals in units of any size."""
    n = 4
    A, root = RNG.normal(size=(n, n)) + 3 * np.eye(n), RNG.normal(size=n)

    def f(x):
        d = x / length - root
        return force * (A @ d + 0.3 * d**3)

    def J(x):
        return force / length * (A + np.diag(0.9 * (x / length - root) ** 2))

    x, history = _solve(f, J, length * (root + RNG.normal(size=n)), force)
    np.testing.assert_allclose(x / length, root, atol=1e-14 * np.linalg.cond(A))
    falls = np.array(history) / force
    assert (np.diff(falls) < 0).all() or falls[-1] < 1e-14
    near = falls[(falls < 0.1) & (falls > 1e-7)]
    assert (near[1:] <= 100 * near[:-1] ** 2).all()


def test_steps_that_overshoot_are_halved():
    """atan from 20: undamped steps fly away; scipy's root as an oracle for a system of two."""
    x, history = _solve(np.arctan, lambda x: np.diag(1 / (1 + x**2)), np.array([20.0]))
    assert abs(x[0]) < 1e-15
    assert max(history) == history[0]

    def f(x):
        return np.array([np.exp(x[0]) * x[1] - 2.0, np.arctan(x[0] - x[1])])

    def J(x):
        e, d = np.exp(x[0]), 1 / (1 + (x[0] - x[1]) ** 2)
        return np.array([[e * x[1], e], [d, -d]])

    with np.errstate(over="ignore", invalid="ignore"):
        x, _ = _solve(f, J, np.array([2.0, 0.5]))
    expected = scipy.optimize.root(f, [0.8, 0.8]).x
    np.testing.assert_allclose(x, expected, rtol=1e-9)


def test_numbers_that_are_none_are_stepped_back_from():
    with np.errstate(invalid="ignore"):
        x, _ = _solve(np.log, lambda x: np.diag(1 / x), np.array([9.0]))  # the first step leads to -10.8
    assert x[0] == pytest.approx(1.0, abs=1e-14)


def test_without_a_root_the_least_residual_on_the_way_is_returned():
    calls = []

    def f(x):
        calls.append(1)
        return x**2 + 1.0

    x, history = _solve(f, lambda x: np.diag(2 * x), np.array([3.0]))
    assert history[-1] <= min(history)
    assert x[0] ** 2 + 1 == pytest.approx(history[-1])
    assert len(calls) <= STEPS * HALVINGS + 1


@pytest.mark.parametrize("scale", SCALES)
def test_least_steps(scale):
    """The smallest of all solutions in the sizes given; what does not move stays."""
    A, b = RNG.normal(size=(3, 6)), RNG.normal(size=3)
    moving = np.array([True, True, False, True, True, True])
    columns = scale * RNG.uniform(0.5, 2.0, 6)
    x = least_step(A / columns, b, moving, columns=columns)
    assert x[2] == 0.0
    np.testing.assert_allclose(A / columns @ x, b, atol=1e-12)
    np.testing.assert_allclose((x / columns)[moving], np.linalg.pinv(A[:, moving]) @ b, atol=1e-12)
