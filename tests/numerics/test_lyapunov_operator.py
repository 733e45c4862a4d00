"""Lyapunov equations halved until they are small, the operator of a transposed matrix, and of one that is made up of two parts."""

import numpy as np
import pytest

from articulus.numerics import lyapunov
from articulus.numerics.lyapunov import Lyapunov, covariance

ROUNDING = 1e-11
"""Residual over the size of the terms; the matrices are well conditioned."""


def stable(n, seed, sampled):
    A = np.random.default_rng(seed).normal(size=(n, n)) / np.sqrt(n)
    return 0.6 * A if sampled else A - 1.5 * np.eye(n)


def residual(A, X, Q, sampled):
    return A @ X @ A.T - X + Q if sampled else A @ X + X @ A.T + Q


@pytest.mark.parametrize("sampled", [False, True])
@pytest.mark.parametrize("n", [1, 2, 7, 64, 65, 131])
def test_operator_and_its_adjoint(n, sampled):
    A, rng = stable(n, n, sampled), np.random.default_rng(1)
    Q, operator = rng.normal(size=(n, n)), Lyapunov(A, sampled)
    X, Y = operator.solve(Q), operator.solve_transposed(Q)
    assert np.abs(residual(A, X, Q, sampled)).max() < ROUNDING
    assert np.abs(residual(A.T, Y, Q, sampled)).max() < ROUNDING
    other = rng.normal(size=(n, n))
    assert np.sum(other * X) == pytest.approx(np.sum(operator.solve_transposed(other) * Q), rel=1e-9)


def test_blocks_of_two_are_not_cut(monkeypatch):
    """Only pairs of complex poles, with halves as small as they can be."""
    monkeypatch.setattr(lyapunov, "SMALL", 2)
    n = 22
    A = np.kron(np.diag(np.arange(1.0, 1 + n // 2)), np.array([[-0.1, 1.0], [-1.0, -0.1]]))
    A = A + np.triu(np.random.default_rng(2).normal(size=(n, n)), 2)
    X = Lyapunov(A).solve(np.eye(n))
    assert np.abs(residual(A, X, np.eye(n), False)).max() < 1e-9 * np.abs(X).max()  # lightly damped


@pytest.mark.parametrize("sampled", [False, True])
def test_parts_one_after_the_other(sampled):
    rng, n = np.random.default_rng(3), 40
    first, second = stable(n, 4, sampled), stable(n, 5, sampled)
    eye = np.eye(n)
    apart = np.block([[eye, np.zeros_like(eye)], [eye, -eye]])
    A = apart @ np.block([[first, rng.normal(size=(n, n))], [np.zeros_like(eye), second]]) @ apart
    parts = Lyapunov(first, sampled), Lyapunov(second, sampled)
    joined = parts[0].before(parts[1], A, apart, apart)
    assert np.sort_complex(joined.eigenvalues) == pytest.approx(
        np.sort_complex(np.linalg.eigvals(A)), abs=1e-9
    )
    Q = np.eye(2 * n)
    assert covariance(A, Q, sampled, joined) == pytest.approx(covariance(A, Q, sampled), rel=1e-9, abs=1e-9)
    assert joined.transposed.solve(Q) == pytest.approx(Lyapunov(A.T, sampled).solve(Q), rel=1e-8, abs=1e-8)
    assert parts[1].before(parts[0], A, apart, apart) is None  # not what A is made of
