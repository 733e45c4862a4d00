"""Outputs that are mostly zero: runs of zeros are cleared, single ones are written."""

from __future__ import annotations

import casadi as ca
import numpy as np
from casadi import SX

from articulus import kernel
from articulus.kernel import jit, program


def sparse_columns(n: int) -> ca.Function:
    x = SX.sym("x", n)
    matrix = SX.zeros(n, n)
    for k in range(0, n, 3):
        matrix[k, (7 * k) % n] = x[k] * 2
    return ca.Function("sparse", [x], [matrix])


def test_every_entry_is_written_for_one_state_and_for_many():
    f = sparse_columns(20)
    native = kernel.compile(f)
    states = np.random.default_rng(0).normal(size=(37, 20))
    expected = np.array([np.array(f(row)) for row in states])
    np.testing.assert_array_equal(native(states), expected)
    np.testing.assert_array_equal(native(states[0]), expected[0])


def test_code_grows_with_what_is_not_zero():
    """Four times the columns and rows are sixteen times the zeros, and about four times the code."""
    sizes = [len(program.build(sparse_columns(n)).text(jit.host(1))) for n in (30, 120)]
    assert sizes[1] < 8 * sizes[0]
