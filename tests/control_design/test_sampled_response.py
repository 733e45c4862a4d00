"""Design on sampled responses: projections, spectral factors, several channels, filters. Numbers: case sampled_beam."""

import numpy as np
import pytest

from articulus.control.sampled_response import FrequencyGrid, spectral_factor, wiener_hopf
from articulus.errors import InputError

GRID = FrequencyGrid(2.0, 1024)
S = 1j * GRID.omega


def test_projection_separates_stable_and_unstable_parts():
    stable, other = 1 / (S + 1) + 2 / (S + 5), 3 / (S - 2)
    np.testing.assert_allclose(GRID.strictly_causal(stable + other), stable, atol=1e-12)
    assert GRID.anticausal_share(stable) < 1e-12
    omega = np.array([0.3, 4.0])
    np.testing.assert_allclose(
        GRID.at(stable, omega), 1 / (1j * omega + 1) + 2 / (1j * omega + 5), atol=1e-12
    )
    np.testing.assert_allclose(
        GRID.integral(np.abs(1 / (S + 1)) ** 2), 0.5, rtol=1e-12
    )  # variance of a first-order lag


def test_channels_that_do_not_meet_are_designed_as_if_alone():
    g1, g2 = (lambda w: 1 / (1j * w + 1)), (lambda w: 2 / (1j * w + 3))
    both = np.zeros((GRID.count, 2, 2), complex)
    both[:, 0, 0], both[:, 1, 1] = g1(GRID.omega), g2(GRID.omega)
    d = np.abs(1 / (S + 0.5)) ** 2
    together = wiener_hopf(both, d, 0.1, 0.2, GRID)
    apart = [wiener_hopf(g, d, 0.1, 0.2, GRID) for g in (g1, g2)]
    np.testing.assert_allclose(together.cost, sum(a.cost for a in apart), rtol=1e-9)
    np.testing.assert_allclose(together.controller[:, 1, 1], apart[1].controller[:, 0, 0], atol=1e-8)
    assert np.abs(together.controller[:, 0, 1]).max() < 1e-8


def test_no_other_causal_controller_is_better():
    """A small causal change of R in either direction costs more: the optimum is one."""
    g, d = 1 / (S + 1) / (S + 2), np.abs(1 / (S + 0.5)) ** 2
    found = wiener_hopf(g, d, 0.01, 0.1, GRID)
    R = found.closed[:, 0, 0]

    def cost(R):
        return GRID.integral(
            np.abs(1 - g * R) ** 2 * d + np.abs(g * R) ** 2 * 0.01 + 0.1 * np.abs(R) ** 2 * (d + 0.01)
        ).real

    np.testing.assert_allclose(cost(R), found.cost, rtol=1e-12)
    for change in (1e-2 / (S + 1), -1e-2 / (S + 1), 1e-2 / (S + 7), -1e-2 / (S + 7)):
        assert cost(R + change) > found.cost


def test_filter_has_the_response_of_the_controller_at_its_frequencies():
    found = wiener_hopf(
        lambda w: 1 / (1j * w + 1), lambda w: np.abs(1 / (1j * w + 0.5)) ** 2, 0.01, 0.1, GRID
    )
    fir = found.fir(0.05, 64)
    omega = 2 * np.pi * np.arange(1, 20) / (64 * 0.05)
    np.testing.assert_allclose(fir.response(omega)[:, 0, 0], found.response(omega)[:, 0, 0], rtol=1e-9)


def test_bad_input_is_named():
    with pytest.raises(InputError, match="not real and positive"):
        spectral_factor(np.cos(GRID.omega), GRID)
    with pytest.raises(InputError, match="not causal beside 0 unstable poles"):
        wiener_hopf(lambda w: 1 / (1j * w - 1), 1.0 / (1 + GRID.omega**2), 0.1, 0.1, GRID)
    with pytest.raises(InputError, match="weight 0"):
        wiener_hopf(lambda w: 1 / (1j * w + 1), 0.1, 0.1, 0.0, GRID)
