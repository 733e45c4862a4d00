"""Neighborhood scheduling for a SIMD machine with two networks (DN-SIMD): the order of subtasks, its control table, an emulator.

Each processing element has two input registers that keep their operands until they are replaced (IWR), an output register whose value can
go back as an operand (OWR), global registers (GDR) on one network, forwarding between elements (IFD) on the other, and a buffer for
inputs (IDB). Two operands from the same kind of place take two cycles: a double transfer (DTR), which a good order avoids.

Source: Lee & Lin 1989.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from articulus.errors import InputError
from articulus.parallel.animation import CellWork, animate
from articulus.parallel.doubling import prefixes


@dataclass(frozen=True)
class Operand:
    """An input (I) or the result of a subtask (T), of the element `shift` places on.

    Attributes
    ----------
    kind : {"I", "T"}
    number : int
    shift : int
    """

    kind: str
    number: int
    shift: int = 0

    def __str__(self) -> str:
        return f"{self.kind}{self.number}" + (f"[{self.shift:+d}]" if self.shift else "")


@dataclass(frozen=True)
class Subtask:
    """One operation of two operands on every element, or a recurrence as a whole.

    Attributes
    ----------
    number : int
    first, second : Operand
        A recurrence has what it combines, its own result of the element before left out.
    operation : str
        "MM", "MV", "SV", "VA", "VI", "SA", ... as the source abbreviates.
    macro : bool
        Whether it is a recurrence over the elements: x(i) = x(i - 1) o a(i), or b(i) x(i - 1) + a(i) with two operands (b, a).
    """

    number: int
    first: Operand
    second: Operand | None
    operation: str
    macro: bool = False

    @property
    def operands(self) -> tuple[Operand, ...]:
        """One or two operands."""
        return (self.first,) if self.second is None else (self.first, self.second)

    @property
    def name(self) -> str:
        """T and the number."""
        return f"T{self.number}"


def is_neighbor(before: Subtask, after: Subtask) -> bool:
    """Return whether a subtask finds an operand in the registers when it follows another one (definition 1 of the source).

    Parameters
    ----------
    before, after : Subtask
    """
    results = any(o.kind == "T" and o.number == before.number for o in after.operands)
    return results or any(o in before.operands for o in after.operands)


def is_double(order: Sequence[Subtask], k: int) -> bool:
    """Return whether a subtask needs a double transfer at its place (definition 2 of the source).

    Parameters
    ----------
    order : sequence of Subtask
    k : int
        Place, from 0.
    """
    return _double(order[k], order[k - 1] if k else None)


def _double(task: Subtask, before: Subtask | None) -> bool:
    if task.macro or task.second is None or task.first.kind != task.second.kind:
        return False
    if task.first.number == task.second.number:
        return False
    return before is None or not is_neighbor(before, task)


def doubles(order: Sequence[Subtask]) -> list[str]:
    """Return the names of the subtasks that need a double transfer, in their order.

    Parameters
    ----------
    order : sequence of Subtask
    """
    return [t.name for k, t in enumerate(order) if is_double(order, k)]


def neighborhood_schedule(tasks: Sequence[Subtask]) -> list[Subtask]:
    """Return subtasks in an order with fewer double transfers: each that needs one moves behind a neighbor, where there is room.

    Parameters
    ----------
    tasks : sequence of Subtask
        Each behind those whose results it uses.

    Returns
    -------
    list of Subtask
        It keeps every subtask behind those that it needs.
    """
    order = list(tasks)
    _require_order(order)
    for k in range(len(order)):
        if not is_double(order, k):
            continue
        task = order[k]
        places = {t.number: i for i, t in enumerate(order)}
        i = max((places[o.number] for o in task.operands if o.kind == "T"), default=0)
        while i < k - 1:
            follower = order[i + 1]
            room = is_double(order, i + 1) or not _double(follower, task)
            if is_neighbor(order[i], task) and room:
                order.insert(i + 1, order.pop(k))
                break
            i += 1
    return order


def _require_order(order: Sequence[Subtask]) -> None:
    seen: set[int] = set()
    for task in order:
        for o in task.operands:
            if o.kind == "T" and o.number not in seen:
                raise InputError(
                    f"{task.name} uses {o} before it is computed; expected it behind T{o.number}"
                )
            if o.kind not in ("I", "T"):
                raise InputError(f"{task.name}: operand kind '{o.kind}'; expected I or T")
        if task.number in seen:
            raise InputError(f"{task.name} is there twice")
        seen.add(task.number)


CONNECTION = {0: 1, 2: 2, 1: 3, -1: 4}
"""Types of connections of the networks by shift: straight, shift of 2, of 1, of -1."""


@dataclass(frozen=True)
class ControlRow:
    """A row of the control table.

    Attributes
    ----------
    subtask : str
    operands : tuple of str
    sources : tuple of str
        "IDB", "GDR", "IFD", "OWR" or "IWR" of each operand.
    connections : tuple of int
        Type of the connection of operands from GDR and IFD, else 0.
    operation : str
    stored, forwarded : bool
        Whether the result goes to a global register, and to another element.
    """

    subtask: str
    operands: tuple[str, ...]
    sources: tuple[str, ...]
    connections: tuple[int, ...]
    operation: str
    stored: bool
    forwarded: bool


def control_table(order: Sequence[Subtask]) -> list[ControlRow]:
    """Return where each subtask has its operands from and where its result goes.

    Parameters
    ----------
    order : sequence of Subtask
    """
    _require_order(order)
    sources = [_sources(t, order[k - 1] if k else None) for k, t in enumerate(order)]
    rows = []
    for k, task in enumerate(order):
        later = [
            (s, o.shift)
            for t, found in zip(order, sources)
            for o, s in zip(t.operands, found)
            if o.kind == "T" and o.number == task.number
        ]
        rows.append(
            ControlRow(
                task.name,
                tuple(map(str, task.operands)),
                sources[k],
                tuple(
                    CONNECTION.get(o.shift, 0) if s in ("GDR", "IFD") else 0
                    for o, s in zip(task.operands, sources[k])
                ),
                task.operation,
                stored=any(s == "GDR" for s, _ in later) or not later,
                forwarded=any(s == "IFD" for s, _ in later),
            )
        )
    return rows


def _sources(task: Subtask, before: Subtask | None) -> tuple[str, ...]:
    def source(o: Operand) -> str:
        if before is not None and o.kind == "T" and o.number == before.number:
            return "IFD" if o.shift else "OWR"
        if before is not None and not before.macro and o in before.operands:
            return "IWR"
        if before is not None and before.macro and o in before.operands and o.kind == "T":
            return "IWR"
        return "IDB" if o.kind == "I" else "GDR"

    return tuple(map(source, task.operands))


COMPUTE: dict[str, Callable] = {
    "MM": lambda a, b: a @ b,
    "MV": lambda a, b: a @ b,
    "VI": lambda a, b: a @ b,
    "SV": lambda a, b: a * b,
    "VA": lambda a, b: a + b,
    "SA": lambda a, b: a + b,
}
FETCH_COMPUTE_STORE = 3


@dataclass(frozen=True)
class MachineRun:
    """What the machine computed, and in how many cycles.

    Attributes
    ----------
    results : dict of str to ndarray
        Result of each subtask for every element, (elements, ...).
    cycles : int
        With a pipeline of three stages: one cycle for each subtask, one more for a double transfer, one for each doubling of a
        recurrence, and two to empty the pipeline.
    times : tuple of (str, int)
        Subtasks in their order, and the cycles that each takes.
    """

    results: dict[str, np.ndarray]
    cycles: int
    times: tuple[tuple[str, int], ...] = ()

    def animation(self, cycle_duration: float = 1.0) -> str:
        """Return an animated SVG picture: the stages of the pipeline, which all elements go through together, one cycle after the other.

        Parameters
        ----------
        cycle_duration : float [s]
            Time for which a cycle is shown.
        """
        elements = len(next(iter(self.results.values())))
        work, begin = list[CellWork](), 1
        for name, cycles in self.times:
            for stage in range(FETCH_COMPUTE_STORE):
                first, last = begin + stage, begin + stage + cycles - 1
                work += [CellWork(row, stage, first, last, name) for row in range(elements)]
            begin += cycles
        cells = [(row, stage) for row in range(elements) for stage in range(FETCH_COMPUTE_STORE)]
        return animate(cells, work, self.cycles, cycle_duration, ("fetch", "compute", "store"))


def run_machine(order: Sequence[Subtask], inputs: Mapping[int, Any]) -> MachineRun:
    """Return what the subtasks give on as many elements as the inputs have rows; shifts go round.

    Parameters
    ----------
    order : sequence of Subtask
    inputs : dict of int to array
        I1, I2, ... for every element, (elements, ...).

    Returns
    -------
    MachineRun
    """
    _require_order(order)
    given = {n: np.asarray(x, dtype=float) for n, x in inputs.items()}
    sizes = {len(x) for x in given.values()}
    missing = {o.number for t in order for o in t.operands if o.kind == "I"} - given.keys()
    if missing or len(sizes) != 1:
        raise InputError(
            f"inputs: missing {sorted(missing)}, rows {sorted(sizes)}; expected all of one length"
        )
    results: dict[int, np.ndarray] = {}
    times: list[tuple[str, int]] = []
    for k, task in enumerate(order):
        held = [
            np.roll(given[o.number] if o.kind == "I" else results[o.number], -o.shift, axis=0)
            for o in task.operands
        ]
        if task.macro:
            results[task.number], sweeps = _recurrence(task, held)
            times.append((task.name, sweeps))
        else:
            results[task.number] = np.array([COMPUTE[task.operation](*pair) for pair in zip(*held)])
            times.append((task.name, 1 + is_double(order, k)))
    cycles = FETCH_COMPUTE_STORE - 1 + sum(spent for _, spent in times)
    return MachineRun({f"T{n}": x for n, x in results.items()}, cycles, tuple(times))


def _recurrence(task: Subtask, held: list[np.ndarray]) -> tuple[np.ndarray, int]:
    if len(held) == 1:
        found, sweeps = prefixes(list(held[0]), COMPUTE[task.operation])
        return np.array(found), sweeps
    pairs, sweeps = prefixes(list(zip(*held)), lambda x, y: (y[0] * x[0], y[0] * x[1] + y[1]))
    return np.array([a for _, a in pairs]), sweeps


BENCHMARK = (
    Subtask(1, Operand("I", 1), None, "MM", macro=True),
    Subtask(2, Operand("T", 1), Operand("I", 2), "MV"),
    Subtask(3, Operand("T", 1), Operand("I", 3), "MV"),
    Subtask(4, Operand("T", 3), Operand("I", 4), "SV"),
    Subtask(5, Operand("T", 4), Operand("I", 5), "SV"),
    Subtask(6, Operand("T", 5), None, "VA", macro=True),
    Subtask(7, Operand("T", 2), Operand("T", 3), "VA"),
    Subtask(8, Operand("T", 7), Operand("I", 6), "SV"),
    Subtask(9, Operand("T", 6), Operand("T", 2), "VA"),
    Subtask(10, Operand("T", 8), Operand("T", 9), "VA"),
    Subtask(11, Operand("I", 7), Operand("T", 10), "SV", macro=True),
    Subtask(12, Operand("T", 6), Operand("T", 10, 2), "VA"),
    Subtask(13, Operand("T", 3, -1), Operand("T", 11), "VA"),
    Subtask(14, Operand("T", 12), Operand("T", 13), "VA"),
    Subtask(15, Operand("T", 1), Operand("T", 6), "MV"),
    Subtask(16, Operand("T", 14, 1), Operand("T", 15), "VI"),
    Subtask(17, Operand("T", 2, 1), Operand("T", 11), "VI"),
    Subtask(18, Operand("T", 16), Operand("T", 17), "SA"),
)
"""The benchmark of the source, table 2, in subtasks."""
