"""Worst-case gain and robust performance: closed forms, brute force below the upper bound, mu of constant matrices."""

import numpy as np
import pytest

from articulus import control
from articulus.control import hinfnorm, mussv, robgain, robustperf, uncertain, wcgain
from articulus.errors import InputError

SHOWN = 2.5e-3
"""Upper bounds are shown at 1e-3 above mu, which the gain of a resonance multiplies."""


def oscillator(p):
    return [[0, 1], [-p["k"], -p["c"]]], [[0], [1]], [[1, 0]]


def peak(k, c):
    """Peak of 1 / (s^2 + c s + k), c^2 < 2 k."""
    return 1.0 / (c * np.sqrt(k - c**2 / 4))


def test_one_real_parameter():
    """The peak of an oscillator falls with its stiffness, and with its damping: closed forms."""
    stiffness = wcgain(uncertain(lambda p: oscillator({"c": 0.2, **p}), {"k": (15.0, 35.0)}))
    assert stiffness.everywhere
    assert stiffness.lower == pytest.approx(peak(15.0, 0.2), rel=1e-7)
    assert stiffness.lower <= stiffness.upper <= stiffness.lower * (1 + SHOWN)
    assert stiffness.worst["k"] == pytest.approx(15.0)
    assert stiffness.frequency == pytest.approx(np.sqrt(15.0 - 0.2**2 / 2), rel=1e-4)
    damping = wcgain(uncertain(lambda p: oscillator({"k": 25.0, **p}), {"c": (0.1, 0.3)}))
    assert damping.lower == pytest.approx(peak(25.0, 0.1), rel=1e-7)
    # c = 0.1 is half of the way to zero damping: the bound grows by 1e-3 of that way
    assert damping.lower <= damping.upper <= damping.lower * (1 + 2 * SHOWN)


def test_worst_value_inside_of_the_range():
    """p^2 - p is negative between 0 and 1 and least at 1/2: the gain 1 / (1.3 + p^2 - p) is largest inside of the range."""
    model = uncertain(lambda p: ([[-1.3 - p["p"] ** 2 + p["p"]]], [[1.0]], [[1.0]]), {"p": (-0.5, 1.0)})
    found = wcgain(model)
    assert found.lower == pytest.approx(1 / 1.05, rel=1e-5)
    assert found.worst["p"] == pytest.approx(0.5, abs=5e-3)
    assert found.lower <= found.upper


def test_margin_for_a_gain_is_a_closed_form():
    """An oscillator with k = 25 +- 10 t: its peak reaches g at the stiffness 1 / (g c)^2 + c^2 / 4."""
    model = uncertain(lambda p: oscillator({"c": 0.2, **p}), {"k": (15.0, 35.0)})
    for g in (1.1, 2.0):
        least = 1 / (g * 0.2) ** 2 + 0.01
        found = robgain(model, g, omega=np.geomspace(2.0, 10.0, 21))
        assert found.violated == pytest.approx((25.0 - least) / 10.0, rel=1e-6)
        assert found.worst["k"] == pytest.approx(least, rel=1e-6)
        assert found.margin <= found.violated
        # the level that is shown has 1e-3 less of both: of the size and of the gain
        least = (1.001 / (g * 0.2)) ** 2 + 0.01
        assert found.margin >= (25.0 - least) / 10.0 / 1.001 * (1 - 1e-3)
        assert found.everywhere
        assert found.robust is (found.margin > 1)
    assert robgain(model, 0.5, omega=[1.0, 5.0]).margin == 0.0  # the nominal peak is 1


def test_both_grow_together():
    """t = size: the peak of stiffness 25 - 10 t equals g / t; solved here by bisection of the closed form."""
    from scipy.optimize import brentq

    model = uncertain(lambda p: oscillator({"c": 0.2, **p}), {"k": (15.0, 35.0)})
    exact = brentq(lambda t: peak(25.0 - 10.0 * t, 0.2) - 1.5 / t, 0.1, 2.4)
    found = robustperf(model, 1.5)
    assert found.violated == pytest.approx(exact, rel=1e-6)
    assert exact * (1 - SHOWN) <= found.margin <= exact
    assert found.gain == pytest.approx(1.5 / exact, rel=1e-6)


