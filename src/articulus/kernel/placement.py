"""Where values live: outputs where they are read, temporary values in blocks that are reused when dead."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from . import graph, product
from .graph import Body, Graph, Product, Step


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
    top = _place_temporaries(flow.steps, slot, [a for a, _ in copies], n_in + n_out)
    steps, top = _resolve(flow.steps, slot, top)
    zeros = set(range(n_in, n_in + n_out)).difference(*(x.tolist() for x in outputs))
    return steps + _finish(copies, slot, zeros), top


def _place_temporaries(steps: list[Step], slot: np.ndarray, kept: list[int], base: int) -> int:
    """Give slots to the numbers that have none, block by block; return the first slot after them.

    A block is what one step writes into one result. It is free again after the last step that touches it.
    """
    last = _last_steps(steps, len(slot))
    last[kept] = len(steps)
    memory = _Memory(base)
    for now, step in enumerate(steps):
        memory.release(now)
        for numbers in step.writes():
            block = np.sort(numbers.ravel())
            block = block[slot[block] < 0]
            if len(block):
                slot[block] = memory.take(len(block), int(last[block].max())) + np.arange(len(block))
    return memory.top


def _last_steps(steps: list[Step], count: int) -> np.ndarray:
    """Return for each number the last step that reads or writes it."""
    last = np.full(count, -1)
    for now, step in enumerate(steps):
        for numbers in (*step.reads(), *step.writes()):
            last[numbers.ravel()] = now
    return last


class _Memory:
    """First-fit allocation of blocks of slots, each with the last step that needs it."""

    def __init__(self, base: int):
        self.base = self.top = base
        self.taken: list[tuple[int, int, int]] = []  # start, end, last step; sorted by start

    def release(self, now: int) -> None:
        """Forget the blocks whose last step lies before `now`."""
        self.taken = [block for block in self.taken if block[2] >= now]

    def take(self, size: int, last: int) -> int:
        """Return the start of a block that stays taken until step `last` is over."""
        start = self.base
        for begin, end, _ in self.taken:
            if begin - start >= size:
                break
            start = end
        self.taken = sorted([*self.taken, (start, start + size, last)])
        self.top = max(self.top, start + size)
        return start


def _finish(copies: list[tuple[int, int]], slot: np.ndarray, zeros: set[int]) -> list[Step]:
    """Return the steps that fill outputs which no step computes in place: copies and structural zeros."""
    steps: list[Step] = []
    if copies:
        steps.append(graph.copying(slot[[a for a, _ in copies]], np.array([b for _, b in copies])))
    if zeros:
        steps.append(graph.zeroing(np.array(sorted(zeros))))
    return steps


def _resolve(steps: list[Step], slot: np.ndarray, top: int) -> tuple[list[Step], int]:
    """Write slots into the steps; matrix products also need regular strides, by a copy if need be."""
    resolved: list[Step] = []
    seen: dict[int, Step] = {}
    for step in steps:
        if isinstance(step, Body):
            if id(step) not in seen:
                seen[id(step)] = Body(
                    step.code, [slot[x] for x in step.inputs], [slot[x] for x in step.outputs]
                )
            resolved.append(seen[id(step)])
        elif isinstance(step, Product):
            top = _resolve_product(step, slot, top, resolved)
    return resolved, top


def _resolve_product(step: Product, slot: np.ndarray, top: int, resolved: list[Step]) -> int:
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
