"""The limbs of a mechanism as the tasks of a quantity: what belongs to one limb alone stays together, so that little has to be transferred."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from articulus.errors import InputError
from articulus.kernel import Instructions
from articulus.parallel.graph import TaskGraph
from articulus.parallel.schedule import Schedule

if TYPE_CHECKING:
    from articulus.dynamics.mechanism import Mechanism
    from articulus.model.mechanism import Description

TRUNK = -1
"""Number of what belongs to no limb."""


def limb_tasks(mechanism: Mechanism, function: ca.Function, code: Instructions) -> list[tuple[int, bool]]:
    """Return limb and stage of each row of the instruction list of a quantity: rows with equal ones are a task.

    Limbs begin at the first body that carries several. There are four kinds of tasks: what is known from the trunk alone; for each limb what
    needs it and the trunk; what needs several limbs and serves several; for each limb what serves it alone.

    Parameters
    ----------
    mechanism : Mechanism
    function : casadi.Function
        Of q, v, tau or vdot, with outputs of one number for each degree of freedom, such as forward dynamics.
    code : Instructions
        Of the function.
    """
    description = mechanism.description
    by_q, by_v = limbs_of_coordinates(description)
    if len(set(by_v) - {TRUNK}) < 2:
        raise InputError(
            f"'{mechanism.name}' has no limbs: expected a body that carries two or more that move"
        )
    inputs = [_limbs(function.name_in(k), function.numel_in(k), by_q, by_v) for k in range(function.n_in())]
    needs = _needs(code, inputs)
    trunk = 1 << (max(by_v) + 1)
    serves = _serves(code, [_limbs("", len(rows), by_q, by_v) for rows in code.outputs], trunk)
    labels = []
    for needed, served in zip(needs, serves):
        if needed == 0:
            labels.append((TRUNK, False))
        elif needed & (needed - 1) == 0:
            labels.append((needed.bit_length() - 1, False))
        elif served & (served - 1) == 0 and 0 < served < trunk:
            labels.append((served.bit_length() - 1, True))
        else:
            labels.append((TRUNK, True))
    return labels


def limb_schedule(graph: TaskGraph, limbs: Sequence[int], processors: int, transfer: float) -> Schedule:
    """Return a schedule in which each limb has one processor, and the trunk the first: only what trunk and limbs exchange is transferred.

    The limb with the most work goes to the processor with the least, one after the other.

    Parameters
    ----------
    graph : TaskGraph
    limbs : sequence of int
        Limb of each task, TRUNK for none.
    processors : int
    transfer : float
        Time from the end of a task until its result is on another processor.
    """
    work = dict.fromkeys(sorted({*limbs} - {TRUNK}), 0.0)
    load = [0.0] * processors
    for limb, time in zip(limbs, graph.times):
        if limb == TRUNK:
            load[0] += time
        else:
            work[limb] += time
    home = {TRUNK: 0}
    for limb in sorted(work, key=lambda limb: -work[limb]):
        home[limb] = int(np.argmin(load))
        load[home[limb]] += work[limb]
    where = [home[limb] for limb in limbs]
    start_times, finish, until = [0.0] * len(graph), [0.0] * len(graph), [0.0] * processors
    left = set(range(len(graph)))

    def start(k: int) -> float:
        there = (finish[p] + (transfer if where[p] != where[k] else 0.0) for p in graph.predecessors[k])
        return max(until[where[k]], max(there, default=0.0))

    while left:
        ready = [k for k in left if left.isdisjoint(graph.predecessors[k])]
        k = min(ready, key=lambda k: (start(k), -graph.levels[k], k))
        start_times[k] = start(k)
        finish[k] = until[where[k]] = start_times[k] + graph.times[k]
        left.remove(k)
    bound = max(graph.critical_path, graph.work / processors)
    return Schedule(graph, processors, tuple(start_times), tuple(where), transfer, bound, "limbs")


def limbs_of_coordinates(description: Description) -> tuple[list[int], list[int]]:
    """Return the number of the limb of each position coordinate and of each velocity, TRUNK where it is in none.

    Parameters
    ----------
    description : Description
    """
    behind: dict[str, list] = {}
    for c in description.connections:
        behind.setdefault(c.parent, []).append(c)
    trunk, at = [], "ground"
    while len(behind.get(at, ())) == 1:
        trunk.append(behind[at][0])
        at = trunk[-1].child
    by_q, by_v = [TRUNK] * description.nq, [TRUNK] * description.nv
    number = 0
    for first in behind.get(at, ()):
        places, moves = [first], False
        for c in places:
            places += behind.get(c.child, ())
            modes_v, modes_q = description.mode_slices(c.child)
            for own, table in (
                (description.q_slices[c.name], by_q), (modes_q, by_q), (description.v_slices[c.name], by_v), (modes_v, by_v),
            ):  # fmt: skip
                for k in range(own.start, own.stop):
                    table[k], moves = number, True
        number += moves
    return by_q, by_v


def _limbs(name: str, size: int, by_q: Sequence[int], by_v: Sequence[int]) -> list[int]:
    """Return the limb of each number of an input or output."""
    if name == "q" and size == len(by_q):
        return list(by_q)
    return list(by_v) if size == len(by_v) else [TRUNK] * size


def _needs(code: Instructions, inputs: list[list[int]]) -> list[int]:
    """Return the limbs whose coordinates each row needs, a bit for each."""
    found: list[int] = []
    for op, a, b in zip(code.op, code.first, code.second):
        if op == ca.OP_INPUT:
            limb = inputs[a][b]
            found.append(0 if limb == TRUNK else 1 << limb)
        elif op == ca.OP_CONST:
            found.append(0)
        else:
            found.append((found[a] if a >= 0 else 0) | (found[b] if b >= 0 else 0))
    return found


def _serves(code: Instructions, outputs: list[list[int]], trunk: int) -> list[int]:
    """Return the limbs whose results each row serves, a bit for each; one more bit for the trunk."""
    found = [0] * len(code)
    for rows, limbs in zip(code.outputs, outputs):
        for row, limb in zip(np.asarray(rows).tolist(), limbs):
            found[row] |= trunk if limb == TRUNK else 1 << limb
    for row in range(len(code) - 1, -1, -1):
        if code.op[row] not in (ca.OP_INPUT, ca.OP_CONST):
            for operand in (code.first[row], code.second[row]):
                if operand >= 0:
                    found[operand] |= found[row]
    return found


__all__ = ["TRUNK", "limb_schedule", "limb_tasks", "limbs_of_coordinates"]
