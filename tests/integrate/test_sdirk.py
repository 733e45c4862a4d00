"""The diagonally implicit method on E(t, x, x') = 0."""

from __future__ import annotations

import numpy as np
import pytest
from motions import observed_order

from articulus.errors import InputError, NumericalError
from articulus.simulation.integrate import Sdirk


class Oscillator:
    """x'' = -x + cos 2t with the algebraic variable y = x + x'; E = (x' - v, v' - a, y - x - v)."""

    matrix = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [-1.0, -1.0, 1.0]])
    rates = np.diag([1.0, 1.0, 0.0])

    def correction(self, t, x, xdot, sigma, kept):
        E = self.rates @ xdot + self.matrix @ x - np.array([0.0, np.cos(2 * t), 0.0])
        return np.linalg.solve(self.matrix + sigma * self.rates, E), None


class Decay:
    """x' = -rate (x - cos t) - sin t, whose solution from 1 is cos t whatever the rate [1/s]."""

    def __init__(self, rate):
        self.rate = rate

    def correction(self, t, x, xdot, sigma, kept):
        return (xdot + self.rate * (x - np.cos(t)) + np.sin(t)) / (sigma + self.rate), None


def test_order_two_with_an_algebraic_variable():
    t = 5.0
    x, v = (4 * np.cos(t) - np.cos(2 * t)) / 3, (-4 * np.sin(t) + 2 * np.sin(2 * t)) / 3

    def error(steps):
        return np.abs(
            Sdirk().integrate(Oscillator(), 0.0, t, [1.0, 0.0, 1.0], steps)[1][-1] - [x, v, x + v]
        ).max()

    assert abs(observed_order([100, 200, 400, 800], error) - Sdirk.order) < 0.1


@pytest.mark.parametrize("rate", [1e4, 1e8])
def test_fast_decay_is_gone_after_a_step(rate):
    """L-stable: what is off the slow solution falls by the order of 1 / (rate h) in a step of 0.1 s."""
    _, x = Sdirk().integrate(Decay(rate), 0.0, 1.0, [2.0], 10)
    assert abs(x[1, 0] - np.cos(0.1)) < 100 / (0.1 * rate)
    assert abs(x[-1, 0] - np.cos(1.0)) < 1e-3


def test_failures_say_where_and_why():
    class Singular:
        def correction(self, t, x, xdot, sigma, kept):
            return np.full_like(x, np.nan), None

    class Endless:
        def correction(self, t, x, xdot, sigma, kept):
            return np.ones_like(x), None

    for problem, what in ((Singular(), "no finite solution"), (Endless(), "did not converge")):
        with pytest.raises(NumericalError, match=f"{what}.* t = 0.5 s"):
            Sdirk().integrate(problem, 0.5, 1.0, [1.0], 10)
    with pytest.raises(InputError, match="steps = 0"):
        Sdirk().integrate(Decay(1.0), 0.0, 1.0, [1.0], 0)
