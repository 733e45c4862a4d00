"""Where values live: outputs where they are read, temporary values in blocks that are reused when dead."""

from __future__ import annotations

import bisect
import heapq
from dataclasses import replace

import casadi as ca
import numpy as np

from . import fold, graph, product
from .graph import (
    Call,
    Elementwise,
    Graph,
    Lookup,
    MatrixProduct,
    RoutineCall,
    SelectionLoop,
    Step,
    StraightCode,
)
from .instructions import Instructions


def place(
    flow: Graph, results: list[np.ndarray], outputs: list[np.ndarray], n_in: int, n_out: int
) -> tuple[list[Step], int]:
    """Return the steps with slots instead of numbers, and the first slot after all of them."""
    slot = np.full(flow.count, -1)
    slot[:n_in] = np.arange(n_in)
    copies: list[tuple[int, int]] = []
    for numbers, targets in zip(results, outputs):
        for number, target in zip(numbers.tolist(), targets.tolist()):
            if slot[number] < 0:
                slot[number] = target
            else:
                copies.append((number, target))
    _mark_constant_inputs(flow)
    written = _constants_in_memory(flow, [a for a, _ in copies], results)
    blocks = _operand_blocks(flow, slot)
    top = _place_temporaries(written + flow.steps, slot, [a for a, _ in copies], n_in + n_out, blocks)
    steps, top = _resolve(written + flow.steps, slot, top, flow.constants)
    zeros = set(range(n_in, n_in + n_out)).difference(*(x.tolist() for x in outputs))
    return steps + _finish(copies, slot, zeros), top


def _operand_blocks(flow: Graph, slot: np.ndarray) -> list[np.ndarray]:
    """Return the numbers of product operands that several steps write, in the order in which they should lie in memory.

    Otherwise such an operand would be copied, element by element.
    """
    blocks = []
    taken = slot >= 0
    for step in flow.steps:
        for numbers in (step.left, step.right) if isinstance(step, MatrixProduct) else ():
            free = not np.any(taken[numbers]) and len(np.unique(numbers)) == numbers.size
            if free and product.strides(numbers) is None:
                blocks.append(max((numbers.T.ravel(), numbers.ravel()), key=_runs))
                taken[blocks[-1]] = True
    return blocks


def _runs(numbers: np.ndarray) -> int:
    """Return how many numbers follow the one before: what a call writes together should lie together."""
    return int(np.count_nonzero(np.diff(numbers) == 1))


def _mark_constant_inputs(flow: Graph) -> None:
    """Tell each procedure which of its inputs are constants in every call."""
    calls = [step for step in flow.steps if isinstance(step, Call)]
    for call in calls:
        call.procedure.constant.update(k for k, numbers in enumerate(call.inputs) if len(numbers))
    for call in calls:
        for k, numbers in enumerate(call.inputs):
            if any(n not in flow.constants for n in numbers.tolist()):
                call.procedure.constant.discard(k)


def _constants_in_memory(flow: Graph, kept: list[int], results: list[np.ndarray]) -> list[Step]:
    """Return the step that writes those constants which someone reads otherwise than as constant operand of a call."""
    wanted = {n for x in results for n in x.tolist()} | set(kept)
    for step in flow.steps:
        fixed = step.procedure.constant if isinstance(step, Call) else {}
        for k, numbers in enumerate(step.reads()):
            if k not in fixed:
                wanted.update(numbers.ravel().tolist())
    written = sorted(wanted & flow.constants.keys())
    if not written:
        return []
    values = {k: flow.constants[n] for k, n in enumerate(written)}
    code = Instructions(
        [ca.OP_CONST] * len(written),
        [-1] * len(written),
        [-1] * len(written),
        values,
        [np.arange(len(written))],
    )
    return [StraightCode(code, [], [np.array(written)])]


