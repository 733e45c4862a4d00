"""SX code that calls functions: the same numbers as CasADi, one row and many, and calls that are passed over."""

from __future__ import annotations

import casadi as ca
import numpy as np

from articulus import kernel
from articulus.kernel import program
from articulus.kernel.graph import Call


def _function() -> ca.Function:
    """Return sums of conditional calls, one of which rests on the others; with inputs and constants among the outputs."""
    x, near, p, y = ca.SX.sym("x", 3), ca.SX.sym("near"), ca.SX.sym("p", 2), ca.SX.sym("y", 6)
    values = [ca.sin(x) * p[0], ca.sumsqr(x) + p[1]]
    inner = ca.Function("when_near", [near, x, p], [ca.if_else(near, value, 0) for value in values])
    total, count = ca.SX.zeros(3), ca.SX(0)
    for k in (1.0, 2.0):
        for z in (k * y[:3], k * y[3:]):
            a, b = inner.call([ca.sumsqr(z) < 2 * k, z, ca.vertcat(k, 3.0)], False, True)
            total, count = total + a * b, count + b
    last, more = inner.call([count - 4, total, ca.vertcat(1.0, y[0])], False, True)
    return ca.Function("f", [y], [total + last, count * more, y[2], ca.SX(3.0)])


ROWS = np.random.default_rng(0).normal(size=(21, 6))


def test_calls_give_the_numbers_of_casadi_in_a_row_and_in_many() -> None:
    function = _function()
    compiled = kernel.compile(function)
    many = compiled(ROWS)
    for i, row in enumerate(ROWS):
        for found, single, expected in zip(many, compiled(row), function(row)):
            wanted = np.array(expected).squeeze()
            np.testing.assert_allclose(found[i], wanted, rtol=1e-12, atol=1e-13)
            np.testing.assert_array_equal(found[i], single)


def test_derivatives_of_calls() -> None:
    function, y = _function(), ca.SX.sym("y", 6)
    jacobian = ca.Function("J", [y], [ca.jacobian(function(y)[0], y)])
    compiled = kernel.compile(jacobian)
    for row in ROWS[:4]:
        np.testing.assert_allclose(compiled(row), np.array(jacobian(row)), rtol=1e-12, atol=1e-12)


def test_operands_of_calls_are_not_copied() -> None:
    steps = program.build(_function()).steps
    calls = [step for step in steps if isinstance(step, Call)]
    assert len(calls) == 5
    assert all(step.procedure.conditional for step in calls)
    assert len(steps) - len(calls) <= 5
