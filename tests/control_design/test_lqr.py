"""The regulator against python-control and the law of least cost."""

import control
import numpy as np
import pytest

from articulus.control import lqr
from articulus.control.design import Design
from articulus.errors import InputError

RNG = np.random.default_rng(4)
A, B = RNG.normal(size=(5, 5)), RNG.normal(size=(5, 2))


@pytest.mark.parametrize("period", [None, 0.1])
def test_gain_is_that_of_python_control(period):
    Q, R = np.diag([1.0, 2, 3, 0, 1]), np.diag([0.5, 2.0])
    ours = lqr((A, B, None, None, period), Q, R)
    K, X, _ = control.lqr(A, B, Q, R) if period is None else control.dlqr(A, B, Q, R)
    np.testing.assert_allclose(ours.gain, K, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(ours.cost, X, rtol=1e-8, atol=1e-10)
    assert isinstance(ours, Design)
    closed = control.feedback(control.ss(A, B, np.eye(5), 0, period or 0), ours.controller, +1)
    np.testing.assert_allclose(
        np.sort_complex(closed.poles()), np.sort_complex(np.linalg.eigvals(ours.closed.A)), rtol=1e-8
    )


def test_unstabilizable_mode_is_named():
    plant = (np.diag([1.0, -2.0]), [[0.0], [1.0]])
    with pytest.raises(InputError, match=r"mode at 1.*x\.0.*no input"):
        lqr(plant, 1.0, 1.0)


def test_weight_must_be_definite():
    with pytest.raises(InputError, match=r"R with the eigenvalue 0"):
        lqr((A, B), 1.0, np.zeros((2, 2)))
