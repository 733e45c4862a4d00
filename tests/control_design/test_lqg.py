"""Kalman filters and LQG: python-control's gains, separation, cost, recovery, sampling of continuous cost and noise."""

import control
import numpy as np
import pytest
import scipy.integrate

from articulus.control import h2syn, kalman, lqg, lqgd, lqr, lqrd, sample
from articulus.control.connect import close
from articulus.control.plant import of_matrices
from articulus.control.synthesis import ltru, ltry, weighted_lqg
from articulus.errors import DoubtfulResult, InputError

RNG = np.random.default_rng(2)
A, B, C, D = (
    RNG.normal(size=(4, 4)),
    RNG.normal(size=(4, 2)),
    RNG.normal(size=(2, 4)),
    0.3 * RNG.normal(size=(2, 2)),
)
MINIMUM_PHASE = ([[0, 1], [-2, -0.5]], [[0], [1]], [[1, 0.5]], [[0]])


def test_filter_is_that_of_python_control():
    G, W, V = RNG.normal(size=(4, 3)), np.diag([1.0, 2, 3]), np.diag([0.5, 0.1])
    ours = kalman((A, np.hstack([B, G]), C, np.zeros((2, 5))), W, V, noise=["u.2", "u.3", "u.4"])
    spread = 0.5 * (G @ W @ G.T + (G @ W @ G.T).T)  # python-control refuses what rounding makes unsymmetric
    L, P, _ = control.lqe(A, np.eye(4), C, spread, V)
    np.testing.assert_allclose(ours.gain, L, rtol=1e-8)
    np.testing.assert_allclose(ours.covariance, P, rtol=1e-8)
    assert ours.model.inputs == ("u.0", "u.1", "y.0", "y.1")
    sampled = kalman((A / 2, np.hstack([B, G]), C, np.zeros((2, 5)), 0.1), W, V, noise=3)
    _, P, _ = control.dlqe(A / 2, np.eye(4), C, spread, V)
    np.testing.assert_allclose(sampled.covariance, P, rtol=1e-8)
    np.testing.assert_allclose(A / 2 @ sampled.innovation, sampled.gain, rtol=1e-8)


def test_undetectable_mode_is_named():
    with pytest.raises(InputError, match=r"kalman: .*mode at 0\.5.*x\.1.*no output"):
        kalman((np.diag([-1.0, 0.5]), np.eye(2), [[1.0, 0]], [[0.0, 0]]), 1.0, 1.0)
    with pytest.raises(InputError, match="V with the eigenvalue 0"):
        kalman((A, B, C, D), 1.0, 0.0)


@pytest.mark.parametrize(("period", "current"), [(None, False), (0.1, False), (0.1, True)])
def test_poles_of_lqg_are_those_of_regulator_and_filter(period, current):
    design = lqg((A if period is None else A / 2, B, C, D, period), 1.0, 2.0, 1.0, 0.5, current=current)
    both = np.r_[design.regulator_poles, design.filter_poles]
    distance = np.abs(both[:, None] - design.poles)
    assert max(distance.min(axis=1).max(), distance.min(axis=0).max()) < 1e-7
    np.testing.assert_allclose(
        design.gain, lqr((design.plant.A, B, None, None, period), 1.0, 2.0).gain, rtol=1e-10
    )


@pytest.mark.parametrize("period", [None, 0.1])
def test_lqg_is_the_h2_optimum(period):
    """The same problem as a plant with weights: noise on states and measurements, states and commands as errors."""
    a, n, m, p = A if period is None else A / 2, 4, 2, 2
    design = lqg((a, B, C, D, period), 1.0, 4.0, 1.0, 0.25, current=period is not None)
    whole = (
        a,
        np.hstack([np.eye(n), np.zeros((n, p)), B]),
        np.vstack([np.eye(n), np.zeros((m, n)), C]),
        np.block(
            [
                [np.zeros((n, n + p + m))],
                [np.zeros((m, n + p)), 2 * np.eye(m)],
                [np.zeros((p, n)), 0.5 * np.eye(p), D],
            ]
        ),
        period,
    )
    other = h2syn(whole, measured=p, commands=m)
    assert other.norm**2 == pytest.approx(design.cost, rel=1e-8)
    np.testing.assert_allclose(
        other.controller.response([0.3, 3.0]), design.controller.response([0.3, 3.0]), rtol=1e-7
    )


@pytest.mark.parametrize("method", [ltru, ltry])
def test_loop_is_recovered(method):
    """The mismatch falls as the square root of the recovery gain (Doyle & Stein 1981)."""
    off = [method(MINIMUM_PHASE, 1.0, 1.0, 1.0, 1.0, q).mismatch for q in (0.0, 1e6, 1e8)]
    assert off[0] > 0.1
    assert off[2] < 1e-3
    assert off[1] / off[2] == pytest.approx(10, rel=0.05)


