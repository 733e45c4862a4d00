"""The instruction list as data: an interpreter of ten lines must reproduce CasADi."""

from __future__ import annotations

import time

import casadi as ca
import numpy as np
import pytest

from articulus import kernel
from articulus.errors import UnsupportedOperation
from articulus.kernel import lower

MEANING = {ca.OP_ADD: np.add, ca.OP_SUB: np.subtract, ca.OP_MUL: np.multiply, ca.OP_SIN: np.sin, ca.OP_SQ: np.square, ca.OP_NEG: np.negative}  # fmt: skip


def interpret(code: kernel.Instructions, inputs: list[np.ndarray]) -> list[np.ndarray]:
    values: list[float] = []
    for row, (op, a, b) in enumerate(zip(code.op, code.first, code.second)):
        if op == ca.OP_INPUT:
            values.append(inputs[a][b])
        elif op == ca.OP_CONST:
            values.append(code.constant[row])
        else:
            values.append(MEANING[op](*(values[k] for k in (a, b) if k >= 0)))
    return [np.array([values[k] for k in out]) for out in code.outputs]


def test_interpreting_the_list_gives_the_function():
    x, y = ca.SX.sym("x", 3), ca.SX.sym("y")
    function = ca.Function("f", [x, y], [ca.sin(x) * y - 3, x[0] * x[0] + y * 2.5])
    found = interpret(kernel.instructions(function), [np.array([0.1, 0.2, 0.3]), np.array([0.7])])
    for value, ref in zip(found, function([0.1, 0.2, 0.3], 0.7)):
        assert np.allclose(value, ref.full().ravel(), rtol=1e-15)


def test_rows_are_in_order_and_single_assignment():
    x = ca.SX.sym("x")
    y = x
    for _ in range(50):
        y = y * x + 1
    code = kernel.instructions(ca.Function("f", [x], [y]))
    assert all(
        a < row and b < row
        for row, (op, a, b) in enumerate(zip(code.op, code.first, code.second))
        if op != ca.OP_INPUT
    )
    assert code.flops == 100  # one product and one sum per step


def test_only_sx():
    x = ca.MX.sym("x")
    with pytest.raises(UnsupportedOperation, match="not an SX function"):
        kernel.instructions(ca.Function("f", [x], [x]))


def test_sixty_thousand_rows_take_well_below_a_second():
    x = ca.SX.sym("x", 7)
    y = ca.SX(0)
    for k in range(30_000):
        y = y * x[k % 7] + x[(k + 1) % 7]
    function = ca.Function("f", [x], [y])
    start = time.process_time()
    assert len(kernel.instructions(function)) > 59_000
    assert time.process_time() - start < 2.0  # 0.5 s on an idle machine


def test_crossing_values_share_slots():
    x = ca.SX.sym("x", 4)
    y = [x[i] for i in range(4)]
    for k in range(4000):
        y[k % 4] = ca.fabs(y[k % 4] - y[(k + 1) % 4])
    code = kernel.instructions(ca.Function("f", [x], [ca.vertcat(*y)]))
    placed = lower.place(code, [np.arange(4)], [np.arange(4, 8)], 8)
    assert len(placed.chunks) > 3
    assert placed.scratch <= 8
