"""Functions as lists of operations: plain data, which a file may hold. Nothing that is read is run; functions are built from it anew.

A function of CasADi written as its own text may name a compiler, which runs when the text is read. So files of plans hold operations on
numbers only, those of `OPERATIONS`, and whatever else they hold is refused.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
from casadi import SX

from articulus.errors import InputError

ONE = (
    "ACOS", "ACOSH", "ASIN", "ASINH", "ASSIGN", "ATAN", "ATANH", "CEIL", "COS", "COSH", "ERF", "ERFINV", "EXP", "EXPM1", "FABS", "FLOOR",
    "INV", "LOG", "LOG1P", "NEG", "NOT", "SIGN", "SIN", "SINH", "SQ", "SQRT", "TAN", "TANH", "TWICE",
)  # fmt: skip
TWO = (
    "ADD", "AND", "ATAN2", "CONSTPOW", "COPYSIGN", "DIV", "EQ", "FMAX", "FMIN", "FMOD", "HYPOT", "IF_ELSE_ZERO", "LE", "LT", "MUL", "NE",
    "OR", "POW", "REMAINDER", "SUB",
)  # fmt: skip
OPERATIONS = {name: getattr(ca, f"OP_{name}") for name in (*ONE, *TWO)}
"""What a file may ask for, of one number or of two."""
_NAMES = {code: name for name, code in OPERATIONS.items()}


def encode_function(function: ca.Function) -> dict[str, Any]:
    """Return a function as numbers and texts, for `JSON`.

    Steps are [operation, numbers it takes...]; every step makes a number, and they are counted from the inputs' numbers on.

    Parameters
    ----------
    function : casadi.Function
        Of SX expressions, or one that expands to them.
    """
    try:
        expanded = function if function.is_a("SXFunction") else function.expand()
        symbols = expanded.sx_in()
        dense = ca.Function(expanded.name(), symbols, [ca.densify(y) for y in expanded.call(symbols)])
    except RuntimeError:
        raise InputError(
            f"plan: found the function '{function.name()}', which does not consist of operations on numbers; expected CasADi's SX "
            "expressions, others cannot be written to a file"
        ) from None
    starts = [0]
    for k in range(dense.n_in()):
        starts.append(starts[-1] + dense.nnz_in(k))
    held_in: dict[int, int] = {}
    steps: list[list[Any]] = []
    outputs: list[list[int]] = [[0] * dense.nnz_out(k) for k in range(dense.n_out())]
    for k in range(dense.n_instructions()):
        code, arguments, results = (
            dense.instruction_id(k),
            dense.instruction_input(k),
            dense.instruction_output(k),
        )
        if code == ca.OP_OUTPUT:
            outputs[results[0]][results[1]] = held_in[arguments[0]]
            continue
        if code == ca.OP_INPUT:
            held_in[results[0]] = starts[arguments[0]] + arguments[1]
            continue
        if code == ca.OP_CONST:
            steps.append(["CONST", float(dense.instruction_constant(k))])
        elif code in _NAMES:
            steps.append([_NAMES[code], *(held_in[place] for place in arguments)])
        else:
            raise InputError(
                f"plan: found an operation of '{function.name()}' that cannot be written to a file; expected arithmetic, functions of one or "
                "two numbers and comparisons"
            )
        held_in[results[0]] = starts[-1] + len(steps) - 1
    return {
        "name": dense.name(),
        "inputs": [list(dense.size_in(k)) for k in range(dense.n_in())],
        "outputs": [list(dense.size_out(k)) for k in range(dense.n_out())],
        "steps": steps,
        "results": outputs,
    }


def read(held: dict[str, Any]) -> ca.Function:
    """Return the function that `written` was given; raises ValueError, LookupError or TypeError for anything else."""
    symbols = [_symbol(k, *size) for k, size in enumerate(held["inputs"])]
    numbers = [x for symbol in symbols for x in ca.vertsplit(ca.vec(symbol))]
    for name, *given in held["steps"]:
        if name == "CONST":
            (value,) = given
            numbers.append(SX(float(value)))
        elif name in ONE:
            (a,) = given
            numbers.append(SX.unary(OPERATIONS[name], numbers[_place(a)]))
        elif name in TWO:
            a, b = given
            numbers.append(SX.binary(OPERATIONS[name], numbers[_place(a)], numbers[_place(b)]))
        else:
            raise ValueError(f"no operation {name!r}")
    results = []
    for (rows, columns), places in zip(held["outputs"], held["results"], strict=True):
        values = ca.vertcat(SX(0, 1), *(numbers[_place(k)] for k in places))
        results.append(ca.reshape(values, int(rows), int(columns)))
    return ca.Function(_word(held["name"]), symbols, results)


def _symbol(k: int, rows: Any, columns: Any) -> SX:
    if not (isinstance(rows, int) and isinstance(columns, int) and 0 <= rows * columns <= LARGEST):
        raise ValueError(f"no size {rows!r} x {columns!r}")
    return SX.sym(f"x{k}", rows, columns)


LARGEST = 10**6
"""Most numbers of an input."""


def _place(k: Any) -> int:
    if not isinstance(k, int) or k < 0:
        raise ValueError(f"no number {k!r}")
    return k


def _word(name: Any) -> str:
    """Return a name that CasADi takes."""
    return name if isinstance(name, str) and ca.Function.check_name(name) else "function"
