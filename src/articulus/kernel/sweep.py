"""A sweep: one function called on many selections of its operands, each passed over where a guard says so.

For call k = 0, 1, ... with operands x_r, slices of the sweep's inputs, and results that are added to slices of its outputs:

    if guard(x_0, x_1, ...) != 0:  y_s += body(guard, x_0, x_1, ...)_s

`function` makes it as a CasADi function that calls `body` once per selection, which CasADi evaluates and differentiates.
Native code knows the same function by its name and runs it as a loop over a table of places, so that its text does not grow
with the number of calls and a call that is passed over costs its guard alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import casadi as ca
import numpy as np
from casadi import SX

from . import lower
from .graph import CONDITIONAL, Procedure, Rule, Selection, SelectionLoop, remember
from .lower import Place
from .target import Target
from .writer import CodeWriter


def function(
    guard: ca.Function,
    body: ca.Function,
    inputs: Sequence[int],
    reads: Sequence[Selection],
    outputs: Sequence[int],
    adds: Sequence[Selection],
) -> ca.Function:
    """Return a sweep as a CasADi function of columns.

    Parameters
    ----------
    guard : casadi.Function
        (x_0, x_1, ...) -> a number. An SX function.
    body : casadi.Function
        (guard, x_0, x_1, ...) -> columns that are zero where the guard is. An SX function whose name begins with "when_".
    inputs, outputs : sequence of int
        Lengths of the columns that the sweep reads and makes.
    reads, adds : sequence of Selection
        Where each operand is read and each result is added, for each call.
    """
    assert body.name().startswith(CONDITIONAL)
    x = [SX.sym(f"x{k}", n) for k, n in enumerate(inputs)]
    y = [[SX(0)] * n for n in outputs]
    for k in range(len(reads[0].starts)):
        operands = [x[r.column][r.starts[k] : r.starts[k] + r.size] for r in reads]
        results = body.call([guard(*operands), *operands], False, True)
        for result, add in zip(results, adds):
            column, start = y[add.column], add.starts[k]
            for element, value in enumerate(ca.vertsplit(result)):
                column[start + element] = column[start + element] + value
    text = repr((body.serialize(), guard.serialize(), list(inputs), list(outputs), list(reads), list(adds)))
    name = f"sweep_{hashlib.sha256(text.encode()).hexdigest()[:24]}"
    columns = [ca.densify(ca.vertcat(SX(0, 1), *column)) for column in y]
    return remember(ca.Function(name, x, columns), Rule(guard, body, tuple(reads), tuple(adds)))


class SweepTables:
    """The sweeps of a program: their loops and the tables of places that these read.

    Parameters
    ----------
    sweeps : list of SelectionLoop
        Operands are slots.
    scratch : int
        First slot for results of a call and for values that cross chunks; `scratch` afterwards shows how many were used.
    target : Target
    prefix : str
        Begins every name.
    """

    def __init__(self, sweeps: list[SelectionLoop], scratch: int, target: Target, prefix: str = ""):
        self._target, self._first, self._prefix = target, scratch, prefix
        self._names: dict[int, str] = {}
        self.text: list[str] = []
        self.scratch = 0
        for number, sweep in enumerate(sweeps):
            self._names[id(sweep)] = f"{prefix}sweep{number}"
            self._emit(sweep, f"{prefix}sweep{number}")

    def call(self, step: SelectionLoop) -> list[str]:
        """Return the text that runs a sweep."""
        return [f"call void @{self._names[id(step)]}(ptr %w)"]

    def _emit(self, sweep: SelectionLoop, name: str) -> None:
        sizes = [r.size for r in sweep.rule.reads]
        results = [a.size for a in sweep.rule.adds]
        held = 1 + sum(results)  # the guard, then the results of a call
        guard = self._write_shared(sweep.guard, sizes, [1], f"{name}.guard", self._first + held)
        body = self._write_shared(sweep.body, [1, *sizes], results, f"{name}.body", self._first + held)
        self.scratch = max(self.scratch, held + guard[1], held + body[1])
        self.text += [self._table(sweep, name), self._loop(sweep, name, guard[0], body[0])]

    def _write_shared(
        self, procedure: Procedure, inputs: list[int], outputs: list[int], name: str, scratch: int
    ) -> tuple[int, int]:
        """Write a procedure; return its number of chunks and the slots that it takes."""
        places = [[Place(f"%i{k}", j, False) for j in range(n)] for k, n in enumerate(inputs)]
        results = [[Place(f"%o{k}", j, False) for j in range(n)] for k, n in enumerate(outputs)]
        placed = lower.place(procedure.code, places, results, scratch)
        pointers = [f"%i{k}" for k in range(len(inputs))] + [f"%o{k}" for k in range(len(outputs))]
        parameters = ", ".join(f"ptr noalias {p}" for p in ["%w", *pointers])
        self.text += lower.emit(placed, name, self._target, parameters)
        return len(placed.chunks), placed.scratch

    def _table(self, sweep: SelectionLoop, name: str) -> str:
        """Return the table with a row for each call: places of operands and results, in bytes of the workspace."""
        size, rule = self._target.bytes, sweep.rule
        columns = [int(sweep.inputs[r.column][0]) + np.array(r.starts) for r in rule.reads]
        columns += [int(sweep.outputs[a.column][0]) + np.array(a.starts) for a in rule.adds]
        values = (np.stack(columns, axis=1).ravel() * size).tolist()
        text = ", ".join(f"i32 {x}" for x in values)
        return f"@{name}.table = internal constant [{len(values)} x i32] [{text}], align 64\n"

    def _loop(self, sweep: SelectionLoop, name: str, guards: int, bodies: int) -> str:
        w, rule, size = CodeWriter(self._target), sweep.rule, self._target.bytes
        width, calls = len(rule.reads) + len(rule.adds), len(rule.reads[0].starts)
        w.label("entry")
        starts = np.cumsum([self._first, 1, *(add.size for add in rule.adds)])[:-1].tolist()
        held = [w.offset("%w", start * size) for start in starts]  # the guard, then each result
        for out in filter(len, sweep.outputs):
            self._clear(w, w.offset("%w", int(out[0]) * size), len(out))
        w.line("br label %next")
        w.label("next")
        at = w.phi("i64", "0", "entry")
        row = w.do(f"getelementptr inbounds i32, ptr @{name}.table, i64 {at}")
        places = [
            w.do(f"zext i32 {w.load(w.offset(row, 4 * k), 'i32', 4)} to i64") for k in range(len(rule.reads))
        ]
        operands = [w.offset("%w", place) for place in places]
        for k in range(guards):
            w.line(f"call void @{name}.guard.{k}({_pointers('%w', *operands, held[0])})")
        near = w.any(w.compare("une", w.load(held[0]), w.constant(0.0)))
        w.line(f"br i1 {near}, label %run, label %step")
        w.label("run")
        for k in range(bodies):
            w.line(f"call void @{name}.body.{k}({_pointers('%w', held[0], *operands, *held[1:])})")
        for k, add in enumerate(rule.adds):
            place = w.load(w.offset(row, 4 * (len(rule.reads) + k)), "i32", 4)
            target = w.offset("%w", w.do(f"zext i32 {place} to i64"))
            for element in range(add.size):
                where = w.offset(target, element * size)
                w.store(w.add(w.load(where), w.load(w.offset(held[1 + k], element * size))), where)
        w.line("br label %step")
        w.label("step")
        following = w.do(f"add i64 {at}, {width}")
        w.close(at, following, "step")
        w.line(f"br i1 {w.do(f'icmp slt i64 {following}, {width * calls}')}, label %next, label %done")
        w.label("done")
        w.line("ret void")
        return w.function(f"internal void @{name}(ptr noalias %w)", "nounwind noinline")

    def _clear(self, w: CodeWriter, pointer: str, count: int) -> None:
        size = self._target.bytes
        w.line(
            f"call void @llvm.memset.p0.i64(ptr align {size} {pointer}, i8 0, i64 {count * size}, i1 false)"
        )


def _pointers(*names: str) -> str:
    return ", ".join(f"ptr {name}" for name in names)
