"""Laws of the explicit methods, over all of them."""

import casadi as ca
import numpy as np
import pytest
from motions import ORBIT, kepler, observed_order, orbit

from articulus.errors import InputError
from articulus.simulation import integrate
from articulus.simulation.integrate import (
    ALL_METHODS,
    EXPLICIT_METHODS,
    RK4,
    Adaptive,
    AlphaMethod,
    Method,
    Sdirk,
    SecondOrderMethod,
    Sundials,
)

FINE = [100, 200, 400, 800, 1600]
"""Steps at which the errors of methods up to order 4 are on their asymptote; those of order 8 and 10 are at rounding there."""
methods = pytest.mark.parametrize("method", EXPLICIT_METHODS, ids=lambda m: m.name)


def oscillator(t, x):
    """x'' = -x + cos 2t: x = cos t + (cos t - cos 2t) / 3 from (1, 0)."""
    return np.stack([x[..., 1], -x[..., 0] + np.cos(2 * t)], axis=-1)


def exact(t):
    return (4 * np.cos(t) - np.cos(2 * t)) / 3


@methods
def test_global_error_falls_with_the_stated_order(method):
    steps = np.array({8: [8, 12, 16, 24, 32], 10: [48, 64, 80, 96]}.get(method.order, FINE))
    errors = []
    for n in steps:
        t, x = method.integrate(oscillator, 0.0, 5.0, [1.0, 0.0], int(n))
        errors.append(np.abs(x[:, 0] - exact(t)).max())
    slope = -np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert abs(slope - method.order) < (0.15 if method.order < 8 else 0.8)


@methods
def test_polynomials_of_its_order_are_exact(method):
    power = method.order
    _, x = method.integrate(lambda t, x: np.array([power * t ** (power - 1)]), 1.0, 3.0, [1.0], 20)
    np.testing.assert_allclose(x[-1, 0], 3.0**power, rtol=1e-13)


@methods
def test_backward_in_time_returns(method):
    _, there = method.integrate(oscillator, 0.0, 1.0, [1.0, 0.0], 400)
    _, back = method.integrate(oscillator, 1.0, 0.0, there[-1], 400)
    np.testing.assert_allclose(back[-1], [1.0, 0.0], atol=1e-2 if method.order == 1 else 1e-4)


@methods
def test_a_batch_is_many_single_runs(method):
    rng = np.random.default_rng(1)
    x0 = rng.normal(size=(2, 3, 2))
    t, x = method.integrate(oscillator, 0.0, 1.0, x0, 12)
    assert t.shape == (13,)
    assert x.shape == (2, 3, 13, 2)
    for i in np.ndindex(2, 3):
        np.testing.assert_array_equal(x[i], method.integrate(oscillator, 0.0, 1.0, x0[i], 12)[1])


@methods
def test_a_run_may_stop_and_go_on(method):
    h, whole = 0.05, method.integrate(oscillator, 0.0, 1.0, [1.0, 0.0], 20)[1]
    state = method.start(0.0, [1.0, 0.0])
    for k in range(20):
        state = method.step(oscillator, state, h)
        np.testing.assert_allclose(state.x, whole[k + 1], rtol=1e-13, atol=1e-15)


@methods
def test_a_new_step_size_starts_a_new_history(method):
    state = method.start(0.0, [1.0, 0.0])
    for h in [0.1] * 6 + [0.05] * 6:
        state = method.step(oscillator, state, h)
    assert state.h in (0.0, 0.05)
    tolerance = {1: 0.2, 2: 0.02, 3: 2e-3}.get(method.order, 5e-4)
    np.testing.assert_allclose(state.x[0], exact(state.t), atol=tolerance)


@methods
def test_evaluations_in_a_step_are_as_stated(method):
    calls = []

    def counted(t, x):
        calls.append(t)
        return oscillator(t, x)

    state = method.start(0.0, [1.0, 0.0])
    for _ in range(method.past + 1):
        state = method.step(oscillator, state, 0.01)
    method.step(counted, state, 0.01)
    assert len(calls) == method.evaluations


@methods
@pytest.mark.parametrize("kind", [ca.SX, ca.MX])
def test_advance_builds_the_same_step_from_symbols(method, kind):
    """What a native time loop is made of: t, h, x and the slopes are symbols."""
    rng = np.random.default_rng(2)
    t, h, x, *slopes = (kind.sym("s", n) for n in [1, 1, 2] + [2] * method.past)
    x_next, slopes_next = method.advance(
        lambda t, x: ca.vertcat(x[1], -x[0] + ca.cos(2 * t)), t, x, tuple(slopes), h
    )
    step = ca.Function("step", [t, h, x, *slopes], [x_next, *slopes_next])
    assert step.n_out() == 1 + method.past
    numbers = rng.normal(size=(1 + method.past, 2))
    want, want_slopes = method.advance(oscillator, 0.3, numbers[0], tuple(numbers[1:]), 0.1)
    got = [np.array(part).ravel() for part in step.call([0.3, 0.1, *numbers])]
    np.testing.assert_allclose(got, [want, *want_slopes], rtol=1e-14, atol=1e-15)


@methods
def test_divergence_stays_visible(method):
    with np.errstate(over="ignore", invalid="ignore"):
        _, x = method.integrate(lambda t, x: x**3, 0.0, 50.0, [3.0], 50)
    assert not np.isfinite(x[-1, 0])


def test_the_start_is_not_changed():
    x0 = np.array([1.0, 0.0])
    RK4().integrate(oscillator, 0.0, 1.0, x0, 10)
    np.testing.assert_array_equal(x0, [1.0, 0.0])


@pytest.mark.parametrize("steps", [0, -3, 2.5])
def test_steps_must_be_a_positive_integer(steps):
    with pytest.raises(InputError, match="steps"):
        RK4().integrate(oscillator, 0.0, 1.0, [1.0, 0.0], steps)


def test_a_derivative_of_another_shape_is_refused():
    with pytest.raises(InputError, match=r"shape \(\)"):
        RK4().integrate(lambda t, x: 1.0, 0.0, 1.0, [1.0, 0.0], 3)


def test_a_single_number_is_no_state():
    with pytest.raises(InputError, match="single number"):
        RK4().integrate(lambda t, x: -x, 0.0, 1.0, 1.0, 3)


@methods
def test_order_on_an_orbit(method):
    """Reliability: within 0.2 of the stated order over four halvings, on Kepler's orbit."""
    exact = np.concatenate(orbit(2.0))

    def error(steps):
        return np.abs(method.integrate(kepler, 0.0, 2.0, np.concatenate(ORBIT), steps)[1][-1] - exact).max()

    steps = {8: [10, 14, 20, 28, 40], 10: [20, 28, 40, 48]}.get(method.order, FINE)
    assert abs(observed_order(steps, error) - method.order) < (0.2 if method.order < 8 else 0.8)


def test_kinds_tell_how_a_method_is_called():
    kinds = {
        "explicit": Method,
        "second order": SecondOrderMethod,
        "adaptive": Adaptive,
        "implicit": AlphaMethod,
        "residual": Sdirk,
        "casadi": Sundials,
    }
    for name, kind in kinds.items():
        assert {m.kind for m in ALL_METHODS if isinstance(m, kind)} == {name}


def test_methods_are_found_by_name():
    assert {integrate.method(m.name).name for m in ALL_METHODS} == {m.name for m in ALL_METHODS}
    with pytest.raises(InputError, match="did you mean 'rk4'"):
        integrate.method("rk44")
