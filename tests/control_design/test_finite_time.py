"""Finite-time indices of fixed-order design, and its limits on margins and bandwidth."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
import scipy.integrate
import scipy.linalg

from articulus.control import DesignLimits, fixed_order, h2norm, hinfnorm, margins, sample
from articulus.control.plant import of_matrices
from articulus.control.synthesis import FiniteTime
from articulus.control.synthesis.finite_time import Sinusoid, mean_square, sinusoid_ratio
from articulus.errors import InputError, NumericalError


def system(seed: int, shift: float) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(4, 4)) - shift * np.eye(4)
    return A, rng.normal(size=(4, 2)), rng.normal(size=(3, 4)), rng.normal(size=(3, 2))


@pytest.mark.parametrize("form", ["initial", "forced", "mean"])
@pytest.mark.parametrize("t_end", [0.01, 0.7, 9.0])
def test_index_is_the_integral_and_its_gradient_exact(form: str, t_end: float) -> None:
    """Against adaptive quadrature of exponentials, also of an unstable system with a growing weight; differences for the gradient."""
    A, B, C, _ = system(0, 0.5)
    index = FiniteTime(t_end, 0.2, form)

    def density(t: float) -> float:
        flow = scipy.linalg.expm((A + 0.2 * np.eye(4)) * t)
        return float(np.sum((C @ flow @ B) ** 2)) * ((1 - t / t_end) if form == "mean" else 1.0)

    value, slopes = mean_square(A, B, C, index)
    exact = scipy.integrate.quad(density, 0, t_end, epsabs=0, epsrel=1e-12, limit=500)[0]
    assert value == pytest.approx(exact, rel=1e-10)
    rng = np.random.default_rng(1)
    for k, M in enumerate((A, B, C)):
        way, args = rng.normal(size=M.shape), [A, B, C]
        ends = [mean_square(*(m + s * 1e-6 * way if i == k else m for i, m in enumerate(args)), index)[0] for s in (1, -1)]  # fmt: skip
        assert np.sum(slopes[k] * way) == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-6)


@pytest.mark.parametrize("growth", [0.0, 0.3])
def test_ratio_of_a_sinusoid(growth: float) -> None:
    """Against quadrature of the response in closed form; differences for the gradient."""
    args = A, B, C, D = system(1, 0.2)
    wave, index = Sinusoid(1.3, np.array([1 + 0.3j, -0.5 + 0.2j])), FiniteTime(3.0, growth)
    w0 = wave.direction

    def density(t: float) -> float:
        turn = np.exp(1.3j * t)
        x = np.linalg.solve(1.3j * np.eye(4) - A, (turn * np.eye(4) - scipy.linalg.expm(A * t)) @ B @ w0)
        return float(np.linalg.norm(C @ x + D @ w0 * turn) ** 2 * np.exp(2 * growth * t))

    below = scipy.integrate.quad(lambda t: np.exp(2 * growth * t) * np.vdot(w0, w0).real, 0, 3)[0]
    value, slopes = sinusoid_ratio(*args, index, wave)
    assert value == pytest.approx(scipy.integrate.quad(density, 0, 3, epsrel=1e-12)[0] / below, rel=1e-10)
    rng = np.random.default_rng(2)
    for k, M in enumerate(args):
        way = rng.normal(size=M.shape)
        ends = [sinusoid_ratio(*(m + s * 1e-6 * way if i == k else m for i, m in enumerate(args)), index, wave)[0] for s in (1, -1)]  # fmt: skip
        assert np.sum(slopes[k] * way) == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-6)


def test_indices_are_bounds_from_below_that_tend_to_the_norms() -> None:
    """Ly 1989: J(t_end) <= J(inf), for squares of the H2 norm and of the Hinf norm."""
    A, B, C, D = system(3, 3.0)
    whole = float(h2norm(of_matrices(A, B, C, np.zeros((3, 2))))) ** 2
    found = [mean_square(A, B, C, FiniteTime(t))[0] for t in (0.3, 1.0, 3.0, 100.0)]
    assert found == sorted(found)
    assert found[-1] == pytest.approx(whole, rel=1e-10)
    gain = hinfnorm(of_matrices(A, B, C, D))
    at = 1j * gain.omega
    _, _, Vh = np.linalg.svd(C @ np.linalg.solve(at * np.eye(4) - A, B) + D)
    ratios = [sinusoid_ratio(A, B, C, D, FiniteTime(t), Sinusoid(gain.omega, Vh[0].conj()))[0] for t in (10.0, 100.0, 1e4)]  # fmt: skip
    assert max(ratios) <= float(gain) ** 2 * (1 + 1e-9)
    assert ratios[-1] == pytest.approx(float(gain) ** 2, rel=1e-3)


def oscillator():
    """Return an unstable oscillator: force commanded, position and rate measured; impulses of force, all weighed."""
    A, B = np.array([[0.0, 1.0], [-1.0, 0.3]]), np.array([[0.0], [1.0]])
    C = np.vstack([np.eye(2), np.zeros((1, 2)), np.eye(2)])
    D = np.zeros((5, 3))
    D[2, 2] = 1.0
    return of_matrices(A, np.hstack([np.eye(2), B]), C, D)


def feedback(p: ca.SX):
    return ca.SX(0, 0), ca.SX(0, 2), ca.SX(1, 0), ca.horzcat(p[0], p[1])


def test_a_long_time_stabilizes_without_a_stable_start_and_gives_the_norms_minimum() -> None:
    """State feedback: the LQR, by its Riccati equation; growth puts all poles beyond it, by that of the shifted plant."""
    call = {"commands": 1, "measured": 2, "starts": 1}
    design = fixed_order(oscillator(), feedback, [0.1, 0.1], finite_time=FiniteTime(60.0), **call)
    A, B = oscillator().A, oscillator().B[:, 2:]
    for shift, found in (
        (0.0, design),
        (
            0.5,
            fixed_order(oscillator(), feedback, [0.1, 0.1], finite_time=FiniteTime(60.0, growth=0.5), **call),
        ),
    ):
        X = scipy.linalg.solve_continuous_are(A + shift * np.eye(2), B, np.eye(2), np.eye(1))
        np.testing.assert_allclose(found.parameters, -(B.T @ X).ravel(), rtol=1e-4)
        assert found.objective == pytest.approx(np.trace(X), rel=1e-6)
        assert found.poles.real.max() < -shift
    with pytest.raises(
        NumericalError, match=r"least index over 0\.01 s leaves a pole .* expected a longer t_end"
    ):
        fixed_order(oscillator(), feedback, [0.1, 0.1], finite_time=FiniteTime(0.01), **call)


def test_the_worst_sinusoid_of_a_long_time_gives_the_mixed_design() -> None:
    call = {"commands": 1, "measured": 2, "starts": 1, "h2": 1.0, "hinf": 1.0}
    norms = fixed_order(oscillator(), feedback, [-1.0, -1.0], **call)
    finite = fixed_order(oscillator(), feedback, [0.1, 0.1], finite_time=FiniteTime(150.0), **call)
    assert finite.objective <= norms.objective * (1 + 2e-3)
    assert finite.h2[0] ** 2 + finite.hinf[0] ** 2 == pytest.approx(norms.objective, rel=1e-2)


def loop_at_the_command(K: np.ndarray):
    """Return -K G: the open loop at the command of the oscillator."""
    plant = oscillator()
    return of_matrices(plant.A, plant.B[:, 2:], -K @ np.eye(2), np.zeros((1, 1)))


def test_margins_and_bandwidths_are_those_of_the_open_loop() -> None:
    """The limits hold, and bind; figures by `margins` and by the frequency response of the open loop."""
    call = {"commands": 1, "measured": 2, "starts": 1}
    free = fixed_order(oscillator(), feedback, [-1.0, -1.0], **call)
    size = margins(loop_at_the_command(free.parameters[None])).disk.size
    held = fixed_order(oscillator(), feedback, [-1.0, -1.0], limits=DesignLimits(margin=size + 0.1), **call)
    assert margins(loop_at_the_command(held.parameters[None])).disk.size == pytest.approx(
        size + 0.1, abs=2e-3
    )
    assert held.objective > free.objective
    w = np.geomspace(1e-2, 1e3, 4000)

    def gains(design):
        L = loop_at_the_command(design.parameters[None]).response(w)[:, 0, 0]
        return np.abs(1 / (1 + L)), np.abs(L / (1 + L))

    passes = w[gains(free)[1] > np.sqrt(0.5)].max()
    slow = fixed_order(
        oscillator(), feedback, [-1.0, -1.0], limits=DesignLimits(bandwidth=(None, 0.8 * passes)), **call
    )
    assert gains(slow)[1][w >= 0.8 * passes].max() <= np.sqrt(0.5) * 1.002
    assert slow.objective > free.objective
    low = 1.2 * w[gains(free)[0] > np.sqrt(0.5)].min()
    fast = fixed_order(
        oscillator(), feedback, [-1.0, -1.0], limits=DesignLimits(bandwidth=(low, None)), **call
    )
    assert gains(fast)[0][w <= low].max() <= np.sqrt(0.5) * 1.002
    assert fast.objective > free.objective


def test_what_cannot_be_meant_is_said() -> None:
    with pytest.raises(InputError, match=r"FiniteTime\.t_end: found -1\.0 s"):
        FiniteTime(-1.0)
    with pytest.raises(InputError, match="'initial', 'forced' or 'mean'"):
        FiniteTime(1.0, form="first")
    with pytest.raises(InputError, match=r"FiniteTime\.growth"):
        FiniteTime(1.0, np.nan)
    with pytest.raises(InputError, match=r"DesignLimits\.margin: found 2\.5"):
        DesignLimits(margin=2.5)
    with pytest.raises(InputError, match=r"DesignLimits\.bandwidth.*0 < low < high"):
        DesignLimits(bandwidth=(3.0, 1.0))
    bare = oscillator()
    held = sample(of_matrices(bare.A, bare.B, bare.C, bare.D), 0.1)
    with pytest.raises(InputError, match=r"finite_time: found a plant sampled every 0\.1 s"):
        fixed_order(held, 1, commands=1, measured=2, finite_time=FiniteTime(1.0))
