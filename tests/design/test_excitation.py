"""Exciting motions: within limits at all times, from rest to rest, and better than the random motion they began with."""

from __future__ import annotations

import numpy as np
import pytest

import articulus as art
from articulus.design import excitation, inertial_fit
from articulus.design.excitation import _Search
from articulus.design.regression import Regression
from articulus.errors import InputError, NumericalError, UnsupportedOperation


@pytest.fixture(scope="module")
def arm():
    return art.load("puma600")


@pytest.mark.parametrize("criterion", ["volume", "condition"])
def test_gradient_is_that_of_differences(arm, criterion) -> None:
    search = _Search.of(arm, 10.0, 3, ("damping",), None, None, None, criterion)
    random = np.random.default_rng(0)
    x, d, h = random.normal(size=search.size), random.normal(size=search.size), 1e-5
    _, g = search.objective(x)
    by_differences = (search.objective(x + h * d)[0] - search.objective(x - h * d)[0]) / (2 * h)
    assert g @ d == pytest.approx(by_differences, rel=1e-6)  # central differences of step 1e-5


def test_limits_hold_at_all_times(arm) -> None:
    ranges = dict.fromkeys(arm.description.v_slices, (-0.4, 0.6))
    motion = excitation(arm, 5.0, velocity_limit=1.5, acceleration_limit=8.0, ranges=ranges, iterations=10)
    t = np.linspace(0, 5, 20011)  # no multiple of the search's states
    q, v, vdot, _ = motion.at(t)
    for found, limit in ((q - 0.1, 0.5), (v, 1.5), (vdot, 8.0)):
        assert np.abs(found).max() <= limit * (1 + 1e-12)
        assert np.abs(found).max() > 0.7 * limit  # one of the three limits each joint
    np.testing.assert_allclose(v[[0, -1]], 0.0, atol=1e-12)
    np.testing.assert_allclose(vdot[[0, -1]], 0.0, atol=1e-11)
    np.testing.assert_allclose(np.gradient(q, t, axis=0)[1:-1], v[1:-1], atol=1e-5)


def test_seven_joints_are_well_conditioned() -> None:
    """Better than the start in both senses; parameters of noisy forces are as uncertain as foretold."""
    arm = art.load("rrc7")
    plain = excitation(arm, 5.0, velocity_limit=2.0, acceleration_limit=10.0, criterion="condition")
    assert plain.condition < 0.6 * plain.start_condition
    motion = excitation(arm, 5.0, velocity_limit=2.0, acceleration_limit=10.0)
    assert motion.gain > 1.5
    t = np.arange(500) / 100
    q, v, vdot, tau = motion.at(t)
    noise = _Search.of(arm, 5.0, 5, (), 2.0, 10.0, None, "volume").noise * 0.01
    found = inertial_fit(arm, q, v, vdot, tau + noise * np.random.default_rng(0).normal(size=tau.shape))
    # 500 samples: the estimated noise is 3 % off; the motion's own regressor otherwise
    np.testing.assert_allclose(found.deviations, motion.deviations, rtol=0.2)
    away = (found.values - found.base.of(Regression(arm).values())) / found.deviations
    assert np.sqrt(np.mean(away**2)) == pytest.approx(1.0, abs=0.35)  # 43 numbers: 0.11


def test_slower_where_efforts_are_small() -> None:
    def pendulum(effort: float) -> art.Mechanism:
        m = art.Mechanism("pendulum").body("bob", mass=1.0, com=(0, 0, -1.0), inertia=(0.1, 0.1, 0.1))
        limits = art.Limits(lower=(-0.5,), upper=(0.5,), effort=(effort,))
        return m.joint("pin", art.Revolute(axis=(0, 1, 0)), "ground", "bob", limits=limits)

    motion = excitation(pendulum(8.0), 1.0, iterations=5)
    assert motion.period > 1.0
    assert np.abs(motion.tau).max() <= 8.0
    with pytest.raises(NumericalError, match="limits of effort of pin"):
        excitation(pendulum(1.0), 1.0, iterations=5)


def test_refusals(arm) -> None:
    with pytest.raises(InputError, match="at least 3 harmonics"):
        excitation(arm, harmonics=2)
    with pytest.raises(InputError, match="no joint 'elbo'"):
        excitation(arm, ranges={"elbo": (0, 1)})
    with pytest.raises(InputError, match="criterion = 'best'"):
        excitation(arm, criterion="best")
    free = art.Mechanism("stone").body("stone", mass=1.0, inertia=(1.0, 1.0, 1.0))
    with pytest.raises(UnsupportedOperation, match="quaternions"):
        excitation(free.joint("free", art.Free(), "ground", "stone"))
