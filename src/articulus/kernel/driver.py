"""The batch loop: rows of C-order arrays to lanes, the body, lanes back to rows, and the finite check.

`run(ptr frame)` reads a frame of 64-bit words

    begin, end, work, (pointer, row stride in bytes) of each input, the same of each output

and processes rows [begin, end) in blocks of as many rows as there are lanes. In the last block the row of a lane is
clamped to the last one: such lanes compute and store the same value again, so that there are no masks. Row
stride 0 broadcasts one row; it is gathered in the first block only.
"""

from __future__ import annotations

from collections.abc import Sequence

from .target import Target
from .writer import Writer

HEADER = 3  # words before the pointers of a frame


def frame_length(inputs: int, outputs: int) -> int:
    """Return the number of words in a frame."""
    return HEADER + 2 * (inputs + outputs)


def driver(target: Target, inputs: Sequence[int], outputs: Sequence[int]) -> str:
    """Return the text of `@run` and of its helpers, for inputs and outputs of the given sizes.

    Input and output elements occupy the first slots of the workspace in that order.
    """
    sizes = {n for n in (*inputs, *outputs) if n}
    parts = [_run(target, inputs, outputs)]
    if any(n >= target.lanes for n in sizes):
        parts += [_gather(target), _scatter(target)]
    parts += [
        _gather_narrow(target, n) + _scatter_narrow(target, n) for n in sorted(sizes) if n < target.lanes
    ]
    return "\n".join(parts)


def _run(target: Target, inputs: Sequence[int], outputs: Sequence[int]) -> str:
    w = Writer(target)
    w.label("entry")
    words = [
        w.load(w.offset("%frame", 8 * k), "i64", 8) for k in range(frame_length(len(inputs), len(outputs)))
    ]
    begin, end, operands = words[0], words[1], [words[k : k + 2] for k in range(HEADER, len(words), 2)]
    w.line(f"%work = inttoptr i64 {words[2]} to ptr")
    w.line(f"%last = sub i64 {end}, 1")
    w.line("br label %block")
    w.label("block")
    row, seen_in, seen_out = (w.phi(t, v, "entry") for t, v in _loop_variables(target, begin))
    w.line(f"%first = icmp eq i64 {row}, {begin}")
    place, check = 0, seen_in
    for k, n in enumerate(inputs):
        check = _gather_call(w, k, n, (*operands[k], row, check), place)
        place += n
    w.line("call void @body(ptr %work)")
    out_check = seen_out
    for k, n in enumerate(outputs):
        out_check = _scatter_call(w, n, (*operands[len(inputs) + k], row, out_check), place)
        place += n
    following = w.do(f"add i64 {row}, {target.lanes}")
    w.line("br label %done")
    w.label("done")
    for variable, value in ((row, following), (seen_in, check), (seen_out, out_check)):
        w.close(variable, value, "done")
    w.line(f"br i1 {w.do(f'icmp slt i64 {following}, {end}')}, label %block, label %finish")
    w.label("finish")
    w.line(f"ret i64 {_flags(w, check, out_check)}")
    return w.function("i64 @run(ptr %frame)")


def _loop_variables(target: Target, begin: str) -> list[tuple[str, str]]:
    zero = target.constant(0.0)
    return [("i64", begin), (target.type, zero), (target.type, zero)]


def _flags(w: Writer, check_in: str, check_out: str) -> str:
    """Return the flags: bit 0 when an input was not finite, bit 1 when an output was not."""
    zero = w.constant(0.0)
    bad_in = w.do(f"zext i1 {w.any(w.compare('uno', check_in, zero))} to i64")
    bad_out = w.do(f"zext i1 {w.any(w.compare('uno', check_out, zero))} to i64")
    return w.do(f"or i64 {bad_in}, {w.do(f'shl i64 {bad_out}, 1')}")


def _scatter_call(w: Writer, n: int, values: tuple[str, ...], place: int) -> str:
    """Scatter one output; return the finite check."""
    pointer, stride, row, check = values
    if not n:
        return check
    t = w.target.type
    address = w.do(f"inttoptr i64 {pointer} to ptr")
    lanes = w.offset("%work", place * w.target.bytes)
    arguments = f"ptr {lanes}, ptr {address}, i64 {stride}, i64 {row}, i64 %last, i64 {n}, {t} {check}"
    return w.do(f"call {t} @scatter{_variant(w.target, n)}({arguments})")


def _gather_call(w: Writer, k: int, n: int, values: tuple[str, ...], place: int) -> str:
    """Gather input `k`, unless it is broadcast and this is not the first block; return the finite check."""
    pointer, stride, row, check = values
    if not n:
        return check
    t = w.target.type
    moves = w.do(f"icmp ne i64 {stride}, 0")
    w.line(f"br label %before{k}")
    w.label(f"before{k}")
    w.line(f"br i1 {w.do(f'or i1 {moves}, %first')}, label %gather{k}, label %after{k}")
    w.label(f"gather{k}")
    address = w.do(f"inttoptr i64 {pointer} to ptr")
    lanes = w.offset("%work", place * w.target.bytes)
    arguments = f"ptr {address}, i64 {stride}, i64 {row}, i64 %last, ptr {lanes}, i64 {n}, {t} {check}"
    seen = w.do(f"call {t} @gather{_variant(w.target, n)}({arguments})")
    w.line(f"br label %after{k}")
    w.label(f"after{k}")
    return w.do(f"phi {t} [ {check}, %before{k} ], [ {seen}, %gather{k} ]")


def _variant(target: Target, n: int) -> str:
    return "" if n >= target.lanes else f".{n}"


