"""Gramians and their roots: the Lyapunov equation, mpmath's digits, and the batch beside the single ones."""

import mpmath
import numpy as np
import pytest
import scipy.linalg

from articulus.numerics.gramians import gramian_root, modal_gramians

RNG = np.random.default_rng(8)


def _stable(n, scale):
    A = RNG.normal(size=(n, n))
    return scale * (A - (np.linalg.eigvals(A).real.max() + 0.5) * np.eye(n))


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize(("n", "m"), [(1, 1), (5, 2), (20, 1), (20, 25)])
def test_roots_solve_the_continuous_equation(n, m, scale):
    A, B = _stable(n, scale), RNG.normal(size=(n, m))
    root = gramian_root(A, B)
    P = root @ root.T
    off = A @ P + P @ A.T + B @ B.T
    assert np.abs(off).max() <= 1e-12 * n * (np.abs(A) @ np.abs(P)).max()
    expected = scipy.linalg.solve_continuous_lyapunov(A, -B @ B.T)
    np.testing.assert_allclose(P, expected, rtol=1e-8, atol=1e-9 * np.abs(P).max())


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_roots_solve_the_sampled_equation(scale):
    A, B = scipy.linalg.expm(0.1 * _stable(8, 1.0)), scale * RNG.normal(size=(8, 2))
    root = gramian_root(A, B, sampled=True)
    P = root @ root.T
    np.testing.assert_allclose(
        P, scipy.linalg.solve_discrete_lyapunov(A, B @ B.T), atol=1e-10 * np.abs(P).max()
    )


def test_small_singular_values_keep_their_digits():
    """Chain of ten lags 1, 2, ... 10: eigenvalues of the Gramian over ten decades below what eps of the largest would hide, with 60 digits."""
    n = 10
    A = np.diag(-np.arange(1.0, n + 1)) + np.diag(np.ones(n - 1), -1)
    B = np.eye(n)[:, :1]
    with mpmath.workdps(60):
        # P_ij from the modes: A = V D V^-1, exact rationals here
        M = mpmath.matrix(A.tolist())
        values = [-mpmath.mpf(k + 1) for k in range(n)]
        V = mpmath.matrix(n, n)
        for k in range(n):
            V[k, k] = 1
            for i in range(k + 1, n):
                V[i, k] = V[i - 1, k] / (values[k] - M[i, i])
        w = V**-1 * mpmath.matrix(B.tolist())
        W = mpmath.matrix(n, n)
        for i in range(n):
            for j in range(n):
                W[i, j] = -w[i] * w[j] / (values[i] + values[j])
        P = V * W * V.T
        exact = np.array([float(mpmath.sqrt(s)) for s in mpmath.eigsy((P + P.T) / 2, eigvals_only=True)])[
            ::-1
        ]
    found = np.linalg.svd(gramian_root(A, B), compute_uv=False)
    assert exact[-1] < 1e-9 * exact[0]
    np.testing.assert_allclose(found, exact, rtol=1e-5, atol=1e-15 * exact[0])


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_batch_is_the_single_ones(scale):
    omega = scale * np.array([1.0, 2.5, 7.0])
    A = np.block([[np.zeros((3, 3)), np.diag(omega)], [-np.diag(omega), -0.1 * np.diag(omega)]])
    b = RNG.normal(size=(4, 6))
    for W, each in zip(modal_gramians(A, b), b):
        root = gramian_root(A, each[:, None])
        np.testing.assert_allclose(W, root @ root.T, rtol=1e-9, atol=1e-10 * np.abs(W).max())


def test_nothing():
    assert gramian_root(np.zeros((0, 0)), np.zeros((0, 2))).shape == (0, 0)
