"""SX code that calls functions (CasADi functions made with `never_inline`), in layers.

Layer 0 is everything that rests on no call, as one straight-line body. Then come the calls that need no other call, the
straight-line code that rests on them, and so on: few bodies, however many calls there are.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from dataclasses import dataclass, field

import casadi as ca
import numpy as np

from .instructions import Instructions

Rows = tuple[int, ...]


@dataclass
class Inner:
    """A call: the function, the rows of each of its inputs, and the rows that its outputs are."""

    function: ca.Function
    inputs: list[Rows]
    outputs: list[Rows]


@dataclass
class Layers:
    """All rows of a function in static single assignment form, with the layer of each.

    Rows of inputs and constants belong to every layer (-1).
    """

    op: list[int] = field(default_factory=list)
    first: list[int] = field(default_factory=list)
    second: list[int] = field(default_factory=list)
    layer: list[int] = field(default_factory=list)
    constant: dict[int, float] = field(default_factory=dict)
    outputs: list[np.ndarray] = field(default_factory=list)
    calls: dict[int, list[Inner]] = field(default_factory=lambda: defaultdict(list))

    def add(self, op: int, first: int, second: int, layer: int) -> int:
        """Append a row; return its number."""
        self.op.append(op)
        self.first.append(first)
        self.second.append(second)
        self.layer.append(layer)
        return len(self.op) - 1

    @property
    def depth(self) -> int:
        """The last layer."""
        return max([0, *self.calls, *self.layer])

    def needed(self) -> list[list[Rows]]:
        """Return what each layer has to hand on: operands of calls, each group of rows once; last all that is read singly."""
        wanted: list[dict[Rows, None]] = [{} for _ in range(self.depth + 1)]
        crossing: list[set[int]] = [set() for _ in range(self.depth + 1)]
        for inner in (each for calls in self.calls.values() for each in calls):
            for rows in inner.inputs:
                owners = {self.layer[r] for r in rows} - {-1}
                fixed = all(self.op[r] == ca.OP_CONST for r in rows)
                if (
                    fixed
                    or self._in_place(rows)
                    or len(owners) > 1
                    or any(self.op[r] == ca.OP_CALL for r in rows)
                ):
                    self._cross(rows, crossing)
                else:
                    wanted[owners.pop() if owners else 0][rows] = None
        for out in self.outputs:
            self._cross(tuple(out.tolist()), crossing)
        for i, op in enumerate(self.op):
            for r in (self.first[i], self.second[i]) if self._is_arithmetic(op) else ():
                if r >= 0 and self.layer[r] != self.layer[i]:
                    self._cross((r,), crossing)
        return [[*groups, tuple(sorted(more))] for groups, more in zip(wanted, crossing)]

    def _in_place(self, rows: Rows) -> bool:
        """Tell whether rows are inputs that follow each other, so that a call may read them where they are."""
        return all(self.op[r] == ca.OP_INPUT for r in rows) and all(
            self.first[b] == self.first[a] and self.second[b] == self.second[a] + 1
            for a, b in itertools.pairwise(rows)
        )

    def _cross(self, rows: Rows, crossing: list[set[int]]) -> None:
        for r in rows:
            if self._is_computed(r):
                crossing[self.layer[r]].add(r)

    def _is_computed(self, row: int) -> bool:
        return self._is_arithmetic(self.op[row])

    @staticmethod
    def _is_arithmetic(op: int) -> bool:
        return op not in (ca.OP_INPUT, ca.OP_CONST, ca.OP_CALL)

    def body(
        self, layer: int, groups: list[Rows], known: dict[int, int], n_in: int
    ) -> tuple[Instructions, list[int]]:
        """Return the straight-line code of a layer that computes `groups`, and the rows that it reads from elsewhere.

        Those become the input `n_in`, behind the inputs of the function itself.
        """
        live = self._live(layer, groups, known)
        number: dict[int, int] = {-1: -1}
        op, first, second = list[int](), list[int](), list[int]()
        constant, imported = dict[int, float](), list[int]()
        for row in live:
            number[row] = len(op)
            kind = self.op[row]
            if row in known:
                kind, a, b = ca.OP_INPUT, n_in, len(imported)
                imported.append(row)
            elif kind == ca.OP_INPUT:
                a, b = self.first[row], self.second[row]
            else:
                a, b = number[self.first[row]], number[self.second[row]]
            if kind == ca.OP_CONST:
                constant[len(op)] = self.constant[row]
            op.append(kind)
            first.append(a)
            second.append(b)
        outputs = [np.array([number[r] for r in rows], dtype=int) for rows in groups]
        return Instructions(op, first, second, constant, outputs), imported

    def _live(self, layer: int, groups: list[Rows], known: dict[int, int]) -> list[int]:
        """Return the rows that a layer needs, in order."""
        live = {r for rows in groups for r in rows}
        for row in range(len(self.op) - 1, -1, -1):
            if row in live and row not in known and self._is_arithmetic(self.op[row]):
                live |= {r for r in (self.first[row], self.second[row]) if r >= 0}
        return sorted(live)


def has_calls(function: ca.Function) -> bool:
    """Tell whether a function is SX code that calls functions."""
    return function.is_a("SXFunction") and bool(function.find_functions(0))


def layers(function: ca.Function) -> Layers:
    """Return the rows of an SX function by layers."""
    out = Layers(outputs=[np.full(function.nnz_out(k), -1) for k in range(function.n_out())])
    holder, nodes = [-1] * function.sz_w(), function.instructions_sx()
    for i in range(function.n_instructions()):
        kind, operands, targets = (
            function.instruction_id(i),
            function.instruction_input(i),
            function.instruction_output(i),
        )
        if kind == ca.OP_OUTPUT:
            out.outputs[targets[0]][targets[1]] = holder[operands[0]]
        elif kind == ca.OP_CALL:
            _call(out, nodes[i].which_function(), [holder[k] for k in operands], targets, holder)
        elif kind == ca.OP_INPUT:
            holder[targets[0]] = out.add(kind, operands[0], operands[1], -1)
        else:
            rows = [holder[k] for k in operands] + [-1, -1]
            layer = max([-1, *(out.layer[r] for r in rows if r >= 0)])
            made = out.add(kind, rows[0], rows[1], -1 if kind == ca.OP_CONST else max(layer, 0))
            if kind == ca.OP_CONST:
                out.constant[made] = function.instruction_constant(i)
            holder[targets[0]] = made
    return out


def _call(out: Layers, called: ca.Function, rows: list[int], targets: list[int], holder: list[int]) -> None:
    """Note a call of one more layer than its operands."""
    layer = 1 + max([0, *(out.layer[r] for r in rows)])
    inputs, outputs, at = list[Rows](), list[Rows](), 0
    for k in range(called.n_in()):
        inputs.append(tuple(rows[at : at + called.nnz_in(k)]))
        at += called.nnz_in(k)
    at = 0
    for k in range(called.n_out()):
        made = tuple(out.add(ca.OP_CALL, -1, -1, layer) for _ in range(called.nnz_out(k)))
        for target, row in zip(targets[at : at + len(made)], made):
            if target >= 0:
                holder[target] = row
        outputs.append(made)
        at += len(made)
    out.calls[layer].append(Inner(called, inputs, outputs))
