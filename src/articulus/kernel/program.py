"""A CasADi function as a program over one lane workspace: what is computed, and at which slots.

The first slots are the inputs, then the outputs, element by element in C order; temporary values and scratch follow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from . import fold, graph, lower, placement, product
from .copies import Copies
from .driver import driver
from .elementary import helpers
from .elementwise import Loops
from .graph import (
    Call,
    Elementwise,
    Graph,
    Lookup,
    MatrixProduct,
    Routine,
    RoutineCall,
    SelectionLoop,
    Step,
    StraightCode,
)
from .lookup import Lookups
from .procedure import Procedures
from .sweep import SweepTables
from .target import Target

Shape = tuple[int, ...]
Ranks = tuple[tuple[int, ...], tuple[int, ...]]
"""Trailing axes of each input and of each output."""

TOGETHER = "together "
"""Begins the text of a call that takes the workspaces of all blocks."""
STEPS_TOGETHER = 32
"""Steps whose calls are one function."""
CACHES = ((3, 70 * 1024), (2, 300 * 1024))
"""Blocks that go together and the bytes that their workspaces may have, measured: shares of the nearest caches. A second block fills the
processor while the first waits for the link before."""


@dataclass(frozen=True)
class Signature:
    """What a caller must know about a kernel; kept in the cache beside the code."""

    name: str
    input_names: tuple[str, ...]
    input_shapes: tuple[Shape, ...]
    output_names: tuple[str, ...]
    output_shapes: tuple[Shape, ...]
    instruction_count: int
    flops: int


@dataclass(frozen=True)
class Program:
    """Placed steps, ready to be written for any lane count.

    Attributes
    ----------
    signature : Signature
        Names, shapes, size.
    steps : list of Step
        What to run in order; all their numbers are workspace slots.
    slots : int
        First slot after everything placed; the bodies' scratch begins here.
    """

    signature: Signature
    steps: list[Step]
    slots: int

    def ranked(self, ranks: Ranks | None) -> Program:
        """Return the program with the wanted number of axes: a size of one takes none away."""
        if ranks is None:
            return self
        held = (self.signature.input_shapes, self.signature.output_shapes)
        inputs, outputs = (
            tuple(s + (1,) * (rank - len(s)) for s, rank in zip(shapes, wanted, strict=True))
            for shapes, wanted in zip(held, ranks)
        )
        return replace(self, signature=replace(self.signature, input_shapes=inputs, output_shapes=outputs))

    def text(self, target: Target) -> str:
        """Return the LLVM text of the whole module."""
        code = self.code(target)
        blocks = blocks_together(code.slots, target)
        shapes = sizes(self.signature.input_shapes), sizes(self.signature.output_shapes)
        return module(target, [code], blocks, driver(target, *shapes, code.slots, blocks))

    def code(self, target: Target, prefix: str = "") -> Code:
        """Return the functions of all steps, their names behind a prefix, and the calls that run them."""
        routines = _Routines(self.steps, self.slots, target, prefix)
        first = routines.end
        shared = Procedures([s for s in self.steps if isinstance(s, Call)], first, target, prefix)
        sweeps = SweepTables([s for s in self.steps if isinstance(s, SelectionLoop)], first, target, prefix)
        lookups = Lookups([s for s in self.steps if isinstance(s, Lookup)], target, prefix)
        copies, loops = Copies(target, prefix), Loops(target, prefix)
        parts, calls = [*shared.text, *sweeps.text, *lookups.text], list[list[str]]()
        scratch = max(shared.scratch, sweeps.scratch)
        for number, step in enumerate(self.steps):
            if isinstance(step, Call):
                calls.append(shared.call(step, number))
            elif isinstance(step, RoutineCall):
                calls.append(routines.call(step, number, copies))
            elif isinstance(step, SelectionLoop):
                calls.append(sweeps.call(step))
            elif isinstance(step, Lookup):
                calls.append(lookups.call(step))
            elif isinstance(step, Elementwise):
                calls.append(loops.call(step, number))
            elif isinstance(step, StraightCode) and (looped := copies.call(step)):
                calls.append([looped])
            else:
                text, call, used = self._emit(step, f"{prefix}step{number}", target, first)
                parts += text
                calls.append(call)
                scratch = max(scratch, used)
        parts += [shared.table(), *copies.text(), *loops.text()]
        products = [s for s in self.steps if isinstance(s, MatrixProduct)]
        return Code(prefix, parts, calls, first + scratch, products, routines.codes)

    def _emit(self, step: Step, name: str, target: Target, first: int) -> tuple[list[str], list[str], int]:
        """Return the functions of a step, the texts that call them, and the scratch slots it uses."""
        if isinstance(step, MatrixProduct):
            return [product.emit(step, name, target)], [f"call void @{name}(ptr %w)"], 0
        assert isinstance(step, StraightCode)
        placed = lower.place(
            step.code, [x.tolist() for x in step.inputs], [x.tolist() for x in step.outputs], first
        )
        calls = [f"call void @{name}.{k}(ptr %w)" for k in range(len(placed.chunks))]
        return lower.emit(placed, name, target), calls, placed.scratch


@dataclass(frozen=True)
class Code:
    """The text of one program: functions, the calls that run it on a workspace `%w`, and what those need.

    Calls are listed step by step: pointers that the first call of a step makes serve its others too.
    """

    prefix: str
    parts: list[str]
    calls: list[list[str]]
    slots: int
    products: list[MatrixProduct]
    routines: list[Code]

    def whole(self) -> list[Code]:
        """Return this code and that of all routines that it runs."""
        return [self, *(code for routine in self.routines for code in routine.whole())]

    def body(self, blocks: int) -> str:
        """Return the text of `@<prefix>body.k(ptr %w0, ...)`: every call for each of the k workspaces in turn.

        The calls are cut into functions of a few steps each: the time that LLVM takes grows faster than the length of one.
        """
        name = f"{self.prefix}body.{blocks}"
        pieces = [self.calls[i : i + STEPS_TOGETHER] for i in range(0, len(self.calls), STEPS_TOGETHER)]
        texts = [[text for step in piece for call in step for text in _on(call, blocks)] for piece in pieces]
        arguments = ", ".join(f"ptr %w{k}" for k in range(blocks))
        parts = [_void(f"{name}.{i}", blocks, lines) for i, lines in enumerate(texts)]
        whole = [f"call void @{name}.{i}({arguments})" for i in range(len(texts))]
        return "\n".join([*parts, _void(name, blocks, whole)])


def _on(call: str, blocks: int) -> list[str]:
    """Return the texts of a call for each of so many workspaces; that of a routine takes all of them together."""
    if not call.startswith(TOGETHER):
        return [call.replace("%w", f"%w{k}").replace("%c", f"%c{k}.") for k in range(blocks)]
    name, pointer = call.removeprefix(TOGETHER).split()
    pointers = ", ".join(f"ptr {pointer.replace('%c', f'%c{k}.')}" for k in range(blocks))
    return [f"call void @{name}.{blocks}({pointers})"]


class _Routines:
    """The routines of a program: their code, and the slots that each has in the program's workspace.

    Parameters
    ----------
    steps : list of Step
    start : int
        First slot for the routines; `end` is the first after them.
    target : Target
    prefix : str
        Begins every name.
    """

    def __init__(self, steps: list[Step], start: int, target: Target, prefix: str):
        self._target = target
        self._places: dict[int, tuple[str, int]] = {}
        self.codes: list[Code] = []
        self.end = start
        for routine in (step.routine for step in steps if isinstance(step, RoutineCall)):
            if id(routine) not in self._places:
                name = f"{prefix}routine{len(self.codes)}."
                self.codes.append(routine.program.code(target, name))
                self._places[id(routine)] = f"{name}body", self.end
                self.end += self.codes[-1].slots

    def call(self, step: RoutineCall, number: int, copies: Copies) -> list[str]:
        """Return the texts that run a routine."""
        name, start = self._places[id(step.routine)]
        own_in, own_out = (
            start + np.concatenate([np.zeros(0, int), *slots])
            for slots in (step.routine.inputs, step.routine.outputs)
        )
        pointer = f"%c{number}"
        return [
            copies.between(np.concatenate([np.zeros(0, int), *step.inputs]), own_in),
            f"{pointer} = getelementptr inbounds i8, ptr %w, i64 {start * self._target.bytes}",
            f"{TOGETHER}{name} {pointer}",
            copies.between(own_out, np.concatenate([np.zeros(0, int), *step.outputs])),
        ]


def _void(name: str, blocks: int, lines: list[str]) -> str:
    """Return the text of an internal function of so many workspaces."""
    pointers, text = ", ".join(f"ptr noalias %w{k}" for k in range(blocks)), "\n".join(lines)
    return f"define internal void @{name}({pointers}) nounwind {{\n{text}\nret void\n}}\n"


def blocks_together(slots: int, target: Target) -> int:
    """Return how many blocks of rows go through the code together: few enough for the near caches."""
    if target.lanes == 1:
        return 1
    return next((blocks for blocks, room in CACHES if blocks * slots * target.bytes <= room), 1)


def module(target: Target, codes: list[Code], blocks: int, driver_text: str) -> str:
    """Return the text of a module: programs that share one workspace layout, and the driver that calls them."""
    slots = max(code.slots for code in codes)
    codes = [inner for code in codes for inner in code.whole()]
    parts = [part for code in codes for part in code.parts]
    parts += [code.body(k) for code in codes for k in sorted({1, blocks})]
    parts.append(driver_text)
    parts.append(product.tiles(target, [step for code in codes for step in code.products]))
    parts.append(f"@slots = constant i64 {slots * blocks}\n")
    text = "\n".join(parts)
    return text + helpers(target, text)


def build(function: ca.Function) -> Program:
    """Return the program of an SX or MX function."""
    function = graph.expanded(function)
    n_in = sum(function.numel_in(k) for k in range(function.n_in()))
    n_out = sum(function.numel_out(k) for k in range(function.n_out()))
    inputs, outputs = _places(function)
    flow = Graph(n_in)
    results = graph.Tracer(function, flow, _routine).trace(function, inputs)
    flow.steps = fold.simplify(flow, results)
    steps, top = placement.place(flow, results, outputs, n_in, n_out)
    return Program(_signature(function, steps), steps, top)


def _routine(function: ca.Function) -> Routine:
    """Return the routine of an MX function."""
    return Routine(build(function), *_places(function))


def _places(function: ca.Function) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return the slots of the nonzeros of all inputs and of all outputs."""
    n_in = sum(function.numel_in(k) for k in range(function.n_in()))
    inputs = _slots(function.n_in(), function.sparsity_in, 0)
    return inputs, _slots(function.n_out(), function.sparsity_out, n_in)


