"""Sums, differences and products element by element, by loops over contiguous values."""

from __future__ import annotations

import casadi as ca

from .graph import Elementwise
from .target import Target
from .writer import CodeWriter

NAMES = {ca.OP_ADD: "fadd", ca.OP_SUB: "fsub", ca.OP_MUL: "fmul", ca.OP_NEG: "fneg"}

TOGETHER = 8
"""Elements of a single row that a loop takes at once."""


class Loops:
    """The loops that the elementwise steps of a program call.

    Parameters
    ----------
    target : Target
    prefix : str
        Begins every name, so that several programs fit in one module.
    """

    def __init__(self, target: Target, prefix: str = ""):
        self._target, self._prefix = target, prefix
        self._texts: dict[str, str] = {}

    def call(self, step: Elementwise, number: int) -> list[str]:
        """Return the text that runs a step; its operands and its result are slots in a row."""
        moving = [len(x) == len(step.result) for x in step.operands]
        name = f"{self._prefix}each.{NAMES[step.op]}.{''.join('01'[m] for m in moving)}"
        if name not in self._texts:
            self._texts[name] = self._loop(name, step.op, moving)
        lines, pointers = [], []
        for k, slots in enumerate([*step.operands, step.result]):
            pointers.append(f"ptr %c{number}.{k}")
            at = int(slots[0]) * self._target.bytes
            lines.append(f"%c{number}.{k} = getelementptr inbounds i8, ptr %w, i64 {at}")
        size = len(step.result) * self._target.bytes
        return ["\n".join([*lines, f"call void @{name}({', '.join(pointers)}, i64 {size})"])]

    def text(self) -> list[str]:
        """Return the loops; complete after the last `call`."""
        return list(self._texts.values())

    def _loop(self, name: str, op: int, moving: list[bool]) -> str:
        """Return the text of one loop; where a value is a single double, `TOGETHER` of them are taken at once."""
        w, t = CodeWriter(self._target), self._target
        w.label("entry")
        held = [None if moves else w.load(f"%x{k}") for k, moves in enumerate(moving)]
        begin, label = "0", "entry"
        if t.lanes == 1:
            begin, label = self._pass(w, op, held, TOGETHER, begin, label)
        self._pass(w, op, held, 1, begin, label)
        w.line("ret void")
        arguments = ", ".join(f"ptr %x{k}" for k in range(len(moving)))
        return w.function(f"internal void @{name}({arguments}, ptr %result, i64 %size)", "nounwind noinline")

    def _pass(
        self, w: CodeWriter, op: int, held: list[str | None], wide: int, begin: str, label: str
    ) -> tuple[str, str]:
        """Write the loop that takes `wide` values at once while so many are left; return where it ends, and its label."""
        t, step = self._target, wide * self._target.bytes
        kind = t.type if wide == 1 else f"<{wide} x double>"
        fixed = [x if x is None or wide == 1 else w.splat(x, wide) for x in held]
        w.line(f"br label %test{wide}")
        w.label(f"test{wide}")
        at = w.phi("i64", begin, label)
        following = w.do(f"add i64 {at}, {step}")
        w.line(f"br i1 {w.do(f'icmp sle i64 {following}, %size')}, label %do{wide}, label %done{wide}")
        w.label(f"do{wide}")
        operands = [x or w.load(w.offset(f"%x{k}", at), kind, t.bytes) for k, x in enumerate(fixed)]
        w.store(w.do(f"{NAMES[op]} {kind} {', '.join(operands)}"), w.offset("%result", at), kind, t.bytes)
        w.close(at, following, f"do{wide}")
        w.line(f"br label %test{wide}")
        w.label(f"done{wide}")
        return at, f"done{wide}"
