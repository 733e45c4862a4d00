"""CVODES and IDAS through CasADi: difficult problems, segments, and failures that say why."""

import itertools

import casadi as ca
import numpy as np
import pytest
from motions import MU, ORBIT, orbit, relaxation_end
from scipy.integrate import solve_ivp

from articulus.errors import InputError, NumericalError
from articulus.simulation.integrate import Cvodes, Idas

T, X, Z, P = ca.SX.sym("t"), ca.SX.sym("x", 2), ca.SX.sym("z"), ca.SX.sym("p", 0)


def function(*out, states=X, extra=()):
    return ca.Function("f", [T, states, *extra, P], list(out))


def test_stiff_van_der_pol_against_radau():
    rhs = function(ca.vertcat(X[1], MU * (1 - X[0] ** 2) * X[1] - X[0]))
    x = Cvodes(rtol=1e-8, atol=1e-10).integrate(rhs, [0.0, 2000.0], [2.0, 0.0])
    np.testing.assert_allclose(x[-1], relaxation_end(), rtol=1e-5)


def test_error_follows_the_tolerance():
    """There is no fixed order; on the orbit the error falls with the tolerance."""
    state = ca.SX.sym("x", 4)
    rhs = function(ca.vertcat(state[2:], -state[:2] / ca.sumsqr(state[:2]) ** 1.5), states=state)
    exact = np.concatenate(orbit(2.0))
    errors = []
    for tolerance in (1e-4, 1e-6, 1e-8, 1e-10):
        x = Cvodes(rtol=tolerance, atol=tolerance).integrate(rhs, [0.0, 2.0], np.concatenate(ORBIT))
        errors.append(np.abs(x[-1] - exact).max())
    assert Cvodes.order is None
    assert all(later < earlier / 10 for earlier, later in itertools.pairwise(errors))
    assert errors[-1] < 1e-7


FORCED = function(ca.vertcat(X[1], -X[0] + ca.cos(2 * T)))


def exact(t):
    """Return x of x'' = -x + cos 2t from (1, 0)."""
    t = np.asarray(t)
    return np.stack([(4 * np.cos(t) - np.cos(2 * t)) / 3, (-4 * np.sin(t) + 2 * np.sin(2 * t)) / 3], axis=-1)


def test_output_at_the_times_asked_for():
    times = [0.0, 0.3, 1.7, 5.0]
    x = Cvodes().integrate(FORCED, times, [1.0, 0.0])
    assert x.shape == (4, 2)
    np.testing.assert_allclose(x, exact(times), atol=5e-6)
    back = Cvodes().integrate(FORCED, times[::-1], x[-1])
    np.testing.assert_allclose(back, exact(times[::-1]), atol=5e-6)


def test_one_solver_serves_many_segments():
    solve = Cvodes().prepare(FORCED, [0.5, 1.0])
    x = np.array([1.0, 0.0])
    for k in range(20):
        middle, x = solve(0.1 * k, 0.1 * (k + 1), x)
        np.testing.assert_allclose(middle, exact(0.1 * k + 0.05), atol=1e-6)
    np.testing.assert_allclose(x, exact(2.0), atol=1e-6)


def test_parameters():
    p = ca.SX.sym("p", 2)
    rhs = ca.Function("f", [T, X, p], [-p * X])
    x = Cvodes().integrate(rhs, [0.0, 1.0], [1.0, 2.0], p=[0.5, 3.0])
    np.testing.assert_allclose(x[-1], np.exp([-0.5, -3.0]) * [1.0, 2.0], rtol=1e-6)


def test_robertson_as_a_dae_against_radau():
    """Three reactions whose rates differ by nine decades; the sum of all is 1."""
    ode = ca.vertcat(-0.04 * X[0] + 1e4 * X[1] * Z, 0.04 * X[0] - 1e4 * X[1] * Z - 3e7 * X[1] ** 2)
    dae = function(ode, X[0] + X[1] + Z - 1, extra=(Z,))
    times = [0.0, 0.4, 40.0, 4e3, 4e5]
    x, z = Idas(rtol=1e-8, atol=1e-13).integrate(dae, times, [1.0, 0.0], [0.0])

    def rate(t, y):
        slow, fast = 0.04 * y[0] - 1e4 * y[1] * y[2], 3e7 * y[1] ** 2
        return [-slow, slow - fast, fast]

    reference = solve_ivp(rate, (0.0, 4e5), [1.0, 0.0, 0.0], "Radau", times, rtol=1e-9, atol=1e-14).y.T
    np.testing.assert_allclose(np.hstack([x, z])[1:], reference[1:], rtol=1e-5)
    np.testing.assert_allclose(x.sum(axis=1) + z[:, 0], 1.0, atol=1e-12)


def test_a_start_is_made_consistent():
    """0 = z - cos t; z0 is only a guess."""
    dae = function(ca.vertcat(Z, -X[0]), Z - ca.cos(T), extra=(Z,))
    x, z = Idas().integrate(dae, [0.0, 1.0], [0.0, 1.0], [0.3])
    np.testing.assert_allclose(z[:, 0], np.cos([0.0, 1.0]), atol=1e-7)
    np.testing.assert_allclose(x[-1], [np.sin(1.0), np.cos(1.0)], atol=1e-6)
    solve = Idas().prepare(dae)
    np.testing.assert_allclose(solve(0.0, 1.0, [0.0, 1.0], [1.0])[0], x[1:], atol=1e-7)


# failures


def test_a_solution_that_runs_off_is_reported():
    with pytest.raises(NumericalError, match=r"cvodes: .*infinity.* from t = 0 to 2 s"):
        Cvodes().integrate(function(X**2), [0.0, 2.0], [1.0, 1.0])


def test_too_few_steps_are_reported():
    with pytest.raises(NumericalError, match="max_steps"):
        Cvodes(max_steps=5).integrate(FORCED, [0.0, 10.0], [1.0, 0.0])


def test_an_index_above_one_is_reported():
    """x0 = sin t prescribes a state: the residual does not hold z."""
    dae = function(ca.vertcat(X[1], -Z), X[0] - ca.sin(T), extra=(Z,))
    with pytest.raises(NumericalError, match="index is above 1"):
        Idas().integrate(dae, [0.0, 5.0], [0.0, 1.0], [0.0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Cvodes(rtol=0.0), "rtol = 0.0"),
        (lambda: Cvodes().integrate(FORCED, [0.0], [1.0, 0.0]), "at least two"),
        (lambda: Cvodes().integrate(FORCED, [0.0, 2.0, 1.0], [1.0, 0.0]), "rising"),
        (lambda: Cvodes().integrate(FORCED, [0.0, 1.0], [1.0]), "x0 = .*expected 2"),
        (lambda: Cvodes().integrate(FORCED, [0.0, 1.0], [1.0, np.nan]), "finite"),
        (lambda: Cvodes().integrate(FORCED, [0.0, 1.0], [1.0, 0.0], p=[1.0]), "p = .*expected 0"),
        (lambda: Cvodes().prepare(FORCED, [0.5]), "the last 1"),
        (
            lambda: Cvodes().prepare(ca.Function("f", [X], [X])),
            r"1 inputs .*expected \(t, x, p\) -> \(xdot\)",
        ),
        (lambda: Idas().prepare(FORCED), r"expected \(t, x, z, p\) -> \(xdot, g\)"),
    ],
)
def test_wrong_arguments_are_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()
