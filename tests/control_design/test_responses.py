"""Frequency responses of many states: the values of a solution at each frequency, memory and poles."""

import tracemalloc

import mpmath as mp
import numpy as np
import pytest

from articulus.control import margins
from articulus.control.plant import of_matrices
from articulus.linear import LinearModels


def modes(n, seed=0):
    rng = np.random.default_rng(seed)
    w, b = np.sort(10 ** rng.uniform(0, 3, n)), rng.normal(size=n)
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-np.diag(w**2), -2e-3 * np.diag(w)]])
    return A, np.r_[np.zeros(n), b][:, None], 0.01 * np.r_[np.zeros(n), b][None], [[0.0]]


@pytest.mark.parametrize("period", [None, 0.01])
@pytest.mark.parametrize("n", [1, 2, 33, 70])
def test_response_is_the_solution_at_each_frequency(n, period):
    rng = np.random.default_rng(n)
    A, B, C, D = (rng.normal(size=s) for s in ((n, n), (n, 3), (2, n), (2, 3)))
    model = of_matrices(A, B, C, D, period)
    omega = np.geomspace(1e-2, 1e2, 37)
    places = 1j * omega if period is None else np.exp(1j * omega * period)
    expected = np.array([C @ np.linalg.solve(s * np.eye(n) - A, B.astype(complex)) + D for s in places])
    np.testing.assert_allclose(
        model.response(omega), expected, rtol=1e-9, atol=1e-11 * np.abs(expected).max()
    )
    # one by one is another branch of the triangular solution; the same up to rounding
    single = np.array([model.response(w)[0] for w in omega[:4]])
    np.testing.assert_allclose(single, expected[:4], rtol=1e-9, atol=1e-11 * np.abs(expected).max())


def test_slow_response_beside_fast_poles_keeps_its_digits():
    """A mode of 0.1 rad/s with a damping of 1e-3 behind an observer of 1e8 rad/s: the gain at its peak in 40 digits."""
    fast, w0, z = 1e8, 0.1, 1e-3
    A, B, C = np.array([[0, 1.0], [-(w0**2), -2 * z * w0]]), np.array([[0], [1.0]]), np.array([[1.0, 0]])
    L = np.array([[1.4 * fast], [fast**2]])
    M = np.block([[A, 0 * A], [L @ C, A - L @ C]])
    model = of_matrices(M, np.vstack([B, B]), [[0, 0, 1.0, 0]])
    with mp.workdps(40):
        R = mp.mpc(0, w0) * mp.eye(4) - mp.matrix(M.tolist())
        exact = complex(mp.lu_solve(R, mp.matrix([0, 1, 0, 1]))[2])
    assert model.response(w0)[0, 0, 0] == pytest.approx(exact, rel=1e-12)


def test_response_is_infinite_at_a_pole():
    oscillator = of_matrices([[0.0, 1.0], [-4.0, 0.0]], [[0], [1.0]], [[1.0, 0.0]])
    assert np.isinf(oscillator.response([1.0, 2.0, 3.0])[1]).all()
    assert np.isfinite(oscillator.response([1.0, 3.0])).all()
    assert np.isinf(of_matrices([[0.0]], [[1.0]], [[1.0]]).response(0.0)).all()


def test_models_of_many_points_respond_as_each_does():
    rng = np.random.default_rng(3)
    many = LinearModels.of(
        [of_matrices(rng.normal(size=(5, 5)), np.eye(5, 2), np.eye(3, 5)) for _ in range(4)]
    )
    omega = np.array([0.1, 1.0, 4.0])
    found = many.response(omega)
    assert found.shape == (4, 3, 3, 2)
    for k, model in enumerate(many):
        np.testing.assert_array_equal(found[k], model.response(omega))


def test_margins_of_many_states_need_little_memory():
    """120 states: an array of all frequencies by all matrices would take 1.5 GB."""
    tracemalloc.start()
    found = margins(modes(60))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3e8
    assert found.stable
    assert found.channels[0].gain_up == np.inf  # force and rate at one place: passive
    assert found.disk.size == pytest.approx(2.0, rel=1e-6)
