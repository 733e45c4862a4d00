"""The batch loop: rows of C-order arrays to lanes, the body, lanes back to rows, and the finite check.

`run(ptr frame)` reads a frame of 64-bit words

    begin, end, work, (pointer, row stride in bytes) of each input, the same of each output

and processes rows [begin, end) in blocks of as many rows as there are lanes. In the last block the row of a lane is
clamped to the last one: such lanes compute and store the same value again, so that there are no masks. Row
stride 0 broadcasts one row; it is gathered in the first block only.

Several blocks go through long code together, chunk by chunk: a chunk is fetched and decoded once and run for each
block, and one block's work hides the waiting of another.

One function per row length moves the rows of a block, by square transposes of as many columns as there are lanes.
Where the length is no multiple, the last square overlaps its neighbor; rows of less than a square are moved as two halves of
one that overlap. Where all lanes have the same row, its elements are spread; a single row is copied by vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from .target import Target
from .writer import CodeWriter

HEADER = 3  # words before the pointers of a frame
UNROLL = 64  # columns up to which the squares are written out
WIDE = 8
"""Elements of a single row that are moved at once."""
AT_ONCE = 4
"""Elements of a common row that a loop spreads at once."""


def frame_length(inputs: int, outputs: int) -> int:
    """Return the number of words in a frame."""
    return HEADER + 2 * (inputs + outputs)


def driver(target: Target, inputs: Sequence[int], outputs: Sequence[int], slots: int, blocks: int) -> str:
    """Return the text of `@run` and of its helpers, for inputs and outputs of the given sizes.

    Input and output elements occupy the first slots of a workspace in that order. There are `blocks` workspaces of
    `slots` each, one behind the other: as long as enough rows are left, so many blocks go through the code together.
    """
    parts = [
        run_function(target, blocks),
        *(_pass(target, inputs, outputs, slots, k) for k in sorted({1, blocks})),
    ]
    parts += [mover(target, n, gather=True) for n in sorted(set(inputs)) if n]
    parts += [mover(target, n, gather=False) for n in sorted(set(outputs)) if n]
    return "\n".join(parts)


def run_function(target: Target, blocks: int) -> str:
    """Return the text of `@run`: whole groups of blocks first, then what is left block by block."""
    w = CodeWriter(target)
    w.label("entry")
    begin, end = (w.load(w.offset("%frame", 8 * k), "i64", 8) for k in range(2))
    group = blocks * target.lanes
    count = w.do(f"sub i64 {end}, {begin}")
    whole = w.do(f"mul i64 {w.do(f'sdiv i64 {count}, {group}')}, {group}")
    middle = w.do(f"add i64 {begin}, {whole if blocks > 1 else 0}")
    flags = w.do(f"call i64 @pass.{blocks}(ptr %frame, i64 {begin}, i64 {middle})") if blocks > 1 else "0"
    rest = w.do(f"call i64 @pass.1(ptr %frame, i64 {middle}, i64 {end})")
    w.line(f"ret i64 {w.do(f'or i64 {flags}, {rest}')}")
    return w.function("i64 @run(ptr %frame)")


def _pass(target: Target, inputs: Sequence[int], outputs: Sequence[int], slots: int, blocks: int) -> str:
    """Return the text of `@pass.k`: rows [begin, end) in groups of k blocks, each in its own workspace."""
    w = CodeWriter(target)
    w.label("entry")
    words = [
        w.load(w.offset("%frame", 8 * k), "i64", 8) for k in range(frame_length(len(inputs), len(outputs)))
    ]
    operands = [words[k : k + 2] for k in range(HEADER, len(words), 2)]
    w.line(f"%work = inttoptr i64 {words[2]} to ptr")
    works = [w.offset("%work", k * slots * target.bytes) for k in range(blocks)]
    w.line("%last = sub i64 %end, 1")
    w.line(f"br i1 {w.do('icmp slt i64 %begin, %end')}, label %start, label %nothing")
    w.label("nothing")
    w.line("ret i64 0")
    w.label("start")
    w.line("br label %block")
    w.label("block")
    row, check, out_check = (w.phi(t, v, "start") for t, v in _loop_variables(target, "%begin"))
    variables = [row, check, out_check]
    w.line(f"%first = icmp eq i64 {row}, %begin")
    rows = [w.do(f"add i64 {row}, {k * target.lanes}") for k in range(blocks)]
    steps = [lanes_ahead(w, r) for r in rows]
    for b in range(blocks):
        place = 0
        for k, n in enumerate(inputs):
            values = (*operands[k], rows[b], check)
            check = _gather_call(w, f"{b}.{k}", n, values, steps[b], w.offset(works[b], place * target.bytes))
            place += n
    w.line(f"call void @body.{blocks}({', '.join(f'ptr {x}' for x in works)})")
    for b in range(blocks):
        place = sum(inputs)
        for k, n in enumerate(outputs):
            values = (*operands[len(inputs) + k], rows[b], out_check)
            out_check = move_rows(
                w, f"scatter.{n}", n, values, steps[b], w.offset(works[b], place * target.bytes)
            )
            place += n
    following = w.do(f"add i64 {row}, {blocks * target.lanes}")
    w.line("br label %done")
    w.label("done")
    for variable, value in zip(variables, (following, check, out_check)):
        w.close(variable, value, "done")
    w.line(f"br i1 {w.do(f'icmp slt i64 {following}, %end')}, label %block, label %finish")
    w.label("finish")
    w.line(f"ret i64 {_flags(w, check, out_check)}")
    return w.function(f"internal i64 @pass.{blocks}(ptr %frame, i64 %begin, i64 %end)")


def _loop_variables(target: Target, begin: str) -> list[tuple[str, str]]:
    zero = target.constant(0.0)
    return [("i64", begin), (target.type, zero), (target.type, zero)]


def lanes_ahead(w: CodeWriter, row: str) -> list[str]:
    """Return how many rows each lane after the first lies ahead: its number, clamped to the rows that are left."""
    left = w.do(f"sub i64 %last, {row}")
    return [w.do(f"call i64 @llvm.smin.i64(i64 {left}, i64 {lane})") for lane in range(1, w.target.lanes)]


def _flags(w: CodeWriter, check_in: str, check_out: str) -> str:
    """Return the flags: bit 0 when an input was not finite, bit 1 when an output was not."""
    zero = w.constant(0.0)
    bad_in = w.do(f"zext i1 {w.any(w.compare('uno', check_in, zero))} to i64")
    bad_out = w.do(f"zext i1 {w.any(w.compare('uno', check_out, zero))} to i64")
    return w.do(f"or i64 {bad_in}, {w.do(f'shl i64 {bad_out}, 1')}")


def _gather_call(w: CodeWriter, k: str, n: int, values: tuple[str, ...], steps: list[str], lanes: str) -> str:
    """Gather input `k`, unless it is broadcast and this is not the first block; return the finite check."""
    _, stride, _, check = values
    if not n:
        return check
    moves = w.do(f"icmp ne i64 {stride}, 0")
    w.line(f"br label %before{k}")
    w.label(f"before{k}")
    w.line(f"br i1 {w.do(f'or i1 {moves}, %first')}, label %gather{k}, label %after{k}")
    w.label(f"gather{k}")
    seen = move_rows(w, f"gather.{n}", n, values, steps, lanes)
    w.line(f"br label %after{k}")
    w.label(f"after{k}")
    return w.do(f"phi {w.target.type} [ {check}, %before{k} ], [ {seen}, %gather{k} ]")


def move_rows(w: CodeWriter, name: str, n: int, values: tuple[str, ...], steps: list[str], lanes: str) -> str:
    """Move the rows of one operand in this block; return the finite check."""
    pointer, stride, row, check = values
    if not n:
        return check
    t = w.target.type
    base = w.do(f"inttoptr i64 {pointer} to ptr")
    first = w.offset(base, w.do(f"mul i64 {row}, {stride}"))
    ahead = [w.do(f"mul i64 {step}, {stride}") for step in steps]
    arguments = ", ".join([f"ptr {lanes}, {t} {check}, ptr {first}", *(f"i64 {x}" for x in ahead)])
    return w.do(f"call {t} @{name}({arguments})")


def mover(target: Target, n: int, *, gather: bool) -> str:
    """Return the text of `@gather.n` or `@scatter.n`: the rows of one block, to lanes or back.

    Its arguments are the lanes, the finite check so far, the first row and the distances of the other rows in bytes.
    """
    if target.lanes == 1 and n >= WIDE:
        return _single(target, n, gather=gather)
    w = CodeWriter(target)
    w.label("entry")
    before = "entry"
    if gather and n >= max(target.lanes, 2 * AT_ONCE):
        before = _common(w, n)
    rows = ["%row", *(w.offset("%row", f"%ahead{lane}") for lane in range(1, target.lanes))]
    if n < target.lanes and (target.lanes == 2 or n < target.lanes // 2):
        check = (_gather_narrow if gather else _scatter_narrow)(w, n, rows, "%check")
    elif n < target.lanes:
        check = _halves(w, n, rows, gather)
    elif n <= UNROLL:
        check = _squares(w, n, rows, gather)
    else:
        check = _loop(w, n, rows, gather, before)
    w.line(f"ret {target.type} {check}")
    ahead = "".join(f", i64 %ahead{lane}" for lane in range(1, target.lanes))
    name = f"{'gather' if gather else 'scatter'}.{n}"
    return w.function(
        f"internal {target.type} @{name}(ptr noalias %lanes, {target.type} %check, ptr %row{ahead})"
    )


def element_loop(
    w: CodeWriter, count: int, n: int, name: str, before: str, do: Callable[[str], None]
) -> None:
    """Write a loop that does something with `count` elements at a time, given the first of them; the last ones overlap their neighbors.

    Parameters
    ----------
    w : CodeWriter
    count, n : int
        At most as many as there are.
    name : str
        Label of the loop; `name`.after is the one behind it.
    before : str
        Label of the block that ends here.
    do : callable
    """
    w.line(f"br label %{name}")
    w.label(name)
    element = w.phi("i64", "0", before)
    do(element)
    following = w.do(f"add i64 {element}, {count}")
    w.close(element, w.do(f"call i64 @llvm.smin.i64(i64 {following}, i64 {n - count})"), name)
    w.line(f"br i1 {w.do(f'icmp slt i64 {following}, {n}')}, label %{name}, label %{name}.after")
    w.label(f"{name}.after")


def _single(target: Target, n: int, *, gather: bool) -> str:
    """Return the text of a mover in code for one row at a time."""
    w = CodeWriter(replace(target, lanes=WIDE))
    w.label("entry")
    source, place = ("%row", "%lanes") if gather else ("%lanes", "%row")
    checks = [w.constant(0.0)]

    def move(element: str) -> None:
        check = w.phi(w.target.type, checks[0], "entry")
        byte = w.do(f"mul i64 {element}, 8")
        value = w.load(w.offset(source, byte), align=8)
        w.store(value, w.offset(place, byte), align=8)
        checks.append(w.fma(value, w.constant(0.0), check))
        w.close(check, checks[-1], "move")

    element_loop(w, WIDE, n, "move", "entry", move)
    check = "%check"
    for k in range(WIDE):
        check = w.do(f"fadd double {check}, {w.lane(checks[-1], k)}")
    w.line(f"ret double {check}")
    name = f"{'gather' if gather else 'scatter'}.{n}"
    return w.function(f"internal double @{name}(ptr noalias %lanes, double %check, ptr %row)")


def _common(w: CodeWriter, n: int) -> str:
    """Write the way out for a row that all lanes have in common; return the label behind it."""
    lanes = w.target.lanes
    same = w.do(f"icmp eq i64 %ahead{lanes - 1}, 0")
    w.line(f"br i1 {same}, label %same, label %apart")
    w.label("same")
    checks: list[str] = []

    def spread(element: str) -> None:
        check = w.phi(w.target.type, "%check", "same")
        source = w.offset("%row", w.do(f"mul i64 {element}, 8"))
        place = w.offset("%lanes", w.do(f"mul i64 {element}, {w.target.bytes}"))
        values = [w.splat(w.load(w.offset(source, 8 * k), "double", 8), lanes) for k in range(AT_ONCE)]
        for k, value in enumerate(values):
            w.store(value, w.offset(place, k * w.target.bytes))
        checks.append(w.add(check, w.add(*_watch(w, values, [w.constant(0.0)] * 2))))
        w.close(check, checks[-1], "spread")

    element_loop(w, AT_ONCE, n, "spread", "same", spread)
    w.line(f"ret {w.target.type} {checks[-1]}")
    w.label("apart")
    return "apart"


def _squares(w: CodeWriter, n: int, rows: list[str], gather: bool) -> str:
    """Move all squares one after another; return the finite check.

    Two checks take turns and start from zero, so that their sums wait for nothing.
    """
    lanes = w.target.lanes
    checks = [w.constant(0.0)] * 2
    for start in range(0, n, lanes):
        column = min(start, n - lanes)
        here = [w.offset(row, 8 * column) for row in rows]
        checks = _square(w, here, w.offset("%lanes", column * w.target.bytes), checks, gather, start - column)
    return w.add("%check", w.add(*checks))


def _square(
    w: CodeWriter, rows: list[str], lanes: str, checks: list[str], gather: bool, skip: int = 0
) -> list[str]:
    """Move one square of columns, of which `skip` are in their lanes already; return the checks."""
    places = [w.offset(lanes, k * w.target.bytes) for k in range(w.target.lanes)]
    if gather:
        values = [w.load(row, align=8) for row in rows]
        for value, place in list(zip(transpose(w, values), places))[skip:]:
            w.store(value, place)
    else:
        values = [w.load(place) for place in places]
        for value, row in zip(transpose(w, values), rows):
            w.store(value, row, align=8)
    return _watch(w, values[0 if gather else skip :], checks)


def _watch(w: CodeWriter, values: list[str], checks: list[str]) -> list[str]:
    """Add 0 x to the checks in turn: they stay 0 as long as every value is finite, else become NaN."""
    checks = list(checks)
    zero = w.constant(0.0)
    for k, value in enumerate(values):
        checks[k % len(checks)] = w.fma(value, zero, checks[k % len(checks)])
    return checks


def _loop(w: CodeWriter, n: int, rows: list[str], gather: bool, before: str) -> str:
    """Move the squares of a long row in a loop, the last one after it; return the finite check."""
    lanes = w.target.lanes
    w.line("br label %columns")
    w.label("columns")
    column = w.phi("i64", "0", before)
    checks = [w.phi(w.target.type, w.constant(0.0), before) for _ in range(2)]
    byte = w.do(f"mul i64 {column}, 8")
    here = [w.offset(row, byte) for row in rows]
    place = w.offset("%lanes", w.do(f"mul i64 {column}, {w.target.bytes}"))
    after = _square(w, here, place, checks, gather)
    following = w.do(f"add i64 {column}, {lanes}")
    for variable, value in ((column, following), *zip(checks, after)):
        w.close(variable, value, "columns")
    w.line(f"br i1 {w.do(f'icmp sle i64 {following}, {n - lanes}')}, label %columns, label %end")
    w.label("end")
    rest = n % lanes
    if rest:
        here = [w.offset(row, 8 * (n - lanes)) for row in rows]
        place = w.offset("%lanes", (n - lanes) * w.target.bytes)
        after = _square(w, here, place, after, gather, lanes - rest)
    return w.add("%check", w.add(*after))


def transpose(w: CodeWriter, rows: list[str]) -> list[str]:
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


def _halves(w: CodeWriter, n: int, rows: list[str], gather: bool) -> str:
    """Move rows of half as many elements as there are lanes, or more: the first and the last half of a square, which overlap."""
    lanes, t = w.target.lanes, w.target.type
    half, kind = lanes // 2, f"<{lanes // 2} x double>"
    places = [w.offset("%lanes", k * w.target.bytes) for k in (*range(half), *range(n - half, n))]
    ends = [(row, w.offset(row, 8 * (n - half))) for row in rows]
    if gather:
        parts = [[w.load(end, kind, 8) for end in each] for each in ends]
        values = transpose(w, [_shuffle(w, kind, a, b, range(lanes)) for a, b in parts])
        for value, place in zip(values, places):
            w.store(value, place)
    else:
        values = [w.load(place) for place in places]
        for value, each in zip(transpose(w, values), ends):
            for end, chosen in zip(each, (range(half), range(half, lanes))):
                w.store(_shuffle(w, t, value, "poison", chosen), end, kind, 8)
    return w.add("%check", w.add(*_watch(w, values, [w.constant(0.0)] * 2)))


def _shuffle(w: CodeWriter, kind: str, a: str, b: str, chosen: Sequence[int]) -> str:
    """Return chosen elements of two vectors."""
    places = ", ".join(f"i32 {k}" for k in chosen)
    return w.do(f"shufflevector {kind} {a}, {kind} {b}, <{len(chosen)} x i32> <{places}>")


def _gather_narrow(w: CodeWriter, n: int, rows: list[str], check: str) -> str:
    """Rows shorter than half the lane count: element by element."""
    values = []
    for k in range(n):
        values.append(w.pack([w.load(w.offset(row, 8 * k), "double", 8) for row in rows]))
        w.store(values[-1], w.offset("%lanes", k * w.target.bytes))
    return _watch(w, values, [check])[0]


def _scatter_narrow(w: CodeWriter, n: int, rows: list[str], check: str) -> str:
    values = [w.load(w.offset("%lanes", k * w.target.bytes)) for k in range(n)]
    for k, value in enumerate(values):
        for lane, row in enumerate(rows):
            w.store(w.lane(value, lane), w.offset(row, 8 * k), "double", 8)
    return _watch(w, values, [check])[0]
