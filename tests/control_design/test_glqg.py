"""Generalized LQG: central controllers, LQG and optimal projection as its limits, actuators of a sector, sampled plants."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

from articulus.control import h2norm, h2syn, sample
from articulus.control.plant import PlantPartition, of_matrices
from articulus.control.synthesis import glqg, optimal_projection
from articulus.control.synthesis.closed_loop import ClosedLoop
from articulus.control.synthesis.glqg import _Problem, _start, _strictly_proper, _with_sector
from articulus.errors import InputError, NumericalError
from articulus.linear import LinearModel

A = np.array([[0, 1.0, 0, 0], [-1, -0.01, 1, 0.01], [0, 0, 0, 1], [1, 0.01, -2, -0.02]])


def carts(period: float | None = None) -> LinearModel:
    """Return two masses on springs: force on the first, position of the second measured; noise on both."""
    D = np.zeros((6, 6))
    D[4, 5] = D[5, 4] = 1.0
    B = np.hstack([np.eye(4), np.zeros((4, 1)), np.eye(4)[:, [1]]])
    C = np.vstack([np.eye(4), np.zeros((1, 4)), np.eye(4)[[2]]])
    if period is None:
        return of_matrices(A, B, C, D)
    held = sample(of_matrices(A, B, C, D), period)
    return of_matrices(held.A, held.B, held.C, D, period)


def two_channels(seed: int) -> LinearModel:
    """Return a random plant of three states with two commands and two sensors."""
    rng = np.random.default_rng(seed)
    D = np.zeros((7, 7))
    D[3:5, 5:], D[5:, 3:5] = np.eye(2), 0.3 * np.eye(2)
    B, C = rng.normal(size=(3, 7)), rng.normal(size=(7, 3))
    B[:, 3:5], C[3:5] = 0.0, 0.0
    return of_matrices(rng.normal(size=(3, 3)) - np.eye(3), B, C, D)


def test_full_order_with_one_set_of_errors_is_the_central_controller() -> None:
    """Bernstein & Haddad 1989, remark of section IV: that of Doyle, Glover, Khargonekar & Francis 1989, by two Riccati equations here."""
    plant, gamma = carts(), 8.0
    p = PlantPartition.of(plant, 1, 1, "test")
    signs = np.diag([-(gamma**2)] * 5 + [1.0])
    X = scipy.linalg.solve_continuous_are(p.A, np.hstack([p.B1, p.B2]), p.C1.T @ p.C1, signs)
    Y = scipy.linalg.solve_continuous_are(p.A.T, np.hstack([p.C1.T, p.C2.T]), p.B1 @ p.B1.T, signs)
    F, L = -p.B2.T @ X, -Y @ p.C2.T
    Z = np.linalg.inv(np.eye(4) - Y @ X / gamma**2)
    central = of_matrices(
        p.A + p.B1 @ p.B1.T @ X / gamma**2 + p.B2 @ F + Z @ L @ p.C2, -Z @ L, F, np.zeros((1, 1))
    )
    design = glqg(plant, commands=1, measured=1, gamma=gamma)
    w = np.geomspace(1e-2, 1e2, 40)
    wanted, found = (m.response(w)[:, 0, 0] for m in (central, design.controller))
    np.testing.assert_allclose(found, wanted, atol=1e-5 * np.abs(wanted).max())  # where the descent ends
    assert design.hinf <= gamma
    assert design.h2 <= design.bound


def test_without_bounds_it_is_lqg_and_optimal_projection() -> None:
    full, lower = (
        glqg(carts(), commands=1, measured=1),
        glqg(carts(), 2, commands=1, measured=1, gamma=1e6),
    )
    assert full.bound == pytest.approx(h2syn(carts(), commands=1, measured=1).norm, rel=1e-9)
    assert full.h2 == pytest.approx(full.bound, rel=1e-9)
    assert lower.h2 == pytest.approx(optimal_projection(carts(), 2, commands=1, measured=1).h2, rel=1e-6)


def test_sampled_without_bounds_is_the_regulator_on_predictions() -> None:
    """J = tr(B1'X B1) + tr((R + B'X B) K Y K') of two discrete Riccati equations."""
    plant = carts(0.3)
    p = PlantPartition.of(plant, 1, 1, "test")
    R, V = p.D12.T @ p.D12, p.D21 @ p.D21.T
    X = scipy.linalg.solve_discrete_are(p.A, p.B2, p.C1.T @ p.C1, R)
    Y = scipy.linalg.solve_discrete_are(p.A.T, p.C2.T, p.B1 @ p.B1.T, V)
    W = R + p.B2.T @ X @ p.B2
    K = np.linalg.solve(W, p.B2.T @ X @ p.A)
    square = np.trace(p.B1.T @ X @ p.B1) + np.trace(W @ K @ Y @ K.T)
    assert glqg(plant, commands=1, measured=1).bound == pytest.approx(np.sqrt(square), rel=1e-9)


