"""The regulator against python-control and the law of least cost."""

import control
import numpy as np
import pytest

import articulus as art
from articulus.control import lqr
from articulus.control.design import Design, check_design, named_controller, static
from articulus.control.plant import of_matrices
from articulus.errors import InputError, NumericalError

RNG = np.random.default_rng(4)
A, B = RNG.normal(size=(5, 5)), RNG.normal(size=(5, 2))


@pytest.mark.parametrize("period", [None, 0.1])
def test_gain_is_that_of_python_control(period):
    Q, R = np.diag([1.0, 2, 3, 0, 1]), np.diag([0.5, 2.0])
    ours = lqr((A, B, None, None, period), Q, R)
    K, X, _ = control.lqr(A, B, Q, R) if period is None else control.dlqr(A, B, Q, R)
    np.testing.assert_allclose(ours.gain, K, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(ours.cost, X, rtol=1e-8, atol=1e-10)
    closed = control.feedback(control.ss(A, B, np.eye(5), 0, period or 0), ours.controller.to_control(), +1)
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


def test_modes_that_one_input_of_a_free_body_does_not_move_are_named_once():
    """Three free masses, a force on the first: the others' velocities cannot be changed; the first is not blamed."""
    A = np.block([[np.zeros((3, 3)), np.eye(3)], [np.zeros((3, 6))]])
    plant = of_matrices(
        A, np.eye(6)[:, [3]], states=[f"{k}.{i}" for k in "qv" for i in "abc"], inputs=["f.a"]
    )
    with pytest.raises(InputError, match=r"mode at 0\S* \(v\.[bc], v\.[bc]\), which") as refused:
        lqr(plant, 1.0, 1.0)
    assert ";" not in str(refused.value).partition(", which")[0]  # the two modes are named once


def test_hinge_with_a_strong_damper_is_in_reach():
    """Little inertia, strong damper (the fingers of a robot hand): u holds the angle though one pole is 1e9 times faster."""
    A = np.array([[0.0, 1.0], [0.0, -1e9]])
    K = lqr((A, [[0.0], [1e7]]), 1.0, 1.0).gain
    np.testing.assert_allclose(
        K[0, 0], 1.0, rtol=1e-6
    )  # at low rates q' = 0.01 u: an integrator, K = sqrt(Q / R)


def test_named_controller_a_mechanism_keeps_its_units():
    model = art.load("two_link").linearize(q=[0.3, 0.5])
    law = lqr(model, 1.0, 1.0).controller
    assert law.input_units == ("rad", "rad", "rad/s", "rad/s")
    assert law.output_units == ("N m", "N m")


def test_loop_with_all_poles_at_zero_is_not_called_stable():
    plant = of_matrices(np.eye(2, k=1), np.eye(2)[:, [1]])
    law = named_controller(plant, static(np.zeros((1, 2))), np.array([0]), np.arange(2), "nothing")
    with pytest.raises(NumericalError, match="FAIL largest real part"):
        check_design(Design, "nothing", plant, law, np.array([0]), np.arange(2), {})


def test_plant_without_states():
    assert lqr((np.zeros((0, 0)), np.zeros((0, 1))), 1.0, 1.0).gain.shape == (1, 0)


@pytest.mark.parametrize("r", 10.0 ** np.arange(-18, 19, 6))
@pytest.mark.parametrize("mass", [1e-9, 1.0, 1e9])
def test_cheap_and_dear_commands_of_a_free_mass(r, mass):
    """m x'' = u, cost x^2 + r u^2: u = -(x / sqrt(r) + sqrt(2 m / sqrt(r)) x')."""
    design = lqr(([[0.0, 1.0], [0.0, 0.0]], [[0.0], [1.0 / mass]]), [1.0, 0.0], r)
    np.testing.assert_allclose(design.gain, [[r**-0.5, np.sqrt(2.0 * mass * r**-0.5)]], rtol=1e-12)
