"""Integral action and weights of outputs: no steady error, MATLAB's augmented regulator, names."""

import control
import numpy as np
import pytest

from articulus.control import lqi, lqr, lqry, sample
from articulus.control.plant import of_matrices
from articulus.errors import InputError

PLANT = of_matrices(
    [[0, 1.0], [-1, -0.2]],
    [[0], [1.0]],
    [[1.0, 0.5]],
    states=("q.a", "v.a"),
    inputs=("u.a",),
    outputs=("tip",),
)


@pytest.mark.parametrize("period", [None, 0.1])
def test_constant_disturbance_leaves_no_error(period):
    model = PLANT if period is None else sample(PLANT, period)
    design = lqi(model, [1.0, 1.0, 5.0], 0.1)
    assert design.controller.inputs == ("q.a", "v.a", "tip")
    assert design.controller.states == ("integral of tip",)
    closed = design.closed
    rest = np.zeros_like(closed.A) if period is None else np.eye(len(closed.A))
    steady = closed.D + closed.C @ np.linalg.solve(
        rest - closed.A, closed.B
    )  # from the command to everything
    assert abs(steady[2, 0]) < 1e-12
    # the augmented regulator of python-control
    step = period or 1.0
    A = np.block([[model.A, np.zeros((2, 1))], [step * model.C, np.eye(1) if period else np.zeros((1, 1))]])
    B = np.vstack([model.B, np.zeros((1, 1))])
    K = (control.dlqr if period else control.lqr)(A, B, np.diag([1.0, 1.0, 5.0]), 0.1 * np.eye(1))[0]
    np.testing.assert_allclose(design.gain, K, rtol=1e-9)


def test_tracked_state_is_measured_once():
    states = of_matrices(PLANT.A, PLANT.B, states=("q.a", "v.a"), inputs=("u.a",), outputs=("q.a", "v.a"))
    design = lqi(states, 1.0, 1.0, tracked="q.a")
    assert design.controller.inputs == ("q.a", "v.a")
    assert design.component(period=0.01).measured == ("q.a", "v.a")


def test_integral_that_no_command_can_hold_is_named():
    zero = of_matrices([[0, 1.0], [-1, -0.2]], [[0], [1.0]], [[0, 1.0]], outputs=("rate",))  # a zero at s = 0
    with pytest.raises(InputError, match=r"lqi: found the mode at 0.*integral of rate"):
        lqi(zero, 1.0, 1.0)
    with pytest.raises(InputError, match="2 tracked outputs and 1 commands"):
        lqi((PLANT.A, PLANT.B), 1.0, 1.0)


def test_weights_of_outputs():
    D = np.array([[0.3]])
    model = of_matrices(PLANT.A, PLANT.B, PLANT.C, D)
    found = lqry(model, 2.0, 0.5)
    Q, N = 2.0 * model.C.T @ model.C, 2.0 * model.C.T @ D
    np.testing.assert_allclose(found.gain, lqr(model, Q, 0.5 + 2.0 * D**2, N).gain, rtol=1e-12)
    assert found.method == "lqry"