@pytest.mark.parametrize("period", [None, 0.3])
def test_the_hinf_bound_is_kept_and_costs_something(period: float | None) -> None:
    free = glqg(carts(period), commands=1, measured=1)
    held = glqg(carts(period), commands=1, measured=1, gamma=0.85 * free.hinf)
    assert held.hinf <= 0.85 * free.hinf
    assert free.h2 < held.h2 <= held.bound
    names = carts(period).outputs[:1]
    one = glqg(carts(period), commands=1, measured=1, gamma=0.85 * free.hinf, bounded=names)
    assert one.hinf <= 0.85 * free.hinf
    assert one.bound < held.bound  # fewer errors are bounded


@pytest.mark.parametrize(
    "seed", [1, 2, 4]
)  # others have zeros near poles on the right: no controller has such margins
def test_actuators_of_the_sector_keep_the_loop_stable_and_the_bound(seed: int) -> None:
    """Constant gains at random and at the corners, each channel its own; and gains that switch between them at random times."""
    plant, sector = two_channels(seed), (0.7, 1.6)
    design = glqg(plant, commands=2, measured=2, sector=sector)
    assert design.h2 <= design.bound
    rng = np.random.default_rng(seed)
    gains = [*rng.uniform(*sector, (5, 2)), *(np.array([a, b]) for a in sector for b in sector)]
    loops = [closed_with(plant, design.controller, g) for g in gains]
    for loop in loops:
        assert loop.poles.real.max() < 0
        assert float(h2norm(loop)) <= design.bound
    # the covariance of a run in white noise with switching gains never passes the bound either
    covariance, worst = np.zeros_like(loops[0].A), 0.0
    for k in rng.integers(len(loops), size=60):
        loop = loops[k]
        flow, added = propagate(loop.A, loop.B @ loop.B.T, rng.uniform(0.05, 2.0))
        covariance = flow @ covariance @ flow.T + added
        worst = max(worst, float(np.trace(loop.C @ covariance @ loop.C.T)))
    assert worst <= design.bound**2 * (1 + 1e-9)
    assert np.cos(design.phase) == pytest.approx((1 + 0.7 * 1.6) / (0.7 + 1.6))


def closed_with(plant: LinearModel, controller: LinearModel, gains: np.ndarray) -> LinearModel:
    """Return the loop from disturbances to errors with actuators of constant gains; errors weigh the commands before them."""
    p = PlantPartition.of(plant, 2, 2, "test")
    B2 = p.B2 * gains
    K = controller
    whole = np.block([[p.A, B2 @ K.C], [K.B @ p.C2, K.A]])
    return of_matrices(
        whole,
        np.vstack([p.B1, K.B @ p.D21]),
        np.hstack([p.C1, p.D12 @ K.C]),
        np.zeros((len(p.z), len(p.w))),
    )


def propagate(A: np.ndarray, V: np.ndarray, h: float) -> tuple[np.ndarray, np.ndarray]:
    """Return exp(A h) and the covariance that white noise adds in h, A stable."""
    flow = scipy.linalg.expm(A * h)
    rest = scipy.linalg.solve_continuous_lyapunov(A, -V)
    return flow, rest - flow @ rest @ flow.T