def _row_pointers(w: Writer, base: str) -> list[str]:
    """Return the pointer to each lane's row, clamped to the last one."""
    pointers = []
    for lane in range(w.target.lanes):
        wanted = w.do(f"add i64 %row, {lane}")
        row = w.do(f"call i64 @llvm.smin.i64(i64 {wanted}, i64 %last)")
        pointers.append(w.offset(base, w.do(f"mul i64 {row}, %stride")))
    return pointers


def _column_loop(w: Writer) -> tuple[str, str, str]:
    """Open the loop over column blocks; return its counter, the check so far and the block's first column.

    The last block overlaps its neighbour, so that every block is whole.
    """
    w.line("br label %columns")
    w.label("columns")
    counter, seen = w.phi("i64", "0", "entry"), w.phi(w.target.type, "%check", "entry")
    limit = w.do(f"sub i64 %n, {w.target.lanes}")
    return counter, seen, w.do(f"call i64 @llvm.smin.i64(i64 {counter}, i64 {limit})")


def _close_column_loop(w: Writer, counter: str, seen: str, values: list[str]) -> None:
    check = w.add(seen, _finite_sum(w, values))
    following = w.do(f"add i64 {counter}, {w.target.lanes}")
    w.close(counter, following, "columns")
    w.close(seen, check, "columns")
    w.line(f"br i1 {w.do(f'icmp slt i64 {following}, %n')}, label %columns, label %end")
    w.label("end")
    w.line(f"ret {w.target.type} {check}")


def _finite_sum(w: Writer, values: list[str]) -> str:
    """Return a sum that is 0 when every value is finite and NaN otherwise (x - x is NaN for inf and NaN)."""
    terms = [w.sub(v, v) for v in values]
    while len(terms) > 1:
        terms = [
            w.add(*pair) if len(pair) == 2 else pair[0]
            for pair in (terms[i : i + 2] for i in range(0, len(terms), 2))
        ]
    return terms[0]


def transpose(w: Writer, rows: list[str]) -> list[str]:
    """Return the transpose of a square of lanes, by exchanging ever smaller blocks."""
    lanes, t = w.target.lanes, w.target.type
    rows = list(rows)
    half = lanes // 2
    while half:
        low = ", ".join(f"i32 {l if not l & half else lanes + l - half}" for l in range(lanes))
        high = ", ".join(f"i32 {l + half if not l & half else lanes + l}" for l in range(lanes))
        for i in (i for i in range(lanes) if not i & half):
            a, b = rows[i], rows[i + half]
            rows[i] = w.do(f"shufflevector {t} {a}, {t} {b}, <{lanes} x i32> <{low}>")
            rows[i + half] = w.do(f"shufflevector {t} {a}, {t} {b}, <{lanes} x i32> <{high}>")
        half //= 2
    return rows


def _lane_pointers(w: Writer, column: str) -> list[str]:
    base = w.offset("%lanes", w.do(f"mul i64 {column}, {w.target.bytes}"))
    return [w.offset(base, k * w.target.bytes) for k in range(w.target.lanes)]


def _gather(target: Target) -> str:
    w = Writer(target)
    w.label("entry")
    rows = _row_pointers(w, "%source")
    counter, seen, column = _column_loop(w)
    byte = w.do(f"mul i64 {column}, 8")
    values = transpose(w, [w.load(w.offset(row, byte), align=8) for row in rows])
    for value, pointer in zip(values, _lane_pointers(w, column)):
        w.store(value, pointer)
    _close_column_loop(w, counter, seen, values)
    return w.function(_gather_signature(target, ""))


def _scatter(target: Target) -> str:
    w = Writer(target)
    w.label("entry")
    rows = _row_pointers(w, "%destination")
    counter, seen, column = _column_loop(w)
    values = [w.load(pointer) for pointer in _lane_pointers(w, column)]
    byte = w.do(f"mul i64 {column}, 8")
    for value, row in zip(transpose(w, values), rows):
        w.store(value, w.offset(row, byte), align=8)
    _close_column_loop(w, counter, seen, values)
    return w.function(_scatter_signature(target, ""))


def _gather_narrow(target: Target, n: int) -> str:
    """Rows shorter than the lane count: element by element."""
    w = Writer(target)
    rows = _row_pointers(w, "%source")
    values = []
    for k in range(n):
        values.append(w.pack([w.load(w.offset(row, 8 * k), "double", 8) for row in rows]))
        w.store(values[-1], w.offset("%lanes", k * target.bytes))
    w.line(f"ret {target.type} {w.add('%check', _finite_sum(w, values))}")
    return w.function(_gather_signature(target, f".{n}"))


def _scatter_narrow(target: Target, n: int) -> str:
    w = Writer(target)
    rows = _row_pointers(w, "%destination")
    values = [w.load(w.offset("%lanes", k * target.bytes)) for k in range(n)]
    for k, value in enumerate(values):
        for lane, row in enumerate(rows):
            w.store(w.lane(value, lane), w.offset(row, 8 * k), "double", 8)
    w.line(f"ret {target.type} {w.add('%check', _finite_sum(w, values))}")
    return w.function(_scatter_signature(target, f".{n}"))


def _gather_signature(target: Target, variant: str) -> str:
    return (
        f"internal {target.type} @gather{variant}(ptr %source, i64 %stride, i64 %row, i64 %last, "
        f"ptr noalias %lanes, i64 %n, {target.type} %check)"
    )


def _scatter_signature(target: Target, variant: str) -> str:
    return (
        f"internal {target.type} @scatter{variant}(ptr noalias %lanes, ptr %destination, i64 %stride, i64 %row, "
        f"i64 %last, i64 %n, {target.type} %check)"
    )
