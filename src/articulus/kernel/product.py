"""Dense matrix products in lane layout: a loop nest over register tiles.

A tile keeps rows x columns sums in registers and walks once along the inner dimension. Strides are arbitrary, since in
lane layout an element is a whole vector: a transposed matrix costs nothing. In code for one row of a batch an element is a single
number; there the rows of the tile are one vector where they are neighbors in memory. The sums are the same bit for bit.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .graph import MatrixProduct
from .target import Target
from .writer import CodeWriter

Run = tuple[int, int, int]  # start, size, count of equal tiles


def tile_shape(target: Target) -> tuple[int, int]:
    """Return rows and columns of the tile: sums, one column of the left operand and one spare fill the registers."""
    return (4, 6) if target.registers >= 32 else (3, 4)


def strides(slots: np.ndarray) -> tuple[int, int, int] | None:
    """Return base, row stride and column stride if the slots of a matrix are regular, else None."""
    rows, columns = slots.shape
    base = int(slots[0, 0])
    down = int(slots[1, 0]) - base if rows > 1 else 0
    across = int(slots[0, 1]) - base if columns > 1 else 0
    regular = base + down * np.arange(rows)[:, None] + across * np.arange(columns)
    return (base, down, across) if np.array_equal(slots, regular) else None


def _cuts(n: int, tile: int) -> list[Run]:
    """Return (start, size, count) of the runs of equal tiles that cover n."""
    whole, rest = divmod(n, tile)
    return [(0, tile, whole)] * bool(whole) + [(whole * tile, rest, 1)] * bool(rest)


def _runs(step: MatrixProduct, target: Target) -> list[tuple[Run, Run]]:
    rows, columns = tile_shape(target)
    cuts = _powers(step.result.shape[0]) if _upright(step, target) else _cuts(step.result.shape[0], rows)
    return [(r, c) for c in _cuts(step.result.shape[1], columns) for r in cuts]


def _powers(n: int) -> list[Run]:
    """Return (start, size, count) of runs of tiles of 8, 4, 2 and 1 rows that cover n."""
    runs, start = [], 0
    for size in (8, 4, 2, 1):
        if count := (n - start) // size:
            runs.append((start, size, count))
            start += size * count
    return runs


def _upright(step: MatrixProduct, target: Target) -> bool:
    """Tell whether the rows of a product are neighbors in memory: they make one vector."""
    matrices = [step.left, step.result] if step.start is None else [step.left, step.result, step.start]
    return target.lanes == 1 and all((strides(m) or (0, 0, 0))[1] == 1 for m in matrices)


def _tile_name(rows: int, columns: int, step: MatrixProduct, target: Target) -> str:
    form = "column" if _upright(step, target) else "tile"
    return f"{form}.{rows}x{columns}.{'minus' if step.sign < 0 else 'plus'}.{'zero' if step.start is None else 'start'}"


def emit(step: MatrixProduct, name: str, target: Target) -> str:
    """Return the text of `@name(ptr %w)`, which computes one product tile by tile."""
    w = CodeWriter(target)
    w.label("entry")
    previous = "entry"
    for number, (row_run, column_run) in enumerate(_runs(step, target)):
        previous = _tile_loop(w, step, row_run, column_run, f"{number}", previous)
    w.line("ret void")
    return w.function(f"internal void @{name}(ptr noalias %w)")


def _tile_loop(
    w: CodeWriter, step: MatrixProduct, row_run: Run, column_run: Run, label: str, previous: str
) -> str:
    """Write the loops over the tiles of one run; return the label of the block after them."""
    (row_start, rows, row_count), (column_start, columns, column_count) = row_run, column_run
    w.line(f"br label %i{label}")
    w.label(f"i{label}")
    w.line(f"%r{label} = phi i64 [ 0, %{previous} ], [ %r{label}.next, %iend{label} ]")
    w.line(f"br label %j{label}")
    w.label(f"j{label}")
    w.line(f"%c{label} = phi i64 [ 0, %i{label} ], [ %c{label}.next, %j{label} ]")
    row = w.do(f"add i64 {row_start}, {w.do(f'mul i64 %r{label}, {rows}')}")
    column = w.do(f"add i64 {column_start}, {w.do(f'mul i64 %c{label}, {columns}')}")
    _call_tile(w, step, (rows, columns), row, column)
    w.line(f"%c{label}.next = add i64 %c{label}, 1")
    w.line(
        f"br i1 {w.do(f'icmp slt i64 %c{label}.next, {column_count}')}, label %j{label}, label %iend{label}"
    )
    w.label(f"iend{label}")
    w.line(f"%r{label}.next = add i64 %r{label}, 1")
    w.line(f"br i1 {w.do(f'icmp slt i64 %r{label}.next, {row_count}')}, label %i{label}, label %end{label}")
    w.label(f"end{label}")
    return f"end{label}"


def _call_tile(w: CodeWriter, step: MatrixProduct, shape: tuple[int, int], row: str, column: str) -> None:
    size = w.target.bytes
    arguments = []
    for matrix, position in ((step.left, (row, "0")), (step.right, ("0", column)), (step.result, (row, column)),
                             (step.result if step.start is None else step.start, (row, column))):  # fmt: skip
        base, down, across = strides(matrix) or (0, 0, 0)
        at = w.do(f"add i64 {base * size}, {w.do(f'mul i64 {position[0]}, {down * size}')}")
        at = w.do(f"add i64 {at}, {w.do(f'mul i64 {position[1]}, {across * size}')}")
        arguments += [f"ptr {w.offset('%w', at)}", f"i64 {down * size}", f"i64 {across * size}"]
    inner = step.left.shape[1]
    w.line(f"call void @{_tile_name(*shape, step, w.target)}({', '.join(arguments)}, i64 {inner})")


def tiles(target: Target, steps: list[MatrixProduct]) -> str:
    """Return the text of every tile function that the products call."""
    wanted = {}
    for step in steps:
        for (_, rows, _), (_, columns, _) in _runs(step, target):
            name, form = _tile_name(rows, columns, step, target), (columns, step.sign, step.start is not None)
            if _upright(step, target):
                wanted[name] = (replace(target, lanes=rows), 1, *form)
            else:
                wanted[name] = (target, rows, *form)
    return "\n".join(_tile(name, target.lanes, *shape) for name, shape in wanted.items())


def _tile(name: str, lanes: int, target: Target, rows: int, columns: int, sign: int, start: bool) -> str:
    """Return the text of a tile in code for `lanes` rows of a batch; the target's lanes may be rows of the tile."""
    w = CodeWriter(target)
    w.label("entry")
    cells = [(i, j) for i in range(rows) for j in range(columns)]
    align = 8 * lanes
    begin = {
        cell: w.load(_at(w, "%s", "%sd", "%sa", cell), align=align) if start else w.constant(0.0)
        for cell in cells
    }
    downs = {i: w.do(f"mul i64 %ld, {i}") for i in range(rows)}
    acrosses = {j: w.do(f"mul i64 %ra, {j}") for j in range(columns)}
    w.line("br label %inner")
    w.label("inner")
    count, lp, rp = w.phi("i64", "0", "entry"), w.phi("ptr", "%l", "entry"), w.phi("ptr", "%r", "entry")
    sums = {cell: w.phi(target.type, begin[cell], "entry") for cell in cells}
    left = [w.load(w.offset(lp, downs[i]), align=align) for i in range(rows)]
    left = left if sign > 0 else [w.neg(x) for x in left]
    right = (_right(w, w.offset(rp, acrosses[j]), lanes) for j in range(columns))
    new = {(i, j): w.fma(left[i], x, sums[i, j]) for j, x in enumerate(right) for i in range(rows)}
    step = w.do(f"add i64 {count}, 1")
    w.close(count, step, "inner")
    w.close(lp, w.offset(lp, "%la"), "inner")
    w.close(rp, w.offset(rp, "%rd"), "inner")
    for cell in cells:
        w.close(sums[cell], new[cell], "inner")
    w.line(f"br i1 {w.do(f'icmp slt i64 {step}, %n')}, label %inner, label %end")
    w.label("end")
    for cell in cells:
        w.store(new[cell], _at(w, "%c", "%cd", "%ca", cell), align=align)
    w.line("ret void")
    matrices = ", ".join(f"ptr %{m}, i64 %{m}d, i64 %{m}a" for m in "lrcs")
    return w.function(f"internal void @{name}({matrices}, i64 %n)", "nounwind noinline")


def _right(w: CodeWriter, pointer: str, lanes: int) -> str:
    """Return an element of the right operand: one number for all rows of a tile that is a vector."""
    if lanes == w.target.lanes:
        return w.load(pointer)
    return w.pack([w.load(pointer, "double", 8)] * w.target.lanes)


def _at(w: CodeWriter, base: str, down: str, across: str, cell: tuple[int, int]) -> str:
    row = w.offset(base, w.do(f"mul i64 {down}, {cell[0]}"))
    return w.offset(row, w.do(f"mul i64 {across}, {cell[1]}"))
