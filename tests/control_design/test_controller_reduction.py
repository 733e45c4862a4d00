"""Controllers of lower order keep the loop stable as the theory promises."""

import numpy as np
import pytest

from articulus.control import as_plant, lqg, peak_gain
from articulus.control.connect import close, parallel, series
from articulus.control.reduction import reduce_controller
from articulus.errors import InputError, NumericalError


def beam(modes=6):
    """Return a lightly damped beam with a rigid motion: force at one end, deflection at the other."""
    w = np.append(0.0, np.arange(1, modes) ** 2 * 1.0)
    n = len(w)
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-np.diag(w**2), -0.02 * np.diag(w)]])
    shape = (-1.0) ** np.arange(n)
    B, C = np.r_[np.zeros(n), np.ones(n)][:, None], np.r_[shape, np.zeros(n)][None]
    return as_plant((A, B, C, [[0.0]]))


@pytest.mark.parametrize("order", [4, 8])
def test_small_weighted_error_means_stability_and_is_that_of_its_definition(order):
    design = lqg(beam(), 1.0, 1.0, 1.0, 1.0)
    found = reduce_controller(design, order)
    assert len(found.controller.A) == order < found.full_order
    assert found.checks[0].passed
    P = beam()
    sensed = close(P, design.controller, [0], [0])  # u' -> y with the full controller: P (I - K P)^-1
    error = series(sensed, parallel(design.controller, found.controller, -1.0))
    assert peak_gain(error).value == pytest.approx(found.weighted_error, rel=1e-6)


def test_more_states_change_the_loop_less():
    design = lqg(beam(), 1.0, 1.0, 1.0, 1.0)
    few, many = reduce_controller(design, 6), reduce_controller(design, 10)
    assert many.weighted_error < few.weighted_error
    assert many.weighted_error < 1.0
    assert many.change < few.change


def test_too_few_states_are_refused_with_the_error():
    design = lqg(beam(), 1.0, 1.0, 1.0, 1.0)
    with pytest.raises(NumericalError, match=r"weighted error .* at order 1, expected below 1"):
        reduce_controller(design, 1)
    with pytest.raises(InputError, match=r"order 99"):
        reduce_controller(design, 99)
