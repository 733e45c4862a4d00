"""Partitioned interaction: loads, noise, disturbances and refusals; numbers are in the case park_interaction."""

import numpy as np
import pytest
import scipy.linalg

from articulus.control.interaction import (
    Partitioned,
    direct_step_limit,
    feedback_step_limit,
    observer_step_limit,
)
from articulus.errors import DoubtfulResult, InputError
from articulus.linear import SecondOrder
from articulus.model.library import structure

S = SecondOrder.of(structure("three_masses"))
F = np.array([[1.0, 2.0, 3.0]]), np.array([[0.5, 1.0, 2.0]])
L = 0.3 * np.ones((3, 2)), np.arange(6.0).reshape(3, 2)


@pytest.mark.parametrize("filtered", [False, True])
def test_load_and_disturbance_against_the_exact_response(filtered):
    """Constant load (known to the filter) and disturbance (not known): the exact response by the matrix exponential, second order."""
    f, w = np.array([0.0, 1.0, 0.0]), np.array([0.3, 0.0, 0.0])
    m = S.first_order()
    gain = np.hstack(F)
    push, unknown = (np.concatenate([np.zeros(3), np.linalg.solve(S.M.toarray(), x)]) for x in (f, w))
    if filtered:
        K = np.vstack(L)
        A = np.block([[m.A, -m.B @ gain], [K @ m.C, m.A - m.B @ gain - K @ m.C]])
        c = np.concatenate([push + unknown, push])
    else:
        A, c = m.A - m.B @ gain, push + unknown
    whole = np.zeros((len(A) + 1,) * 2)
    whole[:-1, :-1], whole[:-1, -1] = A, c
    exact = scipy.linalg.expm(2.0 * whole)[:3, -1]
    gaps = []
    for h in (0.01, 0.005):
        run = Partitioned(S, h, *F, *(L if filtered else ())).run(
            2.0, load=lambda t: f, disturbance=lambda t: w
        )
        gaps.append(np.abs(run.q - exact).max())
    assert gaps[1] < 1e-4
    assert np.log2(gaps[0] / gaps[1]) > 1.8


def test_noise_of_the_sensors_moves_the_estimate_only_through_the_gain():
    noise = np.full((100, 2), 0.1)
    quiet, noisy = (Partitioned(S, 0.01, *F, *L).run(1.0, noise=n) for n in (None, noise))
    assert not quiet.z.any()
    assert np.abs(noisy.u).max() > 1e-3
    still = Partitioned(S, 0.01, *F, 0 * L[0], 0 * L[1]).run(1.0, noise=noise)
    assert not still.u.any()


def test_second_order_response_is_that_of_the_first_order_form():
    omega = np.array([0.5, 2.0, 9.0])
    np.testing.assert_allclose(S.response(omega), S.first_order().response(omega), rtol=1e-10)


def test_a_step_beyond_the_limit_is_said():
    free = SecondOrder([[1.0]], [[0.0]], [[4.0]], [[1.0]], [[1.0]])
    with pytest.warns(DoubtfulResult, match="limit 1.414"):
        Partitioned(free, 1.5, [[2.0]], [[0.0]]).run(75.0, [1.0])


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"F1": np.ones((2, 3)), "F2": F[1]}, r"F1: found shape \(2, 3\)"),
        ({"F1": F[0], "F2": F[1], "L1": L[0]}, "L1 without L2"),
        ({"F1": F[0], "F2": F[1], "predictor": "cubic"}, "cubic"),
    ],
)
def test_bad_input_is_named(fields, message):
    with pytest.raises(InputError, match=message):
        Partitioned(S, 0.01, **fields)
    with pytest.raises(InputError, match="whole number of steps"):
        Partitioned(S, 0.01, *F).run(0.0151)


def test_limits_of_the_step_are_those_of_the_scheme():
    """Velocity feedback by equation 9.57, at random numbers: stable below, growing above; infinite where no step grows."""
    rng = np.random.default_rng(4)
    finite = 0
    for w, wc, eta, zeta in 10.0 ** rng.uniform([-0.5, -0.5, -0.5, -2.0], [0.5, 0.5, 0.5, 0.0], size=(30, 4)):
        s = SecondOrder([[1.0]], [[0.0]], [[w * w]], [[1.0]])
        limit = feedback_step_limit(eta, wc, zeta, w)
        finite += np.isfinite(limit)
        for h in (0.999 * limit, 1.001 * limit) if np.isfinite(limit) else (0.1, 1.0, 10.0):
            radius = Partitioned(s, h, [[eta * wc**2]], [[zeta * wc]]).spectral_radius()
            assert (radius > 1 + 1e-9) == (h > limit)
    assert 5 < finite < 30
    assert feedback_step_limit(0.0, 2.0, 0.3, 1.0) == np.inf
    assert direct_step_limit(0.5, 2.0, 0.0) == 0.0
    assert observer_step_limit(0.5, 2.0, 0.0) == feedback_step_limit(0.5, 2.0)


@pytest.mark.parametrize("wrong", [{"eta": -1.0}, {"w_c": np.nan}, {"zeta": np.inf}, {"eta": [1.0, 2.0]}])
def test_numbers_of_limits_that_are_wrong_are_told(wrong):
    with pytest.raises(InputError, match=f"step limit, {next(iter(wrong))}: found"):
        feedback_step_limit(**({"eta": 0.5, "w_c": 2.0} | wrong))