def _place_temporaries(
    steps: list[Step], slot: np.ndarray, kept: list[int], base: int, blocks: list[np.ndarray]
) -> int:
    """Give slots to the numbers that have none, block by block; return the first slot after them.

    A block is one of `blocks`, or what one step writes into one result. It is taken when first written and free again after the
    last step that touches it.
    """
    last = _last_steps(steps, len(slot))
    last[kept] = len(steps)
    block_of = np.full(len(slot), -1)
    for k, block in enumerate(blocks):
        block_of[block] = k
    memory = _Memory(base)

    def take(block: np.ndarray) -> None:
        if len(block):
            slot[block] = memory.take(len(block), int(last[block].max())) + np.arange(len(block))

    for now, step in enumerate(steps):
        memory.release(now)
        for numbers in step.writes():
            free = np.sort(numbers.ravel())
            free = free[slot[free] < 0]
            for k in np.unique(block_of[free]).tolist():
                take(blocks[k] if k >= 0 else free[block_of[free] < 0])
    return memory.top


def _last_steps(steps: list[Step], count: int) -> np.ndarray:
    """Return for each number the last step that reads or writes it."""
    last = np.full(count, -1)
    for now, step in enumerate(steps):
        for numbers in (*step.reads(), *step.writes()):
            last[numbers.ravel()] = now
    return last


class _Memory:
    """Blocks of slots; those whose last step is over are joined with free neighbors and serve the next blocks that fit."""

    def __init__(self, base: int):
        self.top = base
        self.free: list[tuple[int, int]] = []  # start and end, in order
        self.take_sign: list[tuple[int, int, int]] = []  # heap of last step, start, end

    def release(self, now: int) -> None:
        """Make free the blocks whose last step lies before `now`."""
        while self.take_sign and self.take_sign[0][0] < now:
            _, start, end = heapq.heappop(self.take_sign)
            at = bisect.bisect(self.free, (start, end))
            if at < len(self.free) and self.free[at][0] == end:
                end = self.free.pop(at)[1]
            if at and self.free[at - 1][1] == start:
                at -= 1
                start = self.free.pop(at)[0]
            self.free.insert(at, (start, end))

    def take(self, size: int, last: int) -> int:
        """Return the start of a block that stays taken until step `last` is over."""
        fitting = [(end - start, k) for k, (start, end) in enumerate(self.free) if end - start >= size]
        if fitting:
            _, k = min(fitting)
            start, end = self.free.pop(k)
            if end > start + size:
                self.free.insert(k, (start + size, end))
        else:
            start = self.free.pop()[0] if self.free and self.free[-1][1] == self.top else self.top
            self.top = start + size
        heapq.heappush(self.take_sign, (last, start, start + size))
        return start


def _finish(copies: list[tuple[int, int]], slot: np.ndarray, zeros: set[int]) -> list[Step]:
    """Return the steps that fill outputs which no step computes in place: copies and structural zeros."""
    steps: list[Step] = []
    if copies:
        steps.append(graph.copying(slot[[a for a, _ in copies]], np.array([b for _, b in copies])))
    if zeros:
        steps.append(graph.zeroing(np.array(sorted(zeros))))
    return steps