def test_sampled_loop_is_recovered():
    plant = sample(MINIMUM_PHASE, 0.05)
    assert (
        ltru(plant, 1.0, 1.0, 1.0, 1.0, 1e8).mismatch < 1e-3 < ltru(plant, 1.0, 1.0, 1.0, 1.0, 0.0).mismatch
    )


def test_zero_in_the_right_half_plane_is_named():
    with pytest.warns(DoubtfulResult, match=r"ltru: the plant has zeros .*\(2\+0j\)"):
        design = ltru(([[0, 1], [-2, -0.5]], [[0], [1]], [[1, -0.5]], [[0]]), 1.0, 1.0, 1.0, 1.0, 1e8)
    assert design.mismatch > 0.1
    with pytest.raises(InputError, match="more commands than measured"):
        ltru((A, B, C[:1], D[:1]), 1.0, 1.0, 1.0, 1.0, 1.0)


@pytest.mark.parametrize("delay", [0.0, 0.03, 0.1, 0.23])
def test_sampled_regulator_has_the_least_continuous_cost(delay):
    """x'Xx is the integral of the continuous cost of the run, with held and late commands, integrated by itself."""
    T, Q, R = 0.1, np.diag([1.0, 2.0]), np.array([[0.3]])
    a, b = np.array([[0.0, 1.0], [2.0, -0.1]]), np.array([[0.0], [1.0]])
    design = lqrd((a, b), Q, R, T, delay=delay)
    steps = len(design.plant.A) - 2
    x0 = np.r_[1.0, -0.5, np.linspace(0.2, 0.4, steps)]
    x, held, total = x0[:2], list(x0[2:]), 0.0
    whole = int(np.floor(delay / T + 1e-9))
    late = delay - whole * T

    def rate(_, s, u):
        return np.r_[a @ s[:2] + b[:, 0] * u, s[:2] @ Q @ s[:2] + R[0, 0] * u * u]

    for _ in range(150):
        u = -(design.gain @ np.r_[x, held])[0]
        queue = [u, *held]
        pieces = [(late, queue[whole + 1])] if late > 1e-12 else []
        for span, value in [*pieces, (T - late, queue[whole])]:
            end = scipy.integrate.solve_ivp(
                rate, (0, span), np.r_[x, 0.0], args=(value,), rtol=1e-9, atol=1e-12
            ).y[:, -1]
            x, total = end[:2], total + end[2]
        held = queue[:steps]
    assert total == pytest.approx(x0 @ design.cost @ x0, rel=1e-6)


def test_sampled_lqg_tends_to_the_continuous_one():
    plant = (A, B, C, np.zeros((2, 2)))
    least = lqg(plant, 1.0, 1.0, 1.0, 0.5).cost
    coarse, fine = (lqgd(plant, 1.0, 1.0, 1.0, 0.5, period).cost - least for period in (2e-3, 1e-3))
    assert coarse / fine == pytest.approx(2.0, rel=0.02)  # a measurement is late by a period: first order
    costs = [lqgd(plant, 1.0, 1.0, 1.0, 0.5, 0.1, delay=late).cost for late in (0.0, 0.05, 0.1)]
    assert costs[0] < costs[1] < costs[2]
    assert lqgd(plant, 1.0, 1.0, 1.0, 0.5, 0.1, current=True).cost < costs[0]
    with pytest.raises(InputError, match=r"sampled every 0\.1 s; expected a continuous"):
        lqgd((A, B, C, D, 0.1), 1.0, 1.0, 1.0, 1.0, 0.1)


def test_noise_between_samples_is_counted():
    """x' = -x + w with a command that costs too much to be used: the mean of x^2 is 1/2 whatever the period."""
    design = lqgd(([[-1.0]], [[1.0]], [[1.0]], [[0.0]]), 1.0, 1e9, 1.0, 1.0, 0.7)
    assert design.cost == pytest.approx(0.5, rel=1e-6)


def test_frequency_weights():
    """Constant weights give plain LQG; a weight that is large at low frequency lowers the response there and only there."""
    plant = (A, B, C, np.zeros((2, 2)))
    plain = weighted_lqg(plant, measured=2, commands=2, errors=1.0, effort=[1.0, 1.0], noise=0.5)
    other = lqg(
        (A, np.hstack([B, B]), C, np.zeros((2, 4))),
        C.T @ C,
        1.0,
        1.0,
        0.25,
        noise=2,
        commands=["u.0", "u.1"],
    )
    assert plain.norm**2 == pytest.approx(other.cost, rel=1e-8)
    shaped = weighted_lqg(plant, measured=2, commands=2, errors=([1.0, 1.0], [1.0, 1e-3]), noise=0.5)
    assert len(shaped.controller.A) == 6
    loops = [close(of_matrices(*plant), design.controller, [0, 1], [0, 1]) for design in (plain, shaped)]
    low, high = ([np.linalg.norm(loop.response(w)[0], 2) for loop in loops] for w in (1e-4, 30.0))
    assert low[1] < 0.25 * low[0]
    assert high[1] == pytest.approx(high[0], rel=0.1)


