"""Passes over the steps of a graph: fold sums into products, drop what nobody reads."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import casadi as ca
import numpy as np

from .graph import Elementwise, Graph, MatrixProduct, Step, StraightCode
from .instructions import Instructions

LOOPED_FROM = 48
"""Elements from which an elementwise step is a loop: written out, each would be several instructions to compile."""


def simplify(graph: Graph, results: list[np.ndarray]) -> list[Step]:
    """Return the steps that compute `results`: products take their sum along, dead steps are gone."""
    steps = _live(_fold_sums(_live(graph.steps, results), results), results)
    return [
        straight_line(step) if isinstance(step, Elementwise) and len(step.result) < LOOPED_FROM else step
        for step in steps
    ]


def _live(steps: list[Step], results: list[np.ndarray]) -> list[Step]:
    """Drop steps whose values are never read."""
    wanted = set().union(*(x.tolist() for x in results))
    kept = []
    for step in reversed(steps):
        if any(not wanted.isdisjoint(x.ravel().tolist()) for x in step.writes()):
            kept.append(step)
            wanted.update(*(x.ravel().tolist() for x in step.reads()))
    return kept[::-1]


def _fold_sums(steps: list[Step], results: list[np.ndarray]) -> list[Step]:
    """Turn `-(A B)`, `C + A B` and `C - A B` into one product, where A B is used nowhere else."""
    readers = Counter(n for step in steps for x in step.reads() for n in np.unique(x).tolist())
    readers.update(n for x in results for n in x.tolist())
    folded: list[Step | None] = []
    products: dict[int, int] = {}  # least number of a product's result to its place in the list
    for step in steps:
        if isinstance(step, Elementwise):
            step = _fold(step, products, folded, readers)
        if isinstance(step, MatrixProduct) and step.start is None and step.sign > 0:
            products[int(step.result.min())] = len(folded)
        folded.append(step)
    return [step for step in folded if step is not None]


def _fold(
    step: Elementwise, products: dict[int, int], folded: list[Step | None], readers: Counter[int]
) -> Step:
    """Return the product that takes the place of the sum, or the step itself."""
    if step.op == ca.OP_MUL or any(x.shape != step.result.shape for x in step.operands):
        return step
    for position, operand in enumerate(step.operands):
        place = products.get(int(operand.min()), -1)
        product = folded[place] if place >= 0 else None
        if isinstance(product, MatrixProduct) and _absorbs(step, position, product, readers):
            folded[place] = None
            return _absorb(step, position, product)
    return step


def _absorbs(step: Elementwise, position: int, product: MatrixProduct, readers: Counter[int]) -> bool:
    """Tell whether the operand is this product in any order, used only here, and not the minuend."""
    operand = step.operands[position]
    if step.op == ca.OP_SUB and position == 0:
        return False
    same = np.array_equal(np.sort(operand), np.sort(product.result.ravel()))
    return same and all(readers[n] == 1 for n in operand.tolist())


def _absorb(step: Elementwise, position: int, product: MatrixProduct) -> MatrixProduct:
    """Return the product that starts from the other operand and writes the sum's result."""
    where = {number: k for k, number in enumerate(step.operands[position].tolist())}
    order = np.array([where[n] for n in product.result.ravel().tolist()]).reshape(product.result.shape)
    others = [x for k, x in enumerate(step.operands) if k != position]
    start = others[0][order] if others else None
    return replace(product, start=start, sign=1 if step.op == ca.OP_ADD else -1, result=step.result[order])


def straight_line(step: Elementwise) -> StraightCode:
    """Return the body of an elementwise step."""
    n = len(step.result)
    op, first, second = list[int](), list[int](), list[int]()
    rows = []
    for k, operand in enumerate(step.operands):
        rows.append(range(len(op), len(op) + n) if len(operand) == n else [len(op)] * n)
        op += [ca.OP_INPUT] * len(operand)
        first += [k] * len(operand)
        second += range(len(operand))
    results = np.arange(len(op), len(op) + n)
    code = Instructions(
        op + [step.op] * n,
        [*first, *rows[0]],
        [*second, *(rows[1] if len(rows) == 2 else [-1] * n)],
        {},
        [results],
    )
    return StraightCode(code, list(step.operands), [step.result])
