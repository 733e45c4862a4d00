"""Averaging of slow adaptation: rates by hand, and the motion that the averaged equations predict."""

import numpy as np
import pytest

from articulus.control.robust import attraction_region, average_law, average_stability
from articulus.errors import InputError


def gradient(t, x):
    """Gradient law for y = theta' phi: x' = phi (theta - x)' phi, with theta = (2, -1), phi = (1, cos t + sin t)."""
    phi = np.array([1.0, np.cos(t) + np.sin(t)])
    return phi * (phi @ (np.array([2.0, -1.0]) - x))


def test_rates_are_those_of_the_mean_excitation():
    """The Jacobian is minus the mean of phi phi' = diag(1, 1)."""
    found = average_stability(gradient, 2 * np.pi, [0.0, 0.0])
    np.testing.assert_allclose(found.equilibrium, [2.0, -1.0], atol=1e-9)
    np.testing.assert_allclose(found.jacobian, -np.eye(2), atol=1e-8)
    assert found.stable
    assert found.largest_gain == np.inf


def test_estimate_follows_the_averaged_equation():
    """At a gain of 0.01 the true estimate stays within 2 % of the exponential that averaging predicts."""
    gain, h, x = 0.01, 0.02, np.zeros(2)
    for k in range(int(100 / h)):
        t = k * h
        k1 = gradient(t, x)
        x = x + gain * h * gradient(t + h / 2, x + gain * h / 2 * k1)
    np.testing.assert_allclose(x, np.array([2.0, -1.0]) * (1 - np.exp(-gain * 100)), atol=0.03)


def test_wrong_phase_is_unstable():
    """Adaptation through a filter that turns its input by more than 90 degrees: the mean of cos t cos(t - 2) is cos(2) / 2 < 0."""
    for lag, stable in ((1.0, True), (2.0, False)):
        found = average_stability(lambda t, x, lag=lag: -x * np.cos(t) * np.cos(t - lag), 2 * np.pi, [0.3])
        assert found.stable is stable
        assert found.rates[0] == pytest.approx(-0.5 * np.cos(lag), abs=1e-7)


def test_region_of_attraction():
    """x' = -x + x^3 mean: attracted within |x| < 1; of an unstable one there is nothing to say."""
    law = lambda t, x: (-x + x**3) * (1 + np.sin(t))  # noqa: E731
    found = average_stability(law, 2 * np.pi, [0.1])
    inside = attraction_region(law, 2 * np.pi, found, [[0.5], [0.99], [1.01], [-0.9], [2.0]])
    np.testing.assert_array_equal(inside, [True, True, False, True, False])
    with pytest.raises(InputError, match="attracts nothing"):
        attraction_region(law, 2 * np.pi, average_stability(law, 2 * np.pi, [1.01]), [[0.0]])


def test_discrete_limit_of_the_gain():
    """x_k+1 = x_k - e x_k phi_k^2 with phi = 1, 2: the mean is -2.5 x, stable for e < 2 / 2.5."""
    law = lambda k, x: -x * [1.0, 4.0][k % 2]  # noqa: E731
    found = average_stability(law, 2, [1.0], discrete=True)
    assert found.largest_gain == pytest.approx(0.8, abs=1e-8)
    with pytest.raises(InputError, match="whole samples"):
        average_law(law, 2.5, discrete=True)


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_units_of_the_states_do_not_matter(unit):
    """The gradient law with parameters in other units, and a limit of the region at a distance of one unit."""
    found = average_stability(
        lambda t, x: unit * gradient(t, x / unit), 2 * np.pi, np.array([0.1, 0.1]) * unit
    )
    np.testing.assert_allclose(found.equilibrium, np.array([2.0, -1.0]) * unit, rtol=1e-9)
    np.testing.assert_allclose(found.rates, -np.ones(2), rtol=1e-7)
    law = lambda t, x: (-x + x**3 / unit**2) * (1 + np.sin(t))  # noqa: E731
    found = average_stability(law, 2 * np.pi, [0.1 * unit])
    starts = np.array([[0.5], [0.99], [1.01]]) * unit
    np.testing.assert_array_equal(attraction_region(law, 2 * np.pi, found, starts), [True, True, False])
