"""The instruction list of a CasADi SX function, as data in static single assignment form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from ..errors import UnsupportedOperation

FLOPS = frozenset((ca.OP_ADD, ca.OP_SUB, ca.OP_MUL, ca.OP_SQ, ca.OP_TWICE, ca.OP_DIV, ca.OP_INV, ca.OP_SQRT))


@dataclass(frozen=True)
class Instructions:
    """Straight-line code: row `i` computes value `i` from values of earlier rows.

    Attributes
    ----------
    op : list of int
        CasADi operation code (`casadi.OP_ADD`, ...) of each row. `OP_OUTPUT` does not occur.
    first, second : list of int
        Operands as row numbers, -1 where the operation has none. For `OP_INPUT` they are the number
        of the input and of its nonzero (column-major, as CasADi counts).
    constant : dict of int to float
        Value of each `OP_CONST` row.
    outputs : list of ndarray of int
        For each output the row of each of its nonzeros (column-major).
    """

    op: list[int]
    first: list[int]
    second: list[int]
    constant: dict[int, float]
    outputs: list[np.ndarray]

    def __len__(self) -> int:
        return len(self.op)

    @cached_property
    def flops(self) -> int:
        """Additions, multiplications, divisions and square roots (a fused pair counts as two)."""
        return sum(op in FLOPS for op in self.op)

    @cached_property
    def arithmetic_count(self) -> int:
        """Number of rows that compute something (neither input nor constant)."""
        return sum(op not in (ca.OP_INPUT, ca.OP_CONST) for op in self.op)


def instructions(function: ca.Function) -> Instructions:
    """Return the instruction list of an SX function, without dead rows.

    CasADi reuses work slots; here each row has its own number. Nothing numeric is changed.

    Parameters
    ----------
    function : casadi.Function
        An SX function (`function.is_a("SXFunction")`).
    """
    if not function.is_a("SXFunction"):
        raise UnsupportedOperation(f"{function.name()} is not an SX function; call .expand() first")
    if function.has_free():
        raise UnsupportedOperation(f"{function.name()} has free variables {function.get_free()}")
    return _without_dead_rows(_static_single_assignment(function))


def _static_single_assignment(function: ca.Function) -> Instructions:
    op: list[int] = []
    first: list[int] = []
    second: list[int] = []
    constant: dict[int, float] = {}
    outputs = [np.full(function.nnz_out(k), -1) for k in range(function.n_out())]
    holder = [-1] * function.sz_w()
    code, source, target = function.instruction_id, function.instruction_input, function.instruction_output
    for i in range(function.n_instructions()):
        kind = code(i)
        operands = source(i)
        if kind == ca.OP_OUTPUT:
            k, nonzero = target(i)
            outputs[k][nonzero] = holder[operands[0]]
            continue
        if kind == ca.OP_INPUT:
            a, b = operands
        else:
            _refuse_calls(function, kind, operands)
            a = holder[operands[0]] if operands else -1
            b = holder[operands[1]] if len(operands) > 1 else -1
            if kind == ca.OP_CONST:
                constant[len(op)] = function.instruction_constant(i)
        holder[target(i)[0]] = len(op)
        op.append(kind)
        first.append(a)
        second.append(b)
    return Instructions(op, first, second, constant, outputs)


def _refuse_calls(function: ca.Function, kind: int, operands: Sequence[int]) -> None:
    if kind == ca.OP_CALL or len(operands) > 2:
        raise UnsupportedOperation(
            f"{function.name()} calls another function inside SX code; build it without never_inline"
        )


def _without_dead_rows(code: Instructions) -> Instructions:
    live = bytearray(len(code))
    for rows in code.outputs:
        for row in rows.tolist():
            live[row] = 1
    for i in range(len(code) - 1, -1, -1):
        if live[i] and code.op[i] != ca.OP_INPUT:
            if code.first[i] >= 0:
                live[code.first[i]] = 1
            if code.second[i] >= 0:
                live[code.second[i]] = 1
    return code if all(live) else _keep(code, live)


def _keep(code: Instructions, live: bytearray) -> Instructions:
    rows = [i for i in range(len(code)) if live[i]]
    number = {old: new for new, old in enumerate(rows)} | {-1: -1}

    def renumber(operands: list[int]) -> list[int]:
        return [operands[i] if code.op[i] == ca.OP_INPUT else number[operands[i]] for i in rows]

    return Instructions(
        [code.op[i] for i in rows],
        renumber(code.first),
        renumber(code.second),
        {number[i]: value for i, value in code.constant.items() if live[i]},
        [np.array([number[row] for row in out], dtype=int) for out in code.outputs],
    )