def test_constant_matrices_are_mu():
    """Without states: robustperf is one over mu of all blocks, and mu is 1 with the performance divided by the worst gain."""
    rng = np.random.default_rng(5)
    for _ in range(3):
        D = rng.normal(size=(4, 4))
        D *= 0.5 / np.linalg.norm(D[:2, :2], 2)
        plant = (np.zeros((0, 0)), np.zeros((0, 4)), np.zeros((4, 0)), D)
        blocks, performance = [(1, 1), (1, 1)], [(1, 1), (1, 1), (2, 2)]
        together = robustperf(plant, blocks=blocks)
        assert together.margin == pytest.approx(1 / mussv(D, performance).upper, rel=2e-3)
        worst = wcgain(plant, blocks=blocks)
        scaled = mussv(D / np.array([1, 1, worst.upper, worst.upper])[:, None], performance)
        assert scaled.upper == pytest.approx(1.0, rel=2e-3)  # the level that is shown
        margin = robgain(plant, worst.upper, blocks=blocks)
        assert margin.margin == pytest.approx(1.0, rel=5e-3)


@pytest.mark.parametrize("seed", range(2))
def test_no_sample_exceeds_the_bound(seed):
    """Random systems with two real parameters, one of them repeated, and one full complex block: brute force over perturbations."""
    rng = np.random.default_rng(seed)
    n = 3
    A = rng.normal(size=(n, n))
    A -= (np.linalg.eigvals(A).real.max() + 0.5) * np.eye(n)
    B, C = rng.normal(size=(n, 6)), rng.normal(size=(6, n))
    blocks = [(-2, 0), (-1, 0), (2, 2)]
    size = mussv(control.as_plant((A, B, C)).response(np.geomspace(0.01, 100, 60))[:, :5, :5], blocks)
    C[:5] *= 0.5 / size.upper.max()
    found = wcgain((A, B, C), blocks=blocks, omega=np.geomspace(0.05, 50.0, 24))
    assert found.everywhere
    assert found.lower <= found.upper
    assert found.lower > 0.8 * found.upper
    assert all(check.passed for check in found.checks)
    omega = np.append(found.omega[np.isfinite(found.omega)], found.frequency)
    M = control.as_plant((A, B, C)).response(omega)
    for _ in range(150):
        full = rng.normal(size=(2, 2)) + 1j * rng.normal(size=(2, 2))
        delta = np.zeros((5, 5), dtype=complex)
        delta[:3, :3] = np.diag(np.repeat(rng.choice([-1, 1, rng.uniform(-1, 1)], size=2), [2, 1]))
        delta[3:, 3:] = full / np.linalg.norm(full, 2)
        inner = np.linalg.solve(np.eye(5) - M[:, :5, :5] @ delta, M[:, :5, 5:])
        gains = np.abs(M[:, 5:, 5:] + M[:, 5:, :5] @ delta @ inner)
        assert gains.max() <= found.upper
    assert np.linalg.norm(found.delta, 2) <= 1 + 1e-9
    assert hinfnorm(found.perturbation) <= 1 + 1e-6
    # of half of the uncertainty the worst gain is less, and the margin at the worst gain is 1
    smaller = wcgain(
        (A, B, np.vstack([0.5 * C[:5], C[5:]])), blocks=blocks, omega=np.geomspace(0.05, 50.0, 24)
    )
    assert smaller.upper < found.upper
    assert smaller.upper >= hinfnorm((A, B[:, 5:], C[5:]))


def test_a_destabilizing_perturbation_makes_it_infinite():
    """The stiffness becomes negative within the range."""
    found = wcgain(uncertain(lambda p: oscillator({"c": 0.2, **p}), {"k": (-5.0, 35.0)}))
    assert found.upper == found.lower == np.inf
    assert "destabilizes" in found.reason
    assert found.worst["k"] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("period", [0.1])
def test_sampled_systems(period):
    """x' = a x + u at steps: the gain 1 / (1 - a) is largest at the largest a."""
    model = uncertain(lambda p: ([[p["a"]]], [[1.0]], [[1.0]], [[0.0]], period), {"a": (0.1, 0.5)})
    found = wcgain(model)
    assert found.lower == pytest.approx(2.0, rel=1e-9)
    assert 2.0 <= found.upper <= 2.0 * (1 + SHOWN)
    assert robgain(model, 4.0).violated == pytest.approx((0.75 - 0.3) / 0.2, rel=1e-6)


def test_messages():
    plant = ([[-1.0]], [[1.0, 1.0]], [[1.0], [1.0]])
    with pytest.raises(InputError, match="found no blocks; expected an UncertainModel"):
        wcgain(plant)
    with pytest.raises(InputError, match="expected more than the 2 and 2 of the blocks"):
        wcgain(plant, blocks=[(2, 2)])
    with pytest.raises(InputError, match="expected a positive number"):
        robgain(plant, -1.0, blocks=[(1, 1)])
    with pytest.raises(InputError, match="stable without perturbation"):
        wcgain(([[1.0]], [[1.0, 1.0]], [[1.0], [1.0]]), blocks=[(1, 1)])
