"""Calls of shared code: procedures that find their operands through pointers, and the constants they are given."""

from __future__ import annotations

from . import lower
from .graph import Call, Procedure
from .lower import Place
from .target import Target, hexadecimal
from .writer import CodeWriter


class Procedures:
    """The procedures of a program and the table of constants that its calls point into.

    Parameters
    ----------
    calls : list of Call
        Operands are slots; a constant operand is an array of its values.
    scratch : int
        First slot for values that cross chunks.
    target : Target
    prefix : str
        Begins every name, so that several programs fit in one module.
    """

    def __init__(self, calls: list[Call], scratch: int, target: Target, prefix: str = ""):
        self._target, self._first, self._prefix = target, scratch, prefix
        self._chunks: dict[int, tuple[str, int]] = {}
        self._values: list[float] = []
        self.text: list[str] = []
        self.scratch = 0
        for call in calls:
            if id(call.procedure) not in self._chunks:
                self._emit(call.procedure)

    def _emit(self, procedure: Procedure) -> None:
        inputs = [
            [Place(f"%i{k}", j, k in procedure.constant) for j in range(size)]
            for k, size in enumerate(procedure.inputs)
        ]
        outputs = [
            [Place(f"%o{k}", j, False) for j in range(size)] for k, size in enumerate(procedure.outputs)
        ]
        placed = lower.place(procedure.code, inputs, outputs, self._first)
        name = f"{self._prefix}shared{len(self._chunks)}"
        pointers = [f"%i{k}" for k in range(len(inputs))] + [f"%o{k}" for k in range(len(outputs))]
        parameters = ", ".join(f"ptr noalias {p}" for p in ["%w", *pointers])
        self.text += lower.emit(placed, name, self._target, parameters)
        chunks = len(placed.chunks)
        if procedure.conditional and 0 not in procedure.constant:
            self.text.append(self._when(procedure, name, chunks, pointers))
            name, chunks = f"{name}.when", 1
        self._chunks[id(procedure)] = (name, chunks)
        self.scratch = max(self.scratch, placed.scratch)

    def _when(self, procedure: Procedure, name: str, chunks: int, pointers: list[str]) -> str:
        """Return the text of a function that runs a procedure where its first input is not zero in some lane.

        Where it is zero in other lanes, the procedure itself gives zeros there: nothing depends on the lanes.
        """
        w, t = CodeWriter(self._target), self._target
        w.label("entry")
        on = w.any(w.compare("une", w.load("%i0"), w.constant(0.0)))
        w.line(f"br i1 {on}, label %run, label %pass")
        w.label("run")
        arguments = ", ".join(f"ptr {p}" for p in ["%w", *pointers])
        for k in range(chunks):
            w.line(f"call void @{name}.{k}({arguments})")
        w.line("ret void")
        w.label("pass")
        for k, size in enumerate(procedure.outputs):
            w.line(
                f"call void @llvm.memset.p0.i64(ptr align {t.bytes} %o{k}, i8 0, i64 {size * t.bytes}, i1 false)"
            )
        w.line("ret void")
        parameters = ", ".join(f"ptr {p}" for p in ["%w", *pointers])
        return w.function(f"internal void @{name}.when.0({parameters})", "nounwind noinline")

    def call(self, step: Call, number: int) -> list[str]:
        """Return the texts that call a procedure, one for each of its chunks."""
        lines, arguments = [], ["ptr %w"]
        for k, operand in enumerate([*step.inputs, *step.outputs]):
            name = f"%c{number}.{k}"
            if k in step.procedure.constant:
                lines.append(
                    f"{name} = getelementptr inbounds double, ptr @{self._prefix}constants, i64 {len(self._values)}"
                )
                self._values += operand.tolist()
            else:
                at = int(operand[0]) * self._target.bytes if len(operand) else 0
                lines.append(f"{name} = getelementptr inbounds i8, ptr %w, i64 {at}")
            arguments.append(f"ptr {name}")
        name, chunks = self._chunks[id(step.procedure)]
        calls = [f"call void @{name}.{k}({', '.join(arguments)})" for k in range(chunks)]
        return ["\n".join([*lines, calls[0]]), *calls[1:]] if calls else []

    def table(self) -> str:
        """Return the text of the table of constants; complete after the last `call`."""
        if not self._values:
            return ""
        values = ", ".join(f"double {hexadecimal(x)}" for x in self._values)
        return f"@{self._prefix}constants = internal constant [{len(self._values)} x double] [{values}], align 64\n"
