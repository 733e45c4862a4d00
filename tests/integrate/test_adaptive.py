"""Laws of the methods that choose their steps."""

import dataclasses
import json

import numpy as np
import pytest
from motions import ORBIT, kepler, kepler_jacobian, observed_order, orbit
from scipy.integrate import solve_ivp

from articulus.errors import InputError, NumericalError
from articulus.simulation.integrate import (
    AdaptiveState,
    DormandPrince,
    Linearized,
    Rosenbrock,
    Statistics,
    StepControl,
)

START = np.concatenate(ORBIT)
ORBITING = {"dormand_prince": kepler, "rosenbrock": Linearized(kepler, kepler_jacobian)}
methods = pytest.mark.parametrize("method", [DormandPrince(), Rosenbrock()], ids=lambda m: m.name)


def problem(method, f, jac, dfdt=None):
    """Return x' = f(t, x) in the form that a method wants."""
    return f if isinstance(method, DormandPrince) else Linearized(f, jac, dfdt)


def fixed_steps(method, problem, x, end, steps):
    """Return x(end) and the dense output of the first step, without any control of the step."""
    h, pieces = end / steps, []
    for k in range(steps):
        memory, _ = method.begin(problem, k * h, x, end)
        tried = method.attempt(problem, k * h, x, memory, h, lambda t: t)
        x = tried.x
        pieces.append(tried.coefficients)
    return x, pieces[0]


@pytest.mark.parametrize(("method", "end", "first"), [(DormandPrince(), 6.0, 80), (Rosenbrock(), 1.0, 40)])
def test_order_on_an_orbit(method, end, first):
    """Lengths at which the error is neither far from its limit nor near rounding."""
    exact = np.concatenate(orbit(end))

    def error(steps):
        return np.abs(fixed_steps(method, ORBITING[method.name], START, end, steps)[0] - exact).max()

    assert abs(observed_order(first * 2 ** np.arange(5), error) - method.order) < 0.2


@methods
def test_order_where_f_depends_on_time(method):
    """x' = -x + sin 3t: a Rosenbrock method that forgot df/dt would show order 1 here."""
    forced = problem(
        method,
        lambda t, x: -x + np.sin(3 * t),
        lambda t, x: -np.eye(1),
        lambda t, x: 3 * np.cos(3 * t) + 0 * x,
    )
    exact = np.array([1.3 * np.exp(-2.0) + (np.sin(6.0) - 3 * np.cos(6.0)) / 10])

    def error(steps):
        return np.abs(fixed_steps(method, forced, np.array([1.0]), 2.0, steps)[0] - exact).max()

    assert abs(observed_order([20, 40, 80, 160, 320], error) - method.order) < 0.2


@methods
def test_dense_output_has_one_order_less_at_least(method):
    """Largest error within one step: h^5 for the interpolant of order 4, h^4 for that of order 3."""
    theta = np.linspace(0, 1, 21)

    def error(parts):
        h = 1 / parts
        _, coefficients = fixed_steps(method, ORBITING[method.name], START, h, 1)
        inside = np.array([np.concatenate(orbit(s * h)) for s in theta])
        return np.abs(np.polynomial.polynomial.polyval(theta, coefficients).T - inside).max()

    assert abs(observed_order([4, 8, 16, 32, 64], error) - {5: 5, 4: 4}[method.order]) < 0.2


@methods
def test_error_follows_the_tolerance(method):
    exact = np.concatenate(orbit(6.0))
    tolerances = np.array([1e-4, 1e-6, 1e-8, 1e-10])
    errors = []
    for tolerance in tolerances:
        solution = method.integrate(ORBITING[method.name], 0.0, 6.0, START, tolerance, tolerance)
        errors.append(np.abs(solution.x[-1] - exact).max())
    slope = np.polyfit(np.log(tolerances), np.log(errors), 1)[0]
    assert 0.7 < slope < 1.3
    assert max(errors / tolerances) < 200


@methods
def test_solution_is_a_function_of_time(method):
    solution = method.integrate(ORBITING[method.name], 0.0, 6.0, START, 1e-9, 1e-9)
    t = np.linspace(0.0, 6.0, 61).reshape(1, 61)
    got = solution(t)
    assert got.shape == (1, 61, 4)
    np.testing.assert_allclose(got[0], [np.concatenate(orbit(s)) for s in t[0]], atol=2e-6)
    np.testing.assert_allclose(solution(solution.t), solution.x, rtol=1e-13, atol=1e-14)
    assert solution.statistics.steps == len(solution.t) - 1
    with pytest.raises(InputError, match="outside"):
        solution(6.1)


