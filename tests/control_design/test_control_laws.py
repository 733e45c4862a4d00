"""Laws of linear control on random systems: each holds for every system of its kind."""

import numpy as np
import pytest
import scipy.linalg
import scipy.signal

from articulus import control
from articulus.control import as_plant, h2norm, hinfnorm, kalman, lqg, lqr, mussv
from articulus.control.connect import parallel, series
from articulus.control.synthesis.ncfsyn import ncfsyn

SEEDS = range(5)
OMEGA = np.geomspace(1e-2, 1e2, 60)


def random_system(seed, n=4, m=2, p=2, stable=True, feedthrough=False):
    """Return a random (A, B, C, D); the slowest pole of a stable one decays at 0.2 rad/s."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n))
    if stable:
        A -= (np.linalg.eigvals(A).real.max() + 0.2) * np.eye(n)
    D = rng.normal(size=(p, m)) if feedthrough else np.zeros((p, m))
    return A, rng.normal(size=(n, m)), rng.normal(size=(p, n)), D


def sizes(matrices):
    return np.linalg.svd(matrices, compute_uv=False)


@pytest.mark.parametrize("seed", SEEDS)
def test_return_difference_of_a_regulator_is_at_least_one(seed):
    """(I + L)* R (I + L) = R + G* Q G, L = K (s I - A)^-1 B (Kalman 1964): with R = I no singular value of I + L is below 1."""
    A, B, _, _ = random_system(seed, stable=False)
    K = lqr((A, B), np.eye(4), np.eye(2)).gain
    G = np.linalg.solve(1j * OMEGA[:, None, None] * np.eye(4) - A, B + 0j)
    F = np.eye(2) + K @ G
    left = np.conj(F.swapaxes(1, 2)) @ F
    np.testing.assert_allclose(left, np.eye(2) + np.conj(G.swapaxes(1, 2)) @ G, rtol=1e-8, atol=1e-8)
    assert sizes(F)[:, -1].min() >= 1 - 1e-9


@pytest.mark.parametrize("period", [None, 0.1])
@pytest.mark.parametrize("seed", SEEDS)
def test_filter_is_the_regulator_of_the_transposed_system(seed, period):
    """Duality: the gain of a Kalman filter of (A, C) is the transposed gain of the regulator of (A', C')."""
    A, B, C, _ = random_system(seed, stable=False)
    A = A if period is None else scipy.linalg.expm(A * period)
    rng = np.random.default_rng(100 + seed)
    W, V = (X @ X.T + np.eye(len(X)) for X in (rng.normal(size=(4, 4)), rng.normal(size=(2, 2))))
    tail = (np.zeros((2, 2)),) if period is None else (np.zeros((2, 2)), period)
    found = kalman((A, B, C, *tail), W, V)
    dual = lqr((A.T, C.T, np.eye(4), np.zeros((4, 2)), *tail[1:]), W, V)
    np.testing.assert_allclose(found.gain, dual.gain.T, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_separation_of_regulator_and_filter(seed):
    """The poles of an LQG loop are those of the regulator and those of the filter."""
    plant = random_system(seed, stable=False)
    design = lqg(plant, 1.0, 1.0, 1.0, 1.0)
    both = np.concatenate([design.regulator_poles, design.filter_poles])
    for pole in both:
        assert np.abs(design.closed.poles - pole).min() < 1e-6 * max(1.0, abs(pole))
    assert len(design.closed.poles) == len(both)


@pytest.mark.parametrize("period", [None, 0.2])
@pytest.mark.parametrize("seed", SEEDS)
def test_h2_norm_is_that_of_both_gramians_and_of_the_impulse_response(seed, period):
    """trace(C P C') = trace(B' Q B) = integral (sum) of the squares of the impulse response."""
    A, B, C, D = random_system(seed)
    if period is not None:
        A = scipy.linalg.expm(A * period)
    norm = h2norm((A, B, C, D, period))
    if period is None:
        P = scipy.linalg.solve_continuous_lyapunov(A, -B @ B.T)
        Q = scipy.linalg.solve_continuous_lyapunov(A.T, -C.T @ C)
        # exp of the block matrix integrates the square of the response (Van Loan 1978); slowest pole 0.2 rad/s
        H = np.block([[-A, B @ B.T], [np.zeros((4, 4)), A.T]])
        half = scipy.linalg.expm(H * 2.0)
        step, square = half[4:, 4:].T, half[4:, 4:].T @ half[:4, 4:]
        total, state = square.copy(), step
        for _ in range(60):
            total, state = total + state @ square @ state.T, step @ state
        summed = np.trace(C @ total @ C.T)
    else:
        P = scipy.linalg.solve_discrete_lyapunov(A, B @ B.T)
        Q = scipy.linalg.solve_discrete_lyapunov(A.T, C.T @ C)
        summed, state = 0.0, B
        for _ in range(1500):
            summed, state = summed + np.sum((C @ state) ** 2), A @ state
    for square in (np.trace(C @ P @ C.T), np.trace(B.T @ Q @ B), summed):
        assert norm**2 == pytest.approx(square, rel=1e-8)


@pytest.mark.parametrize("seed", SEEDS)
def test_h2_norm_is_the_deviation_of_the_output_under_white_noise(seed):
    """A sampled system, white noise of unit variance: 40,000 steps; the mean square within 5 %, more than four deviations of the mean."""
    A, B, C, D = random_system(seed, n=3)
    A = scipy.linalg.expm(1.5 * A)  # forgets within a few steps
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(40000, 2)) @ B.T
    values, vectors = np.linalg.eig(A)
    modes = noise @ np.linalg.inv(vectors).T
    x = np.stack([scipy.signal.lfilter([0.0, 1.0], [1.0, -s], z) for s, z in zip(values, modes.T)], axis=1)
    y = np.real(x @ vectors.T) @ C.T
    assert np.mean(np.sum(y**2, axis=1)) == pytest.approx(h2norm((A, B, C, D, 1.0)) ** 2, rel=0.05)


@pytest.mark.parametrize("seed", SEEDS)
def test_hinf_norm_is_reached_and_not_exceeded(seed):
    """No sampled gain is above the norm, and the frequency that comes with it has that gain."""
    model = as_plant(random_system(seed, feedthrough=True))
    norm = hinfnorm(model)
    assert sizes(model.response(np.geomspace(1e-3, 1e3, 2000)))[:, 0].max() <= norm * (1 + 1e-7)
    at = sizes(model.D if np.isinf(norm.omega) else model.response(norm.omega)[0])[0]
    assert at == pytest.approx(norm, rel=1e-7)


@pytest.mark.parametrize("seed", SEEDS)
def test_norms_of_connections(seed):
    """Submultiplicativity in series, the triangle inequality in parallel, and the H2 norm of a product."""
    first, second = (as_plant(random_system(s, feedthrough=True)) for s in (seed, seed + 50))
    assert hinfnorm(series(first, second)) <= hinfnorm(first) * hinfnorm(second) * (1 + 1e-7)
    assert hinfnorm(parallel(first, second)) <= (hinfnorm(first) + hinfnorm(second)) * (1 + 1e-7)
    proper = as_plant(random_system(seed))
    assert h2norm(series(proper, second)) <= h2norm(proper) * hinfnorm(second) * (1 + 1e-7)


@pytest.mark.parametrize("seed", SEEDS)
def test_small_gain(seed):
    """Stable systems whose norms have a product below 1 make a stable loop, with either sign."""
    first, second = (as_plant(random_system(s)) for s in (seed, seed + 70))
    second = second * (0.99 / (hinfnorm(first) * hinfnorm(second)))
    for sign in (1.0, -1.0):
        loop = np.block(
            [[first.A, sign * first.B @ second.C], [second.B @ first.C, second.A]]
        )  # both without feedthrough
        assert np.linalg.eigvals(loop).real.max() < 0


@pytest.mark.parametrize("period", [None, 0.3])
@pytest.mark.parametrize("seed", SEEDS)
def test_balanced_truncation_keeps_its_bound(seed, period):
    """sigma_{k+1} <= error <= 2 (sigma_{k+1} + ... + sigma_n) (Glover 1984)."""
    A, B, C, D = random_system(seed, n=6)
    A = A if period is None else scipy.linalg.expm(A * period)
    plant = as_plant((A, B, C, D, period))
    values = control.hankel_values(plant)
    for order in (2, 4):
        reduced = control.balred(plant, order).model
        error = hinfnorm(parallel(plant, reduced, -1.0))
        assert values[order] * (1 - 1e-7) <= error <= 2 * values[order:].sum() * (1 + 1e-7)


@pytest.mark.parametrize("seed", SEEDS)
def test_coprime_margin_of_the_shaped_plant(seed):
    """The largest margin is sqrt(1 - |[N M]|_H^2), from the Riccati solutions, 1 / sqrt(1 + rho(X Z)) (Glover & McFarlane 1989)."""
    A, B, C, D = random_system(seed, stable=False)
    X = scipy.linalg.solve_continuous_are(A, B, C.T @ C, np.eye(2))
    Z = scipy.linalg.solve_continuous_are(A.T, C.T, B @ B.T, np.eye(2))
    exact = 1 / np.sqrt(1 + np.abs(np.linalg.eigvals(X @ Z)).max())
    found = ncfsyn((A, B, C, D))
    assert found.margin_optimal == pytest.approx(exact, rel=1e-6)
    assert found.margin <= exact * (1 + 1e-6)
    # all-pass: the normalized factors N, M of this plant satisfy M M* + N N* = I at all frequencies
    L = -Z @ C.T
    factors = as_plant((A + L @ C, np.hstack([B, L]), C, np.hstack([D, np.eye(2)]))).response(OMEGA)
    np.testing.assert_allclose(
        factors @ np.conj(factors.swapaxes(1, 2)), np.broadcast_to(np.eye(2), (60, 2, 2)), atol=1e-9
    )


@pytest.mark.parametrize("method", ["hold", "ramp", "trapezoidal"])
@pytest.mark.parametrize("seed", SEEDS)
def test_continuous_again_is_the_same(seed, method):
    """unsample(sample(model)) has the response of the model, at a period below that of its fastest oscillation."""
    model = as_plant(random_system(seed, feedthrough=True))
    again = control.unsample(control.sample(model, 0.05, method), method)
    assert again.period is None
    np.testing.assert_allclose(again.response(OMEGA), model.response(OMEGA), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("seed", SEEDS)
def test_algebra_of_models_is_that_of_responses(seed):
    """Sums, products, feedback and scaling of models have the sums, products, ... of their responses."""
    first, second = (as_plant(random_system(s, feedthrough=True)) for s in (seed, seed + 90))
    G, H = first.response(OMEGA), second.response(OMEGA)
    eye = np.eye(2)
    for model, exact in (
        (first + second, G + H),
        (first - second, G - H),
        (second * first, H @ G),
        (3.0 * first, 3.0 * G),
        (first.feedback(second), np.linalg.solve(eye + G @ H, G)),
    ):
        np.testing.assert_allclose(model.response(OMEGA), exact, rtol=1e-8, atol=1e-8)
        assert model.inputs == first.inputs
        assert len(model.states) == len(model.A)


@pytest.mark.parametrize("seed", SEEDS)
def test_order_of_the_bounds_of_mu(seed):
    """rho <= mu of more and more structure <= largest singular value; it scales with M and grows when real numbers become complex."""
    rng = np.random.default_rng(seed)
    M = rng.normal(size=(4, 4)) + 1j * rng.normal(size=(4, 4))
    rho, sigma = np.abs(np.linalg.eigvals(M)).max(), sizes(M)[0]
    one, scalars, full = (mussv(M, b) for b in ([(4, 0)], [(1, 1)] * 4, [(4, 4)]))
    real = mussv(M, [(-1, 0)] * 4)
    assert rho * (1 - 1e-6) <= one.upper <= scalars.upper * (1 + 1e-3)
    assert scalars.upper <= full.upper * (1 + 1e-6)
    assert full.upper == pytest.approx(sigma, rel=1e-6)
    assert real.lower <= scalars.upper * (1 + 1e-6)
    assert real.upper <= scalars.upper * (1 + 1e-6)
    assert mussv(2.5 * M, [(1, 1)] * 4).upper == pytest.approx(2.5 * scalars.upper, rel=1e-5)


@pytest.mark.parametrize("seed", SEEDS)
def test_least_cost_is_attained_and_not_beaten(seed):
    """x' X x is the cost of the regulator from every state (Lyapunov equation), and no other stabilizing gain has less."""
    A, B, _, _ = random_system(seed, stable=False)
    design = lqr((A, B), np.eye(4), np.eye(2))
    rng = np.random.default_rng(seed)
    for change in (0.0, 0.05, 0.2):
        K = design.gain + change * rng.normal(size=design.gain.shape)
        closed = A - B @ K
        if np.linalg.eigvals(closed).real.max() >= 0:
            continue
        cost = scipy.linalg.solve_continuous_lyapunov(closed.T, -(np.eye(4) + K.T @ K))
        if change == 0.0:
            np.testing.assert_allclose(cost, design.cost, rtol=1e-7, atol=1e-8)
        assert np.linalg.eigvalsh(cost - design.cost).min() >= -1e-8 * np.linalg.norm(cost)


@pytest.mark.parametrize("seed", SEEDS)
def test_names_stay(seed):
    """Signals of a design are those of its plant, in its order."""
    A, B, C, D = random_system(seed)
    plant = control.plant.of_matrices(A, B, C, D, inputs=("fan", "pump"), outputs=("level", "heat"))
    design = lqg(plant, 1.0, 1.0, 1.0, 1.0)
    assert design.controller.inputs == ("level", "heat")
    assert design.controller.outputs == ("fan", "pump")
    assert design.closed.inputs == plant.inputs
    assert design.closed.outputs == plant.outputs
    assert control.balred(plant, 2).model.outputs == plant.outputs
    assert control.sample(plant, 0.1).inputs == plant.inputs
