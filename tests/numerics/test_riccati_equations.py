"""Riccati equations: 50 digits of mpmath, printed solutions, units, singular and indefinite weights; reasons when there is no solution."""

import mpmath as mp
import numpy as np
import pytest
import scipy.linalg

from articulus.errors import InputError
from articulus.numerics.riccati import care, care_batch, dare

C = np.array([[1.0, 0.0]])
PLANTS = {"oscillator": [[0.0, 1.0], [-1.0, -0.02]], "double integrator": [[0.0, 1.0], [0.0, 0.0]]}


def exact(A, B, Q, R, start, sampled):
    """Return X and the gain in 50 digits: Newton-Kleinman steps, each a linear system for the entries of X."""
    with mp.workdps(50):
        n = len(A)
        a, b, q, r, X = (mp.matrix(np.asarray(x).tolist()) for x in (A, B, Q, R, start))
        for _ in range(80):
            K = (r + b.T * X * b) ** -1 * (b.T * X * a) if sampled else r**-1 * (b.T * X)
            M, rest = a - b * K, q + K.T * r * K
            S = mp.zeros(n * n, n * n)
            for i, j, k in np.ndindex(n, n, n):
                if sampled:
                    for h in range(n):
                        S[i * n + j, k * n + h] += M[k, i] * M[h, j] - int((k, h) == (i, j))
                else:
                    S[i * n + j, k * n + j] += M[k, i]
                    S[i * n + j, i * n + k] += M[k, j]
            x = mp.lu_solve(S, mp.matrix([-rest[i, j] for i, j in np.ndindex(n, n)]))
            new = mp.matrix(n, n)
            for i, j in np.ndindex(n, n):
                new[i, j] = x[i * n + j]
            done = mp.norm(new - X, 1) < mp.mpf(10) ** -30 * mp.norm(new, 1)
            X = new
            if done:
                return tuple(np.array(m.tolist(), dtype=float).reshape(m.rows, m.cols) for m in (X, K))
    raise AssertionError("Newton steps did not converge")


@pytest.mark.parametrize("plant", PLANTS)
@pytest.mark.parametrize("W", [1.0, 1e-14])
@pytest.mark.parametrize("V", [1e-20, 1e-16, 1e-15, 1e-10, 1e-5, 1.0, 1e5, 1e10, 1e20])
def test_filter_in_fifty_digits_for_noise_of_any_size(plant, W, V):
    A, noise = np.array(PLANTS[plant]), np.diag([0.0, W])
    stepped = scipy.linalg.expm(0.01 * A)
    for solve, F, Q in ((care, A, noise), (dare, stepped, 0.01 * noise)):
        found = solve(F.T, C.T, Q, np.array([[V]]))
        X, K = exact(F.T, C.T, Q, [[V]], found.X, solve is dare)
        size = np.sqrt(np.diag(X))
        # 1e-13: the rounding of the equation times its condition; SciPy's pencil with V as given has 2e-2 at 1e-15, 1 at 1e-16
        assert np.abs((found.X - X) / size / size[:, None]).max() < 1e-13
        assert np.abs((found.gain - K) / size).max() < 1e-13 * np.abs(K / size).max()
        assert found.residual < 1e-14


@pytest.mark.parametrize("eps", [1.0, 1e-3, 1e-6])
def test_printed_solution(eps):
    # Benner, Laub & Mehrmann 1995, example 7; X grows as 2 / eps^2
    root = np.sqrt(1 + eps**2)
    X = np.array([[(1 + root) / eps**2, 1 / (2 + root)], [0, 0.25 * (1 - eps**2 / (2 + root) ** 2)]])
    X[1, 0] = X[0, 1]
    found = care(np.diag([1.0, -2.0]), np.array([[eps], [0.0]]), np.ones((2, 2)), np.eye(1))
    np.testing.assert_allclose(found.X, X, rtol=1e-12)


def random(n, m, seed):
    rng = np.random.default_rng(seed)
    A, B, F = rng.normal(size=(n, n)), rng.normal(size=(n, m)), rng.normal(size=(n + m, n + m))
    M = F @ F.T
    return A, B, M[:n, :n], M[n:, n:], M[:n, n:]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("solve", [care, dare])