@methods
def test_backward_in_time_returns(method):
    there = method.integrate(ORBITING[method.name], 0.0, 3.0, START, 1e-9, 1e-9)
    back = method.integrate(ORBITING[method.name], 3.0, 0.0, there.x[-1], 1e-9, 1e-9)
    np.testing.assert_allclose(back.x[-1], START, atol=1e-6)
    np.testing.assert_allclose(back(1.5), there(1.5), atol=1e-6)
    assert back.t[-1] == 0.0


def through_text(state):
    """Return a state after a way through a file: numbers as JSON, which keeps every bit of a float."""
    fields = json.loads(json.dumps(dataclasses.asdict(state), default=lambda a: a.tolist()))
    return AdaptiveState(
        fields["t"],
        np.array(fields["x"]),
        fields["h"],
        fields["error"],
        tuple(np.array(m) for m in fields["memory"]),
        Statistics(**fields["statistics"]),
    )


@methods
def test_a_resumed_run_repeats_every_bit(method):
    control = StepControl(1e-7, 1e-7)
    orbiting, stops = ORBITING[method.name], [2.0, 4.0]
    state = method.start(orbiting, 0.0, START, 2.0, control)
    whole = method.run(orbiting, state, 6.0, control, stops)
    for cut in (3, 7, len(whole.t) - 2):
        states = [state]
        for _ in range(cut):
            end = next(s for s in [*stops, 6.0] if s > states[-1].t)
            states.append(method.step(orbiting, states[-1], end, control)[0])
        rest = method.run(orbiting, through_text(states[-1]), 6.0, control, stops)
        np.testing.assert_array_equal(rest.t, whole.t[cut:])
        np.testing.assert_array_equal(rest.x, whole.x[cut:])
        assert rest.statistics == whole.statistics
    np.testing.assert_array_equal(
        method.integrate(orbiting, 0.0, 6.0, START, 1e-7, 1e-7, stops=stops).x, whole.x
    )


@methods
def test_segments_are_the_run_with_stops(method):
    control = StepControl(1e-7, 1e-7)
    orbiting = ORBITING[method.name]
    state = method.start(orbiting, 0.0, START, 0.5, control)
    whole = method.run(orbiting, state, 2.0, control, [0.5, 1.0, 1.5])
    for end in (0.5, 1.0, 1.5, 2.0):
        state = method.run(orbiting, state, end, control).state
    assert state.t == 2.0
    np.testing.assert_array_equal(state.x, whole.x[-1])


@methods
def test_a_short_segment_does_not_spoil_the_step(method):
    orbiting, control = ORBITING[method.name], StepControl(1e-7, 1e-7)
    state = method.run(orbiting, method.start(orbiting, 0.0, START, 1.0, control), 1.0, control).state
    after = method.run(orbiting, state, 1.0 + 1e-6, control).state
    assert after.t == 1.0 + 1e-6
    assert after.h == state.h


@methods
@pytest.mark.parametrize("before", [lambda t: t < 1.0, lambda t: t <= 1.0], ids=["<", "<="])
@pytest.mark.parametrize("direction", [1, -1])
def test_a_jump_at_a_stop_costs_no_step(method, before, direction):
    """x' = 1, then -2; the result is exact, whichever side the instant itself belongs to."""
    jump = problem(method, lambda t, x: np.array([1.0 if before(t) else -2.0]), lambda t, x: np.zeros((1, 1)))
    t0, t1 = (0.0, 2.0) if direction > 0 else (2.0, 0.0)
    solution = method.integrate(jump, t0, t1, [0.0], 1e-10, 1e-10, stops=[1.0])
    assert 1.0 in solution.t
    np.testing.assert_allclose(solution.x[-1], -1.0 * direction, rtol=1e-13)
    assert solution.statistics.rejections == 0
    peak = solution(1.0)
    np.testing.assert_allclose(peak, 1.0 if direction > 0 else 2.0, rtol=1e-13)


@methods
def test_a_jump_without_a_stop_is_found_by_rejections(method):
    jump = problem(method, lambda t, x: np.array([1.0 if t < 1.0 else -2.0]), lambda t, x: np.zeros((1, 1)))
    solution = method.integrate(jump, 0.0, 2.0, [0.0], 1e-8, 1e-8)
    assert solution.statistics.rejections > 3
    np.testing.assert_allclose(solution.x[-1], -1.0, atol=1e-6)


def test_the_state_after_a_jump_of_x_starts_anew():
    method, control = DormandPrince(), StepControl(1e-9, 1e-9)
    falling = lambda t, x: np.array([x[1], -9.81])  # noqa: E731
    state = method.run(falling, method.start(falling, 0.0, [0.0, 5.0], 1.0, control), 1.0, control).state
    again = state.restart([state.x[0], -state.x[1]])
    assert again.memory == ()
    assert again.h == state.h
    solution = method.run(falling, again, 2.0, control)
    v = 9.81 - 5.0
    # the method is exact on a parabola: what is left is rounding, of each of the seven stages and of their sum in every
    # step, half a unit in the last place of the largest number on the way (9.81)
    steps = state.statistics.steps + solution.statistics.steps
    rounding = 8 * steps * np.spacing(9.81) / 2
    np.testing.assert_allclose(
        solution.x[-1], [5.0 - 9.81 / 2 + v - 9.81 / 2, v - 9.81], rtol=0, atol=rounding
    )


