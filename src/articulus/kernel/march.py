"""The time loop in native code: maps x -> x of a few lanes at a time, applied again and again.

`run(ptr frame)` reads a frame of 64-bit words

    begin, end, work                                rows and workspace, as in `driver`
    x, its row stride                               state, read at the start and written at the end
    p, its row stride                               parameters, constant in time
    w, its row stride, its step stride              inputs that change with every step
    log, its row stride, its sample stride          first columns of the state, at every sample
    failed, its row stride                          number of the step that failed, negative while none did
    start, stop, every, closing                     steps [start, stop); samples at multiples of `every`
    one word for each map                           it is applied at steps that are multiples of that word

At step k the maps are applied in order; the sample is taken before the last one, which is the step itself. With
`closing`, step `start` is sampled and the last map is omitted: the state is prepared as if to go on.

A lane whose state is no number any more, or larger than `BOUND`, keeps its last good state and the number of the step; its
neighbors go on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import casadi as ca

from ..errors import InputError
from . import program
from .driver import HEADER, WIDE, element_loop, lanes_ahead, move_rows, mover, run_function
from .program import Program, Signature
from .target import Target
from .writer import CodeWriter

WORDS = ("x", "xs", "p", "ps", "w", "ws", "wstep", "log", "ls", "lstep", "failed", "fs", "start", "stop", "every", "closing")  # fmt: skip

BOUND = 1e150
"""Size of a state element beyond which the row has failed: what diverges is stopped before its square overflows. No unit of a state and no
size of a mechanism comes near it."""


@dataclass(frozen=True)
class March:
    """Maps over one workspace: inputs x, p, w, k and output x in its first slots.

    Attributes
    ----------
    signature : Signature
        The inputs that all maps share; as outputs the state after each map.
    programs : list of Program
        The maps, the step last.
    logged : int
        Number of leading state elements in a sample.
    """

    signature: Signature
    programs: list[Program]
    logged: int

    def text(self, target: Target) -> str:
        """Return the LLVM text of the whole module."""
        codes = [each.code(target, f"map{j}.") for j, each in enumerate(self.programs)]
        slots = max(code.slots for code in codes) + 1  # the last slot holds the number of the failed step
        codes = [replace(c, slots=slots) for c in codes]
        blocks = program.blocks_together(slots, target)
        return program.module(target, codes, blocks, _Driver(self, target, slots).text(blocks))

    @property
    def sizes(self) -> list[int]:
        """Return the sizes of x, p, w and k."""
        return program.sizes(self.signature.input_shapes)


def build(maps: Sequence[ca.Function], logged: int) -> March:
    """Return the loop over maps (x, p, w, k) -> x."""
    programs = [program.build(each) for each in maps]
    each = [p.signature for p in programs]
    _check([(program.sizes(s.input_shapes), program.sizes(s.output_shapes)) for s in each], logged)
    whole = replace(
        each[-1],
        output_names=tuple(s.name for s in each),
        output_shapes=tuple(s.output_shapes[0] for s in each),
        instruction_count=sum(s.instruction_count for s in each),
        flops=sum(s.flops for s in each),
    )
    return March(whole, programs, logged)


def _check(sizes: Sequence[tuple[list[int], list[int]]], logged: int) -> None:
    """Raise unless all maps go from the same x, p, w, k to x, and a sample is part of x."""
    inputs, _ = sizes[-1]
    for j, (given, out) in enumerate(sizes):
        if len(given) != 4 or given != inputs or given[3] != 1 or out != given[:1]:
            raise InputError(
                f"recurrence: map {j} takes {given} numbers and gives {out}; expected x, p, w and k as the last map "
                f"has them, {inputs}, and x out"
            )
    if not 0 <= logged <= inputs[0]:
        raise InputError(f"recurrence: samples of {logged} elements; expected 0 to {inputs[0]}, those of x")


class _Driver:
    """Writes `@run` and its helpers."""

    def __init__(self, march: March, target: Target, slots: int):
        self.march, self.target, self.slots = march, target, slots
        self.nx, self.np, self.nw, _ = march.sizes

    def text(self, blocks: int) -> str:
        """Return the functions of the loop for groups of `blocks` blocks, and for single ones."""
        lengths = {self.nx, self.np, self.nw, 1} - {0}
        parts = [run_function(self.target, blocks), *(self._march(k) for k in sorted({1, blocks}))]
        parts += [mover(self.target, n, gather=True) for n in sorted(lengths)]
        parts += [mover(self.target, n, gather=False) for n in sorted({self.nx, self.march.logged, 1} - {0})]
        return "\n".join([*parts, self._keep()])

    def _march(self, blocks: int) -> str:
        """Return the text of `@pass.k`: all steps of a group of k blocks of rows, group after group."""
        w = self.w = CodeWriter(self.target)
        w.label("entry")
        names = [*WORDS, *(f"m{j}" for j in range(len(self.march.programs)))]
        for place, name in enumerate(names):
            at = w.offset("%frame", 8 * (HEADER + place))
            w.line(f"%{name} = load i64, ptr {at}, align 8")
        work = w.load(w.offset("%frame", 16), "i64", 8)
        w.line(f"%work = inttoptr i64 {work} to ptr")
        self.works = [w.offset("%work", k * self.slots * self.target.bytes) for k in range(blocks)]
        w.line("%last = sub i64 %end, 1")
        w.line(f"br i1 {w.do('icmp slt i64 %begin, %end')}, label %group, label %nothing")
        w.label("group")
        row = w.phi("i64", "%begin", "entry")
        rows = [w.do(f"add i64 {row}, {k * self.target.lanes}") for k in range(blocks)]
        lanes = [lanes_ahead(w, r) for r in rows]
        self._move("gather", "%x", "%xs", self.nx, rows, lanes, 0)
        self._move("gather", "%p", "%ps", self.np, rows, lanes, self.nx)
        self._move("gather", "%failed", "%fs", 1, rows, lanes, self.slots - 1)
        w.line("br label %time")
        w.label("time")
        k = w.phi("i64", "%start", "group")
        w_at, log_at = (w.phi("i64", f"%{name}", "group") for name in ("w", "log"))
        if self.nw:
            self._move("gather", w_at, "%ws", self.nw, rows, lanes, self.nx + self.np)
        self._number(k)
        for j in range(len(self.march.programs) - 1):
            self._map(j, k, blocks)
        log_next = self._sample(k, log_at, rows, lanes)
        w.line(f"br i1 {w.do('icmp ne i64 %closing, 0')}, label %leave, label %step")
        w.label("step")
        self._apply(len(self.march.programs) - 1, blocks)
        following = w.do(f"add i64 {k}, 1")
        for variable, value in (
            (k, following),
            (w_at, w.do(f"add i64 {w_at}, %wstep")),
            (log_at, log_next),
        ):
            w.close(variable, value, "step")
        w.line(f"br i1 {w.do(f'icmp slt i64 {following}, %stop')}, label %time, label %leave")
        w.label("leave")
        self._move("scatter", "%x", "%xs", self.nx, rows, lanes, 0)
        self._move("scatter", "%failed", "%fs", 1, rows, lanes, self.slots - 1)
        following = w.do(f"add i64 {row}, {blocks * self.target.lanes}")
        w.close(row, following, "leave")
        w.line(f"br i1 {w.do(f'icmp slt i64 {following}, %end')}, label %group, label %nothing")
        w.label("nothing")
        w.line("ret i64 0")
        return w.function(f"internal i64 @pass.{blocks}(ptr %frame, i64 %begin, i64 %end)")

    def _move(
        self, how: str, base: str, stride: str, n: int, rows: list[str], lanes: list[list[str]], slot: int
    ) -> None:
        """Gather rows of n elements to the slots from `slot` on, or scatter them."""
        zero = self.target.constant(0.0)
        for work, row, steps in zip(self.works, rows, lanes):
            at = self.w.offset(work, slot * self.target.bytes)
            move_rows(self.w, f"{how}.{n}", n, (base, stride, row, zero), steps, at)

    def _number(self, k: str) -> None:
        """Store the number of the step where the maps read it."""
        number = self.w.do(f"sitofp i64 {k} to double")
        packed = self.w.pack([number] * self.target.lanes)
        for work in self.works:
            at = self.w.offset(work, (self.nx + self.np + self.nw) * self.target.bytes)
            self.w.store(packed, at)

    def _map(self, j: int, k: str, blocks: int) -> None:
        """Apply map j when its period divides k."""
        w = self.w
        due = w.do(f"icmp eq i64 {w.do(f'srem i64 {k}, %m{j}')}, 0")
        w.line(f"br i1 {due}, label %do{j}, label %past{j}")
        w.label(f"do{j}")
        self._apply(j, blocks)
        w.line(f"br label %past{j}")
        w.label(f"past{j}")

    def _apply(self, j: int, blocks: int) -> None:
        """Apply map j and take over its result in the lanes where it is finite."""
        pointers = ", ".join(f"ptr {work}" for work in self.works)
        self.w.line(f"call void @map{j}.body.{blocks}({pointers})")
        for work in self.works:
            self.w.line(f"call void @keep(ptr {work})")

    def _sample(self, k: str, log_at: str, rows: list[str], lanes: list[list[str]]) -> str:
        """Write a sample when one is due; return where the next one goes."""
        w = self.w
        w.line("br label %ask")
        w.label("ask")
        due = w.do(f"icmp eq i64 {w.do(f'srem i64 {k}, %every')}, 0")
        w.line(f"br i1 {due}, label %sample, label %sampled")
        w.label("sample")
        self._move("scatter", log_at, "%ls", self.march.logged, rows, lanes, 0)
        after = w.do(f"add i64 {log_at}, %lstep")
        w.line("br label %sampled")
        w.label("sampled")
        return w.do(f"phi i64 [ {log_at}, %ask ], [ {after}, %sample ]")

    def _keep(self) -> str:
        """Return the text of `@keep(ptr %w)`: the new state becomes the state, but not in lanes that failed."""
        w, t = CodeWriter(self.target), self.target
        mask = t.of("i1")
        w.label("entry")
        fresh = w.offset("%w", (self.nx + self.np + self.nw + 1) * t.bytes)
        all_near = w.do(f"call {mask} @near(ptr {fresh})")
        at_failed = w.offset("%w", (self.slots - 1) * t.bytes)
        failed = w.load(at_failed)
        number = w.load(w.offset("%w", (self.nx + self.np + self.nw) * t.bytes))
        alive = w.compare("olt", failed, w.constant(0.0))
        w.store(w.select(alive, w.select(all_near, failed, number), failed), at_failed)
        good = w.do(f"and {mask} {alive}, {all_near}")
        w.line(f"call void @take(ptr %w, ptr {fresh}, {mask} {good})")
        w.line("ret void")
        keep = w.function("internal void @keep(ptr noalias %w)")
        return "\n".join([self._near(), self._take(), keep])

    def _wide(self) -> CodeWriter:
        """Return a writer whose vectors are values of all lanes, or several elements of a single row."""
        wide = self.target.lanes == 1 and self.nx >= WIDE
        return CodeWriter(replace(self.target, lanes=WIDE) if wide else self.target)

    def _near(self) -> str:
        """Return the text of `@near(ptr %x)`: whether all elements of a state are numbers, and not too large."""
        w, t = self._wide(), self.target
        mask, count = w.target.of("i1"), w.target.lanes // t.lanes
        seen = [w.target.splat("i1", "true")]

        def look(element: str) -> None:
            before = w.phi(mask, seen[0], "entry")
            value = w.load(w.offset("%x", w.do(f"mul i64 {element}, {t.bytes}")), align=t.bytes)
            near = w.compare("ole", w.fabs(value), w.constant(BOUND))
            seen.append(w.do(f"and {mask} {before}, {near}"))
            w.close(before, seen[-1], "look")

        w.label("entry")
        element_loop(w, count, self.nx, "look", "entry", look)
        found = seen[-1]
        if count > 1:
            found = w.do(f"icmp eq i{count} {w.do(f'bitcast {mask} {found} to i{count}')}, -1")
        w.line(f"ret {t.of('i1')} {found}")
        return w.function(f"internal {t.of('i1')} @near(ptr %x)")

    def _take(self) -> str:
        """Return the text of `@take(ptr %x, ptr %y, %good)`: y becomes x in good lanes."""
        w, t = self._wide(), self.target
        mask, kind = t.of("i1"), w.target.type

        def take(element: str) -> None:
            at = w.do(f"mul i64 {element}, {t.bytes}")
            place = w.offset("%x", at)
            new, old = (w.load(p, align=t.bytes) for p in (w.offset("%y", at), place))
            w.store(w.do(f"select {mask} %good, {kind} {new}, {kind} {old}"), place, align=t.bytes)

        w.label("entry")
        element_loop(w, w.target.lanes // t.lanes, self.nx, "take", "entry", take)
        w.line("ret void")
        return w.function(f"internal void @take(ptr %x, ptr %y, {mask} %good)")
