"""Straight-line code cut into pieces that run one by one, also on different processors: they share one workspace.

A piece is a set of rows of an instruction list, in the order in which they run. What a piece leaves for others has places of its own in
the workspace, a cache line apart from those of other pieces, and nothing is written twice.

`run(ptr frame)` reads a frame of two 64-bit words: workspace and number of the piece.
"""

from __future__ import annotations

import ctypes
import hashlib
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from . import arrays, lower, program
from .build import Source
from .call import PreparedCall
from .elementary import helpers
from .instructions import Instructions, instructions
from .program import Signature
from .target import Target

LINE = 8
"""Doubles of a cache line."""
MADE_ANYWHERE = frozenset((ca.OP_INPUT, ca.OP_CONST, ca.OP_NEG, ca.OP_ASSIGN, ca.OP_LIFT))
"""Rows that no piece has to itself: each piece that needs them makes them again."""


@dataclass(frozen=True)
class PiecesProgram:
    """An SX function in pieces.

    Attributes
    ----------
    function : casadi.Function
    rows : tuple of tuple of int
        Rows of each piece in the order in which they run; all rows of the function but those that are made anywhere.
    """

    function: ca.Function
    rows: tuple[tuple[int, ...], ...]

    @cached_property
    def signature(self) -> Signature:
        """Names, shapes, size."""
        f, code = self.function, self._code
        n_in, n_out = range(f.n_in()), range(f.n_out())
        return Signature(
            f.name(),
            tuple(f.name_in(k) for k in n_in),
            tuple(program.trailing_shape(*f.size_in(k)) for k in n_in),
            tuple(f.name_out(k) for k in n_out),
            tuple(program.trailing_shape(*f.size_out(k)) for k in n_out),
            code.arithmetic_count,
            code.flops,
        )

    @cached_property
    def _code(self) -> Instructions:
        return instructions(self.function)

    def text(self, target: Target) -> str:
        """Return the LLVM text of the whole module."""
        parts: list[str] = []
        cases: list[str] = []
        slots = self._shared_slots
        top = slots.end
        for k, rows in enumerate(self.rows):
            code, inputs, outputs = self._piece(k, rows, slots)
            placed = lower.place(code, [inputs], [outputs], top)
            top += -(-placed.scratch // LINE) * LINE
            parts += lower.emit(placed, f"piece{k}", target)
            calls = "\n".join(f"call void @piece{k}.{i}(ptr %w)" for i in range(len(placed.chunks)))
            cases.append(f"case{k}:\n{calls}\nbr label %done")
        choices = " ".join(f"i64 {k}, label %case{k}" for k in range(len(self.rows)))
        blocks = "\n".join(cases)
        parts.append(
            "define i64 @run(ptr %frame) nounwind {\n%w = load ptr, ptr %frame, align 8\n"
            "%at = getelementptr inbounds i64, ptr %frame, i64 1\n%which = load i64, ptr %at, align 8\n"
            f"switch i64 %which, label %done [ {choices} ]\n{blocks}\ndone:\nret i64 0\n}}\n"
        )
        parts.append(f"@slots = constant i64 {top}\n")
        text = "\n".join(parts)
        return text + helpers(target, text)

    @cached_property
    def _shared_slots(self) -> _Slots:
        return _Slots(self._code, self.rows, _places(self.function))

    def _piece(
        self, k: int, rows: tuple[int, ...], slots: _Slots
    ) -> tuple[Instructions, list[int], list[int]]:
        """Return the code of a piece, the slots of what it reads and of what it leaves for others."""
        code, own = self._code, set(rows)
        number: dict[int, int] = {}
        made = Instructions([], [], [], {}, [])
        read: list[int] = []

        def add(op: int, a: int, b: int) -> int:
            made.op.append(op)
            made.first.append(a)
            made.second.append(b)
            return len(made.op) - 1

        def value(row: int) -> int:
            if row < 0 or row in number:
                return number.get(row, -1)
            op = code.op[row]
            if op == ca.OP_CONST:
                number[row] = add(op, -1, -1)
                made.constant[number[row]] = code.constant[row]
            elif op == ca.OP_INPUT or (row not in own and op not in MADE_ANYWHERE):
                read.append(slots.place[row])
                number[row] = add(ca.OP_INPUT, 0, len(read) - 1)
            else:
                a, b = value(code.first[row]), value(code.second[row])
                number[row] = add(op, a, b)
            return number[row]

        for row in rows:
            value(row)
        left = slots.left[k]
        made.outputs.append(np.array([value(row) for row, _ in left], dtype=int))
        return made, read, [slot for _, slot in left]


class _Slots:
    """Where inputs, outputs and what crosses from piece to piece live.

    Attributes
    ----------
    place : dict
        Slot of each input and of each row that other pieces read.
    left : list of list of (int, int)
        Rows that each piece writes, and their slots; the first piece also writes outputs that no piece computes.
    end : int
        First slot after all of them.
    """

    def __init__(
        self,
        code: Instructions,
        pieces: tuple[tuple[int, ...], ...],
        places: tuple[list[np.ndarray], list[np.ndarray], int],
    ):
        inputs, outputs, self.end = places
        self.place = {
            i: int(inputs[code.first[i]][code.second[i]]) for i, op in enumerate(code.op) if op == ca.OP_INPUT
        }
        maker = {row: k for k, rows in enumerate(pieces) for row in rows}
        crossing = _crossing(code, pieces, maker)
        self.left: list[list[tuple[int, int]]] = [[] for _ in pieces]
        for k, rows in enumerate(pieces):
            self.end = -(-self.end // LINE) * LINE
            for row in rows:
                if row in crossing:
                    self.place[row] = self.end
                    self.left[k].append((row, self.end))
                    self.end += 1
        for values, slots in zip(code.outputs, outputs):
            for row, slot in zip(values.tolist(), slots.tolist()):
                self.left[maker.get(_source(code, row), 0)].append((row, slot))


def _source(code: Instructions, row: int) -> int:
    """Return the row that is made by a piece behind changes of sign."""
    while code.op[row] in MADE_ANYWHERE and code.first[row] >= 0 and code.op[row] != ca.OP_INPUT:
        row = code.first[row]
    return row


def _crossing(code: Instructions, pieces: tuple[tuple[int, ...], ...], maker: dict[int, int]) -> set[int]:
    """Return the rows that pieces other than their own read."""
    found = set()
    for k, rows in enumerate(pieces):
        for row in rows:
            for operand in (code.first[row], code.second[row]):
                if operand >= 0:
                    source = _source(code, operand)
                    if maker.get(source, k) != k:
                        found.add(source)
    return found


def _places(function: ca.Function) -> tuple[list[np.ndarray], list[np.ndarray], int]:
    """Return the slots of the nonzeros of all inputs and of all outputs, and the first after them; outputs begin a cache line."""
    found, start = [], 0
    for count, sparsity in (
        (function.n_in(), function.sparsity_in),
        (function.n_out(), function.sparsity_out),
    ):
        group = []
        for k in range(count):
            group.append(start + program.c_order(sparsity(k)))
            start += sparsity(k).numel()
        found.append(group)
        start = -(-start // LINE) * LINE
    return found[0], found[1], start


class FunctionPieces:
    """The pieces of a function in native code, on one workspace.

    Parameters
    ----------
    function : casadi.Function
        An SX function with dense outputs.
    rows : sequence of sequence of int
        Rows of its instruction list that each piece runs.

    Attributes
    ----------
    inputs, outputs : tuple of ndarray
        Views of the workspace; the calls read and write them.
    calls : tuple of PreparedCall
        A call for each piece.
    """

    def __init__(self, function: ca.Function, rows: Sequence[Sequence[int]]):
        kept = tuple(map(tuple, rows))
        digest = hashlib.sha256(f"{function.serialize()} {kept}".encode()).hexdigest()
        source = Source(f"pieces {digest}", lambda: PiecesProgram(function, kept))
        native = source.native(1)
        work = arrays.aligned(native.slots)
        shapes = source.signature().input_shapes, source.signature().output_shapes
        views, start = [], 0
        for group in shapes:
            sizes = program.sizes(group)
            ends = start + np.cumsum([0, *sizes])
            views.append(tuple(work[a:b].reshape(s) for a, b, s in zip(ends, ends[1:], group)))
            start = -(-int(ends[-1]) // LINE) * LINE
        self.inputs, self.outputs = views
        calls = []
        for k in range(len(kept)):
            frame = ctypes.create_string_buffer(struct.pack("2q", work.ctypes.data, k))
            call = PreparedCall(native.run_holding_lock, ctypes.addressof(frame))
            call.inputs, call.outputs = self.inputs, self.outputs
            call.keep = (native, work, frame)  # type: ignore[attr-defined]
            calls.append(call)
        self.calls = tuple(calls)