def test_evaluations_are_counted_and_the_last_stage_is_used_again():
    calls = []

    def counted(t, x):
        calls.append(t)
        return kepler(t, x)

    solution = DormandPrince().integrate(counted, 0.0, 6.0, START, 1e-6, 1e-6)
    statistics = solution.statistics
    assert len(calls) == statistics.evaluations == 2 + 6 * statistics.attempts


def test_as_few_evaluations_as_the_same_pair_elsewhere():
    """scipy's RK45 is the same pair with another step control."""
    theirs = solve_ivp(kepler, (0.0, 30.0), START, "RK45", rtol=1e-8, atol=1e-8).nfev
    ours = DormandPrince().integrate(kepler, 0.0, 30.0, START, 1e-8, 1e-8).statistics.evaluations
    assert ours < 1.1 * theirs


# failures


@methods
def test_a_solution_that_runs_off_is_reported_with_what_was_reached(method):
    """x' = x^2 from 1 is 1 / (1 - t)."""
    growing = problem(method, lambda t, x: x**2, lambda t, x: 2 * np.diag(x))
    with pytest.raises(NumericalError, match=r"too small at t = (1|0\.99999)") as failure:
        method.integrate(growing, 0.0, 2.0, [1.0], 1e-8, 1e-8)
    reached = failure.value.result
    assert 0.999 < reached.t[-1] < 1.001
    np.testing.assert_allclose(reached(0.5), 2.0, rtol=1e-5)


@methods
def test_too_many_steps_are_a_failure(method):
    with pytest.raises(NumericalError, match="5 steps were not enough") as failure:
        method.integrate(ORBITING[method.name], 0.0, 60.0, START, 1e-8, 1e-8, max_steps=5)
    assert failure.value.result.statistics.attempts == 5


def test_a_smallest_step_is_kept():
    with pytest.raises(NumericalError, match=r"too small .*stiff"):
        DormandPrince().integrate(lambda t, x: -1e5 * (x - np.cos(t)), 0.0, 1.0, [0.0], min_step=1e-3)


@methods
def test_derivatives_that_are_not_finite_are_named(method):
    root = problem(method, lambda t, x: np.sqrt(0.5 - x), lambda t, x: np.diag(-0.5 / np.sqrt(0.5 - x)))
    with np.errstate(invalid="ignore", divide="ignore"):
        with pytest.raises(NumericalError, match=r"derivative at the start, t = 0 s, is not finite"):
            method.integrate(root, 0.0, 1.0, [1.0])
        wall = problem(
            method, lambda t, x: np.where(t < 0.5, 1.0, np.nan) + 0 * x, lambda t, x: np.zeros((1, 1))
        )
        with pytest.raises(NumericalError, match="not finite near here"):
            method.integrate(wall, 0.0, 1.0, [1.0])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"rtol": -1.0}, "rtol"),
        ({"atol": np.nan}, "atol"),
        ({"rtol": 0.0, "atol": 0.0}, "both zero"),
        ({"min_step": 2.0, "max_step": 1.0}, "min_step"),
        ({"x0": [[1.0, 0.0]]}, r"shape \(1, 2\)"),
        ({"x0": []}, r"shape \(0,\)"),
        ({"x0": [np.inf, 0.0]}, "not finite"),
        ({"problem": lambda t, x: np.zeros(3)}, r"f returned shape \(3,\)"),
    ],
)
def test_wrong_arguments_are_refused(changed, message):
    arguments = {"problem": lambda t, x: -x, "t0": 0.0, "t1": 1.0, "x0": [1.0, 0.0]} | changed
    with pytest.raises(InputError, match=message):
        DormandPrince().integrate(**arguments)


def test_no_time_passes_without_steps():
    solution = DormandPrince().integrate(kepler, 1.0, 1.0, START)
    np.testing.assert_array_equal(solution.x, [START])
    np.testing.assert_array_equal(solution(1.0), START)


def test_tolerances_may_differ_by_component():
    """A component that nobody cares for does not shorten the steps."""
    fast = lambda t, x: np.array([-x[0], 50 * np.cos(50 * t)])  # noqa: E731
    strict = DormandPrince().integrate(fast, 0.0, 5.0, [1.0, 0.0], 1e-6, 1e-6)
    loose = DormandPrince().integrate(fast, 0.0, 5.0, [1.0, 0.0], 1e-6, np.array([1e-6, 1e3]))
    assert loose.statistics.steps < strict.statistics.steps / 4
