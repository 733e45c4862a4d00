"""Schedules on real processors: native code for each of them, in threads bound to processors, with measured times put into the schedule."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from articulus.errors import InputError, NumericalError
from articulus.kernel import FunctionPieces, Instructions, PreparedCall, Team, TeamCall, instructions
from articulus.kernel.graph import simplified
from articulus.parallel.counts import FREE
from articulus.parallel.grains import EACH, operation_graph
from articulus.parallel.graph import TaskGraph
from articulus.parallel.limbs import limb_schedule, limb_tasks
from articulus.parallel.list_schedule import cp_dt_misf, cp_misf
from articulus.parallel.schedule import Schedule, waits

if TYPE_CHECKING:
    from articulus.dynamics.mechanism import Mechanism

CALLS = 500
"""Calls of which the fastest counts."""
CLOCK = 1e-7
"""Time that reading the clock and beginning a call take in Python [s]."""
HOPS = 50
"""Transfers that are measured at a time."""
CAUTION = (1, 3, 10, 30)
"""Transfer times with which schedules are tried, over the measured one."""


def run_schedule(schedule: Schedule, calls: Sequence[PreparedCall], team: Team) -> TeamCall:
    """Return a call that runs the tasks of a schedule, each a prepared call, on the processors of a team.

    Waits are those of `waits`: the version of a step is part of each, so that nothing is reset between steps.

    Parameters
    ----------
    schedule : Schedule
    calls : sequence of PreparedCall
        What each task runs (`kernel.Kernel.bind`).
    team : kernel.Team

    Returns
    -------
    kernel.TeamCall
    """
    if len(calls) != len(schedule.graph):
        raise InputError(
            f"found {len(calls)} calls for {len(schedule.graph)} tasks; expected one for each task"
        )
    place = {k: (p, i) for p, lane in enumerate(schedule.lanes) for i, k in enumerate(lane)}
    lists = [[calls[k] for k in lane] for lane in schedule.lanes]
    return team.bind(lists, [(place[a], place[b]) for a, b in waits(schedule)])


@dataclass(frozen=True)
class TeamCosts:
    """What it costs to split code over the processors of a team, measured.

    Attributes
    ----------
    transfer : float
        Time from the end of a piece of code on one processor to the end of an operation on another one that reads its result [s].
    piece : float
        Time that it takes to begin another piece of code on the same processor [s].
    """

    transfer: float
    piece: float


def team_costs(team: Team) -> TeamCosts:
    """Return the measured costs of a team, within its `with` block; both zero for a team of one.

    A number goes to and fro between two processors, an operation each time; then the same pieces run on one processor.

    Parameters
    ----------
    team : kernel.Team
    """
    if team.size == 1:
        return TeamCosts(0.0, 0.0)
    x = ca.SX.sym("x")
    y = x
    for _ in range(HOPS):
        y = y * y + 0.5
    function = ca.Function("hops", [x], [y])
    code = instructions(function)
    rows = [i for i, op in enumerate(code.op) if op not in FREE]
    pieces = FunctionPieces(function, [rows[k : k + 2] for k in range(0, len(rows), 2)])
    pieces.inputs[0][...] = 0.5
    calls, n = pieces.calls, len(pieces.calls)
    place = [(k % 2, k // 2) for k in range(n)]
    apart = team.bind([calls[::2], calls[1::2]], list(itertools.pairwise(place)))
    together = team.bind([calls], [])
    transfer, piece = fastest(apart, 10 * CALLS) / n, fastest(together) / n
    return TeamCosts(max(transfer - piece, 0.0), piece)


class ThreadedFunction:
    """One call of a function split over the processors of a team, operation by operation.

    The instruction list is the task graph. Its operations take the time that they take in the serial code on this machine, a transfer the
    time that the team needs for one. `cp_dt_misf` schedules them, for this transfer time and for longer ones, with which it transfers less
    often; what a processor does between two waits becomes a piece of native code. Of these schedules and the serial code the one is taken
    that is predicted to be fastest with all its pieces and waits.

    Parameters
    ----------
    function : casadi.Function
        An SX function.
    team : kernel.Team
        Within its `with` block.
    costs : TeamCosts, optional
        Measured if not given.
    transfer : float, optional
        Transfer time for the scheduler [s]: the schedule for it is taken, even if it is predicted to be slower than serial code.
    limbs_of : Mechanism, optional
        Tasks are the limbs of this mechanism (`limbs.limb_tasks`) in place of single operations; the function is one of its quantities.

    Attributes
    ----------
    inputs, outputs : tuple of ndarray
        Numbers of the function's arguments and results, read and written by each call; change the inputs in place.
    schedule : Schedule
        Times in seconds.
    serial_time : float
        Measured time of a call on one processor [s].
    predicted : float
        Time of a call by the schedule, with all pieces and waits [s].
    costs : TeamCosts
    pieces, waits : int
        Pieces of code, and checks between processors.
    """

    def __init__(
        self,
        function: ca.Function,
        team: Team,
        costs: TeamCosts | None = None,
        transfer: float | None = None,
        limbs_of: Mechanism | None = None,
    ):
        if not isinstance(function, ca.Function) or not function.is_a("SXFunction"):
            raise InputError(f"ThreadedFunction of {function!r}; expected an SX function")
        self.function = simplified(_dense(function))
        self.costs = team_costs(team) if costs is None else costs
        code = instructions(self.function)
        rows = [i for i, op in enumerate(code.op) if op not in FREE]
        limbs: list[int] = []
        if limbs_of is None:
            labels, graph = _fuse(code, rows)
        else:
            labels, graph, limbs = _limbs(limbs_of, self.function, code, rows)
        tasks: list[list[int]] = [[] for _ in range(len(graph))]
        for row, task in zip(rows, labels):
            tasks[task].append(row)
        serial = FunctionPieces(self.function, [sorted(rows)])
        alone = team.bind([serial.calls], [])
        self.serial_time = fastest(alone)
        unit = self.serial_time / graph.work if graph.work else 0.0
        timed = graph.scaled(lambda t: t * unit)
        assumed = [self.costs.transfer * k for k in CAUTION] if transfer is None else [transfer]
        if limbs:
            alone_too = [replace(cp_misf(timed, 1), processors=team.size)] if transfer is None else []
            schedules = [limb_schedule(timed, limbs, team.size, assumed[0]), *alone_too]
        else:
            schedules = [cp_dt_misf(timed, team.size, t) for t in assumed]
        self.predicted, self.schedule = min(
            ((predicted_time(s, self.costs), s) for s in schedules), key=lambda found: found[0]
        )
        lists, asked = _cut(self.schedule)
        if sum(map(bool, lists)) < 2:
            self.inputs, self.outputs, self._call = serial.inputs, serial.outputs, alone
        else:
            order = list(itertools.chain.from_iterable(lists))
            parts = FunctionPieces(self.function, [[r for k in piece for r in tasks[k]] for piece in order])
            found = iter(parts.calls)
            self.inputs, self.outputs = parts.inputs, parts.outputs
            self._call = team.bind([[next(found) for _ in lane] for lane in lists], asked)
        self.pieces, self.waits = sum(map(len, lists)), len(asked)

    def __call__(self, *arguments: Any) -> tuple[np.ndarray, ...]:
        """Return the outputs as new arrays.

        Parameters
        ----------
        *arguments : array_like
            One for each input of the function.
        """
        name = self.function.name()
        if len(arguments) != len(self.inputs):
            raise InputError(f"{name}: found {len(arguments)} arguments; expected {len(self.inputs)}")
        for k, (own, given) in enumerate(zip(self.inputs, arguments)):
            numbers = np.asarray(given, float)
            if numbers.shape != own.shape:
                which = self.function.name_in(k)
                raise InputError(
                    f"{name}: argument '{which}' has shape {numbers.shape}; expected {own.shape}"
                )
            own[...] = numbers
        self._call()
        if not all(np.isfinite(x).all() for x in self.outputs):
            raise NumericalError(f"{name}: a result is not finite")
        return tuple(x.copy() for x in self.outputs)

    def run(self) -> None:
        """Compute `outputs` from `inputs`, without further checks."""
        self._call()

    def measured(self) -> float:
        """Return the time of a call on this machine, the fastest of many [s]."""
        return fastest(self._call)


def timed_schedule(schedule: Schedule, calls: Sequence[PreparedCall]) -> Schedule:
    """Return a schedule with the times that its tasks take one by one, each the fastest of many; starts are those without waits.

    Parameters
    ----------
    schedule : Schedule
    calls : sequence of PreparedCall
        What each task runs.
    """
    graph = TaskGraph.of(
        [fastest(call) - CLOCK for call in calls], schedule.graph.edges, schedule.graph.names
    )
    return replace(schedule, graph=graph, start_times=graph.earliest)


def predicted_time(schedule: Schedule, costs: TeamCosts) -> float:
    """Return the time of a schedule when every piece of code and every wait costs what was measured [s].

    Parameters
    ----------
    schedule : Schedule
        Times in seconds.
    costs : TeamCosts
    """
    lists, asked = _cut(schedule)
    if sum(map(bool, lists)) < 2:
        return schedule.graph.work
    needs: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for producer, consumer in asked:
        needs.setdefault(consumer, []).append(producer)
    pieces = {(p, i): piece for p, lane in enumerate(lists) for i, piece in enumerate(lane)}
    finish: dict[tuple[int, int], float] = {}
    for place in sorted(pieces, key=lambda at: schedule.start_times[pieces[at][0]]):
        p, i = place
        ready = finish[p, i - 1] if i else (costs.transfer if p else 0.0)
        there = max((finish[a] + costs.transfer for a in needs.get(place, ())), default=0.0)
        own = sum(schedule.graph.times[k] for k in pieces[place])
        finish[place] = max(ready, there) + costs.piece + own
    return max(t + (costs.transfer if p else 0.0) for (p, _), t in finish.items())


def _dense(function: ca.Function) -> ca.Function:
    x = function.sx_in()
    names = function.name_in(), function.name_out()
    return ca.Function(function.name(), x, [ca.densify(y) for y in function.call(x)], *names)


def _limbs(
    mechanism: Mechanism, function: ca.Function, code: Instructions, rows: list[int]
) -> tuple[list[int], TaskGraph, list[int]]:
    """Return the task of each operation, the graph of the tasks, and the limb of each task."""
    every = limb_tasks(mechanism, function, code)
    kinds = sorted({every[row] for row in rows})
    labels = [kinds.index(every[row]) for row in rows]
    graph = operation_graph(code, EACH)
    number = _numbers(graph, labels)
    limbs = [0] * len(kinds)
    for kind, (limb, _) in enumerate(kinds):
        limbs[number[kind]] = limb
    return [number[label] for label in labels], graph.merge(labels), limbs


def _fuse(code: Instructions, rows: list[int]) -> tuple[list[int], TaskGraph]:
    """Return the task of each operation, and the graph of the tasks: what could not run at the same time is put together.

    Sine and cosine of one argument are one task: they are computed together.
    """
    first = {row: k for k, row in reversed(list(enumerate(rows)))}
    angles: dict[int, int] = {}
    labels = []
    for k, row in enumerate(rows):
        circular = code.op[row] in (ca.OP_SIN, ca.OP_COS)
        labels.append(angles.setdefault(code.first[row], k) if circular else first[row])
    graph = operation_graph(code, EACH)
    number = _numbers(graph, labels)
    paired = graph.merge(labels)
    fused = paired.fusion()
    return [fused[number[label]] for label in labels], paired.merge(fused)


def _numbers(graph: TaskGraph, labels: Sequence[int]) -> dict[int, int]:
    """Return the number that each label has in the graph of `merge`."""
    number: dict[int, int] = {}
    for k in graph.order:
        number.setdefault(labels[k], len(number))
    return number


Cuts = tuple[list[list[list[int]]], list[tuple[tuple[int, int], tuple[int, int]]]]


def _cut(schedule: Schedule) -> Cuts:
    """Return the pieces of each processor, tasks in their order, and who waits for whom: cut before a wait and behind what is awaited."""
    asked = waits(schedule)
    consumers, producers = {b for _, b in asked}, {a for a, _ in asked}
    lists: list[list[list[int]]] = []
    place: dict[int, tuple[int, int]] = {}
    for p, lane in enumerate(schedule.lanes):
        pieces: list[list[int]] = []
        fresh = True
        for k in lane:
            if fresh or k in consumers:
                pieces.append([])
            pieces[-1].append(k)
            place[k] = (p, len(pieces) - 1)
            fresh = k in producers
        lists.append(pieces)
    return lists, [(place[a], place[b]) for a, b in asked]


def fastest(call: Callable[[], Any], calls: int = CALLS) -> float:
    """Return the time of a call, the fastest of many [s].

    Parameters
    ----------
    call : callable
    calls : int
    """
    clock, best = time.perf_counter_ns, 1 << 62
    for _ in range(calls):
        begun = clock()
        call()
        best = min(best, clock() - begun)
    return 1e-9 * best
