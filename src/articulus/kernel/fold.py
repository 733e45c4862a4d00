"""Passes over the steps of a graph: fold sums into products, drop what nobody reads."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import casadi as ca
import numpy as np

from .graph import Body, Elementwise, Graph, Product, Step
from .instructions import Instructions


def simplify(graph: Graph, results: list[np.ndarray]) -> list[Step]:
    """Return the steps that compute `results`: products take their sum along, dead steps are gone."""
    steps = _live(_fold_sums(_live(graph.steps, results), results), results)
    return [_straight_line(step) if isinstance(step, Elementwise) else step for step in steps]


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
    products: dict[bytes, int] = {}
    folded: list[Step | None] = []
    for step in steps:
        if isinstance(step, Elementwise):
            step = _folded(step, products, folded, readers)
        if isinstance(step, Product) and step.start is None and step.sign > 0:
            products[_key(step.result)] = len(folded)
        folded.append(step)
    return [step for step in folded if step is not None]


def _key(numbers: np.ndarray) -> bytes:
    return numbers.ravel(order="F").astype(np.int64).tobytes()


def _folded(
    step: Elementwise, products: dict[bytes, int], folded: list[Step | None], readers: Counter[int]
) -> Step:
    """Return the product that takes the place of the sum, or the sum itself."""
    for position, operand in reversed(list(enumerate(step.operands))):
        place = products.get(_key(operand))
        product = None if place is None else folded[place]
        if place is None or not isinstance(product, Product) or any(readers[n] > 1 for n in operand.tolist()):
            continue
        if step.op == ca.OP_SUB and position == 0:
            continue
        others = [x for k, x in enumerate(step.operands) if k != position]
        shape = product.result.shape
        start = others[0].reshape(shape, order="F") if others else None
        sign = 1 if step.op == ca.OP_ADD else -1
        folded[place] = None
        return replace(product, start=start, sign=sign, result=step.result.reshape(shape, order="F"))
    return step


def _straight_line(step: Elementwise) -> Body:
    """Return the body of an elementwise step."""
    n, m = len(step.result), len(step.operands)
    leaf = [k for k in range(m) for _ in range(n)]
    op = [ca.OP_INPUT] * (n * m) + [step.op] * n
    first = leaf + list(range(n))
    second = list(range(n)) * m + (list(range(n, 2 * n)) if m == 2 else [-1] * n)
    return Body(
        Instructions(op, first, second, {}, [np.arange(n * m, n * m + n)]), list(step.operands), [step.result]
    )
