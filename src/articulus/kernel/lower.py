"""Straight-line code to LLVM text: fuse, pair sines with cosines, cut in chunks, place crossing values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import casadi as ca

from . import ops
from .instructions import Instructions
from .target import Target

SHORT_CODE = 3000  # rows up to which the instructions stay in the processor's nearest caches
CHUNKS = (
    700,
    200,
)  # rows per emitted function for short and long code: measured; one huge block compiles badly
RELOAD_FROM = 2000  # rows of code from which operands are loaded again; in shorter code that takes time (7 % at 400 rows)
RELOAD_AFTER = 50  # rows without a use after which an operand is loaded again: kept longer, it would be copied to the stack
STORE = -10  # pseudo operation: write the operand to workspace slot `result`
CLEAR = -11  # pseudo operation: write zeros to the slots `result`, a run of them
CLEAR_FROM = 8  # zeros in a row that are written by one operation

Row = tuple[int, Any, tuple[int, ...]]  # operation, result (a place for STORE), operands


class Place(NamedTuple):
    """Where an operand of a procedure lives: `element` behind the pointer `base`."""

    base: str
    element: int
    constant: bool
    """One double for all lanes, instead of one per lane."""


_PRODUCTS = (ca.OP_MUL, ca.OP_SQ)
_LEAVES = (ca.OP_INPUT, ca.OP_CONST)


@dataclass(frozen=True)
class Placed:
    """Rows in the order of emission, and where each of their outside values lives.

    Attributes
    ----------
    rows : list of Row
        What to compute; operands are value numbers.
    constant : dict
        Value number to constant.
    slot : dict
        Value number to workspace slot (or place behind a pointer), for inputs and for values that cross a chunk
        border.
    chunks : list of (int, int)
        Row ranges of the emitted functions.
    scratch : int
        Slots taken for crossing values.
    """

    rows: list[Row]
    constant: dict[int, float]
    slot: dict[int, int | Place]
    chunks: list[tuple[int, int]]
    scratch: int


def place(
    code: Instructions, inputs: Sequence[Sequence], outputs: Sequence[Sequence], scratch: int
) -> Placed:
    """Schedule a function whose input and output nonzeros live at the given slots or places.

    Crossing values take slots from `scratch` upwards, reused as soon as their value is dead.
    """
    rows = _with_stores(_pair_sines(code, _fuse(code)), code, outputs)
    size = CHUNKS[len(rows) > SHORT_CODE]
    chunks = [(start, min(start + size, len(rows))) for start in range(0, len(rows), size)]
    known = {i: inputs[code.first[i]][code.second[i]] for i, op in enumerate(code.op) if op == ca.OP_INPUT}
    crossing, used = _crossing_slots(rows, known.keys() | code.constant.keys(), scratch, size)
    return Placed(rows, code.constant, {**known, **crossing}, chunks, used)


def _fuse(code: Instructions) -> list[Row]:
    """Merge each addition with a product that only it uses, or with two choices that exclude each other; drop inputs and constants from the
    rows."""
    uses = _use_counts(code)
    op, first, second = code.op, code.first, code.second
    fused: dict[int, Row] = {}
    gone: set[int] = set()
    for i, kind in enumerate(op):
        if kind in (ca.OP_ADD, ca.OP_SUB):
            a, b = first[i], second[i]
            if kind == ca.OP_ADD and (choice := _choice(code, uses, a, b)):
                fused[i] = (ops.SELECT, i, choice)
                gone |= {a, b}
                continue
            if op[b] in _PRODUCTS and uses[b] == 1:
                sign, product, other = (ops.FMA if kind == ca.OP_ADD else ops.FNMA), b, a
            elif op[a] in _PRODUCTS and uses[a] == 1:
                sign, product, other = (ops.FMA if kind == ca.OP_ADD else ops.FMS), a, b
            else:
                continue
            x = first[product]
            y = second[product] if op[product] == ca.OP_MUL else x
            fused[i] = (sign, i, (x, y, other))
            gone.add(product)
    return [
        fused.get(i) or (kind, i, _operands(first[i], second[i]))
        for i, kind in enumerate(op)
        if i not in gone and kind not in _LEAVES and (kind != ca.OP_NOT or uses[i])
    ]


def _choice(code: Instructions, uses: list[int], a: int, b: int) -> tuple[int, int, int] | None:
    """Return condition and both values if two operands of a sum are the halves of one `if_else`, in any order, and used only here."""
    op, first, second = code.op, code.first, code.second
    if op[a] != ca.OP_IF_ELSE_ZERO or op[b] != ca.OP_IF_ELSE_ZERO or uses[a] != 1 or uses[b] != 1:
        return None
    for one, other in ((a, b), (b, a)):
        if op[first[other]] == ca.OP_NOT and first[first[other]] == first[one]:
            uses[first[other]] -= 1
            return first[one], second[one], second[other]
    return None


def _operands(a: int, b: int) -> tuple[int, ...]:
    return (a, b) if b >= 0 else (a,)


def _use_counts(code: Instructions) -> list[int]:
    uses = [0] * (len(code) + 1)  # the last element takes the operands -1
    for kind, a, b in zip(code.op, code.first, code.second):
        if kind != ca.OP_INPUT:
            uses[a] += 1
            uses[b] += 1
    for rows in code.outputs:
        for row in rows.tolist():
            uses[row] += 1
    return uses


def _pair_sines(code: Instructions, rows: list[Row]) -> list[Row]:
    """Evaluate sine and cosine of one argument together; those of inputs come first of all.

    So do, in short code, those of inputs with a constant added: a call in the midst of other work saves every register.
    """
    pairs: dict[int, dict[int, int]] = {}
    for kind, result, operands in rows:
        if kind in (ca.OP_SIN, ca.OP_COS):
            pairs.setdefault(operands[0], {})[kind] = result
    if not pairs:
        return rows
    spare = len(code)
    made: dict[int, Row] = {}
    for argument, found in pairs.items():
        results = [found.get(ca.OP_SIN, spare), found.get(ca.OP_COS, spare + 1)]
        spare += 2
        made[argument] = (ops.SINCOS, results[0], (argument, results[1]))
    shifted = {
        row[1]: row
        for row in rows
        if row[0] not in (ca.OP_SIN, ca.OP_COS)
        and row[1] in made
        and all(code.op[x] in _LEAVES for x in row[2])
    }
    if len(rows) >= RELOAD_FROM:
        shifted = {}
    ordered: list[Row] = []
    for argument in [x for x in made if x in shifted or code.op[x] == ca.OP_INPUT]:
        ordered += [shifted[argument]] if argument in shifted else []
        ordered.append(made.pop(argument))
    for row in rows:
        if row[0] in (ca.OP_SIN, ca.OP_COS):
            ordered += [made.pop(row[2][0])] if row[2][0] in made else []
        elif row[1] not in shifted:
            ordered.append(row)
    return ordered


def _results(row: Row) -> tuple[int, ...]:
    """Return the values a row defines: a SINCOS row carries its cosine as second operand."""
    if row[0] == ops.SINCOS:
        return (row[1], row[2][1])
    return () if row[0] in (STORE, CLEAR) else (row[1],)


def _reads(row: Row) -> tuple[int, ...]:
    return row[2][:1] if row[0] == ops.SINCOS else row[2]


def _with_stores(rows: list[Row], code: Instructions, outputs: Sequence[Sequence]) -> list[Row]:
    """Insert the writing of each output right after its value; inputs and constants come last."""
    wanted: dict[int, list] = {}
    for values, slots in zip(code.outputs, outputs):
        for value, slot in zip(values.tolist(), slots):
            wanted.setdefault(value, []).append(slot)
    complete: list[Row] = []
    for row in rows:
        complete.append(row)
        for value in _results(row):
            complete += [(STORE, slot, (value,)) for slot in wanted.pop(value, ())]
    for value, slots in wanted.items():
        zero = str(code.constant.get(value)) == "0.0"  # not -0.0
        complete += _cleared(value, slots) if zero else [(STORE, slot, (value,)) for slot in slots]
    return complete


def _cleared(value: int, slots: list) -> list[Row]:
    """Return the rows that write zeros: runs of slots at once, so that a sparse matrix is little code."""
    out: list[Row] = []
    runs: list[list] = []
    for slot in sorted(slots):
        if runs and slot == _next(runs[-1][-1]):
            runs[-1].append(slot)
        else:
            runs.append([slot])
    for run in runs:
        out += [(CLEAR, run, ())] if len(run) >= CLEAR_FROM else [(STORE, slot, (value,)) for slot in run]
    return out


def _next(slot: int | Place) -> int | Place:
    return slot._replace(element=slot.element + 1) if isinstance(slot, Place) else slot + 1


def _crossing_slots(rows: list[Row], known: set[int], base: int, size: int) -> tuple[dict[int, int], int]:
    """Give a slot to each value read in a later chunk (of `size` rows) than its own (linear scan over the rows)."""
    last: dict[int, int] = {}
    born: dict[int, int] = {}
    for number, row in enumerate(rows):
        for value in _results(row):
            born[value] = number
        for value in _reads(row):
            last[value] = number
    slot: dict[int, int] = {}
    free: list[int] = []
    top = base
    for number, row in enumerate(rows):
        free += [slot[v] for v in dict.fromkeys(_reads(row)) if v in slot and last[v] == number]
        for value in _results(row):
            if last.get(value, -1) // size > number // size and value not in known:
                if not free:
                    free.append(top)
                    top += 1
                slot[value] = free.pop()
    return slot, top - base


def emit(placed: Placed, name: str, target: Target, parameters: str = "ptr noalias %w") -> list[str]:
    """Return the text of one internal function per chunk: `@name.0(ptr %w)`, `@name.1`, ..."""
    emitter = _Emitter(placed, target, name, parameters)
    return [emitter.chunk(k, start, stop) for k, (start, stop) in enumerate(placed.chunks)]


class _Emitter:
    """Writes chunks; keeps the templates and the texts of constants between them."""

    def __init__(self, placed: Placed, target: Target, name: str, parameters: str):
        self.placed, self.target, self.name, self.parameters = placed, target, name, parameters
        self.templates = ops.templates(target)
        self.constant = {value: target.constant(x) for value, x in placed.constant.items()}
        self.patience = RELOAD_AFTER if len(placed.rows) >= RELOAD_FROM else len(placed.rows)

    def chunk(self, index: int, start: int, stop: int) -> str:
        """Return the text of one chunk."""
        self.lines: list[str] = []
        self.known: dict[int, str] = {}
        self.loaded: dict[int, int] = {}
        self.truths: dict[int, str] = {}
        for number, row in enumerate(self.placed.rows[start:stop]):
            self.number = number
            self._row(*row)
        body = "\n".join(self.lines)
        signature = f"@{self.name}.{index}({self.parameters})"
        return f"define internal void {signature} nounwind {{\n{body}\nret void\n}}\n"

    def _row(self, kind: int, result: Any, operands: tuple[int, ...]) -> None:
        if kind == STORE:
            self._store(self._operand(operands[0]), result)
        elif kind == CLEAR:
            self._clear(result)
        elif kind == ops.SINCOS:
            argument = self._operand(operands[0])
            self._compute(kind, (result, operands[1]), a=argument, b=f"%v{operands[1]}")
        else:
            names = dict(zip("abc", map(self._operand, operands)))
            names |= dict(zip("pq", map(self._truth, operands[: ops.JUDGES.get(kind, 0)])))
            self._compute(kind, (result,), **names)

    def _compute(self, kind: int, results: tuple[int, ...], **names: str) -> None:
        template = self.templates.get(kind)
        if template is None:
            raise ops.unsupported(kind, self.name)
        self.lines.append(template.format(r=f"%v{results[0]}", **names))
        for value in results:
            self.known[value] = f"%v{value}"
            if kind in ops.TRUTHS:
                self.truths[value] = f"%v{value}.t"
            slot = self.placed.slot.get(value)
            if slot is not None:
                self._store(self.known[value], slot)

    def _truth(self, value: int) -> str:
        """Return whether a value is not zero: what a comparison in this chunk found, or a comparison with zero."""
        if value not in self.truths:
            name = self.truths[value] = f"%t{value}"
            zero = self.target.constant(0.0)
            self.lines.append(f"{name} = fcmp une {self.target.type} {self._operand(value)}, {zero}")
        return self.truths[value]

    def _operand(self, value: int) -> str:
        if value in self.loaded and self.number - self.loaded[value] > self.patience:
            del self.known[value]
        text = self.known.get(value) or self.constant.get(value) or self._load(value)
        if value in self.loaded:
            self.loaded[value] = self.number
        return text

    def _load(self, value: int) -> str:
        name, slot = f"%v{value}.{self.number}", self.placed.slot[value]
        self.known[value], self.loaded[value] = name, self.number
        if isinstance(slot, Place) and slot.constant:
            self._load_constant(name, slot)
            return name
        self.lines.append(f"{name}.p = {self._address(slot)}")
        self.lines.append(f"{name} = load {self.target.type}, ptr {name}.p, align {self.target.bytes}")
        return name

    def _load_constant(self, name: str, place: Place) -> None:
        self.lines.append(f"{name}.p = getelementptr inbounds double, ptr {place.base}, i64 {place.element}")
        if self.target.lanes == 1:
            self.lines.append(f"{name} = load double, ptr {name}.p, align 8")
            return
        t, n = self.target.type, self.target.lanes
        self.lines.append(f"{name}.d = load double, ptr {name}.p, align 8")
        self.lines.append(f"{name}.i = insertelement {t} poison, double {name}.d, i64 0")
        self.lines.append(f"{name} = shufflevector {t} {name}.i, {t} poison, <{n} x i32> zeroinitializer")

    def _store(self, text: str, slot: int | Place) -> None:
        name = f"%s{len(self.lines)}"
        self.lines.append(f"{name} = {self._address(slot)}")
        self.lines.append(f"store {self.target.type} {text}, ptr {name}, align {self.target.bytes}")

    def _clear(self, run: list) -> None:
        name, size = f"%s{len(self.lines)}", len(run) * self.target.bytes
        self.lines.append(f"{name} = {self._address(run[0])}")
        self.lines.append(
            f"call void @llvm.memset.p0.i64(ptr align {self.target.bytes} {name}, i8 0, i64 {size}, i1 false)"
        )

    def _address(self, slot: int | Place) -> str:
        base, index = ("%w", slot) if not isinstance(slot, Place) else (slot.base, slot.element)
        return f"getelementptr inbounds i8, ptr {base}, i64 {index * self.target.bytes}"
