"""Sliding-mode control with gains from bounds on the model error: a two-link arm with an unknown payload."""

import casadi as ca
import numpy as np
import pytest

import articulus as art
from articulus.control.synthesis import sliding_mode
from articulus.errors import InputError, NumericalError, UnsupportedOperation

t = ca.SX.sym("t")
TARGET = ca.Function("target", [t], [ca.vertcat(0.5 * ca.sin(2 * t), -0.4 * ca.cos(3 * t))])


@pytest.fixture(scope="module")
def arm():
    arm = art.Mechanism("arm", gravity=(0, 0, -9.81))
    arm.body("upper", 4.0, (0.4, 0, 0), (0.01, 0.2, 0.2))
    arm.joint("shoulder", art.Revolute((0, 1, 0)), "ground", "upper")
    arm.body("fore", art.Parameter("payload", 3.0), (0.5, 0, 0), (0.01, 0.1, 0.1))
    arm.joint("elbow", art.Revolute((0, 1, 0)), "upper", "fore", at=(0.8, 0, 0))
    return arm


@pytest.fixture(scope="module")
def design(arm):
    return sliding_mode(arm, {"payload": (2.0, 4.5)}, TARGET, 1.0, slope=8.0, layer=0.2)


def test_motion_is_followed_within_the_stated_accuracy(arm, design):
    """Payloads inside the range, also from a start beside the surface, from which |s| falls into the layer."""
    for payload, off in ((2.3, 0.0), (4.5, 0.0), (4.0, 0.2)):
        run = art.simulate(
            arm,
            1.0,
            q0=[off, -0.4],
            v0=[1.0, 0.0],
            controller=design.controller,
            params={"payload": payload},
            sample=0.01,
        )
        wanted = np.c_[0.5 * np.sin(2 * run.t), -0.4 * np.cos(3 * run.t)]
        error = np.abs(np.asarray(run["q"]) - wanted)
        late = run.t > (0.6 if off else -1.0)
        assert (error[late] <= design.accuracy * 1.05).all()
        assert (
            error[late].max() > 1e-3
        )  # the model is wrong: the correction works, and leaves what the layer allows


def test_bound_covers_the_error_of_the_model(arm, design):
    """The error of joint forces is linear in the payload: the corner of the range farther from the model decides."""
    q, v, a = np.array([0.0, -0.4]), np.array([1.0, 0.0]), np.array([0.0, 3.6])
    heavy = arm.inverse_dynamics(q, v, a, params={"payload": 4.5}) - arm.inverse_dynamics(q, v, a)
    assert (np.abs(heavy) <= design.bound).all()
    np.testing.assert_allclose(design.gain, 1.2 * design.bound)


def test_too_small_gains_are_not_returned(arm):
    with pytest.raises(NumericalError, match=r"a run fails: FAIL largest \|s\|") as caught:
        sliding_mode(arm, {"payload": (2.0, 4.5)}, TARGET, 1.0, slope=8.0, layer=0.2, margin=-0.9)
    assert caught.value.result.checks[0].found > 1


def test_wrong_input(arm):
    with pytest.raises(InputError, match="no parameter 'load'"):
        sliding_mode(arm, {"load": (1.0, 2.0)}, TARGET, 1.0, slope=8.0, layer=0.2)
    with pytest.raises(InputError, match="from t to 2 coordinates"):
        sliding_mode(arm, {"payload": (1.0, 2.0)}, ca.Function("f", [t], [t]), 1.0, slope=8.0, layer=0.2)
    with pytest.raises(InputError, match="positive"):
        sliding_mode(arm, {"payload": (1.0, 2.0)}, TARGET, 1.0, slope=-8.0, layer=0.2)
    free = art.Mechanism("free")
    free.body("body", art.Parameter("m", 1.0), (0, 0, 0), (1.0, 1.0, 1.0))
    free.joint("free", art.Free(), "ground", "body")
    with pytest.raises(UnsupportedOperation, match="one coordinate for each velocity"):
        sliding_mode(free, {"m": (1.0, 2.0)}, TARGET, 1.0, slope=8.0, layer=0.2)