def test_units_of_states_and_inputs_do_not_matter(solve, seed):
    A, B, Q, R, S = random(6, 2, seed)
    A = A if solve is care else A / 2
    plain = solve(A, B, Q, R, S)
    peer = scipy.linalg.solve_continuous_are if solve is care else scipy.linalg.solve_discrete_are
    np.testing.assert_allclose(plain.X, peer(A, B, Q, R, s=S), rtol=1e-8, atol=1e-8)
    rng = np.random.default_rng(seed)
    d, e = 10.0 ** rng.uniform(-8, 8, 6), 10.0 ** rng.uniform(-8, 8, 2)
    other = solve(
        A * d / d[:, None], B * e / d[:, None], Q * d * d[:, None], R * e * e[:, None], S * e * d[:, None]
    )
    np.testing.assert_allclose(other.X / d / d[:, None], plain.X, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(other.gain / d * e[:, None], plain.gain, rtol=1e-9, atol=1e-10)
    assert max(plain.residual, other.residual) < 1e-13


def test_sampled_equation_with_a_singular_weight_and_a_singular_plant():
    A, B, Q, _, _ = random(5, 2, 3)
    A[:, 0] = 0.0
    for R in (np.zeros((2, 2)), np.diag([1.0, 0.0]), np.ones((2, 2))):
        found = dare(A, B, Q, R)
        np.testing.assert_allclose(found.X, scipy.linalg.solve_discrete_are(A, B, Q, R), rtol=1e-8)
        assert np.abs(found.poles).max() < 1.0
        assert found.residual < 1e-13


def test_indefinite_weight():
    # an Hinf equation: the disturbance has the weight -gamma^2
    rng = np.random.default_rng(5)
    A, B, Q = rng.normal(size=(4, 4)) - 3 * np.eye(4), rng.normal(size=(4, 3)), np.eye(4)
    R = np.diag([1.0, 1.0, -25.0])
    found = care(A, B, Q, R)
    np.testing.assert_allclose(found.X, scipy.linalg.solve_continuous_are(A, B, Q, R), rtol=1e-9, atol=1e-12)
    assert found.poles.real.max() < 0


def test_many_states_to_rounding():
    n = 60
    K = 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-1e4 * K, -0.01 * K]])
    B = np.zeros((2 * n, 1))
    B[n] = 1.0
    found = care(A, B, np.diag(np.r_[np.ones(n), np.zeros(n)]), np.array([[1e-6]]))
    assert found.residual < 1e-13
    assert found.poles.real.max() < 0
    assert np.linalg.eigvalsh(found.X)[0] > 0


def test_no_solution_says_why():
    with pytest.raises(InputError, match=r"eigenvalue 0\+1j on the imaginary axis|boundary of stability"):
        care(np.array([[0.0, 1.0], [-1.0, 0.0]]), np.array([[0.0], [1.0]]), np.zeros((2, 2)), np.eye(1))
    with pytest.raises(InputError, match="no stabilizing solution"):
        care(np.diag([1.0, -1.0]), np.array([[0.0], [1.0]]), np.eye(2), np.eye(1))
    with pytest.raises(InputError, match="no stabilizing solution"):
        dare(np.diag([-1.0, 0.5]), np.array([[0.0], [1.0]]), np.eye(2), np.eye(1))
    with pytest.raises(InputError, match="singular weight R"):
        care(np.eye(2), np.ones((2, 2)), np.eye(2), np.ones((2, 2)))


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_batched_solutions_are_the_single_ones(scale):
    """Rates of this scale, inputs of sizes that differ by 1e4."""
    rng = np.random.default_rng(2)
    A, L = rng.normal(size=(5, 5)), rng.normal(size=(5, 5))
    B = rng.normal(size=(6, 5, 2)) * 10.0 ** np.linspace(-2, 2, 6)[:, None, None]
    Q, R = L @ L.T + np.eye(5), np.diag([1.0, 3.0])
    found = care_batch(scale * A, B, scale**2 * Q, R)
    for X, each in zip(found, B):
        expected = care(scale * A, each, scale**2 * Q, R).X
        np.testing.assert_allclose(X, expected, rtol=1e-7, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("seed", [62, 71, 139, 164])
def test_slow_light_modes_in_short_periods(seed):
    """Modes of 0.1 to 1000 rad/s with dampings from 1e-5 on, sampled at a hundredth of the fastest period, states in units from 0.01 to 100.

    The plant is stable, so that there is a solution; poles lie within 1e-4 of the unit circle. The residual is that in 40 digits.
    """
    rng = np.random.default_rng(seed)
    k = 5
    w, z = 10 ** rng.uniform(-1, 3, k), 10 ** rng.uniform(-5, -1, k)
    F = np.block([[np.zeros((k, k)), np.eye(k)], [-np.diag(w**2), -2 * np.diag(z * w)]])
    units = 10.0 ** rng.uniform(-2, 2, 2 * k)
    F, G = F * units[:, None] / units, rng.normal(size=(2 * k, 2))
    T = 0.05 / w.max()
    whole = scipy.linalg.expm(T * np.block([[F, G], [np.zeros((2, 2 * k + 2))]]))
    A, B = whole[: 2 * k, : 2 * k], whole[: 2 * k, 2 * k :]
    Q, R = np.eye(2 * k) * 10 ** rng.uniform(-6, 6), np.eye(2) * 10 ** rng.uniform(-6, 6)
    found = dare(A, B, Q, R)
    assert np.abs(np.linalg.eigvals(found.closed)).max() < 1.0
    mp.mp.dps = 40
    a, b, x, q, r = (mp.matrix(each.tolist()) for each in (A, B, found.X, Q, R))
    gain = mp.inverse(r + b.T * x * b) * (b.T * x * a)
    terms = [a.T * x * a - x, q, a.T * x * b * gain]
    off = np.abs(np.array((terms[0] + terms[1] - terms[2]).tolist(), dtype=float)) * units[:, None] * units
    size = max(np.abs(np.array(t.tolist(), dtype=float) * units[:, None] * units).max() for t in terms)
    assert off.max() < 1e-8 * size