def _resolve(
    steps: list[Step], slot: np.ndarray, top: int, constants: dict[int, float]
) -> tuple[list[Step], int]:
    """Write slots into the steps; matrix products also need regular strides, by a copy if need be.

    Copies serve one step alone, so all steps have them in the same slots behind `top`.
    """
    resolved: list[Step] = []
    seen: dict[int, Step] = {}
    ends = [top]
    for step in steps:
        if isinstance(step, StraightCode):
            if id(step) not in seen:
                seen[id(step)] = StraightCode(
                    step.code, [slot[x] for x in step.inputs], [slot[x] for x in step.outputs]
                )
            resolved.append(seen[id(step)])
        elif isinstance(step, MatrixProduct):
            ends.append(_resolve_product(step, slot, top, resolved))
        elif isinstance(step, Call):
            ends.append(_resolve_call(step, slot, top, resolved, constants))
        elif isinstance(step, Lookup):
            places = [slot[x] for x in step.inputs], [slot[x] for x in step.outputs]
            resolved.append(Lookup(step.name, step.table, *places))
        elif isinstance(step, RoutineCall):
            places = [slot[x] for x in step.inputs], [slot[x] for x in step.outputs]
            resolved.append(RoutineCall(step.routine, *places))
        elif isinstance(step, SelectionLoop):
            ends.append(_resolve_sweep(step, slot, top, resolved))
        elif isinstance(step, Elementwise):
            placed = replace(step, operands=[slot[x] for x in step.operands], result=slot[step.result])
            looped = all(map(_contiguous, (*placed.operands, placed.result)))
            resolved.append(placed if looped else fold.straight_line(placed))
    return resolved, max(ends)


def _resolve_call(
    step: Call, slot: np.ndarray, top: int, resolved: list[Step], constants: dict[int, float]
) -> int:
    """Append the call with slots; a constant operand keeps its values, an operand that is scattered is copied."""
    inputs: list[np.ndarray] = []
    for k, numbers in enumerate(step.inputs):
        if k in step.procedure.constant:
            inputs.append(np.array([constants[n] for n in numbers.tolist()]))
            continue
        found, top = _gather(slot[numbers], top, resolved)
        inputs.append(found)
    outputs, after, top = _scatter([slot[x] for x in step.outputs], top)
    resolved += [Call(step.procedure, inputs, outputs), *after]
    return top


def _resolve_sweep(step: SelectionLoop, slot: np.ndarray, top: int, resolved: list[Step]) -> int:
    """Append the sweep with slots; operands that are scattered are copied."""
    inputs: list[np.ndarray] = []
    for numbers in step.inputs:
        found, top = _gather(slot[numbers], top, resolved)
        inputs.append(found)
    outputs, after, top = _scatter([slot[x] for x in step.outputs], top)
    resolved += [replace(step, inputs=inputs, outputs=outputs), *after]
    return top


def _gather(slots: np.ndarray, top: int, resolved: list[Step]) -> tuple[np.ndarray, int]:
    """Return slots in a row that hold an operand, copied there if need be, and the first slot after them."""
    if _contiguous(slots):
        return slots, top
    places = top + np.arange(len(slots))
    resolved.append(graph.copying(slots, places))
    return places, top + len(slots)


def _scatter(wanted: list[np.ndarray], top: int) -> tuple[list[np.ndarray], list[Step], int]:
    """Return slots in a row for each result, the copies from there to where they are wanted, and the first slot after."""
    outputs, after = list[np.ndarray](), list[Step]()
    for slots in wanted:
        outputs.append(slots if _contiguous(slots) else top + np.arange(len(slots)))
        if outputs[-1] is not slots:
            after.append(graph.copying(outputs[-1], slots))
            top += len(slots)
    return outputs, after, top


def _contiguous(slots: np.ndarray) -> bool:
    return len(slots) < 2 or np.array_equal(slots, slots[0] + np.arange(len(slots)))


def _resolve_product(step: MatrixProduct, slot: np.ndarray, top: int, resolved: list[Step]) -> int:
    operands = {}
    for name in ("left", "right", "start", "result"):
        numbers = getattr(step, name)
        if numbers is None:
            continue
        operands[name] = slot[numbers]
        if product.strides(operands[name]) is None:
            regular = top + np.arange(numbers.size).reshape(numbers.shape)
            top += numbers.size
            if name != "result":
                resolved.append(graph.copying(operands[name].ravel(), regular.ravel()))
            operands[name] = regular
    resolved.append(replace(step, **operands))
    wanted = slot[step.result]
    if not np.array_equal(operands["result"], wanted):
        resolved.append(graph.copying(operands["result"].ravel(), wanted.ravel()))
    return top
