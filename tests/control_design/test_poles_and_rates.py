"""Pole assignment by states and outputs, decoupling PD, co-located rate feedback."""

import numpy as np
import pytest
import scipy.linalg

import articulus as art
from articulus.control import place
from articulus.control.synthesis import decoupling_pd, output_poles, rate_feedback
from articulus.errors import DoubtfulResult, InputError
from articulus.structure import beam

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("n", "m", "p", "poles"),
    [
        (5, 3, 3, [-1 + 2j, -1 - 2j, -2 + 1j, -2 - 1j, -3]),
        (3, 2, 2, [-1 + 1j, -1 - 1j, -2]),
        (4, 3, 2, [-1 + 1j, -1 - 1j, -2, -3]),
        (3, 1, 3, [-1 + 1j, -1 - 1j, -2]),
        (4, 3, 2, [-1 + 1j, -1 - 1j, -2 + 1j, -2 - 1j]),
    ],
)
def test_output_feedback_assigns_real_and_complex_poles_by_a_real_gain(n, m, p, poles):
    A, B, C = RNG.normal(size=(n, n)), RNG.normal(size=(n, m)), RNG.normal(size=(p, n))
    design = output_poles((A, B, C), poles)
    assert design.gain.dtype == float
    found = np.linalg.eigvals(A - B @ design.gain @ C)
    np.testing.assert_allclose(np.sort_complex(found), np.sort_complex(np.array(poles, complex)), atol=1e-7)


def test_strong_zero_and_leftover_poles_are_named():
    A = np.diag([1.0, 2.0])
    zero = 3.0  # C (s - A)^-1 B = (s - 3) / ((s - 1)(s - 2))
    B, C = np.array([[1.0], [1.0]]), np.array([[2.0, -1.0]])
    assert abs(C @ np.linalg.solve(zero * np.eye(2) - A, B)) < 1e-14
    with pytest.raises(InputError, match=r"3.*strong transmission zero"):
        output_poles((A, B, C), [zero])
    with pytest.warns(DoubtfulResult, match="not chosen are at"):
        design = output_poles((A, B, C), [-1.0])
    assert not design.checks[0].passed
    with pytest.raises(InputError, match="at most m \\+ p - 1 = 1"):
        output_poles((A, B, C), [-1.0, -2.0])


def test_place_and_a_mode_that_no_input_moves():
    A, B = RNG.normal(size=(4, 4)), RNG.normal(size=(4, 2))
    design = place((A, B), [-1.0, -2.0, -3 + 1j, -3 - 1j])
    np.testing.assert_allclose(np.sort_complex(design.poles), [-3 - 1j, -3 + 1j, -2, -1], atol=1e-8)
    with pytest.raises(InputError, match=r"mode at -5.*x\.1"):
        place((np.diag([1.0, -5.0]), [[1.0], [0.0]]), [-1.0, -2.0])


def test_decoupling_pd_makes_oscillators():
    arm = art.load("two_link")
    q = np.array([0.3, 0.5])
    design = decoupling_pd(arm.linearize(q=q), [2.0, 3.0], 0.7)
    expected = [w * (-0.7 + s * 1j * np.sqrt(1 - 0.49)) for w in (2.0, 3.0) for s in (1, -1)]
    np.testing.assert_allclose(np.sort_complex(design.poles), np.sort_complex(np.array(expected)), rtol=1e-7)
    with pytest.raises(InputError, match="1 inputs for 2 degrees"):
        decoupling_pd(arm.linearize(q=q), 2.0, commands=1)


def test_rate_feedback_attains_its_bound():
    """The mean square by the Lyapunov equation is the bound; more and less gain leave more."""
    s = beam(3.0, EI=2.0, mass_per_length=0.5, elements=4, planes="y", tip_mass=4.0, tip_inertia=(0, 0, 0.7))
    s = s.fix({f"node{k}": "x" for k in range(1, 5)})  # what no actuator moves would swing for ever
    s = s.with_input("f", "node4", {"y": 1.0}).with_output("f rate", "node4", {"y": 1.0}, rate=True)
    sensor, actuator = 0.002, 0.03
    design = rate_feedback(s, sensor_noise=sensor, actuator_noise=actuator)
    squares = [_mean_square(design.plant, k * design.gain, sensor, actuator, s.B.T) for k in (0.8, 1.0, 1.25)]
    np.testing.assert_allclose(squares[1], design.bound[0], rtol=1e-6)
    assert squares[0] > squares[1] < squares[2]
    np.testing.assert_allclose(design.bound[0], np.sqrt(sensor * actuator) * 3.0**3 / (3 * 2.0), rtol=1e-9)
    with pytest.raises(InputError, match="not the rate at the input"):
        rate_feedback(
            s.with_input("g", "node2", {"y": 1.0}).with_output("far", "node3", {"y": 1.0}, rate=True),
            sensor_noise=1.0,
            actuator_noise=1.0,
        )


def _mean_square(m, gain, sensor, actuator, rows):
    A = m.A - gain * m.B @ m.C
    noise = m.B @ m.B.T * (actuator + gain**2 * sensor)
    P = scipy.linalg.solve_continuous_lyapunov(A, -noise)
    pick = np.hstack([rows, np.zeros_like(rows)])
    return float((pick @ P @ pick.T)[0, 0])


def test_poles_are_placed_where_inputs_do_the_same():
    """A four-bar chain with all joints driven: 11 torques move 1 degree of freedom; the least of them that do it."""
    model = art.load("n_four_bar").linearize()
    design = place(model, [-2.0, -3.0])
    found = np.sort(np.linalg.eigvals(model.A - model.B @ design.gain).real)
    np.testing.assert_allclose(found, [-3.0, -2.0], rtol=1e-9)  # two separate real poles: rounding only
    idle = scipy.linalg.null_space(model.B)
    np.testing.assert_allclose(idle.T @ design.gain, 0.0, atol=1e-9 * np.abs(design.gain).max())