def _slots(count: int, sparsity: Callable[[int], ca.Sparsity], start: int) -> list[np.ndarray]:
    """Return the slot of each nonzero of each input or output."""
    slots = []
    for k in range(count):
        slots.append(start + c_order(sparsity(k)))
        start += sparsity(k).numel()
    return slots


def c_order(sparsity: ca.Sparsity) -> np.ndarray:
    """Return the C-order index of each nonzero (CasADi counts nonzeros by columns)."""
    rows, columns = sparsity.get_triplet()
    return np.array(rows, dtype=int) * sparsity.size2() + np.array(columns, dtype=int)


def trailing_shape(rows: int, columns: int) -> Shape:
    """Return the trailing array axes of a CasADi matrix: none for 1x1, n for nx1, else (r, c)."""
    if columns == 1:
        return () if rows == 1 else (rows,)
    return (rows, columns)


def sizes(shapes: tuple[Shape, ...]) -> list[int]:
    """Return the number of elements of each shape."""
    return [int(np.prod(shape)) for shape in shapes]


def _signature(function: ca.Function, steps: list[Step]) -> Signature:
    n_in, n_out = range(function.n_in()), range(function.n_out())
    return Signature(
        function.name(),
        tuple(function.name_in(k) for k in n_in),
        tuple(trailing_shape(*function.size_in(k)) for k in n_in),
        tuple(function.name_out(k) for k in n_out),
        tuple(trailing_shape(*function.size_out(k)) for k in n_out),
        sum(s.operations for s in steps),
        sum(s.flops for s in steps),
    )