@pytest.mark.parametrize("period", [None, 0.3])
@pytest.mark.parametrize("what", ["value", "peak"])
def test_gradients_are_exact(period: float | None, what: str) -> None:
    """Against central differences, scales included, at a controller that is not at a minimum."""
    p = PlantPartition.of(carts(period), 1, 1, "test").rescale()[0]
    wide = _with_sector(p, (0.97, 1.05))
    problem = _Problem(
        ClosedLoop(wide, 3), _strictly_proper(3, p), 60.0, np.arange(len(p.z)), len(p.w), len(p.z), 1
    )
    x = _start(problem, wide, p, 3, 100)
    x = x + 0.01 * np.random.default_rng(1).normal(size=x.size)
    call = getattr(problem, what)
    assert np.isfinite(call(x)[0])
    by = [(call(x + 1e-6 * e)[0] - call(x - 1e-6 * e)[0]) / 2e-6 for e in np.eye(x.size)]
    np.testing.assert_allclose(call(x)[1], by, atol=1e-4 * np.abs(by).max())  # the peak is found to 1e-10


def test_what_cannot_be_done_is_said() -> None:
    for given, text in (
        ({"order": 5}, "found order 5; expected an integer from 1 to 4"),
        ({"gamma": -1.0}, "expected a positive number"),
        ({"sector": (1.2, 2.0)}, r"found the sector \(1\.2, 2\.0\)"),
        ({"sector": 0.5}, r"found the sector 0\.5"),
        ({"gamma": "8"}, "found gamma = '8'"),
        ({"order": 2.5}, r"found order 2\.5"),
        ({"bounded": "nothing"}, "no error 'nothing'"),
    ):
        with pytest.raises(InputError, match=text):
            glqg(carts(), **{"order": 4, "commands": 1, "measured": 1, **given})
    with pytest.raises(NumericalError, match=r"keeps gamma = 3; the gain that has to be below 1 came to 2\."):
        glqg(
            carts(), commands=1, measured=1, gamma=3.0, starts=1, iterations=40
        )  # no controller has less than 6.7
    bare = carts()
    through = of_matrices(bare.A, bare.B, bare.C, bare.D + np.diag([1.0, 0, 0, 0, 0, 0]))
    with pytest.raises(InputError, match="feedthrough from disturbances to errors"):
        glqg(through, commands=1, measured=1)
    silent = of_matrices(bare.A, bare.B, bare.C, np.where(np.arange(6) == 4, 0.0, bare.D))
    with pytest.raises(InputError, match="definite weights of commands and noise of sensors"):
        glqg(silent, commands=1, measured=1)


@pytest.mark.in_turn(4)
@pytest.mark.parametrize(("time", "command"), [(1e-4, 1.0), (1e6, 1.0), (1.0, 1e5), (1.0, 1e-5)])
def test_designs_are_the_same_in_any_units_of_time_and_commands(time: float, command: float) -> None:
    """Where LQG is no start, glqg and optimal projection found no controller at 1e5 rad/s, or with commands in other units."""
    A = np.array([[0, 1, 0, 0], [-1, -0.02, 1, 0], [0, 0, 0, 1], [1, 0, -1, -0.02]])
    B = np.array([[0, 0, 0], [1, 0, command], [0, 0, 0], [0.5, 0, 0]])
    C, D = np.array([[0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 1, 0]]), np.zeros((3, 3))
    D[1, 2], D[2, 1] = 0.3 * command, 0.1
    plant, one = of_matrices(A * time, B * time, C, D), np.array([1, 1, command])
    plain = of_matrices(A, B / one, C, D / one)
    ports = {"commands": 1, "measured": 1}
    wide = {"sector": (0.6, 1.5), "gamma": 35.0}
    found, best = (glqg(p, 2, **ports, **wide).bound for p in (plant, plain))
    assert found == pytest.approx(best * time**0.5, rel=1e-6)
    found, best = (glqg(p, 2, **ports, sector=(0.6, 1.5)).bound for p in (plant, plain))
    assert found == pytest.approx(best * time**0.5, rel=1e-6)
    found, best = (optimal_projection(p, 2, **ports).h2 for p in (plant, plain))
    assert found == pytest.approx(best * time**0.5, rel=1e-6)
