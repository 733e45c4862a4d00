"""A dynamic controller in the loop against the linear closed loop, and against a PD by hand."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

import articulus as art
from articulus.control import lqr
from articulus.control.plant import of_matrices
from articulus.errors import InputError
from articulus.simulation.loop.components import PD, JointSensor, LinearController, Torque

ARM = art.load("two_link")
REST = np.array([0.4, -0.7])


def test_gain_is_pd():
    gain = np.array([[-30.0, 0, -4.0, 0], [0, -20.0, 0, -3.0]])
    linear = LinearController(D=gain, y0=(*REST, 0, 0))
    pd = PD(kp=(30.0, 20.0), kd=(4.0, 3.0), target=REST)
    a, b = (art.simulate(ARM, 0.2, q0=REST + 0.1, components=[c]) for c in (linear, pd))
    np.testing.assert_allclose(a.q, b.q, atol=1e-12)  # the same sums in another order


@pytest.mark.parametrize("period", [None, 0.01])
def test_loop_is_the_connection_of_models(period):
    """Poles of the whole loop are those of plant and controller connected by hand."""
    rng = np.random.default_rng(1)
    A, B, C = -3.0 * np.eye(2) + rng.normal(size=(2, 2)), rng.normal(size=(2, 1)), rng.normal(size=(1, 2))
    A = A if period is None else scipy.linalg.expm(period * A)
    u0 = ARM.gravity(REST)
    law = of_matrices(A, B, C, [[-5.0]], period, inputs=["enc.q"], outputs=["u.joint2_torque"])
    parts = [JointSensor("joint2", name="enc"), Torque("joint1"), Torque("joint2")]
    held = art.components.LinearController.of(law, y0=REST[1], u0=u0[1])
    hold = LinearController(
        D=np.zeros((1, 1)), measured=("enc.q",), commands=("joint1_torque",), u0=u0[0], name="hold"
    )
    found = art.Loop(ARM, components=[*parts, held, hold]).linearize(REST)
    plant = ARM.linearize(q=REST)
    if period is None:
        Ap, Bp = plant.A, plant.B[:, [1]]
    else:
        both = scipy.linalg.expm(period * np.block([[plant.A, plant.B[:, [1]]], [np.zeros((1, 5))]]))
        Ap, Bp = both[:4, :4], both[:4, [4]]
    Cp = np.eye(4)[[1]]
    closed = np.block([[Ap - 5.0 * Bp @ Cp, Bp @ C], [B @ Cp, A]])
    expected = np.linalg.eigvals(closed)
    ours = np.linalg.eigvals(found.A)
    ours = ours[np.abs(ours) > 1e-9] if period else ours  # held values are forgotten within a period
    np.testing.assert_allclose(np.sort_complex(ours), np.sort_complex(expected), rtol=1e-7)


def test_design_goes_into_a_run():
    model = ARM.linearize(q=REST)
    design = lqr(model, 100.0, 0.1)
    law = design.component(y0=(*REST, 0, 0), u0=ARM.gravity(REST))
    run = art.simulate(ARM, 0.3, q0=REST + 1e-4, components=[law])
    x = scipy.linalg.expm(0.3 * design.closed.A) @ np.array([1e-4, 1e-4, 0, 0])
    np.testing.assert_allclose(run.q[-1] - REST, x[:2], atol=2e-8)  # second order of a deviation of 1e-4


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"A": np.eye(2)}, "only A; expected A, B and C, or D alone"),
        ({"D": np.eye(2), "measured": ("q.joint3", "v")}, "joint3.*joint2"),
        ({"D": np.eye(2), "measured": ("q",), "commands": ("elbow", "joint1")}, "'elbow'"),
        ({"D": np.eye(2)}, "4 numbers in"),
        ({"D": [[1.0, 0.0], [1.0]], "measured": ("q",)}, "D: expected rows of the same length, found 2, 1"),
        ({"D": [[np.inf, 0.0], [0.0, 1.0]], "measured": ("q",)}, "D: expected finite numbers, found inf"),
        ({"D": np.eye(2), "measured": ("q",), "commands": ("joint1", "u.joint1")}, "'joint1' twice"),
        ({"A": np.eye(2), "B": np.eye(3), "C": np.eye(2)}, "B: found 3 x 3 numbers; expected 2 x 3"),
    ],
)
def test_bad_input_is_named(fields, message):
    with pytest.raises(InputError, match=message):
        art.simulate(ARM, 0.01, components=[LinearController(**fields)])


@pytest.mark.parametrize("period", [None, 0.001])
def test_integral_at_its_limit_does_not_wind_up(period):
    """A step beyond what the motor can do at once: with back-calculation it overshoots less, and ends without error."""
    arm = art.load("pendulum_chain", n=1)
    inertia = float(arm.mass_matrix(np.zeros(1))[0, 0])
    most = 2.0 * float(np.abs(arm.gravity(np.array([0.5]))[0])) + 1.5 * inertia
    back_gain = -(1.0 if period is None else period) / (
        0.5 * 32.0 * inertia
    )  # the inverse of C over half a second
    matrices = {
        "A": [[0.0]] if period is None else [[1.0]],
        "B": [[1.0, 0.0]] if period is None else [[period, 0.0]],
        "C": [[-32.0 * inertia]],
        "D": [[-32.0 * inertia, -10.0 * inertia]],
    }
    runs = []
    for back in (None, [[back_gain]]):
        law = LinearController(**matrices, y0=(0.5, 0.0), limit=most, back=back, period=period)
        runs.append(art.simulate(arm, 12.0, q0=[-1.0], components=[law]))
    free, held = runs
    assert np.abs(held["linear_controller.output"]).max() <= most * (1 + 1e-12)
    assert held.q.max() < free.q.max() - 0.01
    assert abs(held.q[-1, 0] - 0.5) < 1e-2


def test_back_calculation_needs_a_limit():
    with pytest.raises(InputError, match="back"):
        LinearController(A=[[0.0]], B=[[1.0]], C=[[1.0]], back=[[1.0]])
    with pytest.raises(InputError, match="limit"):
        LinearController(D=[[1.0]], limit=-1.0)
