"""Rows of a table by their number, and functions of time that are searched instead of written out."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any, cast

import casadi as ca
import numpy as np
import pytest
from casadi import SX

import articulus as art
from articulus import kernel
from articulus.kernel.graph import Lookup, _table
from articulus.kernel.lookup import LONG, interval, looked_up, row
from articulus.kernel.program import build
from articulus.model.mechanism import Spline
from articulus.simulation.loop.table import Table

from .support import run, targets

rng = np.random.default_rng(5)
TABLE = rng.normal(size=(100, 3))


def reader() -> ca.Function:
    i = SX.sym("i")
    return ca.Function("reader", [i], [2 * looked_up(TABLE, i)])


@pytest.mark.parametrize("target", targets(), ids=str)
def test_rows_at_every_width(target: Any) -> None:
    """Numbers are read, not computed: exact; beyond the table its first and last row, and no number reads outside of it."""
    i = np.array(
        [-1e30, -1.0, 0.0, 0.99, 1.0, 57.3, 98.0, 99.0, 99.9, 100.0, 1e30, np.inf, -np.inf, 3.0, 4.0]
    )
    found = run(reader(), [i[:, None]], target)[0]
    assert np.array_equal(found, 2 * TABLE[np.clip(np.floor(i), 0, 99).astype(int)])
    assert np.isfinite(run(reader(), [np.full((1, 1), np.nan)], target)[0]).all()


def test_casadi_agrees_and_its_derivative_is_zero() -> None:
    f, i = reader(), SX.sym("i")
    assert np.array_equal(np.array(f(57.3)).ravel(), 2 * TABLE[57])
    assert any(isinstance(step, Lookup) for step in build(f).steps)
    slope = ca.Function("slope", [i], [ca.jacobian(looked_up(TABLE, i)[0] * i, i)])
    assert float(slope(57.3)) == TABLE[57, 0]
    assert kernel.compile(slope)(57.3) == TABLE[57, 0]


def test_two_readers_of_one_table_and_a_call_from_a_graph() -> None:
    i, x = SX.sym("i"), ca.MX.sym("x", 2)
    f = ca.Function("f", [i], [looked_up(TABLE, i)[1] + looked_up(TABLE, i + looked_up(TABLE, i)[0])[2]])
    g = ca.Function("g", [x], [f(x[0]) * f(x[1])])
    for at in ([3.2, 50.0], [98.5, 0.0]):
        assert kernel.compile(g)(np.array(at)) == pytest.approx(float(g(at)), rel=1e-15)


@pytest.mark.parametrize("n", [1, 2, 3, 31, 32, 33, 1000])
def test_interval_is_the_search_of_numpy(n: int) -> None:
    times, t = np.sort(rng.normal(size=n)), SX.sym("t")
    at = np.concatenate([times, times - 1e-9, times + 1e-9, [-9.0, 9.0]])
    found = kernel.compile(ca.Function("f", [t], [interval(times, t)]))(at)
    assert np.array_equal(found, np.clip(np.searchsorted(times, at, side="right") - 1, 0, n - 1))


@pytest.mark.parametrize("held", [False, True])
def test_long_table_is_the_short_one(held: bool) -> None:
    """The same numbers, by numpy's own interpolation; rounding of a slope times a time."""
    times, values = np.sort(rng.uniform(0, 9, 5 * LONG)), rng.normal(size=(5 * LONG, 2))
    t = SX.sym("t")
    f = ca.Function("f", [t], [Table(tuple(times), tuple(map(tuple, values)), held).at(t)])
    at = np.concatenate([times, rng.uniform(-1, 10, 300)])
    found = kernel.compile(f)(at)
    for k in range(2):
        expected = (
            values[np.clip(np.searchsorted(times, at, side="right") - 1, 0, None), k]
            if held
            else np.interp(at, times, values[:, k])
        )
        assert found[:, k] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("ends", [(0.0, 0.0), (1.5, -0.7)])
@pytest.mark.parametrize("n", [2, 3, LONG - 1, LONG, 400])
def test_spline_has_the_end_conditions_and_passes_through_its_points(
    n: int, ends: tuple[float, float]
) -> None:
    """Against scipy's spline with the same rates at its ends; position and two derivatives, rounding of sums over the points."""
    from scipy.interpolate import CubicSpline

    times, y = np.cumsum(rng.uniform(0.5, 1.5, n)), rng.normal(size=n)
    t = SX.sym("t")
    value = Spline(tuple(times), tuple(y), ends).value(cast(Any, SimpleNamespace(t=t)))
    f = ca.Function("f", [t], [value, ca.jacobian(value, t), ca.jacobian(ca.jacobian(value, t), t)])
    inside = rng.uniform(times[0], times[-1], 200)
    oracle = CubicSpline(times, y, bc_type=((1, ends[0]), (1, ends[1])))
    for order, found in enumerate(kernel.compile(f)(inside)):
        assert found == pytest.approx(oracle(inside, order), abs=1e-10)
    before, rate, _ = kernel.compile(f)(np.array([times[0] - 2.0, times[-1] + 2.0]))
    assert before == pytest.approx([y[0], y[-1]], abs=1e-13)
    assert np.array_equal(rate, [0, 0])


def test_search_takes_as_many_instructions_as_the_logarithm_says() -> None:
    """Eight times the samples are three halvings more, wherever they begin."""
    t, counts = SX.sym("t"), []
    for power in (7, 10, 13):
        times = np.linspace(0.0, 0.5, 2**power)
        at = Table(tuple(times), tuple(np.sin(9 * times))).at(t)
        counts.append(kernel.compile(ca.Function("f", [t], [at])).instruction_count)
    assert counts[2] - counts[1] == counts[1] - counts[0] > 0


def test_force_of_ten_thousand_samples() -> None:
    """Straight between samples, by numpy's own interpolation."""
    arm = art.load("two_link")
    times = np.linspace(0.0, 0.5, 10_001)
    push = art.components.PrescribedForce(arm.joint_names[0], Table(tuple(times), tuple(np.sin(9 * times))))
    run = art.simulate(arm, 0.5, components=[push], step=5e-5)
    force = run[f"{arm.joint_names[0]}_prescribed_force.force"].ravel()
    assert force == pytest.approx(np.interp(run.t, times, np.sin(9 * times)), abs=1e-12)


@pytest.mark.parametrize(
    "table", [np.eye(3)[:1], np.zeros((4, 2)), np.arange(12.0).reshape(6, 2) % 5, np.ones((3, 1))]
)
def test_the_table_is_read_from_the_function(table):
    np.testing.assert_array_equal(_table(row(table), len(table)), table)


def test_long_tables_are_not_read_row_by_row():
    """Row by row would copy 400 000 numbers 400 000 times."""
    table = np.arange(400_000.0)[:, None]
    begin = time.process_time()
    found = _table(row(table), len(table))
    assert time.process_time() - begin < 5
    np.testing.assert_array_equal(found, table)
