"""Sweeps: a loop of native code over calls that a guard passes over, against CasADi, which calls the function every time."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from casadi import SX

from articulus import kernel
from articulus.kernel import sweep
from articulus.kernel.graph import SelectionLoop
from articulus.kernel.program import build
from articulus.kernel.sweep import Selection

PAIRS = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]


def attraction() -> ca.Function:
    """Return the sum of forces between four points in a plane that are nearer than 1, and the product of their charges."""
    on, a, b, k = SX.sym("on"), SX.sym("a", 2), SX.sym("b", 2), SX.sym("k", 1)
    guard = ca.Function("near", [a, b, k], [ca.sumsqr(a - b) < 1])
    force = k * ca.sqrt(ca.sumsqr(a - b) + 1e-3) * (b - a)
    out = [ca.densify(ca.if_else(on, x, 0)) for x in (force, -force, ca.exp(ca.dot(a, b)))]
    body = ca.Function("when_points", [on, a, b, k], out)
    first, second = zip(*PAIRS)
    count = len(PAIRS)
    reads = [Selection(0, 2, tuple(2 * i for i in each)) for each in (first, second)]
    adds = [Selection(0, 2, r.starts) for r in reads] + [Selection(1, 1, tuple(range(count)))]
    return sweep.function(guard, body, [8, 1], [*reads, Selection(1, 1, (0,) * count)], [8, count], adds)


def around() -> ca.Function:
    """Return a function that calls the sweep between straight-line code, with a constant operand."""
    x = SX.sym("x", 8)
    force, pairs = attraction().call([2 * x, SX(3.0)], False, True)
    return ca.Function("around", [x], [force + x, ca.sumsqr(pairs)])


@pytest.mark.parametrize("rows", [1, 13])
def test_sweeps_are_the_calls_one_by_one(rows: int) -> None:
    """Lanes in which other pairs are near do not matter: rounding of exp alone."""
    function, rng = around(), np.random.default_rng(2)
    assert any(isinstance(step, SelectionLoop) for step in build(function).steps)
    x = rng.normal(size=(rows, 8)) * np.geomspace(0.05, 3, rows)[:, None]
    force, pairs = kernel.compile(function)(x if rows > 1 else x[0])
    for row, one, two in zip(x, np.atleast_2d(force), np.atleast_1d(pairs)):
        expected = function(row)
        assert one == pytest.approx(np.array(expected[0]).ravel(), rel=1e-13, abs=1e-13)
        assert two == pytest.approx(float(expected[1]), rel=1e-13)


def test_sweeps_have_derivatives() -> None:
    """Central differences with steps of 1e-6: errors of about 1e-9."""
    function = around()
    x = np.random.default_rng(3).normal(size=8) * 0.3
    symbol = SX.sym("x", 8)
    jacobian = ca.Function("J", [symbol], [ca.jacobian(function(symbol)[0], symbol)])
    compiled = np.array(kernel.compile(jacobian)(x))
    for i, step in enumerate(1e-6 * np.eye(8)):
        sides = [np.array(function(x + s)[0]).ravel() for s in (step, -step)]
        assert (sides[0] - sides[1]) / 2e-6 == pytest.approx(compiled[:, i], abs=1e-8)
