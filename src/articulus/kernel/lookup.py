"""Rows of a table of constants, found by number: what a function of time given by thousands of samples needs.

`row` makes a CasADi function of a number, which CasADi evaluates; its derivative is zero. Native code knows such a function by the
beginning of its name and reads the row from a constant of the module: the cost does not depend on the length of the table.
"""

from __future__ import annotations

import hashlib
import math
from functools import lru_cache

import casadi as ca
import numpy as np
from casadi import MX, SX

from .graph import LOOKUP, Lookup
from .target import Target, hexadecimal
from .writer import CodeWriter

LONG = 32
"""Rows from which a table is better searched than written out."""


def row(table: np.ndarray) -> ca.Function:
    """Return the function of a number i that gives row floor(i) of a table (n, m) as a column; below 0 the first, beyond n the last."""
    return _row(table.shape[0], np.ascontiguousarray(table, dtype=float).tobytes())


@lru_cache(maxsize=64)
def _row(n: int, content: bytes) -> ca.Function:
    table = np.frombuffer(content).reshape(n, -1)
    name = f"{LOOKUP}{n}_{hashlib.sha256(content).hexdigest()[:24]}"
    i, m = MX.sym("i"), table.shape[1]
    place = m * ca.floor(ca.fmax(0, ca.fmin(i, n - 1))) + MX(ca.DM(np.arange(m)))
    nothing = ca.fmin(ca.fabs(i), 0)  # CasADi loses derivatives of calls whose pattern is empty
    return ca.Function(name, [i], [MX(ca.DM(table.ravel()))[place] + nothing], {"never_inline": True})


def looked_up(table: np.ndarray, i: SX) -> SX:
    """Return row floor(i) of a table (n, m) as a column of expressions."""
    return row(table).call([i], False, True)[0]


def interval(times: np.ndarray, t: SX) -> SX:
    """Return the last i with times[i] <= t for ascending times, 0 before the first: log2(n) rows are read."""
    column, i = np.asarray(times, dtype=float)[:, None], SX(0)
    for power in range(math.ceil(math.log2(max(len(column), 2))) - 1, -1, -1):
        further = i + 2**power
        inside = further <= len(column) - 1
        i = ca.if_else(ca.logic_and(inside, t >= looked_up(column, further)), further, i)
    return i


class Lookups:
    """The tables of a program and the functions that read them.

    Parameters
    ----------
    lookups : list of Lookup
        Operands are slots.
    target : Target
    prefix : str
        Begins every name.
    """

    def __init__(self, lookups: list[Lookup], target: Target, prefix: str = ""):
        self._target = target
        self._names: dict[int, str] = {}
        tables: dict[str, str] = {}
        self.text: list[str] = []
        for number, step in enumerate(lookups):
            if step.name not in tables:
                tables[step.name] = f"@{prefix}lookup{len(tables)}.table"
                self.text.append(_constant(step.table, tables[step.name]))
            self._names[id(step)] = f"{prefix}lookup{number}"
            self.text.append(self._read(step, f"{prefix}lookup{number}", tables[step.name]))

    def call(self, step: Lookup) -> list[str]:
        """Return the text that reads a row."""
        return [f"call void @{self._names[id(step)]}(ptr %w)"]

    def _read(self, step: Lookup, name: str, table: str) -> str:
        w, t = CodeWriter(self._target), self._target
        (n, m), integer = step.table.shape, self._target.of("i64")
        w.label("entry")
        given = w.load(w.offset("%w", int(step.inputs[0][0]) * t.bytes))
        low, high = w.constant(0.0), w.constant(float(n - 1))
        within = w.select(w.compare("ogt", given, low), given, low)  # not a number: the first row
        within = w.select(w.compare("olt", within, high), within, high)
        number = w.do(f"fptosi {t.type} {within} to {integer}")
        rows = []
        for lane in range(t.lanes):
            one = number if t.lanes == 1 else w.do(f"extractelement {integer} {number}, i64 {lane}")
            rows.append(w.do(f"getelementptr inbounds [{m} x double], ptr {table}, i64 {one}"))
        for k, slot in enumerate(step.outputs[0].tolist()):
            values = [w.load(w.offset(place, 8 * k), "double", 8) for place in rows]
            w.store(w.pack(values), w.offset("%w", slot * t.bytes))
        w.line("ret void")
        return w.function(f"internal void @{name}(ptr noalias %w)", "nounwind noinline")


def _constant(table: np.ndarray, name: str) -> str:
    values = ", ".join(f"double {hexadecimal(x)}" for x in table.ravel().tolist())
    return f"{name} = internal constant [{table.size} x double] [{values}], align 64\n"