def test_pole_of_a_forgotten_command_is_minus_infinity():
    """A delay of a period is a pole at z = 0; pytest turns the warning of 0 * inf into an error."""
    assert np.isneginf(sample(MINIMUM_PHASE, 0.1, delay=0.1).poles.real).sum() == 1


def test_mode_that_neither_noise_nor_weight_sees_is_named():
    rigid = ([[0, 1], [0, 0]], [[0], [1]], [[1, 0]], [[0]])
    with pytest.raises(InputError, match=r"mode at 0 .*boundary of stability, and no noise W moves it"):
        lqg(rigid, 1.0, 1.0, 0.0, 1.0)
    with pytest.raises(InputError, match=r"mode at 0 .*boundary of stability, and no weight Q sees it"):
        lqg(rigid, 0.0, 1.0, 1.0, 1.0)
    assert lqg(rigid, [1.0, 0.0], 1.0, [0.0, 1.0], 1.0).cost == pytest.approx(6 * np.sqrt(2), rel=1e-9)


def test_mode_that_the_weight_of_a_regulator_does_not_see_is_named():
    with pytest.raises(
        InputError, match=r"lqr: .*mode at 0 .*boundary of stability, and no weight Q sees it"
    ):
        lqr(([[0, 1], [0, 0]], [[0], [1]]), [0.0, 1.0], 1.0)


@pytest.mark.parametrize("V", [1e-18, 1e-16, 1e-15, 1e-12, 1.0, 1e12])
def test_filter_of_a_quiet_sensor(V):
    # x1' = x2, x2' = w, y = x1 + v: L = [sqrt(2) r, r^2] with r^4 = W / V
    found = kalman(([[0, 1], [0, 0]], [[0], [1]], [[1, 0]]), [0.0, 1.0], V)
    r = V**-0.25
    np.testing.assert_allclose(found.gain.ravel(), [np.sqrt(2) * r, r**2], rtol=1e-12)
    assert found.checks[1].found <= 1e-12
    assert "residual" in found.checks[1].what


def test_sensors_in_any_units():
    """A sensor of 1e-9 beside one of 1e9: the filter is that of like units."""
    plain = kalman((A, B, C, np.zeros((2, 2))), 1.0, [1.0, 2.0])
    d = np.array([1e-9, 1e9])
    other = kalman((A, B, d[:, None] * C, np.zeros((2, 2))), 1.0, [1.0, 2.0] * d**2)
    np.testing.assert_allclose(other.gain * d, plain.gain, rtol=1e-10)


@pytest.mark.parametrize(("seed", "cross"), [(0, False), (0, True), (1, True), (2, True)])
def test_newest_measurement_with_correlated_noise_is_the_h2_optimum(seed, cross):
    """NoiseCovariance that moves the states and is measured: the newest measurement also tells how the states will move."""
    rng = np.random.default_rng(seed)
    F, G, H = 0.5 * rng.normal(size=(3, 3)), rng.normal(size=(3, 2)), rng.normal(size=(1, 2))
    Bu, Cy, N = rng.normal(size=(3, 1)), rng.normal(size=(1, 3)), 0.1 * rng.normal(size=(3, 1))
    plant = (F, np.hstack([G, Bu]), Cy, np.hstack([H, [[0.4]]]), 0.1)
    N = N if cross else 0.0 * N
    found = lqg(plant, 1.0, 0.5, 0.3, 0.2, *([N] if cross else []), noise=["u.0", "u.1"], current=True)
    root = np.linalg.cholesky(np.block([[np.eye(3), N], [N.T, 0.5 * np.eye(1)]])).T
    w, v = np.sqrt(0.3), np.sqrt(0.2)
    whole = (
        F,
        np.hstack([w * G, np.zeros((3, 1)), Bu]),
        np.vstack([root[:, :3], Cy]),
        np.block([[np.zeros((4, 3)), root[:, 3:]], [w * H, np.array([[v, 0.4]])]]),
        0.1,
    )
    np.testing.assert_allclose(found.cost, h2syn(whole, measured=1, commands=1).norm ** 2, rtol=1e-9)
    assert all(np.isfinite(check.bound) for check in found.checks)


def test_product_of_states_and_commands_in_the_cost():
    N = 0.2 * np.ones((4, 2))
    found = lqg((A, B, C, D), 1.0, 1.0, 1.0, 0.1, N)
    np.testing.assert_allclose(found.gain, lqr((A, B), 1.0, 1.0, N).gain, rtol=1e-12)
    with pytest.raises(InputError, match=r"lqg: found \[Q, N; N', R\] with the eigenvalue -"):
        lqg((A, B, C, D), 1.0, 1.0, 1.0, 0.1, 3 * np.ones((4, 2)))
    with pytest.raises(InputError, match=r"lqr: found N of shape \(3, 3\); expected \(4, 2\)"):
        lqr((A, B), 1.0, 1.0, np.ones((3, 3)))
