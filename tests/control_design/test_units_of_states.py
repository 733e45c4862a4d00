"""States in units of very different size: the same plant from input to output, so the same controller."""

import numpy as np
import pytest

from articulus import control
from articulus.control.plant import of_matrices

# a rigid motion and two lightly damped modes of a structure
A = np.block([[np.zeros((3, 3)), np.eye(3)], [-np.diag([0, 9.0, 400.0]), -np.diag([0, 0.01, 0.1])]])
B, C = np.array([[0], [0], [0], [1], [0.5], [0.2]]), np.array([[1, 0.3, -0.2, 0, 0, 0.0]])
UNITS = 10.0 ** np.array([6.0, -5.0, 0.0, 4.0, -6.0, 2.0])
OMEGA = np.array([0.03, 0.5, 3.0, 20.0])


def _plant(d):
    return of_matrices(A * d / d[:, None], B / d[:, None], C * d)


def _standard(d):
    """Disturbances at command and sensor; errors are output and command."""
    a, b, c = A * d / d[:, None], B / d[:, None], C * d
    D = np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0.0]])
    return of_matrices(a, np.hstack([b, 0 * b, b]), np.vstack([c, 0 * c, c]), D)


METHODS = {
    "ncfsyn": lambda d: control.ncfsyn(_plant(d)),
    "output_poles": lambda d: control.synthesis.output_poles(_plant(d), [-1.0]),
    "weighted_lqg": lambda d: control.synthesis.weighted_lqg(_plant(d), measured=1, commands=1),
    "h2syn": lambda d: control.h2syn(_standard(d), measured=1, commands=1),
    "hinfsyn": lambda d: control.hinfsyn(_standard(d), measured=1, commands=1, relax=0.02),
    "optimal_projection": lambda d: control.synthesis.optimal_projection(
        _standard(d), 5, commands=1, measured=1
    ),
}


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.filterwarnings(
    "ignore::articulus.errors.DoubtfulResult"
)  # output feedback leaves a pole unstable
def test_controller_does_not_depend_on_the_units_of_the_states(name):
    plain, odd = (METHODS[name](d).controller.response(OMEGA) for d in (np.ones(6), UNITS))
    # the searches of optimal_projection end within 1e-8 of the least cost: gains agree to its root
    np.testing.assert_allclose(odd, plain, rtol=1e-4 if name == "optimal_projection" else 1e-6)


def test_placed_gain_and_projection_are_in_the_units_of_the_states():
    poles = -1.0 - 0.2 * np.arange(6)
    plain, odd = (control.place(_plant(d), poles).gain for d in (np.ones(6), UNITS))
    # gains follow from eigenvectors whose rounding depends on the processor: 2e-6 was seen
    np.testing.assert_allclose(odd / UNITS, plain, rtol=1e-5)
    taus = [
        control.synthesis.optimal_projection(_standard(d), 5, commands=1, measured=1).projection
        for d in (np.ones(6), UNITS)
    ]
    # the search ends where the equations of tau hold to 1e-3
    np.testing.assert_allclose(UNITS[:, None] * taus[1] / UNITS, taus[0], atol=2e-3)
