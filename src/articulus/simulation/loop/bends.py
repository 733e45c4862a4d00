"""Times at which functions of time that a user wrote jump or bend, found in their operations.

Between its comparisons, absolute values, signs and roundings a function of CasADi is smooth. What these look at, where it rests on
time alone, is followed in the order of the operations: between the bends found so far it is smooth itself, and
where it changes its sign (passes a whole number, for roundings) is a bend.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import casadi as ca
import numpy as np
from casadi import SX

from articulus.simulation.loop.component import Component

SIGNED = (ca.OP_LT, ca.OP_LE, ca.OP_EQ, ca.OP_NE, ca.OP_FMIN, ca.OP_FMAX)
"""Operations that bend or jump where their two inputs are equal."""
ROUNDED = (ca.OP_FLOOR, ca.OP_CEIL)
POINTS = 257
"""Points between two bends at which what is not a straight line is examined."""
MOST = 20_000
"""Bends of one operation beyond which it is left to the control of the error."""
LONGEST = 20_000
"""Operations of a function beyond which it is not looked through."""
STRAIGHT = 1e-9
"""Distance from a straight line, relative to its ends, below which a change of sign is solved for."""


Values = Callable[[np.ndarray], np.ndarray]


class Bends:
    """The bends of one function of time.

    Parameters
    ----------
    function : casadi.Function
    time : int
        Which input is time.
    """

    def __init__(self, function: ca.Function, time: int):
        given = [SX.sym("x", function.sparsity_in(i)) for i in range(function.n_in())]
        t, rest = given[time], ca.vertcat(SX(0, 1), *(ca.vec(x) for i, x in enumerate(given) if i != time))
        self._operands = [
            (ca.Function("operand", [t], [operand]), rounded)
            for operand, rounded in _operands(function.expand(), given)
            if ca.depends_on(operand, t) and not ca.depends_on(operand, rest)
        ]

    def __bool__(self) -> bool:
        return bool(self._operands)

    def between(self, t0: float, t1: float) -> list[float]:
        """Return the bends after t0 and before t1 [s], ascending."""
        bends = [t0, t1]
        for function, rounded in self._operands:

            def values(t: np.ndarray, f: ca.Function = function) -> np.ndarray:
                return np.array(f(t[None])).ravel()

            found = [t for a, b in itertools.pairwise(bends) for t in _within(values, a, b, rounded)]
            if len(found) <= MOST:
                bends = sorted({*bends, *found})
        return [t for t in bends if t0 < t < t1]


def _operands(function: ca.Function, given: Sequence[SX]) -> list[tuple[SX, bool]]:
    """Return what the comparisons, absolute values, signs and roundings of a function look at, in order, and whether they round."""
    count = function.n_instructions()
    if count > LONGEST:
        return []
    work: dict[int, SX] = {}
    found: list[tuple[SX, bool]] = []
    for k in range(count):
        op, ins, outs = (
            function.instruction_id(k),
            function.instruction_input(k),
            function.instruction_output(k),
        )
        if op == ca.OP_OUTPUT:
            continue
        if op == ca.OP_INPUT:
            work[outs[0]] = ca.vec(given[ins[0]])[ins[1]]
        elif op == ca.OP_CONST:
            work[outs[0]] = SX(function.instruction_constant(k))
        elif op == ca.OP_CALL:  # a table that is looked up: not followed any further
            work |= dict.fromkeys(outs, SX.nan())
        elif len(ins) == 1:
            x = work[ins[0]]
            if op in (ca.OP_FABS, ca.OP_SIGN, *ROUNDED):
                found.append((x, op in ROUNDED))
            work[outs[0]] = SX.unary(op, x)
        else:
            a, b = (work[i] for i in ins[:2])
            if op in SIGNED:
                found.append((a - b, False))
            elif op == ca.OP_FMOD:
                found.append((a / b, True))
            work[outs[0]] = SX.binary(op, a, b)
    return found


def _within(values: Values, a: float, b: float, rounded: bool) -> list[float]:
    """Return where values pass zero, or whole numbers where `rounded`, between a and b."""
    t = np.linspace(a, b, 5)[1:-1]
    x = values(t)
    if not np.isfinite(x).all():
        return []
    straight = abs(x[0] - 2 * x[1] + x[2]) <= STRAIGHT * np.abs(x).max()
    levels = [0.0]
    if straight:
        slope = (x[2] - x[0]) / (t[2] - t[0])
        ends = sorted((x[1] + slope * (a - t[1]), x[1] + slope * (b - t[1])))
        if rounded:
            if ends[1] - ends[0] > MOST:
                return []
            levels = list(map(float, range(int(np.ceil(ends[0])), int(np.floor(ends[1])) + 1)))
        if slope == 0:
            return []
        places = [t[1] + (level - x[1]) / slope for level in levels]
        near = 1e-9 * (b - a)
        spans = [(max(a, s - near), min(b, s + near), level) for s, level in zip(places, levels)]
    else:
        t = np.linspace(a, b, POINTS)
        x = values(t)
        if not np.isfinite(x).all():
            return []
        if rounded:
            levels = list(map(float, range(int(np.ceil(x.min())), int(np.floor(x.max())) + 1)))[:MOST]
        spans = [
            (t[i], t[i + 1], level)
            for level in levels
            for i in np.flatnonzero((x[:-1] - level) * (x[1:] - level) <= 0)
        ]
    found = [_first_after(values, *span) for span in spans]
    return [t for t in found if t is not None]


def _first_after(values: Values, a: float, b: float, level: float) -> float | None:
    """Return the first number after a change of sign between a and b; None where there is none."""
    f_a, f_b = (float(x) - level for x in values(np.array([a, b])))
    if not a < b or f_a * f_b > 0 or f_a == f_b == 0:
        return None
    while True:
        middle = a + (b - a) / 2
        if not a < middle < b:
            return b if f_a != 0 else a
        f = float(values(np.array([middle]))[0]) - level
        if (f_a != 0 and f * f_a > 0) or (f_a == 0 and f == 0):
            a = middle
        else:
            b = middle


def bends_of(component: Component) -> list[Bends]:
    """Return the bends of the functions of time that a continuous component holds."""
    functions = [value for value in vars(component).values() if isinstance(value, ca.Function)]
    found = []
    for function in functions if component.period is None else ():
        inputs = tuple(getattr(component, "inputs", ("t",)))  # without names it is a function of time alone
        if len(inputs) != function.n_in() or "t" not in inputs:
            continue
        try:
            bends = Bends(function, inputs.index("t"))
        except (
            RuntimeError
        ):  # one that CasADi cannot write out: the error of its steps is controlled all the same
            continue
        if bends:
            found.append(bends)
    return found
