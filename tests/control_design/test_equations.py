"""Riccati and Lyapunov equations as public functions: residuals, known solutions, names of modes, wrong arguments."""

import numpy as np
import pytest
import scipy.linalg

from articulus.control import care, dare, dlyap, lqr, lyap
from articulus.errors import ArticulusError, InputError

RNG = np.random.default_rng(4)
A, B = RNG.normal(size=(5, 5)), RNG.normal(size=(5, 2))
Q, R, S = np.eye(5), np.diag([1.0, 3.0]), 0.1 * RNG.normal(size=(5, 2))


def test_solutions_satisfy_their_equations():
    found = care(A, B, Q, R, S)
    X, K = found.X, found.gain
    np.testing.assert_allclose(A.T @ X + X @ A - (X @ B + S) @ K + Q, 0.0, atol=1e-12 * np.abs(X).max())
    np.testing.assert_allclose(K, np.linalg.solve(R, B.T @ X + S.T), rtol=1e-12)
    np.testing.assert_allclose(np.sort(found.poles), np.sort(np.linalg.eigvals(A - B @ K)), rtol=1e-9)
    assert found.poles.real.max() < 0.0 <= found.residual < 1e-13
    found = dare(A, B, Q, R, S)
    X, K = found.X, found.gain
    np.testing.assert_allclose(A.T @ X @ A - X - (A.T @ X @ B + S) @ K + Q, 0.0, atol=1e-12 * np.abs(X).max())
    assert np.abs(found.poles).max() < 1.0
    assert found.residual < 1e-13


def test_regulator_is_that_of_the_equation():
    np.testing.assert_allclose(lqr((A, B), Q, R, S).gain, care(A, B, Q, R, S).gain, rtol=1e-12)


@pytest.mark.parametrize("symmetric", [True, False])
def test_lyapunov_equations(symmetric):
    right = Q if symmetric else RNG.normal(size=(5, 5))
    stable = A - 4 * np.eye(5)
    X = lyap(stable, right)
    np.testing.assert_allclose(stable @ X + X @ stable.T + right, 0.0, atol=1e-14 * np.abs(X).max() * 40)
    np.testing.assert_allclose(X, scipy.linalg.solve_continuous_lyapunov(stable, -right), rtol=1e-11)
    inside = A / 4
    X = dlyap(inside, right)
    np.testing.assert_allclose(X, scipy.linalg.solve_discrete_lyapunov(inside, right, "direct"), rtol=1e-11)
    mixed = np.diag([2.0, -0.9, 0.1, -3.0, 0.0])  # neither stable nor unstable: solved all the same
    X = dlyap(mixed, right)
    np.testing.assert_allclose(mixed @ X @ mixed - X + right, 0.0, atol=1e-12)


def test_lyapunov_equation_of_slow_and_fast_modes():
    d = 10.0 ** np.array([-6.0, -3.0, 0.0, 4.0, 6.0])
    X = lyap(-np.diag(d), np.ones((5, 5)))
    np.testing.assert_allclose(X, 1.0 / (d + d[:, None]), rtol=1e-14)


def test_what_stands_in_the_way_is_named():
    with pytest.raises(InputError, match=r"care: .*mode at 1.*x\.0.*no input"):
        care(np.diag([1.0, -1.0]), [[0.0], [1.0]], np.eye(2))
    with pytest.raises(InputError, match=r"care: .*mode at 0 \(x\.0\).*no weight Q sees it"):
        care([[0.0, 0.0], [0.0, -1.0]], [[1.0], [1.0]], np.diag([0.0, 1.0]))
    with pytest.raises(InputError, match=r"dare: .*mode at -1 .*no weight Q sees it"):
        dare(np.diag([-1.0, 0.5]), [[1.0], [1.0]], np.diag([0.0, 1.0]))
    with pytest.raises(InputError, match=r"lyap: found the poles .*add up to zero"):
        lyap(np.diag([1.0, -1.0]), np.eye(2))
    turn = scipy.linalg.qr(RNG.normal(size=(3, 3)))[0]
    with pytest.raises(
        InputError, match=r"lyap: found the poles .*add up to zero"
    ):  # to rounding: a rigid motion
        lyap(turn @ [[0.0, 1, 0], [0, 0, 0], [0, 0, -1]] @ turn.T, np.eye(3))
    with pytest.raises(InputError, match=r"dlyap: found the poles .*multiply to one"):
        dlyap(np.diag([2.0, 0.5]), np.eye(2))
    with pytest.raises(InputError, match=r"dlyap: found a pole at z = -1"):
        dlyap(np.diag([-1.0, 0.5]), np.eye(2))


@pytest.mark.parametrize(
    "call",
    [
        lambda: care(np.ones((2, 3)), B, Q),
        lambda: care(A, B[:3], Q),
        lambda: care(A, B, np.eye(4)),
        lambda: care(A, B, A),
        lambda: care(A, B, Q, np.zeros((2, 2))),
        lambda: care(A, B, Q, R, S.T),
        lambda: care(A * np.nan, B, Q),
        lambda: care("plant", B, Q),
        lambda: care(A, [[1.0], [1.0, 2.0]], Q),
        lambda: lyap(A, np.eye(3)),
        lambda: lyap(A, None),
        lambda: dlyap(np.ones(3), np.ones(3)),
    ],
)
def test_wrong_arguments_raise_our_errors(call):
    with pytest.raises(ArticulusError, match=r"^(care|dare|lyap|dlyap): found"):
        call()
